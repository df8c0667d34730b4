/* Converts a plane to what a picture format can store: samples of u8 or u16; alpha is dropped, or grey with alpha
 * becomes RGBA. SCALED is for floats whose white is not DST_MAX. The grid counts pixels. f64 comes as its bits, for
 * devices without fp64. */
#include <double.cl>
#include <round.cl>
#include <share.cl>
#if defined(SRC_IS_uchar) && defined(DST_IS_uchar) || defined(SRC_IS_ushort) && defined(DST_IS_ushort)
#define TO_SINK(v) (v)
#elif defined(SRC_IS_ushort)
#define TO_SINK(v) (uchar)((2u * (v) + 257u) / 514u)
#elif defined(SRC_IS_short) && defined(DST_IS_uchar)
#define TO_SINK(v) (uchar)((2u * (uint)((v) + 32768) + 257u) / 514u)
#elif defined(SRC_IS_short)
#define TO_SINK(v) (ushort)((v) + 32768)
#elif defined(SRC_IS_char)
#define TO_SINK(v) (uchar)((v) + 128)
#elif SCALED && defined(SRC_IS_double)
#define TO_SINK(v) (DST)(int)share_of(float_of_f64(v), (float)DST_MAX, white)
#elif SCALED
#define TO_SINK(v) (DST)(int)share_of(v, (float)DST_MAX, white)
#elif defined(SRC_IS_double)
#define TO_SINK(v) (DST)saturate_f64(v, 0, DST_MAX)
#else
#define TO_SINK(v) SATURATE(DST, v)
#endif

#if CH == 2 && DST_CH == 4
#define SOURCE_CHANNEL(c) ((c) == 3)
#else
#define SOURCE_CHANNEL(c) (c)
#endif

#if SCALED
#define WHITE_PARAMETER , float white
#else
#define WHITE_PARAMETER
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(DST, dst) WHITE_PARAMETER)
{
    int y = GRID_Y;
    int x = SPAN_BEGIN;
    if (y >= grid_y_end || x >= grid_width)
        return;
    __global const SRC *in = ROW(src, y);
    __global DST *out = ROW(dst, y);
    for (int end = SPAN_END(x); x < end; x++)
        for (int c = 0; c < DST_CH; c++)
            out[x * DST_CH + c] = TO_SINK(in[x * CH + SOURCE_CHANNEL(c)]);
}
