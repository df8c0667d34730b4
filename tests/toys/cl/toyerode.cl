/* toyerode: the least of nine samples of one channel. The grid counts samples. */
#include <border.cl>

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(OUT, dst), int width, int height,
                     int border THEN_PARAMETERS)
{
    POSITION(x, y)
    int rows[3];
    for (int j = 0; j < 3; j++)
        rows[j] = SOURCE_Y_BESIDE(y - 1 + j);
    for (int end = SPAN_END(x); x < end; x++) {
        SRC least = ROW(src, rows[1])[x];
        for (int k = 0; k < 9; k++) {
            int column = border_beside(x / CH + k % 3 - 1, width, border);
            least = min(least, (SRC)FETCH(src, column, CH, rows[k / 3], x % CH));
        }
        ROW(dst, y)[x] = THEN_ONE(least);
    }
}
