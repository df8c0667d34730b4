/* clahe: a table of each tile, and each pixel looked up in the four around it. Of colours it is luma that is counted
 * and looked up, and its change is added to each.
 *
 * `state` has for each tile BINS counts, of each group of 256 of them what is above the limit and what is not, and
 * the table. */
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
        __global SRC *out = ROW(dst, y) + x * CH;
        float column = (float)x * by_width - 0.5f, start = floor(column), right = column - start;
        float left = 1.0f - right;
        int a = max((int)start, 0), b = min((int)start + 1, across - 1), v = TONE(in);
#define LOOK(tile) (float)((__global const SRC *)(state + (tile) * TILE + TABLE_AT))[v]
        float over = LOOK(upper + a) * left + LOOK(upper + b) * right;
        float under = LOOK(lower + a) * left + LOOK(lower + b) * right;
        int become = (int)SATURATE(SRC, over * above + under * below);
#if CH > 2
        int change = become - v;
        for (int c = 0; c < 3; c++)
            out[c] = (SRC)clamp((int)in[c] + change, 0, BINS - 1);
#else
        out[0] = (SRC)become;
#endif
#if CH == 2 || CH == 4
        out[CH - 1] = in[CH - 1];
#endif
    }
}
#endif
