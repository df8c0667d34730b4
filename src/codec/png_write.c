/* The PNG encoders: one by libpng, whose rows come directly from the plane, and one of level 1 by
 * our own DEFLATE. Both write metadata as chunks. */
#include "codec/png.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "codec/byte_order.h"
#include "codec/deflate/deflate.h"
#include "codec/output.h"

/* Bytes of iTXt behind the keyword's NUL: compression flag, compression method, and the NULs of an
 * empty language and of an empty translated keyword. */
#define XMP_HEAD       4
#define ICC_KEYWORD    "ICC profile"
#define PIECE          65536
#define FILTER_AVERAGE 3

/* IHDR's colour type, by a pixel's channels. */
static const uint8_t colours[] = {[1] = PNG_COLOR_TYPE_GRAY,
                                  [2] = PNG_COLOR_TYPE_GRAY_ALPHA,
                                  [3] = PNG_COLOR_TYPE_RGB,
                                  [4] = PNG_COLOR_TYPE_RGB_ALPHA};

/* `type` has four letters. */
static void put_chunk(struct output *output, const char *type, const uint8_t *data, size_t size)
{
    uint8_t head[8], tail[4];
    store_be32(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    store_be32(tail, (uint32_t)crc32(crc32(0, head + 4, 4), data, (uInt)size));
    output_write(output, head, sizeof head);
    output_write(output, data, size);
    output_write(output, tail, sizeof tail);
}

/* ---- metadata ---- */

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
    put_chunk(output, "pHYs", data, sizeof data);
}

/* Profile and XMP are left out when memory is out. */
static void put_profile(const struct metadata_block *icc, struct output *output)
{
    const size_t head = sizeof ICC_KEYWORD + 1;
    uLongf size = compressBound((uLong)icc->size);
    uint8_t *data = malloc(head + size);
    if (!data)
        return;
    memcpy(data, ICC_KEYWORD "\0", head);
    if (compress(data + head, &size, icc->data, (uLong)icc->size) == Z_OK)
        put_chunk(output, "iCCP", data, head + size);
    free(data);
}

static void write_metadata(const struct metadata *metadata, uint32_t channels,
                           struct output *output)
{
    struct metadata_block icc = metadata_profile(metadata, channels);
    if (icc.data)
        put_profile(&icc, output);
    put_density(metadata, output);
    if (metadata->exif.data)
        put_chunk(output, "eXIf", metadata->exif.data, metadata->exif.size);
    const struct metadata_block *xmp = &metadata->xmp;
    const size_t head = sizeof PNG_XMP + XMP_HEAD;
    uint8_t *data = xmp->data ? calloc(1, head + xmp->size) : NULL;
    if (!data)
        return;
    memcpy(data, PNG_XMP, sizeof PNG_XMP);
    memcpy(data + head, xmp->data, xmp->size);
    put_chunk(output, "iTXt", data, head + xmp->size);
    free(data);
}

/* ---- by libpng ---- */

/* Fails as soon as the disk is full, not after the whole picture was compressed. */
static void write_bytes(png_structp png, png_bytep data, size_t size)
{
    struct png_writer *w = png_get_io_ptr(png);
    struct output *output = w->encoder->output;
    output_write(output, data, size);
    if (output->fault.code)
        png_fail(&w->errors, output->fault.code, output->fault.text);
}

static void flush(png_structp png)
{
    /* the engine calls output_flush */
}

static void configure(struct png_writer *w, const struct plane *plane)
{
    const struct png_config *config = w->encoder->config;
    int depth = config->bits == 1 ? 1 : (int)sample_size(plane->type) * 8;
    png_set_user_limits(w->png, INT32_MAX, INT32_MAX);
    png_set_IHDR(w->png, w->info, plane->width, plane->height, depth, colours[plane->channels],
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_buffer_size(w->png, PIECE);
    png_set_compression_level(w->png, (int)config->level);
    png_set_filter(w->png, PNG_FILTER_TYPE_BASE, /* the best of all for each row */
                   config->level == 0 ? PNG_FILTER_NONE : PNG_ALL_FILTERS);
}

static void begin_picture(struct png_writer *w, const struct plane *plane)
{
    struct output *output = w->encoder->output;
    w->png = png_create(&w->errors, false);
    w->info = w->png ? png_create_info_struct(w->png) : NULL;
    if (!w->info)
        png_fail(&w->errors, FAULT_MEMORY, "no memory for an encoder");
    png_set_write_fn(w->png, w, write_bytes, flush);
    configure(w, plane);
    png_write_info(w->png, w->info);
    if (output->metadata)
        write_metadata(output->metadata, plane->channels, output);
    png_use_host_order(w->png, png_get_bit_depth(w->png, w->info));
}

static void write_by_libpng(void *context)
{
    struct png_writer *w = context;
    size_t index = w->encoder->plane;
    const struct plane *plane = &w->picture->frame.planes[index];
    if (w->encoder->row == 0)
        begin_picture(w, plane);
    for (uint32_t y = w->encoder->row; y < w->end; y++) {
        if (w->bits)
            fit_bits(w->picture, index, y, false, w->bits);
        png_write_row(w->png, w->bits ? w->bits : picture_row(w->picture, index, y));
    }
    if (w->end == plane->height)
        png_write_end(w->png, NULL);
}

/* ---- level 1, by our own DEFLATE ---- */

/* The PNG encoder of level 1: rows under the filter Average, compressed by our own DEFLATE. Among
 * the filters whose loops compilers vectorise, Average gives the smallest files of photographs and
 * their gradients. Paeth would save another percent or two of photographs, but would take more time
 * than everything else here. */
static void write_compressed(void *output, const uint8_t *data, size_t size)
{
    put_chunk(output, "IDAT", data, size);
}

/* The filter Average (ISO/IEC 15948, 9.2): each byte minus the mean of the byte `pixel` to its left
 * and the byte above. */
static void filter(const uint8_t *row, const uint8_t *above, size_t n, size_t pixel,
                   uint8_t *restrict to)
{
    for (size_t i = 0; i < pixel; i++)
        to[i] = (uint8_t)(row[i] - above[i] / 2);
    for (size_t i = pixel; i < n; i++)
        to[i] = (uint8_t)(row[i] - (row[i - pixel] + above[i]) / 2);
}

/* `rows` has memory for four rows of n + 1 bytes: the filtered row, the row above the first one, of
 * zeros or of the band before, and two rows of samples of 16 bits, which are big-endian in the
 * file. */
static void write_rows(struct png_writer *w, size_t n)
{
    const struct encoder *e = w->encoder;
    const struct plane *plane = &w->picture->frame.planes[e->plane];
    size_t pixel = sample_size(plane->type) * plane->channels;
    bool swap = plane->type == SAMPLE_U16 && !HOST_IS_BIG_ENDIAN;
    uint8_t *rows = w->rows, *before = rows + n + 1;
    const uint8_t *above = before;
    rows[0] = FILTER_AVERAGE;
    for (uint32_t y = e->row; y < w->end && !e->output->fault.code; y++) {
        const uint8_t *row = picture_row(w->picture, e->plane, y);
        uint8_t *swapped = rows + (2 + y % 2) * (n + 1);
        if (swap) {
            sample_copy(swapped, row, (size_t)plane->width * plane->channels, 2, true);
            row = swapped;
        }
        filter(row, above, n, pixel, rows + 1);
        deflate_write(w->deflate, rows, n + 1);
        above = row;
    }
    if (above != before)
        memcpy(before, above, n);
}

static int begin_fast(struct png_writer *w, const struct plane *p, size_t n, struct fault *fault)
{
    struct output *output = w->encoder->output;
    uint8_t header[13] = {0};
    w->rows = calloc(4, n + 1);
    w->deflate = deflate_create(write_compressed, output);
    if (!w->rows || !w->deflate)
        return fault_set(fault, FAULT_MEMORY, "no memory for an encoder");
    store_be32(header, p->width);
    store_be32(header + 4, p->height);
    header[8] = (uint8_t)(8 * sample_size(p->type));
    header[9] = colours[p->channels];
    output_write(output, PNG_SIGNATURE, sizeof PNG_SIGNATURE - 1);
    put_chunk(output, "IHDR", header, sizeof header);
    if (output->metadata)
        write_metadata(output->metadata, p->channels, output);
    return 0;
}

static int encode_fast(struct png_writer *w, struct fault *fault)
{
    struct output *output = w->encoder->output;
    const struct plane *p = &w->picture->frame.planes[w->encoder->plane];
    size_t n = plane_row_bytes(p);
    int result = w->encoder->row == 0 ? begin_fast(w, p, n, fault) : 0;
    if (result != 0)
        return result;
    write_rows(w, n);
    if (w->end == p->height) {
        deflate_end(w->deflate);
        put_chunk(output, "IEND", (const uint8_t *)"", 0);
    }
    return output->fault.code ? fault_set(fault, output->fault.code, "%s", output->fault.text) : 0;
}

int png_encode(struct encoder *encoder, const struct picture *picture, uint32_t end,
               struct fault *fault)
{
    const struct png_config *c = encoder->config;
    struct png_writer *w = encoder->state;
    size_t index = encoder->plane;
    w->encoder = encoder;
    w->picture = picture;
    w->end = end;
    if (c->level == 1 && c->bits != 1)
        return encode_fast(w, fault);
    int result =
        c->bits == 1 ? fit_check_bits("png:bits=1", picture, index, encoder->row, end, fault) : 0;
    if (result == 0 && c->bits == 1 && !w->bits &&
        !(w->bits = malloc(picture->frame.planes[index].width / 8 + 1)))
        result = fault_set(fault, FAULT_MEMORY, "no memory for an encoder");
    return result ? result : png_attempt(&w->errors, write_by_libpng, w, fault);
}

void png_encode_close(struct encoder *encoder)
{
    struct png_writer *w = encoder->state;
    if (w->png)
        png_destroy_write_struct(&w->png, &w->info);
    deflate_destroy(&w->deflate);
    free(w->bits);
    free(w->rows);
}
