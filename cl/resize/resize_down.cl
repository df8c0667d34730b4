/* resize, second pass: down columns, over the rows that resize_across.cl or its like have stored. The first of them
 * belongs to row `row` of the source. The grid counts samples of the result, or pixels if there is alpha. */
#include "resize_table.cl"

__kernel void KERNEL(GRID, PLANE_IN(MIDDLE, middle), PLANE_OUT(SRC, dst), __global const int *restrict table, AXIS(y),
                     int row, int pitch)
{
    POSITION(x, y)
    const struct FN(axis) fixed = FIXED_AXIS(y), real = REAL_AXIS(y), axis = FIXED ? fixed : real;
    int count = FN(count)(table, axis, y);
    __global const MIDDLE *in = ROW(middle, FN(first)(table, axis, y) - row) + x;
    __global SRC *out = ROW(dst, y);
#if FIXED
    out[x] = FN(exact_down)(in, middle_stride, FN(fixed_weights)(table, fixed, y), count);
#else
    __global const float *weights = FN(real_weights)(table, real, y);
    float last = FN(real_down)(in + (ALPHA ? (CH - 1) * pitch : 0), middle_stride, weights, count);
    if (!EXACT_ALPHA)
        out[ALPHA ? x * CH + CH - 1 : x] = last;
    for (int c = 0; ALPHA && c < CH - 1; c++) {
        float v = FN(real_down)(in + c * pitch, middle_stride, weights, count);
        out[x * CH + c] = CAT(convert_, SRC)(FN(colour)(v, last));
    }
#ifndef SRC_IS_float
    out[x * CH + CH - 1] = FN(exact_down)((__global const int *)in + CH * pitch, middle_stride,
                                          FN(fixed_weights)(table, fixed, y), count);
#endif
#endif
}
