/* What every kernel template may use. It stands once at the head of each program.
 *
 * A template is compiled under definitions that its pass makes (src/stage/pass.h):
 *
 *     KERNEL            the kernel's name, unique in the program
 *     FN(name)          a function's name made unique; helpers that depend on definitions use it
 *     KERNEL_part       which kernel of a file that has several
 *     FORM_ROWS, FORM_VECTOR or FORM_SCALAR, and SPAN, the positions in x of one work-item
 *                       (a scalar form is the rows form with a span of one)
 *     LANES             samples that V(uchar) holds: SPAN in the vector form; else nothing, so that it
 *                       is uchar, or what the pass chose (16 for rows code written in vectors)
 *     SRC, DST          OpenCL types of samples, with SRC_IS_uchar and the like
 *
 *     OUT, THEN(v)      what the result V(DST) is stored as: DST and v itself, or what stages that follow
 *                       in the same kernel make of it; THEN_PARAMETERS, theirs (src/chain/fuse_pixels.c);
 *                       THEN_WORD(w), the same of four bytes in a word
 *
 * What a template defines itself is undefined behind it. A kernel's arguments are GRID, then the
 * pass's arguments in order; a plane is three of them. Offsets, strides and indices count samples and
 * fit an int: planning refuses larger planes.
 *
 * Rules: f32 arithmetic stays as written (no contraction, no relaxed maths), no double literal, no
 * local memory and no barrier but where a profile says that there is such memory (on Mali it is main
 * memory and costs more than it saves). Where min, max and clamp of whole numbers have a vector, they have
 * vectors only: beside a scalar Oclgrind gives wrong lanes (tests/opencl/oclgrind_min.cl). */
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

/* A vector at an address that is a multiple of its samples' size only: for CPUs (vload16 and vstore16 say the
 * same, but PoCL 3.1 makes four loads and sixteen stores of them), and of words for Mali (Mesa makes four loads
 * of a vload4, and one of such a type). */
#define UNALIGNED(type, n) CAT4(unaligned_, type, _, n)
#define UNALIGNED_IN(type, n, p)  (*(__global const UNALIGNED(type, n) *)(p))
#define UNALIGNED_OUT(type, n, p) (*(__global UNALIGNED(type, n) *)(p))
typedef uchar16 __attribute__((aligned(1))) UNALIGNED(uchar, 16);
typedef char16 __attribute__((aligned(1))) UNALIGNED(char, 16);
typedef ushort16 __attribute__((aligned(2))) UNALIGNED(ushort, 16);
typedef short16 __attribute__((aligned(2))) UNALIGNED(short, 16);
typedef int16 __attribute__((aligned(4))) UNALIGNED(int, 16);
typedef uint4 __attribute__((aligned(4))) UNALIGNED(uint, 4);
typedef float16 __attribute__((aligned(4))) UNALIGNED(float, 16);
typedef ulong16 __attribute__((aligned(8))) UNALIGNED(ulong, 16);

/* Has a CPU fetch what it will need, where the compiler has a word for it. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_prefetch)
#define FETCH_AHEAD(p) __builtin_prefetch((const void *)(size_t)(p))
#endif
#endif
#ifndef FETCH_AHEAD
#define FETCH_AHEAD(p)
#endif
/* Stores an aligned vector, which no kernel soon reads, past the caches where that can be said. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define STORE_PAST(v, p) __builtin_nontemporal_store(v, p)
#endif
#endif
#ifndef STORE_PAST
#define STORE_PAST(v, p) (*(p) = (v))
#endif

/* PTX can be written in kernels (NVIDIA). */
#if defined(__NV_CL_C_VERSION) || defined(cl_nv_compiler_options)
#define HAS_PTX
#endif

/* Four of the eight bytes of a (0 to 3) and b (4 to 7): a hexadecimal digit of `which` names each, the last
 * digit the lowest; with 8 added, a byte that is that one's highest bit throughout. */
inline uint permute(uint a, uint b, uint which)
{
    uint v = 0;
#ifdef HAS_PTX
    __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(v) : "r"(a), "r"(b), "r"(which));
#else
    for (int i = 0; i < 4; i++) {
        uint digit = which >> 4 * i & 15u, byte = ((digit & 4u ? b : a) >> (digit & 3u) * 8) & 255u;
        v |= (digit & 8u ? (byte >> 7) * 255u : byte) << 8 * i;
    }
#endif
    return v;
}

/* The same word, of which the compiler no longer knows what it came from. NVIDIA's, left to itself, makes four
 * accesses, or sixteen, of a vector of words that is taken for one of bytes. */
inline uint hidden(uint w)
{
#ifdef HAS_PTX
    __asm__("mov.b32 %0, %0;" : "+r"(w));
#endif
    return w;
}
#define HIDDEN_2(w) (uint2)(hidden((w).s0), hidden((w).s1))
#define HIDDEN_4(w) (uint4)(hidden((w).s0), hidden((w).s1), hidden((w).s2), hidden((w).s3))
#define HIDDEN(w)   CAT(HIDDEN_, IN_WORDS)(w)

/* Where IN_WORDS is defined, a vector of bytes is so many words, and stages work on these: taken apart,
 * bytes cost a GPU more than what is computed from them. */
#define AS_WORDS(v)         CAT(as_uint, IN_WORDS)(v)
#define AS_BYTES(v)         CAT3(as_, DST, LANES)(v)

/* Added to a float of at most 2^22 this leaves the nearest integer in the last bits: 1.5 * 2^23. */
#define ROUNDER 12582912.0f
/* Two bytes in the last 16 bits of a word, from integers in the last bits of two floats; four bytes as they are
 * best stored. Mesa's compiler for Mali takes apart what is told as a vector of bytes, and masks and shifts cost four
 * additions there. */
#define PAIR_OF(a, b) as_uint(fma((b) - ROUNDER, 256.0f, a))
#define FOUR_OF(m)    (ushort2)((ushort)PAIR_OF((m).s0, (m).s1), (ushort)PAIR_OF((m).s2, (m).s3))

/* A byte of a word as a float; a word of four floats with bytes in their last bits, given as words; and of each
 * byte its highest bit throughout. */
#ifdef HAS_PTX
#define BYTE_AS_FLOAT(w, k) (as_float(permute(w, 0x4b000000u, 0x7440u + (k))) - 8388608.0f)
#define LAST_BYTES(a, b, c, d)                                                                     \
    permute(permute(a, b, 0x0040u), permute(c, d, 0x0040u), 0x5410u)
#define BYTE_SIGNS(w) permute(w, 0u, 0xba98u)
#else
#define BYTE_AS_FLOAT(w, k) (float)((w) >> 8 * (k) & 255u)
#define LAST_BYTES(a, b, c, d)                                                                     \
    ((PAIR_OF(as_float(a), as_float(b)) & 0xffffu) | PAIR_OF(as_float(c), as_float(d)) << 16)
#define BYTE_SIGNS(w) (((w) >> 7 & 0x01010101u) * 255u)
#endif

/* Each lane of v looked up in a table, whose first byte `table` points to. */
#define LOOK_UP(type, table, v) CAT(LOOK_UP_, LANES)(type, (__global const type *)(table), v)
#define LOOK_UP_(type, t, v)    (t)[v]
#define LOOK_UP_4(type, t, v)                                                                      \
    (CAT(type, 4))((t)[(v).s0], (t)[(v).s1], (t)[(v).s2], (t)[(v).s3])
#define LOOK_UP_8(type, t, v)   (CAT(type, 8))(LOOK_UP_4(type, t, (v).lo), LOOK_UP_4(type, t, (v).hi))
#define LOOK_UP_16(type, t, v)  (CAT(type, 16))(LOOK_UP_8(type, t, (v).lo), LOOK_UP_8(type, t, (v).hi))

/* Each lane of v looked up in a table, whose first byte `table` points to. */
#define LOOK_UP(type, table, v) CAT(LOOK_UP_, LANES)(type, (__global const type *)(table), v)
#define LOOK_UP_(type, t, v)    (t)[v]
#define LOOK_UP_4(type, t, v)                                                                      \
    (CAT(type, 4))((t)[(v).s0], (t)[(v).s1], (t)[(v).s2], (t)[(v).s3])
#define LOOK_UP_8(type, t, v)   (CAT(type, 8))(LOOK_UP_4(type, t, (v).lo), LOOK_UP_4(type, t, (v).hi))
#define LOOK_UP_16(type, t, v)  (CAT(type, 16))(LOOK_UP_8(type, t, (v).lo), LOOK_UP_8(type, t, (v).hi))

/* A scalar computed by a function that is as wide as the form: the first lane. */
#define FIRST_(v)   (v)
#define FIRST_4(v)  (v).s0
#define FIRST_8(v)  (v).s0
#define FIRST_16(v) (v).s0
#define FIRST(v)    CAT(FIRST_, LANES)(v)
#define THEN_ONE(v) FIRST(THEN((V(DST))(v)))

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
#ifdef NATIVE
#define GRID int grid_width, int grid_y_begin, int grid_y_end, int grid_x, int grid_ring
#else
#define GRID int grid_width, int grid_y_begin, int grid_y_end
#endif

#define PLANE_IN(type, p)  __global const type *restrict p##_base, int p##_offset, int p##_stride
#define PLANE_OUT(type, p) __global type *restrict p##_base, int p##_offset, int p##_stride
#define ROW(p, y)          (p##_base + p##_offset + (y) * p##_stride)

/* This work-item's row, where its span of it begins and ends, and of how many lines the source is a ring,
 * 0 for a plane. */
#ifdef NATIVE
#define GRID_Y      grid_y_begin
#define SPAN_BEGIN  grid_x
#define RING        grid_ring
#else
#define GRID_Y      (grid_y_begin + (int)get_global_id(1))
#define SPAN_BEGIN  ((int)get_global_id(0) * SPAN)
#define RING        0
#endif
#define SPAN_END(b) min((b) + SPAN, grid_width)

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

/* The same for i from -1 to n, of a stencil that reaches one beside: without the divisions that foldings
 * take. (On Mali they were more than half of sobel's instructions.) */
inline int border_beside(int i, int n, int border)
{
    if (i >= 0 && i < n)
        return i;
    if (border == BORDER_ZERO)
        return -1;
    int fold = border == BORDER_REFLECT ? min(n - 1, 1) : 0;
    return (i < 0) == (border == BORDER_WRAP) ? n - 1 - fold : fold;
}

/* The same as border_index for any i, one fold after the other: cheap for i that are near. */
inline int border_near(int i, int n, int border)
{
    while ((uint)i >= (uint)n) {
        if (border == BORDER_ZERO)
            return -1;
        if (border == BORDER_EDGE || n == 1)
            return i < 0 ? 0 : n - 1;
        int fold = border == BORDER_REFLECT ? 1 : 0;
        if (border == BORDER_WRAP)
            i += i < 0 ? n : -n;
        else
            i = (i < 0 ? 0 : 2 * n) - 1 - i + (i < 0 ? fold : -fold);
    }
    return i;
}

/* Where the source's row that stands at y lies, for stencils: -1 for zeros, else what ROW takes; in a ring
 * row y has the line modulo RING. Uses the kernel's height and border. */
#define SOURCE_Y(y)        source_row(y, border_index(y, height, border), RING)
#define SOURCE_Y_BESIDE(y) source_row(y, border_beside(y, height, border), RING) /* y: -1 to height */
inline int source_row(int y, int row, int ring)
{
    return ring == 0 || row < 0 ? row : modulo(y, ring);
}

/* How a bordered line goes on from position p, not beyond `end`: for as many positions as it
 * returns, index *first + k * *step stands at p + k; zeros where *first is -1. Whole stretches, so
 * that code for edges can be loops over neighbours, too. */
inline int border_run(int p, int end, int n, int border, int *first, int *step)
{
    *first = p;
    *step = 1;
    if (p >= 0 && p < n)
        return min(end, n) - p;
    if (border == BORDER_ZERO || border == BORDER_EDGE || n == 1) {
        *first = border == BORDER_ZERO ? -1 : p < 0 ? 0 : n - 1;
        *step = 0;
        return (p < 0 ? min(end, 0) : end) - p;
    }
    int fold = border == BORDER_REFLECT ? 1 : 0;
    int period = border == BORDER_WRAP ? n : 2 * n - 2 * fold;
    int r = modulo(p, period);
    *first = r;
    if (r < n)
        return min(end - p, n - r);
    *first = 2 * n - 1 - fold - r;
    *step = -1;
    return min(end - p, period - r);
}

/* After how many positions a bordered line repeats itself; 0: never. */
inline int border_period(int n, int border)
{
    if (border == BORDER_ZERO || border == BORDER_EDGE || n == 1)
        return 0;
    return border == BORDER_WRAP ? n : border == BORDER_REFLECT ? 2 * n - 2 : 2 * n;
}

/* sat(rne(v)) of a float for each type of sample: to nearest, ties to even, clamped; NaN gives the
 * least value. Adding 1.5 * 2^23 to a number of at most 2^22 leaves no room for a fraction; rint()
 * says the same, but PoCL 3.1 calls a library for each of its lanes. SATURATE is for one sample,
 * WIDE_SATURATE as wide as the form, for types of at most 16 bits and float. */
#define RNE(v)             (((v) + 12582912.0f) - 12582912.0f)
#define RANGE_uchar(v)     fmin(fmax(v, 0.0f), 255.0f)
#define RANGE_char(v)      fmin(fmax(v, -128.0f), 127.0f)
#define RANGE_ushort(v)    fmin(fmax(v, 0.0f), 65535.0f)
#define RANGE_short(v)     fmin(fmax(v, -32768.0f), 32767.0f)
#define SATURATE_uchar(v)  ((uchar)(int)RNE(RANGE_uchar(v)))
#define SATURATE_char(v)   ((char)(int)RNE(RANGE_char(v)))
#define SATURATE_ushort(v) ((ushort)(int)RNE(RANGE_ushort(v)))
#define SATURATE_short(v)  ((short)(int)RNE(RANGE_short(v)))
#define SATURATE_int(v)    saturate_int(v)
#define SATURATE_float(v)  (v)
#define SATURATE(type, v)  CAT(SATURATE_, type)(v)
#define WIDE_uchar(v)      CONVERT(uchar, CONVERT(int, RNE(RANGE_uchar(v))))
#define WIDE_char(v)       CONVERT(char, CONVERT(int, RNE(RANGE_char(v))))
#define WIDE_ushort(v)     CONVERT(ushort, CONVERT(int, RNE(RANGE_ushort(v))))
#define WIDE_short(v)      CONVERT(short, CONVERT(int, RNE(RANGE_short(v))))
#define WIDE_float(v)      (v)
#define WIDE_SATURATE(type, v) CAT(WIDE_, type)(v)

inline int saturate_int(float v)
{
    float r = rint(v); /* 2^31 is a float, 2^31 - 1 is not */
    return r >= 2147483648.0f ? 2147483647 : r > -2147483648.0f ? (int)r : (int)(-2147483647 - 1);
}

/* The same for what sums are computed in: int, float or double. */
#define SATURATE_FROM(work, type, v) CAT(SATURATE_FROM_, work)(type, v)
#define SATURATE_FROM_int(type, v)    CAT3(convert_, type, _sat)(v)
#define SATURATE_FROM_float(type, v)  SATURATE(type, v)
#define SATURATE_FROM_double(type, v) CAT(DOUBLE_TO_, type)(v)
#define DOUBLE_TO_uchar(v)  convert_uchar_sat_rte(v)
#define DOUBLE_TO_char(v)   convert_char_sat_rte(v)
#define DOUBLE_TO_ushort(v) convert_ushort_sat_rte(v)
#define DOUBLE_TO_short(v)  convert_short_sat_rte(v)
#define DOUBLE_TO_int(v)    convert_int_sat_rte(v)
#define DOUBLE_TO_float(v)  ((float)(v))
#define DOUBLE_TO_double(v) (v)

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

/* rne(v * most / white) of v limited to 0...white, exactly, for `most` below 2^16; NaN gives 0. Where there may be no
 * doubles, an estimate that is at most one off is corrected by the signs of v * most - (r +- 1/2) * white,
 * both products in two parts. */
inline float share_of(float v, float most, float white)
{
    v = fmin(fmax(v, 0.0f), white);
#ifdef NATIVE
    return (float)rint((double)v * (double)most / (double)white);
#else
    float r = rint(v * (most / white)), odd = (int)r & 1 ? 1.0f : 0.0f;
    float product = v * most, rest = fma(v, most, -product);
    float above = (r + 0.5f) * white, below = (r - 0.5f) * white;
    float beyond = (product - above) + (rest - fma(r + 0.5f, white, -above));
    float short_of = (product - below) + (rest - fma(r - 0.5f, white, -below));
    r = beyond > 0.0f || (beyond == 0.0f && odd > 0.0f) ? r + 1.0f : r;
    return short_of < 0.0f || (short_of == 0.0f && odd > 0.0f) ? r - 1.0f : r;
#endif
}

/* The vector at any sample of a row, from aligned ones: n samples, k behind the first of vector a,
 * which is followed by b. */
#define SHIFT_4_0(V, a, b) (a)
#define SHIFT_4_4(V, a, b) (b)
#define SHIFT_8_0(V, a, b) (a)
#define SHIFT_16_0(V, a, b) (a)
#define SHIFT_4_1(V, a, b) (V)((a).s12, (a).s3, (b).s0)
#define SHIFT_4_2(V, a, b) (V)((a).s23, (b).s01)
#define SHIFT_4_3(V, a, b) (V)((a).s3, (b).s01, (b).s2)
#define SHIFT_8_1(V, a, b) (V)((a).s1234, (a).s56, (a).s7, (b).s0)
#define SHIFT_8_2(V, a, b) (V)((a).s2345, (a).s67, (b).s01)
#define SHIFT_8_3(V, a, b) (V)((a).s3456, (a).s7, (b).s01, (b).s2)
#define SHIFT_8_4(V, a, b) (V)((a).s4567, (b).s0123)
#define SHIFT_8_5(V, a, b) (V)((a).s56, (a).s7, (b).s0123, (b).s4)
#define SHIFT_8_6(V, a, b) (V)((a).s67, (b).s0123, (b).s45)
#define SHIFT_8_7(V, a, b) (V)((a).s7, (b).s0123, (b).s45, (b).s6)
#define SHIFT_16_1(V, a, b) (V)((a).s12345678, (a).s9abc, (a).sde, (a).sf, (b).s0)
#define SHIFT_16_2(V, a, b) (V)((a).s23456789, (a).sabcd, (a).sef, (b).s01)
#define SHIFT_16_3(V, a, b) (V)((a).s3456789a, (a).sbcde, (a).sf, (b).s01, (b).s2)
#define SHIFT_16_4(V, a, b) (V)((a).s456789ab, (a).scdef, (b).s0123)
#define SHIFT_16_5(V, a, b) (V)((a).s56789abc, (a).sde, (a).sf, (b).s0123, (b).s4)
#define SHIFT_16_6(V, a, b) (V)((a).s6789abcd, (a).sef, (b).s0123, (b).s45)
#define SHIFT_16_7(V, a, b) (V)((a).s789abcde, (a).sf, (b).s0123, (b).s45, (b).s6)
#define SHIFT_16_8(V, a, b) (V)((a).s89abcdef, (b).s01234567)
#define SHIFT_16_9(V, a, b) (V)((a).s9abc, (a).sde, (a).sf, (b).s01234567, (b).s8)
#define SHIFT_16_10(V, a, b) (V)((a).sabcd, (a).sef, (b).s01234567, (b).s89)
#define SHIFT_16_11(V, a, b) (V)((a).sbcde, (a).sf, (b).s01234567, (b).s89, (b).sa)
#define SHIFT_16_12(V, a, b) (V)((a).scdef, (b).s01234567, (b).s89ab)
#define SHIFT_16_13(V, a, b) (V)((a).sde, (a).sf, (b).s01234567, (b).s89ab, (b).sc)
#define SHIFT_16_14(V, a, b) (V)((a).sef, (b).s01234567, (b).s89ab, (b).scd)
#define SHIFT_16_15(V, a, b) (V)((a).sf, (b).s01234567, (b).s89ab, (b).scd, (b).se)
#define VECTOR_SHIFT(n, k, V, a, b) CAT4(SHIFT_, n, _, k)(V, a, b)

/* The neighbour at a distance of one pixel of `ch` channels, for aligned vectors of n samples: the
 * vector whose first sample is ch before (after) that of c, from c and the vector p before it (a
 * after it). */
#define BEFORE_4_1  3
#define BEFORE_4_2  2
#define BEFORE_4_3  1
#define BEFORE_4_4  0
#define BEFORE_8_1  7
#define BEFORE_8_2  6
#define BEFORE_8_3  5
#define BEFORE_8_4  4
#define BEFORE_16_1 15
#define BEFORE_16_2 14
#define BEFORE_16_3 13
#define BEFORE_16_4 12
#define VECTOR_BEFORE(n, ch, V, p, c) VECTOR_SHIFT(n, CAT4(BEFORE_, n, _, ch), V, p, c)
#define VECTOR_AFTER(n, ch, V, c, a)  VECTOR_SHIFT(n, ch, V, c, a)

/* The sample of channel c at column i of row y, which border_index gave: zero where it gave -1. */
#define FETCH(p, i, ch, y, c) ((i) < 0 || (y) < 0 ? 0 : ROW(p, y)[(i) * (ch) + (c)])

/* floor(t / d) where it is below 2^16: an estimate that is right or one too small, then the
 * remainder, exact modulo 2^32. `factor` is 1/d, or 256/d for 64 bits, a little too small: see
 * src/stage/box/box_divide.c. */
inline uint floor_quotient_uint(uint t, uint d, float factor)
{
    uint q = (uint)((float)t * factor);
    return t - q * d >= d ? q + 1 : q;
}

inline uint floor_quotient_ulong(ulong t, uint d, float factor)
{
    uint q = (uint)((float)(uint)(t >> 8) * factor);
    return (uint)t - q * d >= d ? q + 1 : q;
}

/* The quotient n/d rounded to nearest, ties to even, for any n >= 0 with n + d/2 in range, of the
 * unsigned types ushort, uint and ulong: quotient_uint16(n, d). Wherever d is a constant, which it
 * should be, the compiler makes a multiplication of the division. Negative numerators are moved up by
 * an even multiple of d first, which keeps ties even (src/stage/quotient.h).
 *
 * ulong on Mali: a division by a 64-bit constant is four 32-bit products for each half, for four lanes
 * at once, and takes more than 32 registers (1 thread). Only i32, or coefficients far beyond the
 * samples' range, get there. */
#define DEFINE_QUOTIENT(type, lanes)                                                               \
    inline CAT(type, lanes) CAT3(quotient_, type, lanes)(CAT(type, lanes) n, type d)               \
    {                                                                                              \
        if (d == 1)                                                                                \
            return n;                                                                              \
        if ((d & (d - 1)) == 0) /* halves go up behind an odd quotient */                          \
            return (n + (type)(d / 2 - 1) + (n / d & (type)1)) / d;                                \
        CAT(type, lanes) moved = n + (type)(d / 2), q = moved / d;                                 \
        if (d & 1)                                                                                 \
            return q; /* there are no halves */                                                    \
        CAT(type, lanes) rest = moved - q * d; /* 0: a half, which went up */                      \
        return q - (q & (type)1 & ((type)1 - min(rest, (CAT(type, lanes))(type)1)));               \
    }
#define DEFINE_QUOTIENTS(type)                                                                     \
    DEFINE_QUOTIENT(type, ) DEFINE_QUOTIENT(type, 4) DEFINE_QUOTIENT(type, 8)                      \
    DEFINE_QUOTIENT(type, 16)
DEFINE_QUOTIENTS(ushort)
DEFINE_QUOTIENTS(uint)
DEFINE_QUOTIENTS(ulong)

/* sat(rne(N/D)) as V(DST), exactly, by what a pass defines (src/stage/quotient.h). n is N + OFFSET as
 * V(NUM). VALUE is as wide as NUM and holds every DST, so that the conversion is in range. */
#define EXACT_RESULT(n)                                                                            \
    CONVERT(DST, CAT3(as_, VALUE, LANES)((V(NUM))(                                                 \
                     LIMIT(CAT3(quotient_, NUM, LANES)(n, (NUM)DIVISOR)) - (NUM)ZERO)))

/* The same by numbers that are the kernel's arguments: the quotient is a product's upper half
 * (quotient_numbers in src/stage/quotient.c), for n + d/2 whose highest bit is free. On Mali ulong is one
 * thread here, too. */
#define DEFINE_QUOTIENT_BY(type, lanes)                                                            \
    inline CAT(type, lanes) CAT3(quotient_by_, type, lanes)(CAT(type, lanes) n, type d,            \
                                                            type multiplier, type shift)           \
    {                                                                                              \
        CAT(type, lanes) moved = n + (CAT(type, lanes))(d >> 1);                                   \
        CAT(type, lanes) high = mul_hi(moved << (CAT(type, lanes))(1),                             \
                                       (CAT(type, lanes))(multiplier));                            \
        CAT(type, lanes) q = high >> (CAT(type, lanes))(shift), rest = moved - q * d;              \
        return q - (q & (type)(~d & 1) & ((type)1 - min(rest, (CAT(type, lanes))(type)1)));        \
    }
#define DEFINE_QUOTIENTS_BY(type)                                                                  \
    DEFINE_QUOTIENT_BY(type, ) DEFINE_QUOTIENT_BY(type, 4) DEFINE_QUOTIENT_BY(type, 8)             \
    DEFINE_QUOTIENT_BY(type, 16)
DEFINE_QUOTIENTS_BY(uint)
DEFINE_QUOTIENTS_BY(ulong)

#define QUOTIENT_PARAMETERS                                                                        \
    NUM offset, NUM divisor, NUM multiplier, NUM shift, NUM zero, NUM low, NUM high
#define EXACT_RESULT_BY(n)                                                                         \
    CONVERT(DST, CAT3(as_, VALUE, LANES)(                                                          \
                     clamp(CAT3(quotient_by_, NUM, LANES)((n) + offset, divisor, multiplier,       \
                                                          shift),                                  \
                           (V(NUM))(low), (V(NUM))(high)) -                                        \
                     zero))
