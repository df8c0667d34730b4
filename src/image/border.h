/* What stands outside a plane's edge, for stages that look at neighbours. Named as in numpy.pad. */
#ifndef SLUICE_IMAGE_BORDER_H
#define SLUICE_IMAGE_BORDER_H

#include <stdint.h>

enum border {
    BORDER_EDGE,      /* the edge sample repeated: aaa|abcd|ddd */
    BORDER_REFLECT,   /* mirrored, edge sample once: dcb|abcd|cba */
    BORDER_SYMMETRIC, /* mirrored, edge sample twice: cba|abcd|dcb */
    BORDER_WRAP,      /* from the other side: bcd|abcd|abc */
    BORDER_ZERO,      /* zeros */
    BORDER_CROP,      /* no outside: the result shrinks to where the whole window fits */
};

/* The index within 0…n−1 that stands at `i`, however far outside it is, or −1 for zero. A side of
 * one sample repeats it. Not for BORDER_CROP. */
int64_t border_index(int64_t i, int64_t n, enum border border);

#endif
