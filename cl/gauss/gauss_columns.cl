/* gauss and unsharp of bytes for GPUs with few registers (Mali), for a RADIUS of at most 12: computes the same
 * as gauss_across.cl and gauss_down.cl. WEIGHT_OF(d) is the weight at distance d, in 2^14ths: with
 * weights in the text and no loops a sample is loaded and converted once for all results of a work-item. (Mesa would
 * read an array of constants from memory.) Offsets are unsigned, so that an address is the base plus one sum of 32
 * bits. */
#include <alpha.cl>
#include <edge.cl>
#include <memory.cl>
#include <words.cl>
#include "gauss_sharpen.cl"
#include "weighted.cl"

#pragma kernel across
/* Along rows: 8 results from CHUNKS loads of 16 samples, the first of which is BEFORE samples in front of the middle of
 * the first result's window. The grid counts samples of the result's rows. `start` is where the first load of the row
 * begins, a multiple of 4. Sums are below 2^23; a result is floor(sum / 256 + 1/2): with 1/512 in addition none lies
 * half way between two whole numbers, and adding ROUNDER leaves the nearest in the lowest bits. */
#define UNPACK(at, w)                                                                              \
    v[at] = (float)((w) & 255u), v[at + 1] = (float)((w) >> 8 & 255u),                             \
    v[at + 2] = (float)((w) >> 16 & 255u), v[at + 3] = (float)((w) >> 24);
#define LOAD_16(k)                                                                                 \
    if (k < CHUNKS) {                                                                              \
        uint4 w = inside ? UNALIGNED_IN(uint, 4, src_base + in)                                    \
                         : FN(gather)(src_base + row, first + 16 * k, width, border);              \
        UNPACK(16 * k, w.s0)                                                                       \
        UNPACK(16 * k + 4, w.s1)                                                                   \
        UNPACK(16 * k + 8, w.s2)                                                                   \
        UNPACK(16 * k + 12, w.s3)                                                                  \
        in += 16u;                                                                                 \
    }
#define TAP(j, i)                                                                                  \
    if (i <= RADIUS)                                                                               \
        sum##j = fma(v[BEFORE + j - i * CH] + v[BEFORE + j + i * CH], (float)WEIGHT_OF(i), sum##j);
#define SUM_OF(j)                                                                                     \
    float sum##j = v[BEFORE + j] * (float)WEIGHT_OF(0);                                            \
    TAP(j, 1) TAP(j, 2) TAP(j, 3) TAP(j, 4) TAP(j, 5) TAP(j, 6) TAP(j, 7) TAP(j, 8) TAP(j, 9)      \
    TAP(j, 10) TAP(j, 11) TAP(j, 12)
#define IN_64THS(j) (ushort)as_uint(fma(sum##j, 1.0f / 256, 1.0f / 512) + ROUNDER)

/* 16 samples of a line from sample `first` on, some of which are outside and come from the border. */
inline uint4 FN(gather)(__global const uchar *line, int first, int width, int border)
{
    int never = width >> 30; /* see edge.cl */
    uint4 words = 0;
    for (int i = first; i < first + 16 + never; i += 4)
        words = (uint4)(words.yzw, edge_word_near(line, i, width, CH, border, never));
    return words;
}

__kernel void KERNEL(GRID, PLANE_IN(uchar, src), PLANE_OUT(short, middle), int width, int border, int start)
{
    POSITION(x, y)
    int first = x + start;
    uint row = (uint)(src_offset + y * src_stride), in = row + (uint)first;
    bool inside = first >= 0 && first + 16 * CHUNKS <= width * CH;
    float v[16 * CHUNKS];
    LOAD_16(0)
    LOAD_16(1)
    LOAD_16(2)
    SUM_OF(0) SUM_OF(1) SUM_OF(2) SUM_OF(3) SUM_OF(4) SUM_OF(5) SUM_OF(6) SUM_OF(7)
    uint to = (uint)(middle_offset + y * middle_stride + x);
    *(__global ushort8 *)(middle_base + to) = (ushort8)(IN_64THS(0), IN_64THS(1), IN_64THS(2), IN_64THS(3), IN_64THS(4),
                                                        IN_64THS(5), IN_64THS(6), IN_64THS(7));
}

#pragma kernel down
/* Down columns, of LANES samples in ROWS (2) rows, because four need more registers than G57 has. The grid counts
 * samples of the result, and groups of its rows, of which there are `count`; the other arguments are those of
 * gauss_down.cl. (The source is read for alpha and to sharpen, and then stands beside the result.) */
#define LINES (ROWS + 2 * RADIUS)
#define DISTANCE(j, k) ((k) > RADIUS + (j) ? (k) - RADIUS - (j) : RADIUS + (j) - (k))
#define ADD_TO(j, k)                                                                               \
    if (DISTANCE(j, k) <= RADIUS)                                                                  \
        sum##j = FN(add_low)(sum##j, v, WEIGHT_OF(DISTANCE(j, k)));
#define ADD_LINE(k)                                                                                   \
    if (k < LINES) {                                                                               \
        V(WORK) v = FN(sums_at)(middle_base + in);                                                                      \
        in += (uint)middle_stride;                                                                 \
        ADD_TO(0, k)                                                                               \
        ADD_TO(1, k)                                                                               \
    }
#define ADD_4(k) ADD_LINE(k) ADD_LINE(k + 1) ADD_LINE(k + 2) ADD_LINE(k + 3)

inline V(WORK) FN(sums_at)(__global const MIDDLE *at)
{
    return CONVERT(WORK, as_short8(*(__global const uint4 *)at));
}

inline void FN(give)(__global const SRC *from, __global SRC *to, V(SRC) out, int count NUMBERS)
{
#if defined(TABLE) || defined(REAL) || ALPHA
    V(SRC) in = *(__global const V(SRC) *)from;
    out = SHARPENED(in, out);
    TAKE_ALPHA(ALPHA, out, in);
#endif
    if (count >= LANES) {
        *(__global V(SRC) *)to = out;
        return;
    }
    edge_put_8(to, as_ulong(out), count);
}

/* The sum for one row, of which some lines are outside. */
inline V(SRC) FN(edge)(PLANE_IN(MIDDLE, middle), int x, int row, int height, int border,
                       __global const WEIGHT *restrict table)
{
    V(WORK) sum = ROUNDING;
    for (int i = -RADIUS; i <= RADIUS; i++) {
        int at = border_near(row + i, height, border);
        if (at >= 0)
            sum = FN(add_low)(sum, FN(sums_at)(middle_base + (middle_offset + at * middle_stride + x)), table[abs(i)]);
    }
    return FN(of_column)(0, sum);
}

__kernel void KERNEL(GRID, PLANE_IN(MIDDLE, middle), PLANE_OUT(SRC, dst), PLANE_IN(SRC, src),
                     int height, int count, int border, int centre,
                     __global const WEIGHT *restrict table NUMBERS)
{
    int y = GRID_Y * ROWS, x = SPAN_BEGIN, row = y + centre;
    IN_GRID(x, GRID_Y)
    if (row < RADIUS || row + ROWS + RADIUS > height) {
        for (int j = 0; j < min(ROWS, count - y); j++)
            FN(give)(ROW(src, row + j) + x, ROW(dst, y + j) + x,
                     FN(edge)(middle_base, middle_offset, middle_stride, x, row + j, height, border, table),
                     grid_width - x GIVEN);
        return;
    }
    uint in = (uint)(middle_offset + (row - RADIUS) * middle_stride + x);
    V(WORK) sum0 = ROUNDING, sum1 = ROUNDING;
    ADD_4(0) ADD_4(4) ADD_4(8) ADD_4(12) ADD_4(16) ADD_4(20) ADD_4(24)
    FN(give)(ROW(src, row) + x, ROW(dst, y) + x, FN(of_column)(0, sum0), grid_width - x GIVEN);
    FN(give)(ROW(src, row + 1) + x, ROW(dst, y + 1) + x, FN(of_column)(0, sum1), grid_width - x GIVEN);
}
