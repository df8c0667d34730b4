/* box of integers for GPUs with local memory (Mali has none: cl/box/box_sums.cl).
 *
 * A work-group computes a strip of columns down a band of rows. Each work-item keeps the sums of some columns over the
 * window's height in registers, in quads of four samples, and slides them down: it adds a row that enters the window and
 * subtracts one that leaves it. The sums of ROWS_AT_ONCE rows go to local memory; from there each work-item takes a
 * stretch of one row and slides the window along it. So a sample is read from the device's memory once, or twice if it
 * has left the caches when its row leaves the window, and only results are written. A row of the tile has an odd number
 * of quads, so that neighbouring work-items, which take neighbouring rows, use different banks of local memory.
 *
 * With NARROW sums of columns have 16 bits, two in a word: those of the quad's even samples, then those of the odd ones.
 * Signed samples become unsigned by adding 128 or 32768 (FLIP).
 *
 * Windows begin BEHIND samples behind the begin of a quad, and end AHEAD samples behind that of another one. The stretches
 * of work-items are multiples of a unit of 16 bytes (with three channels, of three of these), so that this is the same
 * for all. */
#include <edge.cl>
#include "box_divide.cl"
#define ITEMS        128
#define ROWS_AT_ONCE 16

#if SAMPLE_BITS == 8
#define SRC     uchar
#define FLIPPED (FLIP * 0x80808080u)
#define UNIT_QUADS (CH == 3 ? 12 : 4)
#else
#define SRC     ushort
#define FLIPPED (FLIP * 0x80008000u)
#define UNIT_QUADS (CH == 3 ? 6 : 2)
#endif
#define UNIT_WORDS (CH == 3 ? 12 : 4)

#if NARROW
#define SUMS    uint2
#define HELD    2
#define PART_0(s) ((s).x & 0xffffu)
#define PART_1(s) ((s).y & 0xffffu)
#define PART_2(s) ((s).x >> 16)
#define PART_3(s) ((s).y >> 16)
#else
#define SUMS    uint4
#define HELD    1
#define PART_0(s) (s).s0
#define PART_1(s) (s).s1
#define PART_2(s) (s).s2
#define PART_3(s) (s).s3
#endif
#define QUADS (128 * HELD - 1)

#if NARROW
#define QUAD_SUMS(q) (uint2)((q) & 0x00ff00ffu, (q) >> 8 & 0x00ff00ffu)
#elif SAMPLE_BITS == 8
#define QUAD_SUMS(q) (uint4)((q) & 255u, (q) >> 8 & 255u, (q) >> 16 & 255u, (q) >> 24)
#else
#define QUAD_SUMS(q) (uint4)((q).x & 0xffffu, (q).x >> 16, (q).y & 0xffffu, (q).y >> 16)
#endif

/* Sample shift + k of the quad `a` and of `b` behind it. */
#define FROM_0(a, b) PART_0(a)
#define FROM_1(a, b) PART_1(a)
#define FROM_2(a, b) PART_2(a)
#define FROM_3(a, b) PART_3(a)
#define FROM_4(a, b) PART_0(b)
#define FROM_5(a, b) PART_1(b)
#define FROM_6(a, b) PART_2(b)
#define AFTER_0_0 0
#define AFTER_0_1 1
#define AFTER_0_2 2
#define AFTER_0_3 3
#define AFTER_1_0 1
#define AFTER_1_1 2
#define AFTER_1_2 3
#define AFTER_1_3 4
#define AFTER_2_0 2
#define AFTER_2_1 3
#define AFTER_2_2 4
#define AFTER_2_3 5
#define AFTER_3_0 3
#define AFTER_3_1 4
#define AFTER_3_2 5
#define AFTER_3_3 6
#define TILE_SAMPLE(a, b, shift, k) CAT(FROM_, CAT4(AFTER_, shift, _, k))(a, b)

/* The columns of a work-item's two quads. If they are not all inside the row, `each` and `each_of_second` have the column
 * of each sample, -1 for a zero. (Parameters instead of arrays or structs, which a compiler may put into memory.) */
#define COLUMNS_PARAMETERS bool inside, int first, int second, int4 each, int4 each_of_second
#define COLUMNS_ARGUMENTS  inside, first, second, each, each_of_second

/* DO(k, digit) for BATCH rows: k is a lane of a vector, and `digit` the lane 8 behind it. */
#define BATCH       8
#define EACH_ROW(DO) DO(0, 8) DO(1, 9) DO(2, a) DO(3, b) DO(4, c) DO(5, d) DO(6, e) DO(7, f)

#define SAMPLE(at) ((at) < 0 ? 0u : (uint)row[at])
#if SAMPLE_BITS == 8
#define WORD(at) (SAMPLE(at.s0) | SAMPLE(at.s1) << 8 | SAMPLE(at.s2) << 16 | SAMPLE(at.s3) << 24)
#endif

/* Loads the quads of BATCH rows from y on of the bordered plane, with zeros from row `end` on: first words are in lanes 0
 * to 7, second ones in the others. All loads come before anything else, because each has a long latency. */
inline uint16 FN(load)(PLANE_IN(SRC, src), int y, int end, int height, int border,
                       COLUMNS_PARAMETERS)
{
    uint16 words = 0;
    int8 at = y + (int8)(0, 1, 2, 3, 4, 5, 6, 7);
    bool plain = y >= 0 && y + BATCH <= min(end, height);
    if (!plain) {
#define FIND_ROW(k, digit) at.s##k = y + k < end ? border_index(y + k, height, border) : -1;
        EACH_ROW(FIND_ROW)
    }
    if (inside) {
#if SAMPLE_BITS == 16
#define LOAD_QUADS(k, digit)                                                                             \
    {                                                                                              \
        uint2 q = *(__global const uint2 *)(ROW(src, max(at.s##k, 0)) + first);                  \
        words.s##k = q.x;                                                                          \
        words.s##digit = q.y;                                                                      \
    }
#elif HELD == 2
#define LOAD_QUADS(k, digit)                                                                             \
    words.s##k = *(__global const uint *)(ROW(src, max(at.s##k, 0)) + first);                    \
    words.s##digit = *(__global const uint *)(ROW(src, max(at.s##k, 0)) + second);
#else
#define LOAD_QUADS(k, digit) words.s##k = *(__global const uint *)(ROW(src, max(at.s##k, 0)) + first);
#endif
        EACH_ROW(LOAD_QUADS)
    } else {
#if SAMPLE_BITS == 16
#define GATHER(k, digit)                                                                           \
    {                                                                                              \
        __global const SRC *row = ROW(src, max(at.s##k, 0));                                       \
        words.s##k = SAMPLE(each.s0) | SAMPLE(each.s1) << 16;                                  \
        words.s##digit = SAMPLE(each.s2) | SAMPLE(each.s3) << 16;                              \
    }
#else
#define GATHER(k, digit)                                                                           \
    {                                                                                              \
        __global const SRC *row = ROW(src, max(at.s##k, 0));                                       \
        words.s##k = WORD(each);                                                                 \
        if (HELD == 2)                                                                             \
            words.s##digit = WORD(each_of_second);                                               \
    }
#endif
        EACH_ROW(GATHER)
    }
    if (!plain) {
#define BLANK(k, digit)                                                                            \
    words.s##k = at.s##k < 0 ? 0 : words.s##k;                                                     \
    words.s##digit = at.s##k < 0 ? 0 : words.s##digit;
        EACH_ROW(BLANK)
    }
    return words ^ FLIPPED;
}

#if SAMPLE_BITS == 16
#define FIRST_SUMS(w, k, digit) QUAD_SUMS((uint2)(w.s##k, w.s##digit))
#else
#define FIRST_SUMS(w, k, digit) QUAD_SUMS(w.s##k)
#endif
#if HELD == 2
#define SECOND_SUMS(w, k, digit) QUAD_SUMS(w.s##digit)
#else
#define SECOND_SUMS(w, k, digit) (SUMS)0
#endif

#ifdef DIVIDE_BYTE
#define PACK(a, b, c, d)                                                                           \
    ((a) >> 24 | ((b) >> 16 & 0xff00u) | ((c) >> 8 & 0xff0000u) | ((d) & 0xff000000u))
#else
#define PACK(a, b, c, d) ((a) | (b) << 8 | (c) << 16 | (d) << 24)
#endif

/* The sum of each channel, plus half of the area, over `pixels` pixels of a row of the tile, from sample BEHIND of quad
 * `from` on. */
inline void FN(begin_window)(__local const SUMS *row, int from, int pixels, uint half_area,
                             uint *sum)
{
#if CH == 1
    int to = from + (BEHIND + pixels) / 4;
    SUMS head = row[from], tail = row[to];
    sum[0] = half_area;
    for (; from < to; from++) {
        SUMS s = row[from];
        sum[0] += PART_0(s) + PART_1(s) + PART_2(s) + PART_3(s);
    }
#if BEHIND > 0
    sum[0] -= PART_0(head);
#endif
#if BEHIND > 1
    sum[0] -= PART_1(head);
#endif
#if BEHIND > 2
    sum[0] -= PART_2(head);
#endif
#if AHEAD > 0
    sum[0] += PART_0(tail);
#endif
#if AHEAD > 1
    sum[0] += PART_1(tail);
#endif
#if AHEAD > 2
    sum[0] += PART_2(tail);
#endif
#else
    for (int c = 0; c < CH; c++) {
        sum[c] = half_area;
        for (int i = 0, at = 4 * from + BEHIND + c; i < pixels; i++, at += CH) {
            SUMS s = row[at / 4];
            uint low = at & 1 ? PART_1(s) : PART_0(s), high = at & 1 ? PART_3(s) : PART_2(s);
            sum[c] += at & 2 ? high : low;
        }
    }
#endif
}

/* Computes the results from sample x to end of a row. The first sample of the tile's row is sample -BEHIND of the window
 * of sample `origin`. */
inline void FN(along)(__local const SUMS *row, int origin, int x, int end, int total, int pixels,
                      uint half_area, __global SRC *out, __global const SRC *centre NUMBERS)
{
    uint sum[CH];
    int behind = (x - origin) / 4, ahead = behind + (BEHIND + pixels * CH) / 4;
    FN(begin_window)(row, behind, pixels, half_area, sum);
    SUMS a = row[behind], b = row[ahead];
    for (; x < end; x += 4 * UNIT_QUADS) {
        uint word[UNIT_WORDS];
        UNROLLED_ON_GPUS for (int g = 0; g < UNIT_QUADS; g++) {
            SUMS a_next = row[++behind], b_next = row[++ahead];
            uint mean[4];
#define SLIDE(k)                                                                                   \
    mean[k] = DIVIDE(sum[(4 * g + k) % CH]);                                                       \
    sum[(4 * g + k) % CH] += TILE_SAMPLE(b, b_next, AHEAD, k) - TILE_SAMPLE(a, a_next, BEHIND, k);
            SLIDE(0) SLIDE(1) SLIDE(2) SLIDE(3)
#if SAMPLE_BITS == 8
            word[g] = PACK(mean[0], mean[1], mean[2], mean[3]) ^ FLIPPED;
#else
            word[2 * g] = (mean[0] | mean[1] << 16) ^ FLIPPED;
            word[2 * g + 1] = (mean[2] | mean[3] << 16) ^ FLIPPED;
#endif
            a = a_next;
            b = b_next;
        }
        bool whole = x + 4 * UNIT_QUADS <= total;
#if ALPHA
        whole = false;
#endif
        if (whole) {
            UNROLLED_ON_GPUS for (int i = 0; i < UNIT_WORDS; i += 4)
                *(__global uint4 *)(out + x + i * 32 / SAMPLE_BITS) =
                    (uint4)(word[i], word[i + 1], word[i + 2], word[i + 3]);
            continue;
        }
        UNROLLED_ON_GPUS for (int i = 0; i < 4 * UNIT_QUADS; i++) {
            SRC v = (SRC)(word[i * SAMPLE_BITS / 32] >> i * SAMPLE_BITS % 32);
            if (x + i < total)
                out[x + i] = ALPHA && IS_ALPHA(CH, i) ? centre[x + i] : v;
        }
    }
}

/* The grid counts work-items of strips in x, and in y bands of `band` rows, a multiple of ROWS_AT_ONCE. `stretch` is the
 * number of a work-item's results in a row, a multiple of a unit. */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), int width, int height, int out_width,
       int out_height, int band, int left, int right, int top, int bottom, int border, int centre_x,
       int centre_y, int stretch, uint half_area NUMBERS)
{
    __local SUMS tile[ROWS_AT_ONCE * QUADS];
    int item = (int)get_local_id(0), origin = (int)get_group_id(0) * (ITEMS / ROWS_AT_ONCE) * stretch;
    int y = GRID_Y * band, y_end = min(y + band, out_height), pixels = left + 1 + right;
    /* The work-item's two quads are ITEMS apart. Quads behind the last window are replaced by quad 0: they are not used. */
    int first = origin - left * CH - BEHIND + 4 * item, behind = (out_width + pixels) * CH;
    int second = HELD == 2 && first + 4 * ITEMS < behind ? first + 4 * ITEMS : 0;
    first = first < behind ? first : 0;
    bool inside = first >= 0 && first + 4 <= width * CH && second >= 0 && second + 4 <= width * CH;
    int4 each = 0, each_of_second = 0;
    if (!inside) {
        each = edge_samples(first, width, CH, border);
        each_of_second = edge_samples(second, width, CH, border);
    }
    SUMS sums = 0, sums_of_second = 0;
    for (int i = y - top, end = y + bottom + 1; i < end; i += BATCH) {
        uint16 in = FN(load)(src_base, src_offset, src_stride, i, end, height, border, COLUMNS_ARGUMENTS);
#define BEGIN_SUMS(k, digit)                                                                       \
    if (i + k < end) {                                                                             \
        sums += FIRST_SUMS(in, k, digit);                                                         \
        if (HELD == 2)                                                                             \
            sums_of_second += SECOND_SUMS(in, k, digit);                                                   \
    }
        EACH_ROW(BEGIN_SUMS)
    }
    for (; y < y_end; y += ROWS_AT_ONCE) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < ROWS_AT_ONCE; i += BATCH) {
            uint16 in = FN(load)(src_base, src_offset, src_stride, y + i + bottom + 1, INT_MAX, height,
                                 border, COLUMNS_ARGUMENTS);
            uint16 out = FN(load)(src_base, src_offset, src_stride, y + i - top, INT_MAX, height,
                                  border, COLUMNS_ARGUMENTS);
            __local SUMS *at = tile + i * QUADS + item;
#define SLIDE_SUMS(k, digit)                                                                       \
    if (HELD == 2 || item < QUADS)                                                                 \
        at[k * QUADS] = sums;                                                                     \
    sums += FIRST_SUMS(in, k, digit) - FIRST_SUMS(out, k, digit);                                 \
    if (HELD == 2) {                                                                               \
        if (item + ITEMS < QUADS)                                                                  \
            at[k * QUADS + ITEMS] = sums_of_second;                                                        \
        sums_of_second += SECOND_SUMS(in, k, digit) - SECOND_SUMS(out, k, digit);                          \
    }
            EACH_ROW(SLIDE_SUMS)
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        int row = item % ROWS_AT_ONCE, x = origin + item / ROWS_AT_ONCE * stretch;
        int total = out_width * CH, end = min(x + stretch, total);
        if (y + row < y_end)
            FN(along)(tile + row * QUADS, origin, x, end, total, pixels, half_area,
                      ROW(dst, y + row), ROW(src, y + row + centre_y) + centre_x * CH GIVEN);
    }
}
