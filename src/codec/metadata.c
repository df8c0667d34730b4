#include "codec/metadata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/byte_order.h"

/* ---- Exif ---- */

/* Exif 2.32 §4.5–4.6: a TIFF 6.0 structure, with offsets from its own header. The first directory
 * (IFD0) is the picture's, the second (IFD1) its thumbnail's. Each is read once, so a chain of
 * directories that loops does no harm. */
#define TAG_ORIENTATION 0x0112
#define TAG_STRIPS      0x0111 /* strips of an uncompressed thumbnail */
#define TAG_STRIP_SIZES 0x0117
#define TAG_JPEG        0x0201 /* a thumbnail in JPEG */
#define TAG_JPEG_SIZE   0x0202
#define TAG_EXIF        0x8769 /* directories that the first one refers to, and … */
#define TAG_GPS         0x8825
#define TAG_INTEROP     0xA005 /* … that Exif's refers to */
#define TYPE_ASCII      2
#define TYPE_SHORT      3
#define TYPE_LONG       4 /* of orientations, too: against the standard, but some programs do so */

struct tiff {
    struct decoder_input *input; /* borrowed */
    uint64_t size;
    bool big_endian;
};

/* 0 where the file has become shorter. */
static uint16_t get16(const struct tiff *tiff, uint64_t at)
{
    size_t got;
    const uint8_t *see = input_see(tiff->input, at, 2, &got);
    return got < 2 ? 0 : tiff->big_endian ? load_be16(see) : load_le16(see);
}

static uint32_t get32(const struct tiff *tiff, uint64_t at)
{
    size_t got;
    const uint8_t *see = input_see(tiff->input, at, 4, &got);
    return got < 4 ? 0 : tiff->big_endian ? load_be32(see) : load_le32(see);
}

static bool open_input(struct tiff *tiff, struct decoder_input *input)
{
    int order = input_byte(input, 0);
    *tiff = (struct tiff){input, input->size, order == 'M'};
    return input->size >= 8 && (order == 'M' || order == 'I') && input_byte(input, 1) == order &&
           get16(tiff, 2) == 42;
}

/* With `input` for its bytes. */
static bool open_tiff(struct tiff *tiff, struct decoder_input *input, const uint8_t *data,
                      size_t size)
{
    size_t prefix = size >= 6 && memcmp(data, "Exif\0", 5) == 0 ? 6 : 0;
    *input = input_of_memory(data + prefix, size - prefix);
    return open_input(tiff, input);
}

/* The offset of the directory's entry with that tag; 0: there is none. */
static uint64_t find_entry(const struct tiff *tiff, uint64_t directory, uint16_t tag)
{
    if (directory > tiff->size - 2)
        return 0;
    unsigned entries = get16(tiff, directory);
    for (uint64_t at = directory + 2; entries > 0 && tiff->size - at >= 12; at += 12, entries--)
        if (get16(tiff, at) == tag)
            return at;
    return 0;
}

/* Value `index` of an entry; 0 if the entry has no such value or is of another type. */
static uint32_t get_value(const struct tiff *tiff, uint64_t entry, uint32_t index)
{
    unsigned type = get16(tiff, entry + 2);
    uint32_t count = get32(tiff, entry + 4);
    size_t size = type == TYPE_SHORT ? 2 : 4;
    uint64_t at = entry + 8;
    if ((type != TYPE_SHORT && type != TYPE_LONG) || index >= count)
        return 0;
    if (count > 4 / size)
        at = get32(tiff, at);
    if (at > tiff->size || (tiff->size - at) / size <= index)
        return 0;
    at += index * size;
    return size == 2 ? get16(tiff, at) : get32(tiff, at);
}

unsigned exif_orientation(const uint8_t *data, size_t size)
{
    struct decoder_input input;
    struct tiff tiff;
    if (!open_tiff(&tiff, &input, data, size))
        return 1;
    uint64_t at = find_entry(&tiff, get32(&tiff, 4), TAG_ORIENTATION);
    uint32_t value = at && get32(&tiff, at + 4) == 1 ? get_value(&tiff, at, 0) : 1;
    return value >= 1 && value <= 8 ? value : 1;
}

bool exif_text(const uint8_t *data, size_t size, uint16_t tag, char *text, size_t room)
{
    struct decoder_input input;
    struct tiff tiff;
    if (!open_tiff(&tiff, &input, data, size))
        return false;
    uint64_t entry = find_entry(&tiff, get32(&tiff, 4), tag);
    if (!entry || get16(&tiff, entry + 2) != TYPE_ASCII)
        return false;
    uint64_t count = get32(&tiff, entry + 4), at = count > 4 ? get32(&tiff, entry + 8) : entry + 8;
    if (at > tiff.size || tiff.size - at < count)
        return false;
    text[input_read(&input, at, text, count < room - 1 ? (size_t)count : room - 1)] = '\0';
    return text[0] != '\0';
}

struct copying {
    const struct tiff *from;
    uint8_t *to;
    size_t used; /* of METADATA_MAX bytes */
    uint32_t base;
    struct exif_copy *copy;
};

static void put32(const struct copying *c, size_t at, uint32_t value)
{
    if (c->from->big_endian)
        store_be32(c->to + at, value);
    else
        store_le32(c->to + at, value);
}

/* Takes `size` bytes of the copy, at an even offset; 0: there are not so many. */
static size_t take(struct copying *c, size_t size)
{
    size_t at = (c->used + 1) / 2 * 2;
    if (size > METADATA_MAX || at > METADATA_MAX - size)
        return 0;
    c->used = at + size;
    return at;
}

/* True for what the first directory has about the picture as a whole, not about its samples. */
static bool is_text(unsigned tag)
{
    static const uint16_t texts[] = {0x010E, 0x010F, 0x0110, 0x0131,
                                     0x0132, 0x013B, 0x013C, 0x8298};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (tag == texts[i])
            return true;
    return false;
}

/* Copies the directory at `at`, which is the first one, or is referred to by the tag `inside`, and
 * those that it refers to. 0: it is damaged, or there is no room. */
static size_t copy_directory(struct copying *c, uint64_t at, unsigned inside)
{
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
    const struct tiff *from = c->from;
    if (at < 8 || at > from->size - 2)
        return 0;
    unsigned entries = get16(from, at), kept = 0;
    if ((from->size - at - 2) / 12 < entries)
        return 0;
    size_t to = take(c, 2 + 12 * (size_t)entries + 4);
    if (to == 0)
        return 0;
    memset(c->to + to, 0, 2 + 12 * (size_t)entries + 4);
    at += 2;
    for (unsigned i = 0; i < entries; i++, at += 12) {
        unsigned tag = get16(from, at), type = get16(from, at + 2);
        uint64_t size = type < sizeof sizes ? (uint64_t)get32(from, at + 4) * sizes[type] : 0;
        size_t entry = to + 2 + 12 * (size_t)kept, place = get32(from, at + 8), child = 0;
        bool refers =
            inside ? inside == TAG_EXIF && tag == TAG_INTEROP : tag == TAG_EXIF || tag == TAG_GPS;
        if (size == 0 || (!inside && !refers && !is_text(tag) && tag != TAG_ORIENTATION))
            continue;
        if (refers && (size != 4 || (child = copy_directory(c, place, tag)) == 0))
            continue;
        if (size > 4) {
            if (place > from->size || size > from->size - place ||
                (child = take(c, (size_t)size)) == 0)
                continue;
            input_read(from->input, place, c->to + child, (size_t)size);
        }
        input_read(from->input, at, c->to + entry, 12);
        if (child)
            put32(c, entry + 8, c->base + (uint32_t)child);
        if (tag == TAG_EXIF && refers)
            c->copy->exif = c->base + (uint32_t)child;
        if (tag == TAG_GPS && refers)
            c->copy->gps = c->base + (uint32_t)child;
        c->copy->has_texts |= !inside && is_text(tag);
        kept++;
    }
    c->to[to + from->big_endian] = (uint8_t)kept;
    c->to[to + !from->big_endian] = (uint8_t)(kept >> 8);
    return to;
}

bool exif_copy(struct decoder_input *input, uint32_t base, struct exif_copy *copy)
{
    struct tiff tiff;
    *copy = (struct exif_copy){0};
    if (!open_input(&tiff, input) || base > UINT32_MAX - METADATA_MAX)
        return false;
    struct copying c = {&tiff, malloc(METADATA_MAX), 8, base, copy};
    size_t first = 0;
    if (c.to) {
        memcpy(c.to, tiff.big_endian ? "MM\0*" : "II*\0", 4);
        first = copy_directory(&c, get32(&tiff, 4), 0);
        put32(&c, 4, base + (uint32_t)first);
    }
    if (first == 0) {
        free(c.to);
        return false;
    }
    uint8_t *less = realloc(c.to, c.used);
    copy->block = (struct metadata_block){less ? less : c.to, c.used};
    return true;
}

struct cleaning {
    struct decoder_input input;
    struct tiff tiff;
    uint8_t *data;
    size_t low;  /* bytes before this offset are kept */
    size_t end;  /* the block's size so far */
    size_t left; /* bytes that may still be overwritten: a hostile block may name the same ones
                    again and again, which would take quadratic time */
};

/* Overwrites bytes with zeros, or cuts them off if they are the block's last ones. */
static void wipe(struct cleaning *c, size_t at, size_t size)
{
    if (at < c->low || at >= c->end)
        return;
    if (size >= c->end - at) {
        c->end = at;
        return;
    }
    size = size < c->left ? size : c->left;
    memset(c->data + at, 0, size);
    c->left -= size;
}

/* Wipes the strips whose offsets and sizes two entries of the directory hold. */
static void wipe_strips(struct cleaning *c, size_t directory, uint16_t places, uint16_t sizes)
{
    uint64_t at = find_entry(&c->tiff, directory, places);
    uint64_t of_size = find_entry(&c->tiff, directory, sizes);
    if (!at || !of_size)
        return;
    uint32_t count = get32(&c->tiff, at + 4);
    for (uint32_t i = 0; i < count && i < c->tiff.size; i++)
        wipe(c, get_value(&c->tiff, at, i), get_value(&c->tiff, of_size, i));
}

bool exif_clean(uint8_t *data, size_t *size, bool upright)
{
    struct cleaning c = {.data = data, .end = *size, .left = *size};
    if (!open_tiff(&c.tiff, &c.input, data, *size) || c.input.see != data)
        return false;
    size_t first = get32(&c.tiff, 4);
    if (first < 8 || first > *size - 2 || (*size - first - 2) / 12 < get16(&c.tiff, first))
        return false;
    uint64_t at = upright ? find_entry(&c.tiff, first, TAG_ORIENTATION) : 0;
    if (at) {
        bool is_long = get16(&c.tiff, at + 2) == TYPE_LONG;
        memset(data + at + 8, 0, 4);
        data[at + 8 + (!c.tiff.big_endian ? 0 : is_long ? 3 : 1)] = 1;
    }
    size_t link = first + 2 + 12 * (size_t)get16(&c.tiff, first);
    if (*size - link < 4)
        return true;
    size_t second = get32(&c.tiff, link);
    memset(data + link, 0, 4);
    c.low = link + 4;
    if (second < c.low || second > *size - 2)
        return true;
    /* The directory is wiped last, because it says where the thumbnail is. */
    size_t entries = get16(&c.tiff, second);
    wipe_strips(&c, second, TAG_JPEG, TAG_JPEG_SIZE);
    wipe_strips(&c, second, TAG_STRIPS, TAG_STRIP_SIZES);
    wipe(&c, second, 2 + 12 * entries + 4);
    *size = c.end;
    return c.left > 0;
}

/* ---- all blocks ---- */

/* ICC.1:2022 §7.2: the profile's header begins with its size; at these offsets are the colour space
 * of its input and the signature "acsp". */
#define ICC_HEADER    128
#define ICC_SPACE     16
#define ICC_SIGNATURE 36

void metadata_finish(struct metadata *metadata)
{
    free(metadata->exif.data);
    free(metadata->icc.data);
    free(metadata->xmp.data);
    *metadata = (struct metadata){0};
}

struct metadata metadata_part(const struct metadata *metadata, enum metadata_choice choice)
{
    struct metadata part = *metadata;
    if (choice == METADATA_STRIP)
        return (struct metadata){0};
    if (choice != METADATA_ALL)
        part.xmp = (struct metadata_block){0};
    return part;
}

size_t metadata_size(const struct metadata *metadata)
{
    return metadata->exif.size + metadata->icc.size + metadata->xmp.size;
}

static void set(struct metadata_block *block, const uint8_t *data, size_t size)
{
    if (block->data || size == 0 || size > METADATA_MAX || !(block->data = malloc(size)))
        return;
    memcpy(block->data, data, size);
    block->size = size;
}

void metadata_set_exif(struct metadata *metadata, const uint8_t *data, size_t size, bool upright)
{
    struct metadata_block *exif = &metadata->exif;
    if (exif->data)
        return;
    size_t prefix = size >= 6 && memcmp(data, "Exif\0", 5) == 0 ? 6 : 0;
    set(exif, data + prefix, size - prefix);
    if (exif->data && !exif_clean(exif->data, &exif->size, upright)) {
        free(exif->data);
        *exif = (struct metadata_block){0};
    }
}

void metadata_set_tiff(struct metadata *metadata, struct decoder_input *input, bool upright)
{
    struct exif_copy copy;
    if (!exif_copy(input, 0, &copy))
        return;
    if (copy.exif || copy.gps || copy.has_texts)
        metadata_set_exif(metadata, copy.block.data, copy.block.size, upright);
    free(copy.block.data);
}

void metadata_set_icc(struct metadata *metadata, const uint8_t *data, size_t size)
{
    if (size >= ICC_HEADER && load_be32(data) == size &&
        memcmp(data + ICC_SIGNATURE, "acsp", 4) == 0)
        set(&metadata->icc, data, size);
}

void metadata_set_xmp(struct metadata *metadata, const uint8_t *data, size_t size)
{
    set(&metadata->xmp, data, size);
}

struct metadata_block metadata_profile(const struct metadata *metadata, uint32_t channels)
{
    const struct metadata_block *icc = &metadata->icc;
    const char *space = channels > 2 ? "RGB " : "GRAY";
    bool fits = icc->data && memcmp(icc->data + ICC_SPACE, space, 4) == 0;
    return fits ? *icc : (struct metadata_block){0};
}

uint32_t metadata_density(const struct metadata *metadata, uint32_t value, enum density_unit unit)
{
    static const double metres[] = {
        [DENSITY_INCH] = 0.0254, [DENSITY_CENTIMETRE] = 0.01, [DENSITY_METRE] = 1};
    if (metadata->density_unit == DENSITY_ASPECT)
        return value;
    double v = rint(value / metres[metadata->density_unit] * metres[unit]);
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}
