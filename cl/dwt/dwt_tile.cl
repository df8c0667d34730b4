/* One level of the wavelet transform by sums of products, with the formulas of cl/dwt/dwt.cl, for GPUs with local memory.
 *
 * A work-group computes a tile of the bands: SAMPLES columns (times channels) of 2 · STRIPS rows. First its work-items
 * filter down, four columns at a time and two rows of the bands at once, which need the same source rows except two.
 * The results are stored in local memory: for each column a vector of four lines: low, high, low, high. Then they
 * filter along these lines. Even columns are stored apart from odd ones, so that neighbouring work-items use different
 * banks of local memory.
 *
 * WORK is the type of sums and bands. C is the number of channels of a band, CH that of the source; if they differ, the
 * source's last channel is alpha. */
#include <ends.cl>

#define TAPS_MAX      42
#define LINES         CAT(WORK, 4)
#define HALF          (SAMPLES + (TAPS_MAX / 2 - 1) * C) /* even columns of a line, or odd ones */

/* NVIDIA's compiler does not define FP_FAST_FMAF. */
#if defined(HAS_PTX) || (defined(WORK_IS_float) && defined(FP_FAST_FMAF)) ||                       \
    (defined(WORK_IS_double) && defined(FP_FAST_FMA))
#define ADD_PRODUCT(sum, tap, v) (sum) = fma((LINES)(tap), v, sum)
#else
#define ADD_PRODUCT(sum, tap, v) (sum) += (tap) * (v)
#endif

/* The index in the row of sample s of a row that is extended by the border; −1: a zero. s may be negative, so the
 * division rounds down. */
inline int FN(column)(int s, int width, int border)
{
    int pixel = s >= 0 ? s / C : -((C - 1 - s) / C);
    int at = signal_index(pixel, width, border);
    return at < 0 ? -1 : at * CH + (s - pixel * C);
}

/* Loads four samples of row y of the picture, which is extended by the border: a vector at `first`, or, if that is −1,
 * the samples at `each`. */
inline LINES FN(four)(PLANE_IN(SRC, src), int y, int height, int first, int4 each, int border)
{
    int at = signal_index(y, height, border);
    __global const SRC *row = ROW(src, max(at, 0));
    LINES v;
    if (first >= 0)
        v = CAT3(convert_, WORK, 4)(*(__global const CAT(SRC, 4) *)(row + first));
    else
        v = (LINES)(each.s0 < 0 ? 0 : (WORK)row[each.s0], each.s1 < 0 ? 0 : (WORK)row[each.s1],
                    each.s2 < 0 ? 0 : (WORK)row[each.s2], each.s3 < 0 ? 0 : (WORK)row[each.s3]);
    return at < 0 ? (LINES)(0) : v;
}

/* The grid counts work-items of tiles in x, tiles in y. */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(WORK, ll), PLANE_OUT(WORK, hl), PLANE_OUT(WORK, lh),
       PLANE_OUT(WORK, hh), __constant const WORK *restrict vertical, int v_first, int v_count,
       __constant const WORK *restrict horizontal, int h_first, int h_count, int width, int height,
       int low_width, int high_width, int low_height, int high_height, int border)
{
    __local LINES tile[STRIPS * 2 * HALF];
    int item = (int)get_local_id(0), x = (int)get_group_id(0) * SAMPLES;
    int y = GRID_Y * STRIPS * 2;
    int n_samples = min(SAMPLES, low_width * C - x), strips = min(STRIPS, (low_height - y + 1) / 2);
    int begin = 2 * x + h_first * C, length = 2 * n_samples + (h_count - 2) * C;
    int origin = begin & ~3, quads = (begin - origin + length + 3) / 4;
    for (int i = item; i < strips * quads; i += ITEMS) {
        int strip = i / quads, s = origin + 4 * (i - strip * quads);
        int first = CH == C && s >= 0 && s + 4 <= width * C ? s : -1;
        int4 each = 0;
        if (first < 0)
            each = (int4)(FN(column)(s, width, border), FN(column)(s + 1, width, border),
                          FN(column)(s + 2, width, border), FN(column)(s + 3, width, border));
        int row = 2 * (y + 2 * strip) + v_first;
        /* Inside the picture no index of a row need be computed. */
        bool inside = first >= 0 && row >= 0 && row + v_count + 2 <= height;
        __global const SRC *top = inside ? ROW(src, row) + first : src_base;
#define FOUR(k)                                                                                    \
    inside ? CAT3(convert_, WORK, 4)(*(__global const CAT(SRC, 4) *)(top + (k) * src_stride))     \
           : FN(four)(src_base, src_offset, src_stride, row + (k), height, first, each, border)
        LINES even = FOUR(0), odd = FOUR(1);
        LINES low = 0, high = 0, next_low = 0, next_high = 0;
        for (int k = 0; k < v_count; k += 2) {
            LINES next_even = FOUR(k + 2), next_odd = FOUR(k + 3);
            WORK tap = vertical[k], next_tap = vertical[k + 1];
            ADD_PRODUCT(low, tap, even);
            ADD_PRODUCT(low, next_tap, odd);
            ADD_PRODUCT(next_low, tap, next_even);
            ADD_PRODUCT(next_low, next_tap, next_odd);
            tap = vertical[v_count + k];
            next_tap = vertical[v_count + k + 1];
            ADD_PRODUCT(high, tap, even);
            ADD_PRODUCT(high, next_tap, odd);
            ADD_PRODUCT(next_high, tap, next_even);
            ADD_PRODUCT(next_high, next_tap, next_odd);
            even = next_even;
            odd = next_odd;
        }
#define KEEP(k)                                                                                    \
    {                                                                                              \
        int at = s + k - begin;                                                                    \
        if (at >= 0 && at < length)                                                                \
            tile[(2 * strip + at / C % 2) * HALF + at / (2 * C) * C + at % C] =                    \
                (LINES)(low.s##k, high.s##k, next_low.s##k, next_high.s##k);                       \
    }
        KEEP(0) KEEP(1) KEEP(2) KEEP(3)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < strips * SAMPLES; i += ITEMS) {
        int strip = i / SAMPLES, column = i % SAMPLES, n = y + 2 * strip;
        if (column >= n_samples)
            continue;
        __local const LINES *even = tile + 2 * strip * HALF + column, *odd = even + HALF;
        LINES low = 0, high = 0;
        for (int k = 0; k < h_count; k += 2) {
            LINES e = even[k / 2 * C], o = odd[k / 2 * C];
            ADD_PRODUCT(low, horizontal[k], e);
            ADD_PRODUCT(low, horizontal[k + 1], o);
            ADD_PRODUCT(high, horizontal[h_count + k], e);
            ADD_PRODUCT(high, horizontal[h_count + k + 1], o);
        }
        column += x;
#define STORE_BAND(band, y, v, w, h)                                                                    \
    if (column < (w) * C && (y) < (h))                                                             \
        ROW(band, y)[column] = v;
        STORE_BAND(ll, n, low.s0, low_width, low_height)
        STORE_BAND(lh, n, low.s1, low_width, high_height)
        STORE_BAND(ll, n + 1, low.s2, low_width, low_height)
        STORE_BAND(lh, n + 1, low.s3, low_width, high_height)
        STORE_BAND(hl, n, high.s0, high_width, low_height)
        STORE_BAND(hh, n, high.s1, high_width, high_height)
        STORE_BAND(hl, n + 1, high.s2, high_width, low_height)
        STORE_BAND(hh, n + 1, high.s3, high_width, high_height)
    }
}
