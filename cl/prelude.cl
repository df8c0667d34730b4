/* Definitions for all kernel templates. Each program begins with this text.
 *
 * A template is compiled under definitions that its pass makes (src/stage/pass.h):
 *
 *     KERNEL            the kernel's name, unique in the program
 *     FN(name)          makes a function's name unique; for helpers that depend on definitions
 *     KERNEL_part       selects one kernel of a file that has several
 *     FORM_ROWS, FORM_VECTOR or FORM_SCALAR, and SPAN: the positions in x of one work-item
 *                       (the scalar form is the rows form with a span of one)
 *     LANES             samples in a V(uchar). In the vector form SPAN. Otherwise empty, so that V(uchar) is
 *                       uchar, or the pass's choice (16 for rows code that is written in vectors)
 *     SRC, DST          OpenCL types of the source's and the result's samples, with SRC_IS_uchar and the like
 *
 *     OUT, THEN(v)      the type and the value that is stored for a result v of V(DST): DST and v itself, or,
 *                       where per-pixel stages are fused behind this one (src/chain/fuse_pixels.c), their
 *                       result. THEN_PARAMETERS are their parameters. THEN_WORD(w) does the same for four
 *                       bytes in a word
 *
 * Macros that a template defines are undefined behind it. A kernel's arguments are GRID, then the pass's
 * arguments in order; a plane is three of them. Offsets, strides and indices count samples and fit an int:
 * planning refuses larger planes.
 *
 * Rules: f32 arithmetic is computed as written (no contraction, no relaxed maths). There is no double literal.
 * Local memory and barriers are used only if the profile has such memory (on Mali it is main memory, and costs
 * more than it saves). In min, max and clamp of integers either all arguments are vectors or none is: with a
 * scalar among them Oclgrind computes wrong lanes (tests/opencl/oclgrind_min.cl). */
#pragma OPENCL FP_CONTRACT OFF

#define CAT_(a, b)     a##b
#define CAT(a, b)      CAT_(a, b)
#define CAT3_(a, b, c) a##b##c
#define CAT3(a, b, c)  CAT3_(a, b, c)
#define CAT4_(a, b, c, d) a##b##c##d
#define CAT4(a, b, c, d)  CAT4_(a, b, c, d)

/* A type of LANES lanes, and the conversion to it. */
#define V(type)          CAT(type, LANES)
#define CONVERT(type, v) CAT3(convert_, type, LANES)(v)

/* Access to a vector at an address that is aligned to its samples only. vload16 and vstore16 would mean the same,
 * but PoCL 3.1 compiles them to four loads and sixteen stores; and Mesa, for Mali, compiles a vload4 to four
 * loads, but an access by such a type to one. */
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

/* Prefetches an address, if the compiler can. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_prefetch)
#define FETCH_AHEAD(p) __builtin_prefetch((const void *)(size_t)(p))
#endif
#endif
#ifndef FETCH_AHEAD
#define FETCH_AHEAD(p)
#endif
/* Stores an aligned vector that is not read soon, without filling the caches, if the compiler can. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define STORE_PAST(v, p) __builtin_nontemporal_store(v, p)
#endif
#endif
#ifndef STORE_PAST
#define STORE_PAST(v, p) (*(p) = (v))
#endif

/* NVIDIA's compiler accepts inline PTX. */
#if defined(__NV_CL_C_VERSION) || defined(cl_nv_compiler_options)
#define HAS_PTX
#endif

/* Selects four of the eight bytes of a (0 to 3) and b (4 to 7), as PTX's prmt does. Each hexadecimal digit of
 * `which` is the number of a byte, the last digit that of the lowest byte of the result; with 8 added, all bits
 * of the byte become the highest bit of the selected one. */
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

/* Returns w, but hides from the compiler where it came from: NVIDIA's otherwise splits the access to a vector of
 * words that is used as a vector of bytes into four or sixteen accesses. */
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

/* Where IN_WORDS is defined, stages compute with a vector of bytes as so many words: on GPUs unpacking the bytes
 * costs more than the computation itself. */
#define AS_WORDS(v)         CAT(as_uint, IN_WORDS)(v)
#define AS_BYTES(v)         CAT3(as_, DST, LANES)(v)

/* 1.5 * 2^23. The sum of this and a float of at most 2^22 has the nearest integer in its lowest bits. */
#define ROUNDER 12582912.0f
/* PAIR_OF packs two bytes into the lowest 16 bits of a word, from integers in the lowest bits of two floats (see
 * ROUNDER). FOUR_OF packs four. A ushort2 is used because Mesa's compiler for Mali splits vectors of bytes, and
 * masks and shifts cost as much as four additions there. */
#define PAIR_OF(a, b) as_uint(fma((b) - ROUNDER, 256.0f, a))
#define FOUR_OF(m)    (ushort2)((ushort)PAIR_OF((m).s0, (m).s1), (ushort)PAIR_OF((m).s2, (m).s3))

/* BYTE_AS_FLOAT converts byte k of a word. LAST_BYTES packs the lowest bytes of four words, which are the bits of
 * floats as for PAIR_OF. BYTE_SIGNS fills each byte with its highest bit. */
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
#ifdef NATIVE
#define LOOK_UP_16(type, t, v)  look_up(t, v)
#define LOOK_UP_32(type, t, v)  look_up(t, v)
#else
#define LOOK_UP_16(type, t, v)  (CAT(type, 16))(LOOK_UP_8(type, t, (v).lo), LOOK_UP_8(type, t, (v).hi))
#endif

/* FIRST takes the first lane: for one sample that is computed by a function of LANES lanes. */
#define FIRST_(v)   (v)
#define FIRST_4(v)  (v).s0
#define FIRST_8(v)  (v).s0
#define FIRST_16(v) (v).s0
#define FIRST(v)    CAT(FIRST_, LANES)(v)
#define THEN_ONE(v) FIRST(THEN((V(DST))(v)))

/* Alpha in interleaved pixels of `ch` channels, 2 or 4. IS_ALPHA: whether sample x is alpha. TAKE_ALPHA copies the
 * alpha samples of vector `a` of n lanes, which begins with a pixel, to vector `v`. */
#define IS_ALPHA(ch, x)      (((x) & ((ch) - 1)) == (ch) - 1)
#define TAKE_ALPHA_4_2(v, a)  (v).s13 = (a).s13
#define TAKE_ALPHA_4_4(v, a)  (v).s3 = (a).s3
#define TAKE_ALPHA_8_2(v, a)  (v).s1357 = (a).s1357
#define TAKE_ALPHA_8_4(v, a)  (v).s37 = (a).s37
#define TAKE_ALPHA_16_2(v, a) (v).s13579bdf = (a).s13579bdf
#define TAKE_ALPHA_16_4(v, a) (v).s37bf = (a).s37bf
#define TAKE_ALPHA(n, ch, v, a) CAT4(TAKE_ALPHA_, n, _, ch)(v, a)

/* The part of the grid that this launch covers: x from 0 to grid_width, y from begin to end. On native a call also
 * says where its span begins, and of how many lines the source is a ring. */
#ifdef NATIVE
#define GRID int grid_width, int grid_y_begin, int grid_y_end, int grid_x, int grid_ring
#else
#define GRID int grid_width, int grid_y_begin, int grid_y_end
#endif

#define PLANE_IN(type, p)  __global const type *restrict p##_base, int p##_offset, int p##_stride
#define PLANE_OUT(type, p) __global type *restrict p##_base, int p##_offset, int p##_stride
#define ROW(p, y)          (p##_base + p##_offset + (y) * p##_stride)

/* This work-item's row; where its span begins and ends in x. RING: 0 if the source is a plane; n if it is a ring
 * of n lines, in which row y is line y modulo n (src/device/native/rows.c). */
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

/* The index within 0…n-1 of the sample that the border repeats at i, however far outside; -1: a zero. */
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

/* The same for i from -1 to n, which is enough for windows of 3×3, without border_index's divisions. (On Mali they
 * were more than half of sobel's instructions.) */
inline int border_beside(int i, int n, int border)
{
    if (i >= 0 && i < n)
        return i;
    if (border == BORDER_ZERO)
        return -1;
    int fold = border == BORDER_REFLECT ? min(n - 1, 1) : 0;
    return (i < 0) == (border == BORDER_WRAP) ? n - 1 - fold : fold;
}

/* The same as border_index for any i, in a loop of one reflection or period after the other: cheap for i near the
 * plane. */
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

/* The row of the source that ROW takes for row y of the bordered plane; -1: a row of zeros. In a ring, the line
 * that holds row y. Uses the kernel's `height` and `border`. */
#define SOURCE_Y(y)        source_row(y, border_index(y, height, border), RING)
#define SOURCE_Y_BESIDE(y) source_row(y, border_beside(y, height, border), RING) /* y: -1 to height */
inline int source_row(int y, int row, int ring)
{
    return ring == 0 || row < 0 ? row : modulo(y, ring);
}

/* Describes a bordered line from position p on, up to `end` at most: for as many positions as it returns, the
 * sample at p + k has index *first + k * *step, or is zero if *first is -1. So code for edges can loop over
 * adjacent samples, too. */
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

/* The number of positions after which a bordered line repeats; 0: it does not. */
inline int border_period(int n, int border)
{
    if (border == BORDER_ZERO || border == BORDER_EDGE || n == 1)
        return 0;
    return border == BORDER_WRAP ? n : border == BORDER_REFLECT ? 2 * n - 2 : 2 * n;
}

/* sat(rne(v)): converts a float to a type of samples, rounded to nearest with ties to even, and clamped; NaN gives
 * the least value. SATURATE is for one sample, WIDE_SATURATE for LANES, of types of at most 16 bits and float.
 * RNE rounds numbers of at most 2^22: the sum with 1.5 * 2^23 has no bits for a fraction. rint() does the same,
 * but PoCL 3.1 calls a library function for each lane. */
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

/* The same conversion from the type `work` of a sum: int, float or double. */
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

/* Conversions of a double, given as its bits, for devices without fp64. float_of_f64: to f32, to nearest with ties
 * to even. saturate_f64: sat(rne(v)) for an integer type with the range low…high; NaN gives the least value. IEEE
 * 754: sign, 11 bits of exponent, 52 of fraction. */
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

/* rne(v * most / white), exactly, of v clamped to 0…white, for `most` below 2^16; NaN gives 0. Without doubles, an
 * estimate r that is at most one off is corrected by the signs of v * most - (r ± 1/2) * white; each product is
 * computed in two parts, so that the signs are exact. */
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

/* A vector of n samples that is not aligned, from two aligned ones: it begins k samples behind the first of `a`,
 * which `b` follows. */
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

/* The vector of n samples one pixel (`ch` samples) before, or after, the aligned vector c. p is the vector before
 * c, and a the one after it. */
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

/* Sample c of the pixel at column i of row y, as border_index gave them: zero where one is -1. */
#define FETCH(p, i, ch, y, c) ((i) < 0 || (y) < 0 ? 0 : ROW(p, y)[(i) * (ch) + (c)])

/* floor(t / d), if it is below 2^16. The estimate is right or one too small, which the remainder shows; computed
 * modulo 2^32 that is exact. `factor` is a little less than 1/d, or than 256/d for 64 bits: see
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

/* The quotient n/d rounded to nearest, ties to even, of ushort, uint or ulong: quotient_uint16(n, d). n + d/2 must
 * be in range. d should be a constant, so that the compiler replaces the division by a multiplication. Callers
 * add an even multiple of d to negative numerators first, which keeps ties even (src/stage/quotient.h).
 *
 * On Mali ulong is slow: a division by a 64-bit constant is four 32-bit products for each half, for four lanes at
 * once, and takes more than 32 registers, so a core runs half the threads. Only i32, or coefficients far beyond the
 * samples' range, need it. */
#define DEFINE_QUOTIENT(type, lanes)                                                               \
    inline CAT(type, lanes) CAT3(quotient_, type, lanes)(CAT(type, lanes) n, type d)               \
    {                                                                                              \
        if (d == 1)                                                                                \
            return n;                                                                              \
        if ((d & (d - 1)) == 0) /* a half is rounded up if the quotient is odd */                  \
            return (n + (type)(d / 2 - 1) + (n / d & (type)1)) / d;                                \
        CAT(type, lanes) moved = n + (type)(d / 2), q = moved / d;                                 \
        if (d & 1)                                                                                 \
            return q; /* there are no halves */                                                    \
        CAT(type, lanes) rest = moved - q * d; /* 0: a half, which was rounded up */               \
        return q - (q & (type)1 & ((type)1 - min(rest, (CAT(type, lanes))(type)1)));               \
    }
#define DEFINE_QUOTIENTS(type)                                                                     \
    DEFINE_QUOTIENT(type, ) DEFINE_QUOTIENT(type, 4) DEFINE_QUOTIENT(type, 8)                      \
    DEFINE_QUOTIENT(type, 16)
DEFINE_QUOTIENTS(ushort)
DEFINE_QUOTIENTS(uint)
DEFINE_QUOTIENTS(ulong)

/* sat(rne(N/D)) as V(DST), exactly, for D, OFFSET, LIMIT and ZERO that the pass defines (src/stage/quotient.h).
 * n is N + OFFSET as V(NUM). VALUE is a signed or unsigned type of NUM's size that can hold every DST. */
#define EXACT_RESULT(n)                                                                            \
    CONVERT(DST, CAT3(as_, VALUE, LANES)((V(NUM))(                                                 \
                     LIMIT(CAT3(quotient_, NUM, LANES)(n, (NUM)DIVISOR)) - (NUM)ZERO)))

/* The same where these numbers are the kernel's arguments: the quotient is the upper half of a product with
 * `multiplier` (quotient_numbers in src/stage/quotient.c). The highest bit of n + d/2 must be free. On Mali ulong
 * is slow here, too. */
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
