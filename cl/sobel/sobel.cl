/* Sobel, by correlation with weights 1 2 1: dX = right minus left, dY = top minus bottom. The grid
 * counts samples of the destination; a pixel has DST_CH samples there, and CH in the source. The
 * kernel's name is the output: magnitude, l1, sample, dx, dy, or both. Gradients have the type WORK. With SCALE_POWER, lengths of integers are multiplied with a power of two;
 * src/stage/sobel/sobel.c says what its arguments are.
 *
 * `step` is the number of channels, as an argument. With a constant LLVM would keep loaded samples
 * for the next pixel, and then could not vectorise the loop (with PoCL 3.1: 17 ms instead of 2.3
 * ms). */
#include <alpha.cl>
#include <border.cl>
#include <memory.cl>
#include <processor.cl>
#include <shift.cl>
#define GRADIENT_X(nw, n, ne, w, e, sw, s, se) ((ne) - (nw) + (WORK)2 * ((e) - (w)) + (se) - (sw))
#define GRADIENT_Y(nw, n, ne, w, e, sw, s, se)                                                     \
    ((nw) + (WORK)2 * (n) + (ne) - (sw) - (WORK)2 * (s) - (se))

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
    V(uint) n = SUM_OF(CONVERT(int, dx), CONVERT(int, dy));
    return CONVERT(DST, min(((n << up) + half_of) >> down, (V(uint))(uint)DST_MAX));
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

/* The index of the source's sample for the destination's sample x; they differ if alpha is dropped. */
inline int FN(source_of)(int x)
{
    return DST_CH == CH ? x : x / DST_CH * CH + x % DST_CH;
}

inline DST FN(or_alpha)(int x, DST v, SRC alpha)
{
    return IS_ALPHA(ALPHA, x) ? (DST)alpha : v;
}

/* The gradient (dX, dY) of channel c at pixel column px, for windows that leave the plane. */
inline CAT(WORK, 2) FN(edge)(PLANE_IN(SRC, src), int width, int border, int y0, int y1, int y2,
                             int px, int c)
{
    int left = border_beside(px - 1, width, border), right = border_beside(px + 1, width, border);
    WORK nw = FETCH(src, left, CH, y0, c), n = FETCH(src, px, CH, y0, c);
    WORK ne = FETCH(src, right, CH, y0, c), w = FETCH(src, left, CH, y1, c);
    WORK e = FETCH(src, right, CH, y1, c), sw = FETCH(src, left, CH, y2, c);
    WORK s = FETCH(src, px, CH, y2, c), se = FETCH(src, right, CH, y2, c);
    return (CAT(WORK, 2))(GRADIENT_X(nw, n, ne, w, e, sw, s, se),
                          GRADIENT_Y(nw, n, ne, w, e, sw, s, se));
}

#pragma form VECTOR
/* The source of an aligned vector's gradients: in each row the vector itself and those before and behind it. If 4
 * bytes hold a pixel, a vector of 8 bytes is loaded in one access together with 4 bytes on either side, because on
 * Mali loads bound this form (0.6 cycles for a sample of u8, instead of 2.5 with three loads of 4 bytes a row). Of those on
 * the sides only the last and the first CH lanes are used.
 *
 * The kernel computes the vector after the loop over single samples. In front of it, with a return, Mesa's compiler
 * for Mali would need more than 32 registers, so that a core would run half the threads. */
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
#ifdef SRC_IS_float
#define LEFT_OF(r)  VECTOR_BEFORE(LANES, CH, SRC, r##_before, r)
#define RIGHT_OF(r) VECTOR_AFTER(LANES, CH, SRC, r, r##_behind)
#else
/* Sums of columns come first, because three gradients share each. (Not for floats, which must be added in the same
 * order in all forms.) */
inline V(WORK) FN(smooth)(V(SRC) top, V(SRC) middle, V(SRC) bottom)
{
    return CONVERT(WORK, top) + (WORK)2 * CONVERT(WORK, middle) + CONVERT(WORK, bottom);
}

inline V(WORK) FN(slope)(V(SRC) top, V(SRC) bottom)
{
    return CONVERT(WORK, top) - CONVERT(WORK, bottom);
}
#endif
#pragma form ROWS SCALAR
#if LANES + 0
#define NEIGHBOUR(r, d) CONVERT(WORK, UNALIGNED_IN(SRC, LANES, (r) + x + (d) * CH))
#else
#define NEIGHBOUR(r, d) (r)[FN(source_of)(x) + (d) * step]
#endif
#define LOAD_NEIGHBOURS                                                                            \
    V(WORK) nw = NEIGHBOUR(r0, -1), n = NEIGHBOUR(r0, 0), ne = NEIGHBOUR(r0, 1), w = NEIGHBOUR(r1, -1);        \
    V(WORK) e = NEIGHBOUR(r1, 1), sw = NEIGHBOUR(r2, -1), s = NEIGHBOUR(r2, 0), se = NEIGHBOUR(r2, 1);         \
    V(WORK) dx = GRADIENT_X(nw, n, ne, w, e, sw, s, se);                                           \
    V(WORK) dy = GRADIENT_Y(nw, n, ne, w, e, sw, s, se)
#pragma form

#ifdef PAIRS
#include "sobel_pairs.cl"
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), OUTPUTS, int width, int height, int border,
                     int origin, int step NUMBERS THEN_PARAMETERS)
{
    POSITION(x, y)
    int end = SPAN_END(x);
    int y0 = SOURCE_Y_BESIDE(y + origin - 1), y1 = SOURCE_Y_BESIDE(y + origin);
    int y2 = SOURCE_Y_BESIDE(y + origin + 1);
    __global OUT *out = ROW(dst, y);
    __global OUT *out2 = LAST_OUTPUT(y);
    /* Positions whose window lies inside the plane; none if the row's windows contain rows of zeros. */
    int inner = y0 < 0 || y2 < 0 ? end : max((1 - origin) * DST_CH, x);
    int inner_end = min((width - 1 - origin) * DST_CH, end);

#ifdef FORM_VECTOR
    bool fits = x == inner && x + SPAN == inner_end;
    inner = end = fits ? x : end;
#elif LANES + 0
    int begin = x, shift = origin * CH;
    __global const SRC *r0 = ROW(src, y0) + shift, *r1 = ROW(src, y1) + shift;
    __global const SRC *r2 = ROW(src, y2) + shift;
#ifdef PAIRS
#define SAMPLES_AT_ONCE (2 * LANES)
#else
#define SAMPLES_AT_ONCE LANES
#endif
    if (inner + SAMPLES_AT_ONCE > inner_end)
        inner = inner_end = end;
    /* To the next row: the processor's own prefetching ends with each page. What lies behind a ring may be another
     * thread's. */
    int ahead = RING ? 0 : src_stride;
    for (x = inner; x < inner_end; x += SAMPLES_AT_ONCE) {
        x = min(x, inner_end - SAMPLES_AT_ONCE);
#ifdef PAIRS
        FETCH_AHEAD(r2 + x + ahead);
        ushort16 pairs = FN(pairs_at)(r0, r1, r2, x GIVEN);
        UNALIGNED_OUT(OUT, LANES, out + x) = THEN(as_uchar16(pairs.lo));
        UNALIGNED_OUT(OUT, LANES, out + x + LANES) = THEN(as_uchar16(pairs.hi));
#else
        LOAD_NEIGHBOURS;
        V(DST) v = FN(result)(dx, dy GIVEN);
        TAKE_ALPHA(ALPHA, v, UNALIGNED_IN(SRC, LANES, r1 + x));
        UNALIGNED_OUT(OUT, LANES, out + x) = THEN(v);
        if (PLANES == 2)
            UNALIGNED_OUT(OUT, LANES, out2 + x) = FN(eighth)(dy);
#endif
    }
    x = begin;
#endif
    while (x < end) {
        for (int until = min(inner, end); x < until; x++) {
            int px = x / DST_CH + origin, c = x % DST_CH;
            CAT(WORK, 2) g = FN(edge)(src_base, src_offset, src_stride, width, border, y0, y1, y2,
                                      px, c);
            DST v = FIRST(FN(result)((V(WORK))g.x, (V(WORK))g.y GIVEN));
            out[x] = THEN_ONE(FN(or_alpha)(x, v, FETCH(src, px, CH, y1, c)));
            if (PLANES == 2)
                out2[x] = FIRST(FN(eighth)((V(WORK))g.y));
        }
#if LANES + 0
        x = inner_end > x ? inner_end : x;
#else
        int shift = origin * CH;
        __global const SRC *r0 = ROW(src, y0) + shift, *r1 = ROW(src, y1) + shift;
        __global const SRC *r2 = ROW(src, y2) + shift;
        for (; x < inner_end; x++) {
            LOAD_NEIGHBOURS;
            out[x] = THEN_ONE(FN(or_alpha)(x, FN(result)(dx, dy GIVEN), r1[x]));
            if (PLANES == 2)
                out2[x] = FIRST(FN(eighth)(dy));
        }
#endif
        inner = end; /* what is left is the other edge */
    }
#pragma form VECTOR
    if (fits) {
        LOAD_AROUND(r0, ROW(src, y0) + x)
        LOAD_AROUND(r1, ROW(src, y1) + x)
        LOAD_AROUND(r2, ROW(src, y2) + x)
#ifdef SRC_IS_float
        V(WORK) nw = LEFT_OF(r0), ne = RIGHT_OF(r0), w = LEFT_OF(r1), e = RIGHT_OF(r1), sw = LEFT_OF(r2), se = RIGHT_OF(r2);
        V(WORK) dx = GRADIENT_X(nw, r0, ne, w, e, sw, r2, se), dy = GRADIENT_Y(nw, r0, ne, w, e, sw, r2, se);
#else
        V(WORK) smooth = FN(smooth)(r0, r1, r2), slope = FN(slope)(r0, r2);
        V(WORK) before = FN(smooth)(r0_before, r1_before, r2_before), slope_before = FN(slope)(r0_before, r2_before);
        V(WORK) behind = FN(smooth)(r0_behind, r1_behind, r2_behind), slope_behind = FN(slope)(r0_behind, r2_behind);
        V(WORK) dx = VECTOR_AFTER(LANES, CH, WORK, smooth, behind) - VECTOR_BEFORE(LANES, CH, WORK, before, smooth);
        V(WORK) dy = VECTOR_BEFORE(LANES, CH, WORK, slope_before, slope) + (WORK)2 * slope +
                     VECTOR_AFTER(LANES, CH, WORK, slope, slope_behind);
#endif
        V(DST) v = FN(result)(dx, dy GIVEN);
        TAKE_ALPHA(ALPHA, v, r1);
        *(__global V(OUT) *)(out + x) = THEN(v);
        if (PLANES == 2)
            *(__global V(OUT) *)(out2 + x) = FN(eighth)(dy);
    }
#pragma form
}
