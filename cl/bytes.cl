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

/* Those of them that erode and dilate take, of so many words. */
inline uint FN(better_1)(uint a, uint b)
{
#ifdef TAKE_LEAST
    return FN(least)(a, b);
#else
    return FN(largest)(a, b);
#endif
}

inline uint2 FN(better_2)(uint2 a, uint2 b)
{
    return (uint2)(FN(better_1)(a.x, b.x), FN(better_1)(a.y, b.y));
}

inline uint4 FN(better_4)(uint4 a, uint4 b)
{
    return (uint4)(FN(better_2)(a.lo, b.lo), FN(better_2)(a.hi, b.hi));
}

inline uint8 FN(better_8)(uint8 a, uint8 b)
{
    return (uint8)(FN(better_4)(a.lo, b.lo), FN(better_4)(a.hi, b.hi));
}

/* The word that begins `bits` (8, 16 or 24) behind the beginning of a, which b follows. */
#define BEHIND(a, b, bits) ((a) >> (bits) | (b) << (32 - (bits)))
/* The bytes of a word that are alpha. */
#define ALPHA_BYTES (ALPHA == 2 ? 0xff00ff00u : ALPHA == 4 ? 0xff000000u : 0u)
