/* The steps of lifting for cdf53 and cdf97 (ISO/IEC 15444-1 F.3.8): a sample gets k times the sum of its neighbours l and r
 * added, odd samples and even ones by turns; the way back takes that away again. REVERSIBLE are the 5/3 in integers.
 * BY_FMA: products are added unrounded. */
#pragma kernel analysis split level
#define SIGN    +
#define REVERSE -
#pragma kernel synthesis join
#define SIGN    -
#define REVERSE +
#pragma kernel
#ifdef REVERSIBLE
#define LIFT_ODD(v, l, r, k)  ((v) REVERSE(((l) + (r)) >> 1))
#define LIFT_EVEN(v, l, r, k) ((v) SIGN(((l) + (r) + 2) >> 2))
#else
#ifdef BY_FMA
#define LIFT_ODD(v, l, r, k) fma(SIGN(k), (l) + (r), v)
#else
#define LIFT_ODD(v, l, r, k) ((v) SIGN(k) * ((l) + (r)))
#endif
#define LIFT_EVEN(v, l, r, k) LIFT_ODD(v, l, r, k)
#endif
struct FN(factors) {
    WORK a, b, c, e; /* of the steps, in the order of the analysis */
};
