/* fir down columns on GPUs: sums of those along rows, which cl/fir/fir.cl has made, by the column of a window that is the
 * product of a column and a row. A work-item has LANES columns in ROWS rows of the result, and takes each line once for all
 * of these: `table` has ROWS - 1 zeros on either side of the coefficients. Alpha comes from the source, whose pixel (0, 0)
 * of the result is `skip` samples and `down` rows from its first. */
#include <alpha.cl>
#include <border.cl>
#include <quotient.cl>
#ifdef FLOATS /* which hold every sum */
#define SUM       float
#define SUMMAND(v) (v)
#define WHOLE(n)  CONVERT(uint, CONVERT(int, n))
#define COEFFICIENT float
#else
#define SUM       NUM
#define SUMMAND(v) WIDEN(v)
#define WHOLE(n)  (n)
#define COEFFICIENT int
#endif

__kernel void KERNEL(GRID, PLANE_IN(MIDDLE, middle), PLANE_OUT(DST, dst), PLANE_IN(SRC, src), int skip, int down,
                     int height, int out_height, int rows, int top, int border,
                     __global const COEFFICIENT *restrict table NUMBERS)
{
    POSITION(x, y)
    int first = y * ROWS;
    V(SUM) s[ROWS];
    UNROLLED for (int r = 0; r < ROWS; r++)
        s[r] = 0;
    for (int t = 0; t < rows + ROWS - 1; t++) {
        int row = border_near(first - top + t, height, border);
        if (row < 0)
            continue;
        V(SUM) v = SUMMAND(*(__global const V(MIDDLE) *)(ROW(middle, row) + x));
        UNROLLED for (int r = 0; r < ROWS; r++)
            s[r] += (V(SUM))((SUM)table[t - r + ROWS - 1]) * v;
    }
    UNROLLED for (int r = 0; r < ROWS; r++) {
        if (first + r >= out_height)
            return;
        V(DST) out = EXACT_OF(WHOLE(s[r]));
        __global DST *to = ROW(dst, first + r) + x;
        __global const SRC *in = ROW(src, first + r + down) + x + skip;
#pragma form VECTOR
        TAKE_ALPHA(ALPHA, out, *(__global const V(SRC) *)in);
        if (x + 4 <= grid_width) {
            *(__global V(DST) *)to = out;
            continue;
        }
        to[0] = out.s0;
        if (x + 1 < grid_width)
            to[1] = out.s1;
        if (x + 2 < grid_width)
            to[2] = out.s2;
#pragma form SCALAR
        *to = IS_ALPHA(ALPHA, x) ? *in : out;
#pragma form
    }
}
