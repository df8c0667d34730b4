/* gauss and unsharp down columns on GPUs: sums of what gauss_across.cl has made. The grid counts samples of the result,
 * in vectors of LANES where rows are aligned. */
#include <alpha.cl>
#include <border.cl>
#include "gauss_sharpen.cl"
#include "weighted.cl"

/* ALPHA: channels of pixels that end in alpha, which is copied; else 0. `skip`: samples of a row of the source in
 * front of the result's first one. */
__kernel void KERNEL(GRID, PLANE_IN(MIDDLE, middle), PLANE_OUT(SRC, dst), PLANE_IN(SRC, src),
                     int skip, int height, int radius, int border, int centre,
                     __global const WEIGHT *restrict table
                     NUMBERS)
{
    POSITION(x, y)
    int row = y + centre;
    V(WORK) high = 0, low = ROUNDING;
#define SUMS_AT(y) CONVERT(WORK, *(__global const V(MIDDLE) *)(ROW(middle, y) + x))
    V(WORK) own = SUMS_AT(row);
    ADD_ROW(high, low, own, table[0]);
    for (int i = 1; i <= radius; i++) {
        int a = border_near(row - i, height, border), b = border_near(row + i, height, border);
        V(WORK) v = 0;
        if (a >= 0)
            v = SUMS_AT(a);
        if (b >= 0)
            v += SUMS_AT(b);
        ADD_ROW(high, low, v, table[i]);
    }
    V(SRC) out = FN(of_column)(high, low);
#if defined(TABLE) || defined(REAL) || ALPHA
    V(SRC) in = *(__global const V(SRC) *)(ROW(src, row) + x + skip);
#else
    V(SRC) in = 0;
#endif
    out = SHARPENED(in, out);
    __global SRC *to = ROW(dst, y) + x;
#pragma form VECTOR
    TAKE_ALPHA(ALPHA, out, in);
    if (x + 4 <= grid_width) {
        *(__global V(SRC) *)to = out;
        return;
    }
    to[0] = out.s0;
    if (x + 1 < grid_width)
        to[1] = out.s1;
    if (x + 2 < grid_width)
        to[2] = out.s2;
#pragma form ROWS SCALAR
    *to = IS_ALPHA(ALPHA, x) ? in : out;
#pragma form
}
