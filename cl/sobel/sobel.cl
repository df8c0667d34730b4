/* Sobel, by correlation with weights 1 2 1: `first` is dX, right minus left, and `second` dY, top minus bottom, in the type
 * WORK. The kernel's name is the output: magnitude, l1, sample, dx, dy, or both. With SCALE_POWER, lengths of integers are
 * multiplied with a power of two; src/stage/sobel/sobel.c says what its arguments are. */
#include <processor.cl>
#include <shift.cl>
#define N   V(WORK)
#define ONE WORK
#define ADD_LINE(j, AT)                                                                            \
    if ((j) == 0)                                                                                  \
        first = AT(1) - AT(-1), second = AT(-1) + (WORK)2 * AT(0) + AT(1);                         \
    else if ((j) == 1)                                                                             \
        first = first + (WORK)2 * (AT(1) - AT(-1));                                                \
    else                                                                                           \
        first = first + AT(1) - AT(-1), second = second - AT(-1) - (WORK)2 * AT(0) - AT(1);
#define VALUE_OF(dx, dy) FN(result)(dx, dy GIVEN)
#define SECOND_OF(dx, dy) FN(eighth)(dy)

inline V(DST) FN(eighth)(V(WORK) g)
{
#ifdef SRC_IS_float
    return g;
#else
    return CONVERT(DST, g >> 3);
#endif
}

/* The result for a gradient; if there are two planes, that of the first. */
#pragma kernel dx both
inline V(DST) FN(result)(V(WORK) dx, V(WORK) dy)
{
    return FN(eighth)(dx);
}
#pragma kernel dy
inline V(DST) FN(result)(V(WORK) dx, V(WORK) dy)
{
    return FN(eighth)(dy);
}
#pragma kernel l1
#define UNSIGNED CAT(u, WORK)
#define SUM_OF(a, b) (abs(a) + abs(b))
#define ROOT(n, a, b) CONVERT(float, n)
#pragma kernel magnitude sample
#define SUM_OF(a, b) (CONVERT(uint, a) * CONVERT(uint, a) + CONVERT(uint, b) * CONVERT(uint, b))
#define ROOT(n, a, b) FN(root)(CONVERT(float, a), CONVERT(float, b))
inline V(float) FN(root)(V(float) a, V(float) b)
{
    return sqrt(a * a + b * b);
}
#pragma kernel l1 magnitude sample
#ifndef SRC_IS_float
/* The least sum of squares (for l1: of absolute values) whose result is m, modulo 2^32. An estimate is at most one off, so
 * a sum and its limit differ by less than 2^31, and this difference is exact. */
inline V(int) FN(above)(V(uint) n, V(uint) limit)
{
    return CAT(as_int, LANES)(n - limit);
}
#endif
#pragma kernel sample
inline V(DST) FN(result)(V(WORK) dx, V(WORK) dy NUMBERS)
{
#ifdef SRC_IS_float
    return scale * FN(root)(dx, dy);
#else
    V(int) a = CONVERT(int, dx) >> 3, b = CONVERT(int, dy) >> 3;
    V(uint) n = CONVERT(uint, a * a) + CONVERT(uint, b * b);
    V(uint) m = CONVERT(uint, sqrt(CONVERT(float, n)));
    m = FN(above)(n, m * m) < 0 ? m - 1 : m;
    m = FN(above)(n, (m + 1) * (m + 1)) < 0 ? m : m + 1;
    return CONVERT(DST, min(m, (V(uint))(uint)DST_MAX));
#endif
}
#pragma kernel l1 magnitude
#ifdef SCALE_POWER
#define LIMIT(m) ((CONVERT(uint, m) * CONVERT(uint, (m) - 1) << up >> down) + more)
#else
#define LIMIT(m) limits[m]
#endif
#define CORRECTED                                                                                  \
    V(int) a = CONVERT(int, dx), b = CONVERT(int, dy);                                             \
    V(uint) n = SUM_OF(a, b);                                                                      \
    V(int) m = CONVERT(int, fmin(scale * ROOT(n, a, b) + 0.5f, (float)(DST_MAX + 1)));             \
    m = FN(above)(n, LIMIT(m)) < 0 && m > 0 ? m - 1 : m;                                           \
    m = FN(above)(n, LIMIT(m + 1)) < 0 ? m : m + 1;                                                \
    return CONVERT(DST, min(m, (V(int))DST_MAX));
#pragma kernel l1
inline V(DST) FN(result)(V(WORK) dx, V(WORK) dy NUMBERS)
{
#if defined(SRC_IS_float)
    return scale * (fabs(dx) + fabs(dy));
#elif defined(SCALE_POWER)
#pragma form ROWS
    /* In as many bits as gradients have: processors compute more lanes at once, then. */
    V(UNSIGNED) n = CONVERT(UNSIGNED, max(dx, -dx) + max(dy, -dy)), most = (UNSIGNED)DST_MAX;
    return CONVERT(DST, min(((n << (UNSIGNED)up) + (UNSIGNED)half_of) >> (UNSIGNED)down, most));
#pragma form VECTOR SCALAR
    V(uint) n = SUM_OF(CONVERT(int, dx), CONVERT(int, dy));
    return CONVERT(DST, min(((n << up) + half_of) >> down, (V(uint))(uint)DST_MAX));
#pragma form
#else
    CORRECTED
#endif
}
#pragma kernel magnitude
inline V(DST) FN(result)(V(WORK) dx, V(WORK) dy NUMBERS)
{
#if defined(SRC_IS_float)
    return scale * FN(root)(dx, dy);
#elif defined(SCALE_POWER) && defined(EXACT_ROOT)
    /* With a correctly rounded root no correction is needed. The product is exact, and for n below 2^23 the root of the
     * last n before a half is further from it than the sum is rounded. */
    V(float) m = FN(root)(CONVERT(float, CONVERT(int, dx)), CONVERT(float, CONVERT(int, dy))) * scale + 0.5f;
    return CONVERT(DST, CONVERT(int, fmin(m, (float)DST_MAX)));
#elif defined(SCALE_POWER) && (defined(SRC_IS_uchar) || defined(SRC_IS_char))
    /* Computed in floats: integers here are below 2^24, so everything except the root is exact. On GPUs converting a 32-bit
     * integer costs as much as four to eight additions, so an addition is used instead: 12582912 = 1.5 * 2^23 plus an
     * integer has the integer in its lowest bits. `lift` spares a correction of the root: see sobel_packed.cl. */
    const float magic = 12582912.0f;
    V(float) f = CAT(as_float, LANES)(CONVERT(int, dx) + as_int(magic)) - magic;
    V(float) g = CAT(as_float, LANES)(CONVERT(int, dy) + as_int(magic)) - magic;
    V(float) n = mad(f, f, mad(g, g, (V(float))lift));
    V(float) m = mad((V(float))scale, n * rsqrt(n), (V(float))magic);
    return CONVERT(DST, CAT(as_int, LANES)(fmin(m, magic + (float)DST_MAX)));
#else
    CORRECTED
#endif
}
#pragma kernel

#pragma form VECTOR
#ifndef SRC_IS_float
/* The source of an aligned vector's gradients: in each row the vector itself and those before and behind it. If 4
 * bytes hold a pixel, a vector of 8 bytes is loaded in one access together with 4 bytes on either side, because on
 * Mali loads bound this form (0.6 cycles for a sample of u8, instead of 2.5 with three loads of 4 bytes a row). Of those on
 * the sides only the last and the first CH lanes are used. */
#if LANES == 8 && (defined(SRC_IS_uchar) || defined(SRC_IS_char))
#define LOAD_AROUND(r, p)                                                                          \
    CAT(SRC, 16) r##_all = CAT3(as_, SRC, 16)(UNALIGNED_IN(uint, 4, (p) - 4));                     \
    V(SRC) r##_before = r##_all.s01230123, r = r##_all.s456789ab, r##_behind = r##_all.scdefcdef;
#elif LANES == 4 && CH <= 2 && (defined(SRC_IS_ushort) || defined(SRC_IS_short))
#define LOAD_AROUND(r, p)                                                                          \
    CAT(SRC, 8) r##_all = CAT3(as_, SRC, 8)(UNALIGNED_IN(uint, 4, (p) - 2));                       \
    V(SRC) r##_before = r##_all.s0101, r = r##_all.s2345, r##_behind = r##_all.s6767;
#else
#define LOAD_AROUND(r, p)                                                                          \
    __global const V(SRC) *r##_at = (__global const V(SRC) *)(p);                                  \
    V(SRC) r##_before = r##_at[-1], r = r##_at[0], r##_behind = r##_at[1];
#endif
/* Sums of columns come first, because three gradients share each. (Not for floats, which must be added in the same
 * order in all forms.) */
inline N FN(smooth)(V(SRC) top, V(SRC) middle, V(SRC) bottom)
{
    return CONVERT(WORK, top) + (WORK)2 * CONVERT(WORK, middle) + CONVERT(WORK, bottom);
}

inline N FN(slope)(V(SRC) top, V(SRC) bottom)
{
    return CONVERT(WORK, top) - CONVERT(WORK, bottom);
}
#define WHOLE_VECTOR                                                                               \
    LOAD_AROUND(r0, R(0, x))                                                                       \
    LOAD_AROUND(r1, R(1, x))                                                                       \
    LOAD_AROUND(r2, R(2, x))                                                                       \
    N smooth = FN(smooth)(r0, r1, r2), slope = FN(slope)(r0, r2);                                  \
    N before = FN(smooth)(r0_before, r1_before, r2_before), slope_before = FN(slope)(r0_before, r2_before); \
    N behind = FN(smooth)(r0_behind, r1_behind, r2_behind), slope_behind = FN(slope)(r0_behind, r2_behind); \
    N dx = VECTOR_AFTER(LANES, CH, WORK, smooth, behind) - VECTOR_BEFORE(LANES, CH, WORK, before, smooth); \
    N dy = VECTOR_BEFORE(LANES, CH, WORK, slope_before, slope) + (WORK)2 * slope +                 \
           VECTOR_AFTER(LANES, CH, WORK, slope, slope_behind);                                     \
    V(DST) v = VALUE_OF(dx, dy);                                                                   \
    TAKE_ALPHA(ALPHA, v, r1);                                                                      \
    STORE_BOTH(v, dx, dy)
#endif
#pragma form
#if defined(PAIRS) && defined(NATIVE) && defined(__SSSE3__)
#include "sobel_pairs.cl"
#define SAMPLES_AT_ONCE (2 * LANES)
/* The next row is fetched: the processor's own prefetching ends with each page. What lies behind a ring may be another
 * thread's. */
#define WHOLE_VECTOR                                                                               \
    FETCH_AHEAD(R(2, x) + (RING ? 0 : src_stride));                                                \
    ushort16 pairs = FN(pairs_at)(R(0, 0), R(1, 0), R(2, 0), x GIVEN);                             \
    STORE(THEN(as_uchar16(pairs.lo)), out + x);                                                    \
    STORE(THEN(as_uchar16(pairs.hi)), out + x + LANES);
#endif
#include "samples.cl"
