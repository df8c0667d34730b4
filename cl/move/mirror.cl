/* Mirrors a plane left to right, and with mirror_y also top to bottom. The grid counts pixels of UNITS units
 * (src/stage/move/move.h). */
__kernel void KERNEL(GRID, PLANE_IN(UNIT, src), PLANE_OUT(UNIT, dst), int height, int mirror_y)
{
    int y = GRID_Y;
    int x = SPAN_BEGIN;
    if (y >= grid_y_end || x >= grid_width)
        return;
    __global const UNIT *in = ROW(src, mirror_y ? height - 1 - y : y) + (grid_width - 1) * UNITS;
    __global UNIT *out = ROW(dst, y);
    for (int end = SPAN_END(x); x < end; x++)
        for (int unit = 0; unit < UNITS; unit++)
            out[x * UNITS + unit] = in[unit - x * UNITS];
}
