/* resize of bytes without alpha for GPUs with few registers (Mali): computes the same as resize_across.cl and
 * resize_down.cl. A work-item computes two neighbouring results at once, because their windows have most samples in
 * common: each is loaded and converted once for both. If along rows the first result stands ALONE, pairs are of an odd
 * result and the next: where that makes fewer steps, as at half the size.
 *
 * A step takes four samples. The table holds, from index `at` on, the first sample for each of `n` pairs of results;
 * then, for each of `steps` steps, n times four words: four weights of 16 bits for the first result, and four for the
 * second. Offsets count bytes and are unsigned, so that an address is the base plus one sum of 32 bits. */
#include <edge.cl>
#include <memory.cl>
#include <words.cl>
#include "resize_reals.cl"

inline uint4 FN(weights_at)(__global const int *table, uint at)
{
    return *(__global const UNALIGNED(uint, 4) *)((__global const uchar *)table + at);
}

#pragma kernel across
/* Along rows, in ROWS rows; a load has four steps of one channel, or one step of pixels of three. The first sample is a
 * multiple of four. The grid counts pairs, and groups of rows; scratch memory has room for all pairs and for all rows of
 * the last group. Sums are below 2^24, so f32 is exact. A result is floor(sum / 256 + 1/2): with 1/512 in addition none
 * lies half way between two whole numbers, and adding ROUNDER leaves the nearest in the lowest bits. */
#define STEPS (CH == 1 ? 4 : 1) /* of a load */

/* The words at `at` of a row whose last 16 bytes begin `back` bytes in front of them; 0: no earlier than they. */
inline uint4 FN(words)(__global const uchar *at, uint back)
{
    uint4 v = UNALIGNED_IN(uint, 4, at - back);
    if (back == 0)
        return v;
    v = back & 4u ? v.yzww : v;
    return back & 8u ? v.zwww : v;
}

#define IN_64THS(sum)        (ushort)as_uint(fma(sum, 1.0f / 256, 1.0f / 512) + ROUNDER)
#define TWO_IN_64THS(a, b)   ((uint)IN_64THS(a) | (uint)IN_64THS(b) << 16)

/* `bytes` of a row may be read, a multiple of 16. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), PLANE_OUT(short, middle),
                     __global const int *restrict table, int at, int n, int steps, int rows, int bytes)
{
    int row = GRID_Y * ROWS, pair = SPAN_BEGIN;
    IN_GRID(pair, GRID_Y)
    uint weights = 4u * (uint)(at + n) + 16u * (uint)pair;
    int place = table[at + pair] * CH;
    uint from = (uint)(src_offset + row * src_stride + place), last = from + (uint)((rows - 1 - row) * src_stride);
    uint in[ROWS];
    float2 sums[ROWS * CH];
    UNROLLED for (int r = 0; r < ROWS; r++)
    {
        in[r] = from;
        from = min(from + (uint)src_stride, last);
        UNROLLED for (int c = 0; c < CH; c++)
            sums[CH * r + c] = 0;
    }
    for (int k = 0, beyond = place + 16 - bytes; k < steps; k += STEPS, beyond += 4 * STEPS * CH) {
        uint back = CH == 1 ? 0u : (uint)max(beyond, 0);
        uint4 words[ROWS];
        UNROLLED for (int r = 0; r < ROWS; r++)
        {
            words[r] = FN(words)(src_base + in[r], back);
            in[r] += (uint)(4 * STEPS * CH);
        }
        UNROLLED for (int s = 0; s < STEPS; s++)
        {
            uint4 w = FN(weights_at)(table, weights);
            float4 first = FN(weights_of)(w.s0, w.s1), second = FN(weights_of)(w.s2, w.s3);
            weights += 16u * (uint)n;
            UNROLLED for (int r = 0; r < ROWS; r++)
                UNROLLED for (int c = 0; c < CH; c++) {
                    float4 v = FN(channel)(words[r], s, c);
                    float2 sum = sums[CH * r + c];
                    sums[CH * r + c] = (float2)(FN(add)(sum.s0, v, first), FN(add)(sum.s1, v, second));
                }
        }
    }
    uint to = (uint)(middle_offset + row * middle_stride + (2 * pair - ALONE) * CH) * 2u;
    UNROLLED for (int r = 0; r < ROWS; r++)
    {
        __global uchar *out = (__global uchar *)middle_base;
        float2 red = sums[CH * r], green = sums[CH * r + CH / 2], blue = sums[CH * r + CH - 1];
        if (CH == 1 && !ALONE) {
            *(__global ushort2 *)(out + to) = (ushort2)(IN_64THS(red.s0), IN_64THS(red.s1));
        } else if (CH == 1) {
            if (pair > 0)
                *(__global ushort *)(out + to) = IN_64THS(red.s0);
            *(__global ushort *)(out + (to + 2u)) = IN_64THS(red.s1);
        } else if (!ALONE) {
            UNALIGNED_OUT(uint, 2, out + to) = (uint2)(TWO_IN_64THS(red.s0, green.s0), TWO_IN_64THS(blue.s0, red.s1));
            *(__global uint *)(out + (to + 8u)) = TWO_IN_64THS(green.s1, blue.s1);
        } else {
            if (pair > 0) {
                *(__global ushort *)(out + to) = IN_64THS(red.s0);
                UNALIGNED_OUT(uint, 2, out + (to + 2u)) =
                    (uint2)(TWO_IN_64THS(green.s0, blue.s0), TWO_IN_64THS(red.s1, green.s1));
            } else {
                *(__global uint *)(out + (to + 6u)) = TWO_IN_64THS(red.s1, green.s1);
            }
            *(__global ushort *)(out + (to + 10u)) = IN_64THS(blue.s1);
        }
        to += 2u * (uint)middle_stride;
    }
}

#pragma kernel down
/* Down columns, of LANES samples, over the rows that were made along rows. The first of them belongs to row `row` of
 * the source. The grid counts samples of the result, and pairs of its rows, of which there are `count`. */
#define CLAMPS
#include "weighted.cl"
inline void FN(put)(__global uchar *to, V(int) sum, int count)
{
    V(uchar) v = FN(of_column)(0, sum);
    if (count >= LANES)
        *(__global V(uchar) *)to = v;
    else
        edge_put_8(to, as_ulong(v), count);
}

__kernel void KERNEL(GRID, PLANE_IN(short, middle), PLANE_OUT(uchar, dst),
                     __global const int *restrict table, int at, int n, int steps, int row, int count)
{
    POSITION(x, pair)
    uint weights = 4u * (uint)(at + n) + 16u * (uint)pair;
    uint in = 2u * (uint)(middle_offset + (table[at + pair] - row) * middle_stride + x);
    V(int) upper = ROUNDING, lower = ROUNDING;
    for (int k = 0; k < steps; k++) {
        uint4 w = FN(weights_at)(table, weights);
        weights += 16u * (uint)n;
        UNROLLED for (int i = 0; i < 4; i++)
        {
            uint first = i < 2 ? w.s0 : w.s1, second = i < 2 ? w.s2 : w.s3;
            V(int) v = convert_int8(as_short8(UNALIGNED_IN(uint, 4, (__global const uchar *)middle_base + in)));
            in += 2u * (uint)middle_stride;
            upper = FN(add_low)(upper, v, i % 2 == 0 ? FN(first_of)(first) : FN(second_of)(first));
            lower = FN(add_low)(lower, v, i % 2 == 0 ? FN(first_of)(second) : FN(second_of)(second));
        }
    }
    __global uchar *to = ROW(dst, 2 * pair) + x;
    FN(put)(to, upper, grid_width - x);
    if (2 * pair + 1 < count)
        FN(put)(to + dst_stride, lower, grid_width - x);
}
