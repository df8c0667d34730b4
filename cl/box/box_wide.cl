/* box of one channel of 8 bits with windows of any size, for GPUs with local memory.
 *
 * A work-group computes a strip of columns down a band of rows. A work-item keeps the sums of 16 columns (a chunk) over
 * the window's height in registers and slides them down: it adds a row that enters the window and subtracts one that
 * leaves it. The sums of ROWS rows go to local memory, together with the sum of each chunk, of its first HEAD columns and
 * of its first TAIL columns. Then a work-item computes 16 results of each of the rows. The sum of the first window is that
 * of the chunks it spans, minus the head of the first chunk, plus the tail of the chunk behind them; from there the window
 * slides along. Neighbouring work-items have neighbouring chunks in device memory and in local memory, so they access
 * whole cache lines and different banks.
 *
 * The first window of item i begins at sample HEAD of chunk i and ends before sample TAIL of chunk i + CHUNKS.
 *
 * With NARROW sums of columns have 16 bits, two in a word (even samples, then odd ones); otherwise 32. Signed samples
 * become unsigned by adding 128 (FLIP). */
#include <edge.cl>
#include "box_divide.cl"
#define FLIPPED       (FLIP * 0x80808080u)
#define EVEN(w)       ((w) & 0x00ff00ffu)
#define ODD(w)        ((w) >> 8 & 0x00ff00ffu)
#define PICK(v, i)    ((i) == 0 ? (v).s0 : (i) == 1 ? (v).s1 : (i) == 2 ? (v).s2 : (v).s3)

#if NARROW
#define PARTS 2
#define DECLARE_SUMS(n)       uint4 n##0, n##1
#define HALF(v, i)    ((i) & 2 ? (v) >> 16 : (v) & 0xffffu)
#define LANE(n, i)    HALF((i) & 1 ? PICK(n##1, (i) / 4) : PICK(n##0, (i) / 4), i)
#define CLEAR(n)      n##0 = 0, n##1 = 0
#define ADD_CHUNK(n, in)  n##0 += EVEN(in), n##1 += ODD(in)
#define SLIDE_DOWN(n, in, out) n##0 += EVEN(in) - EVEN(out), n##1 += ODD(in) - ODD(out)
#else
#define PARTS 4
#define DECLARE_SUMS(n)       uint4 n##0, n##1, n##2, n##3 /* samples 0, 4, 8, 12; 1, 5, 9, 13; … */
#define LANE(n, i)                                                                                 \
    ((i) % 4 == 0   ? PICK(n##0, (i) / 4)                                                          \
     : (i) % 4 == 1 ? PICK(n##1, (i) / 4)                                                          \
     : (i) % 4 == 2 ? PICK(n##2, (i) / 4)                                                          \
                    : PICK(n##3, (i) / 4))
#define CLEAR(n)      n##0 = 0, n##1 = 0, n##2 = 0, n##3 = 0
#define BYTE(w, i)    ((w) >> 8 * (i) & 255u)
#define ADD_CHUNK(n, in)                                                                               \
    n##0 += BYTE(in, 0), n##1 += BYTE(in, 1), n##2 += BYTE(in, 2), n##3 += BYTE(in, 3)
#define SLIDE_DOWN(n, in, out)                                                                     \
    n##0 += BYTE(in, 0) - BYTE(out, 0), n##1 += BYTE(in, 1) - BYTE(out, 1),                        \
        n##2 += BYTE(in, 2) - BYTE(out, 2), n##3 += BYTE(in, 3) - BYTE(out, 3)
#endif

/* DO(k) for ROWS rows, and for 8. */
#define EACH_2(DO) DO(0) DO(1)
#define EACH_4(DO) DO(0) DO(1) DO(2) DO(3)
#define EACH_8(DO) EACH_4(DO) DO(4) DO(5) DO(6) DO(7)
#define EACH_ROW(DO) CAT(EACH_, ROWS)(DO)
#define EACH_LANE(DO)                                                                              \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)                                                \
    DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define PER_ROW CAT(uint, ROWS)

/* Loads the chunk at column x of line y, which may be a line of zeros. */
inline uint4 FN(chunk)(PLANE_IN(uchar, src), int x, int y, int height, int border)
{
    int row = border_index(y, height, border);
    uint4 v = *(__global const uint4 *)(ROW(src, max(row, 0)) + x);
    return row < 0 ? (uint4)FLIPPED : v ^ FLIPPED;
}
#define CHUNK(y) FN(chunk)(src_base, src_offset, src_stride, x, y, height, border)

/* The sum of column `at` of the tile, in its row k. */
inline uint FN(sum_of)(__local const uint4 *tile, int k, int at)
{
    at = clamp(at, 0, 16 * ITEMS - 1);
#if NARROW
    __local const ushort *sums = (__local const ushort *)(tile + (2 * k + at % 2) * ITEMS + at / 16);
    return sums[at % 16 / 2];
#else
    __local const uint *sums = (__local const uint *)(tile + (4 * k + at % 4) * ITEMS + at / 16);
    return sums[at % 16 / 4];
#endif
}

/* Completes a chunk with columns outside of the row: writes their sums, which are those of columns inside, or zeros, and
 * the sums of the chunk. */
inline void FN(fill)(__local uint4 *tile, __local PER_ROW *totals, __local PER_ROW *heads,
                     __local PER_ROW *tails, int item, int first, int column, int width, int border,
                     uint zeros)
{
    PER_ROW total = 0, head = 0, tail = 0;
    for (int i = 0; i < 16; i++) {
        int at = border_index(column + i, width, border);
        PER_ROW sums;
#define SUM_OF(k) sums.s##k = at < 0 ? zeros : FN(sum_of)(tile, k, at - first);
        EACH_ROW(SUM_OF)
        head = i == HEAD ? total : head;
        tail = i == TAIL ? total : tail;
        total += sums;
#if NARROW
#define PUT_SUM(k)                                                                                 \
    ((__local ushort *)(tile + (2 * k + i % 2) * ITEMS + item))[i / 2] = (ushort)sums.s##k;
#else
#define PUT_SUM(k) ((__local uint *)(tile + (4 * k + i % 4) * ITEMS + item))[i / 4] = sums.s##k;
#endif
        if (at < 0 || at != column + i) { /* column -1 of zeros is -1, too */
            EACH_ROW(PUT_SUM)
        }
    }
    totals[item] = total;
    heads[item] = head;
    tails[item] = tail;
}

#ifdef COMPARES
/* Bytes of a word that are at least their means, by as much as the lanes of `begin` say; in these bit 14 tells. */
inline uint4 FN(compared)(uint4 v, uint4 mean, uint begin, uint low, uint other)
{
    uint4 even = EVEN(v) + begin - EVEN(mean), odd = ODD(v) + begin - ODD(mean);
    uint4 high = (even >> 14 & 0x00010001u) * 0xffu | (odd >> 14 & 0x00010001u) * 0xff00u;
    return low ^ (high & other);
}
#endif

/* The grid counts work-items of strips in x and bands of `band` rows, a multiple of ROWS, in y. */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(uchar, src), PLANE_OUT(uchar, dst), int width, int height, int out_width,
       int out_height, int band, int left, int right, int top, int bottom, int border, int centre_x,
       int centre_y, uint half_area NUMBERS)
{
    __local uint4 tile[ROWS * PARTS * ITEMS];
    __local PER_ROW totals[ITEMS], heads[ITEMS], tails[ITEMS];
    int item = (int)get_local_id(0);
    int out_x = ((int)get_group_id(0) * (ITEMS - CHUNKS - 1) + item) * 16;
    int x = out_x - left - HEAD, y = GRID_Y * band, y_end = min(y + band, out_height);
    bool results = item < ITEMS - CHUNKS - 1 && out_x < out_width;
    /* Columns outside of the row get their sums from other columns, in local memory (FN(fill)). x is clamped, so that all
     * chunks are loaded from the row's memory, which is whole vectors. */
    int first = x - 16 * item, column = x;
    bool any_outside = first < 0 || first + 16 * ITEMS > width, outside = x < 0 || x + 16 > width;
    x = clamp(x, 0, (width - 1) / 16 * 16);
    DECLARE_SUMS(s);
    CLEAR(s);
#define BEGIN_BORDERED(k)                                                                                   \
    if (i + k < end) {                                                                             \
        uint4 in##k = CHUNK(i + k);                                                                \
        ADD_CHUNK(s, in##k);                                                                           \
    }
#define BEGIN_INSIDE(k)                                                                            \
    uint4 in##k = *(__global const uint4 *)(ROW(src, i + k) + x) ^ FLIPPED;
#define ENTER_INSIDE(k) ADD_CHUNK(s, in##k);
    for (int i = y - top, end = y + bottom + 1; i < end; i += 8) {
        if (i >= 0 && i + 8 <= min(end, height)) {
            EACH_8(BEGIN_INSIDE)
            EACH_8(ENTER_INSIDE)
        } else {
            EACH_8(BEGIN_BORDERED)
        }
    }
    for (; y < y_end; y += ROWS) {
        int from = y + bottom + 1, also = y - top;
#define DECLARE(k) uint4 in##k, out##k;
#define LOAD_INSIDE(k)                                                                                    \
    in##k = *(__global const uint4 *)(ROW(src, from + k) + x) ^ FLIPPED;                           \
    out##k = *(__global const uint4 *)(ROW(src, also + k) + x) ^ FLIPPED;
#define LOAD_BORDERED(k) in##k = CHUNK(from + k), out##k = CHUNK(also + k);
        EACH_ROW(DECLARE)
        if (also >= 0 && from + ROWS <= height) {
            EACH_ROW(LOAD_INSIDE)
        } else {
            EACH_ROW(LOAD_BORDERED)
        }
        PER_ROW total = 0, head = 0, tail = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
#if NARROW
#define KEEP(k)                                                                                    \
    tile[(2 * k) * ITEMS + item] = s0;                                                             \
    tile[(2 * k + 1) * ITEMS + item] = s1;
#else
#define KEEP(k)                                                                                    \
    tile[(4 * k) * ITEMS + item] = s0;                                                             \
    tile[(4 * k + 1) * ITEMS + item] = s1;                                                         \
    tile[(4 * k + 2) * ITEMS + item] = s2;                                                         \
    tile[(4 * k + 3) * ITEMS + item] = s3;
#endif
#define PREFIX(i)                                                                                  \
    if (i == HEAD)                                                                                 \
        head_of = sum;                                                                             \
    if (i == TAIL)                                                                                 \
        tail_of = sum;                                                                             \
    sum += LANE(s, i);
#define STEP(k)                                                                                    \
    {                                                                                              \
        KEEP(k)                                                                                    \
        uint sum = 0, head_of = 0, tail_of = 0;                                                    \
        EACH_LANE(PREFIX)                                                                          \
        total.s##k = sum, head.s##k = head_of, tail.s##k = tail_of;                                \
        SLIDE_DOWN(s, in##k, out##k);                                                              \
    }
        EACH_ROW(STEP)
        totals[item] = total;
        heads[item] = head;
        tails[item] = tail;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (any_outside) {
            if (outside)
                FN(fill)(tile, totals, heads, tails, item, first, column, width, border,
                         (uint)(top + 1 + bottom) * (FLIP * 128u));
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (!results)
            continue;
        PER_ROW start = half_area + tails[item + CHUNKS] - heads[item];
        for (int i = 0; i < CHUNKS; i++)
            start += totals[item + i];
#if NARROW
#define FETCH_SUMS(n, at) n##0 = row[at], n##1 = row[ITEMS + (at)];
#else
#define FETCH_SUMS(n, at)                                                                          \
    n##0 = row[at], n##1 = row[ITEMS + (at)], n##2 = row[2 * ITEMS + (at)],                        \
    n##3 = row[3 * ITEMS + (at)];
#endif
#define SLID(n, m, i) ((i) < 16 ? LANE(n, (i) % 16) : LANE(m, (i) % 16))
#define MEAN(i)                                                                                    \
    uint mean##i = DIVIDE(sum);                                                                    \
    sum += SLID(c, d, TAIL + i) - SLID(a, b, HEAD + i);
#define WORD(a, b, c, d) (mean##a | mean##b << 8 | mean##c << 16 | mean##d << 24)
        _Pragma("unroll 1") /* otherwise the sums of all rows would be in registers at once */
        for (int k = 0; k < ROWS && y + k < y_end; k++) {
            __local const uint4 *row = tile + k * PARTS * ITEMS + item;
            DECLARE_SUMS(a);
            DECLARE_SUMS(b);
            DECLARE_SUMS(c);
            DECLARE_SUMS(d);
            FETCH_SUMS(a, 0)
            FETCH_SUMS(b, 1)
            FETCH_SUMS(c, CHUNKS)
            FETCH_SUMS(d, CHUNKS + 1)
            uint sum = start.s0;
#if ROWS == 4
            start = start.s1230;
#else
            start = start.s10;
#endif
            EACH_LANE(MEAN)
            uint4 v = (uint4)(WORD(0, 1, 2, 3), WORD(4, 5, 6, 7), WORD(8, 9, 10, 11),
                              WORD(12, 13, 14, 15));
#ifdef COMPARES
            v = FN(compared)(*(__global const uint4 *)(ROW(src, y + k) + out_x) ^ FLIPPED, v, begin, low, other);
#else
            v ^= FLIPPED;
#endif
            __global uchar *out = ROW(dst, y + k) + out_x;
            if (out_x + 16 <= out_width)
                *(__global uint4 *)out = v;
            else
                edge_put_16(out, v, out_width - out_x);
        }
    }
}
