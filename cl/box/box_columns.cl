/* box of one channel of 8 bits with windows of any size, for GPUs with few registers and without fast local memory
 * (Mali). A row of results is divided into chunks of CHUNK samples, one for each work-item.
 *
 * KERNEL_starts computes, for each row of the source and each chunk, the sum of this row under the window of the chunk's
 * first sample: the start. In KERNEL_means a work-item goes down `band` rows of its chunk. It keeps the window sum of the
 * first sample, to which it adds the start of each row that enters the window, and subtracts that of each row that
 * leaves. For each further sample it keeps the slope: the difference from the sum before, which is the column that enters
 * minus the one that leaves, each summed over the window's height. So it reads only two pieces of CHUNK columns of each
 * row that enters or leaves, at the window's left and right end.
 *
 * Sums are floats if they are below 2^24 (SUM_IS_float), so that everything is exact; otherwise uints modulo 2^32. Signed
 * samples become unsigned by adding 128 (FLIP). LEFT and RIGHT are the distances of the window's two ends from addresses
 * at which 16 samples can be loaded at once. */
#include <border.cl>
#include <memory.cl>
#include <quotient.cl>
#include <words.cl>
#define CHUNK   12
#define FLIPPED (FLIP * 0x80808080u)

#define PICK(v, i) ((i) == 0 ? (v).s0 : (i) == 1 ? (v).s1 : (i) == 2 ? (v).s2 : (v).s3)
#ifdef SUM_IS_float
#define BYTE(v, i) BYTE_AS_FLOAT(PICK(v, (i) / 4), (i) % 4)
#else
#define BYTE(v, i) (PICK(v, (i) / 4) >> 8 * ((i) % 4) & 255u)
#endif
/* DO(i, i as vectors name it). */
#define EACH_SAMPLE(DO)                                                                            \
    DO(0, 0) DO(1, 1) DO(2, 2) DO(3, 3) DO(4, 4) DO(5, 5) DO(6, 6) DO(7, 7) DO(8, 8) DO(9, 9)      \
    DO(10, a) DO(11, b)

/* The 16 samples from x on of a bordered line of n. (`never`: see edge.cl.) */
inline uint4 FN(sixteen)(__global const uchar *line, int x, int n, int border)
{
    if (x >= 0 && x + 16 <= n)
        return UNALIGNED_IN(uint, 4, line + (uint)x) ^ FLIPPED;
    uint4 w = 0;
    for (int i = x, never = n >> 30; i < x + 16 + never; i++) {
        int at = border_near(i, n, border);
        uint sample = at < 0 ? 0u : (uint)line[at] << 24;
        w = (uint4)(w.s012 >> 8 | w.s123 << 24, w.s3 >> 8 | sample);
    }
    return w ^ FLIPPED;
}

#if defined(KERNEL_starts)
#define ADD_IN(i, digit)   sum += BYTE(in, RIGHT + i);
#define TAKE_OUT(i, digit) sum -= BYTE(out, LEFT + i);

/* The grid counts the source's rows in x, because there are more of them, and in y parts of `part` chunks. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), PLANE_OUT(START, starts), int width, int chunks,
                     int part, int left, int right, int border)
{
    int y = SPAN_BEGIN, chunk = GRID_Y * part, end = min(chunk + part, chunks);
    IN_GRID(y, GRID_Y)
    __global const uchar *line = ROW(src, y);
    __global START *to = ROW(starts, y);
    int x = chunk * CHUNK;
    SUM sum = 0;
    for (int i = x - left; i <= x + right; i++) {
        int at = border_near(i, width, border);
        sum += (SUM)((at < 0 ? 0u : (uint)line[at]) ^ (FLIPPED & 255u));
    }
    for (;; x += CHUNK) {
        to[chunk] = (START)sum;
        if (++chunk == end)
            return;
        uint4 in = FN(sixteen)(line, x + right + 1 - RIGHT, width, border);
        uint4 out = FN(sixteen)(line, x - left - LEFT, width, border);
        EACH_SAMPLE(ADD_IN)
        EACH_SAMPLE(TAKE_OUT)
    }
}

#elif defined(KERNEL_means)
#ifdef SUM_IS_float
#define MEAN(sum)          as_uint(fma(sum, reciprocal, ROUNDER))
#define WORD(a, b, c, d)   LAST_BYTES(mean##a, mean##b, mean##c, mean##d)
#else
#define MEAN(sum)          floor_quotient_uint((sum) + area / 2, area, factor)
#define WORD(a, b, c, d)   (mean##a | mean##b << 8 | mean##c << 16 | mean##d << 24)
#endif

/* Row `at` of the bordered source enters the window (SIGN +) or leaves it (-). */
#define SLOPES(SIGN, i, digit) slopes.s##digit SIGN##= BYTE(r, RIGHT + i) - BYTE(l, LEFT + i);
#define ENTERS(i, digit) SLOPES(+, i, digit)
#define LEAVES(i, digit) SLOPES(-, i, digit)
#define ROW_MOVES(SIGN, MOVES, at)                                                                 \
    {                                                                                              \
        int row = border_near(at, height, border);                                                 \
        __global const uchar *line = ROW(src, max(row, 0));                                        \
        uint4 r = FLIPPED, l = FLIPPED;                                                            \
        if (row >= 0) {                                                                            \
            r = FN(sixteen)(line, x + right + 1 - RIGHT, width, border);                           \
            l = FN(sixteen)(line, x - left - LEFT, width, border);                                 \
        }                                                                                          \
        first SIGN##= row < 0 ? (SUM)zeros : (SUM)ROW(starts, row)[chunk];                         \
        EACH_SAMPLE(MOVES)                                                                         \
    }
#define NEXT_MEAN(i, digit)                                                                           \
    uint mean##i = MEAN(sum);                                                                      \
    sum += slopes.s##digit;

/* The grid counts chunks, and bands. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), PLANE_IN(START, starts), PLANE_OUT(uchar, dst),
                     int width, int height, int out_width, int out_height, int band, int left,
                     int right, int top, int bottom, int border, uint zeros NUMBERS)
{
    int chunk = SPAN_BEGIN, x = chunk * CHUNK, y = GRID_Y * band, end = min(y + band, out_height);
    IN_GRID(chunk, GRID_Y)
    SUM first = 0;
    CAT(SUM, 16) slopes = 0;
    for (int at = y - top; at <= y + bottom; at++)
        ROW_MOVES(+, ENTERS, at)
    for (;;) {
        SUM sum = first;
        EACH_SAMPLE(NEXT_MEAN)
        uint4 v = (uint4)(WORD(0, 1, 2, 3), WORD(4, 5, 6, 7), WORD(8, 9, 10, 11), 0) ^ FLIPPED;
        __global uchar *to = dst_base + (uint)(dst_offset + y * dst_stride + x);
        if (x + CHUNK <= out_width) {
            *(__global uint *)to = v.s0;
            *(__global uint *)(to + 4) = v.s1;
            *(__global uint *)(to + 8) = v.s2;
        } else {
            for (int i = x; i < out_width; i++, to++) {
                *to = (uchar)v.s0;
                v = (uint4)(v.s012 >> 8 | v.s120 << 24, 0u);
            }
        }
        if (++y == end)
            return;
        ROW_MOVES(+, ENTERS, y + bottom)
        ROW_MOVES(-, LEAVES, y - 1 - top)
    }
}
#endif
