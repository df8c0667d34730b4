/* One level of the wavelet transform by sums of products, with the formulas of cl/dwt/dwt.cl, for GPUs, pictures of one
 * channel and filters of up to 16 taps.
 *
 * A work-item computes two columns of each band, through `rows` rows. It loads the part of two rows of the picture that
 * its columns need, filters them along, and adds the result to the unfinished sums of the M rows of the bands whose
 * windows contain them; the first of these sums is then complete. So no row is filtered along twice, except for a few
 * between blocks. Neighbouring work-items load partly the same samples, from the caches.
 *
 * The pass defines the taps L0, L1 … of the low filter and H0, H1 … of the high one, for both directions. WINDOW_AT is
 * the column of the picture at which the windows of the bands' column 0 begin: BEGIN, a multiple of four, plus OFFSET. */
#include <ends.cl>
#ifdef WORK_IS_double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define BAND          CAT(WORK, 2)
#define BANDS         CAT(WORK, 4)

/* NVIDIA's compiler does not define FP_FAST_FMAF. */
#if defined(HAS_PTX) || (defined(WORK_IS_float) && defined(FP_FAST_FMAF)) ||                       \
    (defined(WORK_IS_double) && defined(FP_FAST_FMA))
#define SUM(type, sum, tap, v) fma((type)(tap), v, sum)
#else
#define SUM(type, sum, tap, v) ((sum) + (WORK)(tap) * (v))
#endif

/* A quad: four samples as they are loaded. They are converted only when they are needed, because a compiler would
 * otherwise wait for the load at once. */
#if SRC_SIZE == 1
#define QUAD uint
#elif SRC_SIZE == 2
#define QUAD uint2
#elif SRC_SIZE == 4
#define QUAD uint4
#else
#define QUAD ulong4
#endif

/* DO(n, k) for each quad k of row n; n is the name even or odd. */
#define EACH_QUAD(DO, n) DO(n, 0) DO(n, 1) DO(n, 2) DO(n, 3) DO(n, 4) DO(n, 5) DO(n, 6) DO(n, 7)
#define DECLARE(n, k)    QUAD n##k = 0;
#define LOAD(n, k)                                                                                 \
    if (k < QUADS)                                                                                 \
        n##k = quads[k];
#define AROUND(i) (columns[i][item] < 0 ? (SRC)0 : row[max(columns[i][item], 0)])
#define LOAD_AROUND(n, k)                                                                          \
    if (k < QUADS && begin + 4 * k >= 0 && begin + 4 * k + 4 <= width)                             \
        n##k = *(__global const QUAD *)(row + begin + 4 * k);                                      \
    else if (k < QUADS)                                                                            \
        n##k = CAT(as_, QUAD)((CAT(SRC, 4))(AROUND(4 * k), AROUND(4 * k + 1), AROUND(4 * k + 2),   \
                                            AROUND(4 * k + 3)));
#define CLEAR(n, k)   n##k = 0;
#if defined(SRC_IS_uchar)
#define VALUES(n, k)                                                                              \
    CAT(WORK, 4) f##k = (CAT(WORK, 4))((WORK)(n##k & 255u), (WORK)(n##k >> 8 & 255u),              \
                                       (WORK)(n##k >> 16 & 255u), (WORK)(n##k >> 24));
#else
#define VALUES(n, k) CAT(WORK, 4) f##k = CAT3(convert_, WORK, 4)(CAT3(as_, SRC, 4)(n##k));
#endif

/* Loads row y into the quads n0, n1 …, all loads together. At the row's ends samples are loaded one by one; their
 * columns are in local memory, because there are not enough registers. */
#define FETCH_QUADS(n, y)                                                                                \
    {                                                                                              \
        int at = signal_index(y, height, border);                                                     \
        __global const SRC *row = ROW(src, max(at, 0));                                            \
        if (inside) {                                                                              \
            __global const QUAD *quads = (__global const QUAD *)(row + begin);                     \
            EACH_QUAD(LOAD, n)                                                                     \
        } else {                                                                                   \
            EACH_QUAD(LOAD_AROUND, n)                                                              \
        }                                                                                          \
        n##_none = at < 0;                                                                         \
    }

/* Two lanes from lane i on. */
#define AT_0(v) (v).s01
#define AT_1(v) (v).s12
#define AT_2(v) (v).s23
#define AT_3(v) (v).s34
#define AT_4(v) (v).s45
#define AT_5(v) (v).s56
#define AT_6(v) (v).s67
#define AT_7(v) (v).s78
#define AT_8(v) (v).s89
#define AT_9(v) (v).s9a

/* The samples under the former and the latter of two taps. a holds the samples at even places from BEGIN on, b those at
 * odd ones. */
#if OFFSET == 0
#define FORMER(m, m1, m2) AT_##m(a)
#define LATTER(m, m1, m2) AT_##m(b)
#elif OFFSET == 1
#define FORMER(m, m1, m2) AT_##m(b)
#define LATTER(m, m1, m2) AT_##m1(a)
#elif OFFSET == 2
#define FORMER(m, m1, m2) AT_##m1(a)
#define LATTER(m, m1, m2) AT_##m1(b)
#else
#define FORMER(m, m1, m2) AT_##m1(b)
#define LATTER(m, m1, m2) AT_##m2(a)
#endif

/* DO(m, m + 1, m + 2, 2m, 2m + 1) for each of the M pairs of taps. */
#define EACH_1(DO) DO(0, 1, 2, 0, 1)
#define EACH_2(DO) EACH_1(DO) DO(1, 2, 3, 2, 3)
#define EACH_3(DO) EACH_2(DO) DO(2, 3, 4, 4, 5)
#define EACH_4(DO) EACH_3(DO) DO(3, 4, 5, 6, 7)
#define EACH_5(DO) EACH_4(DO) DO(4, 5, 6, 8, 9)
#define EACH_6(DO) EACH_5(DO) DO(5, 6, 7, 10, 11)
#define EACH_7(DO) EACH_6(DO) DO(6, 7, 8, 12, 13)
#define EACH_8(DO) EACH_7(DO) DO(7, 8, 9, 14, 15)
#define ALONG(m, m1, m2, k0, k1)                                                                   \
    low = SUM(BAND, low, L##k0, FORMER(m, m1, m2));                                                \
    low = SUM(BAND, low, L##k1, LATTER(m, m1, m2));                                                \
    high = SUM(BAND, high, H##k0, FORMER(m, m1, m2));                                              \
    high = SUM(BAND, high, H##k1, LATTER(m, m1, m2));

/* Filters along row n of the picture: two low results, then two high ones. */
#define FILTER_ALONG(result, n)                                                                    \
    {                                                                                              \
        if (n##_none) {                                                                            \
            EACH_QUAD(CLEAR, n)                                                                    \
        }                                                                                          \
        EACH_QUAD(VALUES, n)                                                                      \
        CAT(WORK, 16) a = (CAT(WORK, 16))(f0.even, f1.even, f2.even, f3.even, f4.even, f5.even,    \
                                          f6.even, f7.even);                                       \
        CAT(WORK, 16) b = (CAT(WORK, 16))(f0.odd, f1.odd, f2.odd, f3.odd, f4.odd, f5.odd, f6.odd,  \
                                          f7.odd);                                                 \
        BAND low = 0, high = 0;                                                                    \
        CAT(EACH_, M)(ALONG)                                                                       \
        result = (BANDS)(low, high);                                                               \
    }

/* lowM and highM are the unfinished sums of rows to which M + 1 pairs of rows have been added. DOWN adds the rows x and
 * x2, with taps k0 and k1, to the sums with one pair less. The last ones are then complete (WHOLE). */
#define DOWN(m, before, k0, k1)                                                                    \
    low##m = SUM(BANDS, SUM(BANDS, low##before, L##k0, x), L##k1, x2);                             \
    high##m = SUM(BANDS, SUM(BANDS, high##before, H##k0, x), H##k1, x2);
#define DOWN_1(DO) DO(0, _, 0, 1)
#define DOWN_2(DO) DO(1, 0, 2, 3) DOWN_1(DO)
#define DOWN_3(DO) DO(2, 1, 4, 5) DOWN_2(DO)
#define DOWN_4(DO) DO(3, 2, 6, 7) DOWN_3(DO)
#define DOWN_5(DO) DO(4, 3, 8, 9) DOWN_4(DO)
#define DOWN_6(DO) DO(5, 4, 10, 11) DOWN_5(DO)
#define DOWN_7(DO) DO(6, 5, 12, 13) DOWN_6(DO)
#define DOWN_8(DO) DO(7, 6, 14, 15) DOWN_7(DO)
#define WHOLE_1(n) n##0
#define WHOLE_2(n) n##1
#define WHOLE_3(n) n##2
#define WHOLE_4(n) n##3
#define WHOLE_5(n) n##4
#define WHOLE_6(n) n##5
#define WHOLE_7(n) n##6
#define WHOLE_8(n) n##7

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
    int block = GRID_Y, p = SPAN_BEGIN, item = (int)get_local_id(0);
    if (block >= grid_y_end || p >= grid_width)
        return;
    int y = block * rows, y_end = min(y + rows, low_height);
    int n_low = low_width - p, n_high = high_width - p, begin = 2 * p + BEGIN;
    bool inside = begin >= 0 && begin + 4 * QUADS <= width;
    if (!inside) {
        _Pragma("unroll 1") for (int i = 0; i < 4 * QUADS; i++)
            columns[i][item] = signal_index(begin + i, width, border);
    }
    BANDS low_ = 0, low0 = 0, low1 = 0, low2 = 0, low3 = 0, low4 = 0, low5 = 0, low6 = 0, low7 = 0;
    BANDS high_ = 0, high0 = 0, high1 = 0, high2 = 0, high3 = 0, high4 = 0, high5 = 0, high6 = 0;
    BANDS high7 = 0;
    bool even_none, odd_none; /* the row is zeros: applied where samples are used, or it would wait for the loads */
    EACH_QUAD(DECLARE, even)
    EACH_QUAD(DECLARE, odd)
    FETCH_QUADS(even, 2 * y + WINDOW_AT)
    FETCH_QUADS(odd, 2 * y + WINDOW_AT + 1)
    for (int n = y - M + 1; n < y_end; n++) {
        BANDS x, x2;
        FILTER_ALONG(x, even)
        FILTER_ALONG(x2, odd)
        if (n + 1 < y_end) { /* early, because loads have a long latency */
            FETCH_QUADS(even, 2 * (n + M) + WINDOW_AT)
            FETCH_QUADS(odd, 2 * (n + M) + WINDOW_AT + 1)
        }
        CAT(DOWN_, M)(DOWN)
        if (n < y)
            continue;
        BANDS low = CAT(WHOLE_, M)(low), high = CAT(WHOLE_, M)(high);
        FN(store)(ROW(ll, n) + p, low.lo, n_low);
        FN(store)(ROW(hl, n) + p, low.hi, n_high);
        if (n < high_height) {
            FN(store)(ROW(lh, n) + p, high.lo, n_low);
            FN(store)(ROW(hh, n) + p, high.hi, n_high);
        }
    }
}
