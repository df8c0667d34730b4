/* invert: white - v; of a negative integer it is white. */
#include <in_words.cl>
#pragma kernel float
inline V(DST) FN(invert_pixel)(V(SRC) v, float white)
{
    return white - v;
}
#pragma kernel unnamed
inline V(DST) FN(invert_pixel)(V(SRC) v)
{
#pragma form WORDS
    return AS_BYTES(~AS_WORDS(v));
#pragma form SAMPLES
    return (SRC)SRC_MAX - max(v, (V(SRC))(SRC)0);
#pragma form
}
