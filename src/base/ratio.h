/* Decimal numbers as exact fractions: 0.1 is 1/10, not the double next to it, so that integer
 * results can be exact. */
#ifndef SLUICE_BASE_RATIO_H
#define SLUICE_BASE_RATIO_H

#include <stdint.h>

struct ratio {
    int64_t p, q; /* p/q in lowest terms, q > 0 */
};

/* The decimal nearest to `value`, which must be finite and below 1e9 in magnitude, with at most
 * nine digits after the point and fifteen in all. q divides 10^9; |p| is at most 10^15. */
struct ratio ratio_from_real(double value);

/* The greatest common divisor, never negative; 0 for two zeros. */
int64_t greatest_common_divisor(int64_t a, int64_t b);

#endif
