/* resize, first pass: along rows. Each pixel of the result's width is a weighted sum of a source row's pixels, which is
 * stored in scratch memory (src/stage/resize/resize_passes.c). The grid counts pixels of the result and rows of the
 * source. With alpha sums lie channel by channel, `pitch` apart. */
#include "resize_table.cl"

#ifndef SRC_IS_float
/* The exact sum of a channel, in 64ths. */
inline int FN(along)(__global const SRC *in, __global const short *weights, int count)
{
    int sum = 1 << 7;
    for (int k = 0; k < count; k++)
        sum += weights[k] * (int)in[k * CH];
    return sum >> 8;
}
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(MIDDLE, middle), __global const int *restrict table, AXIS(x),
                     int pitch)
{
    POSITION(x, y)
    struct FN(axis) axis = {x_at, x_n, x_taps};
    int count = FN(count)(table, axis, x);
    __global const SRC *in = ROW(src, y) + FN(first)(table, axis, x) * CH;
    __global MIDDLE *out = ROW(middle, y);
#if defined(FIXED)
    for (int c = 0; c < CH; c++)
        out[x * CH + c] = (MIDDLE)FN(along)(in + c, FN(fixed_weights)(table, axis, x), count);
#else
    __global const float *weights = FN(real_weights)(table, axis, x);
#ifdef REAL
    for (int c = 0; c < CH; c++) {
        float block = 0, total = 0, lost = 0;
        for (int k = 0; k < count; k++) {
            block += weights[k] * in[k * CH + c];
            if (k % SUM_BLOCK == SUM_BLOCK - 1)
                ADD_BLOCK(block, total, lost)
        }
        ADD_BLOCK(block, total, lost)
        out[x * CH + c] = total;
    }
#else
    float4 block = 0, total = 0, lost = 0;
    for (int k = 0; k < count; k++) {
        float alpha = (float)in[k * CH + CH - 1];
#if CH == 2
        float4 v = (float4)((float)in[k * CH] * alpha, alpha, 0, 0);
#else
        float4 v = (float4)((float)in[k * CH] * alpha, (float)in[k * CH + 1] * alpha, (float)in[k * CH + 2] * alpha,
                            alpha);
#endif
        block += weights[k] * v;
        if (k % SUM_BLOCK == SUM_BLOCK - 1)
            ADD_BLOCK(block, total, lost)
    }
    ADD_BLOCK(block, total, lost)
    out[x] = total.s0;
    out[x + pitch] = total.s1;
#if CH == 4
    out[x + 2 * pitch] = total.s2;
    out[x + 3 * pitch] = total.s3;
#endif
#ifdef EXACT_ALPHA
    struct FN(axis) fixed = {x_fixed_at, x_fixed_n, x_fixed_taps};
    out[x + CH * pitch] = as_float(FN(along)(in + CH - 1, FN(fixed_weights)(table, fixed, x), count));
#endif
#endif
#endif
}
