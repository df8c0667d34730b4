/* equalize: samples out of the table that cl/tone/histogram.cl makes, or luma, whose change is added to each
 * colour. */
#include <lookup.cl>
#ifdef KERNEL_colours
#ifdef SRC_IS_uchar
#define MOST 255
#else
#define MOST 65535
#endif
/* The grid counts pixels. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), __global const int *restrict state)
{
    POSITION(x, y)
    __global const SRC *table = (__global const SRC *)(state + 272);
    for (int end = SPAN_END(x); x < end; x++) {
        __global const SRC *in = ROW(src, y) + x * CH;
        __global SRC *out = ROW(dst, y) + x * CH;
        int luma = (int)((in[0] * 19595u + in[1] * 38470u + in[2] * 7471u + 32768u) >> 16);
        int change = (int)table[luma] - luma;
        for (int c = 0; c < 3; c++)
            out[c] = (SRC)clamp((int)in[c] + change, 0, MOST);
#if CH == 4
        out[3] = in[3];
#endif
    }
}
#else
inline V(DST) FN(equalize_pixel)(V(SRC) v, __global const uchar *restrict state)
{
    return LOOK_UP(DST, state + 272 * 4, v);
}
#endif
