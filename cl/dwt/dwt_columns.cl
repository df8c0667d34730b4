/* One level of cdf97 or cdf53 by lifting for GPUs with few registers (Mali), for pictures of one channel that are at
 * least 8 wide, with the steps of cl/dwt/dwt_lift.cl. KERNEL_analysis computes bands from a picture, KERNEL_synthesis a
 * picture from bands.
 *
 * A work-item goes down two columns of each band (four of the picture), through `rows` rows of the bands. In each row it
 * loads its own columns and the neighbours that the steps along the row need, which other work-items load at the same
 * time from the same cache lines. What the steps down the columns need from rows above stays in registers. So
 * everything is read from memory once, except for a few rows between blocks. Rows are filtered first, then columns; only
 * the analysis in integers (REVERSIBLE) begins with columns, as the standard demands.
 *
 * Work-items at the picture's edges run a loop that loads single samples at mirrored positions. All others load whole
 * vectors, with offsets of 32 bits.
 *
 * a, b, c and e are the factors of the steps. low_gain and high_gain scale low and high results along rows, and again
 * down columns; in the synthesis even and odd ones. */
#include <memory.cl>
#include <round.cl>
#define BEYOND (STEPS / 2) /* rows of the bands that the steps need above and below a block's own */
#define LINE   CAT(WORK, 8)
#define PAIR   CAT(WORK, 2)
#define HALVES CAT(WORK, 4) /* two low columns, then two high ones; in pictures even and odd ones */

#define PLACE(p, x, y) (p##_base + (uint)(p##_offset + (y) * p##_stride + (x)))
#define GAINS                                                                                      \
    HALVES low_gains = (HALVES)((PAIR)(low_gain * low_gain), (PAIR)(low_gain * high_gain));        \
    HALVES high_gains = (HALVES)((PAIR)(high_gain * low_gain), (PAIR)(high_gain * high_gain));

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
#define LIFT_ODD(v, l, r, k)  fma(SIGN(k), (l) + (r), v)
#define LIFT_EVEN(v, l, r, k) LIFT_ODD(v, l, r, k)
#endif

/* The steps along a row, or their inverse. Lane k of s and d is pair p - 2 + k; returns those of pairs p and p + 1. */
inline HALVES FN(along)(LINE s, LINE d, WORK a, WORK b, WORK c, WORK e)
{
#if defined(KERNEL_synthesis) && STEPS == 4
    s = LIFT_EVEN(s, d.s00123456, d, (LINE)(e));
    d = LIFT_ODD(d, s, s.s12345677, (LINE)(c));
#endif
#ifdef KERNEL_synthesis
    s = LIFT_EVEN(s, d.s00123456, d, (LINE)(b));
    d = LIFT_ODD(d, s, s.s12345677, (LINE)(a));
#else
    d = LIFT_ODD(d, s, s.s12345677, (LINE)(a));
    s = LIFT_EVEN(s, d.s00123456, d, (LINE)(b));
#endif
#if defined(KERNEL_analysis) && STEPS == 4
    d = LIFT_ODD(d, s, s.s12345677, (LINE)(c));
    s = LIFT_EVEN(s, d.s00123456, d, (LINE)(e));
#endif
    return (HALVES)(s.s23, d.s23);
}
#define ALONG(s, d) FN(along)(s, d, a, b, c, e)

/* The index that a line of n > 1 samples has, mirrored, at position i; FOLDED is the same for columns of the picture,
 * for i at most 7 outside. */
inline int FN(mirror)(int i, int n)
{
    for (i = abs(i); i >= n;)
        i = abs(2 * n - 2 - i);
    return i;
}
#define FOLDED(i) min(abs(i), 2 * width - 2 - abs(i))

#if defined(KERNEL_analysis)
/* Loads columns 2p - 4 … 2p + 7 of row y of the picture, as WORK. */
#if SRC_SIZE == 1
#ifdef SRC_IS_uchar
#define BYTE_OF(w, k) (WORK)((w) >> 8 * (k) & 255u)
#else
#define BYTE_OF(w, k) (WORK)((int)((w) << (24 - 8 * (k))) >> 24)
#endif
#define FOUR(w) BYTE_OF(w, 0), BYTE_OF(w, 1), BYTE_OF(w, 2), BYTE_OF(w, 3)
inline CAT(WORK, 16) FN(inside)(__global const SRC *from)
{
    uint4 w = UNALIGNED_IN(uint, 4, from);
    return (CAT(WORK, 16))(FOUR(w.x), FOUR(w.y), FOUR(w.z), (CAT(WORK, 4))(0));
}
#else
inline CAT(WORK, 16) FN(inside)(__global const SRC *from)
{
    __global const CAT(SRC, 4) *four = (__global const CAT(SRC, 4) *)from;
    CAT(SRC, 4) x = four[0], y = four[1], z = four[2];
    return CAT3(convert_, WORK, 16)((CAT(SRC, 16))(x, y, z, z));
}
#endif
inline CAT(WORK, 16) FN(mirrored)(__global const SRC *row, int x, int width)
{
#define AT(k) (WORK)row[(uint)FOLDED(x + (k))]
    return (CAT(WORK, 16))(AT(0), AT(1), AT(2), AT(3), AT(4), AT(5), AT(6), AT(7), AT(8), AT(9),
                           AT(10), AT(11), (CAT(WORK, 4))(0));
}
#define LOAD(y)                                                                                    \
    (edge ? FN(mirrored)(ROW(src, FN(mirror)(y, height)), 2 * p - 4, width)                        \
          : FN(inside)(PLACE(src, 2 * p - 4, y)))

/* Before the steps down the columns a row is filtered along (TAKE), or, with REVERSIBLE, after them (GIVE). */
#ifdef REVERSIBLE
#define DOWN    CAT(WORK, 16)
#define TAKE(v) v
#define GIVE(v) ALONG((v).even, (v).odd)
#else
#define DOWN    HALVES
#define TAKE(v) ALONG((v).even, (v).odd)
#define GIVE(v) (v)
#endif

inline void FN(store)(__global WORK *to, PAIR v, int n)
{
    if (n >= 2)
        *(__global PAIR *)to = v;
    else if (n > 0)
        to[0] = v.s0;
}

#define PLANES                                                                                     \
    PLANE_IN(SRC, src), PLANE_OUT(WORK, ll), PLANE_OUT(WORK, hl), PLANE_OUT(WORK, lh),             \
        PLANE_OUT(WORK, hh)
#define PLANE_ARGUMENTS                                                                            \
    src_base, src_offset, src_stride, ll_base, ll_offset, ll_stride, hl_base, hl_offset,           \
        hl_stride, lh_base, lh_offset, lh_stride, hh_base, hh_offset, hh_stride

/* Computes the work-item's columns of rows y … y_end - 1 of the bands. */
inline void FN(walk)(PLANES, WORK a, WORK b, WORK c, WORK e, WORK low_gain, WORK high_gain,
                     int width, int height, int p, int y, int y_end, bool edge)
{
    GAINS
    int n_low = edge ? (width + 1) / 2 - p : 2, n_high = edge ? width / 2 - p : 2;
    CAT(WORK, 16) numbers = LOAD(2 * (y - BEYOND));
    DOWN x = TAKE(numbers), d = 0, s = 0, d2 = 0;
    for (int n = y - BEYOND; n < y_end + BEYOND - 1; n++) {
        numbers = LOAD(2 * n + 1);
        DOWN odd = TAKE(numbers);
        numbers = LOAD(2 * n + 2);
        DOWN below = TAKE(numbers);
        DOWN d_new = LIFT_ODD(odd, x, below, (DOWN)(a));
        DOWN s_new = LIFT_EVEN(x, d, d_new, (DOWN)(b));
        DOWN low = s_new, high = d_new;
#if STEPS == 4
        high = LIFT_ODD(d, s, s_new, (DOWN)(c));
        low = LIFT_EVEN(s, d2, high, (DOWN)(e));
        s = s_new;
        d2 = high;
        low *= low_gains, high *= high_gains;
#endif
        x = below;
        d = d_new;
        int done = n - (BEYOND - 1);
        if (done < y)
            continue;
        HALVES v = GIVE(low), w = GIVE(high);
        FN(store)(PLACE(ll, p, done), v.lo, n_low);
        FN(store)(PLACE(hl, p, done), v.hi, n_high);
        if (!edge || done < height / 2) {
            FN(store)(PLACE(lh, p, done), w.lo, n_low);
            FN(store)(PLACE(hh, p, done), w.hi, n_high);
        }
    }
}

#elif defined(KERNEL_synthesis)
/* Loads columns p - 2 … p + 3 of a band's row. For mirroring, a low sample n has position 2n in the picture's row, and a
 * high one 2n + 1. */
inline LINE FN(inside)(__global const WORK *from)
{
    PAIR last = *(__global const PAIR *)(from + 4);
    return (LINE)(CAT3(as_, WORK, 4)(UNALIGNED_IN(uint, 4, from)), last, last);
}
inline LINE FN(mirrored)(__global const WORK *row, int x, int width)
{
#define AT(k) row[(uint)FOLDED(x + 2 * (k)) / 2]
    return (LINE)(AT(0), AT(1), AT(2), AT(3), AT(4), AT(5), (PAIR)(0));
}
#define LOAD(band, high_along, high_down, n)                                                       \
    (edge ? FN(mirrored)(ROW(band, FN(mirror)(2 * (n) + high_down, height) / 2),                   \
                         2 * p - 4 + high_along, width)                                            \
          : FN(inside)(PLACE(band, p - 2, n)))

/* Stores a row's even and odd samples interleaved; `n` of them are in the picture. */
inline void FN(store)(__global DST *to, HALVES v, int n)
{
#define RESULT(lane) SATURATE_FROM(WORK, DST, v.s##lane)
    if (n >= 4) {
        *(__global CAT(DST, 4) *)to = (CAT(DST, 4))(RESULT(0), RESULT(2), RESULT(1), RESULT(3));
        return;
    }
    if (n > 0)
        to[0] = RESULT(0);
    if (n > 1)
        to[1] = RESULT(2);
    if (n > 2)
        to[2] = RESULT(1);
}

#define PLANES                                                                                     \
    PLANE_IN(WORK, ll), PLANE_IN(WORK, hl), PLANE_IN(WORK, lh), PLANE_IN(WORK, hh),                \
        PLANE_OUT(DST, dst)
#define PLANE_ARGUMENTS                                                                            \
    ll_base, ll_offset, ll_stride, hl_base, hl_offset, hl_stride, lh_base, lh_offset, lh_stride,   \
        hh_base, hh_offset, hh_stride, dst_base, dst_offset, dst_stride

/* Computes the work-item's columns of pairs of rows y … y_end - 1 of the picture. */
inline void FN(walk)(PLANES, WORK a, WORK b, WORK c, WORK e, WORK low_gain, WORK high_gain,
                     int width, int height, int p, int y, int y_end, bool edge)
{
    GAINS
    LINE low = LOAD(lh, 0, 1, y - BEYOND), high = LOAD(hh, 1, 1, y - BEYOND);
    HALVES d = ALONG(low, high), above = 0, s1 = 0, d1 = 0;
    for (int n = y - BEYOND + 1; n < y_end + BEYOND; n++) {
        low = LOAD(ll, 0, 0, n), high = LOAD(hl, 1, 0, n);
        HALVES even = ALONG(low, high);
        low = LOAD(lh, 0, 1, n), high = LOAD(hh, 1, 1, n);
        HALVES d_new = ALONG(low, high);
#if STEPS == 4
        HALVES s1_new = LIFT_EVEN(even, d, d_new, (HALVES)(e));
        HALVES d1_new = LIFT_ODD(d, s1, s1_new, (HALVES)(c));
        even = LIFT_EVEN(s1, d1, d1_new, (HALVES)(b));
        HALVES odd = LIFT_ODD(d1, above, even, (HALVES)(a));
        s1 = s1_new;
        d1 = d1_new;
#else
        even = LIFT_EVEN(even, d, d_new, (HALVES)(b));
        HALVES odd = LIFT_ODD(d, above, even, (HALVES)(a));
#endif
        d = d_new;
        above = even;
#if STEPS == 4
        even *= low_gains, odd *= high_gains;
#endif
        int done = n - BEYOND; /* the odd row of this pair is complete, and the even row of the next */
        int n_out = edge ? width - 2 * p : 4;
        if (done >= y && (!edge || 2 * done + 1 < height))
            FN(store)(PLACE(dst, 2 * p, 2 * done + 1), odd, n_out);
        if (done + 1 >= y && done + 1 < y_end)
            FN(store)(PLACE(dst, 2 * p, 2 * done + 2), even, n_out);
    }
}
#endif

/* The grid counts the low band's columns, and blocks of `rows` of its rows. */
__kernel void KERNEL(GRID, PLANES, WORK a, WORK b, WORK c, WORK e, WORK low_gain, WORK high_gain,
                     int rows, int width, int height)
{
    int block = GRID_Y, p = SPAN_BEGIN;
    if (block >= grid_y_end || p >= grid_width)
        return;
    int y = block * rows, y_end = min(y + rows, (height + 1) / 2);
#define WALK(edge)                                                                                 \
    FN(walk)                                                                                       \
    (PLANE_ARGUMENTS, a, b, c, e, low_gain, high_gain, width, height, p, y, y_end, edge)
    if (p >= 2 && 2 * p + 8 <= width && y >= BEYOND && 2 * (y_end + BEYOND) <= height)
        WALK(false);
    else
        WALK(true);
}
