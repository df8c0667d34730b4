/* unsharp made of a blurred sample, by a table of the changes (TABLE) or in f32 (REAL); for gauss it stays as it is. */
#include <lookup.cl>
#include <round.cl>
#if defined(TABLE)
#define SHARPENED(in, blurred) FN(sharpened)(in, blurred GIVEN)
inline V(SRC) FN(sharpened)(V(SRC) in, V(SRC) blurred, __global const int *restrict changes)
{
    V(int) d = CONVERT(int, in) - CONVERT(int, blurred), sign = d >> 31;
#pragma form ROWS
/* through memory: on CPUs lanes that are put in one by one take longer */
    int each[LANES];
    CAT(vstore, LANES)(CONVERT(int, abs(d)), 0, each);
    for (int i = 0; i < LANES; i++)
        each[i] = changes[each[i]];
    V(int) change = CAT(vload, LANES)(0, each);
#pragma form VECTOR SCALAR
    V(int) change = LOOK_UP(int, changes, abs(d));
#pragma form
    return CAT4(convert_, SRC, LANES, _sat)(CONVERT(int, in) + ((change ^ sign) - sign));
}
#elif defined(REAL)
#define SHARPENED(in, blurred) FN(sharpened)(in, blurred GIVEN)
inline V(SRC) FN(sharpened)(V(SRC) in, V(SRC) blurred, float amount, float threshold)
{
    V(float) v = CONVERT(float, in), d = v - CONVERT(float, blurred), none = 0;
    V(float) change = d * amount;
#ifndef SRC_IS_float
    change = RNE(change);
#endif
    v += fabs(d) >= (V(float))threshold ? change : none;
#ifdef SRC_IS_float
    return v;
#else
    return CONVERT(SRC, CONVERT(int, IN_RANGE(SRC, v)));
#endif
}
#else
#define SHARPENED(in, blurred) (blurred)
#endif
