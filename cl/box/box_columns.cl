/* box of 8 bits with windows of any size, for GPUs with few registers and without fast local memory (Mali). A row of
 * results is divided into chunks of CHUNK samples, whole pixels, one for each work-item.
 *
 * KERNEL_starts computes, for each row of the source and each chunk, the sums of this row under the window of the chunk's
 * first pixel: the starts, one of each channel. In KERNEL_means a work-item goes down `band` rows of its chunk. It keeps
 * the window sums of the first pixel, to which it adds the starts of each row that enters the window, and subtracts those
 * of each row that leaves. For each further pixel it keeps the slopes: the differences from the sums before, which is the
 * column that enters minus the one that leaves, each summed over the window's height. So it reads only two pieces of
 * CHUNK samples of each row that enters or leaves, at the window's left and right end.
 *
 * Sums are floats if they are below 2^24 (SUM), so that everything is exact; otherwise uints modulo 2^32. Signed
 * samples become unsigned by adding 128 (FLIP). LEFT and RIGHT are the distances of the window's two ends from addresses
 * at which 16 samples can be loaded at once. */
#include <border.cl>
#include <memory.cl>
#include <quotient.cl>
#include <types.cl>
#include <words.cl>
#define CHUNK   12
#define FLIPPED (FLIP * 0x80808080u)

/* Sample i of 16. */
#define BYTE_IN(v, i) (SUM)(((i) < 4 ? (v).s0 : (i) < 8 ? (v).s1 : (i) < 12 ? (v).s2 : (v).s3) >> 8 * ((i) % 4) & 255u)

/* DO(i, i as vectors name it) for each sample of a chunk: what is kept from row to row is a vector, since Mesa's compiler
 * copies the elements of an array once more. */
#define EACH_SAMPLE(DO)                                                                            \
    DO(0, 0) DO(1, 1) DO(2, 2) DO(3, 3) DO(4, 4) DO(5, 5) DO(6, 6) DO(7, 7) DO(8, 8) DO(9, 9) DO(10, a) DO(11, b)

/* Sums of a pixel's channels, and starts, of which there are four if there are several channels. */
#define SUMS   CAT(SUM, 4)
#define STARTS (CH == 1 ? 1 : 4)

/* Where sample x of a bordered line of `width` pixels lies in it; -1: a zero. */
inline int FN(place)(int x, int width, int border)
{
    int channel = modulo(x, CH), pixel = border_near((x - channel) / CH, width, border);
    return pixel < 0 ? -1 : pixel * CH + channel;
}

/* The 16 samples from x on of a bordered line of `width` pixels. (`never`: see edge.cl.) */
inline uint4 FN(sixteen)(__global const uchar *line, int x, int width, int border)
{
    if (x >= 0 && x + 16 <= width * CH)
        return UNALIGNED_IN(uint, 4, line + (uint)x) ^ FLIPPED;
    uint4 w = 0;
    for (int i = x, never = width >> 30; i < x + 16 + never; i++) {
        int at = FN(place)(i, width, border);
        uint sample = at < 0 ? 0u : (uint)line[at] << 24;
        w = (uint4)(w.s012 >> 8 | w.s123 << 24, w.s3 >> 8 | sample);
    }
    return w ^ FLIPPED;
}
/* Those that enter and leave the windows of a chunk's samples but the first pixel. */
#define ENTERING(line) FN(sixteen)(line, x + (right + 1) * CH - RIGHT, width, border)
#define LEAVING(line)  FN(sixteen)(line, x - left * CH - LEFT, width, border)

#pragma kernel starts
INLINED SUMS FN(sums)(const SUM *each)
{
    return (SUMS)(each[0], each[1], each[2], each[3]);
}

/* The grid counts the source's rows in x, because there are more of them, and in y parts of `part` chunks. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), PLANE_OUT(START, starts), int width, int chunks,
                     int part, int left, int right, int border)
{
    int y = SPAN_BEGIN, chunk = GRID_Y * part, end = min(chunk + part, chunks);
    IN_GRID(y, GRID_Y)
    __global const uchar *line = ROW(src, y);
    __global START *to = ROW(starts, y);
    int x = chunk * CHUNK;
    SUMS sum = 0;
    for (int i = x / CH - left; i <= x / CH + right; i++) {
        int at = border_near(i, width, border);
        SUM pixel[4];
        UNROLLED for (int c = 0; c < 4; c++)
            pixel[c] = c < CH ? (SUM)((at < 0 ? 0u : (uint)line[max(at, 0) * CH + c]) ^ (FLIPPED & 255u)) : 0;
        sum += FN(sums)(pixel);
    }
    for (;; x += CHUNK) {
        if (CH == 1)
            to[chunk] = (START)sum.s0;
        else
            *(__global CAT(START, 4) *)(to + 4 * chunk) = CAT3(convert_, START, 4)(sum);
        if (++chunk == end)
            return;
        uint4 in = ENTERING(line), out = LEAVING(line);
        SUM all[4];
        all[0] = sum.s0, all[1] = sum.s1, all[2] = sum.s2, all[3] = sum.s3;
        UNROLLED for (int i = 0; i < CHUNK; i++)
            all[i % CH] += BYTE_IN(in, RIGHT + i);
        UNROLLED for (int i = 0; i < CHUNK; i++)
            all[i % CH] -= BYTE_IN(out, LEFT + i);
        sum = FN(sums)(all);
    }
}

#pragma kernel means
inline SUMS FN(starts_at)(__global const START *p)
{
    if (CH == 1)
        return (SUMS)((SUM)p[0], 0, 0, 0);
    return CAT3(convert_, SUM, 4)(*(__global const CAT(START, 4) *)p);
}

/* A mean in the lowest byte of a word, and four of them in a word. `factor`: 1/area, of sums that are floats. */
inline uint FN(mean)(SUM sum, uint area, float factor)
{
    return IS_REAL(SUM) ? as_uint(fma((float)sum, factor, ROUNDER))
                        : floor_quotient_uint((uint)sum + area / 2, area, factor);
}

inline uint FN(word)(uint a, uint b, uint c, uint d)
{
    return IS_REAL(SUM) ? last_bytes(a, b, c, d) : a | b << 8 | c << 16 | d << 24;
}

/* Row `at` of the bordered source enters the window (SIGN +) or leaves it (-). */
#define ENTERS(i, digit) slopes.s##digit += BYTE_IN(r, RIGHT + i) - BYTE_IN(l, LEFT + i);
#define LEAVES(i, digit) slopes.s##digit -= BYTE_IN(r, RIGHT + i) - BYTE_IN(l, LEFT + i);
#define ROW_MOVES(SIGN, MOVES, at)                                                                        \
    {                                                                                              \
        int row = border_near(at, height, border);                                                 \
        __global const uchar *line = ROW(src, max(row, 0));                                        \
        uint4 r = FLIPPED, l = FLIPPED;                                                            \
        if (row >= 0) {                                                                            \
            r = ENTERING(line);                                                                    \
            l = LEAVING(line);                                                                     \
        }                                                                                          \
        first SIGN##= row < 0 ? (SUMS)(SUM)(FLIP * 128 * (left + 1 + right)) : FN(starts_at)(PLACE(starts, chunk * STARTS, row)); \
        EACH_SAMPLE(MOVES)                                                                         \
    }
#define ALPHA_BYTES (ALPHA == 2 ? 0xff00ff00u : 0xff000000u)

/* The grid counts chunks, and bands. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), PLANE_IN(START, starts), PLANE_OUT(uchar, dst),
                     int width, int height, int out_width, int out_height, int band, int left,
                     int right, int top, int bottom, int border, uint area, float factor)
{
    int chunk = SPAN_BEGIN, x = chunk * CHUNK, y = GRID_Y * band, end = min(y + band, out_height);
    IN_GRID(chunk, GRID_Y)
    int n = out_width * CH;
    SUMS first = 0;
    CAT(SUM, 16) slopes = 0;
    for (int at = y - top; at <= y + bottom; at++)
        ROW_MOVES(+, ENTERS, at)
    for (;;) {
        SUM sum[4]; /* (Mesa's compiler keeps an array with an initialiser in memory.) */
        sum[0] = first.s0, sum[1] = first.s1, sum[2] = first.s2, sum[3] = first.s3;
#define NEXT_MEAN(i, digit)                                                                        \
    uint mean##i = FN(mean)(sum[i % CH], area, factor);                                            \
    sum[i % CH] += slopes.s##digit;
        EACH_SAMPLE(NEXT_MEAN)
        uint4 v = (uint4)(FN(word)(mean0, mean1, mean2, mean3), FN(word)(mean4, mean5, mean6, mean7),
                          FN(word)(mean8, mean9, mean10, mean11), 0u) ^ FLIPPED;
        __global uchar *to = dst_base + (uint)(dst_offset + y * dst_stride + x);
        if (x + CHUNK <= n) {
            if (ALPHA)
                v = (v & ~ALPHA_BYTES) | (UNALIGNED_IN(uint, 4, ROW(src, y) + (uint)x) & ALPHA_BYTES);
            *(__global uint *)to = v.s0;
            *(__global uint *)(to + 4) = v.s1;
            *(__global uint *)(to + 8) = v.s2;
        } else {
            for (int i = x; i < n; i++, to++) {
                *to = IS_ALPHA(ALPHA, i) ? ROW(src, y)[i] : (uchar)v.s0;
                v = (uint4)(v.s012 >> 8 | v.s120 << 24, 0u);
            }
        }
        if (++y == end)
            return;
        ROW_MOVES(+, ENTERS, y + bottom)
        ROW_MOVES(-, LEAVES, y - 1 - top)
    }
}
