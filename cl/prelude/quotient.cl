/* floor(t / d), if it is below 2^16. The estimate is right or one too small, which the remainder shows; computed
 * modulo 2^32 that is exact. `factor` is a little less than 1/d, or than 256/d for 64 bits: see
 * src/stage/box/box_divide.c. */
inline uint floor_quotient_uint(uint t, uint d, float factor)
{
    uint q = (uint)((float)t * factor);
    return t - q * d >= d ? q + 1 : q;
}

inline uint floor_quotient_ulong(ulong t, uint d, float factor)
{
    uint q = (uint)((float)(uint)(t >> 8) * factor);
    return (uint)t - q * d >= d ? q + 1 : q;
}

/* The quotient n/d rounded to nearest, ties to even, of ushort, uint or ulong: quotient_uint16(n, d). n + d/2 must
 * be in range. d should be a constant, so that the compiler replaces the division by a multiplication. Callers
 * add an even multiple of d to negative numerators first, which keeps ties even (src/stage/quotient.h).
 *
 * On Mali ulong is slow: a division by a 64-bit constant is four 32-bit products for each half, for four lanes at
 * once, and takes more than 32 registers, so a core runs half the threads. Only i32, or coefficients far beyond the
 * samples' range, need it. */
#define DEFINE_QUOTIENT(type, lanes)                                                               \
    inline CAT(type, lanes) CAT3(quotient_, type, lanes)(CAT(type, lanes) n, type d)               \
    {                                                                                              \
        if (d == 1)                                                                                \
            return n;                                                                              \
        if ((d & (d - 1)) == 0) /* a half is rounded up if the quotient is odd */                  \
            return (n + (type)(d / 2 - 1) + (n / d & (type)1)) / d;                                \
        CAT(type, lanes) moved = n + (type)(d / 2), q = moved / d;                                 \
        if (d & 1)                                                                                 \
            return q; /* there are no halves */                                                    \
        CAT(type, lanes) rest = moved - q * d; /* 0: a half, which was rounded up */               \
        return q - (q & (type)1 & ((type)1 - min(rest, (CAT(type, lanes))(type)1)));               \
    }
#define DEFINE_QUOTIENTS(type)                                                                     \
    DEFINE_QUOTIENT(type, ) DEFINE_QUOTIENT(type, 4) DEFINE_QUOTIENT(type, 8)                      \
    DEFINE_QUOTIENT(type, 16)
DEFINE_QUOTIENTS(ushort)
DEFINE_QUOTIENTS(uint)
DEFINE_QUOTIENTS(ulong)

/* sat(rne(N/D)) as V(DST), exactly, for D, OFFSET, LIMIT and ZERO that the pass defines (src/stage/quotient.h).
 * n is N + OFFSET as V(NUM). VALUE is a signed or unsigned type of NUM's size that can hold every DST. */
#define EXACT_RESULT(n)                                                                            \
    CONVERT(DST, CAT3(as_, VALUE, LANES)((V(NUM))(                                                 \
                     LIMIT(CAT3(quotient_, NUM, LANES)(n, (NUM)DIVISOR)) - (NUM)ZERO)))

/* The same where these numbers are the kernel's arguments: the quotient is the upper half of a product with
 * `multiplier` (quotient_numbers in src/stage/quotient.c). The highest bit of n + d/2 must be free. On Mali ulong
 * is slow here, too. */
#define DEFINE_QUOTIENT_BY(type, lanes)                                                            \
    inline CAT(type, lanes) CAT3(quotient_by_, type, lanes)(CAT(type, lanes) n, type d,            \
                                                            type multiplier, type shift)           \
    {                                                                                              \
        CAT(type, lanes) moved = n + (CAT(type, lanes))(d >> 1);                                   \
        CAT(type, lanes) high = mul_hi(moved << (CAT(type, lanes))(1),                             \
                                       (CAT(type, lanes))(multiplier));                            \
        CAT(type, lanes) q = high >> (CAT(type, lanes))(shift), rest = moved - q * d;              \
        return q - (q & (type)(~d & 1) & ((type)1 - min(rest, (CAT(type, lanes))(type)1)));        \
    }
#define DEFINE_QUOTIENTS_BY(type)                                                                  \
    DEFINE_QUOTIENT_BY(type, ) DEFINE_QUOTIENT_BY(type, 4) DEFINE_QUOTIENT_BY(type, 8)             \
    DEFINE_QUOTIENT_BY(type, 16)
DEFINE_QUOTIENTS_BY(uint)
DEFINE_QUOTIENTS_BY(ulong)

#define QUOTIENT_PARAMETERS                                                                        \
    NUM offset, NUM divisor, NUM multiplier, NUM shift, NUM zero, NUM low, NUM high
#define EXACT_RESULT_BY(n)                                                                         \
    CONVERT(DST, CAT3(as_, VALUE, LANES)(                                                          \
                     clamp(CAT3(quotient_by_, NUM, LANES)((n) + offset, divisor, multiplier,       \
                                                          shift),                                  \
                           (V(NUM))(low), (V(NUM))(high)) -                                        \
                     zero))
