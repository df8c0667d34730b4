/* The BMP encoder writes 8 bits with a grey palette, 24 bits, or 32 bits with masks in a V4 header,
 * because readers take the fourth byte for alpha only if there is a mask for it. Rows go from the
 * bottom up, which every reader supports. */
#include <string.h>

#include "codec/bmp.h"
#include "codec/byte_order.h"
#include "codec/fit.h"
#include "codec/output.h"

#define FILE_HEADER 14
#define INFO_HEADER 40
#define V4_HEADER   108
#define GREYS       (4 * 256)
#define LCS_SRGB    0x73524742 /* "sRGB" */

static uint64_t stride_of(const struct plane *plane)
{
    return ((uint64_t)plane->width * plane->channels + 3) / 4 * 4;
}

static uint32_t header_size(const struct plane *plane)
{
    return FILE_HEADER + (plane->channels == 4 ? V4_HEADER : INFO_HEADER) +
           (plane->channels == 1 ? GREYS : 0);
}

int bmp_fit(const void *config, struct plane *plane, struct fault *fault)
{
    (void)config;
    if (plane->channels == 2)
        plane->channels = 4; /* no grey with alpha in this format */
    if (header_size(plane) + stride_of(plane) * plane->height > UINT32_MAX)
        return fault_set(fault, FAULT_SHAPE, "bmp holds at most 4GiB, not %u×%u×%u; write png",
                         plane->width, plane->height, plane->channels);
    return fit_type("bmp", FIT_8, plane, fault);
}

static void write_header(const struct plane *plane, struct output *output)
{
    uint8_t h[FILE_HEADER + V4_HEADER] = "BM", *info = h + FILE_HEADER;
    uint32_t size = plane->channels == 4 ? V4_HEADER : INFO_HEADER;
    uint32_t pixels = header_size(plane), bytes = (uint32_t)(stride_of(plane) * plane->height);
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

static void write_greys(struct output *output)
{
    uint8_t greys[GREYS];
    for (int i = 0; i < 256; i++) {
        memset(greys + 4 * i, i, 3);
        greys[4 * i + 3] = 0;
    }
    output_write(output, greys, sizeof greys);
}

/* Writes a row of RGB or RGBA as BGR or BGRA. */
static void write_colours(const uint8_t *row, const struct plane *plane, struct output *output)
{
    enum {
        PIXELS = 1024
    };
    uint8_t turned[4 * PIXELS];
    uint32_t channels = plane->channels;
    for (uint32_t x = 0; x < plane->width;) {
        uint32_t n = plane->width - x < PIXELS ? plane->width - x : PIXELS;
        const uint8_t *from = row + (size_t)x * channels;
        uint8_t *to = turned;
        for (uint32_t i = 0; i < n; i++, from += channels, to += channels) {
            to[0] = from[2];
            to[1] = from[1];
            to[2] = from[0];
            if (channels == 4)
                to[3] = from[3];
        }
        output_write(output, turned, (size_t)n * channels);
        x += n;
    }
}

int bmp_encode(const void *config, const struct picture *picture, size_t index,
               struct output *output, struct fault *fault)
{
    static const uint8_t padding[3];
    const struct plane *plane = &picture->frame.planes[index];
    size_t row = (size_t)plane->width * plane->channels;
    (void)config;
    (void)fault;
    write_header(plane, output);
    if (plane->channels == 1)
        write_greys(output);
    for (uint32_t y = plane->height; y-- > 0 && !output->fault.code;) {
        const uint8_t *from = picture_row(picture, index, y);
        if (plane->channels == 1)
            output_write(output, from, row);
        else
            write_colours(from, plane, output);
        output_write(output, padding, (size_t)(stride_of(plane) - row));
    }
    return 0;
}
