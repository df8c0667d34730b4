/* Decimals as the fractions that they are: 0.1 is 1/10, not the double next to it, so that integer
 * results can be exact. */
#ifndef SLUICE_BASE_RATIO_H
#define SLUICE_BASE_RATIO_H

#include <stdint.h>

struct ratio {
    int64_t p, q; /* p/q in lowest terms, q > 0 */
};

/* The decimal of at most nine significant digits that reads back nearest to `value`, which must be
 * finite and below 1e9 in magnitude; what lies beyond the ninth digit after the point is dropped.
 */
struct ratio ratio_from_real(double value);

/* The greatest common divisor, not below 0; 0 of two zeros. */
int64_t greatest_common_divisor(int64_t a, int64_t b);

#endif
