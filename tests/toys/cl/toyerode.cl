/* toyerode: the least of nine samples of one channel. The grid counts samples. */
#include <border.cl>
#include <memory.cl>
inline SRC FN(least_of_row)(PLANE_IN(SRC, src), int width, int border, int x, int row, SRC least)
{
    for (int k = -1; k <= 1; k++) {
        SRC v = (SRC)FETCH(src, border_beside(x / CH + k, width, border), CH, row, x % CH);
        least = min(least, v);
    }
    return least;
}

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(OUT, dst), int width, int height,
                     int border THEN_PARAMETERS)
{
    int y = GRID_Y;
    int x = SPAN_BEGIN;
    if (y >= grid_y_end || x >= grid_width)
        return;
    int end = SPAN_END(x);
    int y0 = SOURCE_Y_BESIDE(y - 1), y1 = SOURCE_Y_BESIDE(y), y2 = SOURCE_Y_BESIDE(y + 1);
    __global OUT *out = ROW(dst, y);
    for (; x < end; x++) {
        SRC least = ROW(src, y1)[x];
        least = FN(least_of_row)(src_base, src_offset, src_stride, width, border, x, y0, least);
        least = FN(least_of_row)(src_base, src_offset, src_stride, width, border, x, y1, least);
        least = FN(least_of_row)(src_base, src_offset, src_stride, width, border, x, y2, least);
        out[x] = THEN_ONE(least);
    }
}
