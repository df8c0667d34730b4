/* What every kernel template may use. It stands once at the head of each program.
 *
 * A template is compiled under definitions that its pass makes (src/stage/pass.h):
 *
 *     KERNEL            the kernel's name, unique in the program
 *     FN(name)          a function's name made unique; helpers that depend on definitions use it
 *     KERNEL_part       which kernel of a file that has several
 *     FORM_ROWS, FORM_VECTOR or FORM_SCALAR, and SPAN, the positions in x of one work-item
 *                       (a scalar form is the rows form with a span of one)
 *     LANES             SPAN in the vector form, nothing else: V(uchar) is uchar16 or uchar
 *     SRC, DST          OpenCL types of samples, with SRC_IS_uchar and the like
 *
 * What a template defines itself is undefined behind it. A kernel's arguments are GRID, then the pass's arguments in order; a plane is three of them.
 * Offsets, strides and indices count samples and fit an int: planning refuses larger planes.
 *
 * Rules: f32 arithmetic stays as written (no contraction, no relaxed maths), no double literal, no
 * local memory and no barrier (on Mali they are main memory and cost more than they save). */
#pragma OPENCL FP_CONTRACT OFF

#define CAT_(a, b)     a##b
#define CAT(a, b)      CAT_(a, b)
#define CAT3_(a, b, c) a##b##c
#define CAT3(a, b, c)  CAT3_(a, b, c)
#define CAT4_(a, b, c, d) a##b##c##d
#define CAT4(a, b, c, d)  CAT4_(a, b, c, d)

/* A type, and a conversion, as wide as the form works. */
#define V(type)          CAT(type, LANES)
#define CONVERT(type, v) CAT3(convert_, type, LANES)(v)


/* A scalar computed by a function that is as wide as the form: the first lane. */
#define FIRST_(v)   (v)
#define FIRST_4(v)  (v).s0
#define FIRST_8(v)  (v).s0
#define FIRST_16(v) (v).s0
#define FIRST(v)    CAT(FIRST_, LANES)(v)

/* Alpha in interleaved pixels of `ch` channels, 2 or 4: whether sample x is one, and taking those of
 * the vector `a`, which begins with a pixel, into the vector `v` of as many lanes. */
#define IS_ALPHA(ch, x)      (((x) & ((ch) - 1)) == (ch) - 1)
#define TAKE_ALPHA_4_2(v, a)  (v).s13 = (a).s13
#define TAKE_ALPHA_4_4(v, a)  (v).s3 = (a).s3
#define TAKE_ALPHA_8_2(v, a)  (v).s1357 = (a).s1357
#define TAKE_ALPHA_8_4(v, a)  (v).s37 = (a).s37
#define TAKE_ALPHA_16_2(v, a) (v).s13579bdf = (a).s13579bdf
#define TAKE_ALPHA_16_4(v, a) (v).s37bf = (a).s37bf
#define TAKE_ALPHA(n, ch, v, a) CAT4(TAKE_ALPHA_, n, _, ch)(v, a)

/* The part of the grid that this launch covers: x from 0 to grid_width, y from begin to end. */
#define GRID int grid_width, int grid_y_begin, int grid_y_end

#define PLANE_IN(type, p)  __global const type *restrict p##_base, int p##_offset, int p##_stride
#define PLANE_OUT(type, p) __global type *restrict p##_base, int p##_offset, int p##_stride
#define ROW(p, y)          (p##_base + p##_offset + (y) * p##_stride)

/* This work-item's row, and where its span of it begins and ends. */
#define GRID_Y       (grid_y_begin + (int)get_global_id(1))
#define SPAN_BEGIN   ((int)get_global_id(0) * SPAN)
#define SPAN_END(b)  min((b) + SPAN, grid_width)

/* Borders, numbered as enum border in src/image/border.h; crop has no outside. */
#define BORDER_EDGE      0
#define BORDER_REFLECT   1
#define BORDER_SYMMETRIC 2
#define BORDER_WRAP      3
#define BORDER_ZERO      4

inline int modulo(int i, int n)
{
    int r = i % n;
    return r < 0 ? r + n : r;
}

/* The index within 0…n-1 that stands at i, however far outside, or -1 for zero. */
inline int border_index(int i, int n, int border)
{
    if (i >= 0 && i < n)
        return i;
    if (border == BORDER_EDGE)
        return i < 0 ? 0 : n - 1;
    if (border == BORDER_ZERO)
        return -1;
    if (border == BORDER_WRAP)
        return modulo(i, n);
    if (n == 1)
        return 0;
    int fold = border == BORDER_REFLECT ? 1 : 0;
    int r = modulo(i, 2 * n - 2 * fold);
    return r < n ? r : 2 * n - 1 - fold - r;
}

/* sat(rne(v)) of a float for each type of sample: to nearest, ties to even, clamped; NaN gives the
 * least value. Written so that a compiler can vectorise the loop around it. */
#define SATURATE_uchar(v)  ((uchar)(int)fmin(fmax(rint(v), 0.0f), 255.0f))
#define SATURATE_char(v)   ((char)(int)fmin(fmax(rint(v), -128.0f), 127.0f))
#define SATURATE_ushort(v) ((ushort)(int)fmin(fmax(rint(v), 0.0f), 65535.0f))
#define SATURATE_short(v)  ((short)(int)fmin(fmax(rint(v), -32768.0f), 32767.0f))
#define SATURATE_int(v)    saturate_int(v)
#define SATURATE_float(v)  (v)
#define SATURATE(type, v)  CAT(SATURATE_, type)(v)

inline int saturate_int(float v)
{
    float r = rint(v); /* 2^31 is a float, 2^31 - 1 is not */
    return r >= 2147483648.0f ? 2147483647 : r > -2147483648.0f ? (int)r : (int)(-2147483647 - 1);
}

/* A double from its bits, without fp64: to f32, to nearest with ties to even; and sat(rne(v)) for an
 * integer type whose range is low…high. NaN gives the least value. IEEE 754: sign, 11 bits of
 * exponent, 52 of fraction. */
inline float float_of_f64(ulong bits)
{
    uint sign = (uint)(bits >> 63) << 31;
    int exponent = (int)((bits >> 52) & 0x7ff) - 1023;
    ulong fraction = bits & 0xfffffffffffffUL;
    if (exponent == 1024)
        return as_float(sign | 0x7f800000u | (fraction ? 0x400000u : 0u));
    if (exponent > 127)
        return as_float(sign | 0x7f800000u);
    if (exponent < -150)
        return as_float(sign);
    ulong significand = fraction | 0x10000000000000UL;
    int drop = exponent < -126 ? 29 - 126 - exponent : 29; /* subnormals keep fewer bits */
    uint kept = (uint)(significand >> drop);
    ulong rest = significand & ((1UL << drop) - 1), half_way = 1UL << (drop - 1);
    kept += rest > half_way || (rest == half_way && (kept & 1u));
    uint biased = exponent < -126 ? 0u : (uint)(exponent + 126) << 23; /* kept has bit 23 */
    return as_float(sign | (biased + kept));
}

inline int saturate_f64(ulong bits, int low, int high)
{
    int exponent = (int)((bits >> 52) & 0x7ff) - 1023;
    ulong fraction = bits & 0xfffffffffffffUL;
    bool negative = (bits >> 63) != 0;
    if (exponent == 1024 && fraction)
        return low;
    if (exponent > 31)
        return negative ? low : high;
    if (exponent < -1)
        return clamp(0, low, high);
    ulong significand = fraction | 0x10000000000000UL;
    int drop = 52 - exponent;
    ulong kept = significand >> drop, rest = significand & ((1UL << drop) - 1);
    ulong half_way = 1UL << (drop - 1);
    kept += rest > half_way || (rest == half_way && (kept & 1UL));
    long v = negative ? -(long)kept : (long)kept;
    return (int)clamp(v, (long)low, (long)high);
}

/* Neighbours at a distance of one pixel of `ch` channels, for aligned vectors of n samples: the
 * vector whose first sample is ch before (after) that of c, from c and the vector p before it (n
 * after it). */
#define BEFORE_4_1(V, p, c) (V)((p).s3, (c).s01, (c).s2)
#define AFTER_4_1(V, c, n) (V)((c).s12, (c).s3, (n).s0)
#define BEFORE_4_2(V, p, c) (V)((p).s23, (c).s01)
#define AFTER_4_2(V, c, n) (V)((c).s23, (n).s01)
#define BEFORE_4_3(V, p, c) (V)((p).s12, (p).s3, (c).s0)
#define AFTER_4_3(V, c, n) (V)((c).s3, (n).s01, (n).s2)
#define BEFORE_4_4(V, p, c) (V)((p).s0123)
#define AFTER_4_4(V, c, n) (V)((n).s0123)
#define BEFORE_8_1(V, p, c) (V)((p).s7, (c).s0123, (c).s45, (c).s6)
#define AFTER_8_1(V, c, n) (V)((c).s1234, (c).s56, (c).s7, (n).s0)
#define BEFORE_8_2(V, p, c) (V)((p).s67, (c).s0123, (c).s45)
#define AFTER_8_2(V, c, n) (V)((c).s2345, (c).s67, (n).s01)
#define BEFORE_8_3(V, p, c) (V)((p).s56, (p).s7, (c).s0123, (c).s4)
#define AFTER_8_3(V, c, n) (V)((c).s3456, (c).s7, (n).s01, (n).s2)
#define BEFORE_8_4(V, p, c) (V)((p).s4567, (c).s0123)
#define AFTER_8_4(V, c, n) (V)((c).s4567, (n).s0123)
#define BEFORE_16_1(V, p, c) (V)((p).sf, (c).s01234567, (c).s89ab, (c).scd, (c).se)
#define AFTER_16_1(V, c, n) (V)((c).s12345678, (c).s9abc, (c).sde, (c).sf, (n).s0)
#define BEFORE_16_2(V, p, c) (V)((p).sef, (c).s01234567, (c).s89ab, (c).scd)
#define AFTER_16_2(V, c, n) (V)((c).s23456789, (c).sabcd, (c).sef, (n).s01)
#define BEFORE_16_3(V, p, c) (V)((p).sde, (p).sf, (c).s01234567, (c).s89ab, (c).sc)
#define AFTER_16_3(V, c, n) (V)((c).s3456789a, (c).sbcde, (c).sf, (n).s01, (n).s2)
#define BEFORE_16_4(V, p, c) (V)((p).scdef, (c).s01234567, (c).s89ab)
#define AFTER_16_4(V, c, n) (V)((c).s456789ab, (c).scdef, (n).s0123)
#define VECTOR_BEFORE(n, ch, V, p, c) CAT4(BEFORE_, n, _, ch)(V, p, c)
#define VECTOR_AFTER(n, ch, V, c, a)  CAT4(AFTER_, n, _, ch)(V, c, a)


/* The sample of channel c at column i of row y, which border_index gave: zero where it gave -1. */
#define FETCH(p, i, ch, y, c) ((i) < 0 || (y) < 0 ? 0 : ROW(p, y)[(i) * (ch) + (c)])

/* The quotient n/d rounded to nearest, ties to even, for |n| <= 2^30 and 0 < d < 2^30 with a quotient
 * below 2^21: an estimate in f32, at most one off, made exact in integers. `inverse` is 1.0f/d. */
#define DEFINE_QUOTIENT(lanes)                                                                     \
    inline CAT(int, lanes) CAT(quotient_rne, lanes)(CAT(int, lanes) n, int d, float inverse)       \
    {                                                                                              \
        CAT(int, lanes) q = CAT(convert_int, lanes)(rint(CAT(convert_float, lanes)(n) * inverse)); \
        CAT(int, lanes) r = n - q * d;                                                             \
        CAT(int, lanes) step = (CAT(int, lanes))(2 * r > d) - (CAT(int, lanes))(2 * r < -d);       \
        return q + step;                                                                           \
    }
