/* analysis: computes one or two (BANDS) bands of a signal. At grid position g a band has the sum over t of taps[t]
 * times the sample at position factor·g + base + t. Two bands have their own taps, for the same samples. A band's first
 * sample is that of grid position `skip`, and it has `length` samples. The number of taps is even.
 *
 * Taps are a table, so all filter banks use the same program. SRC is the type of the signal's samples, DST (float or
 * double) that of bands and sums. */
#include <border.cl>
#ifdef DST_IS_double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#if BANDS == 2
#define EACH_BAND(b) b(0) b(1)
#define BAND_PLANES  PLANE_OUT(DST, dst0), PLANE_OUT(DST, dst1)
#define BAND_PLACES  int skip0, int length0, int skip1, int length1
#else
#define EACH_BAND(b) b(0)
#define BAND_PLANES  PLANE_OUT(DST, dst0)
#define BAND_PLACES  int skip0, int length0
#endif
#define COMMON                                                                                     \
    __global const DST *restrict all_taps, int taps_at, int n_taps, int factor, int base,          \
        int length, int cyclic

#ifdef FORM_ROWS
typedef CAT(SRC, 16) __attribute__((aligned(sizeof(SRC)))) FN(samples);
typedef CAT(DST, 16) __attribute__((aligned(sizeof(DST)))) FN(results);
#define LOAD16(p) (*(__global const FN(samples) *)(p))
#define STORE16(p, v) *(__global FN(results) *)(p) = (v)
#define TO_DST16(v) CAT3(convert_, DST, 16)(v)
#endif

/* The index of position i in the signal of n samples; -1: a zero. */
inline int FN(inside)(int i, int n, int cyclic)
{
    if (i >= 0 && i < n)
        return i;
    return cyclic ? modulo(i, n) : -1;
}

#define CLEAR_SUM(b)        DST a##b = 0;
#define ADD(b)        a##b += taps[b * n_taps + t] * v;

#ifdef KERNEL_rows
/* Along rows. The grid counts samples of pixels without alpha. The taps of positions inner … inner_end - 1 are all
 * within the signal. */
#define STORE(b)                                                                                   \
    if (g >= skip##b && g - skip##b < length##b)                                                   \
        out##b[x - skip##b * channels] = a##b;
#define OUT_ROW(b)    __global DST *out##b = ROW(dst##b, y);
#define SUM_WIDE(b)   CAT(DST, 16) a##b = 0;
#define ADD_WIDE(b)   a##b += taps[b * n_taps + t] * even; a##b += taps[b * n_taps + t + 1] * odd;
#define STORE_WIDE(b) STORE16(out##b + x - skip##b, a##b);

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), BAND_PLANES, BAND_PLACES, COMMON, int src_channels,
                     int channels, int inner, int inner_end)
{
    int y = GRID_Y;
    int x = SPAN_BEGIN;
    if (y >= grid_y_end || x >= grid_width)
        return;
    int end = SPAN_END(x);
    __global const SRC *in = ROW(src, y);
    __global const DST *taps = all_taps + taps_at;
    EACH_BAND(OUT_ROW)
    while (x < end) {
#ifdef FORM_ROWS
        /* With factor 2 and one channel: 16 positions from 32 samples; even samples are multiplied by one tap, odd ones
         * by the next. */
        if (factor == 2 && src_channels == 1 && x >= inner && x + 16 <= min(end, inner_end)) {
            EACH_BAND(SUM_WIDE)
            for (int t = 0; t < n_taps; t += 2) {
                __global const SRC *from = in + 2 * x + base + t;
                CAT(SRC, 16) first = LOAD16(from), second = LOAD16(from + 16);
                CAT(DST, 16) even = TO_DST16((CAT(SRC, 16))(first.even, second.even));
                CAT(DST, 16) odd = TO_DST16((CAT(SRC, 16))(first.odd, second.odd));
                EACH_BAND(ADD_WIDE)
            }
            EACH_BAND(STORE_WIDE)
            x += 16;
            continue;
        }
#endif
        int g = x / channels, c = x - g * channels, at = factor * g + base;
        EACH_BAND(CLEAR_SUM)
        if (x >= inner && x < inner_end) {
            for (int t = 0; t < n_taps; t++) {
                DST v = (DST)in[(at + t) * src_channels + c];
                EACH_BAND(ADD)
            }
        } else {
            for (int t = 0; t < n_taps; t++) {
                int i = FN(inside)(at + t, length, cyclic);
                DST v = i < 0 ? (DST)0 : (DST)in[max(i, 0) * src_channels + c];
                EACH_BAND(ADD)
            }
        }
        EACH_BAND(STORE)
        x++;
    }
}
#endif

#ifdef KERNEL_columns
/* Along columns: row y of the grid is computed from the rows under its taps. */
#define HAS(b)        bool has##b = y >= skip##b && y - skip##b < length##b;
#define OUT_ROW(b)    __global DST *out##b = ROW(dst##b, has##b ? y - skip##b : 0);
#define STORE(b)                                                                                   \
    if (has##b)                                                                                    \
        out##b[x] = a##b;
#define SUM_WIDE(b)   CAT(DST, 16) a##b = 0;
#define STORE_WIDE(b)                                                                              \
    if (has##b)                                                                                    \
        STORE16(out##b + x, a##b);

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), BAND_PLANES, BAND_PLACES, COMMON)
{
    int y = GRID_Y;
    int x = SPAN_BEGIN;
    if (y >= grid_y_end || x >= grid_width)
        return;
    int end = SPAN_END(x);
    int at = factor * y + base;
    __global const DST *taps = all_taps + taps_at;
    EACH_BAND(HAS)
    EACH_BAND(OUT_ROW)
#ifdef FORM_ROWS
    for (; x + 16 <= end; x += 16) {
        EACH_BAND(SUM_WIDE)
        for (int t = 0; t < n_taps; t++) {
            int i = FN(inside)(at + t, length, cyclic);
            if (i < 0)
                continue;
            CAT(DST, 16) v = TO_DST16(LOAD16(ROW(src, i) + x));
            EACH_BAND(ADD)
        }
        EACH_BAND(STORE_WIDE)
    }
#endif
    for (; x < end; x++) {
        EACH_BAND(CLEAR_SUM)
        for (int t = 0; t < n_taps; t++) {
            int i = FN(inside)(at + t, length, cyclic);
            DST v = i < 0 ? (DST)0 : (DST)ROW(src, max(i, 0))[x];
            EACH_BAND(ADD)
        }
        EACH_BAND(STORE)
    }
}
#endif
