/* analysis: computes one or two (BANDS) bands of a signal. At grid position g a band has the sum over t of taps[t]
 * times the sample at position factor·g + base + t. Two bands have their own taps, for the same samples. A band's first
 * sample is that of grid position `skip`, and it has `length` samples. The number of taps is even.
 *
 * Taps are a table, so all filter banks use the same program. SRC is the type of the signal's samples, DST (float or
 * double) that of bands and sums. */
#include <ends.cl>
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
        int length, int border

#pragma form ROWS
typedef CAT(SRC, 16) __attribute__((aligned(sizeof(SRC)))) FN(samples);
typedef CAT(DST, 16) __attribute__((aligned(sizeof(DST)))) FN(results);
#define LOAD16(p) (*(__global const FN(samples) *)(p))
#define STORE16(p, v) *(__global FN(results) *)(p) = (v)
#define TO_DST16(v) CAT3(convert_, DST, 16)(v)
#pragma form

/* The index of position i in the signal of n samples; -1: a zero. */
inline int FN(inside)(int i, int n, int border, int factor)
{
    if (border != PERIODIZATION || (i >= 0 && i < n))
        return border_index(i, n, border);
    return min(modulo(i, (n + factor - 1) / factor * factor), n - 1);
}

#define CLEAR_SUM(b)        DST a##b = 0;
#define ADD(b)        a##b += taps[b * n_taps + t] * v;

#pragma kernel rows
/* Along rows. The grid counts samples of pixels without alpha. The taps of positions inner … inner_end - 1 are all
 * within the signal. */
#define STORE_BAND(b)                                                                                   \
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
#pragma form ROWS
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
#pragma form
        int g = x / channels, c = x - g * channels, at = factor * g + base;
        EACH_BAND(CLEAR_SUM)
        if (x >= inner && x < inner_end) {
            for (int t = 0; t < n_taps; t++) {
                DST v = (DST)in[(at + t) * src_channels + c];
                EACH_BAND(ADD)
            }
        } else {
            for (int t = 0; t < n_taps; t++) {
                int i = FN(inside)(at + t, length, border, factor);
                DST v = i < 0 ? (DST)0 : (DST)in[max(i, 0) * src_channels + c];
                EACH_BAND(ADD)
            }
        }
        EACH_BAND(STORE_BAND)
        x++;
    }
}

#pragma kernel columns
/* Along columns: row y of the grid is computed from the rows under its taps. */
#define HAS(b)        bool has##b = y >= skip##b && y - skip##b < length##b;
#define OUT_ROW(b)    __global DST *out##b = ROW(dst##b, has##b ? y - skip##b : 0);
#define STORE_BAND(b)                                                                                   \
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
#pragma form ROWS
    for (; x + 16 <= end; x += 16) {
        EACH_BAND(SUM_WIDE)
        for (int t = 0; t < n_taps; t++) {
            int i = FN(inside)(at + t, length, border, factor);
            if (i < 0)
                continue;
            CAT(DST, 16) v = TO_DST16(LOAD16(ROW(src, i) + x));
            EACH_BAND(ADD)
        }
        EACH_BAND(STORE_WIDE)
    }
#pragma form
    for (; x < end; x++) {
        EACH_BAND(CLEAR_SUM)
        for (int t = 0; t < n_taps; t++) {
            int i = FN(inside)(at + t, length, border, factor);
            DST v = i < 0 ? (DST)0 : (DST)ROW(src, max(i, 0))[x];
            EACH_BAND(ADD)
        }
        EACH_BAND(STORE_BAND)
    }
}

#pragma kernel rows_tile columns_tile
/* Tiles, on GPUs: the bands' samples at four grid positions, from samples that are each loaded once. Factor and taps are
 * FACTOR and TAPS; samples at the source's edges take those of the table. */
#include "tile.cl"
#define SEEN      (3 * FACTOR + TAPS) /* samples under the taps of four positions */

#pragma kernel rows_tile
/* Along rows of one channel. OFFSET: how far behind a word's beginning a window begins, if words hold several samples. */
#if SRC_SIZE == 4
#define LOADED 4
#define TAKE_WORD(k, w) x[k] = as_float(w);
#elif SRC_SIZE == 2
#define LOADED 8
#define TAKE_WORD(k, w) x[2 * (k)] = (float)((w) & 0xffffu), x[2 * (k) + 1] = (float)((w) >> 16);
#else
#define LOADED 16
#define TAKE_WORD(k, w)                                                                            \
    x[4 * (k)] = byte_as_float(w, 0), x[4 * (k) + 1] = byte_as_float(w, 1),                        \
            x[4 * (k) + 2] = byte_as_float(w, 2), x[4 * (k) + 3] = byte_as_float(w, 3);
#endif
#define READ ((OFFSET + SEEN + LOADED - 1) / LOADED * LOADED)
#define LOAD(_, k)                                                                                 \
    if (READ > k * LOADED) {                                                                       \
        uint4 w = UNALIGNED_IN(uint, 4, from + k * LOADED);                                        \
        TAKE_WORD(4 * k, w.x) TAKE_WORD(4 * k + 1, w.y) TAKE_WORD(4 * k + 2, w.z) TAKE_WORD(4 * k + 3, w.w) \
    }
#define AT(p, t) x[OFFSET + p * FACTOR + t]
#define ADD_FOUR(b, t)                                                                             \
    if (TAPS > t && tap##b[t] != 0)                                                                  \
        a##b = fma((float4)(tap##b[t]), (float4)(AT(0, t), AT(1, t), AT(2, t), AT(3, t)), a##b);
#define SUM_FOUR(b)                                                                                \
    TAKE_TAPS(b)                                                                                   \
    float4 a##b = 0;                                                                               \
    LIST_16(ADD_FOUR, b)                                                                           \
    UNALIGNED_OUT(uint, 4, dst##b##_base + (uint)(dst##b##_offset + y * dst##b##_stride + g - skip##b)) = \
        as_uint4(a##b);
#define STORE_ONE(b)                                                                               \
    if (g >= skip##b && g - skip##b < length##b)                                                   \
        ROW(dst##b, y)[g - skip##b] = a##b;

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), BAND_PLANES, BAND_PLACES, COMMON, int inner, int inner_end)
{
    int y = GRID_Y, g = SPAN_BEGIN, begin = FACTOR * g + base - OFFSET;
    if (y >= grid_y_end || g >= grid_width)
        return;
    if (g >= inner && g + 4 <= inner_end && begin >= 0 && begin + READ <= length) {
        __global const SRC *from = src_base + (uint)(src_offset + y * src_stride + begin);
        float x[8 * LOADED];
        LIST_8(LOAD, _)
        EACH_BAND(SUM_FOUR)
        return;
    }
    __global const SRC *in = ROW(src, y);
    __global const DST *taps = all_taps + taps_at;
    for (int end = min(g + 4, grid_width); g < end; g++) {
        EACH_BAND(CLEAR_SUM)
        for (int t = 0; t < n_taps; t++) {
            int i = FN(inside)(factor * g + base + t, length, border, factor);
            DST v = i < 0 ? (DST)0 : (DST)in[max(i, 0)];
            EACH_BAND(ADD)
        }
        EACH_BAND(STORE_ONE)
    }
}

#pragma kernel columns_tile
/* Along columns, four samples of a row together. The grid counts blocks of four rows of the bands. */
#define ADD_ROW(b, p, k)                                                                           \
    if (k >= p * FACTOR && k - p * FACTOR < TAPS && tap##b[k - p * FACTOR & 15] != 0)                \
        a##b##p = fma((float4)(tap##b[k - p * FACTOR & 15]), v, a##b##p);
#if BANDS == 2
#define ADD_ROWS(p, k) ADD_ROW(0, p, k) ADD_ROW(1, p, k)
#define ALL_HAVE       HAVE(0) && HAVE(1)
#else
#define ADD_ROWS(p, k) ADD_ROW(0, p, k)
#define ALL_HAVE       HAVE(0)
#endif
#define LINE(_, k)                                                                                 \
    if (SEEN > k) {                                                                                \
        float4 v = *(__global const float4 *)(src_base + at);                                      \
        at += (uint)src_stride;                                                                    \
        ADD_ROWS(0, k) ADD_ROWS(1, k) ADD_ROWS(2, k) ADD_ROWS(3, k)                                \
    }
#define BEGIN_FOUR(b) TAKE_TAPS(b) float4 a##b##0 = 0, a##b##1 = 0, a##b##2 = 0, a##b##3 = 0;
#define PUT_ROW(b, p) *(__global float4 *)(dst##b##_base + to##b) = a##b##p, to##b += (uint)dst##b##_stride;
#define PUT_FOUR(b)                                                                                \
    uint to##b = (uint)(dst##b##_offset + (y - skip##b) * dst##b##_stride + x);                    \
    PUT_ROW(b, 0) PUT_ROW(b, 1) PUT_ROW(b, 2) PUT_ROW(b, 3)
#define HAVE(b) (y >= skip##b && y + 4 - skip##b <= length##b)
#define STORE_ONE(b)                                                                               \
    if (y >= skip##b && y - skip##b < length##b)                                                   \
        ROW(dst##b, y - skip##b)[i] = a##b;

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), BAND_PLANES, BAND_PLACES, COMMON)
{
    int y = 4 * GRID_Y, x = SPAN_BEGIN, begin = FACTOR * y + base;
    if (GRID_Y >= grid_y_end || x >= grid_width)
        return;
    if (x + 4 <= grid_width && begin >= 0 && begin + SEEN <= length && ALL_HAVE) {
        uint at = (uint)(src_offset + begin * src_stride + x);
        EACH_BAND(BEGIN_FOUR)
        LIST_28(LINE, _)
        EACH_BAND(PUT_FOUR)
        return;
    }
    __global const DST *taps = all_taps + taps_at;
    for (int y_end = y + 4; y < y_end; y++)
        for (int i = x; i < min(x + 4, grid_width); i++) {
            EACH_BAND(CLEAR_SUM)
            for (int t = 0; t < n_taps; t++) {
                int row = FN(inside)(factor * y + base + t, length, border, factor);
                DST v = row < 0 ? (DST)0 : ROW(src, max(row, 0))[i];
                EACH_BAND(ADD)
            }
            EACH_BAND(STORE_ONE)
        }
}
