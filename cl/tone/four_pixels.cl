/* Four pixels of bytes at once, on GPUs that compute in floats (Mali): for stages that change all colours of a pixel by as
 * much as its luma (bt601). FN(four) loads them, of RGB with four bytes more, so that NEEDED pixels must be there. */
#include <luma.cl>
#include <memory.cl>
#define SHARES 19595 * 0x1p-16f, 38470 * 0x1p-16f, 7471 * 0x1p-16f

/* Byte k of a word with a whole number added, within its limits; as the last bits of a float. */
inline uint FN(raised)(uint w, uint k, float by)
{
    return as_uint(clamp(byte_as_float(w, k) + by, 0.0f, 255.0f) + ROUNDER);
}

/* A word of bytes whose pixels change by that much each. */
inline uint FN(word)(uint w, float a, float b, float c, float d)
{
    return last_bytes(FN(raised)(w, 0, a), FN(raised)(w, 1, b), FN(raised)(w, 2, c), FN(raised)(w, 3, d));
}

#define NEEDED (CH == 3 ? 6 : 4)
inline uint4 FN(four)(__global const uchar *in)
{
    if (CH == 3)
        return UNALIGNED_IN(uint, 4, in);
    return *(__global const uint4 *)in;
}

inline float4 FN(lumas)(uint4 w)
{
    return CH == 3 ? lumas_of_rgb(w.s0, w.s1, w.s2, SHARES) : lumas_of_rgba(w, SHARES);
}

inline void FN(put_raised)(__global uchar *out, uint4 w, float4 by)
{
    if (CH == 3) {
        UNALIGNED_OUT(uint, 2, out) = (uint2)(FN(word)(w.s0, by.s0, by.s0, by.s0, by.s1),
                                              FN(word)(w.s1, by.s1, by.s1, by.s2, by.s2));
        *(__global uint *)(out + 8) = FN(word)(w.s2, by.s2, by.s3, by.s3, by.s3);
        return;
    }
    *(__global uint4 *)out =
        (uint4)(FN(word)(w.s0, by.s0, by.s0, by.s0, 0.0f), FN(word)(w.s1, by.s1, by.s1, by.s1, 0.0f),
                FN(word)(w.s2, by.s2, by.s2, by.s2, 0.0f), FN(word)(w.s3, by.s3, by.s3, by.s3, 0.0f));
}
