/* resize along rows on GPUs, of bytes without alpha: computes the same as resize_across.cl, from words of four bytes. A
 * work-item computes a pixel in each of ROWS rows, so that it loads weights only once. The grid counts pixels of the
 * result and groups of rows; scratch memory has room for all rows of the last group.
 *
 * A step takes four source pixels. The table holds, from index `at` on, the first source pixel for each of `n` pixels
 * of the result, a multiple of four; then, for each of `steps` steps, n pairs of words: four weights of 16 bits. With
 * one channel four steps are done at once, with a load of 16 bytes. */
#include <memory.cl>
#include <words.cl>

/* What four samples of a channel and four weights are: bytes, of which dp4a multiplies and adds four, so that weights are
 * divided into their lower and their upper bytes; or floats. */
#ifdef HAS_PTX
#include "channels.cl"
#define ROW_SUM int
#define WEIGHTS uint2
inline uint FN(channel)(uint4 v, int step, int c)
{
    if (CH == 1)
        return step == 0 ? v.s0 : step == 1 ? v.s1 : step == 2 ? v.s2 : v.s3;
    return FN(channel_of)(v.s0, v.s1, v.s2, c);
}

inline uint2 FN(weights_of)(uint v, uint w)
{
    return (uint2)(permute(v, w, 0x6420u), permute(v, w, 0x7531u));
}

inline int FN(add)(int sum, uint samples, uint2 w)
{
    int upper;
    __asm__("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(upper) : "r"(samples), "r"(w.s1), "r"(0));
    __asm__("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(samples), "r"(w.s0));
    return sum + (upper << 8);
}
#else
#include "resize_reals.cl"
#define ROW_SUM float
#define WEIGHTS float4
#endif

/* The next words of a row, three of them. Elsewhere than on NVIDIA one load of four words takes no longer than one of one. */
inline uint4 FN(three_words)(__global const uint *from, int word, int last)
{
#ifndef HAS_PTX
    if (word + 3 <= last)
        return UNALIGNED_IN(uint, 4, from + word);
#endif
    return (uint4)(from[min(word, last)], from[min(word + 1, last)], from[min(word + 2, last)], 0u);
}

/* `last` is the last word of a row that may be read. With three channels the last steps may go beyond it; their weights
 * are 0 there. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), PLANE_OUT(short, middle),
                     __global const int *restrict table, int at, int n, int steps, int rows,
                     int last)
{
    int row = GRID_Y * ROWS;
    int x = SPAN_BEGIN;
    IN_GRID(x, GRID_Y)
    __global const uint2 *weights = (__global const uint2 *)(table + at + n) + x;
    int word = table[at + x] / 4 * CH;
    int begin[ROWS];
    ROW_SUM sums[ROWS * CH];
    UNROLLED for (int r = 0; r < ROWS; r++)
        begin[r] = (src_offset + min(row + r, rows - 1) * src_stride) / 4;
    UNROLLED for (int i = 0; i < ROWS * CH; i++)
        sums[i] = 0;
    __global const uint *in = (__global const uint *)src_base;
#if CH == 1
    for (int k = 0; k < steps; k += 4, word += 4) {
        uint4 words[ROWS];
        UNROLLED for (int r = 0; r < ROWS; r++)
            words[r] = UNALIGNED_IN(uint, 4, in + begin[r] + word);
        UNROLLED for (int i = 0; i < 4; i++, weights += n) {
            WEIGHTS w = FN(weights_of)(weights->s0, weights->s1);
            UNROLLED for (int r = 0; r < ROWS; r++)
                sums[r] = FN(add)(sums[r], FN(channel)(words[r], i, 0), w);
        }
    }
#else
    for (int k = 0; k < steps; k++, word += 3, weights += n) {
        WEIGHTS w = FN(weights_of)(weights->s0, weights->s1);
        UNROLLED for (int r = 0; r < ROWS; r++) {
            uint4 v = FN(three_words)(in + begin[r], word, last);
            UNROLLED for (int c = 0; c < CH; c++)
                sums[CH * r + c] = FN(add)(sums[CH * r + c], FN(channel)(v, 0, c), w);
        }
    }
#endif
    __global short *out = ROW(middle, row) + x * CH;
    UNROLLED for (int r = 0; r < ROWS; r++)
        UNROLLED for (int c = 0; c < CH; c++)
            out[r * middle_stride + c] = (short)(((int)sums[r * CH + c] + (1 << 7)) >> 8);
}
