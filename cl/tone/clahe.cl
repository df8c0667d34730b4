/* clahe: a table of each tile from its counts (cl/count.cl), and each pixel looked up in the four around it. Of colours it
 * is luma that is counted and looked up, and its change is added to each.
 *
 * `state` has for each tile BINS counts, of each group of 256 of them what is above the limit and what is not, and
 * the table. Of bytes on CPUs and on Mali there follows a joined table for each region, which is the pixels that lie between
 * the same four tiles: regions begin and end in the middle of tiles. For bytes on GPUs with local memory it has
 * BINS counts for each band of each tile, tile by tile, and then the tables. */
#include <border.cl>
#include <lookup.cl>
#include <memory.cl>
#include <processor.cl>
#include <round.cl>
#include <words.cl>
#define BINS      (sizeof(SRC) == 1 ? 256 : 65536)
#define TABLE     (BINS / 4 * (int)sizeof(SRC))
#define GROUPS    (BINS / 256)
#define ABOVE_AT  BINS
#define WITHIN_AT (BINS + GROUPS)
#define TABLE_AT  (BINS + 2 * GROUPS)
#define TILE      (TABLE_AT + TABLE)

#define TONE(p)                                                                                    \
    (CH > 2 ? (int)(((p)[0] * 19595u + (p)[1] * 38470u + (p)[2] * 7471u + 32768u) >> 16) : (int)(p)[0])

/* Stores a pixel whose tone v becomes `become`. */
#define STORE_PIXEL(out, in, v, become)                                                            \
    {                                                                                              \
        __global SRC *to = out;                                                                    \
        int change = (become) - (v);                                                               \
        if (CH > 2)                                                                                \
            for (int c = 0; c < 3; c++)                                                            \
                to[c] = (SRC)clamp((int)(in)[c] + change, 0, BINS - 1);                            \
        else                                                                                       \
            to[0] = (SRC)((int)(in)[0] + change);                                                  \
        if (CH == 2 || CH == 4)                                                                    \
            to[CH - 1] = (in)[CH - 1];                                                             \
    }

#pragma kernel clip
/* Of 16 bits: sums of 256 counts each. */
__kernel void KERNEL(GRID, __global int *restrict state, int limit)
{
    POSITION(group, tile)
    __global int *counts = state + tile * TILE;
    int above = 0, within = 0;
    for (int v = group * 256; v < group * 256 + 256; v++) {
        above += max(counts[v] - limit, 0);
        within += min(counts[v], limit);
    }
    counts[ABOVE_AT + group] = above;
    counts[WITHIN_AT + group] = within;
}
#pragma kernel table
#include "shares.cl"
/* 256 bins of a tile's table by ITEMS work-items together, EACH by one, from counts in `bands` parts, each `apart` ints
 * behind the one before. What is above the limit goes to all bins alike, and of what then remains one to every step-th. */
GROUPED __kernel void KERNEL(GRID, __global int *restrict state, int limit, float scale, int bands, int apart, int tables_at,
                             int tables_apart)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    SHARED ulong sums[ITEMS];
    int group = SPAN_BEGIN / ITEMS, item = SPAN_BEGIN % ITEMS, tile = GRID_Y, begin = group * 256 + item * EACH;
    __global int *counts = state + tile * bands * apart;
    __global SRC *table = (__global SRC *)(state + tables_at + tile * tables_apart);
    int above = 0, within = 0, front = 0;
    for (int v = begin; v < begin + EACH; v++) {
        int count = counts[v];
        for (int band = 1; ITEMS > 1 && band < bands; band++)
            count += counts[band * apart + v];
        above += max(count - limit, 0);
        within += min(count, limit);
        if (ITEMS > 1)
            counts[v] = count;
    }
    /* two sums at once */
    ulong up_to = SUM_UP_WIDE(sums, (ulong)(uint)above << 32 | (ulong)(uint)within);
    above = GROUPS == 1 ? (int)(SUM_OF_ALL(sums) >> 32) : 0;
    for (int g = 0; GROUPS > 1 && g < GROUPS; g++) {
        above += counts[ABOVE_AT + g];
        front += g < group ? counts[WITHIN_AT + g] : 0;
    }
    int each = above / BINS, rest = above % BINS, step = rest > 0 ? BINS / rest : BINS;
    int given = min((begin + step - 1) / step, rest);
    int sum = front + (int)(uint)up_to - within + each * begin + given;
    for (int v = begin; v < begin + EACH; v++) {
        int one = given < rest && v % step == 0 ? 1 : 0;
        given += one;
        sum += min(counts[v], limit) + each + one;
        table[v] = SATURATE(SRC, (float)sum * scale);
    }
}
#pragma kernel blend
/* Pixels that lie between the same four tiles by each work-group: 256 of a row by 32 work-items, 8 by each. The grid
 * counts work-items of `strips` of these for each column of such regions, and `bands` of `rows` rows for each row of
 * regions. `tables` has bytes of the four tables in a word: above left, above right, below left, below right. */
#define APART (CH == 1 ? 1 : 32) /* a work-item's pixels */

/* The first position that lies behind the middle of tile `tile`, as f32 has it; `count` where there is none. */
inline int FN(first_behind)(int tile, int side, float by_side, int count)
{
    int at = max((tile + 1) * side - side / 2 - 2, 0);
#define GO_ON at += at < count && (float)at * by_side - 0.5f < (float)tile ? 1 : 0;
    GO_ON GO_ON GO_ON GO_ON
    return min(at, count);
}

/* The pixel's new tone, in the lowest byte. */
inline uint FN(blended)(uint tones, float left, float right, float above, float below)
{
    float over = byte_as_float(tones, 0) * left + byte_as_float(tones, 1) * right;
    float under = byte_as_float(tones, 2) * left + byte_as_float(tones, 3) * right;
    return as_uint(over * above + under * below + ROUNDER);
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, __global const int *restrict state, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), int width, int height,
       int across, int down, int tile_width, int tile_height, float by_width, float by_height, int tables_at,
       int strips, int rows, int bands)
{
    __local uint tables[BINS];
    int item = (int)get_local_id(0), group = (int)get_group_id(0);
    int start = group / strips - 1, first = GRID_Y / bands - 1; /* the tile on the left, and above */
    int begin = FN(first_behind)(start, tile_width, by_width, width);
    int end = FN(first_behind)(start + 1, tile_width, by_width, width);
    int top = FN(first_behind)(first, tile_height, by_height, height) + GRID_Y % bands * rows;
    int bottom = min(FN(first_behind)(first + 1, tile_height, by_height, height), top + rows);
    int strip = (CH == 1 ? begin & ~7 : begin) + group % strips * 256;
    if (strip >= end || top >= bottom)
        return;
    __global const SRC *all = (__global const SRC *)(state + tables_at);
    int a = max(start, 0), b = min(start + 1, across - 1);
    int upper = max(first, 0) * across, lower = min(first + 1, down - 1) * across;
#define TABLE_OF(tile) (uint)all[(tile) * BINS + v]
    for (int v = item; v < BINS; v += ITEMS)
        tables[v] = TABLE_OF(upper + a) | TABLE_OF(upper + b) << 8 | TABLE_OF(lower + a) << 16 |
                    TABLE_OF(lower + b) << 24;
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = strip + item % 32 * (CH == 1 ? 8 : 1);
    float8 place = convert_float8(x + APART * (int8)(0, 1, 2, 3, 4, 5, 6, 7));
    float8 right = place * by_width - 0.5f - (float)start, left = 1.0f - right;
    /* All work-items take as many turns, without jumps: PoCL 3.1 would let some write what they should not. */
    for (int from = top; from < bottom; from += ITEMS / 32) {
        int y = from + item / 32, last = y < bottom ? end : begin;
        float below = (float)y * by_height - 0.5f - (float)first, above = 1.0f - below;
#define BLENDED(k, v) FN(blended)(tables[v], left.s##k, right.s##k, above, below)
        if (CH == 1 && ALIGNED && x >= begin && x + 8 <= last) {
#define FOUR_TONES(v, a, b, c, d)                                                                        \
    last_bytes(BLENDED(a, (v) & 255u), BLENDED(b, (v) >> 8 & 255u), BLENDED(c, (v) >> 16 & 255u), \
               BLENDED(d, (v) >> 24))
            uint2 v = *(__global const uint2 *)(ROW(src, y) + x);
            *(__global uint2 *)(ROW(dst, y) + x) = (uint2)(FOUR_TONES(v.x, 0, 1, 2, 3), FOUR_TONES(v.y, 4, 5, 6, 7));
        } else {
#define PIXEL(k)                                                                                   \
    if (x + k * APART >= begin && x + k * APART < last) {                                           \
        __global const SRC *in = ROW(src, y) + (x + k * APART) * CH;                               \
        int v = TONE(in);                                                                          \
        STORE_PIXEL(ROW(dst, y) + (x + k * APART) * CH, in, v, (int)(BLENDED(k, v) & 255u))              \
    }
            PIXEL(0) PIXEL(1) PIXEL(2) PIXEL(3) PIXEL(4) PIXEL(5) PIXEL(6) PIXEL(7)
        }
    }
}
#pragma kernel join bytes
/* Processors with AVX-512 look up in tables that lie in registers, in HALVES: the two tiles above, and the two below. */
#if defined(NATIVE) && defined(__AVX512BW__)
#define HALVES    1
#define UNDER_BIT 0
/* Each lane looked up in 256 words, which lie in eight registers. */
VECTORS_OF_512_BITS inline ushort32 FN(look_up)(const table_part *t, ushort32 v)
{
    table_part at = __builtin_astype(v, table_part);
#define OF_128(k) __builtin_astype(__builtin_ia32_vpermi2varhi512(t[k], at, t[k + 1]), ushort32)
    short32 second = (v & (ushort32)(64)) != (ushort32)(0), last = (v & (ushort32)(128)) != (ushort32)(0);
    ushort32 low = second ? OF_128(2) : OF_128(0), high = second ? OF_128(6) : OF_128(4);
    return last ? high : low;
}
#define BEGIN_TABLES                                                                               \
    table_part tables[16];                                                                         \
    for (int i = 0; i < 16; i++)                                                                   \
        tables[i] = ((__global const any_table_part *)joined)[i];
#define COLOURS_AT_ONCE 16
#define PLACES          (float16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define ALL(part)                                                                                  \
    part(0), part(1), part(2), part(3), part(4), part(5), part(6), part(7), part(8), part(9), part(10), part(11),           \
        part(12), part(13), part(14), part(15)
#define LOOK_UP_TONE                                                                               \
    ushort32 at = 0;                                                                               \
    at.lo = convert_ushort16(tone);                                                                \
    uint16 over = convert_uint16(FN(look_up)(tables, at).lo), under = convert_uint16(FN(look_up)(tables + 8, at).lo);
#else
#define HALVES            0
#define UNDER_BIT         16
#define BEGIN_TABLES
#define COLOURS_AT_ONCE   8
#define PLACES            (float8)(0, 1, 2, 3, 4, 5, 6, 7)
#define ALL(part)         part(0), part(1), part(2), part(3), part(4), part(5), part(6), part(7)
#define LOOK_UP_TONE      uint8 over = LOOK_UP_8(uint, joined, tone), under = over;
#endif
#pragma kernel join
/* A region's table by each work-item. An entry is a word with a byte of each tile: above left, above right, below left,
 * below right; or, as the table's HALVES, the two above and then, behind all entries, the two below. */
__kernel void KERNEL(GRID, __global int *restrict state, int across, int down, int joined_at)
{
    POSITION(x, y)
    __global int *joined = state + joined_at + (y * (across + 1) + x) * BINS;
    int left = max(x - 1, 0), right = min(x, across - 1);
    int upper = max(y - 1, 0) * across, lower = min(y, down - 1) * across;
#define TABLE_OF(tile) (__global const uchar *)(state + (tile) * TILE + TABLE_AT)
    __global const uchar *a = TABLE_OF(upper + left), *b = TABLE_OF(upper + right);
    __global const uchar *c = TABLE_OF(lower + left), *d = TABLE_OF(lower + right);
    for (int v = 0; v < BINS; v += 16) {
#define TWO(p, q) convert_uint16(vload16(0, p + v)) | convert_uint16(vload16(0, q + v)) << 8u
        uint16 over = TWO(a, b), under = TWO(c, d);
        if (HALVES) {
            vstore16(convert_ushort16(over), 0, (__global ushort *)joined + v);
            vstore16(convert_ushort16(under), 0, (__global ushort *)joined + BINS + v);
        } else {
            vstore16(as_int16(over | under << 16u), 0, joined + v);
        }
    }
}
#pragma kernel bytes
/* Bytes on CPUs. The grid counts pixels, and a row is done region by region. */
#define BYTE_OF(n, word, bit) CAT3(convert_float, n, )(CAT3(as_int, n, )((word) >> (CAT3(uint, n, ))(bit) & (CAT3(uint, n, ))(255)))
/* The new tone in the lowest byte. */
#define BLENDED(n, over, over_bit, under, under_bit)                                               \
    CAT3(as_uint, n, )((BYTE_OF(n, over, over_bit) * left + BYTE_OF(n, over, over_bit + 8) * right) * above + \
                       (BYTE_OF(n, under, under_bit) * left + BYTE_OF(n, under, under_bit + 8) * right) * below + ROUNDER)

/* The pixels from x to `end`, which are at least PIXELS_AT_ONCE. The last ones may be computed twice. */
#define WIDE_PARAMETERS                                                                            \
    __global const uchar *in, __global uchar *out, __global const uint *joined, int x, int end,    \
        int start, float by_width, float above, float below
#pragma kernel grey
#define PIXELS_AT_ONCE (HALVES ? 32 : 8)
#if HALVES
VECTORS_OF_512_BITS inline void FN(wide)(WIDE_PARAMETERS)
{
    BEGIN_TABLES
    int16 even = x + 2 * (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    float16 first = convert_float16(even), second = convert_float16(even + 1);
    for (int step = 1; step > 0; x += step, first += (float)step, second += (float)step) {
        ushort32 v = convert_ushort32(*(__global const unaligned_uchar_32 *)(in + x));
        uint16 over = as_uint16(FN(look_up)(tables, v)), under = as_uint16(FN(look_up)(tables + 8, v));
        float16 right = first * by_width - 0.5f - (float)start, left = 1.0f - right;
        uint16 evens = BLENDED(16, over, 0, under, 0);
        right = second * by_width - 0.5f - (float)start, left = 1.0f - right;
        uint16 odds = BLENDED(16, over, 16, under, 16);
        ushort32 both = as_ushort32((evens & 0xffffu) | odds << 16u);
        *(__global unaligned_uchar_32 *)(out + x) = convert_uchar32(both);
        step = min(32, end - 32 - x);
    }
}
#else
inline void FN(wide)(WIDE_PARAMETERS)
{
    for (int step = 1; step > 0; x += step) {
        uchar8 v = vload8(0, in + x);
        uint8 words = LOOK_UP_8(uint, joined, v);
        float8 right = convert_float8(x + (int8)(0, 1, 2, 3, 4, 5, 6, 7)) * by_width - 0.5f - (float)start;
        float8 left = 1.0f - right;
        vstore8(convert_uchar8(BLENDED(8, words, 0, words, 16)), 0, out + x);
        step = min(8, end - 8 - x);
    }
}
#endif
#pragma kernel colours
/* A pixel is a word. Its change is added to each byte, or taken off. */
#define PIXELS_AT_ONCE COLOURS_AT_ONCE
#define AS_WORDS_3  __builtin_shufflevector(v, v, ALL(PART_OF_WORDS))
#define AS_WORDS_4  v
#define AS_PIXELS_3 __builtin_shufflevector(bytes, bytes, ALL(PART_OF_BYTES))
#define AS_PIXELS_4 bytes
#define PART_OF_WORDS(k) 3 * (k), 3 * (k) + 1, 3 * (k) + 2, -1
#define PART_OF_BYTES(k) 4 * (k), 4 * (k) + 1, 4 * (k) + 2
typedef CAT(uint, COLOURS_AT_ONCE) FN(words);
typedef CAT(int, COLOURS_AT_ONCE) FN(ints);
typedef CAT(float, COLOURS_AT_ONCE) FN(floats);
typedef uchar FN(bytes) __attribute__((ext_vector_type(4 * COLOURS_AT_ONCE)));
typedef uchar FN(pixels) __attribute__((ext_vector_type(CH * COLOURS_AT_ONCE), aligned(1)));
#define BYTE(word, bit) ((word) >> (FN(words))(bit) & (FN(words))(255))

VECTORS_OF_512_BITS inline void FN(wide)(WIDE_PARAMETERS)
{
    BEGIN_TABLES
    FN(floats) place = (float)x + PLACES;
    for (int step = 1; step > 0; x += step, place += (float)step) {
        FN(pixels) v = *(__global const FN(pixels) *)(in + x * CH);
        FN(bytes) bytes = CAT(AS_WORDS_, CH);
        FN(words) w = __builtin_astype(bytes, FN(words));
        FN(words) tone = (BYTE(w, 0) * 19595u + BYTE(w, 8) * 38470u + BYTE(w, 16) * 7471u + 32768u) >> 16u;
        FN(floats) right = place * by_width - 0.5f - (float)start, left = 1.0f - right;
        LOOK_UP_TONE
        FN(words) become = BLENDED(COLOURS_AT_ONCE, over, 0, under, UNDER_BIT);
        FN(ints) change = __builtin_astype(BYTE(become, 0) - tone, FN(ints)), none = 0;
        FN(bytes) more = __builtin_astype(max(change, none) * 0x010101, FN(bytes));
        FN(bytes) less = __builtin_astype(max(-change, none) * 0x010101, FN(bytes));
        bytes += more < ~bytes ? more : ~bytes;
        bytes -= less < bytes ? less : bytes;
        *(__global FN(pixels) *)(out + x * CH) = CAT(AS_PIXELS_, CH);
        step = min(COLOURS_AT_ONCE, end - COLOURS_AT_ONCE - x);
    }
}
#pragma kernel bytes
__kernel void KERNEL(GRID, __global const int *restrict state, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst),
                     int across, int down, float by_width, float by_height, int tile_width, int joined_at)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global SRC *out = ROW(dst, y);
    float row = (float)y * by_height - 0.5f, first = floor(row), below = row - first, above = 1.0f - below;
    __global const uint *all = (__global const uint *)(state + joined_at) + ((int)first + 1) * (across + 1) * BINS;
    for (int end = SPAN_END(x); x < end;) {
        int start = (int)floor((float)x * by_width - 0.5f), stop = min(start * tile_width + tile_width / 2 * 3, end);
        __global const uint *joined = all + (start + 1) * BINS;
        while (stop > x + 1 && (float)(stop - 1) * by_width - 0.5f >= (float)(start + 1))
            stop--;
        while (stop < end && (float)stop * by_width - 0.5f < (float)(start + 1))
            stop++;
        if (CH != 2 && stop - x >= PIXELS_AT_ONCE && stop <= 1 << 24) { /* the places are exact up to 2^24 */
            FN(wide)(in, out, joined, x, stop, start, by_width, above, below);
            x = stop;
        }
        for (; x < stop; x++) {
            float right = (float)x * by_width - 0.5f - (float)start, left = 1.0f - right;
            int v = TONE(in + x * CH);
            __global const ushort *halves = (__global const ushort *)joined;
            uint over = HALVES ? halves[v] : joined[v], under = HALVES ? halves[BINS + v] : over;
            STORE_PIXEL(out + x * CH, in + x * CH, v, (int)(BLENDED(, over, 0, under, UNDER_BIT) & 255u))
        }
    }
}
#pragma kernel joined
/* Bytes on Mali. The grid counts pixels, four for each work-item where rows are aligned. */
#include "four_pixels.cl"

/* The new tone of pixel x, whose tone is v, as the lowest bits of a float; `tables` of this row of regions. */
inline float FN(blended)(__global const int *tables, int v, int x, float by_width, float above, float below)
{
    float column = (float)x * by_width - 0.5f, start = floor(column), right = column - start, left = 1.0f - right;
    uint w = (uint)tables[(uint)(((int)start + 1) * BINS + v)];
    float over = byte_as_float(w, 0) * left + byte_as_float(w, 1) * right;
    float under = byte_as_float(w, 2) * left + byte_as_float(w, 3) * right;
    return over * above + under * below + ROUNDER;
}
#define TONE_OF(v, x) FN(blended)(tables, v, x, by_width, above, below)

__kernel void KERNEL(GRID, __global const int *restrict state, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst),
                     int across, int down, float by_width, float by_height, int tile_width, int joined_at)
{
    POSITION(x, y)
    float row = (float)y * by_height - 0.5f, first = floor(row), below = row - first, above = 1.0f - below;
    __global const int *tables = state + joined_at + ((int)first + 1) * (across + 1) * BINS;
    if (CH == 1 && SPAN == 4 && x + 4 <= grid_width) {
        uint v = *(__global const uint *)(ROW(src, y) + x);
        float4 become = (float4)(TONE_OF(v & 255u, x), TONE_OF(v >> 8 & 255u, x + 1),
                                 TONE_OF(v >> 16 & 255u, x + 2), TONE_OF(v >> 24, x + 3));
        *(__global ushort2 *)(ROW(dst, y) + x) = four_of(become);
        return;
    }
    if (CH > 2 && SPAN == 4 && x + NEEDED <= grid_width) {
        uint4 w = FN(four)(ROW(src, y) + x * CH);
        float4 lumas = FN(lumas)(w);
        int4 v = convert_int4(lumas);
        float4 become = (float4)(TONE_OF(v.s0, x), TONE_OF(v.s1, x + 1), TONE_OF(v.s2, x + 2), TONE_OF(v.s3, x + 3));
        FN(put_raised)(ROW(dst, y) + x * CH, w, become - ROUNDER - lumas);
        return;
    }
    for (int end = SPAN_END(x); x < end; x++) {
        __global const SRC *in = ROW(src, y) + x * CH;
        int v = TONE(in);
        STORE_PIXEL(ROW(dst, y) + x * CH, in, v, (int)(as_uint(TONE_OF(v, x)) & 255u))
    }
}
#pragma kernel u16
/* The grid counts pixels. */
__kernel void KERNEL(GRID, __global const int *restrict state, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst),
                     int across, int down, float by_width, float by_height)
{
    POSITION(x, y)
    float row = (float)y * by_height - 0.5f, first = floor(row), below = row - first;
    float above = 1.0f - below;
    int upper = max((int)first, 0) * across, lower = min((int)first + 1, down - 1) * across;
    for (int end = SPAN_END(x); x < end; x++) {
        __global const SRC *in = ROW(src, y) + x * CH;
        float column = (float)x * by_width - 0.5f, start = floor(column), right = column - start;
        float left = 1.0f - right;
        int a = max((int)start, 0), b = min((int)start + 1, across - 1), v = TONE(in);
#define LOOK(tile) (float)((__global const SRC *)(state + (tile) * TILE + TABLE_AT))[v]
        float over = LOOK(upper + a) * left + LOOK(upper + b) * right;
        float under = LOOK(lower + a) * left + LOOK(lower + b) * right;
        STORE_PIXEL(ROW(dst, y) + x * CH, in, v, (int)SATURATE(SRC, over * above + under * below))
    }
}
