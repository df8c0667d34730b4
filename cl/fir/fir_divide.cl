#ifdef RECIPROCAL
/* a / divisor, correctly rounded, for devices whose division is not. fma gives an estimate's exact remainder, with
 * which the estimate is corrected twice (P. Markstein, Computation of elementary functions on the IBM RISC System/6000
 * processor, 1990, theorem 7.1: the reciprocal is correctly rounded, and after the first correction the estimate is
 * one of the two nearest floats). Infinities and NaN are right without it. */
inline V(float) FN(divide)(V(float) a, float divisor, float r)
{
    V(float) reciprocal = r, negative = -divisor;
    V(float) first = a * reciprocal;
    V(float) q = fma(fma(first, negative, a), reciprocal, first);
    q = fma(fma(q, negative, a), reciprocal, q);
    return fabs(first) < INFINITY ? q : first;
}
#endif
