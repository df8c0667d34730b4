/* What lies outside a plane's edge, for stages that read neighbours. Names as in numpy.pad. */
#ifndef SLUICE_IMAGE_BORDER_H
#define SLUICE_IMAGE_BORDER_H

#include <stdint.h>

enum border {
    BORDER_EDGE,      /* the edge sample is repeated: aaa|abcd|ddd */
    BORDER_REFLECT,   /* mirrored, the edge sample once: dcb|abcd|cba */
    BORDER_SYMMETRIC, /* mirrored, the edge sample twice: cba|abcd|dcb */
    BORDER_WRAP,      /* continued from the other side: bcd|abcd|abc */
    BORDER_ZERO,      /* zeros */
    BORDER_CROP,      /* nothing: the result has only positions whose whole window is inside */
};

/* The index within 0…n−1 whose sample stands at `i`, which may be far outside; −1 for zero. A side
 * of one sample repeats it. Not for BORDER_CROP. */
int64_t border_index(int64_t i, int64_t n, enum border border);

#endif
