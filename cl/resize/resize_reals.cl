/* Bytes and weights of 16 bits in f32, for resize on GPUs: exact, because sums are below 2^24. Two weights are in a word. */
inline int FN(first_of)(uint w)
{
    return (int)(w << 16) >> 16;
}

inline int FN(second_of)(uint w)
{
    return (int)w >> 16;
}

/* The four weights in two words. */
inline float4 FN(weights_of)(uint v, uint w)
{
    return (float4)((float)FN(first_of)(v), (float)FN(second_of)(v), (float)FN(first_of)(w), (float)FN(second_of)(w));
}

inline float FN(add)(float sum, float4 v, float4 w)
{
    sum = fma(v.s0, w.s0, sum);
    sum = fma(v.s1, w.s1, sum);
    sum = fma(v.s2, w.s2, sum);
    return fma(v.s3, w.s3, sum);
}

/* Channel c of four pixels: of three channels those of 12 bytes, of one those of word `step`. */
inline float4 FN(channel)(uint4 v, int step, int c)
{
    if (CH == 1)
        return floats_of(step == 0 ? v.s0 : step == 1 ? v.s1 : step == 2 ? v.s2 : v.s3);
    return c == 0   ? (float4)(byte_as_float(v.s0, 0), byte_as_float(v.s0, 3), byte_as_float(v.s1, 2), byte_as_float(v.s2, 1))
           : c == 1 ? (float4)(byte_as_float(v.s0, 1), byte_as_float(v.s1, 0), byte_as_float(v.s1, 3), byte_as_float(v.s2, 2))
                    : (float4)(byte_as_float(v.s0, 2), byte_as_float(v.s1, 1), byte_as_float(v.s2, 0), byte_as_float(v.s2, 3));
}
