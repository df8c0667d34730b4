/* Orientations as Exif 2.32 §4.6.4 numbers them: the sides at which the stored row 0 and column 0
 * are to be shown:
 *
 *     1 top left      2 top right      3 bottom right   4 bottom left
 *     5 left top      6 right top      7 right bottom   8 left bottom */
#include "codec/orient.h"

#include <stdlib.h>
#include <string.h>

/* ORIENT_ROWS are transposed together: 64 pixels of each column become whole cache lines of the
 * result, and one cache line of each row fits the first-level cache. */
#define CACHE_LINE 64

bool orient_is_transposed(unsigned orientation)
{
    return orientation >= 5;
}

bool orient_keeps_rows(unsigned orientation)
{
    return orientation <= 2;
}

bool orient_from_right(unsigned orientation)
{
    return orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
}

bool orient_from_bottom(unsigned orientation)
{
    return orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
}

static uint32_t rows_of_block(uint32_t height, bool whole)
{
    return whole || height < ORIENT_ROWS ? height : ORIENT_ROWS;
}

/* An odd number of cache lines: with strides that are powers of two the rows would share a few sets
 * of the cache. */
static size_t stride_of_block(uint32_t width, size_t pixel)
{
    return (((size_t)width * pixel + CACHE_LINE - 1) / CACHE_LINE | 1) * CACHE_LINE;
}

uint64_t orient_memory(unsigned orientation, uint32_t width, uint32_t height, size_t pixel,
                       bool whole)
{
    if (!orient_is_transposed(orientation))
        return 0;
    return (uint64_t)stride_of_block(width, pixel) * rows_of_block(height, whole);
}

int orient_begin(struct orient *orient, unsigned orientation, const struct picture *into,
                 bool whole, struct fault *fault)
{
    const struct plane *plane = &into->frame.planes[0];
    bool transposed = orient_is_transposed(orientation);
    *orient = (struct orient){
        .orientation = orientation,
        .into = into,
        .width = transposed ? plane->height : plane->width,
        .height = transposed ? plane->width : plane->height,
        .pixel = plane->channels * sample_size(plane->type),
    };
    if (!transposed)
        return 0;
    orient->stride = stride_of_block(orient->width, orient->pixel);
    orient->block_rows = rows_of_block(orient->height, whole);
    uint64_t bytes =
        orient_memory(orientation, orient->width, orient->height, orient->pixel, whole);
    orient->block = bytes <= PTRDIFF_MAX ? malloc((size_t)bytes) : NULL;
    if (!orient->block)
        return fault_set(fault, FAULT_MEMORY, "no memory to turn a picture");
    return 0;
}

void orient_finish(struct orient *orient)
{
    free(orient->block);
    *orient = (struct orient){0};
}

void *orient_row(const struct orient *orient, uint32_t y)
{
    if (orient->block)
        return orient->block + y % orient->block_rows * orient->stride;
    bool upside_down = orient_from_bottom(orient->orientation);
    return picture_row(orient->into, 0, upside_down ? orient->height - 1 - y : y);
}

static inline void mirror_pixels(uint8_t *row, uint32_t width, size_t pixel)
{
    uint8_t swap[16];
    for (uint8_t *left = row, *right = row + (width - 1) * pixel; left < right;
         left += pixel, right -= pixel) {
        memcpy(swap, left, pixel);
        memcpy(left, right, pixel);
        memcpy(right, swap, pixel);
    }
}

/* Transposes rows y … y+n−1, which are the block's first n. */
static inline void transpose(const struct orient *o, uint32_t y, uint32_t n, size_t pixel)
{
    bool from_right = orient_from_right(o->orientation), /* row 0 is shown there */
        from_bottom = orient_from_bottom(o->orientation); /* column 0 */
    uint32_t first = from_right ? o->height - y - n : y;
    for (uint32_t x = 0; x < o->width; x++) {
        uint8_t *row = picture_row(o->into, 0, from_bottom ? o->width - 1 - x : x);
        uint8_t *to = row + first * pixel;
        const uint8_t *from = o->block + x * pixel + (from_right ? (n - 1) * o->stride : 0);
        for (uint32_t i = 0; i < n; i++, to += pixel) {
            memcpy(to, from, pixel);
            from = from_right ? from - o->stride : from + o->stride;
        }
    }
}

/* With a constant size compilers turn each copy of a pixel into a single move. */
#define FOR_PIXEL_SIZE(pixel, call)                                                                \
    switch (pixel) {                                                                               \
    case 1:                                                                                        \
        call(1);                                                                                   \
        break;                                                                                     \
    case 2:                                                                                        \
        call(2);                                                                                   \
        break;                                                                                     \
    case 3:                                                                                        \
        call(3);                                                                                   \
        break;                                                                                     \
    case 4:                                                                                        \
        call(4);                                                                                   \
        break;                                                                                     \
    case 6:                                                                                        \
        call(6);                                                                                   \
        break;                                                                                     \
    default:                                                                                       \
        call(8);                                                                                   \
    }

void orient_done(const struct orient *o, uint32_t y)
{
    if (!o->block && orient_from_right(o->orientation)) {
        uint8_t *row = orient_row(o, y);
#define MIRROR(size) mirror_pixels(row, o->width, size)
        FOR_PIXEL_SIZE(o->pixel, MIRROR)
#undef MIRROR
    }
    if (!o->block || ((y + 1) % o->block_rows != 0 && y + 1 != o->height))
        return;
    uint32_t n = y % o->block_rows + 1, first = y + 1 - n;
#define TRANSPOSE(size) transpose(o, first, n, size)
    FOR_PIXEL_SIZE(o->pixel, TRANSPOSE)
#undef TRANSPOSE
}
