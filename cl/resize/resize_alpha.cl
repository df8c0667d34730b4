/* Behind resize_table.cl: COLOUR(c, a), the colour of sums c that have been multiplied by alpha, for alpha's sums a > 0; of
 * REALS, float or float16. */
#ifdef SRC_IS_float
#define COLOUR(c, a) ((c) / (a))
#else
#define COLOUR(c, a) FN(rounded)(c, a)
/* sat(rne(c / a)) as a float, rounded once. It corrects a rounded estimate by its remainder, which is exact because it has
 * no more bits than a. */
inline REALS FN(rounded)(REALS c, REALS a)
{
    REALS v = c / a, none = 0, one = 1;
    v = RNE(fmin(fmax(v, -1.0f), SRC_MAX + 1.0f));
    REALS odd = CAT(convert_, REALS)(CAT(convert_, WHOLES)(v) & 1), rest = fma(-v, a, c) * 2.0f;
    v += rest > a ? one : rest == a ? odd : none;
    v -= rest < -a ? one : rest == -a ? odd : none;
    return fmin(fmax(v, 0.0f), SRC_MAX);
}
#endif
