/* resize, first pass: along rows. Each pixel of the result's width is a weighted sum of a source row's pixels, which is
 * stored in scratch memory (src/stage/resize/resize_passes.c). The grid counts pixels of the result and rows of the
 * source. With alpha sums lie channel by channel, `pitch` apart. */
#include "resize_table.cl"

/* The exact sum of a channel, in 64ths. */
inline int FN(along)(__global const SRC *in, __global const short *weights, int count)
{
    int sum = 1 << 7;
    for (int k = 0; k < count; k++)
        sum += weights[k] * (int)in[k * CH];
    return sum >> 8;
}

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(MIDDLE, middle), __global const int *restrict table, AXIS(x),
                     int pitch)
{
    POSITION(x, y)
    const struct FN(axis) fixed = FIXED_AXIS(x), real = REAL_AXIS(x), axis = FIXED ? fixed : real;
    int count = FN(count)(table, axis, x);
    __global const SRC *in = ROW(src, y) + FN(first)(table, axis, x) * CH;
    __global MIDDLE *out = ROW(middle, y);
    if (FIXED) {
        for (int c = 0; c < CH; c++)
            out[x * CH + c] = (MIDDLE)FN(along)(in + c, FN(fixed_weights)(table, fixed, x), count);
        return;
    }
    __global const float *weights = FN(real_weights)(table, real, x);
    float block[CH], total[CH], lost[CH];
    UNROLLED for (int c = 0; c < CH; c++)
        block[c] = total[c] = lost[c] = 0;
    for (int k = 0; k < count; k++) {
        float last = (float)in[k * CH + CH - 1];
        UNROLLED for (int c = 0; c < CH; c++) {
            float v = c == CH - 1 ? last : (float)in[k * CH + c];
            block[c] += weights[k] * (ALPHA && c < CH - 1 ? v * last : v);
        }
        if (k % SUM_BLOCK == SUM_BLOCK - 1)
            UNROLLED for (int c = 0; c < CH; c++)
                ADD_BLOCK(block[c], total[c], lost[c])
    }
    UNROLLED for (int c = 0; c < CH; c++) {
        ADD_BLOCK(block[c], total[c], lost[c])
        out[ALPHA ? x + c * pitch : x * CH + c] = total[c];
    }
    if (EXACT_ALPHA)
        ((__global int *)out)[x + CH * pitch] = FN(along)(in + CH - 1, FN(fixed_weights)(table, fixed, x), count);
}
