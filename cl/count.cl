/* Counts a plane's samples by value (src/stage/count.c), for otsu, equalize, normalize, clahe, statistics and histogram;
 * cl/bins.cl says where.
 *
 * A plane is cut into tiles, each of which has counts of its own, and tiles into bands of rows. Band b of a tile is
 * counted in part b % parts of its counts: in rows form by one work-item; else by one for each column, to which others
 * add, or in local memory by work-groups of ITEMS, each a strip of the band. A plane that is counted as a whole is one
 * tile. If there are more (TILED), they are regions of the plane (REGIONS), or of one size, so that they may reach beyond
 * the plane, which is reflected there.
 *
 * Positions in x are samples, or pixels of PIXEL samples: their luma, or the first of two, or COLOURS, which have BINS
 * counts each. ALPHA: of so many samples the last one does not count. */
#include <border.cl>
#include <luma.cl>
#include <processor.cl>
#include "bins.cl"
#define IN_BYTES (sizeof(SRC) == 1) /* they are counted as they are, as UNIT, and change places at the end */
#define TONE_AT(in, x)                                                                             \
    (PIXEL > 2 ? (int)(((uint)(in)[(x) * PIXEL] * 19595u + (uint)(in)[(x) * PIXEL + 1] * 38470u +  \
                        (uint)(in)[(x) * PIXEL + 2] * 7471u + 32768u) >> 16)                       \
               : (in)[(x) * PIXEL])
#define SAMPLE_AT(in, x, c) (COLOURS > 1 ? (in)[(x) * PIXEL + (c)] : TONE_AT(in, x))
#define ALL_COUNT (PIXEL == 1 && !ALPHA) /* every sample of a row */
#if defined(SRC_IS_float) && LEVELS
/* One of `values` bins from `low` on, of which the last one has its end, too; -1: none. */
inline int FN(bin_from)(float v, int values, float low, float scale)
{
    float t = (v - low) * scale;
    return t >= 0.0f && t <= (float)values ? min((int)t, values - 1) : -1;
}
#define BIN_OF(v)  FN(bin_from)(v, values, low, scale)
#define COUNTED(v) (BIN_OF(v) >= 0)
#define VALUES     values
#else
#define BIN_OF(v)  (LEVELS ? ((int)(v) - LEVEL_MIN) >> SHIFT : FN(bin)(bins, v))
#define COUNTED(v) COUNTS(v)
#define VALUES     BINS
#endif
#define COUNTED_AT(i) ((i) ^ (IN_BYTES ? -LEVEL_MIN : 0)) /* where bytes of place i were counted */
#define MIRRORED      (TILED && !REGIONS)
#define LINE_AT(y)    (__global const UNIT *)ROW(src, MIRRORED ? border_index(y, height, BORDER_REFLECT) : (y))
#define COLUMN_AT(x)  (MIRRORED ? border_index(x, width, BORDER_REFLECT) : (x))
/* Where part i of n of a side begins: i * side / n. */
#define PART_OF(i, n, side) ((i) * ((side) / (n)) + (i) * ((side) % (n)) / (n))
#define TILE_X(i)           (REGIONS ? PART_OF(i, across, width) : (i) * tile_width)
#define TILE_Y(i)           (REGIONS ? PART_OF(i, down, height) : (i) * tile_height)
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
        int width, int height, int across, int down, int tile_width, int tile_height, int rows,    \
        int bands, int strip, int strips NUMBERS

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
#pragma form ROWS
    end = width;
#pragma form
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
#pragma form ROWS
/* Rows of a tile are in pages of their own, where a processor's own fetching begins anew: they are fetched so many rows
 * ahead. */
#define AHEAD 4
/* 256 bins are counted in parts, whose stores do not wait for each other, or bytes in pairs. */
#define TABLES (COLOURS == 1 ? 4 : 2)
#define COUNT(x, c, v)                                                                             \
    {                                                                                              \
        UNIT sample = v;                                                                           \
        int table = (((x) & (TABLES - 1)) * COLOURS + (c)) * 256;                                  \
        if (IN_BYTES)                                                                              \
            own[table + (int)sample]++;                                                            \
        else if (COUNTED(sample) && BINS == 256)                                                   \
            own[table + BIN_OF(sample)]++;                                                         \
        else if (COUNTED(sample))                                                                  \
            counts[(c) * VALUES + BIN_OF(sample)]++;                                               \
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
    int tile = GRID_Y / bands, band = GRID_Y % bands, tile_x = tile % across, tile_y = tile / across;
    int begin = TILE_X(tile_x), end = TILE_X(tile_x + 1), inside = clamp(width, begin, end);
    int first = TILE_Y(tile_y) + band * rows, last = min(first + rows, TILE_Y(tile_y + 1));
    __global int *counts = state + counts_at + (tile * parts + band % parts) * apart;
    BINS_BETWEEN(state[FOUND_LEAST], state[FOUND_MOST])
    int own[TABLES * COLOURS * 256];
    if (BINS == 256)
        for (int i = 0; i < TABLES * COLOURS * 256; i++)
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
            COUNT(0, 0, v.s0) COUNT(1, 0, v.s1) COUNT(2, 0, v.s2) COUNT(3, 0, v.s3)
            COUNT(0, 0, v.s4) COUNT(1, 0, v.s5) COUNT(2, 0, v.s6) COUNT(3, 0, v.s7)
        }
        for (; COLOURS > 1 && x + 2 <= inside; x += 2)
            UNROLLED for (int i = 0; i < 2 * COLOURS; i++)
                COUNT(i / COLOURS, i % COLOURS, in[(x + i / COLOURS) * PIXEL + i % COLOURS])
        for (; x < inside; x++)
            for (int c = 0; c < COLOURS; c++)
                if (!IS_ALPHA(ALPHA, x))
                    COUNT(x, c, SAMPLE_AT(in, x, c))
        for (; MIRRORED && x < end; x++)
            COUNT(x, 0, TONE_AT(in, COLUMN_AT(x)))
    }
    PAIRS_END
    for (int i = 0; BINS == 256 && i < COLOURS * 256; i++)
        for (int t = 0; t < TABLES; t++)
            counts[i] += own[t * COLOURS * 256 + COUNTED_AT(i)];
}
#pragma form VECTOR SCALAR
/* A column of a band by each work-item, or SPAN = 16 of bytes: of a plane, or, if it is TILED, what a tile has of such
 * columns, for which it has so many work-items as it may need. Runs of one value are added at once: in a plain region all
 * work-items meet in a few bins. */
#define COUNT(c, where)                                                                            \
    {                                                                                              \
        int p = where;                                                                             \
        if (p != place[c] && run[c] > 0) {                                                         \
            atomic_add(counts + (c) * VALUES + place[c], run[c]);                                  \
            run[c] = 0;                                                                            \
        }                                                                                          \
        place[c] = p, run[c]++;                                                                    \
    }
#define COUNT_FOUR(v) COUNT(0, (v).s0) COUNT(0, (v).s1) COUNT(0, (v).s2) COUNT(0, (v).s3)
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
    BINS_BETWEEN(state[FOUND_LEAST], state[FOUND_MOST])
    int tile_x = 0, tile_y = TILED ? band / bands : 0;
    band = TILED ? band % bands : band;
    int first = TILE_Y(tile_y) + band * rows, last = min(first + rows, TILED ? TILE_Y(tile_y + 1) : height);
    int begin = x, end = min(x + 16, width);
    if (TILED && SPAN == 16) {
        int each = tile_width / 16 + 2;
        tile_x = x / 16 / each;
        int left = TILE_X(tile_x);
        x = (left / 16 + x / 16 % each) * 16;
        begin = max(x, left), end = min(x + 16, TILE_X(tile_x + 1));
    } else if (TILED) {
        tile_x = x / tile_width;
        x = REGIONS ? TILE_X(tile_x) + x % tile_width : COLUMN_AT(x);
        if (REGIONS && x >= TILE_X(tile_x + 1))
            return;
    }
    int tile = TILED ? tile_y * across + tile_x : 0, part = MIRRORED ? 0 : band % parts;
    __global int *counts = state + counts_at + (MIRRORED ? tile : tile * parts + part) * apart;
    int place[COLOURS], run[COLOURS];
    UNROLLED for (int c = 0; c < COLOURS; c++)
        place[c] = run[c] = 0;
    for (int y = first; y < last; y++) {
        __global const UNIT *in = LINE_AT(y);
        if (SPAN == 1) {
            UNROLLED for (int c = 0; c < COLOURS; c++) {
                SRC v = SAMPLE_AT(in, x, c);
                if (COUNTED(v))
                    COUNT(c, BIN_OF(v))
            }
        } else if (end - begin == 16 && end <= width && COLOURS > 1) {
            uint4 w[PIXEL];
            UNROLLED for (int i = 0; i < PIXEL; i++)
                w[i] = ((__global const uint4 *)(in + x * PIXEL))[i];
            UNROLLED for (int i = 0; i < 16 * COLOURS; i++) {
                int at = i / COLOURS * PIXEL + i % COLOURS;
                uint4 v = w[at / 16];
                uint four = at % 16 < 4 ? v.x : at % 16 < 8 ? v.y : at % 16 < 12 ? v.z : v.w;
                COUNT(i % COLOURS, COUNTED_AT((int)(four >> (at % 4 * 8) & 255u)))
            }
        } else if (end - begin == 16 && end <= width) {
            int16 v = FN(tones)((__global const uint4 *)(in + x * PIXEL));
            COUNT_FOUR(v.s0123) COUNT_FOUR(v.s4567) COUNT_FOUR(v.s89ab) COUNT_FOUR(v.scdef)
        } else {
            for (int i = begin; i < end; i++)
                UNROLLED for (int c = 0; c < COLOURS; c++)
                    COUNT(c, COUNTED_AT((int)SAMPLE_AT(in, COLUMN_AT(i), c)))
        }
    }
    UNROLLED for (int c = 0; c < COLOURS; c++)
        if (run[c] > 0)
            atomic_add(counts + c * VALUES + place[c], run[c]);
}
#pragma form
#pragma kernel tally
/* On GPUs with local memory, up to COPIES * 256 bins: a work-group counts a strip of a band there, each 32 of its
 * work-items, which most likely run side by side, by themselves if there is room. Of samples that all count a work-item
 * takes 16 bytes at once, or four pixels, and adds four neighbours that are alike at once. */
#define COPIES (ITEMS / 32)
#define CHUNK (!ALIGNED ? 1 : COLOURS > 1 ? 4 : ALL_COUNT ? 16 / (int)sizeof(UNIT) : 1)
#define WORDS (CHUNK > 1 ? CHUNK * PIXEL * (int)sizeof(UNIT) / 4 : 0)
#define STEP  (WORDS % 4 == 0 ? 4 : 3)
#if defined(SRC_IS_float)
#define IN_WORD(w, i) as_float(w[i])
#else
#define IN_WORD(w, i) (UNIT)(w[(i) * (int)sizeof(UNIT) / 4] >> ((i) * (int)sizeof(UNIT) % 4 * 8))
#endif
#define PLACE_OF(v) (IN_BYTES ? (int)(v) : COUNTED(v) ? BIN_OF(v) : -1)

inline void FN(add)(__local int *own, int place, int n)
{
    if (IN_BYTES || place >= 0)
        atomic_add(own + place, n);
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void KERNEL(GRID, PARAMETERS)
{
    __local int counts[COPIES * COLOURS * 256];
    int item = (int)get_local_id(0), group = (int)get_group_id(0), tile_x = group / strips, tile_y = GRID_Y / bands;
    int band = GRID_Y % bands, copies = BINS == 256 ? COPIES : min(COPIES, COPIES * 256 / VALUES);
    __local int *own = counts + item / 32 % copies * COLOURS * VALUES;
    for (int i = item; i < copies * COLOURS * VALUES; i += ITEMS)
        counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    BINS_BETWEEN(0, 0)
    int top = TILE_Y(tile_y) + band * rows;
    rows = min(rows, TILE_Y(tile_y + 1) - top);
    int begin = TILE_X(tile_x) + group % strips * strip, lanes = ITEMS; /* items side by side */
    int end = min(begin + strip, TILE_X(tile_x + 1));
    while (TILED && lanes > 1 && lanes / 2 >= (end + CHUNK - 1) / CHUNK - begin / CHUNK)
        lanes /= 2;
    int down_from = lanes < ITEMS ? item / lanes : 0, along = lanes < ITEMS ? item % lanes : item;
    for (int y = top + down_from; y < top + rows; y += ITEMS / lanes) {
        __global const UNIT *in = LINE_AT(y);
        for (int x = (begin / CHUNK + along) * CHUNK; x < end; x += lanes * CHUNK) {
            if (CHUNK == 1 || x < begin || x + CHUNK > min(end, width)) {
                for (int k = max(x, begin); k < min(x + CHUNK, end); k++)
                    for (int c = 0; c < COLOURS; c++)
                        if (!IS_ALPHA(ALPHA, k))
                            FN(add)(own + c * VALUES, PLACE_OF(SAMPLE_AT(in, COLUMN_AT(k), c)), 1);
                continue;
            }
            uint w[WORDS + 1];
            UNROLLED for (int i = 0; i < WORDS; i += STEP) {
                __global const uint *at = (__global const uint *)(in + x * PIXEL) + i;
                uint4 v = STEP == 4 ? *(__global const uint4 *)at : (uint4)(at[0], at[1], at[2], 0);
                w[i] = v.x, w[i + 1] = v.y, w[i + 2] = v.z;
                if (STEP == 4)
                    w[i + 3] = v.w;
            }
            UNROLLED for (int four = 0; four < CHUNK / 4 * COLOURS; four++) {
                int at = four / COLOURS * 4 * PIXEL + four % COLOURS;
                __local int *to = own + four % COLOURS * VALUES;
                int p = PLACE_OF(IN_WORD(w, at)), q = PLACE_OF(IN_WORD(w, at + PIXEL));
                int r = PLACE_OF(IN_WORD(w, at + 2 * PIXEL)), s = PLACE_OF(IN_WORD(w, at + 3 * PIXEL));
                if (ALL_COUNT && IN_BYTES ? w[four] == (w[four] & 255u) * 0x01010101u : p == q && q == r && r == s) {
                    FN(add)(to, p, 4);
                    continue;
                }
                FN(add)(to, p, 1);
                FN(add)(to, q, 1);
                FN(add)(to, r, 1);
                FN(add)(to, s, 1);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    state += counts_at + ((tile_y * across + tile_x) * parts + band % parts) * apart;
    for (int i = item; i < COLOURS * VALUES; i += ITEMS) {
        int sum = 0;
        for (int c = 0; c < copies; c++)
            sum += counts[c * COLOURS * VALUES + COUNTED_AT(i)];
        if (MIRRORED) /* each band has a part of its own */
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
