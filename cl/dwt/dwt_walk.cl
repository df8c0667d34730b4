/* One level of cdf97 or cdf53 by lifting, for GPUs and pictures of one channel, with the steps of cl/dwt/dwt_lift.cl.
 * KERNEL_analysis computes bands from a picture, KERNEL_synthesis a picture from bands, by the inverse steps.
 *
 * A work-item of the analysis computes PAIRS columns of each band, through `rows` rows. In each row of the picture it
 * loads its own columns and the neighbours that the steps along the row need; these are in cache lines that other
 * work-items load, too, so no work-item waits for another. What the steps down the columns need from rows above stays in
 * registers. So the picture is read from memory once, except for a few rows between blocks, and only bands are written,
 * in whole vectors. A work-item of the synthesis computes PAIRS pairs of columns of the picture, through `rows` pairs of
 * rows, in the same way.
 *
 * Rows are filtered first, then columns. In the analysis the order makes no difference except for rounding; its integer
 * steps (REVERSIBLE) round, so there columns come first, as the standard demands.
 *
 * `lift` holds a, b, c, e, the factor of the low band and that of the high band. */
#include <round.cl>
#ifdef WORK_IS_double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#if PAIRS == 4
#define TWICE_PAIRS 8
#else
#define TWICE_PAIRS 4
#endif
#define BEYOND (STEPS / 2) /* rows of the bands that the steps need above and below a block's own */
#define LINE   CAT(WORK, 8)
#define BAND   CAT(WORK, PAIRS)
#define HALVES CAT(WORK, TWICE_PAIRS) /* low columns, then high ones; in pictures even and odd ones */

/* The synthesis undoes a step by the opposite sign. */
#ifdef KERNEL_analysis
#define SIGN    +
#define REVERSE -
#else
#define SIGN    -
#define REVERSE +
#endif
#ifdef REVERSIBLE
#define LIFT_ODD(v, l, r, k)  ((v) REVERSE(((l) + (r)) >> 1))
#define LIFT_EVEN(v, l, r, k) ((v) SIGN(((l) + (r) + 2) >> 2))
#else
#if (defined(WORK_IS_float) && defined(FP_FAST_FMAF)) ||                                           \
    (defined(WORK_IS_double) && defined(FP_FAST_FMA))
#define LIFT_ODD(v, l, r, k) fma(SIGN(k), (l) + (r), v)
#else
#define LIFT_ODD(v, l, r, k) ((v) SIGN(k) * ((l) + (r)))
#endif
#define LIFT_EVEN(v, l, r, k) LIFT_ODD(v, l, r, k)
#endif

/* The index that a mirrored line of n > 1 samples has at position i. For i near its ends this is cheaper than
 * border_index. */
inline int FN(mirror)(int i, int n)
{
    for (i = abs(i); i >= n;)
        i = abs(2 * n - 2 - i);
    return i;
}

/* Whether the work-group is at an end of the rows. The answer is the same for all its work-items, so groups inside skip
 * the code for edges. */
inline bool FN(is_edge)(int width)
{
    int begin = (int)(get_group_id(0) * get_local_size(0)) * PAIRS;
    int end = begin + (int)get_local_size(0) * PAIRS;
    return begin == 0 || 2 * end + 4 > width;
}

/* Mirror a row at its ends for a step along it: a neighbour outside is replaced by the one inside. Lane 2 is the
 * work-item's first pair of columns; even columns end before lane end_even, odd ones before lane end_odd. BEGIN_ODD is
 * for odd columns, at both ends, END_EVEN for even ones. */
#define BEGIN_ODD(v)                                                                               \
    if (edge) {                                                                                    \
        v.s1 = first ? v.s2 : v.s1;                                                                \
        v.s2 = end_odd == 2 ? v.s1 : v.s2;                                                         \
        v.s3 = end_odd == 3 ? v.s2 : v.s3;                                                         \
        v.s4 = end_odd == 4 ? v.s3 : v.s4;                                                         \
        v.s5 = end_odd == 5 ? v.s4 : v.s5;                                                         \
        v.s6 = end_odd == 6 ? v.s5 : v.s6;                                                         \
    }
#define END_EVEN(v)                                                                                \
    if (edge) {                                                                                    \
        v.s3 = end_even == 3 ? v.s2 : v.s3;                                                        \
        v.s4 = end_even == 4 ? v.s3 : v.s4;                                                        \
        v.s5 = end_even == 5 ? v.s4 : v.s5;                                                        \
        v.s6 = end_even == 6 ? v.s5 : v.s6;                                                        \
        v.s7 = end_even == 7 ? v.s6 : v.s7;                                                        \
    }

#if defined(KERNEL_analysis)
/* A quad: four samples as they are loaded. They are converted only when they are needed, because a compiler would
 * otherwise wait for the load at once. */
#if SRC_SIZE == 1
#define QUAD   uint
#define WINDOW uint4
#elif SRC_SIZE == 2
#define QUAD   uint2
#define WINDOW uint8
#elif SRC_SIZE == 4
#define QUAD   uint4
#define WINDOW uint16
#else
#define QUAD   ulong4
#define WINDOW ulong16
#endif

/* Loads columns 2p - 4 … 2p + 11 of a row as quads. Those outside the row have any values; with PAIRS 2 the last four
 * are not used. */
inline WINDOW FN(fetch)(__global const SRC *row, int4 at)
{
    __global const QUAD *quads = (__global const QUAD *)row;
    return (WINDOW)(quads[at.s0], quads[at.s1], quads[at.s2], quads[at.s3]);
}

/* The steps along a row: from even and odd columns, whose lane k is pair p - 2 + k, to the columns of the low and of the
 * high band, without their factors. */
inline HALVES FN(along)(LINE even, LINE odd, bool edge, bool first, int end_even, int end_odd,
                       WORK a, WORK b, WORK c, WORK e)
{
    END_EVEN(even)
    LINE d = LIFT_ODD(odd, even, even.s12345677, (LINE)(a));
    BEGIN_ODD(d)
    LINE s = LIFT_EVEN(even, d.s00123456, d, (LINE)(b));
#if STEPS == 4
    END_EVEN(s)
    d = LIFT_ODD(d, s, s.s12345677, (LINE)(c));
    BEGIN_ODD(d)
    s = LIFT_EVEN(s, d.s00123456, d, (LINE)(e));
#endif
#if PAIRS == 4
    return (HALVES)(s.s2345, d.s2345);
#else
    return (HALVES)(s.s23, d.s23);
#endif
}

/* LOAD loads row y of the picture. A row is filtered along before the steps down the columns (TAKE), or, with
 * REVERSIBLE, after them (GIVE). */
#define LOAD(y)  FN(fetch)(ROW(src, FN(mirror)(y, height)), at)
#define ALONG(v) FN(along)((v).even, (v).odd, edge, p == 0, end_even, end_odd, a, b, c, e)
#define NUMBERS(v) CAT3(convert_, WORK, 16)(CAT3(as_, SRC, 16)(v))
#ifdef REVERSIBLE
#define DOWN    CAT(WORK, 16)
#define TAKE(v) v
#define GIVE(v) ALONG(v)
#else
#define DOWN    HALVES
#define TAKE(v) ALONG(v)
#define GIVE(v) (v)
#endif

inline void FN(store)(__global WORK *to, BAND v, int n)
{
    if (n >= PAIRS) {
        *(__global BAND *)to = v;
        return;
    }
    if (n > 0)
        to[0] = v.s0;
    if (n > 1)
        to[1] = v.s1;
#if PAIRS == 4
    if (n > 2)
        to[2] = v.s2;
#endif
}

/* The grid counts the low band's columns, and blocks of `rows` of its rows. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(WORK, ll), PLANE_OUT(WORK, hl),
                     PLANE_OUT(WORK, lh), PLANE_OUT(WORK, hh), __global const WORK *restrict lift,
                     int rows, int width, int height)
{
    int block = GRID_Y, p = SPAN_BEGIN;
    if (block >= grid_y_end || p >= grid_width)
        return;
    int y = block * rows, y_end = min(y + rows, (height + 1) / 2);
    bool edge = FN(is_edge)(width);
    WORK a = lift[0], b = lift[1], c = lift[2], e = lift[3];
#if STEPS == 4
    HALVES low_scale = (HALVES)((BAND)(lift[4] * lift[4]), (BAND)(lift[4] * lift[5]));
    HALVES high_scale = (HALVES)((BAND)(lift[5] * lift[4]), (BAND)(lift[5] * lift[5]));
#endif
    int n_low = (width + 1) / 2 - p, n_high = width / 2 - p;
    int end_even = n_low + 2, end_odd = n_high + 2;
    int4 at = p / 2 + (int4)(-1, 0, 1, PAIRS == 4 ? 2 : 1);
    if (edge)
        at = clamp(at, (int4)(0), (int4)((width - 1) / 4));
    WINDOW odd = LOAD(2 * (y - BEYOND) + 1), even = LOAD(2 * (y - BEYOND) + 2);
    CAT(WORK, 16) numbers = NUMBERS(LOAD(2 * (y - BEYOND)));
    DOWN x = TAKE(numbers), d = 0;
#if STEPS == 4
    DOWN s = 0, d2 = 0;
#endif
    for (int n = y - BEYOND; n < y_end + BEYOND - 1; n++) {
        numbers = NUMBERS(odd);
        DOWN o = TAKE(numbers);
        numbers = NUMBERS(even);
        DOWN below = TAKE(numbers);
        odd = LOAD(2 * n + 3); /* early, because loads have a long latency */
        even = LOAD(2 * n + 4);
        DOWN d_new = LIFT_ODD(o, x, below, (DOWN)(a)), s_new = LIFT_EVEN(x, d, d_new, (DOWN)(b));
        DOWN low = s_new, high = d_new;
#if STEPS == 4
        high = LIFT_ODD(d, s, s_new, (DOWN)(c));
        low = LIFT_EVEN(s, d2, high, (DOWN)(e));
        s = s_new;
        d2 = high;
        low *= low_scale;
        high *= high_scale;
#endif
        x = below;
        d = d_new;
        int done = n - (BEYOND - 1);
        if (done < y)
            continue;
        HALVES v = GIVE(low), w = GIVE(high);
        FN(store)(ROW(ll, done) + p, v.lo, edge ? n_low : PAIRS);
        FN(store)(ROW(hl, done) + p, v.hi, edge ? n_high : PAIRS);
        if (done < height / 2) {
            FN(store)(ROW(lh, done) + p, w.lo, edge ? n_low : PAIRS);
            FN(store)(ROW(hh, done) + p, w.hi, edge ? n_high : PAIRS);
        }
    }
}

#elif defined(KERNEL_synthesis)
/* Loads columns p - 2 … p + 5 (with PAIRS 2, to p + 3) of a band's row as vectors. Those outside the row have any
 * values. */
inline LINE FN(fetch)(__global const WORK *row, int4 at)
{
    __global const CAT(WORK, 2) *two = (__global const CAT(WORK, 2) *)row;
#if PAIRS == 4
    return (LINE)(two[at.s0], *(__global const CAT(WORK, 4) *)(two + at.s1), two[at.s3]);
#else
    return (LINE)(two[at.s0], two[at.s1], two[at.s2], two[at.s2]);
#endif
}

/* The inverse steps along a row of pairs. */
inline HALVES FN(along)(LINE s, LINE d, bool edge, bool first, int end_even, int end_odd, WORK a,
                      WORK b, WORK c, WORK e)
{
#if STEPS == 4
    BEGIN_ODD(d)
    s = LIFT_EVEN(s, d.s00123456, d, (LINE)(e));
    END_EVEN(s)
    d = LIFT_ODD(d, s, s.s12345677, (LINE)(c));
#endif
    BEGIN_ODD(d)
    s = LIFT_EVEN(s, d.s00123456, d, (LINE)(b));
    END_EVEN(s)
    d = LIFT_ODD(d, s, s.s12345677, (LINE)(a));
#if PAIRS == 4
    return (HALVES)(s.s2345, d.s2345);
#else
    return (HALVES)(s.s23, d.s23);
#endif
}

/* Stores a row's even and odd samples interleaved; `n` of them are in the picture. */
inline void FN(store)(__global DST *to, HALVES v, int n)
{
#define RESULT(lane) SATURATE_FROM(WORK, DST, v.s##lane)
#define PUT(k, lane)                                                                               \
    if (n > k)                                                                                     \
        to[k] = RESULT(lane);
    if (n >= TWICE_PAIRS) {
#define QUAD(a, b, c, d)                                                                           \
    (CAT(DST, 4))(RESULT(a), RESULT(b), RESULT(c), RESULT(d))
#if PAIRS == 2
        *(__global CAT(DST, 4) *)to = QUAD(0, 2, 1, 3);
#elif DST_SIZE <= 2
        *(__global CAT(DST, 8) *)to = (CAT(DST, 8))(QUAD(0, 4, 1, 5), QUAD(2, 6, 3, 7));
#else
        *(__global CAT(DST, 4) *)to = QUAD(0, 4, 1, 5);
        *(__global CAT(DST, 4) *)(to + 4) = QUAD(2, 6, 3, 7);
#endif
        return;
    }
#if PAIRS == 2
    PUT(0, 0) PUT(1, 2) PUT(2, 1)
#else
    PUT(0, 0) PUT(1, 4) PUT(2, 1) PUT(3, 5) PUT(4, 2) PUT(5, 6) PUT(6, 3)
#endif
}

/* Loading row n of each band, and the inverse steps along it. */
#define LOW_ROW(n)  (FN(mirror)(2 * (n), height) / 2)
#define HIGH_ROW(n) (FN(mirror)(2 * (n) + 1, height) / 2)
#define LOAD_LL(n)  FN(fetch)(ROW(ll, LOW_ROW(n)), at_low)
#define LOAD_HL(n)  FN(fetch)(ROW(hl, LOW_ROW(n)), at_high)
#define LOAD_LH(n)  FN(fetch)(ROW(lh, HIGH_ROW(n)), at_low)
#define LOAD_HH(n)  FN(fetch)(ROW(hh, HIGH_ROW(n)), at_high)
#define ALONG(s, d) FN(along)(s, d, edge, p == 0, end_even, end_odd, a, b, c, e)
#ifdef REVERSIBLE
#define LOW_LINE(l, h)  ALONG(l, h)
#define HIGH_LINE(l, h) ALONG(l, h)
#else
#define LOW_LINE(l, h)  ALONG((l) * (lift[4] * lift[4]), (h) * (lift[4] * lift[5]))
#define HIGH_LINE(l, h) ALONG((l) * (lift[4] * lift[5]), (h) * (lift[5] * lift[5]))
#endif

/* The grid counts pairs of columns, and blocks of `rows` pairs of rows. */
__kernel void KERNEL(GRID, PLANE_IN(WORK, ll), PLANE_IN(WORK, hl), PLANE_IN(WORK, lh),
                     PLANE_IN(WORK, hh), PLANE_OUT(DST, dst), __global const WORK *restrict lift,
                     int rows, int width, int height)
{
    int block = GRID_Y, p = SPAN_BEGIN;
    if (block >= grid_y_end || p >= grid_width)
        return;
    int y = block * rows, y_end = min(y + rows, (height + 1) / 2);
    bool edge = FN(is_edge)(width);
    WORK a = lift[0], b = lift[1], c = lift[2], e = lift[3];
    int n_low = (width + 1) / 2, n_high = width / 2;
    int end_even = n_low - p + 2, end_odd = n_high - p + 2;
    int4 at_low = p / 2 + (int4)(-1, 0, 1, 2), at_high = at_low;
    if (edge) { /* at.s1 is where a vector of PAIRS columns begins */
        int4 columns = (int4)(2, PAIRS, 2, 2);
        at_low = clamp(at_low, (int4)(0), (n_low - 1) / columns * (columns / 2));
        at_high = clamp(at_high, (int4)(0), (n_high - 1) / columns * (columns / 2));
    }
    LINE ll = LOAD_LL(y - BEYOND + 1), hl = LOAD_HL(y - BEYOND + 1);
    LINE lh = LOAD_LH(y - BEYOND + 1), hh = LOAD_HH(y - BEYOND + 1);
    HALVES d = HIGH_LINE(LOAD_LH(y - BEYOND), LOAD_HH(y - BEYOND)), even_above = 0;
#if STEPS == 4
    HALVES s1 = 0, d1 = 0;
#endif
    for (int n = y - BEYOND + 1; n < y_end + BEYOND; n++) {
        HALVES even = LOW_LINE(ll, hl), d_new = HIGH_LINE(lh, hh);
        ll = LOAD_LL(n + 1); /* early, because loads have a long latency */
        hl = LOAD_HL(n + 1);
        lh = LOAD_LH(n + 1);
        hh = LOAD_HH(n + 1);
#if STEPS == 4
        HALVES s1_new = LIFT_EVEN(even, d, d_new, (HALVES)(e));
        HALVES d1_new = LIFT_ODD(d, s1, s1_new, (HALVES)(c));
        even = LIFT_EVEN(s1, d1, d1_new, (HALVES)(b));
        HALVES odd = LIFT_ODD(d1, even_above, even, (HALVES)(a));
        s1 = s1_new;
        d1 = d1_new;
#else
        even = LIFT_EVEN(even, d, d_new, (HALVES)(b));
        HALVES odd = LIFT_ODD(d, even_above, even, (HALVES)(a));
#endif
        d = d_new;
        even_above = even;
        int done = n - BEYOND; /* the odd row of this pair is complete, and the even row of the next */
        int n_out = edge ? width - 2 * p : TWICE_PAIRS;
        if (done >= y && 2 * done + 1 < height)
            FN(store)(ROW(dst, 2 * done + 1) + 2 * p, odd, n_out);
        if (done + 1 >= y && done + 1 < y_end)
            FN(store)(ROW(dst, 2 * done + 2) + 2 * p, even, n_out);
    }
}
#endif
