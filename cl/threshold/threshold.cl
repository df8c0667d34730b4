/* threshold: v >= t ? high : low. Of a float plane t, low and high are ints with the floats' bits, because
 * cl/threshold/otsu.cl stores t so. */
#include <in_words.cl>
#include <words.cl>
#include <types.cl>
inline SRC FN(as_sample)(int i)
{
    return IS_REAL(SRC) ? (SRC)as_float(i) : (SRC)i;
}

inline V(DST) FN(threshold_pixel)(V(SRC) v, int t, int low, int high)
{
#pragma form WORDS
    /* Four bytes at once. With bit 7 set in each byte of v and clear in those of t, a difference borrows nothing from the
     * next byte, and its bit 7 tells whether the lower seven bits of v are at least t's. If bit 7 of v and of t differ,
     * that decides. */
#define FOUR_TIMES(i) ((uint)FN(as_sample)(i) * 0x01010101u)
#define CHOOSE(k)     below ^ (byte_signs(d.s##k) & other)
    CAT(uint, IN_WORDS) w = AS_WORDS(v);
    uint least = FOUR_TIMES(t) & 0x7f7f7f7fu, small = FN(as_sample)(t) < 128 ? 0xffffffffu : 0u;
    uint below = FOUR_TIMES(low), other = below ^ FOUR_TIMES(high);
    CAT(uint, IN_WORDS) d = (w | 0x80808080u) - least;
    d = (w & d) | ((w | d) & small);
    return EACH_WORD(CHOOSE);
#pragma form SAMPLES
    V(SRC) below = FN(as_sample)(low), above = FN(as_sample)(high);
    return v >= FN(as_sample)(t) ? above : below;
#pragma form
}
