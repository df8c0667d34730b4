/* In front of the kernels of gauss and unsharp for GPUs that sum down columns: a sum `k` is begun, added to and
 * finished, and unsharp made of it, by a table of the changes (TABLE) or in f32 (REAL). */
#include <lookup.cl>
#include <round.cl>
#if defined(SRC_IS_uchar)
#define SUM_START(k)  V(int) sum##k = 1 << 19;
#define SUM_ADD(k, v, w) sum##k += (v) * (V(int))(w);
#define SUM_FINISH(k) CONVERT(uchar, sum##k >> 20)
#elif defined(SRC_IS_ushort)
/* Sums do not fit 32 bits: one is 4096 * high + low. */
#define SUM_START(k)  V(int) high##k = 0, low##k = 1 << 19;
#define SUM_ADD(k, v, w)                                                                               \
    high##k += ((v) >> 12) * (V(int))(w);                                                          \
    low##k += ((v) & 4095) * (V(int))(w);
#define SUM_FINISH(k) CONVERT(ushort, (high##k + (low##k >> 12)) >> 8)
#else
#define SUM_START(k)  V(float) sum##k = 0;
#define SUM_ADD(k, v, w) sum##k += (v) * (V(float))(w);
#define SUM_FINISH(k) sum##k
#endif

#if defined(TABLE)
#define SHARPENED(in, blurred) FN(sharpened)(in, blurred GIVEN)
inline V(SRC) FN(sharpened)(V(SRC) in, V(SRC) blurred, __global const int *restrict changes)
{
    V(int) d = CONVERT(int, in) - CONVERT(int, blurred), sign = d >> 31;
    V(int) change = LOOK_UP(int, changes, abs(d));
    return CAT4(convert_, SRC, LANES, _sat)(CONVERT(int, in) + ((change ^ sign) - sign));
}
#elif defined(REAL)
#define SHARPENED(in, blurred) FN(sharpened)(in, blurred GIVEN)
inline V(SRC) FN(sharpened)(V(SRC) in, V(SRC) blurred, float amount, float threshold)
{
    V(float) v = CONVERT(float, in), d = v - CONVERT(float, blurred), none = 0;
    V(float) change = d * amount;
#ifndef SRC_IS_float
    change = RNE(change);
#endif
    v += fabs(d) >= (V(float))threshold ? change : none;
#ifdef SRC_IS_float
    return v;
#else
    return CONVERT(SRC, CONVERT(int, IN_RANGE(SRC, v)));
#endif
}
#else
#define SHARPENED(in, blurred) (blurred)
#endif
