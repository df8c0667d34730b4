/* analysis: computes one or two (BANDS) bands of a signal. At grid position g a band has the sum over t of taps[t]
 * times the sample at position factor·g + base + t. Two bands have their own taps, for the same samples. A band's first
 * sample is that of grid position `skip`, and it has `length` samples. The number of taps is even.
 *
 * Taps are a table, so all filter banks use the same program. SRC is the type of the signal's samples, DST (float or
 * double) that of bands and sums. */
#include <ends.cl>
#include "bank.cl"

#if BANDS == 2
#define BAND_PLANES  PLANE_OUT(DST, dst0), PLANE_OUT(DST, dst1)
#define BAND_PLACES  int skip0, int length0, int skip1, int length1
#else
#define BAND_PLANES  PLANE_OUT(DST, dst0)
#define BAND_PLACES  int skip0, int length0
#endif
#define COMMON                                                                                     \
    __global const DST *restrict all_taps, int taps_at, int n_taps, int factor, int base,          \
        int length, int border, int src_channels, int channels, int inner, int inner_end

#pragma form ROWS
typedef CAT(SRC, 16) __attribute__((aligned(sizeof(SRC)))) FN(samples16);
typedef CAT(DST, 16) __attribute__((aligned(sizeof(DST)))) FN(results16);
typedef CAT(SRC, 4) __attribute__((aligned(sizeof(SRC)))) FN(samples4);
typedef CAT(DST, 4) __attribute__((aligned(sizeof(DST)))) FN(results4);
#define SEVERAL(n, p)  (*(__global const FN(samples##n) *)(p))
#define STORE(n, p, v) *(__global FN(results##n) *)(p) = (v)
#define TO_DST(n, v)   CAT3(convert_, DST, n)(v)
#pragma form

/* The index of position i in the signal of n samples; -1: a zero. */
inline int FN(index)(int i, int n, int border, int factor)
{
    if (border != PERIODIZATION || (i >= 0 && i < n))
        return border_index(i, n, border);
    return min(modulo(i, (n + factor - 1) / factor * factor), n - 1);
}

/* ONE computes sample x in row y, at grid position n along the direction. The taps of samples inner … inner_end - 1 of rows
 * are all within the signal. */
#define CLEAR_SUM(b) DST a##b = 0;
#define ADD(b)       a##b += taps[b * n_taps + t] * v;
#define HAS(b)       (n >= skip##b && n - skip##b < length##b)
#define TARGET(b)    PLACE(dst##b, ALONG_X ? x - skip##b * CHANNELS : x, ALONG_X ? y : n - skip##b)
#define SAMPLE(i)    (DST)in[(i) * (ALONG_X ? SRC_CHANNELS : src_stride)]
#define STORE_ONE(b)                                                                               \
    if (HAS(b))                                                                                    \
        *TARGET(b) = a##b;
#define ONE                                                                                        \
    {                                                                                              \
        int at = FACTOR * n + base;                                                                \
        __global const SRC *in = PLACE(src, ALONG_X ? x - n * CHANNELS : x, ALONG_X ? y : 0);      \
        EACH_BAND(CLEAR_SUM)                                                                       \
        if (ALONG_X && x >= inner && x < inner_end) {                                              \
            for (int t = 0; t < n_taps; t++) {                                                     \
                DST v = SAMPLE(at + t);                                                            \
                EACH_BAND(ADD)                                                                     \
            }                                                                                      \
        } else {                                                                                   \
            for (int t = 0; t < n_taps; t++) {                                                     \
                int i = FN(index)(at + t, length, border, FACTOR);                                 \
                DST v = i < 0 ? (DST)0 : SAMPLE(max(i, 0));                                        \
                EACH_BAND(ADD)                                                                     \
            }                                                                                      \
        }                                                                                          \
        EACH_BAND(STORE_ONE)                                                                       \
    }

#pragma kernel rows columns
/* The grid counts samples of the bands' rows, and rows. */
#define SUM_WIDE(b)   CAT(DST, 16) a##b = 0;
#define SUM_PIXEL(b)  CAT(DST, 4) a##b = 0;
#define ADD_WIDE(b)   a##b += taps[b * n_taps + t] * even; a##b += taps[b * n_taps + t + 1] * odd;
/* Both bands have the positions between inner and inner_end of a row. */
#define STORE_WIDE(b)                                                                              \
    if (ALONG_X || HAS(b))                                                                         \
        STORE(16, ALONG_X ? PLACE(dst##b, x - skip##b, y) : TARGET(b), a##b);
#define STORE_PIXEL(b) STORE(4, PLACE(dst##b, x - skip##b * channels, y), a##b);

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), BAND_PLANES, BAND_PLACES, COMMON)
{
    POSITION(x, y)
    __global const DST *taps = all_taps + taps_at;
    for (int end = SPAN_END(x); x < end;) {
        int n = ALONG_X ? x / channels : y;
#pragma form ROWS
        /* Along rows of one channel with factor 2: 16 positions from 32 samples; even samples are multiplied by one tap,
         * odd ones by the next. */
        if (ALONG_X && factor == 2 && src_channels == 1 && x >= inner && x + 16 <= min(end, inner_end)) {
            EACH_BAND(SUM_WIDE)
            for (int t = 0; t < n_taps; t += 2) {
                __global const SRC *from = ROW(src, y) + 2 * x + base + t;
                CAT(SRC, 16) first = SEVERAL(16, from), second = SEVERAL(16, from + 16);
                CAT(DST, 16) even = TO_DST(16, (CAT(SRC, 16))(first.even, second.even));
                CAT(DST, 16) odd = TO_DST(16, (CAT(SRC, 16))(first.odd, second.odd));
                EACH_BAND(ADD_WIDE)
            }
            EACH_BAND(STORE_WIDE)
            x += 16;
            continue;
        }
        /* A pixel of three or four channels, if the next one is among these, too: of it is what is read and written
         * behind this one. */
        if (ALONG_X && channels >= 3 && x == n * channels && x >= inner && x + 2 * channels <= min(end, inner_end)) {
            EACH_BAND(SUM_PIXEL)
            for (int t = 0; t < n_taps; t++) {
                CAT(DST, 4) v = TO_DST(4, SEVERAL(4, PLACE(src, (factor * n + base + t) * src_channels, y)));
                EACH_BAND(ADD)
            }
            EACH_BAND(STORE_PIXEL)
            x += channels;
            continue;
        }
        if (!ALONG_X && x + 16 <= end) {
            EACH_BAND(SUM_WIDE)
            for (int t = 0; t < n_taps; t++) {
                int i = FN(index)(factor * n + base + t, length, border, factor);
                if (i < 0)
                    continue;
                CAT(DST, 16) v = TO_DST(16, SEVERAL(16, ROW(src, i) + x));
                EACH_BAND(ADD)
            }
            EACH_BAND(STORE_WIDE)
            x += 16;
            continue;
        }
#pragma form
        ONE
        x++;
    }
}

#pragma kernel rows_tile columns_tile
/* Tiles, on GPUs: the bands' samples at four grid positions, from samples that are each loaded once. Factor and taps are
 * FACTOR and TAPS; samples at the source's edges take those of the table. */
#define SEEN      (3 * FACTOR + TAPS) /* samples under the taps of four positions */

#pragma kernel rows_tile
/* Along rows of one channel. OFFSET: how far behind a word's beginning a window begins, if words hold several samples. */
#if SRC_SIZE == 4
#define TAKE_WORD(k, w) x[k] = as_float(w);
#elif SRC_SIZE == 2
#define TAKE_WORD(k, w) x[2 * (k)] = (float)((w) & 0xffffu), x[2 * (k) + 1] = (float)((w) >> 16);
#else
#define TAKE_WORD(k, w)                                                                            \
    x[4 * (k)] = byte_as_float(w, 0), x[4 * (k) + 1] = byte_as_float(w, 1),                        \
            x[4 * (k) + 2] = byte_as_float(w, 2), x[4 * (k) + 3] = byte_as_float(w, 3);
#endif
#define LOADED (16 / SRC_SIZE) /* samples at once */
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

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), BAND_PLANES, BAND_PLACES, COMMON)
{
    POSITION(g, y)
    int begin = FACTOR * g + base - OFFSET;
    if (g >= inner && g + 4 <= inner_end && begin >= 0 && begin + READ <= length) {
        __global const SRC *from = src_base + (uint)(src_offset + y * src_stride + begin);
        float x[8 * LOADED];
        LIST_8(LOAD, _)
        EACH_BAND(SUM_FOUR)
        return;
    }
    __global const DST *taps = all_taps + taps_at;
    for (int x = g, n = g, end = min(g + 4, grid_width); x < end; x++, n++)
        ONE
}

#pragma kernel columns_tile
/* Along columns, four samples of a row together. The grid counts blocks of four rows of the bands. */
#define ADD_ROW(b, p, k)                                                                           \
    if (k >= p * FACTOR && k - p * FACTOR < TAPS && tap##b[k - p * FACTOR & 15] != 0)                \
        a##b##p = fma((float4)(tap##b[k - p * FACTOR & 15]), v, a##b##p);
#if BANDS == 2
#define ADD_ROWS(p, k) ADD_ROW(0, p, k) ADD_ROW(1, p, k)
#else
#define ADD_ROWS(p, k) ADD_ROW(0, p, k)
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
#define HAVE(b) &&(y >= skip##b && y + 4 - skip##b <= length##b)

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), BAND_PLANES, BAND_PLACES, COMMON)
{
    POSITION(x, block)
    int y = 4 * block, begin = FACTOR * y + base;
    if (x + 4 <= grid_width && begin >= 0 && begin + SEEN <= length EACH_BAND(HAVE)) {
        uint at = (uint)(src_offset + begin * src_stride + x);
        EACH_BAND(BEGIN_FOUR)
        LIST_28(LINE, _)
        EACH_BAND(PUT_FOUR)
        return;
    }
    __global const DST *taps = all_taps + taps_at;
    for (int end = min(x + 4, grid_width); x < end; x++)
        for (int n = y; n < y + 4; n++)
            ONE
}
