/* fir of 8-bit samples in floats, down columns, and small boxes, as firs with coefficients of 1. Results are bytes or
 * floats; for floats with EACH_ROUNDED products and sums are rounded one by one, as the reference rounds them.
 *
 * s0 to s6 are the unfinished sums of rows whose windows contain the current line, s0 that of the lowest row, for
 * which it is the first line. TAPS adds the line to each sum: T(j, …) adds one coefficient's product to sum j. If the
 * window is the product of a column and a row, ACROSS multiplies the line with the row, and DOWNS, D(j, …), the
 * result with the column. */
#include "columns_words.cl"
#define STATE   float4 s0 = START, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0;
#ifdef ACROSS
#define T(j, at, k) h = fma(at(v), (float)(k), h);
#define D(j, k)     s##j = fma(h, (float)(k), s##j);
#define ADD_TAPS                                                                                   \
    float4 h = 0;                                                                                  \
    ACROSS                                                                                         \
    DOWNS
#else
#ifdef EACH_ROUNDED
#define T(j, at, k) s##j += at(v) * (k);
#else
#define T(j, at, k) s##j = fma(at(v), (float)(k), s##j);
#endif
#define ADD_TAPS    TAPS
#endif
#define ENTER(v) ADD_TAPS
#define LEAVE(v) s6 = s5, s5 = s4, s4 = s3, s3 = s2, s2 = s1, s1 = s0, s0 = START;
#ifdef DST_IS_float
#include "fir_divide.cl"
#define OF_SUM(s) (DIVIDE(s) ADD_BIAS)
#else
#define OF_SUM(s) BYTES(FN(quotient)(s))

/* The sum divided by the divisor, rounded to nearest: see define_quotient in src/stage/fir/fir_packed.c. HALF is half
 * of an even divisor; then ties are corrected to even numbers. */
inline float4 FN(quotient)(float4 s)
{
#if defined(HALF)
    float4 m = fma(s, RECIPROCAL, ROUNDER), rest = fma(m - ROUNDER, -2.0f * HALF, s);
    m = fabs(rest) == HALF && (as_int4(m) & 1) ? m + copysign(1.0f, rest) : m;
    return clamp(m + (RESULTS - ROUNDER), RESULTS + DST_LEAST, RESULTS + DST_MOST);
#elif defined(LIMITED)
    return clamp(s * RECIPROCAL, DST_LEAST, DST_MOST) + RESULTS;
#else
    return fma(s, RECIPROCAL, RESULTS);
#endif
}
#endif
#define RESULT OF_SUM(CAT(s, LAST))
#include "columns.cl"
