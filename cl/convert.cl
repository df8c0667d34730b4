#include <double.cl>
#include <half.cl>
#include <round.cl>
#include <share.cl>
#include <types.cl>
#pragma kernel channels
/* Changes the number of channels: grey becomes three equal colours, colours become their luma (bt601), and missing
 * alpha becomes white. The grid counts pixels. */
#define WHITE (IS_REAL(SRC) ? (SRC)as_float((int)white) : (SRC)white)
#define LUMA                                                                                       \
    (IS_REAL(SRC) ? (SRC)(in[0] * (19595.0f / 65536.0f) + in[1] * (38470.0f / 65536.0f) +          \
                          in[2] * (7471.0f / 65536.0f))                                            \
                  : (SRC)(((uint)in[0] * 19595u + (uint)in[1] * 38470u + (uint)in[2] * 7471u + 32768u) >> 16))

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), long white)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y) + x * CH;
    __global SRC *out = ROW(dst, y) + x * DST_CH;
    for (int end = SPAN_END(x); x < end; x++, in += CH, out += DST_CH) {
        out[0] = DST_CH == 1 && CH > 2 ? LUMA : in[0];
        if (DST_CH > 1) {
            out[1] = in[CH > 2 ? 1 : 0];
            out[2] = in[CH > 2 ? 2 : 0];
        }
        if (DST_CH == 4)
            out[3] = CH == 2 ? in[1] : WHITE;
    }
}
#pragma kernel planar
/* Writes the channels of pixels, which are only moved, as planes of `rows` rows below each other. The grid counts
 * pixels. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), int rows)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y) + x * CH;
    __global SRC *out = ROW(dst, y) + x;
    int next = rows * dst_stride;
    for (int end = SPAN_END(x); x < end; x++, in += CH, out++) {
        out[0] = in[0];
        out[next] = in[1];
        if (CH > 2)
            out[2 * next] = in[2];
        if (CH > 3)
            out[3 * next] = in[3];
    }
}
#pragma kernel unnamed quantized
/* convert: TO integers sat(rne(v)), for floats whose white is 1 sat(rne(v * max)), or quantized
 * sat(rne(v / scale) + zero); to floats the nearest f32 or f16. f16 and f64 come as their bits; what is `scaled`, and f64,
 * is computed one sample at a time. */
DEFINE_FLOAT_OF_HALF
DEFINE_HALF_OF_FLOAT
#define IN_FLOAT     CAT(FROM_, FROM) /* v */
#define FROM_half    FN(float_of_half)(v)
#define FROM_f64     float_of_f64(v)
#define FROM_odd_f64 odd_float_of_f64(v)
#define FROM_number  CONVERT(float, v)

#pragma kernel unnamed
#define TO_same      v
#define TO_float     IN_FLOAT
#define TO_half      FN(half_of_float)(IN_FLOAT)
#define TO_scaled    (DST)(int)share_of(IN_FLOAT, (float)DST_MAX, 1.0f)
#define TO_rounded   WIDE_SATURATE(DST, IN_FLOAT)
#define TO_saturated (DST)saturate_f64(v, DST_MIN, DST_MAX)
#define TO_limited   CONVERT(DST, clamp(v, (V(SRC))(SRC)LOWEST, (V(SRC))(SRC)HIGHEST))
inline V(DST) FN(convert_pixel)(V(SRC) v)
{
    return CAT4(TO_, TO, , );
}
#pragma kernel quantized
/* The quotient is that of f32, correctly rounded: after one step of Newton's method it is one of the two nearest
 * numbers, and the second one's remainder, exact in fma, rounds it (P. Markstein, Computation of elementary functions
 * on the IBM RISC System/6000 processor, 1990). What is limited to 2^18 has no such remainder. */
inline V(DST) FN(convert_pixel)(V(SRC) v, float scale, float reciprocal, float zero)
{
    V(float) from = IN_FLOAT, steps;
    if (EXACT_DIVIDE) {
        steps = from / scale;
    } else {
        V(float) by = -scale, times = reciprocal, most = 262144.0f * scale;
        from = fmin(fmax(from, -most), most);
        steps = from * times;
        steps = fma(fma(steps, by, from), times, steps);
        steps = fma(fma(steps, by, from), times, steps);
    }
    steps = fmin(fmax(steps, -262144.0f), 262144.0f);
    return CONVERT(DST, CONVERT(int, IN_RANGE(DST, RNE(steps) + zero)));
}
