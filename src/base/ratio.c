#include "base/ratio.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
    char text[32];
    int exponent = 0, digits_after_point = 0;
    snprintf(text, sizeof text, "%.8e", value); /* d.dddddddde±xx */
    double mantissa = strtod(text, NULL);
    for (double m = fabs(mantissa); m >= 10; m /= 10)
        exponent++;
    for (double m = fabs(mantissa); m > 0 && m < 1 && exponent > -9; m *= 10)
        exponent--;
    digits_after_point = 8 - exponent;
    if (digits_after_point > 9)
        digits_after_point = 9;
    if (digits_after_point < 0)
        digits_after_point = 0;
    int64_t q = 1;
    for (int i = 0; i < digits_after_point; i++)
        q *= 10;
    int64_t p = llrint(mantissa * (double)q);
    int64_t common = greatest_common_divisor(p, q);
    return (struct ratio){p / common, q / common};
}
