/* One level of cdf97 or cdf53 by lifting, for GPUs and pictures of one channel, with the steps of cl/dwt/dwt_steps.cl.
 * KERNEL_analysis computes bands from a picture, KERNEL_synthesis a picture from bands, by the inverse steps.
 *
 * A work-item of the analysis computes PAIRS columns of each band, through `rows` rows. In each row of the picture it
 * loads its own columns and the neighbours that the steps along the row need; these are in cache lines that other
 * work-items load, too, so no work-item waits for another. What the steps down the columns need from rows above stays in
 * registers. So the picture is read from memory once, except for a few rows between blocks, and only bands are written,
 * in whole vectors. A work-item of the synthesis computes PAIRS pairs of columns of the picture, through `rows` pairs of
 * rows, in the same way.
 *
 * `lift` holds a, b, c, e, the factor of the low band and that of the high band. */
/* NVIDIA's compiler does not define FP_FAST_FMAF. (H100, 8192²: with fma cdf97's way there takes 222 µs in place of 228,
 * but its way back 254 in place of 217.) */
#if (defined(HAS_PTX) && defined(KERNEL_analysis)) || (defined(WORK_IS_float) && defined(FP_FAST_FMAF)) ||                       \
    (defined(WORK_IS_double) && defined(FP_FAST_FMA))
#define BY_FMA
#endif
#include "dwt_steps.cl"

/* Whether the work-group is at an end of the rows. The answer is the same for all its work-items, so groups inside skip
 * the code for edges. */
inline bool FN(is_edge)(int width)
{
    int begin = (int)(get_group_id(0) * get_local_size(0)) * PAIRS;
    int end = begin + (int)get_local_size(0) * PAIRS;
    return begin == 0 || 2 * end + 4 > width;
}

#pragma kernel analysis
/* A QUAD is four samples as they are loaded, a WINDOW four of them. They are converted only when they are needed, because a
 * compiler would otherwise wait for the load at once. */
/* Loads columns 2p - 4 … 2p + 11 of a row as quads. Those outside the row have any values; with PAIRS 2 the last four
 * are not used. */
inline WINDOW FN(fetch)(__global const SRC *row, int4 at)
{
    __global const QUAD *quads = (__global const QUAD *)row;
    return (WINDOW)(quads[at.s0], quads[at.s1], quads[at.s2], quads[at.s3]);
}

#define LOAD(y)    FN(fetch)(ROW(src, FN(mirror)(y, height)), at)
#define VALUES(v) CAT3(convert_, WORK, 16)(CAT3(as_, SRC, 16)(v))

/* The grid counts the low band's columns, and blocks of `rows` of its rows. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(WORK, ll), PLANE_OUT(WORK, hl),
                     PLANE_OUT(WORK, lh), PLANE_OUT(WORK, hh), __global const WORK *restrict lift,
                     int rows, int width, int height)
{
    POSITION(p, block)
    int y = block * rows, y_end = min(y + rows, (height + 1) / 2);
    bool edge = FN(is_edge)(width);
    struct FN(factors) f = {lift[0], lift[1], lift[2], lift[3]};
#if STEPS == 4
    HALVES low_scale = (HALVES)((BAND)(lift[4] * lift[4]), (BAND)(lift[4] * lift[5]));
    HALVES high_scale = (HALVES)((BAND)(lift[5] * lift[4]), (BAND)(lift[5] * lift[5]));
#endif
    int n_low = (width + 1) / 2 - p, n_high = width / 2 - p;
    struct FN(ends) ends = {edge, p == 0, n_low + 2, n_high + 2};
    int4 at = p / 2 + (int4)(-1, 0, 1, PAIRS == 4 ? 2 : 1);
    if (edge)
        at = clamp(at, (int4)(0), (int4)((width - 1) / 4));
    WINDOW odd = LOAD(2 * (y - BEYOND) + 1), even = LOAD(2 * (y - BEYOND) + 2);
    CAT(WORK, 16) numbers = VALUES(LOAD(2 * (y - BEYOND)));
    struct FN(column) column = {TAKE(numbers, ends, f), 0, 0, 0, 0, 0};
    for (int n = y - BEYOND; n < y_end + BEYOND - 1; n++) {
        numbers = VALUES(odd);
        DOWN o = TAKE(numbers, ends, f);
        numbers = VALUES(even);
        DOWN below = TAKE(numbers, ends, f);
        odd = LOAD(2 * n + 3); /* early, because loads have a long latency */
        even = LOAD(2 * n + 4);
        FN(down)(&column, o, below, f);
        int done = n - (BEYOND - 1);
        if (done < y)
            continue;
        DOWN low = column.low, high = column.high;
#if STEPS == 4
        low *= low_scale;
        high *= high_scale;
#endif
        HALVES v = GIVE(low, ends, f), w = GIVE(high, ends, f);
        FN(store)(ROW(ll, done) + p, v.lo, edge ? n_low : PAIRS);
        FN(store)(ROW(hl, done) + p, v.hi, edge ? n_high : PAIRS);
        if (done < height / 2) {
            FN(store)(ROW(lh, done) + p, w.lo, edge ? n_low : PAIRS);
            FN(store)(ROW(hh, done) + p, w.hi, edge ? n_high : PAIRS);
        }
    }
}

#pragma kernel synthesis
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

/* Loading row n of each band, and the inverse steps along it. */
#define LOW_ROW(n)  (FN(mirror)(2 * (n), height) / 2)
#define HIGH_ROW(n) (FN(mirror)(2 * (n) + 1, height) / 2)
#define LOAD_LL(n)  FN(fetch)(ROW(ll, LOW_ROW(n)), at_low)
#define LOAD_HL(n)  FN(fetch)(ROW(hl, LOW_ROW(n)), at_high)
#define LOAD_LH(n)  FN(fetch)(ROW(lh, HIGH_ROW(n)), at_low)
#define LOAD_HH(n)  FN(fetch)(ROW(hh, HIGH_ROW(n)), at_high)
#ifdef REVERSIBLE
#define LOW_LINE(l, h)  FN(along)(l, h, ends, f)
#define HIGH_LINE(l, h) FN(along)(l, h, ends, f)
#else
#define LOW_LINE(l, h)  FN(along)((l) * (lift[4] * lift[4]), (h) * (lift[4] * lift[5]), ends, f)
#define HIGH_LINE(l, h) FN(along)((l) * (lift[4] * lift[5]), (h) * (lift[5] * lift[5]), ends, f)
#endif

/* The grid counts pairs of columns, and blocks of `rows` pairs of rows. */
__kernel void KERNEL(GRID, PLANE_IN(WORK, ll), PLANE_IN(WORK, hl), PLANE_IN(WORK, lh),
                     PLANE_IN(WORK, hh), PLANE_OUT(DST, dst), __global const WORK *restrict lift,
                     int rows, int width, int height)
{
    POSITION(p, block)
    int y = block * rows, y_end = min(y + rows, (height + 1) / 2);
    bool edge = FN(is_edge)(width);
    struct FN(factors) f = {lift[0], lift[1], lift[2], lift[3]};
    int n_low = (width + 1) / 2, n_high = width / 2;
    struct FN(ends) ends = {edge, p == 0, n_low - p + 2, n_high - p + 2};
    int4 at_low = p / 2 + (int4)(-1, 0, 1, 2), at_high = at_low;
    if (edge) { /* at.s1 is where a vector of PAIRS columns begins */
        int4 columns = (int4)(2, PAIRS, 2, 2);
        at_low = clamp(at_low, (int4)(0), (n_low - 1) / columns * (columns / 2));
        at_high = clamp(at_high, (int4)(0), (n_high - 1) / columns * (columns / 2));
    }
    LINE ll = LOAD_LL(y - BEYOND + 1), hl = LOAD_HL(y - BEYOND + 1);
    LINE lh = LOAD_LH(y - BEYOND + 1), hh = LOAD_HH(y - BEYOND + 1);
    struct FN(column) column = {HIGH_LINE(LOAD_LH(y - BEYOND), LOAD_HH(y - BEYOND)), 0, 0, 0, 0};
    for (int n = y - BEYOND + 1; n < y_end + BEYOND; n++) {
        HALVES low = LOW_LINE(ll, hl), high = HIGH_LINE(lh, hh);
        ll = LOAD_LL(n + 1); /* early, because loads have a long latency */
        hl = LOAD_HL(n + 1);
        lh = LOAD_LH(n + 1);
        hh = LOAD_HH(n + 1);
        FN(down)(&column, low, high, f);
        int done = n - BEYOND; /* the odd row of this pair is complete, and the even row of the next */
        int n_out = edge ? width - 2 * p : TWICE_PAIRS;
        if (done >= y && 2 * done + 1 < height)
            FN(store)(ROW(dst, 2 * done + 1) + 2 * p, column.odd, n_out);
        if (done + 1 >= y && done + 1 < y_end)
            FN(store)(ROW(dst, 2 * done + 2) + 2 * p, column.even, n_out);
    }
}
