/* Converts a plane to what a picture format can store: samples of u8 or u16; alpha is dropped, or grey with alpha
 * becomes RGBA. SCALED is for floats whose white is not DST_MAX. The grid counts pixels. f64 comes as its bits, for
 * devices without fp64. */
#include <double.cl>
#include <round.cl>
#include <share.cl>
inline DST FN(to_sink)(SRC v NUMBERS)
{
#if defined(SRC_IS_uchar) && defined(DST_IS_uchar) || defined(SRC_IS_ushort) && defined(DST_IS_ushort)
    return v;
#elif defined(SRC_IS_ushort)
    return (uchar)((2u * v + 257u) / 514u);
#elif defined(SRC_IS_short) && defined(DST_IS_uchar)
    return (uchar)((2u * (uint)(v + 32768) + 257u) / 514u);
#elif defined(SRC_IS_short)
    return (ushort)(v + 32768);
#elif defined(SRC_IS_char)
    return (uchar)(v + 128);
#elif SCALED && defined(SRC_IS_double)
    return (DST)(int)share_of(float_of_f64(v), (float)DST_MAX, white);
#elif SCALED
    return (DST)(int)share_of(v, (float)DST_MAX, white);
#elif defined(SRC_IS_double)
    return (DST)saturate_f64(v, 0, DST_MAX);
#else
    return SATURATE(DST, v);
#endif
}

#define SOURCE_CHANNEL(c) (CH == 2 && DST_CH == 4 ? (c) == 3 : (c))

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(DST, dst) NUMBERS)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global DST *out = ROW(dst, y);
    for (int end = SPAN_END(x); x < end; x++)
        for (int c = 0; c < DST_CH; c++)
            out[x * DST_CH + c] = FN(to_sink)(in[x * CH + SOURCE_CHANNEL(c)] GIVEN);
}
