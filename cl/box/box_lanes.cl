/* Arithmetic on blocks of 32 bytes for cl/box/box.cl, in front of which this file stands.
 *
 * A block is loaded as pairs: a lane holds an even sample and the odd one behind it. A mask and a shift separate them;
 * widening bytes would take shuffles, of which processors can do too few in a cycle. And the prefix sum runs over pairs,
 * which are half as many. Window sums are kept in the order of the lanes, because only these files read them. */
#if SAMPLE_BITS == 8
#define SRC    uchar
#define PAIRS  ushort16
#define HALVES short16
#define BLOCK  32
#define as_PAIRS(v)  as_ushort16(v)
#define as_HALVES(v) as_short16(v)
#define LOW_HALF     (ushort)0xff
#define SAMPLES        uchar16
#define ROW_SUMS       ushort16
#define TO_ROW_SUMS(v) convert_ushort16(v)
#define FLIPPED_PAIR      (ushort)(FLIP * 0x8080)
#define FLIPPED_ONE  (FLIP * 0x80)
#else
#define SRC    ushort
#define PAIRS  uint8
#define HALVES int8
#define BLOCK  16
#define as_PAIRS(v)  as_uint8(v)
#define as_HALVES(v) as_int8(v)
#define LOW_HALF     0xffffu
#define SAMPLES        ushort16
#define ROW_SUMS       uint16
#define TO_ROW_SUMS(v) convert_uint16(v)
#define FLIPPED_PAIR      (FLIP * 0x80008000u)
#define FLIPPED_ONE  (FLIP * 0x8000)
#endif

/* Access to a block at any address. (vload would do, but PoCL compiles it to accesses of single bytes.) */
typedef PAIRS FN(block) __attribute__((aligned(SAMPLE_BITS / 8)));
typedef SAMPLES FN(samples) __attribute__((aligned(SAMPLE_BITS / 8)));
#define LOAD_SAMPLES(p)   (*(__global const FN(samples) *)(p))
#define LOAD_BLOCK(p)     (*(__global const FN(block) *)(p))
#define STORE_BLOCK(v, p) (*(__global FN(block) *)(p) = (v))
/* Access to a half or a quarter of a block, as words of 16 bits. */
typedef ushort8 FN(piece8) __attribute__((aligned(SAMPLE_BITS / 8)));
typedef ushort4 FN(piece4) __attribute__((aligned(SAMPLE_BITS / 8)));
#define LOAD_PIECE(n, p)     (*(__global const FN(piece##n) *)(p))
#define STORE_PIECE(n, v, p) (*(__global FN(piece##n) *)(p) = (v))
#if SAMPLE_BITS == 8
#define REPEATED(sample)  (PAIRS)(ushort)((sample) * 0x101)
#define MIRRORED(v)       FN(mirrored)(v)
inline PAIRS FN(mirrored)(PAIRS v)
{
    v = v.sfedcba9876543210;
    return v << 8 | v >> 8;
}
#else
#define REPEATED(sample)  (PAIRS)((sample) * 0x10001u)
#define MIRRORED(v) rotate((v).s76543210, (uint8)16)
#endif
#define EVEN(v)           as_HALVES((v) & LOW_HALF)
#define ODD(v)            as_HALVES((v) >> SAMPLE_BITS)

/* Lanes moved up by k, with zeros at the bottom: UP in each half of a vector, ACROSS in the whole vector. UP_HALF adds the
 * sum of the lower half to the upper one. */
#if BLOCK == 32
#define UP_1(v)      (short16)(0, (v).s0123, (v).s45, (v).s6, 0, (v).s89ab, (v).scd, (v).se)
#define UP_2(v)      as_short16((int8)(0, as_int8(v).s012, 0, as_int8(v).s456))
#define UP_4(v)      as_short16((long4)(0, as_long4(v).s0, 0, as_long4(v).s2))
#define UP_HALF_1(v) (short16)((short8)0, (v).s77777777)
#define UP_HALF_2(v) (short16)((short8)0, (v).s67676767)
#define ACROSS_1(v)  (short16)(0, (v).s01234567, (v).s89ab, (v).scd, (v).se)
#define ACROSS_2(v)  (short16)(0, 0, (v).s01234567, (v).s89ab, (v).scd)
#define ACROSS_3(v)  (short16)(0, 0, 0, (v).s01234567, (v).s89ab, (v).sc)
#define ACROSS_6(v)  (short16)(0, 0, 0, 0, 0, 0, (v).s01234567, (v).s89)
#define ACROSS_12(v) (short16)((short8)0, (short4)0, (v).s0123)
#else
#define UP_1(v)      (int8)(0, (v).s012, 0, (v).s456)
#define UP_2(v)      (int8)(0, 0, (v).s01, 0, 0, (v).s45)
#define UP_4(v)      (int8)0
#define UP_HALF_1(v) (int8)((int4)0, (v).s3333)
#define UP_HALF_2(v) (int8)((int4)0, (v).s2323)
#define ACROSS_1(v)  (int8)(0, (v).s0123, (v).s45, (v).s6)
#define ACROSS_2(v)  (int8)(0, 0, (v).s0123, (v).s45)
#define ACROSS_3(v)  (int8)(0, 0, 0, (v).s0123, (v).s4)
#define ACROSS_6(v)  (int8)(0, 0, 0, 0, 0, 0, (v).s01)
#define ACROSS_12(v) (int8)0
#endif

/* Prefix sums over all lanes, over every second one, and over every third one. */
inline HALVES FN(prefix_1)(HALVES v)
{
    v += UP_1(v);
    v += UP_2(v);
    v += UP_4(v);
    return v + UP_HALF_1(v);
}

inline HALVES FN(prefix_2)(HALVES v)
{
    v += UP_2(v);
    v += UP_4(v);
    return v + UP_HALF_2(v);
}

inline HALVES FN(prefix_3)(HALVES v)
{
    v += ACROSS_3(v);
    v += ACROSS_6(v);
    return v + ACROSS_12(v);
}

/* Replaces e at the even and at the odd samples of a block by its prefix sums for each channel. */
inline void FN(changes)(HALVES *even, HALVES *odd)
{
#if CH == 1
    HALVES pairs = FN(prefix_1)(*even + *odd);
    *even = pairs - *odd;
    *odd = pairs;
#elif CH == 2 /* odd samples are alpha, whose sums must not change, so that they fit a sample */
    *even = FN(prefix_1)(*even);
    *odd = 0;
#elif CH == 3 /* three samples before an odd one is an even one, and three before that an odd one */
    *odd = FN(prefix_3)(*odd + ACROSS_1(*even));
    *even += ACROSS_2(*odd);
#else
    *even = FN(prefix_2)(*even);
    *odd = FN(prefix_2)(*odd);
#endif
}

/* The sums are stored in phases: sample PHASES * i + k of a block is lane i of phase k. */
#if SUM_BITS == 16
#define PHASE  short16
#define LANE   short
#define SUMS   ushort16
#define SUM    ushort
#define TO_SUMS(v) as_ushort16(v)
#define LANE_COUNT 16
#else
#define PHASE  int8
#define LANE   int
#define LANE_COUNT 8
#if SUM_BITS == 32
#define SUMS   uint8
#define SUM    uint
#define TO_SUMS(v) as_uint8(v)
#else
#define SUMS   ulong8
#define SUM    ulong
#define TO_SUMS(v) as_ulong8(convert_long8(v))
#endif
#endif
#define PHASES (BLOCK / LANE_COUNT)
#if SUM_BITS == 64
#define SUM_WIDE ulong
#else
#define SUM_WIDE uint
#endif
#define PHASE_INDEX(i)                                                                             \
    (((i) & ~(BLOCK - 1)) + ((i) & (PHASES - 1)) * LANE_COUNT + ((i) & (BLOCK - 1)) / PHASES)

#if LANE_COUNT == 16
#define LANES_OF(f)                                                                                \
    (short16)(f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12),     \
              f(13), f(14), f(15))
#else
#define LANES_OF(f)    (int8)(f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7))
#endif

/* The last sample of channel c in a block. */
inline LANE FN(last)(const PHASE *v, int c)
{
    int at = BLOCK - 1 - (BLOCK - 1 - c) % CH;
    PHASE own = v[at % PHASES];
#if LANE_COUNT == 16
    return at / PHASES == 15 ? own.sf : own.se;
#else
    return at / PHASES == 7 ? own.s7 : own.s6;
#endif
}

inline void FN(spread)(PHASE *v, HALVES even, HALVES odd)
{
#if PHASES == 4
    v[0] = (as_int8(even) << 16) >> 16, v[1] = (as_int8(odd) << 16) >> 16;
    v[2] = as_int8(even) >> 16, v[3] = as_int8(odd) >> 16;
#else
    v[0] = even, v[1] = odd;
#endif
}

/* The prefix sum at the end of a block, which is added to the next block: each lane there gets that of its own channel. */
inline void FN(carry_on)(PHASE *carry, const PHASE *v)
{
    UNROLLED for (int k = 0; k < PHASES; k++)
    {
#define LAST_LANE(i) FN(last)(v, (BLOCK + PHASES * (i) + k) % CH)
        carry[k] = LANES_OF(LAST_LANE);
    }
}

/* floor(t / area) of sums that include half of the area. Plans choose the cheapest way that is exact for the area
 * (src/stage/box/box_divide.c has the proofs). The last way, `correct`, is an estimate that is right or one too small,
 * and its remainder, which is exact modulo 2^32. */
#if defined(DIVIDE_SHORT)
#define QUOTIENTS ushort16
#define DIVIDE_LANES(t, change) (FN(short)(t, in_memory) >> (ushort16)drop)
/* LLVM compiles this to one multiplication if both conversions are right beside it. `volatile` keeps it from moving the
 * conversion of the constant factor out of the loop. */
#define DIVIDER_IN_MEMORY volatile ushort16 in_memory = (ushort16)multiplier;
inline ushort16 FN(short)(ushort16 t, ushort16 factor)
{
    return convert_ushort16((convert_uint16(t) * convert_uint16(factor)) >> 16);
}
#elif defined(DIVIDE_REST)
/* Here t is the remainder of the sum before, plus the change of the sum. Returns the change of the quotient, and keeps
 * the new remainder in t. `raised` times the area is added to changes, and `raised` subtracted from the quotients later,
 * so that no number is negative. */
#define QUOTIENTS ushort16
#define DIVIDE_LANES(t, change) FN(follow)(&t, as_ushort16(change), in_memory, (ushort)area, (ushort)drop)
#define DIVIDER_IN_MEMORY volatile ushort16 in_memory = (ushort16)multiplier;
#define RAISED            (short)(raised * area)
inline ushort16 FN(follow)(ushort16 *t, ushort16 change, ushort16 factor, ushort area, ushort drop)
{
    ushort16 n = *t;
#ifdef SATURATES
    n = n < change ? (ushort16)0xffff : n;
#endif
    ushort16 k = convert_ushort16((convert_uint16(n) * convert_uint16(factor)) >> 16) >> drop;
    *t -= k * area;
    return k;
}
#elif defined(DIVIDE_HIGH)
#define QUOTIENTS uint8
#define DIVIDE_LANES(t, change) FN(high)(as_ulong4(t), multiplier, drop)
inline uint8 FN(high)(ulong4 t, uint multiplier, int drop)
{
    ulong4 m = multiplier, even = (t & 0xffffffffUL) * m, odd = (t >> 32) * m;
    return as_uint8(even >> (ulong4)(32 + drop) | (odd >> (ulong4)drop & ~0xffffffffUL));
}
#else
#define QUOTIENTS uint8
#define DIVIDE_LANES(t, change) FN(correct)(t, area, factor)
inline uint8 FN(correct)(SUMS t, uint area, float factor)
{
#if SUM_BITS == 64
    uint8 q = as_uint8(convert_int8(convert_float8(convert_uint8(t >> 8)) * factor));
#else
    uint8 q = as_uint8(convert_int8(convert_float8(t) * factor));
#endif
    uint8 rest = convert_uint8(t) - q * area;
    return q - as_uint8(rest >= area);
}
#endif
#ifndef DIVIDER_IN_MEMORY
#define DIVIDER_IN_MEMORY
#endif
#ifndef RAISED
#define RAISED 0
#endif
/* KEEP_SUM stores a first row's sum. MEANS computes the means of a block from its quotients m[0] …; with DIVIDE_REST these
 * are changes of the quotients of the row before, which are kept, too. */
#ifdef DIVIDE_REST
#define KEEP_SUM(base, i, sum)                                                                     \
    {                                                                                              \
        QUOTIENTS_OF(base)[i] = (SRC)((sum) / area);                                               \
        SUMS_OF(base)[PHASE_INDEX(i)] = (SUM)((sum) % area);                                       \
    }
#define MEANS(m, kept) FN(means)(m[0], m[1], kept, (ushort)raised)
inline PAIRS FN(means)(ushort16 even, ushort16 odd, __global SRC *kept, ushort raised)
{
    PAIRS q = LOAD_BLOCK(kept) + even + (odd << (ushort16)8) - (ushort)(raised * 0x101);
    STORE_BLOCK(q, kept);
    return q;
}
#else
#define KEEP_SUM(base, i, sum) SUMS_OF(base)[PHASE_INDEX(i)] = (SUM)(sum);
#if PHASES == 4
#define MEANS(m, kept) as_PAIRS(m[0] | m[1] << 8 | m[2] << 16 | m[3] << 24)
#else
#define MEANS(m, kept) as_PAIRS(m[0] | m[1] << SAMPLE_BITS)
#endif
#endif
#define DIVIDER_PARAMETERS uint area, uint multiplier, int drop, float factor, uint raised
#define DIVIDER_ARGUMENTS  area, multiplier, drop, factor, raised
