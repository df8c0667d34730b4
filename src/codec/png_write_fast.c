/* The PNG encoder of level 1: rows under the filter Average, compressed by our own DEFLATE. Among
 * the filters whose loops compilers vectorise, Average gives the smallest files of photographs and
 * their gradients. Paeth would save another percent or two of photographs, but would take more time
 * than everything else here. */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "codec/byte_order.h"
#include "codec/deflate/deflate.h"
#include "codec/output.h"
#include "codec/png.h"

#define FILTER_AVERAGE 3

void png_put_chunk(struct output *output, const char *type, const uint8_t *data, size_t size)
{
    uint8_t head[8], tail[4];
    store_be32(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    uint32_t crc = (uint32_t)crc32(crc32(0, head + 4, 4), data, (uInt)size);
    store_be32(tail, size ? crc : (uint32_t)crc32(0, head + 4, 4));
    output_write(output, head, sizeof head);
    output_write(output, data, size);
    output_write(output, tail, sizeof tail);
}

static void write_compressed(void *output, const uint8_t *data, size_t size)
{
    png_put_chunk(output, "IDAT", data, size);
}

static void write_header(struct output *output, const struct plane *plane)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    static const uint8_t colours[] = {[1] = PNG_COLOR_TYPE_GRAY,
                                      [2] = PNG_COLOR_TYPE_GRAY_ALPHA,
                                      [3] = PNG_COLOR_TYPE_RGB,
                                      [4] = PNG_COLOR_TYPE_RGB_ALPHA};
    uint8_t header[13] = {0};
    store_be32(header, plane->width);
    store_be32(header + 4, plane->height);
    header[8] = (uint8_t)(8 * sample_size(plane->type));
    header[9] = colours[plane->channels];
    output_write(output, signature, sizeof signature);
    png_put_chunk(output, "IHDR", header, sizeof header);
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

/* A row's bytes as they go into the file: samples of 16 bits are big-endian there, and are
 * converted into `swapped`. */
static const uint8_t *row_bytes(const struct picture *picture, size_t index, uint32_t y,
                                uint8_t *swapped)
{
    const struct plane *plane = &picture->frame.planes[index];
    const uint8_t *row = picture_row(picture, index, y);
    if (plane->type != SAMPLE_U16 || HOST_IS_BIG_ENDIAN)
        return row;
    copy_samples(swapped, row, (size_t)plane->width * plane->channels, 2, true);
    return swapped;
}

/* `rows` has memory for four rows of n + 1 bytes: the filtered row, a row of zeros above the first
 * one, and two rows of swapped samples. */
static void write_rows(const struct picture *picture, size_t index, struct deflate *deflate,
                       uint8_t *rows, size_t n, struct output *output)
{
    const struct plane *plane = &picture->frame.planes[index];
    size_t pixel = sample_size(plane->type) * plane->channels;
    const uint8_t *above = rows + n + 1;
    rows[0] = FILTER_AVERAGE;
    for (uint32_t y = 0; y < plane->height && !output->fault.code; y++) {
        const uint8_t *row = row_bytes(picture, index, y, rows + (2 + y % 2) * n + 1);
        filter(row, above, n, pixel, rows + 1);
        deflate_write(deflate, rows, n + 1);
        above = row;
    }
}

int png_encode_fast(const struct picture *picture, size_t plane, struct output *output,
                    struct fault *fault)
{
    const struct plane *p = &picture->frame.planes[plane];
    size_t n = (size_t)p->width * p->channels * sample_size(p->type);
    uint8_t *rows = calloc(4, n + 1);
    struct deflate *deflate = deflate_create(write_compressed, output);
    int result = 0;
    if (!rows || !deflate) {
        result = fault_set(fault, FAULT_MEMORY, "no memory for an encoder");
    } else {
        write_header(output, p);
        if (output->metadata)
            png_write_metadata(output->metadata, p->channels, output);
        write_rows(picture, plane, deflate, rows, n, output);
        deflate_end(deflate);
        png_put_chunk(output, "IEND", (const uint8_t *)"", 0);
    }
    deflate_destroy(&deflate);
    free(rows);
    if (result == 0 && output->fault.code)
        result = fault_set(fault, output->fault.code, "%s", output->fault.text);
    return result;
}
