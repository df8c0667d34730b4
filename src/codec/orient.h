/* Applies an Exif orientation while a picture is decoded. A decoder asks where to put stored row y,
 * decodes it there, and reports it:
 *
 *     for each y:  decode into orient_row(&o, y);  orient_done(&o, y);
 *
 * If the orientation keeps width and height, the row is in the picture itself, where orient_done
 * mirrors it if need be. If it swaps them, the row is in a block of rows, which orient_done
 * transposes into the picture when it is full. */
#ifndef SLUICE_CODEC_ORIENT_H
#define SLUICE_CODEC_ORIENT_H

#include "base/fault.h"
#include "image/frame.h"

#define ORIENT_NONE 1

/* Rows of a block. Whoever reads a part of a picture begins and ends it at a multiple of them, or
 * at the picture's end. */
#define ORIENT_ROWS 64

struct orient {
    unsigned orientation;       /* 1 to 8, as Exif counts them */
    const struct picture *into; /* borrowed; its first plane */
    uint32_t width, height;     /* of the stored picture, in pixels */
    size_t pixel;               /* bytes of one pixel */
    uint8_t *block;             /* owned; NULL if the orientation keeps width and height */
    size_t stride;              /* of the block, in bytes */
    uint32_t block_rows;
};

/* True for the orientations that swap width and height. */
bool orient_is_transposed(unsigned orientation);

/* True for those under which each row becomes the row of the same number: other pictures are read
 * as a whole. */
bool orient_keeps_rows(unsigned orientation);

/* True for those that show the stored picture's first column, or row, at the right or the bottom.
 */
bool orient_from_right(unsigned orientation);
bool orient_from_bottom(unsigned orientation);

/* Bytes that orient_begin allocates for a picture of that stored size. With `whole` the block has
 * all rows: for decoders that write each row several times before they report any. */
uint64_t orient_memory(unsigned orientation, uint32_t width, uint32_t height, size_t pixel,
                       bool whole);

/* `into` has the size after orientation. */
int orient_begin(struct orient *orient, unsigned orientation, const struct picture *into,
                 bool whole, struct fault *fault);
void orient_finish(struct orient *orient);

/* The memory for stored row `y`: width · pixel bytes. */
void *orient_row(const struct orient *orient, uint32_t y);

/* Reports that stored row `y` is complete. To be called once for each row, in ascending order. */
void orient_done(const struct orient *orient, uint32_t y);

#endif
