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
#define BYTE(v, i) byte_as_float(PICK(v, (i) / 4), (i) % 4)
#else
#define BYTE(v, i) (PICK(v, (i) / 4) >> 8 * ((i) % 4) & 255u)
#endif
/* DO(i, i as vectors name it, its channel). */
#if CH == 1
#define EACH_SAMPLE(DO)                                                                            \
    DO(0, 0, 0) DO(1, 1, 0) DO(2, 2, 0) DO(3, 3, 0) DO(4, 4, 0) DO(5, 5, 0) DO(6, 6, 0)            \
    DO(7, 7, 0) DO(8, 8, 0) DO(9, 9, 0) DO(10, a, 0) DO(11, b, 0)
#elif CH == 2
#define EACH_SAMPLE(DO)                                                                            \
    DO(0, 0, 0) DO(1, 1, 1) DO(2, 2, 0) DO(3, 3, 1) DO(4, 4, 0) DO(5, 5, 1) DO(6, 6, 0)            \
    DO(7, 7, 1) DO(8, 8, 0) DO(9, 9, 1) DO(10, a, 0) DO(11, b, 1)
#elif CH == 3
#define EACH_SAMPLE(DO)                                                                            \
    DO(0, 0, 0) DO(1, 1, 1) DO(2, 2, 2) DO(3, 3, 0) DO(4, 4, 1) DO(5, 5, 2) DO(6, 6, 0)            \
    DO(7, 7, 1) DO(8, 8, 2) DO(9, 9, 0) DO(10, a, 1) DO(11, b, 2)
#else
#define EACH_SAMPLE(DO)                                                                            \
    DO(0, 0, 0) DO(1, 1, 1) DO(2, 2, 2) DO(3, 3, 3) DO(4, 4, 0) DO(5, 5, 1) DO(6, 6, 2)            \
    DO(7, 7, 3) DO(8, 8, 0) DO(9, 9, 1) DO(10, a, 2) DO(11, b, 3)
#endif

/* Sums of a pixel's channels, and starts, of which there are four if there are several channels. */
#define SUMS CAT(SUM, 4)
#if CH == 1
#define STARTS_AT(p)     (SUMS)((SUM)(p)[0], 0, 0, 0)
#define PUT_STARTS(p, v) *(p) = (START)(v).s0
#define STARTS           1
#else
#define STARTS_AT(p)     CAT3(convert_, SUM, 4)(*(__global const CAT(START, 4) *)(p))
#define PUT_STARTS(p, v) *(__global CAT(START, 4) *)(p) = CAT3(convert_, START, 4)(v)
#define STARTS           4
#endif

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
#define ADD_IN(i, digit, c)   sum.s##c += BYTE(in, RIGHT + i);
#define TAKE_OUT(i, digit, c) sum.s##c -= BYTE(out, LEFT + i);
#define SAMPLE(c)             (SUM)((at < 0 ? 0u : (uint)line[max(at, 0) * CH + c]) ^ (FLIPPED & 255u))
#define PIXEL         (SUMS)(SAMPLE(0), CH > 1 ? SAMPLE(1) : 0, CH > 2 ? SAMPLE(2) : 0, CH > 3 ? SAMPLE(3) : 0)

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
        sum += PIXEL;
    }
    for (;; x += CHUNK) {
        PUT_STARTS(to + chunk * STARTS, sum);
        if (++chunk == end)
            return;
        uint4 in = ENTERING(line), out = LEAVING(line);
        EACH_SAMPLE(ADD_IN)
        EACH_SAMPLE(TAKE_OUT)
    }
}

#pragma kernel means
#ifdef SUM_IS_float
#define MEAN(sum)          as_uint(fma(sum, reciprocal, ROUNDER))
#define WORD(a, b, c, d)   last_bytes(mean##a, mean##b, mean##c, mean##d)
#else
#define MEAN(sum)          floor_quotient_uint((sum) + area / 2, area, factor)
#define WORD(a, b, c, d)   (mean##a | mean##b << 8 | mean##c << 16 | mean##d << 24)
#endif

/* Row `at` of the bordered source enters the window (SIGN +) or leaves it (-). */
#define SLOPES(SIGN, i, digit) slopes.s##digit SIGN##= BYTE(r, RIGHT + i) - BYTE(l, LEFT + i);
#define ENTERS(i, digit, c) SLOPES(+, i, digit)
#define LEAVES(i, digit, c) SLOPES(-, i, digit)
#define ROW_MOVES(SIGN, MOVES, at)                                                                 \
    {                                                                                              \
        int row = border_near(at, height, border);                                                 \
        __global const uchar *line = ROW(src, max(row, 0));                                        \
        uint4 r = FLIPPED, l = FLIPPED;                                                            \
        if (row >= 0) {                                                                            \
            r = ENTERING(line);                                                                    \
            l = LEAVING(line);                                                                     \
        }                                                                                          \
        first SIGN##= row < 0 ? (SUMS)(SUM)zeros : STARTS_AT(ROW(starts, row) + chunk * STARTS);   \
        EACH_SAMPLE(MOVES)                                                                         \
    }
#define NEXT_MEAN(i, digit, c)                                                                        \
    uint mean##i = MEAN(sum.s##c);                                                                 \
    sum.s##c += slopes.s##digit;
#define ALPHA_BYTES (ALPHA == 2 ? 0xff00ff00u : 0xff000000u)

/* The grid counts chunks, and bands. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), PLANE_IN(START, starts), PLANE_OUT(uchar, dst),
                     int width, int height, int out_width, int out_height, int band, int left,
                     int right, int top, int bottom, int border, uint zeros NUMBERS)
{
    int chunk = SPAN_BEGIN, x = chunk * CHUNK, y = GRID_Y * band, end = min(y + band, out_height);
    IN_GRID(chunk, GRID_Y)
    int n = out_width * CH;
    SUMS first = 0;
    CAT(SUM, 16) slopes = 0;
    for (int at = y - top; at <= y + bottom; at++)
        ROW_MOVES(+, ENTERS, at)
    for (;;) {
        SUMS sum = first;
        EACH_SAMPLE(NEXT_MEAN)
        uint4 v = (uint4)(WORD(0, 1, 2, 3), WORD(4, 5, 6, 7), WORD(8, 9, 10, 11), 0) ^ FLIPPED;
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
