/* colour: three sums of red, green and blue, and alpha as it is. The grid counts pixels; the vector form takes four.
 *
 * `table` has for each sum the coefficients and the offset as floats, then as whole numbers modulo 2^32, and what
 * these are to be divided by, at most 10^9. The sum in f32 is less than 0.4 off, so its nearest integer is at most
 * one off; what is then left of the whole numbers' sum is below 2^30 and right modulo 2^32. `wide`: the whole
 * numbers alone, in 64 bits. `small`, for bytes on Mali: whole numbers and their divisor so small that f32 holds the sum,
 * and its quotient is no tie unless what is left says so; the divisor's reciprocal, 255 times it and half of it follow. */
#include <round.cl>
#define MOST (sizeof(DST) == 1 ? 255 : 65535)

#pragma kernel wide
#define COEFFICIENT long
#define COEFFICIENTS   5
#define DEFINE_MIX(n)                                                                              \
    inline DST FN(mix)(DST r, DST g, DST b, __global const long *restrict m)                       \
    {                                                                                              \
        long d = m[4], sum = (long)r * m[0] + (long)g * m[1] + (long)b * m[2] + m[3];              \
        sum = clamp(sum, 0L, MOST * d);                                                            \
        long q = sum / d, twice = (sum - q * d) * 2;                                               \
        return (DST)(q + (twice > d || (twice == d && (q & 1)) ? 1 : 0));                          \
    }
#pragma kernel small
#define COEFFICIENT  float
#define COEFFICIENTS 8
#define DEFINE_MIX(n)                                                                              \
    inline CAT(float, n) CAT(FN(mix), n)(CAT(DST, n) r, CAT(DST, n) g, CAT(DST, n) b,              \
                                         __global const float *restrict table)                     \
    {                                                                                              \
        float4 m = ((__global const float4 *)table)[0], by = ((__global const float4 *)table)[1];  \
        CAT(float, n) sum = fma(CAT(convert_float, n)(b), (CAT(float, n))(m.s2), (CAT(float, n))(m.s3)); \
        sum = fma(CAT(convert_float, n)(g), (CAT(float, n))(m.s1), sum);                           \
        sum = fma(CAT(convert_float, n)(r), (CAT(float, n))(m.s0), sum);                           \
        sum = fmin(fmax(sum, (CAT(float, n))(0.0f)), (CAT(float, n))(by.s2));                      \
        CAT(float, n) q = fma(sum, (CAT(float, n))(by.s1), (CAT(float, n))(ROUNDER));              \
        CAT(float, n) rest = fma(q - ROUNDER, (CAT(float, n))(-by.s0), sum);                       \
        CAT(int, n) odd = CAT(as_int, n)(q) & 1;                                                   \
        return fabs(rest) == (CAT(float, n))(by.s3) && odd ? q + copysign((CAT(float, n))(1.0f), rest) : q; \
    }
#pragma kernel unnamed float
#define COEFFICIENT int
#define COEFFICIENTS   9
#define IN_F32(n, v) CAT(convert_float, n)(v)
#define SUM_IN_F32(n)                                                                              \
    (((IN_F32(n, r) * as_float(m[0]) + IN_F32(n, g) * as_float(m[1])) + IN_F32(n, b) * as_float(m[2])) + \
     as_float(m[3]))
#define WHOLE(n, v, k) (CAT(convert_uint, n)(v) * (uint)m[k])
#pragma kernel float
#define DEFINE_MIX(n)                                                                              \
    inline CAT(DST, n) CAT(FN(mix), n)(CAT(DST, n) r, CAT(DST, n) g, CAT(DST, n) b,                \
                                       __global const int *restrict m)                             \
    {                                                                                              \
        return SUM_IN_F32(n);                                                                      \
    }
#pragma kernel unnamed
#define DEFINE_MIX(n)                                                                              \
    inline CAT(DST, n) CAT(FN(mix), n)(CAT(DST, n) r, CAT(DST, n) g, CAT(DST, n) b,                \
                                       __global const int *restrict m)                             \
    {                                                                                              \
        CAT(int, n) one = 1, none = 0, d = m[8];                                                   \
        CAT(float, n) sum = fmin(fmax(SUM_IN_F32(n), -1.0f), MOST + 1.0f);                         \
        CAT(int, n) q = CAT(convert_int, n)(RNE(sum));                                             \
        CAT(uint, n) whole = WHOLE(n, r, 4) + WHOLE(n, g, 5) + WHOLE(n, b, 6) + (uint)m[7];        \
        CAT(int, n) twice = CAT(as_int, n)(whole - CAT(as_uint, n)(q) * (uint)m[8]) * 2;           \
        q += twice > d ? one : twice == d ? q & one : none;                                        \
        q -= twice < -d ? one : twice == -d ? q & one : none;                                      \
        return CAT(convert_, CAT(DST, n))(clamp(q, none, (CAT(int, n))(MOST)));                    \
    }

/* Samples of the result as mix() has them, together and alone. */
#pragma kernel small
#include <words.cl>
#define MIXED            float4
#define FOUR(a, b, c, d) as_uchar4(four_of((float4)(a, b, c, d)))
#define OF_ALPHA(v)      ((float)(v) + ROUNDER)
#define ALONE(v)         (uchar)as_uint(v)
#pragma kernel wide unnamed float
#define MIXED            CAT(DST, 4)
#define FOUR(a, b, c, d) (CAT(DST, 4))(a, b, c, d)
#define OF_ALPHA(v)      (v)
#define ALONE(v)         (v)
#pragma kernel
DEFINE_MIX()
#pragma form VECTOR
DEFINE_MIX(4)
#pragma form

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(OUT, dst),
                     __global const COEFFICIENT *restrict table THEN_PARAMETERS)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y) + x * CH;
    __global OUT *out = ROW(dst, y) + x * CH;
#pragma form VECTOR
    if (x + SPAN <= grid_width) {
        __global const CAT(SRC, 4) *at = (__global const CAT(SRC, 4) *)in;
        __global CAT(OUT, 4) *to = (__global CAT(OUT, 4) *)out;
        CAT(SRC, 4) a = at[0], b = at[1], c = at[2], d = at[CH - 1];
        CAT(SRC, 4) red = CH == 3 ? (CAT(SRC, 4))(a.s0, a.s3, b.s2, c.s1) : (CAT(SRC, 4))(a.s0, b.s0, c.s0, d.s0);
        CAT(SRC, 4) green = CH == 3 ? (CAT(SRC, 4))(a.s1, b.s0, b.s3, c.s2) : (CAT(SRC, 4))(a.s1, b.s1, c.s1, d.s1);
        CAT(SRC, 4) blue = CH == 3 ? (CAT(SRC, 4))(a.s2, b.s1, c.s0, c.s3) : (CAT(SRC, 4))(a.s2, b.s2, c.s2, d.s2);
        MIXED r = CAT(FN(mix), 4)(red, green, blue, table);
        MIXED g = CAT(FN(mix), 4)(red, green, blue, table + COEFFICIENTS);
        MIXED l = CAT(FN(mix), 4)(red, green, blue, table + 2 * COEFFICIENTS);
        if (CH == 3) {
            to[0] = THEN(FOUR(r.s0, g.s0, l.s0, r.s1));
            to[1] = THEN(FOUR(g.s1, l.s1, r.s2, g.s2));
            to[2] = THEN(FOUR(l.s2, r.s3, g.s3, l.s3));
            return;
        }
        to[0] = FOUR(r.s0, g.s0, l.s0, OF_ALPHA(a.s3));
        to[1] = FOUR(r.s1, g.s1, l.s1, OF_ALPHA(b.s3));
        to[2] = FOUR(r.s2, g.s2, l.s2, OF_ALPHA(c.s3));
        to[3] = FOUR(r.s3, g.s3, l.s3, OF_ALPHA(d.s3));
        return;
    }
#pragma form
    for (int end = SPAN_END(x); x < end; x++, in += CH, out += CH) {
        SRC r = in[0], g = in[1], b = in[2];
        out[0] = THEN_ONE(ALONE(FN(mix)(r, g, b, table)));
        out[1] = THEN_ONE(ALONE(FN(mix)(r, g, b, table + COEFFICIENTS)));
        out[2] = THEN_ONE(ALONE(FN(mix)(r, g, b, table + 2 * COEFFICIENTS)));
        if (CH == 4)
            out[CH - 1] = in[CH - 1];
    }
}
