/* Sobel, by correlation with weights 1 2 1: dX = right minus left, dY = top minus bottom. The grid
 * counts samples of the destination; a pixel has DST_CH samples there, and CH in the source. The
 * output is chosen by one of OUT_magnitude, OUT_l1, OUT_sample, OUT_dx, OUT_dy, OUT_both. Gradients
 * have the type WORK. With SCALE_POWER, lengths of integers are multiplied with a power of two;
 * src/stage/sobel/sobel.c says what its arguments are.
 *
 * `step` is the number of channels, as an argument. With a constant LLVM would keep loaded samples
 * for the next pixel, and then could not vectorise the loop (with PoCL 3.1: 17 ms instead of 2.3
 * ms). */
#include <alpha.cl>
#include <border.cl>
#include <memory.cl>
#include <shift.cl>
#define GRADIENT_X(nw, n, ne, w, e, sw, s, se) ((ne) - (nw) + (WORK)2 * ((e) - (w)) + (se) - (sw))
#define GRADIENT_Y(nw, n, ne, w, e, sw, s, se)                                                     \
    ((nw) + (WORK)2 * (n) + (ne) - (sw) - (WORK)2 * (s) - (se))

#if defined(OUT_dx) || defined(OUT_dy) || defined(OUT_both)
#ifdef SRC_IS_float
#define GRADIENT_OUT(g) (g)
#else
#define GRADIENT_OUT(g) CONVERT(DST, (g) >> 3)
#endif

#elif defined(OUT_magnitude) && defined(SCALE_POWER) && defined(EXACT_ROOT)
/* With a correctly rounded root no correction is needed. The product is exact, and for n below 2^23
 * the root of the last n before a half is further from it than the sum is rounded. */

inline V(DST) FN(finish)(V(WORK) dx, V(WORK) dy NUMBERS)
{
    V(float) f = CONVERT(float, CONVERT(int, dx)), g = CONVERT(float, CONVERT(int, dy));
    V(float) m = sqrt(f * f + g * g) * scale + 0.5f;
    return CONVERT(DST, CONVERT(int, fmin(m, (float)DST_MAX)));
}

#elif defined(OUT_magnitude) && defined(SCALE_POWER) &&                                            \
    (defined(SRC_IS_uchar) || defined(SRC_IS_char))
/* Computed in floats: integers here are below 2^24, so everything except the root is exact. On GPUs
 * converting a 32-bit integer costs as much as four to eight additions, so an addition is used
 * instead: 12582912 = 1.5 * 2^23 plus an integer has the integer in its lowest bits. `lift` spares
 * a correction of the root: see sobel_packed.cl. */
#define MAGIC             12582912.0f
#define AS(type, v)       CAT3(as_, type, LANES)(v)
#define TO_FLOAT(i)       (AS(float, CONVERT(int, i) + as_int(MAGIC)) - MAGIC)

inline V(DST) FN(finish)(V(WORK) dx, V(WORK) dy NUMBERS)
{
    V(float) f = TO_FLOAT(dx), g = TO_FLOAT(dy);
    V(float) n = mad(f, f, mad(g, g, (V(float))lift));
    V(float) m = mad((V(float))scale, n * rsqrt(n), (V(float))MAGIC);
    return CONVERT(DST, AS(int, fmin(m, MAGIC + (float)DST_MAX)));
}

#elif defined(OUT_l1) && defined(SCALE_POWER)

inline V(DST) FN(finish)(V(WORK) dx, V(WORK) dy NUMBERS)
{
    V(uint) n = abs(CONVERT(int, dx)) + abs(CONVERT(int, dy));
    return CONVERT(DST, min(((n << up) + half_of) >> down, (V(uint))(uint)DST_MAX));
}

#else
/* LIMIT(m): the least sum of squares (for l1: of absolute values) whose result is m, modulo 2^32.
 * The estimate is at most one off, so a sum and its limit differ by less than 2^31, and DIFFERENCE
 * is exact. */
#ifdef SCALE_POWER
#define LIMIT(m)          ((CONVERT(uint, m) * CONVERT(uint, (m)-1) << up >> down) + more)
#else
#define LIMIT(m)          limits[m]
#endif
#define DIFFERENCE(a, b) CAT(as_int, LANES)((a) - (b))

inline V(DST) FN(finish)(V(WORK) dx, V(WORK) dy NUMBERS)
{
#if defined(SRC_IS_float) && defined(OUT_l1)
    return scale * (fabs(dx) + fabs(dy));
#elif defined(SRC_IS_float)
    return scale * sqrt(dx * dx + dy * dy);
#elif defined(OUT_sample)
    V(int) a = CONVERT(int, dx) >> 3, b = CONVERT(int, dy) >> 3;
    V(uint) n = CONVERT(uint, a * a) + CONVERT(uint, b * b);
    V(uint) m = CONVERT(uint, sqrt(CONVERT(float, n)));
    m = DIFFERENCE(n, m * m) < 0 ? m - 1 : m;
    m = DIFFERENCE(n, (m + 1) * (m + 1)) < 0 ? m : m + 1;
    return CONVERT(DST, min(m, (V(uint))(uint)DST_MAX));
#else
    V(int) a = CONVERT(int, dx), b = CONVERT(int, dy);
#ifdef OUT_l1
    V(uint) n = abs(a) + abs(b);
    V(float) root = CONVERT(float, n);
#else
    V(uint) n = CONVERT(uint, a) * CONVERT(uint, a) + CONVERT(uint, b) * CONVERT(uint, b);
    V(float) f = CONVERT(float, a), g = CONVERT(float, b);
    V(float) root = sqrt(f * f + g * g);
#endif
    V(int) m = CONVERT(int, fmin(scale * root + 0.5f, (float)(DST_MAX + 1)));
    m = DIFFERENCE(n, LIMIT(m)) < 0 && m > 0 ? m - 1 : m;
    m = DIFFERENCE(n, LIMIT(m + 1)) < 0 ? m : m + 1;
    return CONVERT(DST, min(m, (V(int))DST_MAX));
#endif
}
#endif

/* The result for a gradient; if there are two planes, that of the first. */
#if defined(OUT_dx) || defined(OUT_both)
#define GRADIENT_RESULT(dx, dy) GRADIENT_OUT(dx)
#elif defined(OUT_dy)
#define GRADIENT_RESULT(dx, dy) GRADIENT_OUT(dy)
#else
#define GRADIENT_RESULT(dx, dy) FN(finish)(dx, dy GIVEN)
#endif

/* The index of the source's sample for the destination's sample x; they differ if alpha is dropped. */
#if DST_CH == CH
#define SOURCE_OF(x) (x)
#else
#define SOURCE_OF(x) ((x) / DST_CH * CH + (x) % DST_CH)
#endif

#if ALPHA
#define OR_ALPHA(x, v, alpha) (IS_ALPHA(CH, x) ? (DST)(alpha) : (v))
#else
#define OR_ALPHA(x, v, alpha) (v)
#endif

/* The gradient (dX, dY) of channel c at pixel column px, for windows that leave the plane. */
inline CAT(WORK, 2) FN(edge)(PLANE_IN(SRC, src), int width, int border, int y0, int y1, int y2,
                             int px, int c)
{
    int left = border_beside(px - 1, width, border), right = border_beside(px + 1, width, border);
    WORK nw = FETCH(src, left, CH, y0, c), n = FETCH(src, px, CH, y0, c);
    WORK ne = FETCH(src, right, CH, y0, c), w = FETCH(src, left, CH, y1, c);
    WORK e = FETCH(src, right, CH, y1, c), sw = FETCH(src, left, CH, y2, c);
    WORK s = FETCH(src, px, CH, y2, c), se = FETCH(src, right, CH, y2, c);
    return (CAT(WORK, 2))(GRADIENT_X(nw, n, ne, w, e, sw, s, se),
                          GRADIENT_Y(nw, n, ne, w, e, sw, s, se));
}

#ifdef FORM_VECTOR
/* The source of an aligned vector's gradients: in each row the vector itself and those before and behind it. If 4
 * bytes hold a pixel, a vector of 8 bytes is loaded in one access together with 4 bytes on either side, because on
 * Mali loads bound this form (0.6 cycles for a sample of u8, instead of 2.5 with three loads of 4 bytes a row).
 *
 * The kernel computes the vector after the loop over single samples. In front of it, with a return, Mesa's compiler
 * for Mali would need more than 32 registers, so that a core would run half the threads. */
#if LANES == 8 && (defined(SRC_IS_uchar) || defined(SRC_IS_char))
#define AROUND    CAT(SRC, 16)
#define BEFORE(r) (r).s01230123 /* only the last CH lanes are used */
#define CENTRE(r) (r).s456789ab
#define BEHIND(r) (r).scdefcdef /* only the first CH lanes are used */
#define AROUND_AT(p) CAT3(as_, SRC, 16)(UNALIGNED_IN(uint, 4, (p) - 4))
#elif LANES == 4 && CH <= 2 && (defined(SRC_IS_ushort) || defined(SRC_IS_short))
#define AROUND    CAT(SRC, 8)
#define BEFORE(r) (r).s0101
#define CENTRE(r) (r).s2345
#define BEHIND(r) (r).s6767
#define AROUND_AT(p) CAT3(as_, SRC, 8)(UNALIGNED_IN(uint, 4, (p) - 2))
#else
#define AROUND    __global const V(SRC) *
#define BEFORE(r) (r)[-1]
#define CENTRE(r) (r)[0]
#define BEHIND(r) (r)[1]
#define AROUND_AT(p) ((AROUND)(p))
#endif
#define LEFT(r)   CONVERT(WORK, VECTOR_BEFORE(LANES, CH, SRC, BEFORE(r), CENTRE(r)))
#define MIDDLE(r) CONVERT(WORK, CENTRE(r))
#define RIGHT(r)  CONVERT(WORK, VECTOR_AFTER(LANES, CH, SRC, CENTRE(r), BEHIND(r)))
#elif LANES + 0
#define LEFT(r)   CONVERT(WORK, UNALIGNED_IN(SRC, LANES, (r) + x - CH))
#define MIDDLE(r) CONVERT(WORK, UNALIGNED_IN(SRC, LANES, (r) + x))
#define RIGHT(r)  CONVERT(WORK, UNALIGNED_IN(SRC, LANES, (r) + x + CH))
#else
#define LEFT(r)   (r)[SOURCE_OF(x) - step]
#define MIDDLE(r) (r)[SOURCE_OF(x)]
#define RIGHT(r)  (r)[SOURCE_OF(x) + step]
#endif
#if defined(FORM_VECTOR) && !defined(SRC_IS_float)
/* Sums of columns come first, because three gradients share each. (Not for floats, which must be added in the same
 * order in all forms.) */
#define COLUMN(k, of)                                                                              \
    V(WORK) top##k = CONVERT(WORK, of(r0)), bottom##k = CONVERT(WORK, of(r2));                     \
    V(WORK) smooth##k = top##k + (WORK)2 * CONVERT(WORK, of(r1)) + bottom##k;                      \
    V(WORK) slope##k = top##k - bottom##k;
#define LOAD_NEIGHBOURS                                                                            \
    COLUMN(0, BEFORE)                                                                              \
    COLUMN(1, CENTRE)                                                                              \
    COLUMN(2, BEHIND)                                                                              \
    V(WORK) dx = VECTOR_AFTER(LANES, CH, WORK, smooth1, smooth2) -                              \
                 VECTOR_BEFORE(LANES, CH, WORK, smooth0, smooth1);                              \
    V(WORK) dy = VECTOR_BEFORE(LANES, CH, WORK, slope0, slope1) + (WORK)2 * slope1 +            \
                 VECTOR_AFTER(LANES, CH, WORK, slope1, slope2);
#else
#define LOAD_NEIGHBOURS                                                                            \
    V(WORK) nw = LEFT(r0), n = MIDDLE(r0), ne = RIGHT(r0), w = LEFT(r1), e = RIGHT(r1),            \
            sw = LEFT(r2), s = MIDDLE(r2), se = RIGHT(r2);                                         \
    V(WORK) dx = GRADIENT_X(nw, n, ne, w, e, sw, s, se);                                           \
    V(WORK) dy = GRADIENT_Y(nw, n, ne, w, e, sw, s, se)
#endif

#ifdef PAIRS
/* Lengths of bytes for CPUs, whose root is exact, 32 samples at a time. Most of a magnitude's time
 * goes into the root. */
#if defined(NATIVE) && defined(__SSSE3__)
/* x86 multiplies bytes that lie side by side and adds the two products. So a left sample is put
 * beside its right one, and one below beside that above; dX and dY then lie side by side to be
 * squared. Vectors are put together in parts of 16 bytes, which packing undoes, so that samples keep
 * their order. */
#ifdef __AVX2__
#define PART         32
#define SHORTS       short16
#define INTS         int8
#define FLOATS_OF(n) convert_float8(n)
#define OF_X86(name) CAT3(__builtin_ia32_, name, 256)
#define LOW_BYTES    ZIP_8(0, 32), ZIP_8(16, 32)
#define HIGH_BYTES   ZIP_8(8, 32), ZIP_8(24, 32)
#define LOW_SHORTS   ZIP_4(0, 16), ZIP_4(8, 16)
#define HIGH_SHORTS  ZIP_4(4, 16), ZIP_4(12, 16)
#else
#define PART         16
#define SHORTS       short8
#define INTS         int4
#define FLOATS_OF(n) convert_float4(n)
#define OF_X86(name) CAT3(__builtin_ia32_, name, 128)
#define LOW_BYTES    ZIP_8(0, 16)
#define HIGH_BYTES   ZIP_8(8, 16)
#define LOW_SHORTS   ZIP_4(0, 8)
#define HIGH_SHORTS  ZIP_4(4, 8)
#endif
#define ZIP_2(k, n) (k), (k) + (n), (k) + 1, (k) + 1 + (n)
#define ZIP_4(k, n) ZIP_2(k, n), ZIP_2((k) + 2, n)
#define ZIP_8(k, n) ZIP_4(k, n), ZIP_4((k) + 4, n)
typedef char FN(chars) __attribute__((vector_size(PART)));
typedef char FN(any_chars) __attribute__((vector_size(PART), aligned(1)));
typedef short FN(shorts) __attribute__((vector_size(PART)));
typedef int FN(ints) __attribute__((vector_size(PART)));
#define CHARS_AT(r, d) (*(__global const FN(any_chars) *)((r) + x + (d)))
#define CHARS(v)       __builtin_astype(v, FN(chars))
#define WEIGHTS(first, second) CHARS((SHORTS)((short)(((first) & 255) | (second) * 256)))
#define PAIR_SUMS(a, b, weights, ...)                                                                   \
    __builtin_astype(OF_X86(pmaddubsw)(__builtin_shufflevector(a, b, __VA_ARGS__), weights), SHORTS)

#ifdef OUT_l1
inline FN(shorts) FN(lengths)(SHORTS dx, SHORTS dy NUMBERS)
{
    CAT(u, SHORTS) n = CAT(as_u, SHORTS)(max(dx, -dx) + max(dy, -dy));
    n = min(((n << (ushort)up) + (ushort)half_of) >> (ushort)down, (CAT(u, SHORTS))DST_MAX);
    return __builtin_astype(n, FN(shorts));
}
#else
/* The length of dX and dY that lie side by side, times the scale and rounded. */
inline FN(ints) FN(roots)(SHORTS d, float scale)
{
#pragma OPENCL FP_CONTRACT ON /* either rounding gives the same result */
    FN(shorts) pairs = __builtin_astype(d, FN(shorts));
    INTS n = __builtin_astype(OF_X86(pmaddwd)(pairs, pairs), INTS);
    return __builtin_astype(CAT(convert_, INTS)(sqrt(FLOATS_OF(n)) * scale + 0.5f), FN(ints));
}

inline FN(shorts) FN(lengths)(SHORTS dx, SHORTS dy NUMBERS)
{
    return OF_X86(packssdw)(FN(roots)(__builtin_shufflevector(dx, dy, LOW_SHORTS), scale),
                            FN(roots)(__builtin_shufflevector(dx, dy, HIGH_SHORTS), scale));
}
#endif

#define LENGTHS(...)                                                                               \
    FN(lengths)(PAIR_SUMS(l0, r_0, once, __VA_ARGS__) + PAIR_SUMS(l2, r_2, once, __VA_ARGS__) +              \
                    PAIR_SUMS(l1, r_1, twice, __VA_ARGS__),                                             \
                PAIR_SUMS(l0, r_0, both, __VA_ARGS__) - PAIR_SUMS(l2, r_2, both, __VA_ARGS__) +              \
                    PAIR_SUMS(m2, m0, twice, __VA_ARGS__) GIVEN)

inline FN(chars) FN(part_at)(__global const SRC *r0, __global const SRC *r1, __global const SRC *r2,
                             int x NUMBERS)
{
    FN(chars) l0 = CHARS_AT(r0, -CH), l1 = CHARS_AT(r1, -CH), l2 = CHARS_AT(r2, -CH);
    FN(chars) m0 = CHARS_AT(r0, 0), m2 = CHARS_AT(r2, 0);
    FN(chars) r_0 = CHARS_AT(r0, CH), r_1 = CHARS_AT(r1, CH), r_2 = CHARS_AT(r2, CH);
    FN(chars) once = WEIGHTS(-1, 1), twice = WEIGHTS(-2, 2), both = WEIGHTS(1, 1);
    return OF_X86(packuswb)(LENGTHS(LOW_BYTES), LENGTHS(HIGH_BYTES));
}

inline ushort16 FN(pairs_at)(__global const SRC *r0, __global const SRC *r1, __global const SRC *r2,
                             int x NUMBERS)
{
#if PART == 32
    return __builtin_astype(FN(part_at)(r0, r1, r2, x GIVEN), ushort16);
#else
    ushort16 v;
    v.lo = __builtin_astype(FN(part_at)(r0, r1, r2, x GIVEN), ushort8);
    v.hi = __builtin_astype(FN(part_at)(r0, r1, r2, x + PART GIVEN), ushort8);
    return v;
#endif
}
#else
/* On other CPUs a lane of 16 bits holds an even sample and the odd one behind it, which a mask and a
 * shift separate; widening would take shuffles. With one channel two loads a row are enough. */
typedef ushort16 FN(pairs) __attribute__((aligned(1)));
#define PAIRS_AT(r, d) (*(__global const FN(pairs) *)((r) + x + (d)))
#define EVEN(v)        as_short16((v) & (ushort)0xff)
#define ODD(v)         as_short16((v) >> (ushort)8)

#ifdef OUT_l1
inline ushort16 FN(lengths)(short16 f, short16 g NUMBERS)
{
    ushort16 n = as_ushort16(max(f, -f) + max(g, -g));
    return min(((n << (ushort)up) + (ushort)half_of) >> (ushort)down, (ushort16)DST_MAX);
}
#define IN_ORDER(v) (v)
#else
/* sqrt(dX² + dY²), times the scale and rounded, of lanes that hold dX and dY in turn: processors
 * have an instruction that multiplies such pairs and adds the products. */
inline int8 FN(roots)(short16 d, float scale)
{
#pragma OPENCL FP_CONTRACT ON /* either rounding gives the same result */
    int8 f = convert_int8(d.even), g = convert_int8(d.odd);
    return convert_int8(sqrt(convert_float8(f * f + g * g)) * scale + 0.5f);
}

/* The lanes' order becomes 0 4 1 5 2 6 3 7 and 8 c 9 d a e b f, because keeping it would take more
 * instructions. */
inline ushort16 FN(lengths)(short16 f, short16 g NUMBERS)
{
    int8 a = FN(roots)((short16)(f.s0, g.s0, f.s1, g.s1, f.s2, g.s2, f.s3, g.s3, f.s8, g.s8, f.s9,
                                 g.s9, f.sa, g.sa, f.sb, g.sb),
                       scale);
    int8 b = FN(roots)((short16)(f.s4, g.s4, f.s5, g.s5, f.s6, g.s6, f.s7, g.s7, f.sc, g.sc, f.sd,
                                 g.sd, f.se, g.se, f.sf, g.sf),
                       scale);
    return min(as_ushort16(a | b << 16), (ushort16)DST_MAX);
}
#define IN_ORDER(v) (ushort16)((v).s0246, (v).s1357, (v).s8ace, (v).s9bdf)
#endif

#define PAIR_COLUMN(k, v, of)                                                                      \
    short16 smooth##k = of(v##0) + of(v##2) + (of(v##1) << (short)1), slope##k = of(v##0) - of(v##2);
#if CH == 1
#define BETWEEN_LEFT_AND_RIGHT                                                                     \
    short16 slope_even = slope_left_odd, slope_odd = slope_right_even;
#else
#define BETWEEN_LEFT_AND_RIGHT                                                                     \
    ushort16 m0 = PAIRS_AT(r0, 0), m2 = PAIRS_AT(r2, 0);                                           \
    short16 slope_even = EVEN(m0) - EVEN(m2), slope_odd = ODD(m0) - ODD(m2);
#endif

inline ushort16 FN(pairs_at)(__global const SRC *r0, __global const SRC *r1, __global const SRC *r2,
                             int x NUMBERS)
{
    ushort16 l0 = PAIRS_AT(r0, -CH), l1 = PAIRS_AT(r1, -CH), l2 = PAIRS_AT(r2, -CH);
    ushort16 r_0 = PAIRS_AT(r0, CH), r_1 = PAIRS_AT(r1, CH), r_2 = PAIRS_AT(r2, CH);
    PAIR_COLUMN(_left_even, l, EVEN)
    PAIR_COLUMN(_left_odd, l, ODD)
    PAIR_COLUMN(_right_even, r_, EVEN)
    PAIR_COLUMN(_right_odd, r_, ODD)
    BETWEEN_LEFT_AND_RIGHT
    short16 f = smooth_right_even - smooth_left_even, g = smooth_right_odd - smooth_left_odd;
    short16 dy_even = slope_left_even + slope_right_even + (slope_even << (short)1);
    short16 dy_odd = slope_left_odd + slope_right_odd + (slope_odd << (short)1);
    ushort16 even = FN(lengths)(f, dy_even GIVEN);
    ushort16 odd = FN(lengths)(g, dy_odd GIVEN);
    ushort16 all = even | odd << (ushort)8;
    return IN_ORDER(all);
}
#endif
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), OUTPUTS, int width, int height, int border,
                     int origin, int step NUMBERS THEN_PARAMETERS)
{
    POSITION(x, y)
    int end = SPAN_END(x);
    int y0 = SOURCE_Y_BESIDE(y + origin - 1), y1 = SOURCE_Y_BESIDE(y + origin);
    int y2 = SOURCE_Y_BESIDE(y + origin + 1);
    __global OUT *out = ROW(dst, y);
#if PLANES == 2
    __global OUT *out2 = ROW(dst2, y);
#endif
    /* Positions whose window lies inside the plane; none if the row's windows contain rows of zeros. */
    int inner = y0 < 0 || y2 < 0 ? end : max((1 - origin) * DST_CH, x);
    int inner_end = min((width - 1 - origin) * DST_CH, end);

#ifdef FORM_VECTOR
    bool fits = x == inner && x + SPAN == inner_end;
    inner = end = fits ? x : end;
#elif LANES + 0
    int begin = x, shift = origin * CH;
    __global const SRC *r0 = ROW(src, y0) + shift, *r1 = ROW(src, y1) + shift;
    __global const SRC *r2 = ROW(src, y2) + shift;
#ifdef PAIRS
#define SAMPLES_AT_ONCE (2 * LANES)
#else
#define SAMPLES_AT_ONCE LANES
#endif
    if (inner + SAMPLES_AT_ONCE > inner_end)
        inner = inner_end = end;
    /* To the next row: the processor's own prefetching ends with each page. What lies behind a ring may be another
     * thread's. */
    int ahead = RING ? 0 : src_stride;
    for (x = inner; x < inner_end; x += SAMPLES_AT_ONCE) {
        x = min(x, inner_end - SAMPLES_AT_ONCE);
#ifdef PAIRS
        FETCH_AHEAD(r2 + x + ahead);
        ushort16 pairs = FN(pairs_at)(r0, r1, r2, x GIVEN);
        UNALIGNED_OUT(OUT, LANES, out + x) = THEN(as_uchar16(pairs.lo));
        UNALIGNED_OUT(OUT, LANES, out + x + LANES) = THEN(as_uchar16(pairs.hi));
#else
        LOAD_NEIGHBOURS;
        V(DST) v = GRADIENT_RESULT(dx, dy);
#if ALPHA
        TAKE_ALPHA(CH, v, UNALIGNED_IN(SRC, LANES, r1 + x));
#endif
        UNALIGNED_OUT(OUT, LANES, out + x) = THEN(v);
#if PLANES == 2
        UNALIGNED_OUT(OUT, LANES, out2 + x) = GRADIENT_OUT(dy);
#endif
#endif
    }
    x = begin;
#endif
    while (x < end) {
        for (int until = min(inner, end); x < until; x++) {
            int px = x / DST_CH + origin, c = x % DST_CH;
            CAT(WORK, 2) g = FN(edge)(src_base, src_offset, src_stride, width, border, y0, y1, y2,
                                      px, c);
            DST v = FIRST(GRADIENT_RESULT((V(WORK))g.x, (V(WORK))g.y));
            out[x] = THEN_ONE(OR_ALPHA(x, v, FETCH(src, px, CH, y1, c)));
#if PLANES == 2
            out2[x] = FIRST(GRADIENT_OUT((V(WORK))g.y));
#endif
        }
#if LANES + 0
        x = inner_end > x ? inner_end : x;
#else
        int shift = origin * CH;
        __global const SRC *r0 = ROW(src, y0) + shift, *r1 = ROW(src, y1) + shift;
        __global const SRC *r2 = ROW(src, y2) + shift;
        for (; x < inner_end; x++) {
            LOAD_NEIGHBOURS;
            out[x] = THEN_ONE(OR_ALPHA(x, GRADIENT_RESULT(dx, dy), r1[x]));
#if PLANES == 2
            out2[x] = GRADIENT_OUT(dy);
#endif
        }
#endif
        inner = end; /* what is left is the other edge */
    }
#ifdef FORM_VECTOR
    if (fits) {
        AROUND r0 = AROUND_AT(ROW(src, y0) + x);
        AROUND r1 = AROUND_AT(ROW(src, y1) + x);
        AROUND r2 = AROUND_AT(ROW(src, y2) + x);
        LOAD_NEIGHBOURS;
        V(DST) v = GRADIENT_RESULT(dx, dy);
#if ALPHA
        TAKE_ALPHA(CH, v, CENTRE(r1));
#endif
        *(__global V(OUT) *)(out + x) = THEN(v);
#if PLANES == 2
        *(__global V(OUT) *)(out2 + x) = GRADIENT_OUT(dy);
#endif
    }
#endif
}
