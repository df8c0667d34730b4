/* erode and dilate on GPUs, by steps: of each position the least or the largest of four that are `distance` apart
 * along a row or a column, none further than `last`. A step's result covers windows up to four times as large as its
 * source does. The grid counts samples; positions begin with (x0, y0) of the bordered source. Where `ends`, alpha is
 * that of the stage's own source, whose pixel (skip_x, skip_y) belongs to the first one. */
#include <border.cl>
#ifdef TAKE_LEAST
#define IS_BETTER(a, b) ((a) < (b))
#else
#define IS_BETTER(a, b) ((a) > (b))
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), PLANE_IN(SRC, whole), int width,
                     int height, int x0, int y0, int down, int distance, int last, int border,
                     int ends, int skip_x, int skip_y)
{
    int y = GRID_Y, x = SPAN_BEGIN;
    if (y >= grid_y_end || x >= grid_width)
        return;
    int px = x / CH, c = x % CH;
#if ALPHA
    if (ends && c == CH - 1) {
        ROW(dst, y)[x] = ROW(whole, y + skip_y)[x + skip_x * CH];
        return;
    }
#endif
    px += x0;
    int py = y + y0;
    SRC best = 0;
    for (int i = 0, at = 0; i < 4; i++, at = min(at + distance, last)) {
        int column = border_near(px + (down ? 0 : at), width, border);
        int row = border_near(py + (down ? at : 0), height, border);
        SRC v = FETCH(src, column, CH, row, c);
        best = i == 0 || IS_BETTER(v, best) ? v : best;
    }
    ROW(dst, y)[x] = best;
}
