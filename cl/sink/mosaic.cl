/* Writes a plane of coefficients into its rectangle of a mosaic: sat(rne(factor * c)) of the type RANGE, plus MIDDLE;
 * with COPY unchanged samples. The grid counts the rectangle's samples; where the rectangle is larger than the plane,
 * coefficients are zero. f64 comes as its bits, for devices without fp64. */
#include <double.cl>
#include <round.cl>
#define NUMBER(v)    (OF_DOUBLES ? float_of_f64((ulong)(v)) : (float)(v))
#define TO_MOSAIC(v) (COPY ? (DST)(v) : (DST)((int)SATURATE(RANGE, factor * NUMBER(v)) + MIDDLE))

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
        out[x] = MIDDLE;
}
