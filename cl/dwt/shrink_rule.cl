/* What shrink does to a coefficient, and where it finds the threshold: for its own kernels, and for those of idwt that
 * apply it as they load (cl/dwt/dwt_sums.cl).
 *
 * RULE_soft and the like say which rule; RULE_firm has two numbers more (NUMBERS). `values` has a threshold for each band and channel; with UNIVERSAL
 * what the median is multiplied with, of which the two middle magnitudes stand as keys in the first row of `state`:
 * four for each channel, two of them prefixes (cl/dwt/shrink.cl). */
#if defined(SRC_IS_int)
#define KEY            uint
#define KEY_OF(v)      abs(v)
#define MAGNITUDE(key) ((WORK)(key))
#elif defined(WORK_IS_double)
#define KEY            ulong
#define KEY_OF(v)      (as_ulong(v) & 0x7fffffffffffffffUL)
#define MAGNITUDE(key) as_double(key)
#else
#define KEY            uint
#define KEY_OF(v)      (as_uint(v) & 0x7fffffffu)
#define MAGNITUDE(key) as_float(key)
#endif
#define STATE(c, i) (((__global KEY *)ROW(state, 0))[(c) * 4 + (i)])
#define PREFIX      0
#define RANK        2

/* How the kernel is given them, and the threshold of channel c, whose value is at values[at]. */
#ifdef UNIVERSAL
#define LIMITS_IN       __global const WORK *restrict values, PLANE_IN(int, state)
#define FOUND(c, i)     MAGNITUDE(((__global const KEY *)ROW(state, 0))[(c) * 4 + PREFIX + (i)])
#define LIMIT_OF(c, at) ((FOUND(c, 0) + FOUND(c, 1)) * (WORK)0.5f * values[at])
#else
#define LIMITS_IN       __global const WORK *restrict values
#define LIMIT_OF(c, at) values[at]
#endif

#if defined(RULE_soft) || defined(RULE_hard) || defined(RULE_garrote) || defined(RULE_firm) || defined(RULE_greater) || \
    defined(RULE_less)
#define HAS_RULE
inline WORK FN(rule)(WORK v, WORK t NUMBERS)
{
    WORK size = fabs(v);
#if defined(RULE_firm) /* `slope` leads from 0 at t to the coefficient at upper · t */
    return size <= t ? 0 : size > upper * t ? v : copysign((size - t) * slope, v);
#elif defined(RULE_greater)
    return v < t ? 0 : v;
#elif defined(RULE_less)
    return v > t ? 0 : v;
#elif defined(RULE_hard)
    return size < t ? 0 : v;
#elif defined(RULE_soft)
    return size <= t ? 0 : copysign(size - t, v);
#else
    return size <= t ? 0 : v - t * t / v;
#endif
}
#endif
