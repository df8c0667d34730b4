/* resize by copying single pixels (nearest neighbour): the table has the source's column and row for each column and
 * row of the result. The grid counts pixels. */
__kernel void KERNEL(GRID, PLANE_IN(UNIT, src), PLANE_OUT(UNIT, dst),
                     __global const int *restrict table, int columns, int rows)
{
    POSITION(x, y)
    __global const UNIT *in = ROW(src, table[rows + y]);
    __global UNIT *out = ROW(dst, y);
    for (int end = SPAN_END(x); x < end; x++) {
        __global const UNIT *pixel = in + table[columns + x] * UNITS;
        for (int unit = 0; unit < UNITS; unit++)
            out[x * UNITS + unit] = pixel[unit];
    }
}
