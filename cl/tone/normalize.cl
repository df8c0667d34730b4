/* normalize: (v - black) / (white - black) of the range, 0 to `full`, with black and white where
 * cl/tone/histogram.cl left them. Integers: the exact quotient, to nearest with ties to even. An estimate in f32
 * is at most one off, and its remainder, which is small, is right modulo 2^32. */
#include <words.cl>
#define BLACK ((__global const int *)state)[0] /* FOUND in cl/bins.cl */
#define WHITE ((__global const int *)state)[3]

#pragma form WORDS
/* Four samples in floats, exactly: a quotient that is no tie is at least 1/510 away from one. (Mesa's compiler for Mali
 * runs out of registers with sixteen.) */
inline uchar4 FN(normalize_4)(uchar4 v, float black, float divisor, float each, float full)
{
    float4 n = fmin(fmax(convert_float4(v) - black, (float4)(0.0f)), (float4)(divisor)) * full;
    float4 q = n * each + ROUNDER, twice = (n - (q - ROUNDER) * divisor) * 2.0f;
    float4 up = twice == (float4)(divisor) ? (float4)(1.0f) : (float4)(0.0f);
    up = twice == (float4)(-divisor) ? (float4)(-1.0f) : up;
    return as_uchar4(four_of((as_int4(q) & 1) != 0 ? q + up : q));
}
#pragma form

inline V(DST) FN(normalize_pixel)(V(SRC) v, __global const uchar *restrict state, float full)
{
#pragma kernel float
    float black = as_float(BLACK), range = as_float(WHITE) - black;
    V(float) t = fmin(fmax((v - black) / range, (V(float))(0.0f)), (V(float))(1.0f));
    return range > 0.0f ? t * full : v;
#pragma kernel unnamed
#pragma form WORDS
    float black = (float)BLACK, range = (float)WHITE - black, divisor = fmax(range, 1.0f), each = 1.0f / divisor;
#define FOUR(four) FN(normalize_4)((v).four, black, divisor, each, full)
    return range > 0.0f ? (uchar16)(FOUR(s0123), FOUR(s4567), FOUR(s89ab), FOUR(scdef)) : v;
#pragma form SAMPLES
    const uint most = (uint)full;
    int black = BLACK, range = WHITE - black, divisor = max(range, 1);
    V(uint) one = 1, none = 0;
    V(int) k = clamp(CONVERT(int, v) - black, (V(int))(0), (V(int))(divisor));
    V(uint) n = CONVERT(uint, k) * most;
    V(uint) q = CONVERT(uint, CONVERT(float, n) * (1.0f / (float)divisor));
    V(int) twice = CONVERT(int, n - q * (V(uint))((uint)divisor)) * 2;
    q += twice > (V(int))(divisor) ? one : twice == (V(int))(divisor) ? q & one : none;
    return range > 0 ? CONVERT(DST, q) : v;
#pragma kernel
}
