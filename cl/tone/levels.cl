/* levels: along a line in f32, of f32 along a curve, or out of a table (src/stage/tone/levels.c). NaN counts
 * as black. */
#include <lookup.cl>
#include <round.cl>
#if defined(LINE)
inline V(DST) FN(levels_pixel)(V(SRC) v, float black, float gain, float low, float least,
                               float most)
{
    V(float) line = (CONVERT(float, v) - black) * gain + low;
#ifdef SRC_IS_float
    line = line == line ? line : (V(float))(low);
#endif
    return WIDE_SATURATE(DST, fmin(fmax(line, (V(float))(least)), (V(float))(most)));
}
#elif defined(SRC_IS_float)
inline V(DST) FN(levels_pixel)(V(SRC) v, float black, float scale, float exponent, float range,
                               float low)
{
    V(float) t = fmin(fmax((v - black) * scale, (V(float))(0.0f)), (V(float))(1.0f));
    return pow(t, (V(float))(exponent)) * range + low;
}
#else
inline V(DST) FN(levels_pixel)(V(SRC) v, __global const uchar *restrict table)
{
    return LOOK_UP(DST, table, v);
}
#endif
