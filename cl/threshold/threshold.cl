/* threshold: v >= t ? high : low. Of a float plane t, low and high are ints with the floats' bits, because
 * cl/threshold/otsu.cl stores t so. */
#include <in_words.cl>
#include <words.cl>
#ifdef SRC_IS_float
#define AS_SAMPLE(i) as_float(i)
#else
#define AS_SAMPLE(i) ((SRC)(i))
#endif

#ifdef IN_WORDS
/* Four bytes at once. With bit 7 set in each byte of v and clear in those of t, a difference borrows nothing from the
 * next byte, and its bit 7 tells whether the lower seven bits of v are at least t's. If bit 7 of v and of t differ,
 * that decides. */
#define FOUR_TIMES(i) ((uint)AS_SAMPLE(i) * 0x01010101u)

inline V(DST) FN(threshold_pixel)(V(SRC) v, int t, int low, int high)
{
    CAT(uint, IN_WORDS) w = AS_WORDS(v);
    uint least = FOUR_TIMES(t) & 0x7f7f7f7fu, small = AS_SAMPLE(t) < 128 ? 0xffffffffu : 0u;
    uint below = FOUR_TIMES(low), other = below ^ FOUR_TIMES(high);
    CAT(uint, IN_WORDS) d = (w | 0x80808080u) - least;
    d = (w & d) | ((w | d) & small);
#define CHOOSE(k) below ^ (byte_signs(d.s##k) & other)
#if IN_WORDS == 4
    return AS_BYTES(((uint4)(CHOOSE(0), CHOOSE(1), CHOOSE(2), CHOOSE(3))));
#else
    return AS_BYTES(((uint2)(CHOOSE(0), CHOOSE(1))));
#endif
}
#else
inline V(DST) FN(threshold_pixel)(V(SRC) v, int t, int low, int high)
{
    V(SRC) below = AS_SAMPLE(low), above = AS_SAMPLE(high);
    return v >= AS_SAMPLE(t) ? above : below;
}
#endif
