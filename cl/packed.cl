/* Stencils of 8 bits for GPUs on which arithmetic takes more time than memory: sobel, fir and small boxes of one
 * channel, and small windows of erode and dilate of any. Two samples share a word of 32 bits, as lanes of 16 bits:
 * samples 0 and 2 of a word of four bytes (even), or 1 and 3 (odd). Words are added, subtracted and multiplied as
 * integers. Carries and borrows between lanes cancel, as long as each lane's value is from 0 to 65535 at the end and
 * whenever lanes are moved.
 *
 * A work-item computes WORDS words (SPAN samples) in each of ROWS rows, from LINES lines, which it loads first. A line
 * is a uint8 with the work-item's own words from element 2 on, and SIDE words, 1 or 2, on either side. More rows save
 * loads, but need registers, so that fewer work-items run at once: 4 rows are best.
 *
 * There are no arrays, because a compiler puts an array into memory unless it knows every index. */
#include <border.cl>
#include <quotient.cl>
#include <words.cl>
#define LANES_OF_WORD 0x00ff00ffu
#define TWICE(v)      ((v) * 0x00010001u) /* the same number in both lanes */

#define EVEN(w) ((w) & LANES_OF_WORD)
#define ODD(w)  FN(odd)(w)

/* The odd samples. NVIDIA has one instruction for that. */
#ifdef HAS_PTX
#define ODD_OF(k) permute(w.s##k, 0u, 0x4341u)
inline uint8 FN(odd)(uint8 w)
{
    return (uint8)(ODD_OF(0), ODD_OF(1), ODD_OF(2), ODD_OF(3), ODD_OF(4), ODD_OF(5), ODD_OF(6),
                   ODD_OF(7));
}
#else
inline uint8 FN(odd)(uint8 w)
{
    return w >> 8 & LANES_OF_WORD;
}
#endif

#if WORDS == 4
#define OWN      uint4
#define AT_m2(v) (v).s0123
#define AT_m1(v) (v).s1234
#define AT_0(v)  (v).s2345
#define AT_1(v)  (v).s3456
#define AT_2(v)  (v).s4567
#define NOTHING
#else
#define OWN      uint2
#define AT_m2(v) (v).s01
#define AT_m1(v) (v).s12
#define AT_0(v)  (v).s23
#define AT_1(v)  (v).s34
#define AT_2(v)  (v).s45
#define NOTHING  , 0u, 0u
#endif

/* v moved by one lane: lane i is lane i + 1 of v. */
#define HALF(v)                                                                                    \
    as_uint8((ushort16)(as_ushort16(v).s12345678, as_ushort16(v).s9abc, as_ushort16(v).sde,        \
                        as_ushort16(v).sf, (ushort)0))

/* Words of bytes from words of even and of odd lanes, each lane shifted right. */
#define BYTES(even, odd, shift)                                                                    \
    (((even) >> (shift) & LANES_OF_WORD) | ((odd) >> (shift) << 8 & ~LANES_OF_WORD))

/* DO(k) for each of n lines that are loaded for ROWS rows of results; k is a hexadecimal digit. */
#define EACH_4(DO)  DO(0) DO(1) DO(2) DO(3)
#define EACH_5(DO)  EACH_4(DO) DO(4)
#define EACH_6(DO)  EACH_5(DO) DO(5)
#define EACH_7(DO)  EACH_6(DO) DO(6)
#define EACH_8(DO)  EACH_7(DO) DO(7)
#define EACH_9(DO)  EACH_8(DO) DO(8)
#define EACH_10(DO) EACH_9(DO) DO(9)
#define EACH_11(DO) EACH_10(DO) DO(a)
#define EACH_12(DO) EACH_11(DO) DO(b)

/* The edges of rows. Few work-items come here, but others wait for them. They load word i of all lines together, and
 * if it is outside compute the columns of its samples once for all lines (-1: zero). (Computed for each line, by
 * unrolled code, this was 7 % of all instructions, and displaced the other code from the caches.) */
#ifndef CH
#define CH 1
#endif
inline int FN(column)(int x, int width, int border)
{
    int channel = modulo(x, CH), pixel = border_index((x - channel) / CH, width / CH, border);
    return pixel < 0 ? -1 : pixel * CH + channel;
}

inline int4 FN(columns)(int x, int width, int border)
{
    return (int4)(FN(column)(x, width, border), FN(column)(x + 1, width, border),
                  FN(column)(x + 2, width, border), FN(column)(x + 3, width, border));
}

#define SAMPLE_AT(i) (at.s##i < 0 ? 0u : (uint)line[max(at.s##i, 0)])
inline uint FN(gather)(__global const uchar *line, int row, bool whole, int4 at)
{
    if (row < 0)
        return 0;
    if (whole)
        return *(__global const uint *)(line + at.s0);
    return SAMPLE_AT(0) | SAMPLE_AT(1) << 8 | SAMPLE_AT(2) << 16 | SAMPLE_AT(3) << 24;
}
#define FIND_ROW(k)  int row##k = border_index(LINE_Y(0x##k), height, border);
#define GATHER(i, k) w##k.s##i = FN(gather)(ROW(src, max(row##k, 0)), row##k, whole, at);
#define GATHER_0(k)  GATHER(0, k)
#define GATHER_1(k)  GATHER(1, k)
#define GATHER_2(k)  GATHER(2, k)
#define GATHER_3(k)  GATHER(3, k)
#define GATHER_4(k)  GATHER(4, k)
#define GATHER_5(k)  GATHER(5, k)
#define GATHER_6(k)  GATHER(6, k)
#define GATHER_7(k)  GATHER(7, k)
#define GATHER_WORD(i)                                                                             \
    if (i >= 2 - SIDE && i < 2 + SIDE + WORDS) {                                                   \
        int first = x + 4 * i - 8;                                                                 \
        bool whole = first >= 0 && first + 4 <= width;                                             \
        int4 at = whole ? (int4)(first) : FN(columns)(first, width, border);                       \
        EACH_LINE(GATHER_##i)                                                                      \
    }

/* Loads lines LINE_Y(k) into w##k: all loads before anything else, because each has a long latency. */
#if SIDE == 1
#define BESIDE    uint
#define PADDED(k) (uint8)(0u, left##k, own##k, right##k, 0u NOTHING)
#else
#define BESIDE    uint2
#define PADDED(k) (uint8)(left##k, own##k, right##k NOTHING)
#endif
/* Unsigned, so that an address is the plane's, which the access itself adds, plus one sum of 32 bits. */
#define PLACE(p, y)     (p##_base + (uint)(p##_offset + (y) * p##_stride + x))
#define LINE_AT(k)      PLACE(src, LINE_Y(0x##k))
#define DECLARE_LINE(k) uint8 w##k;
#define LOAD_LINE(k)                                                                               \
    OWN own##k = *(__global const OWN *)LINE_AT(k);                                                \
    BESIDE left##k = *(__global const BESIDE *)(LINE_AT(k) - 4 * SIDE);                            \
    BESIDE right##k = *(__global const BESIDE *)(LINE_AT(k) + SPAN);
#define PAD_LINE(k) w##k = PADDED(k);
#define NO_LINE(k) w##k = 0;
#define LOAD_LINES(plain)                                                                          \
    EACH_LINE(DECLARE_LINE)                                                                        \
    if ((plain) && x >= 4 * SIDE && x + SPAN + 4 * SIDE <= width) {                                \
        EACH_LINE(LOAD_LINE)                                                                       \
        EACH_LINE(PAD_LINE)                                                                        \
    } else {                                                                                       \
        EACH_LINE(NO_LINE)                                                                         \
        EACH_LINE(FIND_ROW)                                                                        \
        GATHER_WORD(0) GATHER_WORD(1) GATHER_WORD(2) GATHER_WORD(3)                                \
        GATHER_WORD(4) GATHER_WORD(5) GATHER_WORD(6) GATHER_WORD(7)                                \
    }

/* Results are bytes, and so are those of stages that are fused behind (src/chain/fuse_pixels.c). */
#define STORED(v) CAT(as_uint, WORDS)(THEN(CAT3(as_, DST, LANES)(v)))

/* Stores SPAN samples, of which `count` are in the row. */
inline void FN(put)(__global uchar *at, OWN v, int count)
{
    if (count >= SPAN) {
        *(__global OWN *)at = v;
        return;
    }
    _Pragma("unroll 1") /* seldom executed, so its code should be small */
    for (int i = 0; i < count; i++) {
        at[i] = (uchar)v.x;
        v.x = i % 4 < 3 ? v.x >> 8 : v.y;
#if WORDS == 4
        if (i % 4 == 3)
            v.yz = v.zw;
#endif
    }
}

#define PUT(p, y, v, count) FN(put)((__global uchar *)PLACE(p, y), v, count)

#ifdef MULTIPLIER
/* Divides lanes that already include what rounding adds: the quotient is the highest byte of the product with
 * MULTIPLIER (src/stage/box/box_divide.h). */
#define LOW_LANE(v)  (((v) & 0xffffu) * MULTIPLIER)
#define HIGH_LANE(v) (((v) >> 16) * MULTIPLIER)
#define QUOTIENTS(k)                                                                               \
    v.s##k = permute(permute(LOW_LANE(s0.s##k), LOW_LANE(s1.s##k), 0x0073u),                       \
                     permute(HIGH_LANE(s0.s##k), HIGH_LANE(s1.s##k), 0x0073u), 0x5410u);
inline OWN FN(quotients)(OWN s0, OWN s1)
{
    OWN v;
    QUOTIENTS(0) QUOTIENTS(1)
#if WORDS == 4
    QUOTIENTS(2) QUOTIENTS(3)
#endif
    return v;
}
#endif

#ifdef KERNEL_sobel
#define ALONG(k, w) uint8 e##k = EVEN(w), o##k = ODD(w);

#define BIAS  TWICE(2048u) /* 8 · 256: makes gradients positive, and vanishes in the byte that is stored */
#define MAGIC 12582912.0f /* 1.5 * 2^23: the last bits of it plus an integer are that integer */

/* The lower or the upper lane as a float with 2^23 added, which takes only an "or". Differences of two such floats
 * are right; CENTRED subtracts the 2^23, and the bias, from a gradient. */
#define LOW(v)     as_float(as_uint((ushort2)(as_ushort2(v).x, (ushort)0x4b00)))
#define HIGH(v)    as_float(as_uint((ushort2)(as_ushort2(v).y, (ushort)0x4b00)))
#define CENTRED(f) ((f) - (8388608.0f + 2048.0f))

/* The result, in the lowest bits of a word. With LIMITED results may exceed 255.
 *
 * The magnitude m is sqrt(n) * scale with n = dx² + dy², rounded, halves up. At 1/8 it is the
 * largest m with m = 0 or (8m - 4)² <= n. With n + 3/2 in place of n there are no halves, and the
 * root of no n that two gradients can give is nearer to a half than 3 * 2^-23 of itself (no sum of
 * two squares is 1 or 2 less than a (8m - 4)²). The error of rsqrt is at most two units in the last
 * place, 2 * 2^-23, and that of the product half of one, so the result needs no correction. Other
 * powers of two have other numbers in place of 3/2 (sobel_lift in src/stage/sobel/sobel.c), and no
 * root up to where m is 255 is nearer than that, either; tests/stage/test_sobel.c tries the nearest
 * ones.
 *
 * At 1/8 no sum of absolute values has a result above 255. A sum times the scale lies `lift` or
 * more away from a half when `lift` has been added. */
#if defined(OUT_magnitude) || defined(OUT_l1)
#define FINISH_PARAMETERS , float scale, float lift
#define FINISH_ARGUMENTS  , scale, lift
#ifdef LIMITED
#define LIMITED_TO_255(m) fmin(m, MAGIC + 255.0f)
#else
#define LIMITED_TO_255(m) (m)
#endif
#else
#define FINISH_PARAMETERS
#define FINISH_ARGUMENTS
#endif
#if defined(OUT_magnitude)
inline uint FN(result)(float dx, float dy FINISH_PARAMETERS)
{
    float n = mad(dx, dx, mad(dy, dy, lift));
    float root;
#ifdef HAS_PTX
    /* One instruction, with an error of at most 2^-23 of the root. Right for all possible gradients (tried on an
     * H200). */
    __asm__("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(n));
#else
    root = n * rsqrt(n);
#endif
    return as_uint(LIMITED_TO_255(fma(root, scale, MAGIC)));
}
#elif defined(OUT_l1)
inline uint FN(result)(float dx, float dy FINISH_PARAMETERS)
{
    return as_uint(LIMITED_TO_255(fma(fabs(dx) + fabs(dy), scale, lift) + MAGIC));
}
#endif

#define PACK(a, b, c, d) as_uint((ushort2)((ushort)((a) + ((b) << 8)), (ushort)((c) + ((d) << 8))))
/* Word k of the results, from the smoothed columns in words p (the previous), c and n (the next). */
#define RESULT_WORD(k, p, c, n)                                                                    \
    {                                                                                              \
        float before = HIGH(mo.s##p), f0 = LOW(me.s##c), f1 = LOW(mo.s##c), f2 = HIGH(me.s##c);    \
        float f3 = HIGH(mo.s##c), after = LOW(me.s##n);                                            \
        v.s##k = PACK(FN(result)(f1 - before, CENTRED(LOW(y0.s##k)) FINISH_ARGUMENTS),             \
                      FN(result)(f2 - f0, CENTRED(LOW(y1.s##k)) FINISH_ARGUMENTS),                 \
                      FN(result)(f3 - f1, CENTRED(HIGH(y0.s##k)) FINISH_ARGUMENTS),                \
                      FN(result)(after - f2, CENTRED(HIGH(y1.s##k)) FINISH_ARGUMENTS));            \
    }

/* The results, from smoothed columns (me, mo) and vertical gradients (y0, y1) of even and of odd samples. */
inline OWN FN(results)(uint8 me, uint8 mo, OWN y0, OWN y1 FINISH_PARAMETERS)
{
#if defined(OUT_magnitude) || defined(OUT_l1)
    OWN v;
    RESULT_WORD(0, 1, 2, 3) RESULT_WORD(1, 2, 3, 4)
#if WORDS == 4
    RESULT_WORD(2, 3, 4, 5) RESULT_WORD(3, 4, 5, 6)
#endif
    return v;
#elif defined(OUT_dy)
    return BYTES(y0, y1, 3);
#else
    OWN x0 = AT_0(mo) - AT_m1(HALF(mo)) + BIAS, x1 = AT_0(HALF(me)) - AT_0(me) + BIAS;
    return BYTES(x0, x1, 3);
#endif
}

#ifdef OUT_both
#define OUTPUTS PLANE_OUT(uchar, dst), PLANE_OUT(uchar, dst2)
#define STORE(y, me, mo, y0, y1, count)                                                            \
    PUT(dst, y, STORED(FN(results)(me, mo, y0, y1 FINISH_ARGUMENTS)), count);                      \
    PUT(dst2, y, BYTES(y0, y1, 3), count);
#else
#define OUTPUTS PLANE_OUT(uchar, dst)
#define STORE(y, me, mo, y0, y1, count)                                                            \
    PUT(dst, y, STORED(FN(results)(me, mo, y0, y1 FINISH_ARGUMENTS)), count);
#endif
#define DOWN(y, k0, k1, k2, k3, k4, k5, k6, count)                                                 \
    {                                                                                              \
        uint8 me = e##k0 + 2u * e##k1 + e##k2, mo = o##k0 + 2u * o##k1 + o##k2;                    \
        uint8 ge = e##k0 - e##k2 + TWICE(512u), go = o##k0 - o##k2 + TWICE(512u);                  \
        OWN y0 = AT_m1(HALF(go)) + 2u * AT_0(ge) + AT_0(go);                                       \
        OWN y1 = AT_0(ge) + 2u * AT_0(go) + AT_0(HALF(ge));                                        \
        STORE(y, me, mo, y0, y1, count)                                                            \
    }
#endif

#ifdef KERNEL_fir
/* TAKE divides row j into even lanes e and odd lanes o, and p and q are those moved by one lane. T adds a
 * coefficient's products of row j to the sums of even results s0 and of odd results s1. If the window is the product
 * of a column and a row, ACROSS is the row's T, and DOWNS the column's D. */
#define TAKE(j, w)   uint8 e##j = EVEN(w), o##j = ODD(w), p##j = HALF(e##j), q##j = HALF(o##j);
#define T(j, v0, at0, v1, at1, k)                                                                  \
    s0 += (uint)(k) * at0(v0##j);                                                                  \
    s1 += (uint)(k) * at1(v1##j);
#ifdef DOWNS
#define ALONG(k, w)                                                                                \
    OWN h##k, i##k;                                                                                \
    {                                                                                              \
        TAKE(0, w)                                                                                 \
        OWN s0 = 0, s1 = 0;                                                                        \
        ACROSS                                                                                     \
        h##k = s0, i##k = s1;                                                                      \
    }
#define ROW_OF(j, k) OWN h_##j = h##k, i_##j = i##k;
#define D(j, k)      s0 += (uint)(k) * h_##j, s1 += (uint)(k) * i_##j;
#define TAPS         DOWNS
#else
#define ALONG(k, w)  uint8 l##k = w;
#define ROW_OF(j, k) TAKE(j, l##k)
#endif

#if defined(LIMITED) && defined(SHIFT)
/* Subtracts ZERO from the lanes and clamps them to 0…255. Bit 15 tells first which lanes are not below 0, then
 * which are above 255. */
inline OWN FN(limited)(OWN n)
{
    OWN c = n + TWICE(0x8000u - ZERO);
    c &= (c >> 15 & TWICE(1u)) * 0x7fffu;
    return c | (c + TWICE(0x7f00u) >> 15 & TWICE(1u)) * 0xffu;
}
#endif

/* The results, as bytes, of sums that include OFFSET (see EXACT_RESULT in cl/prelude/quotient.cl). If the divisor is a power of
 * two everything is computed in lanes. */
inline OWN FN(finish)(OWN s0, OWN s1)
{
#if defined(SHIFT)
#if SHIFT > 0 /* a half is rounded up if the quotient is odd */
    s0 += TWICE((1u << SHIFT) / 2u - 1u) + (s0 >> SHIFT & TWICE(1u));
    s1 += TWICE((1u << SHIFT) / 2u - 1u) + (s1 >> SHIFT & TWICE(1u));
#endif
#ifdef LIMITED
    s0 = FN(limited)(s0 >> SHIFT & TWICE(0xffffu >> SHIFT));
    s1 = FN(limited)(s1 >> SHIFT & TWICE(0xffffu >> SHIFT));
    return BYTES(s0, s1, 0);
#else
    return BYTES(s0, s1, SHIFT);
#endif
#elif defined(MULTIPLIER)
    return FN(quotients)(s0, s1);
#else
    V(NUM) n;
#define LANE(k, a, b, c, d)                                                                        \
    n.s##a = s0.s##k & 0xffffu, n.s##b = s1.s##k & 0xffffu;                                        \
    n.s##c = s0.s##k >> 16, n.s##d = s1.s##k >> 16;
    LANE(0, 0, 1, 2, 3) LANE(1, 4, 5, 6, 7)
#if WORDS == 4
    LANE(2, 8, 9, a, b) LANE(3, c, d, e, f)
#endif
    return CAT(as_uint, WORDS)(EXACT_RESULT(n));
#endif
}

#define OUTPUTS PLANE_OUT(uchar, dst)
#define ROWS_OF_1(k0, k1, k2, k3, k4, k5, k6) ROW_OF(0, k0)
#define ROWS_OF_3(k0, k1, k2, k3, k4, k5, k6) ROW_OF(0, k0) ROW_OF(1, k1) ROW_OF(2, k2)
#define ROWS_OF_5(k0, k1, k2, k3, k4, k5, k6)                                                      \
    ROWS_OF_3(k0, k1, k2, k3, k4, k5, k6) ROW_OF(3, k3) ROW_OF(4, k4)
#define ROWS_OF_7(k0, k1, k2, k3, k4, k5, k6)                                                      \
    ROWS_OF_5(k0, k1, k2, k3, k4, k5, k6) ROW_OF(5, k5) ROW_OF(6, k6)
#define DOWN(y, k0, k1, k2, k3, k4, k5, k6, count)                                                 \
    {                                                                                              \
        CAT(ROWS_OF_, WINDOW)(k0, k1, k2, k3, k4, k5, k6)                                          \
        OWN s0 = TWICE(START), s1 = TWICE(START);                                                  \
        TAPS                                                                                       \
        PUT(dst, y, STORED(FN(finish)(s0, s1)), count);                                            \
    }
#endif

#ifdef KERNEL_box
/* e and o are sums of columns over the window's height; after result row i one line is added (ENTER_i) and line i is
 * subtracted. Along x, t are sums of pairs of columns, s of two pairs, and WINDOW_0 and WINDOW_1, which the pass
 * defines, combine these to the windows of even and of odd results. Signed samples become unsigned by adding 128. */
#define FLIPPED      (FLIP * 0x80808080u)
#define ALONG(k, w)  uint8 e##k = EVEN(w ^ FLIPPED), o##k = ODD(w ^ FLIPPED);
#define ADD_LINE(k)                                                                                \
    if (0x##k < WINDOW)                                                                            \
        e += e##k, o += o##k;
#define BEGIN                                                                                      \
    uint8 e = 0, o = 0;                                                                            \
    EACH_LINE(ADD_LINE)
#define OUTPUTS      PLANE_OUT(uchar, dst)
#define DOWN(i, enter, leave, count)                                                               \
    {                                                                                              \
        uint8 t = e + o, th = HALF(t), s = t + th, p = HALF(e), q = HALF(o);                       \
        OWN v = FN(quotients)(WINDOW_0 + TWICE(START), WINDOW_1 + TWICE(START)) ^ FLIPPED;         \
        PUT(dst, y + i, v, count);                                                                 \
        e += CAT(e, enter) - e##leave;                                                             \
        o += CAT(o, enter) - o##leave;                                                             \
    }
#define STEP(i, k0, k1, k2, k3, k4, k5, k6)                                                        \
    if (y + i < height)                                                                            \
        DOWN(i, ENTER_##i, k0, width - x)
#elif defined(KERNEL_morph)
#include "bytes.cl"
/* All four bytes of a word are compared at once, BETTER (cl/bytes.cl): first down columns, DOWNS, which makes
 * of the lines the words r0 to r3 of each row; then along rows, ACROSS, which makes of these, as t, what RESULT
 * takes the results from. */
#define ALONG(k, w)
#define BETTER_8(a, b) FN(better_8)(a, b)
inline uint8 FN(better_8)(uint8 a, uint8 b)
{
    return (uint8)(BETTER_4(a.lo, b.lo), BETTER_4(a.hi, b.hi));
}
#if WORDS == 4
#define BETTER_OWN BETTER_4
#else
#define BETTER_OWN(a, b) (uint2)(BETTER((a).x, (b).x), BETTER((a).y, (b).y))
#endif
/* Words k further. */
#define FROM_0(t) (t)
#define FROM_1(t) (uint8)((t).s1234, (t).s56, (t).s7, 0u)
#define FROM_2(t) (uint8)((t).s2345, (t).s67, 0u, 0u)
#if ALPHA
#define WITH_ALPHA(v, i) (((v) & ~ALPHA_BYTES) | (AT_0(CAT(w, MIDDLE_##i)) & ALPHA_BYTES))
#else
#define WITH_ALPHA(v, i) (v)
#endif
#define OUTPUTS PLANE_OUT(uchar, dst)
#define BEGIN   DOWNS
#define STEP(i, k0, k1, k2, k3, k4, k5, k6)                                                        \
    if (y + i < height) {                                                                          \
        uint8 t = r##i;                                                                            \
        ACROSS                                                                                     \
        OWN v = RESULT;                                                                            \
        PUT(dst, y + i, STORED(WITH_ALPHA(v, i)), width - x);                                      \
    }
#else
#define BEGIN
#define STEP(i, k0, k1, k2, k3, k4, k5, k6)                                                        \
    if (y + i < height)                                                                            \
        DOWN(y + i, k0, k1, k2, k3, k4, k5, k6, width - x)
#endif

#ifndef KERNEL_sobel
#define FINISH_PARAMETERS
#endif

/* The grid counts samples in x, and in y blocks of ROWS rows. */
#define LINE_Y(k) (from + k)
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), OUTPUTS, int width, int height,
                     int border FINISH_PARAMETERS THEN_PARAMETERS)
{
    int y = GRID_Y * ROWS, x = SPAN_BEGIN, from = y - TOP;
    if (GRID_Y >= grid_y_end || x >= grid_width)
        return;
    LOAD_LINES(from >= 0 && from + LINES <= height)
#define ALONG_LINE(k) ALONG(k, w##k)
    EACH_LINE(ALONG_LINE)
    BEGIN
    STEP(0, 0, 1, 2, 3, 4, 5, 6)
    STEP(1, 1, 2, 3, 4, 5, 6, 7)
    STEP(2, 2, 3, 4, 5, 6, 7, 8)
    STEP(3, 3, 4, 5, 6, 7, 8, 9)
}
