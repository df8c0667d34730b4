/* resize, second pass: down columns, over the rows that resize_across.cl or its like have stored. The first of them
 * belongs to row `row` of the source. The grid counts samples of the result, or pixels if there is alpha. The table is
 * laid out as in resize_across.cl. */
#include <memory.cl>
#include <round.cl>
#include "resize_table.cl"

#ifdef FIXED
/* Computes sat((sum + 2^19) >> 20) of one sample, or of LANES; `stride` is the distance of rows. Sums of u16 do not fit
 * 32 bits, so they are kept in two parts, 4096 * high + low. */
#ifdef SRC_IS_uchar
#define DEFINE_SUM(name, lanes, LOAD)                                                              \
    inline CAT(uchar, lanes) FN(name)(__global const short *in, int stride,                        \
                                      __global const short *weights, int count)                    \
    {                                                                                              \
        CAT(int, lanes) sum = 1 << 19;                                                             \
        for (int k = 0; k < count; k++)                                                            \
            sum += CAT(convert_int, lanes)(LOAD(short, lanes, in + k * stride)) *                  \
                   (CAT(int, lanes))(weights[k]);                                                  \
        return CAT3(convert_uchar, lanes, _sat)(sum >> 20);                                        \
    }
#else
#define DEFINE_SUM(name, lanes, LOAD)                                                              \
    inline CAT(ushort, lanes) FN(name)(__global const int *in, int stride,                         \
                                       __global const short *weights, int count)                   \
    {                                                                                              \
        CAT(int, lanes) high = 0, low = 1 << 19;                                                   \
        for (int k = 0; k < count; k++) {                                                          \
            CAT(int, lanes) v = LOAD(int, lanes, in + k * stride);                                 \
            high += (v >> 12) * (CAT(int, lanes))(weights[k]);                                     \
            low += (v & 4095) * (CAT(int, lanes))(weights[k]);                                     \
        }                                                                                          \
        return CAT3(convert_ushort, lanes, _sat)((high + (low >> 12)) >> 8);                       \
    }
#endif
#endif

#ifdef REAL
#define DEFINE_SUM(name, lanes, LOAD)                                                              \
    inline CAT(float, lanes) FN(name)(__global const float *in, int stride,                        \
                                      __global const float *weights, int count)                    \
    {                                                                                              \
        CAT(float, lanes) block = 0, total = 0, lost = 0;                                          \
        for (int k = 0; k < count; k++) {                                                          \
            block += (CAT(float, lanes))(weights[k]) * LOAD(float, lanes, in + k * stride);        \
            if (k % SUM_BLOCK == SUM_BLOCK - 1)                                                    \
                ADD_BLOCK(CAT(float, lanes), block, total, lost)                                   \
        }                                                                                          \
        ADD_BLOCK(CAT(float, lanes), block, total, lost)                                           \
        return total;                                                                              \
    }
#endif

#ifndef WITH_ALPHA
#define LOAD_ONE(type, lanes, p) (*(p))
DEFINE_SUM(sum, , LOAD_ONE)
#if LANES + 0
DEFINE_SUM(sums, LANES, UNALIGNED_IN)
#endif

__kernel void KERNEL(GRID, PLANE_IN(MIDDLE, middle), PLANE_OUT(SRC, dst),
                     __global const int *restrict table, int at, int n, int taps, int row)
{
    POSITION(x, y)
    __global const MIDDLE *in = ROW(middle, FIRST_TAP(at, n, y) - row);
    __global SRC *out = ROW(dst, y);
    __global const WEIGHT *weights = (__global const WEIGHT *)WEIGHTS_AT(at, n) + y * taps;
    int count = TAP_COUNT(at, n, y), end = SPAN_END(x);
#if LANES + 0
    for (; x + LANES <= end; x += LANES)
        UNALIGNED_OUT(SRC, LANES, out + x) = FN(sums)(in + x, middle_stride, weights, count);
#endif
    for (; x < end; x++)
        out[x] = FN(sum)(in + x, middle_stride, weights, count);
}
#endif

#ifdef WITH_ALPHA
/* A row of sums has the sums of each channel together, `pitch` apart from those of the next one; the last, for integers,
 * are the exact ones of alpha. */
#define REALS  float
#define WHOLES int
#include "resize_alpha.cl"
#ifdef SRC_IS_float
#define FIXED_PARAMETERS
#else
#define FIXED_PARAMETERS int fixed_at, int fixed_n, int fixed_taps,
#endif

inline float FN(sum)(__global const float *in, int stride, __global const float *weights,
                        int count)
{
    float block = 0, total = 0, lost = 0;
    for (int k = 0; k < count; k++) {
        block += weights[k] * in[k * stride];
        if (k % SUM_BLOCK == SUM_BLOCK - 1)
            ADD_BLOCK(float, block, total, lost)
    }
    ADD_BLOCK(float, block, total, lost)
    return total;
}

__kernel void KERNEL(GRID, PLANE_IN(float, middle), PLANE_OUT(SRC, dst),
                     __global const int *restrict table, FIXED_PARAMETERS int at, int n, int taps,
                     int row, int pitch)
{
    POSITION(x, y)
    __global const float *in = ROW(middle, FIRST_TAP(at, n, y) - row);
    __global SRC *out = ROW(dst, y);
    __global const float *weights = (__global const float *)WEIGHTS_AT(at, n) + y * taps;
    int count = TAP_COUNT(at, n, y);
    for (int end = SPAN_END(x); x < end; x++) {
        float alpha = FN(sum)(in + x + (CH - 1) * pitch, middle_stride, weights, count);
        for (int c = 0; c < CH - 1; c++) {
            float v = FN(sum)(in + x + c * pitch, middle_stride, weights, count);
            out[x * CH + c] = CAT(convert_, SRC)(alpha > 0 ? COLOUR(v, alpha) : 0);
        }
#ifdef SRC_IS_float
        out[x * CH + CH - 1] = alpha;
#else
        __global const short *fixed =
            (__global const short *)WEIGHTS_AT(fixed_at, fixed_n) + y * fixed_taps;
        int high = 0, low = 1 << 19;
        for (int k = 0; k < count; k++) {
            int v = as_int(in[x + CH * pitch + k * middle_stride]);
            high += (v >> 12) * fixed[k];
            low += (v & 4095) * fixed[k];
        }
        out[x * CH + CH - 1] = CAT3(convert_, SRC, _sat)((high + (low >> 12)) >> 8);
#endif
    }
}
#endif
