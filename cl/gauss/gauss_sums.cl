/* In front of the kernels of gauss and unsharp for GPUs that sum down columns: a sum `k` is begun, added to and
 * finished. */
#include "gauss_sharpen.cl"
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
