/* Sums of samples times weights, of LANES columns, for gauss, unsharp and resize. Of integers weights are 2^14ths. Sums
 * along a row are kept in 64ths, MIDDLE; so sums of these down a column are shifted by 20 bits, and rounded, halves up. Of
 * ushort they do not fit 32 bits: one is 4096 * high + low. CLAMPS: weights may be negative. WITH_ALPHA: sums of colours
 * times alpha are floats, and those of alpha alone, beside them, exact. */
#ifdef SRC_IS_float
#define WORK float
#else
#define WORK int
#endif
#if defined(SRC_IS_float) || defined(WITH_ALPHA)
#define MIDDLE float
#define WEIGHT float
#elif defined(SRC_IS_ushort)
#define MIDDLE int
#define WEIGHT short
#else
#define MIDDLE short
#define WEIGHT short
#endif
#if defined(SRC_IS_ushort) || (defined(WITH_ALPHA) && !defined(SRC_IS_float))
#define IN_PARTS
#endif
#ifdef CLAMPS
#define TO_SAMPLES(v) CAT4(convert_, SRC, LANES, _sat)(v)
#else
#define TO_SAMPLES(v) CONVERT(SRC, v)
#endif

/* A sum down a column begins with 0 and ROUNDING, in `high` and `low`; `high` of those that fit 32 bits stays 0. (By value:
 * what functions reach by pointers Mesa's compiler for Mali keeps in memory.) */
#ifdef SRC_IS_float
#define ROUNDING 0.0f
#else
#define ROUNDING (1 << 19)
#endif
#define ADD_ROW(high, low, v, w) high = FN(add_high)(high, v, w), low = FN(add_low)(low, v, w)
inline V(WORK) FN(add_high)(V(WORK) sum, V(WORK) v, WORK w)
{
#ifdef IN_PARTS
    return sum + (v >> 12) * (V(WORK))w;
#else
    return sum;
#endif
}

inline V(WORK) FN(add_low)(V(WORK) sum, V(WORK) v, WORK w)
{
#ifdef IN_PARTS
    v &= 4095;
#endif
    return sum + v * (V(WORK))w;
}

inline V(SRC) FN(of_column)(V(WORK) high, V(WORK) low)
{
#if defined(IN_PARTS)
    return TO_SAMPLES((high + (low >> 12)) >> 8);
#elif defined(SRC_IS_float)
    return low;
#else
    return TO_SAMPLES(low >> 20);
#endif
}
