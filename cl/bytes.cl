/* In front of kernels for GPUs that work on four bytes at a time, in words: the lesser and the larger ones of two
 * words. Of bytes a and b, 128 + a % 128 - b % 128 has the highest bit where a % 128 is not less, which decides
 * between bytes whose highest bits are alike. */
#include <edge.cl>
#include <words.cl>
inline uint FN(not_less)(uint a, uint b)
{
    uint lower = (a | 0x80808080u) - (b & 0x7f7f7f7fu), signs = (a & ~b) | (~(a ^ b) & lower);
    return byte_signs(signs);
}

inline uint FN(least)(uint a, uint b)
{
    uint mask = FN(not_less)(a, b);
    return (a & ~mask) | (b & mask);
}

inline uint FN(largest)(uint a, uint b)
{
    uint mask = FN(not_less)(a, b);
    return (b & ~mask) | (a & mask);
}

/* Those of them that erode and dilate take. */
#ifdef TAKE_LEAST
#define BETTER(a, b) FN(least)(a, b)
#else
#define BETTER(a, b) FN(largest)(a, b)
#endif
#define BETTER_4(a, b) FN(better_4)(a, b)
inline uint4 FN(better_4)(uint4 a, uint4 b)
{
    return (uint4)(BETTER(a.s0, b.s0), BETTER(a.s1, b.s1), BETTER(a.s2, b.s2), BETTER(a.s3, b.s3));
}

#define BETTER_8(a, b) FN(better_8)(a, b)
inline uint8 FN(better_8)(uint8 a, uint8 b)
{
    return (uint8)(BETTER_4(a.lo, b.lo), BETTER_4(a.hi, b.hi));
}

/* The word that begins `bits` (8, 16 or 24) behind the beginning of a, which b follows. */
#define BEHIND(a, b, bits) ((a) >> (bits) | (b) << (32 - (bits)))
/* The bytes of a word that are alpha. */
#define ALPHA_BYTES (CH == 2 ? 0xff00ff00u : 0xff000000u)
