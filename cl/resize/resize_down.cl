/* resize, second pass: down columns, over the rows that resize_across.cl or its like have stored. The first of them
 * belongs to row `row` of the source. The grid counts samples of the result, or pixels if there is alpha. */
#include "resize_table.cl"

__kernel void KERNEL(GRID, PLANE_IN(MIDDLE, middle), PLANE_OUT(SRC, dst), __global const int *restrict table, AXIS(y),
                     int row, int pitch)
{
    POSITION(x, y)
    struct FN(axis) axis = {y_at, y_n, y_taps};
    int count = FN(count)(table, axis, y);
    __global const MIDDLE *in = ROW(middle, FN(first)(table, axis, y) - row) + x;
    __global SRC *out = ROW(dst, y);
#if defined(FIXED)
    out[x] = FN(exact_down)(in, middle_stride, FN(fixed_weights)(table, axis, y), count);
#elif defined(REAL)
    out[x] = FN(real_down)(in, middle_stride, FN(real_weights)(table, axis, y), count);
#else
    __global const float *weights = FN(real_weights)(table, axis, y);
    float alpha = FN(real_down)(in + (CH - 1) * pitch, middle_stride, weights, count);
    for (int c = 0; c < CH - 1; c++) {
        float v = FN(real_down)(in + c * pitch, middle_stride, weights, count);
        out[x * CH + c] = CAT(convert_, SRC)(FN(colour)(v, alpha));
    }
#ifdef EXACT_ALPHA
    struct FN(axis) fixed = {y_fixed_at, y_fixed_n, y_fixed_taps};
    out[x * CH + CH - 1] = FN(exact_down)((__global const int *)in + CH * pitch, middle_stride,
                                          FN(fixed_weights)(table, fixed, y), count);
#else
    out[x * CH + CH - 1] = alpha;
#endif
#endif
}
