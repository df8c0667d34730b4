/* One level of the inverse of cdf97 or cdf53 by lifting, for GPUs and pictures of one channel:
 * what cl/dwt_walk.cl does, backwards, in the same way. A work-item makes PAIRS pairs of columns
 * of the picture down `rows` pairs of its rows: rows of the bands first, then down the columns.
 *
 * `lift` holds a, b, c, e of cl/dwt_lift.cl, what a low coefficient is to be multiplied by, and
 * what a high one. */
#ifdef WORK_IS_double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#if PAIRS == 4
#define PAIRS_TWICE 8
#else
#define PAIRS_TWICE 4
#endif
#define LATE (STEPS / 2) /* rows of the bands beyond a pair of rows that the steps need */
#define LINE CAT(WORK, 8)
#define BAND CAT(WORK, PAIRS)
#define BOTH CAT(WORK, PAIRS_TWICE) /* even columns, then odd ones */

#ifdef REVERSIBLE
#define LIFT_ODD(v, l, r, k)  ((v) + (((l) + (r)) >> 1))
#define LIFT_EVEN(v, l, r, k) ((v) - (((l) + (r) + 2) >> 2))
#else
#if (defined(WORK_IS_float) && defined(FP_FAST_FMAF)) ||                                           \
    (defined(WORK_IS_double) && defined(FP_FAST_FMA))
#define LIFT_ODD(v, l, r, k) fma(-(k), (l) + (r), v)
#else
#define LIFT_ODD(v, l, r, k) ((v) - (k) * ((l) + (r)))
#endif
#define LIFT_EVEN(v, l, r, k) LIFT_ODD(v, l, r, k)
#endif

#if defined(DST_IS_WORK)
#define FINISH(v) (v)
#elif defined(WORK_IS_int)
#define FINISH(v) CAT3(convert_, DST, _sat)(v)
#elif defined(WORK_IS_double) && defined(DST_IS_float)
#define FINISH(v) ((float)(v))
#elif defined(WORK_IS_double)
#define FINISH(v) CAT3(convert_, DST, _sat_rte)(v)
#else
#define FINISH(v) SATURATE(DST, v)
#endif

/* Where index i of a mirrored line of n > 1 stands: for i near its ends cheaper than
 * border_index. */
inline int FN(mirror)(int i, int n)
{
    for (i = abs(i); i >= n;)
        i = abs(2 * n - 2 - i);
    return i;
}

/* Columns p - 2 to p + 5 (where PAIRS is 2, to p + 3) of a band's row, by vectors; those outside
 * the row are any. */
inline LINE FN(fetch)(__global const WORK *row, int4 at)
{
    __global const CAT(WORK, 2) *two = (__global const CAT(WORK, 2) *)row;
#if PAIRS == 4
    return (LINE)(two[at.s0], *(__global const CAT(WORK, 4) *)(two + at.s1), two[at.s3]);
#else
    return (LINE)(two[at.s0], two[at.s1], two[at.s2], two[at.s2]);
#endif
}

/* How a step along a row meets the row's ends, where lines go on mirrored: in place of the
 * neighbour outside there is the one inside. Lane 2 is the work-item's first pair of columns;
 * even columns end before lane end_even, odd ones before lane end_odd. */
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

/* The steps back along a row of pairs. */
inline BOTH FN(along)(LINE s, LINE d, bool edge, bool first, int end_even, int end_odd, WORK a,
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
    return (BOTH)(s.s2345, d.s2345);
#else
    return (BOTH)(s.s23, d.s23);
#endif
}

/* Stores a row's pairs side by side, `n` samples of them. */
inline void FN(store)(__global DST *to, BOTH v, int n)
{
#define PUT(k, lane)                                                                               \
    if (n > k)                                                                                     \
        to[k] = FINISH(v.s##lane);
    if (n >= PAIRS_TWICE) {
#define QUAD(a, b, c, d)                                                                           \
    (CAT(DST, 4))(FINISH(v.s##a), FINISH(v.s##b), FINISH(v.s##c), FINISH(v.s##d))
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

/* Row n of each band, as it is loaded, and back along the row. */
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
    /* Whether rows end somewhere near: the same for all of a work-group, so that others go by. */
    int group_begin = (int)(get_group_id(0) * get_local_size(0)) * PAIRS;
    int group_end = group_begin + (int)get_local_size(0) * PAIRS;
    bool edge = group_begin == 0 || 2 * group_end + 4 > width;
    WORK a = lift[0], b = lift[1], c = lift[2], e = lift[3];
    int n_low = (width + 1) / 2, n_high = width / 2;
    int end_even = n_low - p + 2, end_odd = n_high - p + 2;
    int4 at_low = p / 2 + (int4)(-1, 0, 1, 2), at_high = at_low;
    if (edge) { /* at.s1 is where a vector of PAIRS columns begins */
        int4 columns = (int4)(2, PAIRS, 2, 2);
        at_low = clamp(at_low, (int4)(0), (n_low - 1) / columns * (columns / 2));
        at_high = clamp(at_high, (int4)(0), (n_high - 1) / columns * (columns / 2));
    }
    LINE ll = LOAD_LL(y - LATE + 1), hl = LOAD_HL(y - LATE + 1);
    LINE lh = LOAD_LH(y - LATE + 1), hh = LOAD_HH(y - LATE + 1);
    BOTH d = HIGH_LINE(LOAD_LH(y - LATE), LOAD_HH(y - LATE)), even_above = 0;
#if STEPS == 4
    BOTH s1 = 0, d1 = 0;
#endif
    for (int n = y - LATE + 1; n < y_end + LATE; n++) {
        BOTH even = LOW_LINE(ll, hl), d_new = HIGH_LINE(lh, hh);
        ll = LOAD_LL(n + 1); /* early: loads take long to come */
        hl = LOAD_HL(n + 1);
        lh = LOAD_LH(n + 1);
        hh = LOAD_HH(n + 1);
#if STEPS == 4
        BOTH s1_new = LIFT_EVEN(even, d, d_new, (BOTH)(e));
        BOTH d1_new = LIFT_ODD(d, s1, s1_new, (BOTH)(c));
        even = LIFT_EVEN(s1, d1, d1_new, (BOTH)(b));
        BOTH odd = LIFT_ODD(d1, even_above, even, (BOTH)(a));
        s1 = s1_new;
        d1 = d1_new;
#else
        even = LIFT_EVEN(even, d, d_new, (BOTH)(b));
        BOTH odd = LIFT_ODD(d, even_above, even, (BOTH)(a));
#endif
        d = d_new;
        even_above = even;
        int done = n - LATE; /* its odd row, and the next one's even */
        int n_out = edge ? width - 2 * p : PAIRS_TWICE;
        if (done >= y && 2 * done + 1 < height)
            FN(store)(ROW(dst, 2 * done + 1) + 2 * p, odd, n_out);
        if (done + 1 >= y && done + 1 < y_end)
            FN(store)(ROW(dst, 2 * done + 2) + 2 * p, even, n_out);
    }
}
