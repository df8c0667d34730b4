/* cdf97 and cdf53 by lifting on GPUs: what cl/dwt/dwt_walk.cl and, where registers are few, cl/dwt/dwt_columns.cl compute;
 * the two load and store in their own ways. A work-item goes down PAIRS columns of each band of the analysis, or PAIRS
 * pairs of columns of the picture in the synthesis.
 *
 * Rows are filtered first, then columns. In the analysis the order makes no difference except for rounding; its integer
 * steps (REVERSIBLE) round, so there columns come first, as the standard demands. */
#include <round.cl>

#define BEYOND (STEPS / 2) /* rows of the bands that the steps need above and below a block's own */
#define LINE   CAT(WORK, 8)
#define BAND   CAT(WORK, PAIRS)
#if PAIRS == 4
#define TWICE_PAIRS 8
#define OWN(v)      (v).s2345
#else
#define TWICE_PAIRS 4
#define OWN(v)      (v).s23
#endif
#define HALVES CAT(WORK, TWICE_PAIRS) /* low columns, then high ones; in pictures even and odd ones */

#include "dwt_lifting.cl"

/* The index that a mirrored line of n > 1 samples has at position i. For i near its ends this is cheaper than
 * border_index. */
inline int FN(mirror)(int i, int n)
{
    for (i = abs(i); i >= n;)
        i = abs(2 * n - 2 - i);
    return i;
}

/* A row whose ends are mirrored here, if `edge`: whether its first pair of columns is the work-item's, which is lane 2,
 * and the lanes at which its even columns end, and its odd ones. */
struct FN(ends) {
    bool edge, first;
    int even, odd;
};

/* For a step along the row: a neighbour outside is replaced by the one inside. */
inline LINE FN(end_odd)(LINE v, struct FN(ends) ends)
{
    if (ends.edge) {
        v.s1 = ends.first ? v.s2 : v.s1;
        v.s2 = ends.odd == 2 ? v.s1 : v.s2;
        v.s3 = ends.odd == 3 ? v.s2 : v.s3;
        v.s4 = ends.odd == 4 ? v.s3 : v.s4;
        v.s5 = ends.odd == 5 ? v.s4 : v.s5;
        v.s6 = ends.odd == 6 ? v.s5 : v.s6;
    }
    return v;
}

inline LINE FN(end_even)(LINE v, struct FN(ends) ends)
{
    if (ends.edge) {
        v.s3 = ends.even == 3 ? v.s2 : v.s3;
        v.s4 = ends.even == 4 ? v.s3 : v.s4;
        v.s5 = ends.even == 5 ? v.s4 : v.s5;
        v.s6 = ends.even == 6 ? v.s5 : v.s6;
        v.s7 = ends.even == 7 ? v.s6 : v.s7;
    }
    return v;
}

/* The steps along a row, or their inverse, without gains: lane k of s (even, or low columns) and of d is pair p - 2 + k. */
inline HALVES FN(along)(LINE s, LINE d, struct FN(ends) ends, struct FN(factors) f)
{
#pragma kernel analysis
    s = FN(end_even)(s, ends);
    d = FN(end_odd)(LIFT_ODD(d, s, s.s12345677, (LINE)(f.a)), ends);
    s = LIFT_EVEN(s, d.s00123456, d, (LINE)(f.b));
    if (STEPS == 4) {
        s = FN(end_even)(s, ends);
        d = FN(end_odd)(LIFT_ODD(d, s, s.s12345677, (LINE)(f.c)), ends);
        s = LIFT_EVEN(s, d.s00123456, d, (LINE)(f.e));
    }
#pragma kernel synthesis
    d = FN(end_odd)(d, ends);
    if (STEPS == 4) {
        s = FN(end_even)(LIFT_EVEN(s, d.s00123456, d, (LINE)(f.e)), ends);
        d = FN(end_odd)(LIFT_ODD(d, s, s.s12345677, (LINE)(f.c)), ends);
    }
    s = FN(end_even)(LIFT_EVEN(s, d.s00123456, d, (LINE)(f.b)), ends);
    d = LIFT_ODD(d, s, s.s12345677, (LINE)(f.a));
#pragma kernel
    return (HALVES)(OWN(s), OWN(d));
}

#pragma kernel analysis
/* A row is filtered along before the steps down the columns (TAKE), or, with REVERSIBLE, after them (GIVE). */
#ifdef REVERSIBLE
#define DOWN                CAT(WORK, 16)
#define TAKE(v, ends, f)    (v)
#define GIVE(v, ends, f)    FN(along)((v).even, (v).odd, ends, f)
#else
#define DOWN                HALVES
#define TAKE(v, ends, f)    FN(along)((v).even, (v).odd, ends, f)
#define GIVE(v, ends, f)    (v)
#endif

#include "dwt_down.cl"

inline void FN(store)(__global WORK *to, BAND v, int n)
{
    if (n >= PAIRS) {
        *(__global BAND *)to = v;
        return;
    }
    if (n > 0)
        to[0] = v.s0;
#if PAIRS == 4
    if (n > 1)
        to[1] = v.s1;
    if (n > 2)
        to[2] = v.s2;
#endif
}
#pragma kernel synthesis
/* The same for rows of bands; `even` and `odd` are the rows of the picture that the last ones completed: an odd one, and
 * the even one below it. */
struct FN(column) {
    HALVES d, s1, d1, even, odd;
};

inline void FN(down)(struct FN(column) *column, HALVES low, HALVES high, struct FN(factors) f)
{
    HALVES above = column->even;
    if (STEPS == 4) {
        HALVES s1 = LIFT_EVEN(low, column->d, high, (HALVES)(f.e));
        HALVES d1 = LIFT_ODD(column->d, column->s1, s1, (HALVES)(f.c));
        column->even = LIFT_EVEN(column->s1, column->d1, d1, (HALVES)(f.b));
        column->odd = LIFT_ODD(column->d1, above, column->even, (HALVES)(f.a));
        column->s1 = s1, column->d1 = d1;
    } else {
        column->even = LIFT_EVEN(low, column->d, high, (HALVES)(f.b));
        column->odd = LIFT_ODD(column->d, above, column->even, (HALVES)(f.a));
    }
    column->d = high;
}

/* Stores a row's even and odd samples interleaved; `n` of them are in the picture. */
inline void FN(store)(__global DST *to, HALVES v, int n)
{
#define TO_DST(lane) SATURATE_FROM(WORK, DST, v.s##lane)
#define QUAD(a, b, c, d) (CAT(DST, 4))(TO_DST(a), TO_DST(b), TO_DST(c), TO_DST(d))
#define PUT(k, lane)                                                                               \
    if (n > k)                                                                                     \
        to[k] = TO_DST(lane);
    if (n >= TWICE_PAIRS) {
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
#pragma kernel
