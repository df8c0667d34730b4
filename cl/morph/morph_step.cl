/* erode and dilate on GPUs, by steps: of each position the least or the largest of four that are `distance` apart
 * along a row or a column, none further than `last`. A step's result covers windows up to four times as large as its
 * source does. The grid counts samples; positions begin with (x0, y0) of the bordered source. Where `ends`, alpha is
 * that of the stage's own source, whose pixel (skip_x, skip_y) belongs to the first one. */
#include <border.cl>
inline bool FN(is_better)(SRC a, SRC b)
{
#ifdef TAKE_LEAST
    return a < b;
#else
    return a > b;
#endif
}

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), PLANE_IN(SRC, whole), int width,
                     int height, int x0, int y0, int down, int distance, int last, int border,
                     int ends, int skip_x, int skip_y)
{
    POSITION(x, y)
    int px = x / CH + x0, py = y + y0, c = x % CH;
    if (ALPHA && ends && c == CH - 1) {
        ROW(dst, y)[x] = ROW(whole, y + skip_y)[x + skip_x * CH];
        return;
    }
    SRC best = 0;
    for (int i = 0, at = 0; i < 4; i++, at = min(at + distance, last)) {
        int column = border_near(px + (down ? 0 : at), width, border);
        int row = border_near(py + (down ? at : 0), height, border);
        SRC v = FETCH(src, column, CH, row, c);
        best = i == 0 || FN(is_better)(v, best) ? v : best;
    }
    ROW(dst, y)[x] = best;
}
