/* Vectors of a stage over small pictures that a formula gives, so that a vector need not hold its
 * input, and is a line. */
#ifndef SLUICE_TESTS_STAGE_VECTORS_H
#define SLUICE_TESTS_STAGE_VECTORS_H

#include "harness.h"

/* What the stage makes of `picture` with `arguments`. A picture is "TYPE WxH", or "TYPE WxHxC" with
 * channels, at most 24 x 18 samples. Its channel c at (x, y) is (37x + 91y + 13xy + 57c) mod 256;
 * "%M" behind it is another modulus, "*G" times G, mod 65536, "+O" and "-O" plus or less O. So "i8 5x4x2 %100 -50" has 5 x 4 pixels of two channels, from -50 to 49.
 * `expected` holds the result's samples as text: one behind the other, with a comma behind each row
 * but the last, which says the result's size. They were computed from the definition by a program
 * of its own. The result has the picture's type and channels. */
struct vector {
    const char *arguments, *picture, *expected;
};

/* Checks each with harness_vector: exact for integers, to a thousandth for f32. */
void vectors_check(const char *stage, const struct vector *vectors, size_t n);

/* The end of main for a stage with a small window: its vectors, of which there must be enough, and
 * harness_window. */
int window_main(int argc, char **argv, const char *stage, const struct vector *vectors, size_t n);

#endif
