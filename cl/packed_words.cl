/* Arithmetic on bytes of which two share a word of 32 bits, for GPUs on which arithmetic takes more time than memory: as
 * lanes of 16 bits, samples 0 and 2 of a word of four bytes (even), or 1 and 3 (odd). Words are added, subtracted and
 * multiplied as integers. Carries and borrows between lanes cancel, as long as each lane's value is from 0 to 65535 at the
 * end and whenever lanes are moved. For cl/packed.cl, between which and this file a stage says what it computes.
 *
 * A line is a uint8: the work-item's own WORDS words from element 2 on, and the words beside them. */
#include <edge.cl>
#include <words.cl>
#define LANES_OF_WORD 0x00ff00ffu
#define TWICE(v)      ((v) * 0x00010001u) /* the same number in both lanes */
#define WORD(v, k)    ((uint *)&(v))[k]   /* of a variable; k is a constant where loops are unrolled */

/* The odd samples. NVIDIA has one instruction for that. */
#define EVEN(w) ((w) & LANES_OF_WORD)
inline uint8 FN(odd)(uint8 w)
{
#ifdef HAS_PTX
    UNROLLED for (int k = 0; k < 8; k++)
        WORD(w, k) = permute(WORD(w, k), 0u, 0x4341u);
    return w;
#else
    return w >> 8 & LANES_OF_WORD;
#endif
}

/* The own words of a line, or those so many words further: AT_m1 one in front of it. */
#if WORDS == 4
#define OWN      uint4
#define AT_m2(v) (v).s0123
#define AT_m1(v) (v).s1234
#define AT_0(v)  (v).s2345
#define AT_1(v)  (v).s3456
#define AT_2(v)  (v).s4567
#define NOTHING
#else
#define OWN      uint2
#define AT_m2(v) (v).s01
#define AT_m1(v) (v).s12
#define AT_0(v)  (v).s23
#define AT_1(v)  (v).s34
#define AT_2(v)  (v).s45
#define NOTHING  , 0u, 0u
#endif

/* v moved by one lane: lane i is lane i + 1 of v. */
inline uint8 FN(moved)(uint8 v)
{
    ushort16 s = as_ushort16(v);
    return as_uint8((ushort16)(s.s12345678, s.s9abc, s.sde, s.sf, (ushort)0));
}

/* Words of bytes from words of even and of odd lanes, each lane shifted right. */
inline OWN FN(bytes)(OWN even, OWN odd, uint shift)
{
    return (even >> shift & LANES_OF_WORD) | (odd >> shift << 8 & ~LANES_OF_WORD);
}

#ifdef MULTIPLIER
/* Divides lanes that already include what rounding adds: the quotient is the highest byte of the product with
 * MULTIPLIER (src/stage/box/box_divide.h). */
inline uint FN(quotient)(uint even, uint odd)
{
    uint low = permute((even & 0xffffu) * MULTIPLIER, (odd & 0xffffu) * MULTIPLIER, 0x0073u);
    return permute(low, permute((even >> 16) * MULTIPLIER, (odd >> 16) * MULTIPLIER, 0x0073u), 0x5410u);
}

inline OWN FN(quotients)(OWN even, OWN odd)
{
    UNROLLED for (int k = 0; k < WORDS; k++)
        WORD(even, k) = FN(quotient)(WORD(even, k), WORD(odd, k));
    return even;
}
#endif
