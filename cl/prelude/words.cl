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

/* Returns w, but hides from the compiler where it came from: NVIDIA's otherwise splits the access to a vector of
 * words that is used as a vector of bytes into four or sixteen accesses. */
inline uint hidden(uint w)
{
#ifdef HAS_PTX
    __asm__("mov.b32 %0, %0;" : "+r"(w));
#endif
    return w;
}
#define HIDDEN_2(w) (uint2)(hidden((w).s0), hidden((w).s1))
#define HIDDEN_4(w) (uint4)(hidden((w).s0), hidden((w).s1), hidden((w).s2), hidden((w).s3))
#define HIDDEN(w)   CAT(HIDDEN_, IN_WORDS)(w)

/* Where IN_WORDS is defined, stages compute with a vector of bytes as so many words: on GPUs unpacking the bytes
 * costs more than the computation itself. */
#define AS_WORDS(v)         CAT(as_uint, IN_WORDS)(v)
#define AS_BYTES(v)         CAT3(as_, DST, LANES)(v)

/* Sample k of a word. */
#define SAMPLE_OF_uchar(w, k)  ((w) >> 8 * (k) & 255u)
#define SAMPLE_OF_char(w, k)   ((int)((w) << (24 - 8 * (k))) >> 24)
#define SAMPLE_OF_ushort(w, k) ((w) >> 16 * (k) & 0xffffu)
#define SAMPLE_OF_short(w, k)  ((int)((w) << (16 - 16 * (k))) >> 16)
#define SAMPLE_OF(type, w, k)  CAT(SAMPLE_OF_, type)(w, k)

/* 1.5 * 2^23. The sum of this and a float of at most 2^22 has the nearest integer in its lowest bits. */
#define ROUNDER 12582912.0f
/* PAIR_OF packs two bytes into the lowest 16 bits of a word, from integers in the lowest bits of two floats (see
 * ROUNDER). FOUR_OF packs four. A ushort2 is used because Mesa's compiler for Mali splits vectors of bytes, and
 * masks and shifts cost as much as four additions there. */
#define PAIR_OF(a, b) as_uint(fma((b) - ROUNDER, 256.0f, a))
#define FOUR_OF(m)    (ushort2)((ushort)PAIR_OF((m).s0, (m).s1), (ushort)PAIR_OF((m).s2, (m).s3))

/* BYTE_AS_FLOAT converts byte k of a word. LAST_BYTES packs the lowest bytes of four words, which are the bits of
 * floats as for PAIR_OF. BYTE_SIGNS fills each byte with its highest bit. */
#ifdef HAS_PTX
#define BYTE_AS_FLOAT(w, k) (as_float(permute(w, 0x4b000000u, 0x7440u + (k))) - 8388608.0f)
#define LAST_BYTES(a, b, c, d)                                                                     \
    permute(permute(a, b, 0x0040u), permute(c, d, 0x0040u), 0x5410u)
#define BYTE_SIGNS(w) permute(w, 0u, 0xba98u)
#else
#define BYTE_AS_FLOAT(w, k) (float)((w) >> 8 * (k) & 255u)
#define LAST_BYTES(a, b, c, d)                                                                     \
    ((PAIR_OF(as_float(a), as_float(b)) & 0xffffu) | PAIR_OF(as_float(c), as_float(d)) << 16)
#define BYTE_SIGNS(w) (((w) >> 7 & 0x01010101u) * 255u)
#endif
