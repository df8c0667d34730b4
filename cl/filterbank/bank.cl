/* What taking apart and putting together have in common: bands, directions, and tiles. */
#if BANDS == 2
#define EACH_BAND(f) f(0) f(1)
#else
#define EACH_BAND(f) f(0)
#endif

/* Along rows, of pixels of `channels`, or along columns. Of tiles, which are of one channel along rows, the step is a
 * constant. */
#pragma kernel rows rows_tile
#define ALONG_X 1
#pragma kernel columns columns_tile
#define ALONG_X 0
#pragma kernel rows columns
#define FACTOR       factor
#define SRC_CHANNELS src_channels
#define CHANNELS     channels
#pragma kernel rows_tile columns_tile
#define SRC_CHANNELS 1
#define CHANNELS     1

/* Tiles, on GPUs: the taps of band b, T0_0 … and T1_0 …, 16 of each, as tap0 and tap1, and lists
 * DO(a, k) for k from 0 on. Nothing is a loop, because elements of arrays lie in registers only if the compiler sees every
 * index, and Mesa's does not unroll such loops. Taps that are zero cost nothing. */
#include <memory.cl>
#include <words.cl>
#define LIST_8(DO, a)  DO(a, 0) DO(a, 1) DO(a, 2) DO(a, 3) DO(a, 4) DO(a, 5) DO(a, 6) DO(a, 7)
#define LIST_16(DO, a)                                                                             \
    LIST_8(DO, a) DO(a, 8) DO(a, 9) DO(a, 10) DO(a, 11) DO(a, 12) DO(a, 13) DO(a, 14) DO(a, 15)
#define LIST_28(DO, a)                                                                             \
    LIST_16(DO, a) DO(a, 16) DO(a, 17) DO(a, 18) DO(a, 19) DO(a, 20) DO(a, 21) DO(a, 22) DO(a, 23)  \
    DO(a, 24) DO(a, 25) DO(a, 26) DO(a, 27)
#define TAKE_TAP(b, k) tap##b[k] = T##b##_##k;
#define TAKE_TAPS(b)                                                                               \
    float tap##b[16];                                                                                \
    LIST_16(TAKE_TAP, b)
#pragma kernel
