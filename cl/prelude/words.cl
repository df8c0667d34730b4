/* Four bytes as a word of 32 bits, and whole numbers in the last bits of floats. */

/* Selects four of the eight bytes of a (0 to 3) and b (4 to 7), as PTX's prmt does. Each hexadecimal digit of
 * `which` is the number of a byte, the last digit that of the lowest byte of the result; with 8 added, all bits
 * of the byte become the highest bit of the selected one. */
inline uint permute(uint a, uint b, uint which)
{
    uint v = 0;
#ifdef HAS_PTX
    __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(v) : "r"(a), "r"(b), "r"(which));
#else
    for (int i = 0; i < 4; i++) {
        uint digit = which >> 4 * i & 15u, byte = ((digit & 4u ? b : a) >> (digit & 3u) * 8) & 255u;
        v |= (digit & 8u ? (byte >> 7) * 255u : byte) << 8 * i;
    }
#endif
    return v;
}

/* Sample k of a word. */
#define SAMPLE_OF(type, w, k) CAT(sample_of_, type)(w, k)
inline uint sample_of_uchar(uint w, int k)
{
    return w >> 8 * k & 255u;
}

inline int sample_of_char(uint w, int k)
{
    return (int)(w << (24 - 8 * k)) >> 24;
}

inline uint sample_of_ushort(uint w, int k)
{
    return w >> 16 * k & 0xffffu;
}

inline int sample_of_short(uint w, int k)
{
    return (int)(w << (16 - 16 * k)) >> 16;
}

/* 1.5 * 2^23. The sum of this and a float of at most 2^22 has the nearest integer in its lowest bits. */
#define ROUNDER 12582912.0f

/* Two bytes in the lowest 16 bits of a word, from integers in the lowest bits of two floats (see ROUNDER); and four. A
 * ushort2 is used because Mesa's compiler for Mali splits vectors of bytes, and masks and shifts cost as much as four
 * additions there. */
inline uint pair_of(float a, float b)
{
    return as_uint(fma(b - ROUNDER, 256.0f, a));
}

inline ushort2 four_of(float4 m)
{
    return (ushort2)((ushort)pair_of(m.s0, m.s1), (ushort)pair_of(m.s2, m.s3));
}

/* Byte k of a word; all four. (Mesa compiles each of these conversions to one instruction, those of vectors to three for
 * each lane.) */
inline float byte_as_float(uint w, uint k)
{
#ifdef HAS_PTX
    return as_float(permute(w, 0x4b000000u, 0x7440u + k)) - 8388608.0f;
#else
    return (float)(w >> 8 * k & 255u);
#endif
}

inline float4 floats_of(uint w)
{
    return (float4)((float)(w & 255u), (float)(w >> 8 & 255u), (float)(w >> 16 & 255u), (float)(w >> 24));
}

/* The lowest bytes of four words, which are the bits of floats as for pair_of. */
inline uint last_bytes(uint a, uint b, uint c, uint d)
{
#ifdef HAS_PTX
    return permute(permute(a, b, 0x0040u), permute(c, d, 0x0040u), 0x5410u);
#else
    return (pair_of(as_float(a), as_float(b)) & 0xffffu) | pair_of(as_float(c), as_float(d)) << 16;
#endif
}

/* Each byte filled with its highest bit. */
inline uint byte_signs(uint w)
{
#ifdef HAS_PTX
    return permute(w, 0u, 0xba98u);
#else
    return (w >> 7 & 0x01010101u) * 255u;
#endif
}
