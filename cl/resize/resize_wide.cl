/* resize along rows on GPUs, of bytes without alpha: computes the same as resize_across.cl, from words of four bytes. A
 * work-item computes a pixel in each of ROWS rows, so that it loads weights only once. The grid counts pixels of the
 * result and groups of rows; scratch memory has room for all rows of the last group.
 *
 * A step takes four source pixels. The table holds, from index `at` on, the first source pixel for each of `n` pixels
 * of the result, a multiple of four; then, for each of `steps` steps, n pairs of words: four weights of 16 bits. With
 * one channel four steps are done at once, with a load of 16 bytes. */
#include <memory.cl>
#include <words.cl>

#ifdef HAS_PTX
/* dp4a adds four products of bytes, so weights are divided into their lower and their upper bytes. */
#define SUM             int
#define SAMPLES         uint
#define WEIGHTS         uint2
#define WEIGHTS_OF(w)   (uint2)(permute((w).s0, (w).s1, 0x6420u), permute((w).s0, (w).s1, 0x7531u))
#define GREY(a)         (a)
#define RED(a, b, c)    permute(permute(a, b, 0x0630u), c, 0x5210u)
#define GREEN(a, b, c)  permute(permute(a, b, 0x0741u), c, 0x6210u)
#define BLUE(a, b, c)   permute(permute(a, b, 0x0052u), c, 0x7410u)
inline int FN(add)(int sum, uint samples, uint2 w)
{
    int upper;
    __asm__("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(upper) : "r"(samples), "r"(w.s1), "r"(0));
    __asm__("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(samples), "r"(w.s0));
    return sum + (upper << 8);
}
#else
/* Sums are below 2^24, so f32 is exact. Mesa compiles each of these conversions to one instruction; conversions of
 * vectors take three for each lane. */
#define SUM             float
#define SAMPLES         float4
#define WEIGHTS         float4
#define BYTE(w, i)      (float)((w) >> 8 * (i) & 255u)
#define FIRST_OF(w)     (float)((int)((w) << 16) >> 16)
#define SECOND_OF(w)    (float)((int)(w) >> 16)
#define WEIGHTS_OF(w)                                                                              \
    (float4)(FIRST_OF((w).s0), SECOND_OF((w).s0), FIRST_OF((w).s1), SECOND_OF((w).s1))
#define GREY(a)         (float4)(BYTE(a, 0), BYTE(a, 1), BYTE(a, 2), BYTE(a, 3))
#define RED(a, b, c)    (float4)(BYTE(a, 0), BYTE(a, 3), BYTE(b, 2), BYTE(c, 1))
#define GREEN(a, b, c)  (float4)(BYTE(a, 1), BYTE(b, 0), BYTE(b, 3), BYTE(c, 2))
#define BLUE(a, b, c)   (float4)(BYTE(a, 2), BYTE(b, 1), BYTE(c, 0), BYTE(c, 3))
inline float FN(add)(float sum, float4 samples, float4 w)
{
    sum = fma(samples.s0, w.s0, sum);
    sum = fma(samples.s1, w.s1, sum);
    sum = fma(samples.s2, w.s2, sum);
    return fma(samples.s3, w.s3, sum);
}
#endif

/* The next words of a row, three of them. Elsewhere than on NVIDIA one load of four words takes no longer than one of one. */
#define ONE_BY_ONE(from)                                                                           \
    (uint4)((from)[min(word, last)], (from)[min(word + 1, last)], (from)[min(word + 2, last)], 0u)
#ifdef HAS_PTX
#define THREE_WORDS(from) ONE_BY_ONE(from)
#else
#define THREE_WORDS(from) (word + 3 <= last ? UNALIGNED_IN(uint, 4, (from) + word) : ONE_BY_ONE(from))
#endif

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
    SUM sums[ROWS * CH];
    UNROLLED for (int r = 0; r < ROWS; r++)
        begin[r] = (src_offset + min(row + r, rows - 1) * src_stride) / 4;
    UNROLLED for (int i = 0; i < ROWS * CH; i++)
        sums[i] = 0;
    __global const uint *in = (__global const uint *)src_base;
#if CH == 1
#define ADD_STEP(part)                                                                             \
    {                                                                                              \
        WEIGHTS w = WEIGHTS_OF(*weights);                                                          \
        weights += n;                                                                              \
        UNROLLED for (int r = 0; r < ROWS; r++)                                                    \
            sums[r] = FN(add)(sums[r], GREY(words[r].part), w);                                    \
    }
    for (int k = 0; k < steps; k += 4, word += 4) {
        uint4 words[ROWS];
        UNROLLED for (int r = 0; r < ROWS; r++)
            words[r] = UNALIGNED_IN(uint, 4, in + begin[r] + word);
        ADD_STEP(s0)
        ADD_STEP(s1)
        ADD_STEP(s2)
        ADD_STEP(s3)
    }
#else
    for (int k = 0; k < steps; k++, word += 3, weights += n) {
        WEIGHTS w = WEIGHTS_OF(*weights);
        UNROLLED for (int r = 0; r < ROWS; r++) {
            __global const uint *from = in + begin[r];
            uint4 v = THREE_WORDS(from);
            sums[3 * r] = FN(add)(sums[3 * r], RED(v.s0, v.s1, v.s2), w);
            sums[3 * r + 1] = FN(add)(sums[3 * r + 1], GREEN(v.s0, v.s1, v.s2), w);
            sums[3 * r + 2] = FN(add)(sums[3 * r + 2], BLUE(v.s0, v.s1, v.s2), w);
        }
    }
#endif
    __global short *out = ROW(middle, row) + x * CH;
    UNROLLED for (int r = 0; r < ROWS; r++)
        UNROLLED for (int c = 0; c < CH; c++)
            out[r * middle_stride + c] = (short)(((int)sums[r * CH + c] + (1 << 7)) >> 8);
}
