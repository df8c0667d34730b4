#include <double.cl>
#include <round.cl>
#include <share.cl>
#ifdef KERNEL_channels
/* Changes the number of channels: grey becomes three equal colours, colours become their luma (bt601), and missing
 * alpha becomes white. The grid counts pixels. */
#ifdef SRC_IS_float
#define WHITE as_float((int)white)
#define LUMA                                                                                       \
    (in[0] * (19595.0f / 65536.0f) + in[1] * (38470.0f / 65536.0f) + in[2] * (7471.0f / 65536.0f))
#else
#define WHITE (SRC)white
#define LUMA  (SRC)((in[0] * 19595u + in[1] * 38470u + in[2] * 7471u + 32768u) >> 16)
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), long white)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y) + x * CH;
    __global SRC *out = ROW(dst, y) + x * DST_CH;
    for (int end = SPAN_END(x); x < end; x++, in += CH, out += DST_CH) {
#if DST_CH == 1 && CH > 2
        out[0] = LUMA;
#elif DST_CH == 1
        out[0] = in[0];
#else
        out[0] = in[0];
        out[1] = in[CH > 2 ? 1 : 0];
        out[2] = in[CH > 2 ? 2 : 0];
#if DST_CH == 4
        out[3] = CH == 2 ? in[1] : WHITE;
#endif
#endif
    }
}
#else
/* convert: to integers sat(rne(v)), or with SCALED, for floats whose white is 1, sat(rne(v * max)); to floats the
 * nearest f32. SCALED and f64, which comes as its bits, compute one sample at a time. */
inline V(DST) FN(convert_pixel)(V(SRC) v)
{
#if defined(SCALED) && defined(SRC_IS_double)
    return (DST)(int)share_of(float_of_f64(v), (float)DST_MAX, 1.0f);
#elif defined(SCALED)
    return (DST)(int)share_of(v, (float)DST_MAX, 1.0f);
#elif KEEPS_TYPE
    return v;
#elif defined(SRC_IS_double) && defined(DST_IS_float)
    return float_of_f64(v);
#elif defined(SRC_IS_double)
    return (DST)saturate_f64(v, 0, DST_MAX);
#elif defined(DST_IS_float)
    return CONVERT(float, v);
#elif defined(SRC_IS_float)
    return WIDE_SATURATE(DST, v);
#else
    return CONVERT(DST, clamp(v, (V(SRC))(SRC)0, (V(SRC))(SRC)HIGHEST));
#endif
}
#endif
