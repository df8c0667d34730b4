/* levels: along a line in f32, of f32 along a curve, or out of a table (src/stage/tone/levels.c). NaN counts
 * as black. */
#include <lookup.cl>
#include <round.cl>
#include <types.cl>
#pragma kernel line
inline V(DST) FN(levels_pixel)(V(SRC) v, float black, float gain, float low, float least,
                               float most)
{
    V(float) line = (CONVERT(float, v) - black) * gain + low;
    if (IS_REAL(SRC))
        line = line == line ? line : (V(float))(low);
    return WIDE_SATURATE(DST, fmin(fmax(line, (V(float))(least)), (V(float))(most)));
}
#pragma kernel curve
inline V(DST) FN(levels_pixel)(V(SRC) v, float black, float scale, float exponent, float range,
                               float low)
{
    V(float) t = fmin(fmax((v - black) * scale, (V(float))(0.0f)), (V(float))(1.0f));
    return pow(t, (V(float))(exponent)) * range + low;
}
#pragma kernel unnamed
inline V(DST) FN(levels_pixel)(V(SRC) v, __global const uchar *restrict table)
{
    return LOOK_UP(DST, table, v);
}
