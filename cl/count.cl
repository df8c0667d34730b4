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
#define IN_BYTES (sizeof(SRC) == 1) /* they are counted as they are, as UNIT, and change places at the end */
#define TONE_AT(in, x)                                                                             \
    (PIXEL > 2 ? (int)(((uint)(in)[(x) * PIXEL] * 19595u + (uint)(in)[(x) * PIXEL + 1] * 38470u +  \
                        (uint)(in)[(x) * PIXEL + 2] * 7471u + 32768u) >> 16)                       \
               : (in)[(x) * PIXEL])
#define ALL_COUNT (PIXEL == 1 && !ALPHA) /* every sample of a row */
#define BIN_OF(v)  (LEVELS ? (int)(v) - LEVEL_MIN : FN(bin)(bins, v))
#define COUNTED_AT(i) ((i) ^ -LEVEL_MIN) /* where bytes of place i were counted */
#define LINE_AT(y)   (__global const UNIT *)ROW(src, TILED ? border_index(y, height, BORDER_REFLECT) : (y))
#define COLUMN_AT(x) (TILED ? border_index(x, width, BORDER_REFLECT) : (x))
/* Kernels that count end here if there is nothing to count. */
#define BINS_BETWEEN(least, most)                                                                  \
    struct FN(bins) bins = {0};                                                                    \
    if (!LEVELS) {                                                                                 \
        if ((least) > (most))                                                                      \
            return;                                                                                \
        bins = FN(bins_of)(least, most);                                                           \
    }

#define PARAMETERS                                                                                 \
    __global int *restrict state, PLANE_IN(SRC, src), int counts_at, int apart, int parts,         \
        int width, int height, int across, int tile_width, int tile_height, int rows, int bands

#pragma kernel clear
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
#pragma kernel range
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
#pragma kernel count
#if defined(FORM_ROWS)
/* Rows of a tile are in pages of their own, where a processor's own fetching begins anew: they are fetched so many rows
 * ahead. */
#define AHEAD 4
/* 256 bins are counted in four parts, whose stores do not wait for each other, or bytes in pairs. */
#define COUNT(x, v)                                                                                \
    {                                                                                              \
        UNIT sample = v;                                                                           \
        if (IN_BYTES)                                                                              \
            own[((x) & 3) * 256 + (int)sample]++;                                                  \
        else if (COUNTS(sample) && BINS == 256)                                                    \
            own[((x) & 3) * 256 + BIN_OF(sample)]++;                                               \
        else if (COUNTS(sample))                                                                   \
            counts[BIN_OF(sample)]++;                                                              \
    }
#if defined(PAIRS_FROM) && (defined(SRC_IS_uchar) || defined(SRC_IS_char)) && PIXEL == 1 && !ALPHA
#define PAIRS_BEGIN                                                                                \
    struct pair_counts pairs;                                                                      \
    bool in_pairs = (last - first) * tile_width >= PAIRS_FROM;                                     \
    if (in_pairs)                                                                                  \
        pairs_begin(&pairs);
#define PAIRS_COUNT                                                                                \
    if (in_pairs) {                                                                                \
        pairs_count(&pairs, in + x, whole - x, AHEAD * src_stride, own);                           \
        x = whole;                                                                                 \
    }
#define PAIRS_END                                                                                  \
    if (in_pairs)                                                                                  \
        pairs_add(&pairs, own);
#else
#define PAIRS_BEGIN
#define PAIRS_COUNT
#define PAIRS_END
#endif
__kernel void KERNEL(GRID, PARAMETERS)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    int tile = GRID_Y / bands, band = GRID_Y % bands;
    int begin = tile % across * tile_width, end = begin + tile_width, inside = clamp(width, begin, end);
    int top = tile / across * tile_height, first = top + band * rows, last = min(first + rows, top + tile_height);
    __global int *counts = state + counts_at + (tile * parts + band % parts) * apart;
    BINS_BETWEEN(state[FOUND_LEAST], state[FOUND_MOST])
    int own[4 * 256];
    if (BINS == 256)
        for (int i = 0; i < 4 * 256; i++)
            own[i] = 0;
    PAIRS_BEGIN
    for (int y = first; y < last; y++) {
        __global const UNIT *in = LINE_AT(y);
        int x = begin, whole = IN_BYTES && ALL_COUNT ? begin + ((inside - begin) & ~7) : begin;
        PAIRS_COUNT
        for (int i = x * PIXEL; i < inside * PIXEL; i += 64 / (int)sizeof(SRC))
            FETCH_AHEAD(ROW(src, min(y + AHEAD, height - 1)) + i);
        for (; IN_BYTES && ALL_COUNT && x < whole; x += 8) {
            CAT(UNIT, 8) v = vload8(0, in + x);
            COUNT(0, v.s0) COUNT(1, v.s1) COUNT(2, v.s2) COUNT(3, v.s3)
            COUNT(0, v.s4) COUNT(1, v.s5) COUNT(2, v.s6) COUNT(3, v.s7)
        }
        for (; x < inside; x++)
            if (!IS_ALPHA(ALPHA, x))
                COUNT(x, TONE_AT(in, x))
        for (; TILED && x < end; x++)
            COUNT(x, TONE_AT(in, COLUMN_AT(x)))
    }
    PAIRS_END
    for (int i = 0; BINS == 256 && i < 256; i++)
        counts[i] += own[COUNTED_AT(i)] + own[256 + COUNTED_AT(i)] + own[512 + COUNTED_AT(i)] + own[768 + COUNTED_AT(i)];
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
#define COUNT_FOUR(v) COUNT((v).s0) COUNT((v).s1) COUNT((v).s2) COUNT((v).s3)
#define SHARES 19595 * 0x1p-16f, 38470 * 0x1p-16f, 7471 * 0x1p-16f
inline int4 FN(bytes)(uint w)
{
    return (int4)((int)(w & 255u), (int)(w >> 8 & 255u), (int)(w >> 16 & 255u), (int)(w >> 24));
}

inline int16 FN(tones)(__global const uint4 *at)
{
    uint4 v = at[0];
    if (PIXEL == 3) {
        uint4 w = at[1], u = at[2];
        return (int16)(convert_int4(lumas_of_rgb(v.s0, v.s1, v.s2, SHARES)), convert_int4(lumas_of_rgb(v.s3, w.s0, w.s1, SHARES)),
                       convert_int4(lumas_of_rgb(w.s2, w.s3, u.s0, SHARES)), convert_int4(lumas_of_rgb(u.s1, u.s2, u.s3, SHARES)));
    }
    if (PIXEL == 4)
        return (int16)(convert_int4(lumas_of_rgba(v, SHARES)), convert_int4(lumas_of_rgba(at[1], SHARES)),
                       convert_int4(lumas_of_rgba(at[2], SHARES)), convert_int4(lumas_of_rgba(at[3], SHARES)));
    v = v ^ (LEVEL_MIN == 0 ? 0u : 0x80808080u);
    return (int16)(FN(bytes)(v.s0), FN(bytes)(v.s1), FN(bytes)(v.s2), FN(bytes)(v.s3));
}

__kernel void KERNEL(GRID, PARAMETERS)
{
    int band = GRID_Y;
    int x = SPAN_BEGIN;
    if (band >= grid_y_end || x >= grid_width || IS_ALPHA(ALPHA, x))
        return;
    int least = state[FOUND_LEAST], most = state[FOUND_MOST];
    BINS_BETWEEN(least, most)
    int tile_x = 0, tile_y = TILED ? band / bands : 0, top = tile_y * tile_height;
    int first = top + (TILED ? band % bands : band) * rows, last = min(first + rows, TILED ? top + tile_height : height);
    int begin = x, end = min(x + 16, width);
    if (TILED && SPAN == 16) {
        int each = tile_width / 16 + 2, left = x / 16 / each * tile_width;
        tile_x = x / 16 / each;
        x = (left / 16 + x / 16 % each) * 16;
        begin = max(x, left), end = min(x + 16, left + tile_width);
    } else if (TILED) {
        tile_x = x / tile_width;
        x = COLUMN_AT(x);
    }
    __global int *counts = state + counts_at + (TILED ? tile_y * across + tile_x : band % parts) * apart;
    int place = 0, run = 0;
    for (int y = first; y < last; y++) {
        __global const UNIT *in = LINE_AT(y);
        if (SPAN == 1) {
            SRC v = TONE_AT(in, x);
            if (COUNTS(v))
                COUNT(BIN_OF(v))
        } else if (end - begin == 16 && end <= width) {
            int16 v = FN(tones)((__global const uint4 *)(in + x * PIXEL));
            COUNT_FOUR(v.s0123) COUNT_FOUR(v.s4567) COUNT_FOUR(v.s89ab) COUNT_FOUR(v.scdef)
        } else {
            for (int i = begin; i < end; i++)
                COUNT(COUNTED_AT((int)TONE_AT(in, COLUMN_AT(i))))
        }
    }
    if (run > 0)
        atomic_add(counts + place, run);
}
#endif
#pragma kernel tally
/* Bytes on GPUs with local memory: a work-group counts a band there, each 32 of its work-items, which most likely run
 * side by side, by themselves. Of samples that all count a work-item takes 16 at once, and adds four that are alike at
 * once. */
#define COPIES (ITEMS / 32)
#define CHUNK (ALL_COUNT && ALIGNED ? 16 : 1)
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
    int begin = tile_x * (TILED ? tile_width : 16 * ITEMS), lanes = ITEMS; /* items side by side */
    int end = TILED ? begin + tile_width : min(begin + 16 * ITEMS, width);
    while (TILED && lanes / 2 >= (end + CHUNK - 1) / CHUNK - begin / CHUNK)
        lanes /= 2;
    tile_x = TILED ? tile_x : 0;
    int down = lanes < ITEMS ? item / lanes : 0, along = lanes < ITEMS ? item % lanes : item;
    for (int y = top + down; y < top + rows; y += ITEMS / lanes) {
        __global const UNIT *in = LINE_AT(y);
        for (int x = begin + along; CHUNK == 1 && x < end; x += lanes)
            if (!IS_ALPHA(ALPHA, x))
                atomic_inc(own + (int)TONE_AT(in, COLUMN_AT(x)));
        for (int x = (begin / CHUNK + along) * CHUNK; CHUNK > 1 && x < end; x += lanes * CHUNK) {
            if (x < begin || x + CHUNK > min(end, width)) {
                for (int k = max(x, begin); k < min(x + CHUNK, end); k++)
                    atomic_inc(own + (int)TONE_AT(in, COLUMN_AT(k)));
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
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    state += counts_at + ((tile_y * across + tile_x) * parts + band % parts) * apart;
    for (int i = item; i < 256; i += ITEMS) {
        int sum = 0;
        for (int c = 0; c < COPIES; c++)
            sum += counts[c * 256 + COUNTED_AT(i)];
        if (TILED) /* each band has a part of its own */
            state[i] = sum;
        else if (sum > 0)
            atomic_add(state + i, sum);
    }
}
#pragma kernel merge
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
