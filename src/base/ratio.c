#include "base/ratio.h"

#include <math.h>

int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

struct ratio ratio_from_real(double value)
{
    /* A double distinguishes decimals of fifteen digits, here with at most nine after the point.
     * The product is below 10^15, where llrint is exact. */
    int digits_before_point = 1, digits_after_point = 9;
    for (double m = fabs(value); m >= 10; m /= 10)
        digits_before_point++;
    if (digits_after_point > 15 - digits_before_point)
        digits_after_point = 15 - digits_before_point;
    int64_t q = 1;
    for (int i = 0; i < digits_after_point; i++)
        q *= 10;
    int64_t p = llrint(value * (double)q);
    int64_t common = greatest_common_divisor(p, q);
    return (struct ratio){p / common, q / common};
}
