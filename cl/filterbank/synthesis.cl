/* synthesis: adds what one or two bands (BANDS) contribute to a signal. Position factor·g + r gets the sum over t of
 * taps[r][t] times the band's sample g + base + t, as far as the band has these. With ADDS it is added to the sums of
 * earlier passes. Across the direction of the filters a band begins at position `move` and has `size` samples.
 *
 * Taps are a table, so all filter banks use the same program. SRC0 and SRC1 are the types of the bands, ACC (float or
 * double) that of sums, DST that of the result. */
#include <border.cl>
#include <round.cl>
#include "bank.cl"

#define BAND(b)                                                                                    \
    PLANE_IN(SRC##b, src##b), int base##b, int length##b, int move##b, int size##b
#if BANDS == 2
#define BANDS_IN     BAND(0), BAND(1)
#else
#define BANDS_IN     BAND(0)
#endif

/* With ADDS the sums may be in the same memory as the result, so there is no `restrict`. */
#ifdef ADDS
#define TARGET                                                                                     \
    __global DST *dst_base, int dst_offset, int dst_stride, __global const ACC *sum_base,          \
        int sum_offset, int sum_stride
#define BEGIN(x)   ROW(sum, y)[x]
#define BEGIN_WIDE(n, x) (*(__global const FN(sums##n) *)(ROW(sum, y) + (x)))
#define FOUR_SUMS(x, y) (*(__global const float4 *)(sum_base + (uint)(sum_offset + (y) * sum_stride + (x))))
#else
#define TARGET     PLANE_OUT(DST, dst)
#define BEGIN(x)   (ACC)0
#define BEGIN_WIDE(n, x) (CAT(ACC, n))0
#define FOUR_SUMS(x, y) (float4)0
#endif
#define COMMON                                                                                     \
    __global const ACC *restrict all_taps, int taps_at, int n_taps, int factor, int cyclic,        \
        int channels, int inner, int inner_end

/* Whether bands go on cyclically. Programs that serve both have it as an argument alone: a division costs Mali as much
 * as all taps. */
#ifndef CYCLIC
#define CYCLIC cyclic
#endif

/* The index of sample i of a band, which has it if that is within its length. */
#define WITHIN(i, length) (CYCLIC && ((i) < 0 || (i) >= (length)) ? modulo(i, length) : (i))

#ifndef ACC_IS_double
#define FINISH16(v) WIDE_SATURATE(DST, v)
#elif defined(DST_IS_double) || defined(DST_IS_float)
#define FINISH16(v) CAT3(convert_, DST, 16)(v)
#else
#define FINISH16(v) CAT3(convert_, DST, 16_sat_rte)(v)
#endif

#pragma form ROWS
#define BAND_TYPES(b)                                                                              \
    typedef CAT(SRC##b, 16) __attribute__((aligned(sizeof(SRC##b)))) FN(band##b##_16);             \
    typedef CAT(SRC##b, 4) __attribute__((aligned(sizeof(SRC##b)))) FN(band##b##_4);
EACH_BAND(BAND_TYPES)
typedef CAT(DST, 16) __attribute__((aligned(sizeof(DST)))) FN(results);
typedef CAT(ACC, 16) __attribute__((aligned(sizeof(ACC)))) FN(sums16);
typedef CAT(ACC, 4) __attribute__((aligned(sizeof(ACC)))) FN(sums4);
#define SEVERAL(b, n, p) CAT3(convert_, ACC, n)(*(__global const FN(band##b##_##n) *)(p))
#define STORE16(p, v) *(__global FN(results) *)(p) = (v)
#pragma form

/* ONE computes sample x in row y, from the bands that have samples beside the direction there. */
#define BESIDE    (ALONG_X ? y : x)
#define HAS(b)    (BESIDE >= move##b && BESIDE - move##b < size##b)
#define ADD(b)                                                                                     \
    if (HAS(b))                                                                                    \
        for (int t = 0; t < n_taps; t++) {                                                         \
            int i = WITHIN(g + base##b + t, length##b);                                            \
            if (i >= 0 && i < length##b)                                                           \
                a += taps[(b * FACTOR + r) * n_taps + t] *                                         \
                     (ACC)*PLACE(src##b, ALONG_X ? i * CHANNELS + c : x - move##b, ALONG_X ? y - move##b : i); \
        }
#define ONE                                                                                        \
    {                                                                                              \
        int o = ALONG_X ? x / CHANNELS : y, c = x - o * CHANNELS, g = o / FACTOR, r = o - g * FACTOR; \
        ACC a = BEGIN(x);                                                                          \
        EACH_BAND(ADD)                                                                             \
        ROW(dst, y)[x] = SATURATE_FROM(ACC, DST, a);                                               \
    }

#pragma kernel rows columns
/* The grid counts samples. At positions inner … inner_end - 1 of rows the bands have samples for all taps. */
#define AND_HAS(b)  && HAS(b)
#define AND_WIDE(b) && x >= move##b && x + 16 <= move##b + size##b
#define ADD_ALONG(b, n, g, step)                                                                   \
    for (int t = 0; t < n_taps; t++) {                                                             \
        CAT(ACC, n) v = SEVERAL(b, n, ROW(src##b, y - move##b) + ((g) + base##b + t) * (step));    \
        even += taps[2 * b * n_taps + t] * v;                                                      \
        odd += taps[(2 * b + 1) * n_taps + t] * v;                                                 \
    }
#define ADD_WIDE(b)  ADD_ALONG(b, 16, x >> 1, 1)
#define ADD_PIXEL(b) ADD_ALONG(b, 4, x / (2 * channels), channels)
#define PUT_SAMPLE(at, k, a) out[(at) + k] = SATURATE_FROM(ACC, DST, a.s##k);
#define PUT_PIXEL(at, a)                                                                           \
    PUT_SAMPLE(at, 0, a) PUT_SAMPLE(at, 1, a) PUT_SAMPLE(at, 2, a)                                 \
    if (channels == 4)                                                                             \
        PUT_SAMPLE(at, 3, a)
#define TAPS_DOWN(b) __global const ACC *taps##b = taps + (b * factor + phase) * n_taps;
#define ADD_DOWN(b)                                                                                \
    for (int t = 0; t < n_taps; t++) {                                                             \
        int i = WITHIN(group + base##b + t, length##b);                                            \
        if (i >= 0 && i < length##b)                                                               \
            a += taps##b[t] * SEVERAL(b, 16, ROW(src##b, i) + x - move##b);                        \
    }

__kernel void KERNEL(GRID, BANDS_IN, TARGET, COMMON)
{
    POSITION(x, y)
    __global const ACC *taps = all_taps + taps_at;
    int end = SPAN_END(x);
#pragma form ROWS
    int group = y / factor, phase = y - group * factor;
    EACH_BAND(TAPS_DOWN)
    int wide_end = ALONG_X && factor == 2 EACH_BAND(AND_HAS) ? min(end, inner_end) : 0;
#pragma form
    while (x < end) {
#pragma form ROWS
        __global DST *out = ROW(dst, y) + x;
        /* Along rows of one channel with factor 2: 32 positions from 16 samples of each band for every tap. */
        if (ALONG_X && channels == 1 && (x & 1) == 0 && x >= inner && x + 32 <= wide_end) {
            CAT(ACC, 16) even = 0, odd = 0, first, second;
            EACH_BAND(ADD_WIDE)
            first.even = even.lo;
            first.odd = odd.lo;
            second.even = even.hi;
            second.odd = odd.hi;
            first += BEGIN_WIDE(16, x);
            second += BEGIN_WIDE(16, x + 16);
            STORE16(out, FINISH16(first));
            STORE16(out + 16, FINISH16(second));
            x += 32;
            continue;
        }
        /* Two pixels of three or four channels, if the next one has its taps, too: of its samples is what is read behind. */
        if (ALONG_X && channels >= 3 && x >= inner && x + 3 * channels <= wide_end && x % (2 * channels) == 0) {
            CAT(ACC, 4) even = BEGIN_WIDE(4, x), odd = BEGIN_WIDE(4, x + channels);
            EACH_BAND(ADD_PIXEL)
            PUT_PIXEL(0, even)
            PUT_PIXEL(channels, odd)
            x += 2 * channels;
            continue;
        }
        if (!ALONG_X && x + 16 <= end EACH_BAND(AND_WIDE)) {
            CAT(ACC, 16) a = BEGIN_WIDE(16, x);
            EACH_BAND(ADD_DOWN)
            STORE16(out, FINISH16(a));
            x += 16;
            continue;
        }
#pragma form
        ONE
        x++;
    }
}

#pragma kernel rows_tile columns_tile
/* Tiles, on GPUs: all positions of the result that belong to POSITIONS samples of the bands, which are each loaded once.
 * TAPS: of each position in the step of FACTOR. What lies at the edges takes its taps from the table. */
#define SEEN (POSITIONS - 1 + TAPS) /* samples of a band */

#pragma kernel rows_tile
/* Along rows of one channel. */
#define READ ((SEEN + 3) / 4 * 4)
#define LOAD(b, k)                                                                                 \
    if (READ > 4 * k) {                                                                            \
        float4 w = as_float4(UNALIGNED_IN(uint, 4, from##b + 4 * k));                              \
        x##b[4 * k] = w.x, x##b[4 * k + 1] = w.y, x##b[4 * k + 2] = w.z, x##b[4 * k + 3] = w.w;    \
    }
#define ADD_TAP(b, i, t)                                                                           \
    if (TAPS > t && tap##b[i % FACTOR * TAPS + t & 15] != 0)                                         \
        z[i] = fma(tap##b[i % FACTOR * TAPS + t & 15], x##b[i / FACTOR + t], z[i]);
#define ADD_TO(b, i)                                                                               \
    if (POSITIONS * FACTOR > i) {                                                                  \
        ADD_TAP(b, i, 0) ADD_TAP(b, i, 1) ADD_TAP(b, i, 2) ADD_TAP(b, i, 3)                        \
        ADD_TAP(b, i, 4) ADD_TAP(b, i, 5) ADD_TAP(b, i, 6) ADD_TAP(b, i, 7)                        \
    }
#define ADD_BAND(b)                                                                                \
    TAKE_TAPS(b)                                                                                   \
    __global const SRC##b *from##b = src##b##_base + (uint)(src##b##_offset + (y - move##b) * src##b##_stride + g + base##b); \
    float x##b[32];                                                                                \
    LOAD(b, 0) LOAD(b, 1) LOAD(b, 2)                                                               \
    LIST_16(ADD_TO, b)
#define HAVE(b)                                                                                    \
    &&y >= move##b && y - move##b < size##b && g + base##b >= 0 && g + base##b + READ <= length##b
#define PUT(_, j)                                                                                  \
    if (POSITIONS * FACTOR > 4 * j)                                                                \
        *(__global CAT(DST, 4) *)(to + 4 * j) =                                                    \
            (CAT(DST, 4))(SATURATE(DST, z[4 * j]), SATURATE(DST, z[4 * j + 1]),                    \
                          SATURATE(DST, z[4 * j + 2]), SATURATE(DST, z[4 * j + 3]));
#define BEGIN_TILE(_, j)                                                                           \
    if (POSITIONS * FACTOR > 4 * j) {                                                              \
        float4 w = FOUR_SUMS(x + 4 * j, y);                                                        \
        z[4 * j] = w.x, z[4 * j + 1] = w.y, z[4 * j + 2] = w.z, z[4 * j + 3] = w.w;                \
    }

__kernel void KERNEL(GRID, BANDS_IN, TARGET, COMMON)
{
    POSITION(x, y)
    int g = x / FACTOR;
    if (x + POSITIONS * FACTOR <= grid_width EACH_BAND(HAVE)) {
        float z[16];
        BEGIN_TILE(_, 0) BEGIN_TILE(_, 1) BEGIN_TILE(_, 2) BEGIN_TILE(_, 3)
        EACH_BAND(ADD_BAND)
        __global DST *to = dst_base + (uint)(dst_offset + y * dst_stride + x);
        PUT(_, 0) PUT(_, 1) PUT(_, 2) PUT(_, 3)
        return;
    }
    __global const ACC *taps = all_taps + taps_at;
    for (int end = min(x + POSITIONS * FACTOR, grid_width); x < end; x++)
        ONE
}

#pragma kernel columns_tile
/* Along columns, four samples of a row together. The grid counts blocks of POSITIONS * FACTOR rows, of `height` in all. */
#define ADD_LINE(b, i, k)                                                                          \
    if (POSITIONS * FACTOR > i && k >= i / FACTOR && k - i / FACTOR < TAPS &&                      \
        tap##b[i % FACTOR * TAPS + k - i / FACTOR & 15] != 0)                                        \
        a##i = fma((float4)(tap##b[i % FACTOR * TAPS + k - i / FACTOR & 15]), v, a##i);
#define LINE(b, k)                                                                                 \
    if (SEEN > k) {                                                                                \
        float4 v = as_float4(UNALIGNED_IN(uint, 4, src##b##_base + at##b));                        \
        at##b += (uint)src##b##_stride;                                                            \
        ADD_LINE(b, 0, k) ADD_LINE(b, 1, k) ADD_LINE(b, 2, k) ADD_LINE(b, 3, k)                    \
        ADD_LINE(b, 4, k) ADD_LINE(b, 5, k) ADD_LINE(b, 6, k) ADD_LINE(b, 7, k)                    \
    }
#define ADD_BAND(b)                                                                                \
    TAKE_TAPS(b)                                                                                   \
    uint at##b = (uint)(src##b##_offset + (g + base##b) * src##b##_stride + x - move##b);          \
    LIST_16(LINE, b)
#define HAVE(b)                                                                                    \
    &&x >= move##b && x + 4 <= move##b + size##b && g + base##b >= 0 && g + base##b + SEEN <= length##b
#define BEGIN_LINE(i)                                                                              \
    float4 a##i = 0;                                                                               \
    if (POSITIONS * FACTOR > i)                                                                    \
        a##i = FOUR_SUMS(x, y + i);
#define PUT(i)                                                                                     \
    if (POSITIONS * FACTOR > i)                                                                    \
        *(__global float4 *)(dst_base + (uint)(dst_offset + (y + i) * dst_stride + x)) = a##i;

__kernel void KERNEL(GRID, BANDS_IN, TARGET, COMMON, int height)
{
    POSITION(x, block)
    int g = block * POSITIONS, y = g * FACTOR;
    if (x + 4 <= grid_width && y + POSITIONS * FACTOR <= height EACH_BAND(HAVE)) {
        BEGIN_LINE(0) BEGIN_LINE(1) BEGIN_LINE(2) BEGIN_LINE(3) BEGIN_LINE(4) BEGIN_LINE(5) BEGIN_LINE(6) BEGIN_LINE(7)
        EACH_BAND(ADD_BAND)
        PUT(0) PUT(1) PUT(2) PUT(3) PUT(4) PUT(5) PUT(6) PUT(7)
        return;
    }
    __global const ACC *taps = all_taps + taps_at;
    for (int from = x, end = min(x + 4, grid_width), y_end = min(y + POSITIONS * FACTOR, height); y < y_end; y++)
        for (x = from; x < end; x++)
            ONE
}
