/* resize, first pass: along rows. Each pixel of the result's width is a weighted sum of a source row's pixels, which is
 * stored in scratch memory (src/stage/resize/resize_passes.c). The grid counts pixels of the result and rows of the
 * source.
 *
 *     FIXED       integers, exact: weights are multiples of 2^-14, sums multiples of 2^-6
 *     REAL        f32
 *     WITH_ALPHA  stores colours times alpha, in f32; then alpha, in f32; then, for integers, alpha as with FIXED */
#include "resize_table.cl"

#ifdef FIXED
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(MIDDLE, middle),
                     __global const int *restrict table, int at, int n, int taps)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y) + FIRST_TAP(at, n, x) * CH;
    __global MIDDLE *out = ROW(middle, y) + x * CH;
    __global const short *weights = (__global const short *)WEIGHTS_AT(at, n) + x * taps;
    int count = TAP_COUNT(at, n, x);
    for (int c = 0; c < CH; c++) {
        int sum = 1 << 7;
        for (int k = 0; k < count; k++)
            sum += weights[k] * (int)in[k * CH + c];
        out[c] = (MIDDLE)(sum >> 8);
    }
}
#endif

#ifdef REAL
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(float, middle),
                     __global const int *restrict table, int at, int n, int taps)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global float *out = ROW(middle, y);
    for (int end = SPAN_END(x); x < end; x++) {
        __global const SRC *from = in + FIRST_TAP(at, n, x) * CH;
        __global const float *weights = (__global const float *)WEIGHTS_AT(at, n) + x * taps;
        int count = TAP_COUNT(at, n, x);
        for (int c = 0; c < CH; c++) {
            float block = 0, total = 0, lost = 0;
            for (int k = 0; k < count; k++) {
                block += weights[k] * from[k * CH + c];
                if (k % SUM_BLOCK == SUM_BLOCK - 1)
                    ADD_BLOCK(float, block, total, lost)
            }
            ADD_BLOCK(float, block, total, lost)
            out[x * CH + c] = total;
        }
    }
}
#endif

#ifdef WITH_ALPHA
#ifdef SRC_IS_float
#define FIXED_PARAMETERS
#else
#define FIXED_PARAMETERS int fixed_at, int fixed_n, int fixed_taps,
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(float, middle),
                     __global const int *restrict table, FIXED_PARAMETERS int at, int n, int taps,
                     int pitch)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global float *out = ROW(middle, y);
    for (int end = SPAN_END(x); x < end; x++) {
        __global const SRC *from = in + FIRST_TAP(at, n, x) * CH;
        __global const float *weights = (__global const float *)WEIGHTS_AT(at, n) + x * taps;
        int count = TAP_COUNT(at, n, x);
        float4 block = 0, total = 0, lost = 0;
        for (int k = 0; k < count; k++) {
            float alpha = (float)from[k * CH + CH - 1];
#if CH == 2
            float4 v = (float4)((float)from[k * CH] * alpha, alpha, 0, 0);
#else
            float4 v = (float4)((float)from[k * CH] * alpha, (float)from[k * CH + 1] * alpha,
                                (float)from[k * CH + 2] * alpha, alpha);
#endif
            block += weights[k] * v;
            if (k % SUM_BLOCK == SUM_BLOCK - 1)
                ADD_BLOCK(float4, block, total, lost)
        }
        ADD_BLOCK(float4, block, total, lost)
        out[x] = total.s0;
        out[x + pitch] = total.s1;
#if CH == 4
        out[x + 2 * pitch] = total.s2;
        out[x + 3 * pitch] = total.s3;
#endif
#ifndef SRC_IS_float
        __global const short *fixed = (__global const short *)WEIGHTS_AT(fixed_at, fixed_n);
        int sum = 1 << 7;
        for (int k = 0; k < count; k++)
            sum += fixed[x * fixed_taps + k] * (int)from[k * CH + CH - 1];
        out[x + CH * pitch] = as_float(sum >> 8);
#endif
    }
}
#endif
