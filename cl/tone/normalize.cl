/* normalize: (v - black) / (white - black) of the range, 0 to `full`, with black and white where
 * cl/tone/histogram.cl left them. Integers: the exact quotient, to nearest with ties to even. An estimate in f32
 * is at most one off, and its remainder, which is small, is right modulo 2^32. */
#define BLACK ((__global const int *)state)[0] /* FOUND in cl/bins.cl */
#define WHITE ((__global const int *)state)[3]

inline V(DST) FN(normalize_pixel)(V(SRC) v, __global const uchar *restrict state, float full)
{
#ifdef SRC_IS_float
    float black = as_float(BLACK), range = as_float(WHITE) - black;
    V(float) t = fmin(fmax((v - black) / range, (V(float))(0.0f)), (V(float))(1.0f));
    return range > 0.0f ? t * full : v;
#else
    const uint most = (uint)full;
    int black = BLACK, range = WHITE - black, divisor = max(range, 1);
    V(uint) one = 1, none = 0;
    V(int) k = clamp(CONVERT(int, v) - black, (V(int))(0), (V(int))(divisor));
    V(uint) n = CONVERT(uint, k) * most;
    V(uint) q = CONVERT(uint, CONVERT(float, n) * (1.0f / (float)divisor));
    V(int) twice = CONVERT(int, n - q * (V(uint))((uint)divisor)) * 2;
    q += twice > (V(int))(divisor) ? one : twice == (V(int))(divisor) ? q & one : none;
    return range > 0 ? CONVERT(DST, q) : v;
#endif
}
