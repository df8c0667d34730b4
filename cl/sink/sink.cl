/* Converts a plane to what a picture format can store: samples of u8 or u16; alpha is dropped, or grey with alpha
 * becomes RGBA. Of integers the least becomes 0. SCALED is for floats whose white is not DST_MAX. The grid counts pixels.
 * f64 comes as its bits, for devices without fp64. */
#include <double.cl>
#include <round.cl>
#include <share.cl>
inline DST FN(to_sink)(SRC v, float white)
{
    if (OF_INTEGERS) {
        uint above = (uint)((int)v - SRC_MIN);
        return (DST)(sizeof(SRC) > sizeof(DST) ? (2u * above + 257u) / 514u : above);
    }
    if (OF_DOUBLES && !SCALED)
        return (DST)saturate_f64((ulong)v, 0, DST_MAX);
    float single = OF_DOUBLES ? float_of_f64((ulong)v) : (float)v;
    return SCALED ? (DST)(int)share_of(single, (float)DST_MAX, white) : SATURATE(DST, single);
}

#define SOURCE_CHANNEL(c) (CH == 2 && DST_CH == 4 ? (c) == 3 : (c))

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(DST, dst), float white)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global DST *out = ROW(dst, y);
    for (int end = SPAN_END(x); x < end; x++)
        for (int c = 0; c < DST_CH; c++)
            out[x * DST_CH + c] = FN(to_sink)(in[x * CH + SOURCE_CHANNEL(c)], white);
}
