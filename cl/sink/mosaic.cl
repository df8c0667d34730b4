/* Writes a plane of coefficients into its rectangle of a mosaic: sat(rne(factor * c)) of the type RANGE, plus MIDDLE;
 * with COPY unchanged samples. The grid counts the rectangle's samples; where the rectangle is larger than the plane,
 * coefficients are zero. f64 comes as its bits, for devices without fp64. */
#include <double.cl>
#include <round.cl>
#ifdef COPY
#define TO_MOSAIC(v) (v)
#define BESIDE       0
#else
#ifdef SRC_IS_double
#define NUMBER(v) float_of_f64(v)
#else
#define NUMBER(v) (float)(v)
#endif
#define TO_MOSAIC(v) (DST)((int)SATURATE(RANGE, factor * NUMBER(v)) + MIDDLE)
#define BESIDE       MIDDLE
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(DST, dst), int left, int top, int width,
                     int height, float factor)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, min(y, height - 1));
    __global DST *out = ROW(dst, top + y) + left;
    int end = SPAN_END(x), inside = y < height ? min(end, width) : x;
    for (; x < inside; x++)
        out[x] = TO_MOSAIC(in[x]);
    for (; x < end; x++)
        out[x] = BESIDE;
}
