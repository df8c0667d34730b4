/* invert: white - v; of a negative integer it is white. */
#include <in_words.cl>
#ifdef SRC_IS_float
inline V(DST) FN(invert_pixel)(V(SRC) v, float white)
{
    return white - v;
}
#else
inline V(DST) FN(invert_pixel)(V(SRC) v)
{
#if defined(IN_WORDS)
    return AS_BYTES(~AS_WORDS(v));
#elif defined(SRC_IS_uchar) || defined(SRC_IS_ushort)
    return (SRC)SRC_MAX - v;
#else
    return (SRC)SRC_MAX - max(v, (V(SRC))(SRC)0);
#endif
}
#endif
