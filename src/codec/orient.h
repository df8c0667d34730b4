/* Where the rows of a stored picture belong in the picture as it is looked at.
 *
 * A decoder asks where to put stored row y, fills it, and says so:
 *
 *     for each y:  decode into orient_row(&o, y);  orient_done(&o, y);
 *
 * Orientations that keep rows rows are decoded in place (and turned round there); those that make
 * columns of them go through a block of rows, which orient_done transposes when it is full. */
#ifndef SLUICE_CODEC_ORIENT_H
#define SLUICE_CODEC_ORIENT_H

#include "base/fault.h"
#include "image/frame.h"

#define ORIENT_NONE 1

struct orient {
    unsigned orientation;       /* 1 to 8, as Exif counts them */
    const struct picture *into; /* borrowed; its first plane */
    uint32_t width, height;     /* as stored */
    size_t pixel;               /* bytes */
    uint8_t *block;             /* owned; NULL where rows stay rows */
    size_t stride;              /* of the block */
    uint32_t block_rows;
};

/* True for the orientations that swap width and height. */
bool orient_is_transposed(unsigned orientation);

/* Bytes that orient_begin takes for a picture of that stored size. With `whole`, every row of the
 * block stays writable until it is done: for decoders that come by more than once. */
uint64_t orient_memory(unsigned orientation, uint32_t width, uint32_t height, size_t pixel,
                       bool whole);

/* `into` already has the size as looked at. */
int orient_begin(struct orient *orient, unsigned orientation, const struct picture *into,
                 bool whole, struct fault *fault);
void orient_finish(struct orient *orient);

/* Where stored row `y` is to be put: as many bytes as it has pixels. */
void *orient_row(const struct orient *orient, uint32_t y);

/* Stored row `y` is there. Rows are done from the first to the last. */
void orient_done(const struct orient *orient, uint32_t y);

#endif
