/* One level of the wavelet transform by sums of products, with the formulas of cl/dwt/dwt.cl, or of its inverse
 * (KERNEL_synthesis), for GPUs, pictures of one channel and filters of up to 16 taps. Banks of two filters
 * are taken apart in the same way; there a high band may be larger than the low one.
 *
 * A walker: a work-item of the analysis computes two columns of each band, through `rows` rows. It loads the part of two rows of the picture that
 * its columns need, filters them along, and adds the result to the unfinished sums of the M rows of the bands whose
 * windows contain them; the first of these sums is then complete. So no row is filtered along twice, except for a few
 * between blocks. Neighbouring work-items load partly the same samples, from the caches.
 *
 * LOW_TAPS and HIGH_TAPS are the 2M taps of the filters, for both directions. WINDOW_AT is the column of the picture at
 * which the windows of the bands' column 0 begin: BEGIN, a multiple of four, plus OFFSET.
 *
 * A work-item of the synthesis computes two pairs of columns of the picture, through `rows` pairs of rows, in the same way:
 * each row of the two bands that are low down the columns, and the same row of the two that are high, are put together
 * along, and added to the unfinished sums of the M pairs of rows of the picture under whose taps they are. EVEN_LOW,
 * ODD_LOW, EVEN_HIGH and ODD_HIGH are the M taps of the low and high bands for even and odd samples; BEGIN is a multiple of
 * two, and PAIRS so many vectors of two hold the samples of a band's row that are needed. Where shrink stands in front, it
 * applies its thresholds to what it has loaded (cl/dwt/shrink_rule.cl); their places are hl_at, lh_at and hh_at. */
#include <ends.cl>
#include <round.cl>

#define BAND          CAT(WORK, 2)
#define BANDS         CAT(WORK, 4)

/* NVIDIA's compiler does not define FP_FAST_FMAF. */
#if defined(HAS_PTX) || (defined(WORK_IS_float) && defined(FP_FAST_FMAF)) ||                       \
    (defined(WORK_IS_double) && defined(FP_FAST_FMA))
#define ADD_PRODUCT(type, sum, tap, v) fma((type)(tap), v, sum)
#else
#define ADD_PRODUCT(type, sum, tap, v) ((sum) + (WORK)(tap) * (v))
#endif

#pragma kernel synthesis
#include "shrink_rule.cl"

/* Of a window for even and odd samples together some taps are zero, and cost nothing. */
#define ADD_TAP(type, sum, tap, v)                                                                 \
    if ((tap) != 0)                                                                                \
        sum = ADD_PRODUCT(type, sum, tap, v);
__constant WORK FN(even_low)[] = {EVEN_LOW};
__constant WORK FN(odd_low)[] = {ODD_LOW};
__constant WORK FN(even_high)[] = {EVEN_HIGH};
__constant WORK FN(odd_high)[] = {ODD_HIGH};

/* Loads row y of a band (-1: zeros), all vectors together; as in the analysis, columns at the ends are in local memory. */
#define AROUND(i) (columns[i][item] < 0 ? (WORK)0 : row[max(columns[i][item], 0)])
INLINED void FN(fetch)(PLANE_IN(WORK, band), int y, int begin, bool inside, __local int (*columns)[ITEMS], int item,
                       BAND *two)
{
    __global const WORK *row = ROW(band, max(y, 0));
    UNROLLED for (int k = 0; k < PAIRS; k++)
    {
        if (y < 0)
            two[k] = (BAND)(0);
        else if (inside)
            two[k] = ((__global const BAND *)(row + begin))[k];
        else
            two[k] = (BAND)(AROUND(2 * k), AROUND(2 * k + 1));
    }
}

/* Puts together along a row: even, odd, even, odd. */
INLINED BANDS FN(along)(const BAND *low, const BAND *high)
{
    WORK l[2 * PAIRS], h[2 * PAIRS];
    UNROLLED for (int k = 0; k < PAIRS; k++)
        l[2 * k] = low[k].s0, l[2 * k + 1] = low[k].s1, h[2 * k] = high[k].s0, h[2 * k + 1] = high[k].s1;
    BAND even = 0, odd = 0;
    UNROLLED for (int k = 0; k < M; k++)
    {
        BAND v = (BAND)(l[OFFSET + k], l[OFFSET + k + 1]), w = (BAND)(h[OFFSET + k], h[OFFSET + k + 1]);
        ADD_TAP(BAND, even, FN(even_low)[k], v)
        ADD_TAP(BAND, even, FN(even_high)[k], w)
        ADD_TAP(BAND, odd, FN(odd_low)[k], v)
        ADD_TAP(BAND, odd, FN(odd_high)[k], w)
    }
    return (BANDS)(even.s0, odd.s0, even.s1, odd.s1);
}

/* Adds a row of both to the unfinished sums of the picture's rows: what is in sums[M - 1] is then complete. */
INLINED void FN(down)(BANDS *sums, __constant WORK *low_taps, __constant WORK *high_taps, BANDS low, BANDS high)
{
    BANDS before = 0;
    UNROLLED for (int m = 0; m < M; m++)
    {
        BANDS own = sums[m];
        ADD_TAP(BANDS, before, low_taps[m], low)
        ADD_TAP(BANDS, before, high_taps[m], high)
        sums[m] = before;
        before = own;
    }
}

/* Stores samples of a row; `n` of them are in the picture. */
inline void FN(store)(__global DST *to, BANDS v, int n)
{
#define TO_DST(lane) SATURATE_FROM(WORK, DST, v.lane * (WORK)GAIN)
    CAT(DST, 4) four = (CAT(DST, 4))(TO_DST(s0), TO_DST(s1), TO_DST(s2), TO_DST(s3));
    if (n >= 4) {
        *(__global CAT(DST, 4) *)to = four;
        return;
    }
    if (n > 0)
        to[0] = four.s0;
    if (n > 1)
        to[1] = four.s1;
    if (n > 2)
        to[2] = four.s2;
}

/* The grid counts pairs of columns, and blocks of `rows` pairs of rows, of which there are `n_rows`. */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(WORK, ll), PLANE_IN(WORK, hl), PLANE_IN(WORK, lh), PLANE_IN(WORK, hh), PLANE_OUT(DST, dst),
       int rows, int n_rows, int width, int height, int low_width, int high_width, int low_height, int high_height,
       int ends
#ifdef RULE
       , int hl_at, int lh_at, int hh_at, LIMITS_IN
#endif
)
{
    __local int low_columns[2 * PAIRS][ITEMS], high_columns[2 * PAIRS][ITEMS];
    POSITION(p, block)
    int item = (int)get_local_id(0);
    int y = block * rows, y_end = min(y + rows, n_rows), begin = p + BEGIN;
    bool inside = begin >= 0 && begin + 2 * PAIRS <= min(low_width, high_width);
    if (!inside) {
        ROLLED for (int i = 0; i < 2 * PAIRS; i++)
        {
            low_columns[i][item] = band_index(begin + i, low_width, 0, width, ends);
            high_columns[i][item] = band_index(begin + i, high_width, 1, width, ends);
        }
    }
    BANDS even[M], odd[M];
    UNROLLED for (int m = 0; m < M; m++)
        even[m] = odd[m] = 0;
    BAND ll[PAIRS], hl[PAIRS], lh[PAIRS], hh[PAIRS];
#define FETCH_BAND(band, n, columns)                                                               \
    FN(fetch)(band##_base, band##_offset, band##_stride, n, begin, inside, columns, item, band)
#define FETCH_ROWS(n)                                                                              \
    {                                                                                              \
        int low_row = band_index(n, low_height, 0, height, ends);                                  \
        int high_row = band_index(n, high_height, 1, height, ends);                                \
        FETCH_BAND(ll, low_row, low_columns);                                                      \
        FETCH_BAND(hl, low_row, high_columns);                                                     \
        FETCH_BAND(lh, high_row, low_columns);                                                     \
        FETCH_BAND(hh, high_row, high_columns);                                                    \
    }
#ifdef RULE
#define RULED(v, limit) FN(rule)(v, limit, upper, slope)
    WORK hl_limit = values[hl_at], lh_limit = values[lh_at], hh_limit = values[hh_at];
#endif
    FETCH_ROWS(y + WINDOW_AT)
    for (int n = y - M + 1; n < y_end; n++) {
#ifdef RULE
        UNROLLED for (int k = 0; k < PAIRS; k++)
        {
            hl[k] = (BAND)(RULED(hl[k].s0, hl_limit), RULED(hl[k].s1, hl_limit));
            lh[k] = (BAND)(RULED(lh[k].s0, lh_limit), RULED(lh[k].s1, lh_limit));
            hh[k] = (BAND)(RULED(hh[k].s0, hh_limit), RULED(hh[k].s1, hh_limit));
        }
#endif
        BANDS low = FN(along)(ll, hl), high = FN(along)(lh, hh);
        if (n + 1 < y_end) /* early, because loads have a long latency */
            FETCH_ROWS(n + M + WINDOW_AT)
        FN(down)(even, FN(even_low), FN(even_high), low, high);
        FN(down)(odd, FN(odd_low), FN(odd_high), low, high);
        if (n < y)
            continue;
        FN(store)(ROW(dst, 2 * n) + 2 * p, even[M - 1], width - 2 * p);
        if (2 * n + 1 < height)
            FN(store)(ROW(dst, 2 * n + 1) + 2 * p, odd[M - 1], width - 2 * p);
    }
}
#pragma kernel unnamed
__constant WORK FN(low_taps)[] = {LOW_TAPS};
__constant WORK FN(high_taps)[] = {HIGH_TAPS};

/* Loads row y: QUADS quads, four samples each as they lie in memory, all loads together. They are converted only when they
 * are needed, because a compiler would otherwise wait for the load at once. At the row's ends samples are loaded one by
 * one; their columns are in local memory, because there are not enough registers. Returns whether it is a row of zeros,
 * which is applied where samples are used, for the same reason. */
#define AROUND(i) (columns[i][item] < 0 ? (SRC)0 : row[max(columns[i][item], 0)])
INLINED bool FN(fetch)(PLANE_IN(SRC, src), int y, int height, int border, int begin, int width, bool inside,
                       __local int (*columns)[ITEMS], int item, QUAD *quads)
{
    int at = signal_index(y, height, border);
    __global const SRC *row = ROW(src, max(at, 0));
    if (inside) {
        UNROLLED for (int k = 0; k < QUADS; k++)
            quads[k] = ((__global const QUAD *)(row + begin))[k];
    } else {
        UNROLLED for (int k = 0; k < QUADS; k++)
            if (begin + 4 * k >= 0 && begin + 4 * k + 4 <= width)
                quads[k] = *(__global const QUAD *)(row + begin + 4 * k);
            else
                quads[k] = CAT(as_, QUAD)((CAT(SRC, 4))(AROUND(4 * k), AROUND(4 * k + 1), AROUND(4 * k + 2),
                                                        AROUND(4 * k + 3)));
    }
    return at < 0;
}

/* Filters along a row of the picture: two low results, then two high ones. */
INLINED BANDS FN(along)(const QUAD *quads, bool none)
{
    WORK v[4 * QUADS];
    UNROLLED for (int k = 0; k < QUADS; k++)
    {
        QUAD quad = none ? (QUAD)0 : quads[k];
#if defined(SRC_IS_uchar)
        v[4 * k] = (WORK)(quad & 255u), v[4 * k + 1] = (WORK)(quad >> 8 & 255u);
        v[4 * k + 2] = (WORK)(quad >> 16 & 255u), v[4 * k + 3] = (WORK)(quad >> 24);
#else
        CAT(WORK, 4) four = CAT3(convert_, WORK, 4)(CAT3(as_, SRC, 4)(quad));
        v[4 * k] = four.s0, v[4 * k + 1] = four.s1, v[4 * k + 2] = four.s2, v[4 * k + 3] = four.s3;
#endif
    }
    BAND low = 0, high = 0;
    UNROLLED for (int k = 0; k < 2 * M; k++)
    {
        BAND two = (BAND)(v[OFFSET + k], v[OFFSET + k + 2]);
        low = ADD_PRODUCT(BAND, low, FN(low_taps)[k], two);
        high = ADD_PRODUCT(BAND, high, FN(high_taps)[k], two);
    }
    return (BANDS)(low, high);
}

/* Adds two rows to the unfinished sums of the bands' rows: sums[m] gets those of its m + 1st pair of rows, and what is
 * in sums[M - 1] is then complete. */
INLINED void FN(down)(BANDS *sums, __constant WORK *taps, BANDS even, BANDS odd)
{
    BANDS before = 0;
    UNROLLED for (int m = 0; m < M; m++)
    {
        BANDS own = sums[m];
        before = ADD_PRODUCT(BANDS, before, taps[2 * m], even);
        sums[m] = ADD_PRODUCT(BANDS, before, taps[2 * m + 1], odd);
        before = own;
    }
}

inline void FN(store)(__global WORK *to, BAND v, int n)
{
    if (n >= 2)
        *(__global BAND *)to = v;
    else if (n > 0)
        to[0] = v.s0;
}

/* The grid counts the larger band's columns, and blocks of `rows` of its rows. */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(WORK, ll), PLANE_OUT(WORK, hl),
                     PLANE_OUT(WORK, lh), PLANE_OUT(WORK, hh), int rows, int width, int height,
                     int low_width, int high_width, int low_height, int high_height, int border)
{
    __local int columns[4 * QUADS][ITEMS];
    POSITION(p, block)
    int item = (int)get_local_id(0);
    int y = block * rows, y_end = min(y + rows, max(low_height, high_height));
    int n_low = low_width - p, n_high = high_width - p, begin = 2 * p + BEGIN;
    bool inside = begin >= 0 && begin + 4 * QUADS <= width;
    if (!inside) {
        ROLLED for (int i = 0; i < 4 * QUADS; i++)
            columns[i][item] = signal_index(begin + i, width, border);
    }
    BANDS low[M], high[M];
    UNROLLED for (int m = 0; m < M; m++)
        low[m] = high[m] = 0;
    QUAD even[QUADS], odd[QUADS];
#define FETCH_ROW(y, quads)                                                                        \
    FN(fetch)(src_base, src_offset, src_stride, y, height, border, begin, width, inside, columns, item, quads)
    bool even_none = FETCH_ROW(2 * y + WINDOW_AT, even), odd_none = FETCH_ROW(2 * y + WINDOW_AT + 1, odd);
    for (int n = y - M + 1; n < y_end; n++) {
        BANDS x = FN(along)(even, even_none), x2 = FN(along)(odd, odd_none);
        if (n + 1 < y_end) { /* early, because loads have a long latency */
            even_none = FETCH_ROW(2 * (n + M) + WINDOW_AT, even);
            odd_none = FETCH_ROW(2 * (n + M) + WINDOW_AT + 1, odd);
        }
        FN(down)(low, FN(low_taps), x, x2);
        FN(down)(high, FN(high_taps), x, x2);
        if (n < y)
            continue;
        if (n < low_height) {
            FN(store)(ROW(ll, n) + p, low[M - 1].lo, n_low);
            FN(store)(ROW(hl, n) + p, low[M - 1].hi, n_high);
        }
        if (n < high_height) {
            FN(store)(ROW(lh, n) + p, high[M - 1].lo, n_low);
            FN(store)(ROW(hh, n) + p, high[M - 1].hi, n_high);
        }
    }
}
