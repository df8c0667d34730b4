/* Metadata in PNG's chunks (ISO/IEC 15948 §11.3): eXIf, iCCP, pHYs, and XMP in iTXt (XMP part 3,
 * §1.1.5). libpng is told to skip these chunks; they are read from the file in memory. Both
 * encoders write them here. */
#include "codec/png.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "codec/byte_order.h"
#include "codec/output.h"

#define SIGNATURE   8
#define KEYWORD_MAX 80
#define XMP_KEYWORD "XML:com.adobe.xmp"
/* Bytes of iTXt behind the keyword's NUL: compression flag, compression method, and the NULs of an
 * empty language and of an empty translated keyword. */
#define XMP_HEAD    4
#define ICC_KEYWORD "ICC profile"

struct chunk {
    const uint8_t *data;
    size_t size;
};

/* Inflates into memory that the caller frees; NULL if the data are damaged, give more than
 * METADATA_MAX bytes, or memory is out. */
static uint8_t *inflate_all(const uint8_t *data, size_t size, size_t *got)
{
    uint8_t *out = malloc(METADATA_MAX);
    z_stream stream = {.next_in = (Bytef *)data, .avail_in = (uInt)size};
    bool whole = false;
    if (out && inflateInit(&stream) == Z_OK) {
        stream.next_out = out;
        stream.avail_out = METADATA_MAX;
        whole = inflate(&stream, Z_FINISH) == Z_STREAM_END;
        *got = METADATA_MAX - stream.avail_out;
        inflateEnd(&stream);
    }
    if (!whole) {
        free(out);
        out = NULL;
    }
    return out;
}

/* iCCP: a keyword, its NUL, the compression method 0, and the deflated profile. */
static void take_profile(struct metadata *metadata, const struct chunk *chunk)
{
    size_t keyword =
        strnlen((const char *)chunk->data, chunk->size < KEYWORD_MAX ? chunk->size : KEYWORD_MAX);
    size_t head = keyword + 2, size = 0;
    if (head >= chunk->size || chunk->data[keyword] != 0 || chunk->data[keyword + 1] != 0)
        return;
    uint8_t *profile = inflate_all(chunk->data + head, chunk->size - head, &size);
    if (profile)
        metadata_set_icc(metadata, profile, size);
    free(profile);
}

static void take_text(struct metadata *metadata, const struct chunk *chunk)
{
    const size_t head = sizeof XMP_KEYWORD + 2; /* then language and translated keyword with NULs */
    if (chunk->size < head + 2 || memcmp(chunk->data, XMP_KEYWORD, sizeof XMP_KEYWORD) != 0)
        return;
    const uint8_t *at = chunk->data + head, *end = chunk->data + chunk->size;
    for (int i = 0; i < 2 && at; i++) {
        at = memchr(at, 0, (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at)
        return;
    size_t size = (size_t)(end - at);
    bool is_deflated = chunk->data[sizeof XMP_KEYWORD] == 1;
    uint8_t *packet = is_deflated ? inflate_all(at, size, &size) : NULL;
    if (packet || !is_deflated)
        metadata_set_xmp(metadata, packet ? packet : at, size);
    free(packet);
}

static void take_density(struct metadata *metadata, const struct chunk *chunk)
{
    if (chunk->size != 9 || metadata->density_x > 0 || chunk->data[8] > 1)
        return;
    metadata->density_x = load_be32(chunk->data);
    metadata->density_y = load_be32(chunk->data + 4);
    metadata->density_unit = chunk->data[8] == 1 ? DENSITY_METRE : DENSITY_ASPECT;
}

static bool has_type(const uint8_t *at, const char *type)
{
    return memcmp(at + 4, type, 4) == 0;
}

void png_read_metadata(struct decoder *d)
{
    size_t at = SIGNATURE;
    while (d->options.meta != METADATA_STRIP && d->size - at >= 12) {
        const uint8_t *head = d->data + at;
        struct chunk chunk = {head + 8, load_be32(head)};
        if (chunk.size > d->size - at - 12)
            break;
        at += 12 + chunk.size;
        bool wanted = has_type(head, "eXIf") || has_type(head, "iCCP") || has_type(head, "pHYs") ||
                      (has_type(head, "iTXt") && d->options.meta == METADATA_ALL);
        if (!wanted || chunk.size > METADATA_MAX ||
            load_be32(chunk.data + chunk.size) != crc32(0, head + 4, (uInt)chunk.size + 4))
            continue;
        if (has_type(head, "eXIf"))
            metadata_set_exif(&d->metadata, chunk.data, chunk.size, d->options.orient);
        else if (has_type(head, "iCCP") && !d->metadata.icc.data)
            take_profile(&d->metadata, &chunk);
        else if (has_type(head, "pHYs"))
            take_density(&d->metadata, &chunk);
        else if (has_type(head, "iTXt") && !d->metadata.xmp.data)
            take_text(&d->metadata, &chunk);
    }
}

static void put_density(const struct metadata *metadata, struct output *output)
{
    uint8_t data[9] = {0};
    uint32_t x = metadata_density(metadata, metadata->density_x, DENSITY_METRE);
    uint32_t y = metadata_density(metadata, metadata->density_y, DENSITY_METRE);
    if (x == 0 || y == 0 || x > INT32_MAX || y > INT32_MAX)
        return;
    store_be32(data, x);
    store_be32(data + 4, y);
    data[8] = metadata->density_unit != DENSITY_ASPECT;
    png_put_chunk(output, "pHYs", data, sizeof data);
}

/* The profile is left out when memory is out. */
static void put_profile(const struct metadata_block *icc, struct output *output)
{
    const size_t head = sizeof ICC_KEYWORD + 1;
    uLongf size = compressBound((uLong)icc->size);
    uint8_t *data = malloc(head + size);
    if (!data)
        return;
    memcpy(data, ICC_KEYWORD "\0", head);
    if (compress(data + head, &size, icc->data, (uLong)icc->size) == Z_OK)
        png_put_chunk(output, "iCCP", data, head + size);
    free(data);
}

static void put_text(const struct metadata_block *xmp, struct output *output)
{
    const size_t head = sizeof XMP_KEYWORD + XMP_HEAD;
    uint8_t *data = calloc(1, head + xmp->size);
    if (!data)
        return;
    memcpy(data, XMP_KEYWORD, sizeof XMP_KEYWORD);
    memcpy(data + head, xmp->data, xmp->size);
    png_put_chunk(output, "iTXt", data, head + xmp->size);
    free(data);
}

void png_write_metadata(const struct metadata *metadata, uint32_t channels, struct output *output)
{
    struct metadata_block icc = metadata_profile(metadata, channels);
    if (icc.data)
        put_profile(&icc, output);
    put_density(metadata, output);
    if (metadata->exif.data)
        png_put_chunk(output, "eXIf", metadata->exif.data, metadata->exif.size);
    if (metadata->xmp.data)
        put_text(&metadata->xmp, output);
}
