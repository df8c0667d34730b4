/* One level of the wavelet transform by sums of products, with the formulas of cl/dwt/dwt.cl, for GPUs, pictures of one
 * channel and filters of up to 16 taps.
 *
 * A walker: a work-item computes two columns of each band, through `rows` rows. It loads the part of two rows of the picture that
 * its columns need, filters them along, and adds the result to the unfinished sums of the M rows of the bands whose
 * windows contain them; the first of these sums is then complete. So no row is filtered along twice, except for a few
 * between blocks. Neighbouring work-items load partly the same samples, from the caches.
 *
 * LOW_TAPS and HIGH_TAPS are the 2M taps of the filters, for both directions. WINDOW_AT is the column of the picture at
 * which the windows of the bands' column 0 begin: BEGIN, a multiple of four, plus OFFSET. */
#include <ends.cl>
#ifdef WORK_IS_double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define BAND          CAT(WORK, 2)
#define BANDS         CAT(WORK, 4)

/* NVIDIA's compiler does not define FP_FAST_FMAF. */
#if defined(HAS_PTX) || (defined(WORK_IS_float) && defined(FP_FAST_FMAF)) ||                       \
    (defined(WORK_IS_double) && defined(FP_FAST_FMA))
#define ADD_PRODUCT(type, sum, tap, v) fma((type)(tap), v, sum)
#else
#define ADD_PRODUCT(type, sum, tap, v) ((sum) + (WORK)(tap) * (v))
#endif

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

/* The grid counts the low band's columns, and blocks of `rows` of its rows. */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(WORK, ll), PLANE_OUT(WORK, hl),
                     PLANE_OUT(WORK, lh), PLANE_OUT(WORK, hh), int rows, int width, int height,
                     int low_width, int high_width, int low_height, int high_height, int border)
{
    __local int columns[4 * QUADS][ITEMS];
    POSITION(p, block)
    int item = (int)get_local_id(0);
    int y = block * rows, y_end = min(y + rows, low_height);
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
        FN(store)(ROW(ll, n) + p, low[M - 1].lo, n_low);
        FN(store)(ROW(hl, n) + p, low[M - 1].hi, n_high);
        if (n < high_height) {
            FN(store)(ROW(lh, n) + p, high[M - 1].lo, n_low);
            FN(store)(ROW(hh, n) + p, high[M - 1].hi, n_high);
        }
    }
}
