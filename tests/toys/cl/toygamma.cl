/* toygamma: bytes out of a table (src/stage/toygamma.c), floats by the formula. */
#include <lookup.cl>
#ifdef SRC_IS_float
inline V(DST) FN(toygamma_pixel)(V(SRC) v, float exponent)
{
    return pow(fmin(fmax(v, (V(float))(0.0f)), (V(float))(1.0f)), (V(float))(exponent));
}
#else
inline V(DST) FN(toygamma_pixel)(V(SRC) v, __global const uchar *restrict table)
{
    return LOOK_UP(DST, table, v);
}
#endif
