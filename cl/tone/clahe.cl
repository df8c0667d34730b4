/* clahe: a table of each tile, and each pixel looked up in the four around it. Of colours it is luma that is counted
 * and looked up, and its change is added to each.
 *
 * `state` has for each tile BINS counts, of each group of 256 of them what is above the limit and what is not, and
 * the table. For bytes on GPUs with local memory (ITEMS) it has BINS counts for each band of each tile, tile by tile,
 * and then the tables. */
#ifdef SRC_IS_uchar
#define BINS  256
#define TABLE (BINS / 4)
#else
#define BINS  65536
#define TABLE (BINS / 2)
#endif
#define GROUPS    (BINS / 256)
#define ABOVE_AT  BINS
#define WITHIN_AT (BINS + GROUPS)
#define TABLE_AT  (BINS + 2 * GROUPS)
#define TILE      (TABLE_AT + TABLE)

#if CH + 0 > 2
#define TONE(p) (int)(((p)[0] * 19595u + (p)[1] * 38470u + (p)[2] * 7471u + 32768u) >> 16)
#else
#define TONE(p) (int)(p)[0]
#endif

/* Stores a pixel whose tone v becomes `become`. */
#if CH + 0 > 2
#define STORE_COLOURS(out, in, change)                                                             \
    for (int c = 0; c < 3; c++)                                                                    \
        (out)[c] = (SRC)clamp((int)(in)[c] + (change), 0, BINS - 1);
#else
#define STORE_COLOURS(out, in, change) (out)[0] = (SRC)((int)(in)[0] + (change));
#endif
#if CH + 0 == 2 || CH + 0 == 4
#define STORE_ALPHA(out, in) (out)[CH - 1] = (in)[CH - 1];
#else
#define STORE_ALPHA(out, in)
#endif
#define STORE(out, in, v, become)                                                                  \
    {                                                                                              \
        __global SRC *to = out;                                                                    \
        int change = (become) - (v);                                                               \
        STORE_COLOURS(to, in, change)                                                              \
        STORE_ALPHA(to, in)                                                                        \
    }

#if defined(KERNEL_clear)
__kernel void KERNEL(GRID, __global int *restrict state)
{
    int tile = GRID_Y;
    int x = SPAN_BEGIN;
    if (tile >= grid_y_end || x >= grid_width)
        return;
    for (int end = SPAN_END(x); x < end; x++)
        state[tile * TILE + x] = 0;
}
#elif defined(KERNEL_count)
/* A tile by each work-item. Bytes are counted in four parts, whose stores do not wait for each other. */
__kernel void KERNEL(GRID, __global int *restrict state, PLANE_IN(SRC, src), int width, int height,
                     int across, int tile_width, int tile_height, int bands)
{
    int tile_y = GRID_Y;
    int tile_x = SPAN_BEGIN;
    if (tile_y >= grid_y_end || tile_x >= grid_width)
        return;
    __global int *counts = state + (tile_y * across + tile_x) * TILE;
    int begin = tile_x * tile_width, end = begin + tile_width, inside = clamp(width, begin, end);
#ifdef SRC_IS_uchar
    int parts[4 * BINS];
    for (int i = 0; i < 4 * BINS; i++)
        parts[i] = 0;
#define COUNT(x, v) parts[((x) & 3) * BINS + (v)]++
#else
#define COUNT(x, v) counts[v]++
#endif
    for (int y = tile_y * tile_height; y < tile_y * tile_height + tile_height; y++) {
        __global const SRC *in = ROW(src, border_index(y, height, BORDER_REFLECT));
        for (int x = begin; x < inside; x++)
            COUNT(x, TONE(in + x * CH));
        for (int x = inside; x < end; x++)
            COUNT(x, TONE(in + border_index(x, width, BORDER_REFLECT) * CH));
    }
#ifdef SRC_IS_uchar
    for (int i = 0; i < BINS; i++)
        counts[i] = parts[i] + parts[BINS + i] + parts[2 * BINS + i] + parts[3 * BINS + i];
#endif
}
#elif defined(KERNEL_tally)
/* A column of a band of a tile's rows by each work-item. Runs of one value are added at once. */
__kernel void KERNEL(GRID, __global int *restrict state, PLANE_IN(SRC, src), int width, int height,
                     int across, int tile_width, int tile_height, int bands)
{
    int band = GRID_Y;
    int x = SPAN_BEGIN;
    if (band >= grid_y_end || x >= grid_width)
        return;
    int tile_y = band / bands, top = tile_y * tile_height, first = top + band % bands * 32;
    int last = min(first + 32, top + tile_height), value = 0, run = 0;
    int column = border_index(x, width, BORDER_REFLECT) * CH;
    __global int *counts = state + (tile_y * across + x / tile_width) * TILE;
    for (int y = first; y < last; y++) {
        int v = TONE(ROW(src, border_index(y, height, BORDER_REFLECT)) + column);
        if (v != value && run > 0) {
            atomic_add(counts + value, run);
            run = 0;
        }
        value = v;
        run++;
    }
    if (run > 0)
        atomic_add(counts + value, run);
}
#elif defined(KERNEL_clip)
__kernel void KERNEL(GRID, __global int *restrict state, int limit)
{
    int tile = GRID_Y;
    int group = SPAN_BEGIN;
    if (tile >= grid_y_end || group >= grid_width)
        return;
    __global int *counts = state + tile * TILE;
    int above = 0, within = 0;
    for (int v = group * 256; v < group * 256 + 256; v++) {
        above += max(counts[v] - limit, 0);
        within += min(counts[v], limit);
    }
    counts[ABOVE_AT + group] = above;
    counts[WITHIN_AT + group] = within;
}
#elif defined(KERNEL_table)
/* What is above the limit goes to all bins alike, and of what then remains one to every step-th. */
__kernel void KERNEL(GRID, __global int *restrict state, int limit, float scale)
{
    int tile = GRID_Y;
    int group = SPAN_BEGIN;
    if (tile >= grid_y_end || group >= grid_width)
        return;
    __global int *counts = state + tile * TILE;
    __global SRC *table = (__global SRC *)(counts + TABLE_AT);
    int above = 0, sum = 0;
    for (int g = 0; g < GROUPS; g++) {
        above += counts[ABOVE_AT + g];
        sum += g < group ? counts[WITHIN_AT + g] : 0;
    }
    int each = above / BINS, rest = above % BINS, step = rest > 0 ? BINS / rest : BINS;
    int begin = group * 256, given = min((begin + step - 1) / step, rest);
    sum += each * begin + given;
    for (int v = begin; v < begin + 256; v++) {
        int one = given < rest && v % step == 0 ? 1 : 0;
        given += one;
        sum += min(counts[v], limit) + each + one;
        table[v] = SATURATE(SRC, (float)sum * scale);
    }
}
#elif defined(KERNEL_band)
/* A band of a tile's rows by each work-group, of which each 32 work-items, which most likely run side by side, have
 * counts of their own. */
#define COPIES (ITEMS / 32)
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, __global int *restrict state, PLANE_IN(SRC, src), int width, int height, int across,
       int tile_width, int tile_height, int rows, int bands)
{
    __local int counts[COPIES * BINS];
    int item = (int)get_local_id(0), tile_x = (int)get_group_id(0), tile_y = GRID_Y / bands;
    __local int *own = counts + item / 32 * BINS;
    for (int i = item; i < COPIES * BINS; i += ITEMS)
        counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int begin = tile_x * tile_width, end = begin + tile_width;
    int top = tile_y * tile_height + GRID_Y % bands * rows;
    rows = min(rows, (tile_y + 1) * tile_height - top);
#if CH == 1 && ALIGNED
#define CHUNK 16
#else
#define CHUNK 1
#endif
    int first = begin / CHUNK, chunks = (end + CHUNK - 1) / CHUNK - first;
    for (int i = item; i < rows * chunks; i += ITEMS) {
        int x = (first + i % chunks) * CHUNK, y = border_index(top + i / chunks, height, BORDER_REFLECT);
        __global const SRC *in = ROW(src, y);
#if CHUNK > 1
        if (x >= begin && x + CHUNK <= min(end, width)) {
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
            continue;
        }
#endif
        for (int k = max(x, begin); k < min(x + CHUNK, end); k++)
            atomic_inc(own + TONE(in + border_index(k, width, BORDER_REFLECT) * CH));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    state += ((tile_y * across + tile_x) * bands + GRID_Y % bands) * BINS;
    for (int i = item; i < BINS; i += ITEMS) {
        int sum = 0;
        for (int c = 0; c < COPIES; c++)
            sum += counts[c * BINS + i];
        state[i] = sum;
    }
}
#elif defined(KERNEL_spread)
/* A tile's table by each work-group of BINS work-items; as `clip` and `table` make it. */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, __global int *restrict state, int tiles, int bands, int limit, float scale)
{
    __local int sums[BINS], above;
    int v = (int)get_local_id(0), tile = (int)get_group_id(0), count = 0;
    for (int band = 0; band < bands; band++)
        count += state[(tile * bands + band) * BINS + v];
    if (v == 0)
        above = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (count > limit)
        atomic_add(&above, count - limit);
    barrier(CLK_LOCAL_MEM_FENCE);
    int each = above / BINS, rest = above % BINS, step = rest > 0 ? BINS / rest : BINS;
    sums[v] = min(count, limit) + each + (v % step == 0 && v / step < rest ? 1 : 0);
    for (int distance = 1; distance < BINS; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int before = v >= distance ? sums[v - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[v] += before;
    }
    ((__global SRC *)(state + tiles * bands * BINS))[tile * BINS + v] = SATURATE(SRC, (float)sums[v] * scale);
}
#elif defined(KERNEL_blend)
/* Pixels that lie between the same four tiles by each work-group: 256 of a row by 32 work-items, 8 by each. The grid
 * counts work-items of `strips` of these for each column of such regions, and `bands` of `rows` rows for each row of
 * regions. `tables` has bytes of the four tables in a word: above left, above right, below left, below right. */
#if CH == 1
#define APART 1 /* a work-item's pixels */
#else
#define APART 32
#endif

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
    float over = BYTE_AS_FLOAT(tones, 0) * left + BYTE_AS_FLOAT(tones, 1) * right;
    float under = BYTE_AS_FLOAT(tones, 2) * left + BYTE_AS_FLOAT(tones, 3) * right;
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
#if CH == 1 && ALIGNED
        if (x >= begin && x + 8 <= last) {
#define WORD(v, a, b, c, d)                                                                        \
    LAST_BYTES(BLENDED(a, (v) & 255u), BLENDED(b, (v) >> 8 & 255u), BLENDED(c, (v) >> 16 & 255u), \
               BLENDED(d, (v) >> 24))
            uint2 v = *(__global const uint2 *)(ROW(src, y) + x);
            *(__global uint2 *)(ROW(dst, y) + x) = (uint2)(WORD(v.x, 0, 1, 2, 3), WORD(v.y, 4, 5, 6, 7));
        } else
#endif
        {
#define PIXEL(k)                                                                                   \
    if (x + k * APART >= begin && x + k * APART < last) {                                           \
        __global const SRC *in = ROW(src, y) + (x + k * APART) * CH;                               \
        int v = TONE(in);                                                                          \
        STORE(ROW(dst, y) + (x + k * APART) * CH, in, v, (int)(BLENDED(k, v) & 255u))              \
    }
            PIXEL(0) PIXEL(1) PIXEL(2) PIXEL(3) PIXEL(4) PIXEL(5) PIXEL(6) PIXEL(7)
        }
    }
}
#else
/* The grid counts pixels. */
__kernel void KERNEL(GRID, __global const int *restrict state, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst),
                     int across, int down, float by_width, float by_height)
{
    int y = GRID_Y;
    int x = SPAN_BEGIN;
    if (y >= grid_y_end || x >= grid_width)
        return;
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
        STORE(ROW(dst, y) + x * CH, in, v, (int)SATURATE(SRC, over * above + under * below))
    }
}
#endif
