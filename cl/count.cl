/* Counts a plane's samples by value (src/stage/count.c), for otsu, equalize, normalize and clahe; cl/bins.cl says where.
 *
 * A plane is cut into tiles, each of which has counts of its own, and tiles into bands of rows. Band b of a tile is
 * counted in part b % parts of its counts: in rows form by one work-item; else by one for each column, to which others
 * add, or by a work-group of ITEMS in local memory. A plane that is counted as a whole is one tile. If there are more
 * (TILED), they may reach beyond the plane, which is reflected there.
 *
 * Positions in x are samples, or pixels of PIXEL samples: their luma, or the first of two. ALPHA: of so many samples the
 * last one does not count. */
#include <border.cl>
#include <luma.cl>
#include <memory.cl>
#include "bins.cl"
#if defined(SRC_IS_uchar) || defined(SRC_IS_char)
#define IN_BYTES
#define UNIT uchar /* bytes are counted as they are, and change places at the end */
#else
#define UNIT SRC
#endif
#if PIXEL > 2
#define TONE_AT(in, x)                                                                                  \
    (int)(((in)[(x) * PIXEL] * 19595u + (in)[(x) * PIXEL + 1] * 38470u + (in)[(x) * PIXEL + 2] * 7471u + 32768u) >> 16)
#else
#define TONE_AT(in, x) (in)[(x) * PIXEL]
#endif
#define ALL_COUNT (PIXEL == 1 && !ALPHA) /* every sample of a row */
#ifdef LEVEL_MIN
#define BIN_OF(v)  ((int)(v) - LEVEL_MIN)
#define COUNTED_AT(i) ((i) ^ -LEVEL_MIN) /* where bytes of place i were counted */
#else
#define BIN_OF(v)   FN(bin)(bins, v)
#define COUNTED_AT(i) (i)
#endif
#ifdef TILED
#define LINE_AT(y)   (__global const UNIT *)ROW(src, border_index(y, height, BORDER_REFLECT))
#define COLUMN_AT(x) border_index(x, width, BORDER_REFLECT)
#else
#define LINE_AT(y)   (__global const UNIT *)ROW(src, y)
#define COLUMN_AT(x) (x)
#endif

#define PARAMETERS                                                                                 \
    __global int *restrict state, PLANE_IN(SRC, src), int counts_at, int apart, int parts,         \
        int width, int height, int across, int tile_width, int tile_height, int rows, int bands

#if defined(KERNEL_clear)
__kernel void KERNEL(GRID, __global int *restrict state, int counts_at, int apart)
{
    POSITION(begin, part)
    int end = SPAN_END(begin);
    for (int x = part == 0 ? begin : max(begin, counts_at); x < end; x++)
        state[part * apart + x] = 0;
    if (part > 0 || counts_at == 0)
        return;
    if (begin <= FOUND_LEAST && end > FOUND_LEAST)
        state[FOUND_LEAST] = INT_MAX;
    if (begin <= FOUND_MOST && end > FOUND_MOST)
        state[FOUND_MOST] = INT_MIN;
}
#elif defined(KERNEL_range)
/* The least key and the greatest one. */
__kernel void KERNEL(GRID, PARAMETERS)
{
    POSITION(begin, band)
    int least = INT_MAX, most = INT_MIN, end = begin + 1;
#ifdef FORM_ROWS
    end = width;
#endif
    for (int y = band * rows; y < min(band * rows + rows, height); y++) {
        __global const UNIT *in = LINE_AT(y);
        for (int x = begin; x < end; x++) {
            SRC v = TONE_AT(in, x);
            bool counts = !IS_ALPHA(ALPHA, x) && COUNTS(v);
            int key = FN(key)(v);
            least = min(least, counts ? key : INT_MAX);
            most = max(most, counts ? key : INT_MIN);
        }
    }
    if (least <= most) {
        atomic_min(state + FOUND_LEAST, least);
        atomic_max(state + FOUND_MOST, most);
    }
}
#elif defined(KERNEL_count)
#if defined(FORM_ROWS)
/* Rows of a tile are in pages of their own, where a processor's own fetching begins anew: they are fetched so many rows
 * ahead. */
#define AHEAD 4
#if defined(IN_BYTES) && ALL_COUNT && defined(PAIRS_FROM)
#define IN_PAIRS
#endif
/* 256 bins are counted in four parts, whose stores do not wait for each other, or bytes in pairs. */
#ifdef IN_BYTES
#define COUNT(x, v) own[((x) & 3) * 256 + (v)]++;
#elif BINS == 256
#define COUNT(x, v)                                                                                \
    {                                                                                              \
        SRC sample = v;                                                                            \
        if (COUNTS(sample))                                                                        \
            own[((x) & 3) * 256 + BIN_OF(sample)]++;                                                \
    }
#else
#define COUNT(x, v)                                                                                \
    {                                                                                              \
        SRC sample = v;                                                                            \
        if (COUNTS(sample))                                                                        \
            counts[BIN_OF(sample)]++;                                                               \
    }
#endif
__kernel void KERNEL(GRID, PARAMETERS)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    int tile = GRID_Y / bands, band = GRID_Y % bands;
    int begin = tile % across * tile_width, end = begin + tile_width, inside = clamp(width, begin, end);
    int top = tile / across * tile_height, first = top + band * rows, last = min(first + rows, top + tile_height);
    __global int *counts = state + counts_at + (tile * parts + band % parts) * apart;
#ifndef LEVEL_MIN
    if (state[FOUND_LEAST] > state[FOUND_MOST])
        return;
    struct FN(bins) bins = FN(bins_of)(state[FOUND_LEAST], state[FOUND_MOST]);
#endif
#if BINS == 256
    int own[4 * 256];
    for (int i = 0; i < 4 * 256; i++)
        own[i] = 0;
#endif
#ifdef IN_PAIRS
    struct pair_counts pairs;
    bool in_pairs = (last - first) * tile_width >= PAIRS_FROM;
    if (in_pairs)
        pairs_begin(&pairs);
#endif
    for (int y = first; y < last; y++) {
        __global const UNIT *in = LINE_AT(y);
        int x = begin;
#if defined(IN_BYTES) && ALL_COUNT
        int whole = begin + ((inside - begin) & ~7);
#endif
#ifdef IN_PAIRS
        if (in_pairs) {
            pairs_count(&pairs, in + x, whole - x, AHEAD * src_stride, own);
            x = whole;
        }
#endif
        for (int i = x * PIXEL; i < inside * PIXEL; i += 64 / (int)sizeof(SRC))
            FETCH_AHEAD(ROW(src, min(y + AHEAD, height - 1)) + i);
#if defined(IN_BYTES) && ALL_COUNT
        for (; x < whole; x += 8) {
            uchar8 v = vload8(0, in + x);
            COUNT(0, v.s0) COUNT(1, v.s1) COUNT(2, v.s2) COUNT(3, v.s3)
            COUNT(0, v.s4) COUNT(1, v.s5) COUNT(2, v.s6) COUNT(3, v.s7)
        }
#endif
        for (; x < inside; x++)
            if (!IS_ALPHA(ALPHA, x))
                COUNT(x, TONE_AT(in, x))
#ifdef TILED
        for (; x < end; x++)
            COUNT(x, TONE_AT(in, COLUMN_AT(x)))
#endif
    }
#ifdef IN_PAIRS
    if (in_pairs)
        pairs_add(&pairs, own);
#endif
#if BINS == 256
    for (int i = 0; i < 256; i++)
        counts[i] += own[COUNTED_AT(i)] + own[256 + COUNTED_AT(i)] + own[512 + COUNTED_AT(i)] + own[768 + COUNTED_AT(i)];
#endif
}
#else
/* A column of a band by each work-item, or SPAN = 16 of bytes: of a plane, or, if it is TILED, what a tile has of such
 * columns, for which it has so many work-items as it may need. Runs of one value are added at once: in a plain region all
 * work-items meet in a few bins. */
#define COUNT(where)                                                                               \
    {                                                                                              \
        int p = where;                                                                             \
        if (p != place && run > 0) {                                                               \
            atomic_add(counts + place, run);                                                       \
            run = 0;                                                                               \
        }                                                                                          \
        place = p, run++;                                                                          \
    }
#if SPAN == 16
#define COUNT_FOUR(v) COUNT((v).s0) COUNT((v).s1) COUNT((v).s2) COUNT((v).s3)
#if PIXEL == 3
#define SHARES 19595 * 0x1p-16f, 38470 * 0x1p-16f, 7471 * 0x1p-16f
inline int16 FN(tones)(__global const uint4 *at)
{
    uint4 v = at[0], w = at[1], u = at[2];
    return (int16)(convert_int4(lumas_of_rgb(v.s0, v.s1, v.s2, SHARES)), convert_int4(lumas_of_rgb(v.s3, w.s0, w.s1, SHARES)),
                   convert_int4(lumas_of_rgb(w.s2, w.s3, u.s0, SHARES)), convert_int4(lumas_of_rgb(u.s1, u.s2, u.s3, SHARES)));
}
#elif PIXEL == 4
#define SHARES 19595 * 0x1p-16f, 38470 * 0x1p-16f, 7471 * 0x1p-16f
inline int16 FN(tones)(__global const uint4 *at)
{
    return (int16)(convert_int4(lumas_of_rgba(at[0], SHARES)), convert_int4(lumas_of_rgba(at[1], SHARES)),
                   convert_int4(lumas_of_rgba(at[2], SHARES)), convert_int4(lumas_of_rgba(at[3], SHARES)));
}
#else
inline int4 FN(bytes)(uint w)
{
    return (int4)((int)(w & 255u), (int)(w >> 8 & 255u), (int)(w >> 16 & 255u), (int)(w >> 24));
}

inline int16 FN(tones)(__global const uint4 *at)
{
    uint4 v = *at ^ (LEVEL_MIN == 0 ? 0u : 0x80808080u);
    return (int16)(FN(bytes)(v.s0), FN(bytes)(v.s1), FN(bytes)(v.s2), FN(bytes)(v.s3));
}
#endif
#endif

__kernel void KERNEL(GRID, PARAMETERS)
{
    int band = GRID_Y;
    int x = SPAN_BEGIN;
    if (band >= grid_y_end || x >= grid_width || IS_ALPHA(ALPHA, x))
        return;
#ifndef LEVEL_MIN
    int least = state[FOUND_LEAST], most = state[FOUND_MOST];
    if (least > most)
        return;
    struct FN(bins) bins = FN(bins_of)(least, most);
#endif
#ifdef TILED
    int tile_y = band / bands, top = tile_y * tile_height, first = top + band % bands * rows;
    int last = min(first + rows, top + tile_height);
#if SPAN == 16
    int each = tile_width / 16 + 2, tile_x = x / 16 / each, left = tile_x * tile_width;
    x = (left / 16 + x / 16 % each) * 16;
    int begin = max(x, left), end = min(x + 16, left + tile_width);
#else
    int tile_x = x / tile_width;
    x = COLUMN_AT(x);
#endif
    __global int *counts = state + counts_at + (tile_y * across + tile_x) * apart;
#else
    int first = band * rows, last = min(first + rows, height), begin = x, end = min(x + 16, width);
    __global int *counts = state + counts_at + band % parts * apart;
#endif
    int place = 0, run = 0;
    for (int y = first; y < last; y++) {
        __global const UNIT *in = LINE_AT(y);
#if SPAN == 16
        if (end - begin == 16 && end <= width) {
            int16 v = FN(tones)((__global const uint4 *)(in + x * PIXEL));
            COUNT_FOUR(v.s0123) COUNT_FOUR(v.s4567) COUNT_FOUR(v.s89ab) COUNT_FOUR(v.scdef)
        } else {
            for (int i = begin; i < end; i++)
                COUNT(COUNTED_AT(TONE_AT(in, COLUMN_AT(i))))
        }
#else
        SRC v = TONE_AT(in, x);
        if (COUNTS(v))
            COUNT(BIN_OF(v))
#endif
    }
    if (run > 0)
        atomic_add(counts + place, run);
}
#endif
#elif defined(KERNEL_tally)
/* Bytes on GPUs with local memory: a work-group counts a band there, each 32 of its work-items, which most likely run
 * side by side, by themselves. Of samples that all count a work-item takes 16 at once, and adds four that are alike at
 * once. */
#define COPIES (ITEMS / 32)
#if ALL_COUNT && ALIGNED
#define CHUNK 16
#else
#define CHUNK 1
#endif
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void KERNEL(GRID, PARAMETERS)
{
    __local int counts[COPIES * 256];
    int item = (int)get_local_id(0), tile_x = (int)get_group_id(0), tile_y = GRID_Y / bands, band = GRID_Y % bands;
    __local int *own = counts + item / 32 * 256;
    for (int i = item; i < COPIES * 256; i += ITEMS)
        counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int top = tile_y * tile_height + band * rows;
    rows = min(rows, (tile_y + 1) * tile_height - top);
#ifdef TILED
    int begin = tile_x * tile_width, end = begin + tile_width, lanes = ITEMS; /* items side by side */
    while (lanes / 2 >= (end + CHUNK - 1) / CHUNK - begin / CHUNK)
        lanes /= 2;
#else
    const int begin = tile_x * 16 * ITEMS, end = min(begin + 16 * ITEMS, width), lanes = ITEMS;
    tile_x = 0;
#endif
    int down = lanes < ITEMS ? item / lanes : 0, along = lanes < ITEMS ? item % lanes : item;
    for (int y = top + down; y < top + rows; y += ITEMS / lanes) {
        __global const UNIT *in = LINE_AT(y);
#if CHUNK == 1
        for (int x = begin + along; x < end; x += lanes)
            if (!IS_ALPHA(ALPHA, x))
                atomic_inc(own + TONE_AT(in, COLUMN_AT(x)));
#else
        for (int x = (begin / CHUNK + along) * CHUNK; x < end; x += lanes * CHUNK) {
            if (x < begin || x + CHUNK > min(end, width)) {
                for (int k = max(x, begin); k < min(x + CHUNK, end); k++)
                    atomic_inc(own + TONE_AT(in, COLUMN_AT(k)));
                continue;
            }
            uint4 v = *(__global const uint4 *)(in + x);
            for (int k = 0; k < 4; k++, v = v.s1233) {
                if (v.x == (v.x & 255u) * 0x01010101u) {
                    atomic_add(own + (v.x & 255u), 4);
                    continue;
                }
                atomic_inc(own + (v.x & 255u));
                atomic_inc(own + (v.x >> 8 & 255u));
                atomic_inc(own + (v.x >> 16 & 255u));
                atomic_inc(own + (v.x >> 24));
            }
        }
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    state += counts_at + ((tile_y * across + tile_x) * parts + band % parts) * apart;
    for (int i = item; i < 256; i += ITEMS) {
        int sum = 0;
        for (int c = 0; c < COPIES; c++)
            sum += counts[c * 256 + COUNTED_AT(i)];
#ifdef TILED
        state[i] = sum; /* each band has a part of its own */
#else
        if (sum > 0)
            atomic_add(state + i, sum);
#endif
    }
}
#elif defined(KERNEL_merge)
/* Adds up all parts in the first one, and its bins in sums of 256. SPAN bins by each work-item. */
__kernel void KERNEL(GRID, __global int *restrict state, int parts)
{
    int begin = SPAN_BEGIN, all = 0, counts[SPAN];
    IN_GRID(begin, GRID_Y)
    for (int i = 0; i < SPAN; i++)
        counts[i] = 0;
    for (int p = 0; p < parts; p++)
        for (int i = 0; i < SPAN; i++)
            counts[i] += state[COUNTS_AT + p * BINS + begin + i];
    for (int i = 0; i < SPAN; i++) {
        state[COUNTS_AT + begin + i] = counts[i];
        all += counts[i];
    }
    if (all > 0)
        atomic_add(state + SUMS_AT + begin / 256, all);
}
#endif
