/* The table of resize, and its sums, for all of its kernels but `pairs`, `wide` and `matrix`. For each of n sums of an axis
 * the table holds, from index `at` on, the first source pixel, then the number of pixels, then `taps` weights:
 *
 *     FIXED       integers without alpha, exact
 *     WITH_ALPHA  colours times alpha, in f32; then alpha, in f32; then, for integers (EXACT_ALPHA), alpha as with FIXED
 *     otherwise   f32 */
#include <round.cl>
#include <types.cl>
#define CLAMPS
#include "weighted.cl"
struct FN(axis) {
    int at, n, taps;
};

/* An axis as arguments of a kernel: with exact weights, and in f32; of what is not used n is 0. EXACT_ALPHA: both are. */
#define EXACT_ALPHA (ALPHA && sizeof(SRC) < sizeof(float))
#define AXIS(a) int a##_fixed_at, int a##_fixed_n, int a##_fixed_taps, int a##_at, int a##_n, int a##_taps
#define FIXED_AXIS(a) {a##_fixed_at, a##_fixed_n, a##_fixed_taps}
#define REAL_AXIS(a)  {a##_at, a##_n, a##_taps}

inline int FN(first)(__global const int *table, struct FN(axis) a, int x)
{
    return table[a.at + x];
}

inline int FN(count)(__global const int *table, struct FN(axis) a, int x)
{
    return table[a.at + a.n + x];
}

inline __global const short *FN(fixed_weights)(__global const int *table, struct FN(axis) a, int x)
{
    return (__global const short *)(table + a.at + 2 * a.n) + x * a.taps;
}

inline __global const float *FN(real_weights)(__global const int *table, struct FN(axis) a, int x)
{
    return (__global const float *)(table + a.at + 2 * a.n) + x * a.taps;
}

/* Products in f32 are added in blocks of SUM_BLOCK, and the blocks by Kahan's compensated summation, so that the error does
 * not grow with their number. */
#define SUM_BLOCK 16
#define ADD_BLOCK(block, total, lost)                                                              \
    {                                                                                              \
        V(float) y_ = block - lost, t_ = total + y_;                                               \
        lost = (t_ - total) - y_;                                                                  \
        total = t_;                                                                                \
        block = 0;                                                                                 \
    }

/* The sums down columns from `in` on, of rows `stride` apart: in f32, and exact ones. */
inline V(float) FN(real_down)(__global const float *in, int stride, __global const float *weights, int count)
{
    V(float) block = 0, total = 0, lost = 0;
    for (int k = 0; k < count; k++) {
        block += (V(float))(weights[k]) * *(__global const V(float) *)(in + k * stride);
        if (k % SUM_BLOCK == SUM_BLOCK - 1)
            ADD_BLOCK(block, total, lost)
    }
    ADD_BLOCK(block, total, lost)
    return total;
}

#ifndef SRC_IS_float
#if FIXED
#define EXACT MIDDLE
#else
#define EXACT int
#endif
inline V(SRC) FN(exact_down)(__global const EXACT *in, int stride, __global const short *weights, int count)
{
    V(int) high = 0, low = ROUNDING;
    for (int k = 0; k < count; k++) {
        V(int) v = CONVERT(int, *(__global const V(EXACT) *)(in + k * stride));
        ADD_ROW(high, low, v, weights[k]);
    }
    return FN(of_column)(high, low);
}
#endif

/* The colour of sums c that have been multiplied by alpha, for alpha's sums a: 0 where there is none. Of integers
 * sat(rne(c / a)), rounded once: a rounded estimate is corrected by its remainder, which is exact because it has no more
 * bits than a. */
inline V(float) FN(colour)(V(float) c, V(float) a)
{
    V(float) v = c / a, none = 0, one = 1;
#ifndef SRC_IS_float
    v = RNE(fmin(fmax(v, -1.0f), SRC_MAX + 1.0f));
    V(float) odd = CONVERT(float, CONVERT(int, v) & 1), rest = fma(-v, a, c) * 2.0f;
    v += rest > a ? one : rest == a ? odd : none;
    v -= rest < -a ? one : rest == -a ? odd : none;
    v = fmin(fmax(v, 0.0f), SRC_MAX);
#endif
    return a > none ? v : none;
}
