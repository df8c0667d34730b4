/* erode and dilate of bytes on GPUs, behind cl/bytes.cl: the least or the largest of a window of one row (across) or
 * one column (down), from the samples themselves. Where `ends`, alpha is that of the stage's own source, `whole`. */
#include "bytes.cl"

/* Stores 16 samples, of which `count` are in the row. */
inline void FN(put)(__global uchar *out, __global const uchar *whole, uint4 v, int count, int ends)
{
    if (count <= 0)
        return;
    if (ALPHA && ends)
        v = (v & ~ALPHA_BYTES) | (*(__global const uint4 *)whole & ALPHA_BYTES);
    if (count >= 16)
        *(__global uint4 *)out = v;
    else
        edge_put_16(out, v, count);
}

#pragma kernel across
/* A work-item takes 32 samples, from 16 words that begin 4 in front of its own. */
#define WORDS_OF_ROW uint16
#define NEXT(t)      (uint16)((t).s12345678, (t).s9abc, (t).sde, (t).sf, 0u)
#define BETTER(t, v) FN(better_16)(t, v)
#define FRONT        16
inline uint16 FN(better_16)(uint16 a, uint16 b)
{
    return (uint16)(FN(better_8)(a.lo, b.lo), FN(better_8)(a.hi, b.hi));
}
#include "morph_along.cl"

__kernel void KERNEL(GRID, PLANE_IN(uchar, src), PLANE_OUT(uchar, dst), PLANE_IN(uchar, whole), int width,
                     int height, int border, int ends)
{
    POSITION(x, y)
    __global const uchar *row = ROW(src, y);
    uint16 t = 0;
    if (x >= 16 && x + 48 <= width) {
        __global const uint4 *at = (__global const uint4 *)(row + x);
        t = (uint16)(at[-1], at[0], at[1], at[2]);
    } else {
        ROLLED for (int i = 0; i < 16; i++)
            t = (uint16)(t.s12345678, t.s9abc, t.sde, t.sf, edge_word(row, x - 16 + 4 * i, width / CH, CH, border));
    }
    uint8 best = FN(along)(t).lo;
    __global uchar *out = ROW(dst, y) + x;
    __global const uchar *own = ROW(whole, y) + x;
    FN(put)(out, own, best.lo, width - x, ends);
    FN(put)(out + 16, own + 16, best.hi, width - x - 16, ends);
}
#pragma kernel down
/* A work-item takes 16 samples of 8 rows. Of the first of these windows' rows, those from row i to the eighth are in
 * front[i]; `best` is made of the eighth and all that follow in the window of row i, of which there are at least 8. */
inline uint4 FN(line)(PLANE_IN(uchar, src), int x, int y, int height, int border)
{
    int row = border_index(y, height, border);
    uint4 v = *(__global const uint4 *)(ROW(src, max(row, 0)) + x);
    return row < 0 ? (uint4)0 : v;
}

INLINED void FN(load_rows)(uint4 *v, PLANE_IN(uchar, src), int x, int first, int height, int border)
{
    if (first >= 0 && first + 8 <= height) {
        UNROLLED for (int k = 0; k < 8; k++)
            v[k] = *(__global const uint4 *)(ROW(src, first + k) + x);
    } else {
        UNROLLED for (int k = 0; k < 8; k++)
            v[k] = FN(line)(src_base, src_offset, src_stride, x, first + k, height, border);
    }
}
#define LOAD_ROWS(first) FN(load_rows)(v, src_base, src_offset, src_stride, x, first, height, border);

/* The grid counts samples, and blocks of 8 rows. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), PLANE_OUT(uchar, dst), PLANE_IN(uchar, whole), int width,
                     int height, int before, int border, int ends)
{
    POSITION(x, block)
    int y = block * 8, top = y - before;
    uint4 v[8], front[8];
    LOAD_ROWS(top)
    front[7] = v[7];
    UNROLLED for (int k = 6; k >= 0; k--)
        front[k] = FN(better_4)(v[k], front[k + 1]);
    uint4 best = v[7];
    for (int i = 8; i + 8 <= WINDOW; i += 8) {
        LOAD_ROWS(top + i)
        UNROLLED for (int distance = 1; distance < 8; distance *= 2)
            UNROLLED for (int k = 0; k < 8; k += 2 * distance)
                v[k] = FN(better_4)(v[k], v[k + distance]);
        best = FN(better_4)(best, v[0]);
    }
    if (WINDOW % 8 > 0) {
        LOAD_ROWS(top + WINDOW / 8 * 8)
        UNROLLED for (int k = 0; k < WINDOW % 8; k++)
            best = FN(better_4)(best, v[k]);
    }
    LOAD_ROWS(top + WINDOW)
    UNROLLED for (int i = 0; i < 8; i++) {
        if (y + i < height)
            FN(put)(ROW(dst, y + i) + x, ROW(whole, y + i) + x, FN(better_4)(front[i], best), width - x, ends);
        best = FN(better_4)(best, v[i]);
    }
}
