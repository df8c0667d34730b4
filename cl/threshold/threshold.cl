/* threshold: v >= t ? high : low. Floats come as the bits of an int, as cl/threshold/otsu.cl leaves them. */
#ifdef SRC_IS_float
#define AS_SAMPLE(i) as_float(i)
#else
#define AS_SAMPLE(i) ((SRC)(i))
#endif

#ifdef IN_WORDS
/* Four bytes at once. With bit 7 set in all of v and in none of t a difference borrows nothing from the next,
 * and its bit 7 tells whether v's lower seven are at least t's; bit 7 itself decides where v and t differ in it. */
#define FOUR_TIMES(i) ((uint)AS_SAMPLE(i) * 0x01010101u)

inline V(DST) FN(threshold_pixel)(V(SRC) v, int t, int low, int high)
{
    CAT(uint, IN_WORDS) w = AS_WORDS(v);
    uint least = FOUR_TIMES(t) & 0x7f7f7f7fu, small = AS_SAMPLE(t) < 128 ? 0xffffffffu : 0u;
    uint below = FOUR_TIMES(low), other = below ^ FOUR_TIMES(high);
    CAT(uint, IN_WORDS) d = (w | 0x80808080u) - least;
    d = (w & d) | ((w | d) & small);
#define CHOOSE(k) below ^ (BYTE_SIGNS(d.s##k) & other)
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
