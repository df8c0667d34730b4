/* Arithmetic on blocks of 32 bytes for cl/box/box.cl, in front of which this file stands.
 *
 * A block is loaded as pairs: a lane holds an even sample and the odd one behind it. A mask and a shift separate them;
 * widening bytes would take shuffles, of which processors can do too few in a cycle. And the prefix sum runs over pairs,
 * which are half as many. Window sums are kept in the order of the lanes, because only these files read them. Of functions
 * that are there for several types of lanes, the compiler takes that of its arguments. */
#define OVERLOADED inline __attribute__((overloadable))
#if SAMPLE_BITS == 8
#define SRC          uchar
#define PAIR         ushort
#define PAIRS        ushort16
#define HALVES       short16
#define BLOCK        32
#define BACKWARDS(v) (v).sfedcba9876543210
#define ROW_SUMS     ushort16
#define FLIPPED_PAIR (ushort)(FLIP * 0x8080)
#define FLIPPED_ONE  (FLIP * 0x80)
#else
#define SRC          ushort
#define PAIR         uint
#define PAIRS        uint8
#define HALVES       int8
#define BLOCK        16
#define BACKWARDS(v) (v).s76543210
#define ROW_SUMS     uint16
#define FLIPPED_PAIR (FLIP * 0x80008000u)
#define FLIPPED_ONE  (FLIP * 0x8000)
#endif

/* Access to a block at any address (vload would do, but PoCL compiles it to accesses of single bytes), to 16 samples, and
 * to a half or a quarter of a block, as words of 16 bits. */
typedef PAIRS FN(block) __attribute__((aligned(SAMPLE_BITS / 8)));
typedef CAT(SRC, 16) FN(samples) __attribute__((aligned(SAMPLE_BITS / 8)));
typedef ushort8 FN(piece8) __attribute__((aligned(SAMPLE_BITS / 8)));
typedef ushort4 FN(piece4) __attribute__((aligned(SAMPLE_BITS / 8)));
inline PAIRS FN(load)(__global const SRC *p)
{
    return *(__global const FN(block) *)p;
}

inline void FN(store)(PAIRS v, __global SRC *p)
{
    *(__global FN(block) *)p = v;
}

/* The same sample in all places; a block's samples backwards; its even ones and its odd ones. */
inline PAIRS FN(repeated)(SRC sample)
{
    return (PAIRS)(PAIR)((PAIR)sample << SAMPLE_BITS | sample);
}

inline PAIRS FN(mirrored)(PAIRS v)
{
    v = BACKWARDS(v);
    return v << (PAIR)SAMPLE_BITS | v >> (PAIR)SAMPLE_BITS;
}

inline HALVES FN(even)(PAIRS v)
{
    return CAT(as_, HALVES)(v & (PAIR)((1u << SAMPLE_BITS) - 1));
}

inline HALVES FN(odd)(PAIRS v)
{
    return CAT(as_, HALVES)(v >> (PAIR)SAMPLE_BITS);
}

/* Prefix sums over all lanes, or over every second one, so that summands are `bits` apart: lanes are moved up by 16, 32 and 64
 * bits, with zeros at the bottom, in each half of the vector, and then the lower half's sum is added to the upper one. */
inline HALVES FN(prefix)(HALVES v, int bits)
{
    short16 a = as_short16(v);
    if (bits == 16)
        v += CAT(as_, HALVES)((short16)(0, a.s0123, a.s45, a.s6, 0, a.s89ab, a.scd, a.se));
    int8 b = as_int8(v);
    if (bits <= 32)
        v += CAT(as_, HALVES)((int8)(0, b.s012, 0, b.s456));
    long4 c = as_long4(v);
    v += CAT(as_, HALVES)((long4)(0, c.s0, 0, c.s2));
    a = as_short16(v), b = as_int8(v), c = as_long4(v);
    if (bits == 16)
        return v + CAT(as_, HALVES)((short16)((short8)0, a.s77777777));
    if (bits == 32)
        return v + CAT(as_, HALVES)((int8)((int4)0, b.s3333));
    return v + CAT(as_, HALVES)((long4)((long2)0, c.s11));
}

/* The same over every third lane, across the whole vector; and lanes moved up by one. */
#if SAMPLE_BITS == 8
inline short16 FN(prefix_3)(short16 v)
{
    v += (short16)(0, 0, 0, v.s01234567, v.s89ab, v.sc);
    v += (short16)(0, 0, 0, 0, 0, 0, v.s01234567, v.s89);
    return v + (short16)((short8)0, (short4)0, v.s0123);
}

inline short16 FN(moved_up)(short16 v)
{
    return (short16)(0, v.s01234567, v.s89ab, v.scd, v.se);
}
#else
inline int8 FN(prefix_3)(int8 v)
{
    v += (int8)(0, 0, 0, v.s0123, v.s4);
    return v + (int8)(0, 0, 0, 0, 0, 0, v.s01);
}

inline int8 FN(moved_up)(int8 v)
{
    return (int8)(0, v.s0123, v.s45, v.s6);
}
#endif

/* Replaces e at the even and at the odd samples of a block by its prefix sums for each channel. */
inline void FN(changes)(HALVES *even, HALVES *odd)
{
    if (CH == 1) {
        HALVES pairs = FN(prefix)(*even + *odd, 2 * SAMPLE_BITS);
        *even = pairs - *odd;
        *odd = pairs;
    } else if (CH == 2) { /* odd samples are alpha, whose sums must not change, so that they fit a sample */
        *even = FN(prefix)(*even, 2 * SAMPLE_BITS);
        *odd = 0;
    } else if (CH == 3) { /* three samples before an odd one is an even one, and three before that an odd one */
        *odd = FN(prefix_3)(*odd + FN(moved_up)(*even));
        *even += FN(moved_up)(FN(moved_up)(*odd));
    } else {
        *even = FN(prefix)(*even, 4 * SAMPLE_BITS);
        *odd = FN(prefix)(*odd, 4 * SAMPLE_BITS);
    }
}

/* The sums are stored in phases: sample PHASES * i + k of a block is lane i of phase k. SUM is the type of those that are stored,
 * and TOTAL has room for any sum. */
#if SUM_BITS == 16
#define PHASE      short16
#define LANE       short
#define LANE_COUNT 16
#else
#define PHASE      int8
#define LANE       int
#define LANE_COUNT 8
#endif
#define QUOTIENTS CAT(u, PHASE)
#define SUMS   CAT(SUM, LANE_COUNT)
#define PHASES (BLOCK / LANE_COUNT)

inline int FN(place)(int i)
{
    return (i & ~(BLOCK - 1)) + (i & (PHASES - 1)) * LANE_COUNT + (i & (BLOCK - 1)) / PHASES;
}

/* A vector of what has been found for each channel: a lane of phase k gets that of its sample's, of samples `first`
 * further. */
inline PHASE FN(by_channel)(const LANE *of, int k, int first)
{
    PHASE v;
    UNROLLED for (int i = 0; i < LANE_COUNT; i++)
        ((LANE *)&v)[i] = of[(first + PHASES * i + k) % CH];
    return v;
}

/* The last sample of channel c in a block. */
#define LAST_AT(c) (BLOCK - 1 - (BLOCK - 1 - (c)) % CH)
inline LANE FN(last)(const PHASE *v, int c)
{
    return ((const LANE *)&v[LAST_AT(c) % PHASES])[LAST_AT(c) / PHASES];
}

/* Even and odd samples in phases; of four phases, which have wider lanes, two are made of each. */
inline void FN(spread)(PHASE *v, HALVES even, HALVES odd)
{
    if (PHASES == 2) {
        v[0] = CAT(as_, PHASE)(even), v[1] = CAT(as_, PHASE)(odd);
    } else {
        v[0] = CAT(as_, PHASE)((as_int8(even) << 16) >> 16), v[1] = CAT(as_, PHASE)((as_int8(odd) << 16) >> 16);
        v[2] = CAT(as_, PHASE)(as_int8(even) >> 16), v[3] = CAT(as_, PHASE)(as_int8(odd) >> 16);
    }
}

/* The prefix sum at the end of a block, which is added to the next block: each lane there gets that of its own channel. */
inline void FN(carry_on)(PHASE *carry, const PHASE *v)
{
    LANE last[CH];
    UNROLLED for (int c = 0; c < CH; c++)
        last[c] = FN(last)(v, c);
    UNROLLED for (int k = 0; k < PHASES; k++)
        carry[k] = FN(by_channel)(last, k, BLOCK);
}

/* Numbers by which sums are divided. */
struct FN(divider) {
    uint area, multiplier;
    int drop;
    float factor;
    uint raised;
};

/* floor(t / area) of sums that include half of the area. Plans choose the cheapest way that is exact for the area
 * (src/stage/box/box_divide.c has the proofs). `multiplier` is the divider's from a `volatile` vector: LLVM compiles a
 * product and its shift to one multiplication if both conversions are right beside it, and would move the conversion of a
 * constant factor out of the loop.
 *
 * With DIVIDE_REST t is the remainder of the sum before, plus the change of the sum; the result is the change of the
 * quotient, and t keeps the new remainder. `raised` times the area is added to changes, and `raised` subtracted from the
 * quotients later, so that no number is negative. */
OVERLOADED ushort16 FN(divided)(ushort16 *t, short16 change, volatile ushort16 *multiplier, const struct FN(divider) d)
{
    ushort16 n = *t, c = as_ushort16(change);
    if (SATURATES)
        n = n < c ? (ushort16)0xffff : n;
    ushort16 q = convert_ushort16((convert_uint16(n) * convert_uint16(*multiplier)) >> 16) >> (ushort16)d.drop;
    if (DIVIDE_REST)
        *t -= q * (ushort)d.area;
    return q;
}

/* Otherwise an estimate is right or one too small, as its remainder tells, which is exact modulo 2^32. */
inline uint8 FN(corrected)(uint8 q, uint8 t, uint area)
{
    return q - as_uint8(t - q * area >= area);
}

OVERLOADED uint8 FN(divided)(uint8 *t, int8 change, volatile ushort16 *multiplier, const struct FN(divider) d)
{
    ulong4 m = d.multiplier, even = (as_ulong4(*t) & 0xffffffffUL) * m, odd = (as_ulong4(*t) >> 32) * m;
    if (DIVIDE_HIGH)
        return as_uint8(even >> (ulong4)(32 + d.drop) | (odd >> (ulong4)d.drop & ~0xffffffffUL));
    return FN(corrected)(as_uint8(convert_int8(convert_float8(*t) * d.factor)), *t, d.area);
}

OVERLOADED uint8 FN(divided)(ulong8 *t, int8 change, volatile ushort16 *multiplier, const struct FN(divider) d)
{
    return FN(corrected)(as_uint8(convert_int8(convert_float8(convert_uint8(*t >> 8)) * d.factor)), convert_uint8(*t), d.area);
}

/* The means of a block from its quotients m[0] …; with DIVIDE_REST these are changes of the quotients of the row before,
 * which are kept, too. */
OVERLOADED PAIRS FN(means)(const ushort16 *m, __global SRC *kept, uint raised)
{
    if (!DIVIDE_REST)
        return CAT(as_, PAIRS)(m[0] | m[1] << (ushort16)8);
    ushort16 q = as_ushort16(FN(load)(kept)) + m[0] + (m[1] << (ushort16)8) - (ushort)(raised * 0x101);
    FN(store)(CAT(as_, PAIRS)(q), kept);
    return CAT(as_, PAIRS)(q);
}

OVERLOADED PAIRS FN(means)(const uint8 *m, __global SRC *kept, uint raised)
{
    return CAT(as_, PAIRS)(PHASES == 4 ? m[0] | m[1] << 8 | m[2] << 16 | m[3] << 24 : m[0] | m[1] << 16);
}
