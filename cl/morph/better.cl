/* In front of kernels of erode and dilate for GPUs: the lesser or the larger of each byte of two words. Of bytes a
 * and b, 128 + a % 128 - b % 128 has the highest bit where a % 128 is not less, which decides between bytes whose
 * highest bits are alike. */
inline uint FN(better)(uint a, uint b)
{
    uint lower = (a | 0x80808080u) - (b & 0x7f7f7f7fu);
    uint not_less = (a & ~b) | (~(a ^ b) & lower), mask = BYTE_SIGNS(not_less);
#ifdef TAKE_LEAST
    return (a & ~mask) | (b & mask);
#else
    return (b & ~mask) | (a & mask);
#endif
}
#define BETTER(a, b)   FN(better)(a, b)
#define BETTER_4(a, b) FN(better_4)(a, b)
inline uint4 FN(better_4)(uint4 a, uint4 b)
{
    return (uint4)(BETTER(a.s0, b.s0), BETTER(a.s1, b.s1), BETTER(a.s2, b.s2), BETTER(a.s3, b.s3));
}
