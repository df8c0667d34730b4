/* Vectors of a stage over small pictures that a formula gives, so that a vector need not hold its
 * input. */
#ifndef SLUICE_TESTS_STAGE_VECTORS_H
#define SLUICE_TESTS_STAGE_VECTORS_H

#include "harness.h"

/* What the stage makes of a picture of `width` x `height` samples (at most 24 x 18 of one channel)
 * with `arguments`. Channel c of the picture at (x, y) is (37x + 91y + 13xy + 57c) mod `modulus`,
 * times `gain`, mod 65536, plus `offset`, which may be below 0 for signed types. The result has the
 * same type and channels; `expected` holds its samples row by row, computed from the definition by
 * a program of its own. */
struct vector {
    const char *arguments;
    enum sample_type type;
    uint32_t width, height, channels;
    unsigned modulus, gain;
    uint32_t out_width, out_height;
    const double *expected;
    int offset;
};

/* Checks each with harness_vector: exact for integers, to a thousandth for f32. */
void vectors_check(const char *stage, const struct vector *vectors, size_t n);

#endif
