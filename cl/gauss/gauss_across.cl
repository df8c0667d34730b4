/* gauss along rows on GPUs: sums around each sample of the source's rows, into scratch memory. The grid counts samples
 * of the result's rows, and rows of the source. `table`: weights from distance 0 to radius, in 2^14ths or f32. */
#include <border.cl>
#include "weighted.cl"
#ifdef SRC_IS_ushort
#define ROW_SUM int
#else
#define ROW_SUM float /* of bytes below 2^24 */
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(MIDDLE, middle), int width, int radius,
                     int border, int centre, __global const WEIGHT *restrict table)
{
    POSITION(x, y)
    int pixel = x / CH + centre, c = x % CH;
    __global const SRC *in = ROW(src, y);
    __global const SRC *at = in + pixel * CH + c;
    ROW_SUM sum = (ROW_SUM)table[0] * (ROW_SUM)*at;
    if (pixel >= radius && pixel + radius < width) {
        for (int i = 1; i <= radius; i++)
            sum += (ROW_SUM)table[i] * ((ROW_SUM)at[-i * CH] + (ROW_SUM)at[i * CH]);
    } else {
        for (int i = 1; i <= radius; i++) {
            int a = border_index(pixel - i, width, border), b = border_index(pixel + i, width, border);
            ROW_SUM low = a < 0 ? 0 : (ROW_SUM)in[a * CH + c], high = b < 0 ? 0 : (ROW_SUM)in[b * CH + c];
            sum += (ROW_SUM)table[i] * (low + high);
        }
    }
#ifdef SRC_IS_float
    ROW(middle, y)[x] = sum;
#else
    ROW(middle, y)[x] = (MIDDLE)(((int)sum + (1 << 7)) >> 8);
#endif
}
