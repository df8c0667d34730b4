/* What shrink does to a coefficient: for its own kernels, and for those of idwt that apply it as they load
 * (cl/dwt/dwt_sums.cl). They are given a threshold for each plane and channel, `values`, and numbers of the rule: firm's
 * `slope` leads from 0 at t to the coefficient at upper · t. */
#define LIMITS_IN __global const WORK *restrict values, WORK upper, WORK slope

#ifdef RULE
#define SOFT    0
#define HARD    1
#define FIRM    3
#define GREATER 4
#define LESS    5
inline WORK FN(rule)(WORK v, WORK t, WORK upper, WORK slope)
{
    WORK size = fabs(v);
    return RULE == GREATER ? (v < t ? 0 : v)
           : RULE == LESS  ? (v > t ? 0 : v)
           : RULE == HARD  ? (size < t ? 0 : v)
           : size <= t     ? 0
           : RULE == FIRM  ? (size > upper * t ? v : copysign((size - t) * slope, v))
           : RULE == SOFT  ? copysign(size - t, v)
                           : v - t * t / v;
}
#endif
