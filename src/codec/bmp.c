/* BMP, decoder and encoder. A file has a header of 14 bytes, then BITMAPCOREHEADER,
 * BITMAPINFOHEADER or one of its extensions (V2 to V5, OS/2 2.x), as "Bitmap Storage" in the
 * Windows GDI reference describes them. Pixels have 1, 4, 8, 16, 24 or 32 bits, run lengths (RLE4,
 * RLE8) or any bit fields, in rows from the bottom up or from the top down.
 *
 * A palette of 8 bits in which colour i is grey i gives a plane of one channel; every other palette
 * gives RGB. The fourth byte of a pixel of 32 bits is alpha if the header has a mask for it, else
 * padding. */
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "codec/byte_order.h"
#include "codec/codec.h"
#include "codec/output.h"

#define FILE_HEADER 14
#define CORE_HEADER 12 /* BITMAPCOREHEADER; also OS/2 1.x */
#define INFO_HEADER 40
#define V2_HEADER   52  /* masks for red, green and blue */
#define V3_HEADER   56  /* masks for alpha, too */
#define OS22_HEADER 64  /* OS/2 2.x: no masks behind byte 40 */
#define V4_HEADER   108 /* a colour space */
#define V5_HEADER   124

enum bmp_compression {
    BMP_RGB = 0,
    BMP_RLE8 = 1,
    BMP_RLE4 = 2,
    BMP_BITFIELDS = 3,
    BMP_ALPHABITFIELDS = 6,
};

/* Where one channel's bits lie in a pixel of 16 or 32 bits. */
struct bmp_field {
    uint32_t mask;
    unsigned shift;
    uint32_t max;       /* the channel's largest value; 0: the picture has no such channel */
    uint8_t scale[256]; /* value to 0…255, where max is at most 255 */
};

struct bmp_state {
    uint64_t pixels; /* where they begin, in bytes from the file's beginning */
    unsigned bits;   /* of one pixel */
    uint32_t compression;
    bool top_down;
    bool grey;               /* colour i of the palette is grey i */
    unsigned n_colours;      /* of the palette */
    uint8_t palette[256][3]; /* RGB */
    struct bmp_field fields[4];
};

/* The header behind the file's first 14 bytes; `bytes` are zeros where it is shorter. */
struct header {
    uint8_t bytes[V5_HEADER];
    uint32_t size;
    int64_t width, height;
    uint32_t colours_used;
    size_t end; /* in bytes from the file's beginning, with masks that follow the header */
};

/* ---- the header ---- */

/* The signature is only two letters, so the header's size must be a known one, too. */
static bool probe(const uint8_t *data, size_t size)
{
    static const uint8_t sizes[] = {CORE_HEADER, 16,          INFO_HEADER, V2_HEADER,
                                    V3_HEADER,   OS22_HEADER, V4_HEADER,   V5_HEADER};
    if (size < 2 || data[0] != 'B' || data[1] != 'M')
        return false;
    uint32_t header = size < FILE_HEADER + 4 ? V5_HEADER : load_le32(data + FILE_HEADER);
    return header <= V5_HEADER && memchr(sizes, (int)header, sizeof sizes);
}

static int truncated(struct fault *fault)
{
    return fault_set(fault, FAULT_TRUNCATED, "truncated bmp: the file ends before its pixels do");
}

static int read_header(struct decoder *d, struct bmp_state *s, struct header *h,
                       struct fault *fault)
{
    uint8_t begin[FILE_HEADER + 4];
    *h = (struct header){0};
    if (input_read(&d->input, 0, begin, sizeof begin) < sizeof begin)
        return truncated(fault);
    h->size = load_le32(begin + FILE_HEADER);
    h->end = FILE_HEADER + h->size;
    if (h->size > sizeof h->bytes || /* it was another one when it was recognised */
        input_read(&d->input, FILE_HEADER, h->bytes, h->size) < h->size)
        return truncated(fault);
    bool core = h->size == CORE_HEADER;
    h->width = core ? load_le16(h->bytes + 4) : (int32_t)load_le32(h->bytes + 4);
    h->height = core ? load_le16(h->bytes + 6) : (int32_t)load_le32(h->bytes + 8);
    unsigned planes = load_le16(h->bytes + (core ? 8 : 12));
    s->bits = load_le16(h->bytes + (core ? 10 : 14));
    s->compression = core ? BMP_RGB : load_le32(h->bytes + 16);
    h->colours_used = core ? 0 : load_le32(h->bytes + 32);
    s->pixels = load_le32(begin + 10);
    s->top_down = h->height < 0;
    if (s->top_down)
        h->height = -h->height;
    if (h->width <= 0 || h->height == 0)
        return fault_set(fault, FAULT_DATA, "damaged bmp: a picture of %lld×%lld pixels",
                         (long long)h->width, (long long)h->height);
    return planes == 1 ? 0 : decoder_warn(d, fault, "%u planes, where there is always 1", planes);
}

static int check_bits(const struct bmp_state *s, const struct header *h, struct fault *fault)
{
    unsigned bits = s->bits;
    bool os2 = h->size == 16 || h->size == OS22_HEADER; /* 3 and 4 mean other things there */
    bool good;
    switch (s->compression) {
    case BMP_RGB:
        good = bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
        break;
    case BMP_RLE8:
        good = bits == 8;
        break;
    case BMP_RLE4:
        good = bits == 4;
        break;
    case BMP_BITFIELDS:
    case BMP_ALPHABITFIELDS:
        good = (bits == 16 || bits == 32) && !os2;
        break;
    default:
        good = false;
    }
    if (!good)
        return fault_set(fault, FAULT_FORMAT, "unsupported bmp: %u bits a pixel in compression %u",
                         bits, s->compression);
    return 0;
}

static bool set_field(struct bmp_field *field, uint32_t mask, unsigned bits)
{
    *field = (struct bmp_field){.mask = mask};
    if (mask == 0)
        return true;
    field->shift = (unsigned)__builtin_ctz(mask);
    field->max = mask >> field->shift;
    if ((field->max & (field->max + 1)) != 0 || (bits == 16 && mask > 0xFFFF))
        return false; /* bits with gaps, or outside of the pixel */
    for (uint32_t v = 0; v <= field->max && v < 256; v++)
        field->scale[v] = (uint8_t)((v * 255 + field->max / 2) / field->max);
    return true;
}

/* Without masks a pixel of 16 bits has 5 bits for each channel, one of 32 has 8. Masks are in the
 * header from V2 on; otherwise three of them (four for BI_ALPHABITFIELDS) follow the header. */
static int read_fields(struct decoder *d, struct bmp_state *s, struct header *h,
                       struct fault *fault)
{
    static const uint32_t of_16[4] = {0x7C00, 0x03E0, 0x001F, 0};
    static const uint32_t of_32[4] = {0xFF0000, 0x00FF00, 0x0000FF, 0};
    uint32_t masks[4] = {0}, seen = 0;
    memcpy(masks, s->bits == 16 ? of_16 : of_32, sizeof masks);
    if (s->compression != BMP_RGB) {
        unsigned given = h->size >= V3_HEADER ? 4 : 3;
        const uint8_t *at = h->bytes + INFO_HEADER;
        if (h->size == INFO_HEADER) {
            given = s->compression == BMP_ALPHABITFIELDS ? 4 : 3;
            size_t got;
            at = input_see(&d->input, h->end, 4 * (size_t)given, &got);
            h->end += 4 * given;
            if (got < 4 * given)
                return truncated(fault);
        }
        for (unsigned i = 0; i < given; i++)
            masks[i] = load_le32(at + 4 * i);
    }
    for (int i = 0; i < 4; i++) {
        if (!set_field(&s->fields[i], masks[i], s->bits) || (masks[i] & seen))
            return fault_set(fault, FAULT_DATA, "damaged bmp: masks %08x %08x %08x %08x", masks[0],
                             masks[1], masks[2], masks[3]);
        seen |= masks[i];
    }
    return 0;
}

/* An entry is blue, green, red and a byte without a meaning, which files with the core header do
 * not have. The palette can have no more entries than fit between header and pixels. */
static int read_palette(struct decoder *d, struct bmp_state *s, const struct header *h,
                        struct fault *fault)
{
    uint8_t colours[4 * 256];
    size_t entry = h->size == CORE_HEADER ? 3 : 4, room = (size_t)(s->pixels - h->end) / entry;
    size_t most = (size_t)1 << s->bits, count = most;
    if (h->colours_used > 0 && h->colours_used < count)
        count = h->colours_used;
    if (count > room)
        count = room;
    if (count == 0)
        return fault_set(fault, FAULT_DATA, "damaged bmp: no palette");
    size_t said = h->colours_used ? h->colours_used : most;
    if (said > count) {
        int result =
            said > most
                ? decoder_warn(d, fault, "a palette of %zu colours, of which %u bits can name %zu",
                               said, s->bits, most)
                : decoder_warn(d, fault, "a palette of %zu colours, where there is room for %zu",
                               said, count);
        if (result != 0)
            return result;
    }
    if (input_read(&d->input, h->end, colours, count * entry) < count * entry)
        return truncated(fault);
    s->n_colours = (unsigned)count;
    s->grey = s->bits == 8;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *bgr = colours + i * entry;
        for (int c = 0; c < 3; c++) {
            s->palette[i][c] = bgr[2 - c];
            s->grey = s->grey && bgr[c] == i;
        }
    }
    return 0;
}

/* Bytes from row to row, a multiple of 4. */
static uint64_t stride_of(uint64_t width, unsigned bits)
{
    return (width * bits + 31) / 32 * 4;
}

/* Some programs write 0 as the offset of the pixels, or count it from the header's end. */
static int place_pixels(struct decoder *d, struct bmp_state *s, const struct header *h,
                        struct fault *fault)
{
    size_t said = (size_t)s->pixels, colours = s->bits <= 8 ? (size_t)1 << s->bits : 0;
    if (said >= h->end)
        return 0;
    if (h->colours_used > 0 && h->colours_used < colours)
        colours = h->colours_used;
    s->pixels = h->end + colours * (h->size == CORE_HEADER ? 3 : 4);
    return decoder_warn(d, fault,
                        "the pixels begin at byte %zu, within the header: they are looked for at "
                        "byte %zu",
                        said, s->pixels);
}

static int open_bmp(struct decoder *d, struct fault *fault)
{
    struct header h;
    struct bmp_state *s = d->state;
    int result = read_header(d, s, &h, fault);
    if (result == 0)
        result = check_bits(s, &h, fault);
    if (result == 0 && (s->bits == 16 || s->bits == 32))
        result = read_fields(d, s, &h, fault);
    if (result == 0)
        result = place_pixels(d, s, &h, fault);
    if (result == 0 && s->bits <= 8)
        result = read_palette(d, s, &h, fault);
    bool is_grey = s->bits <= 8 && s->grey;
    uint32_t channels = is_grey ? 1 : s->bits > 8 && s->fields[3].max ? 4 : 3;
    if (result == 0)
        result =
            decoder_set_plane(d, (uint64_t)h.width, (uint64_t)h.height, channels, SAMPLE_U8, fault);
    if (result != 0)
        return result;
    d->whole = s->compression == BMP_RLE8 || s->compression == BMP_RLE4;
    uint64_t row = stride_of((uint64_t)h.width, s->bits);
    d->working_memory = d->whole ? 0 : input_memory(&d->input, row);
    uint64_t bytes = d->whole ? 0 : row * (uint64_t)h.height, size = d->input.size;
    if (s->pixels > size || (!d->options.partial && size - s->pixels < bytes))
        return truncated(fault);
    return 0;
}

/* ---- rows ---- */

static uint8_t *row_of(const struct bmp_state *s, const struct picture *into, uint32_t y)
{
    return picture_row(into, 0, s->top_down ? y : into->frame.planes[0].height - 1 - y);
}

static bool put_colour(const struct bmp_state *s, uint8_t *row, uint32_t x, unsigned index)
{
    if (s->grey)
        row[x] = index < s->n_colours ? (uint8_t)index : 0;
    else
        memcpy(row + 3 * (size_t)x, s->palette[index], 3); /* black beyond its colours */
    return index < s->n_colours;
}

static int bad_colour(struct decoder *d, struct fault *fault)
{
    const struct bmp_state *s = d->state;
    return decoder_warn(d, fault, "pixels have none of the palette's %u colours: they are black",
                        s->n_colours);
}

static bool read_palette_row(const struct bmp_state *s, const uint8_t *from, uint8_t *to,
                             uint32_t width)
{
    unsigned bits = s->bits, per_byte = 8 / bits, mask = (1u << bits) - 1;
    if (s->grey && s->n_colours == 256) {
        memcpy(to, from, width);
        return true;
    }
    bool good = true;
    for (uint32_t x = 0; x < width; x++) { /* the leftmost pixel is in the highest bits */
        unsigned index = from[x / per_byte] >> (8 - bits - x % per_byte * bits) & mask;
        good &= put_colour(s, to, x, index);
    }
    return good;
}

static void read_bgr_row(const uint8_t *from, uint8_t *to, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++, from += 3, to += 3) {
        to[0] = from[2];
        to[1] = from[1];
        to[2] = from[0];
    }
}

static void read_fields_row(const struct bmp_state *s, const uint8_t *from, uint8_t *to,
                            uint32_t width, uint32_t channels)
{
    for (uint32_t x = 0; x < width; x++, to += channels) {
        uint32_t pixel =
            s->bits == 16 ? load_le16(from + 2 * (size_t)x) : load_le32(from + 4 * (size_t)x);
        for (uint32_t c = 0; c < channels; c++) {
            const struct bmp_field *field = &s->fields[c];
            uint32_t value = (pixel & field->mask) >> field->shift;
            to[c] = field->max > 255
                        ? (uint8_t)(((uint64_t)value * 255 + field->max / 2) / field->max)
                        : field->scale[value];
        }
    }
}

static int read_rows(struct decoder *d, const struct picture *into, uint32_t end,
                     struct fault *fault)
{
    const struct bmp_state *s = d->state;
    const struct plane *plane = &into->frame.planes[0];
    uint64_t stride = stride_of(plane->width, s->bits);
    int result = 0;
    for (uint32_t y = d->row; y < end && result == 0; y++) {
        uint8_t *row = picture_row(into, 0, y);
        uint64_t at = s->pixels + stride * (s->top_down ? y : plane->height - 1 - y);
        size_t got;
        const uint8_t *from = input_see(&d->input, at, (size_t)stride, &got);
        if (got < stride && !d->options.partial) /* the file has become shorter */
            return truncated(fault);
        if (got < stride)
            memset(row, 0, (size_t)plane->width * plane->channels);
        else if (s->bits == 24)
            read_bgr_row(from, row, plane->width);
        else if (s->bits > 8)
            read_fields_row(s, from, row, plane->width, plane->channels);
        else if (!read_palette_row(s, from, row, plane->width))
            result = bad_colour(d, fault);
    }
    return result;
}

/* ---- run lengths ---- */

/* Run lengths of BMP ("Bitmap Compression" in the Windows GDI reference). The data are pairs of
 * bytes: a count and a colour (RLE4: two colours in turn), or 0 and
 *
 *     0     end of the row
 *     1     end of the picture
 *     2     two bytes dx, dy follow: move right by dx and on by dy rows, without writing
 *     n≥3   n single colours follow, padded to an even number of bytes
 *
 * Pixels that no run writes have colour 0. Pixels outside of the picture are dropped, with a
 * warning. */
enum escape {
    ESCAPE_ROW_ENDS,
    ESCAPE_PICTURE_ENDS,
    ESCAPE_MOVE,
};

struct rle {
    struct decoder *decoder;
    const struct bmp_state *state;
    const struct picture *into;
    uint64_t at; /* bytes of the file have been taken */
    uint32_t width, height;
    uint64_t x, y; /* of the next pixel, in the file's order of rows; may be outside */
    struct fault *fault;
};

static int left_picture(const struct rle *r)
{
    return decoder_warn(r->decoder, r->fault, "runs leave the picture");
}

/* The next bytes; NULL where the file ends. */
static const uint8_t *take(struct rle *r, size_t bytes)
{
    size_t got;
    const uint8_t *taken = input_see(&r->decoder->input, r->at, bytes, &got);
    r->at += bytes;
    return got >= bytes ? taken : NULL;
}

/* Colour i of packed ones: bytes in RLE8, halves of bytes in RLE4. */
static unsigned colour(const struct rle *r, const uint8_t *colours, unsigned i)
{
    if (r->state->bits == 8)
        return colours[i];
    return i & 1 ? colours[i / 2] & 15 : colours[i / 2] >> 4;
}

static int put(struct rle *r, unsigned count, const uint8_t *colours, bool repeat)
{
    int result = 0;
    uint64_t room = r->y < r->height && r->x < r->width ? r->width - r->x : 0;
    unsigned inside = count < room ? count : (unsigned)room;
    uint8_t *row = inside > 0 ? row_of(r->state, r->into, (uint32_t)r->y) : NULL;
    for (unsigned i = 0; i < inside && result == 0; i++) {
        unsigned which = !repeat ? i : r->state->bits == 8 ? 0 : i & 1;
        if (!put_colour(r->state, row, (uint32_t)r->x + i, colour(r, colours, which)))
            result = bad_colour(r->decoder, r->fault);
    }
    r->x += count;
    return result == 0 && inside < count ? left_picture(r) : result;
}

static int decode(struct rle *r)
{
    for (;;) {
        const uint8_t *next = take(r, 2);
        if (!next)
            return truncated(r->fault);
        unsigned count = next[0], what = next[1];
        int result;
        if (count > 0) {
            result = put(r, count, next + 1, true);
        } else if (what == ESCAPE_PICTURE_ENDS) {
            return 0;
        } else if (what == ESCAPE_ROW_ENDS) {
            r->x = 0;
            result = ++r->y > r->height ? left_picture(r) : 0;
        } else if (what == ESCAPE_MOVE) {
            if (!(next = take(r, 2)))
                return truncated(r->fault);
            r->x += next[0];
            r->y += next[1];
            result = r->x > r->width || r->y > r->height ? left_picture(r) : 0;
        } else {
            size_t bytes = r->state->bits == 8 ? what : (what + 1) / 2;
            if (!(next = take(r, (bytes + 1) & ~(size_t)1)))
                return truncated(r->fault);
            result = put(r, what, next, false);
        }
        if (result != 0)
            return result;
    }
}

static int read_runs(struct decoder *d, const struct picture *into, struct fault *fault)
{
    const struct bmp_state *state = d->state;
    const struct plane *plane = &into->frame.planes[0];
    struct fault why = FAULT_INIT;
    struct rle r = {.decoder = d,
                    .state = state,
                    .into = into,
                    .at = state->pixels,
                    .width = plane->width,
                    .height = plane->height,
                    .fault = &why};
    int result = 0;
    for (uint32_t y = 0; y < r.height && (result = deadline_check(&why)) == 0; y++)
        for (uint32_t x = 0; x < r.width; x++)
            put_colour(state, row_of(state, into, y), x, 0);
    if (result == 0)
        result = decode(&r);
    if (result == 0 || (result == FAULT_TRUNCATED && d->options.partial))
        return 0;
    return fault_set(fault, why.code, "%s", why.text);
}

static int read_bmp(struct decoder *d, struct picture *into, uint32_t end, struct fault *fault)
{
    return d->whole ? read_runs(d, into, fault) : read_rows(d, into, end, fault);
}

/* ---- the encoder ---- */

/* The BMP encoder writes 8 bits with a grey palette, 24 bits, or 32 bits with masks in a V4 header,
 * because readers take the fourth byte for alpha only if there is a mask for it. Rows go from the
 * bottom up, which every reader supports. */
#define GREYS    (4 * 256)
#define LCS_SRGB 0x73524742 /* "sRGB" */

static uint32_t header_size(const struct plane *plane)
{
    return FILE_HEADER + (plane->channels == 4 ? V4_HEADER : INFO_HEADER) +
           (plane->channels == 1 ? GREYS : 0);
}

static int fit_bmp(const void *config, struct plane *plane, struct fault *fault)
{
    if (plane->channels == 2)
        plane->channels = 4; /* no grey with alpha in this format */
    if (header_size(plane) + stride_of(plane->width, 8 * plane->channels) * plane->height >
        UINT32_MAX)
        return fault_set(fault, FAULT_SHAPE, "bmp holds at most 4GiB, not %u×%u×%u; write png",
                         plane->width, plane->height, plane->channels);
    return fit_type("bmp", FIT_8, plane, fault);
}

static void write_header(const struct plane *plane, struct output *output)
{
    uint8_t h[FILE_HEADER + V4_HEADER] = "BM", *info = h + FILE_HEADER;
    uint32_t size = plane->channels == 4 ? V4_HEADER : INFO_HEADER;
    uint32_t pixels = header_size(plane),
             bytes = (uint32_t)(stride_of(plane->width, 8 * plane->channels) * plane->height);
    store_le32(h + 2, pixels + bytes);
    store_le32(h + 10, pixels);
    store_le32(info, size);
    store_le32(info + 4, plane->width);
    store_le32(info + 8, plane->height);
    store_le16(info + 12, 1);
    store_le16(info + 14, 8 * plane->channels);
    store_le32(info + 20, bytes);
    if (plane->channels == 1)
        store_le32(info + 32, 256);
    if (plane->channels == 4) {
        store_le32(info + 16, BMP_BITFIELDS);
        store_le32(info + 40, 0x00FF0000);
        store_le32(info + 44, 0x0000FF00);
        store_le32(info + 48, 0x000000FF);
        store_le32(info + 52, 0xFF000000);
        store_le32(info + 56, LCS_SRGB);
    }
    output_write(output, h, FILE_HEADER + size);
}

/* Makes a row of the file, which has padding behind it already. */
static void make_row(const struct plane *plane, const uint8_t *from, uint8_t *to)
{
    uint32_t channels = plane->channels;
    if (channels == 1)
        memcpy(to, from, plane->width);
    for (uint32_t x = 0; x < plane->width && channels > 1; x++, from += channels, to += channels) {
        to[0] = from[2];
        to[1] = from[1];
        to[2] = from[0];
        if (channels == 4)
            to[3] = from[3];
    }
}

static void begin_file(const struct plane *plane, struct output *output)
{
    write_header(plane, output);
    if (plane->channels > 1)
        return;
    uint8_t greys[GREYS];
    for (int i = 0; i < 256; i++) {
        memset(greys + 4 * i, i, 3);
        greys[4 * i + 3] = 0;
    }
    output_write(output, greys, sizeof greys);
}

/* Rows that come one after the other go into their places in the file, the last one to its front.
 */
static int encode_bmp(struct encoder *e, const struct picture *picture, uint32_t end,
                      struct fault *fault)
{
    const struct plane *plane = &picture->frame.planes[e->plane];
    struct output *output = e->output;
    size_t stride = (size_t)stride_of(plane->width, 8 * plane->channels);
    uint64_t pixels = header_size(plane);
    bool in_order = e->row == 0 && end == plane->height;
    uint8_t *row = calloc(1, stride);
    if (!row)
        return fault_set(fault, FAULT_MEMORY, "no memory for a row");
    if (e->row == 0)
        begin_file(plane, output);
    if (e->row == 0 && !in_order)
        output_grow(output, pixels + stride * (uint64_t)plane->height);
    for (uint32_t y = end; y-- > e->row && !output->fault.code;) {
        make_row(plane, picture_row(picture, e->plane, y), row);
        if (in_order)
            output_write(output, row, stride);
        else
            output_mend(output, pixels + stride * (uint64_t)(plane->height - 1 - y), row, stride);
    }
    free(row);
    return 0;
}

static const struct param params[] = {
    PICTURE_PARAMS,
    {0},
};

static const char *const extensions[] = {"bmp", "dib", NULL};

const struct codec codec_bmp = {
    .name = "bmp",
    .extensions = extensions,
    .media_type = "image/bmp",
    .probe = probe,
    .reads_pieces = true,
    .state_size = sizeof(struct bmp_state),
    .open = open_bmp,
    .read = read_bmp,
    .params = params,
    .config_size = sizeof(struct picture_config),
    .is_picture = true,
    .fit = fit_bmp,
    .encode = encode_bmp,
};
