/* Stencils of 8-bit samples for GPUs with few registers and without fast local memory (Mali): sobel, fir and small
 * boxes. A work-item computes 4 samples in each of ROWS rows, from the top down. It loads each line of the source
 * once, these 4 samples and a word on either side, and keeps in registers what several rows need. It computes in
 * floats, exactly, because every sum is an integer below 2^24. (Mesa's compiler for Mali splits vectors of 16-bit
 * integers, and a mask or a shift costs as much as four additions there.)
 *
 * If all lines lie inside the plane the loop over rows is unrolled, because otherwise the values that it carries from
 * row to row would be copied twice in each iteration. At the plane's edges a loop that is not unrolled gathers the
 * samples.
 *
 * A line is a float16 whose lanes 4 to 7 are the work-item's own samples: AT_0. AT_1 are those one sample to the
 * right. Neighbours are CH samples apart. */
#include <border.cl>
#include <memory.cl>
#include <words.cl>
#define LINES (ROWS + TOP + BOTTOM)

#define AT_m4(v) (v).s0123
#define AT_m3(v) (v).s1234
#define AT_m2(v) (v).s2345
#define AT_m1(v) (v).s3456
#define AT_0(v)  (v).s4567
#define AT_1(v)  (v).s5678
#define AT_2(v)  (v).s6789
#define AT_3(v)  (v).s789a
#define AT_4(v)  (v).s89ab

#ifdef SRC_IS_uchar
#define SAMPLE(w, k) (float)((w) >> 8 * (k) & 255u)
#else
#define SAMPLE(w, k) (float)((int)((w) << (24 - 8 * (k))) >> 24)
#endif
#define FOUR(w)      SAMPLE(w, 0), SAMPLE(w, 1), SAMPLE(w, 2), SAMPLE(w, 3)
#define LINE_OF(w)   (float16)(FOUR((w).x), FOUR((w).y), FOUR((w).z), (float4)(0.0f))

/* The words of a line around x, where some of the samples are outside and come from the border. (`never` is 0, but
 * not for the compiler: Mesa would unroll loops with constant bounds.) */
inline uint4 FN(gather)(PLANE_IN(uchar, src), int x, int y, int width, int height, int border)
{
    int row = border_near(y, height, border), n = width * CH, never = n >> 30;
    __global const uchar *line = ROW(src, max(row, 0));
    uint4 words = 0;
    for (int i = x - 4; i < x + 8 + never && row >= 0; i += 4) {
        uint w = 0;
        if (i >= 0 && i + 4 <= n)
            w = *(__global const uint *)(line + i);
        else
            for (int k = i; k < i + 4 + never; k++) {
                int pixel = (k + 4 * CH) / CH - 4, at = border_near(pixel, width, border);
                w = w >> 8 | (at < 0 ? 0u : (uint)line[at * CH + k - pixel * CH] << 24);
            }
        words = (uint4)(words.yz, w, 0u);
    }
    return words;
}

/* RESULTS is added to results to put them into the lowest bits of floats, and BYTES packs those (see FOUR_OF).
 * Negative numbers would borrow from the byte above, so signed results have 128 added until they are packed. */
#ifdef DST_IS_uchar
#define RESULTS    ROUNDER
#define BYTES(m)   FOUR_OF(m)
#else
#define RESULTS    (ROUNDER + 128.0f)
#define BYTES(m)   (FOUR_OF(m) ^ (ushort)0x8080)
#endif

/* Stores 4 results at index `at` of a plane; PUT_SOME only those that are in the row. */
#define PUT_ALL(p, at, v)  *(__global ushort2 *)(p##_base + (at)) = v;
#define PUT_SOME(p, at, v) FN(put)((__global uchar *)p##_base + (at), as_uint(v), grid_width - x);
inline void FN(put)(__global uchar *to, uint v, int count)
{
    for (int i = 0; i < min(count, 4); i++) {
        to[i] = (uchar)v;
        v >>= 8;
    }
}

#if defined(KERNEL_sobel)
/* Sums of columns come first, because three gradients share each. */
#define STATE    float16 above = 0, line = 0;
#define ENTER(v) float16 slope = above - v, smooth = fma(line, 2.0f, above + v);
#define LEAVE(v) above = line, line = v;
#define BEFORE(v) CAT(AT_m, CH)(v)
#define BEHIND(v) CAT(AT_, CH)(v)
#define DX       (BEHIND(smooth) - BEFORE(smooth))
#define DY       fma(AT_0(slope), 2.0f, BEFORE(slope) + BEHIND(slope))

/* Gradients divided by 8, rounded down: subtracting 7/16 puts every eighth at least 1/16 away from a tie. */
#define EIGHTHS(g) (fma(g, 0.125f, -0.4375f) + RESULTS)
#if defined(OUT_magnitude) || defined(OUT_l1)
#define FINISH_PARAMETERS , float scale, float lift
#ifdef LIMITED
#define LIMITED_TO_255(m) fmin(m, ROUNDER + 255.0f)
#else
#define LIMITED_TO_255(m) (m)
#endif
#endif
#if defined(OUT_magnitude)
/* With `lift` the root needs no correction: see cl/packed.cl. */
inline float4 FN(result)(float4 dx, float4 dy, float scale, float lift)
{
    float4 n = fma(dx, dx, fma(dy, dy, lift));
    return fma(n * rsqrt(n), scale, ROUNDER);
}
#define RESULT BYTES(LIMITED_TO_255(FN(result)(DX, DY, scale, lift)))
#elif defined(OUT_l1)
#define RESULT BYTES(LIMITED_TO_255(fma(fabs(DX) + fabs(DY), scale, lift) + ROUNDER))
#elif defined(OUT_dy)
#define RESULT BYTES(EIGHTHS(DY))
#else
#define RESULT BYTES(EIGHTHS(DX))
#endif

#elif defined(KERNEL_fir)
/* s0 to s6 are the unfinished sums of rows whose windows contain the current line, s0 that of the lowest row, for
 * which it is the first line. TAPS adds the line to each sum: T(j, …) adds one coefficient's product to sum j. If the
 * window is the product of a column and a row, ACROSS multiplies the line with the row, and DOWNS, D(j, …), the
 * result with the column. */
#define STATE   float4 s0 = START, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0;
#ifdef ACROSS
#define T(j, at, k) h = fma(at(v), (float)(k), h);
#define D(j, k)     s##j = fma(h, (float)(k), s##j);
#define ENTER(v)                                                                                   \
    float4 h = 0;                                                                                  \
    ACROSS                                                                                         \
    DOWNS
#else
#define T(j, at, k) s##j = fma(at(v), (float)(k), s##j);
#define ENTER(v)    TAPS
#endif
#define LEAVE(v) s6 = s5, s5 = s4, s4 = s3, s3 = s2, s2 = s1, s1 = s0, s0 = START;
#define SUM      CAT(s, LAST)
#define RESULT   BYTES(FN(quotient)(SUM))

/* The sum divided by the divisor, rounded to nearest: see define_quotient in src/stage/fir/fir_packed.c. HALF is half
 * of an even divisor; then ties are corrected to even numbers. */
inline float4 FN(quotient)(float4 s)
{
#if defined(HALF)
    float4 m = fma(s, RECIPROCAL, ROUNDER), rest = fma(m - ROUNDER, -2.0f * HALF, s);
    m = fabs(rest) == HALF && (as_int4(m) & 1) ? m + copysign(1.0f, rest) : m;
    return clamp(m + (RESULTS - ROUNDER), RESULTS + DST_LEAST, RESULTS + DST_MOST);
#elif defined(LIMITED)
    return clamp(s * RECIPROCAL, DST_LEAST, DST_MOST) + RESULTS;
#else
    return fma(s, RECIPROCAL, RESULTS);
#endif
}
#endif

#ifdef OUT_both
#define OUTPUTS   PLANE_OUT(OUT, dst), PLANE_OUT(DST, dst2)
#define GIVE(PUT)                                                                                  \
    PUT(dst, to, as_ushort2(THEN_WORD(as_uint(RESULT))))                                           \
    PUT(dst2, to2, BYTES(EIGHTHS(DY)))                                                             \
    to2 += (uint)dst2_stride;
#else
#define OUTPUTS   PLANE_OUT(OUT, dst)
#define GIVE(PUT) PUT(dst, to, as_ushort2(THEN_WORD(as_uint(RESULT))))
#endif

/* Takes the next line in w. From the last line of the first window on, each line completes a row (`gives`). */
#define STEP(gives, PUT)                                                                           \
    {                                                                                              \
        float16 v = LINE_OF(w);                                                                    \
        ENTER(v)                                                                                   \
        if (gives) {                                                                               \
            GIVE(PUT)                                                                              \
            to += (uint)dst_stride;                                                                \
        }                                                                                          \
        LEAVE(v)                                                                                   \
    }
#define STEP_INSIDE(k)                                                                             \
    if (k < LINES) {                                                                               \
        uint4 w = UNALIGNED_IN(uint, 4, src_base + in);                                            \
        in += (uint)src_stride;                                                                    \
        STEP(k >= TOP + BOTTOM, PUT_ALL)                                                           \
    }

#if !defined(OUT_magnitude) && !defined(OUT_l1)
#define FINISH_PARAMETERS
#endif

/* The grid counts a row's samples, and in y blocks of ROWS rows. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), OUTPUTS, int width, int height,
                     int border FINISH_PARAMETERS THEN_PARAMETERS)
{
    int block = GRID_Y, x = SPAN_BEGIN, y = block * ROWS, from = y - TOP;
    if (block >= grid_y_end || x >= grid_width)
        return;
    /* Unsigned, so that an address is the base plus one sum of 32 bits. */
    uint in = (uint)(src_offset + from * src_stride + x - 4);
    uint to = (uint)(dst_offset + y * dst_stride + x);
#ifdef OUT_both
    uint to2 = (uint)(dst2_offset + y * dst2_stride + x);
#endif
    STATE
    if (x >= 4 && x + 12 <= grid_width && from >= 0 && from + LINES <= height) {
        STEP_INSIDE(0) STEP_INSIDE(1) STEP_INSIDE(2) STEP_INSIDE(3) STEP_INSIDE(4)
        STEP_INSIDE(5) STEP_INSIDE(6) STEP_INSIDE(7) STEP_INSIDE(8) STEP_INSIDE(9)
        STEP_INSIDE(10) STEP_INSIDE(11) STEP_INSIDE(12) STEP_INSIDE(13)
        return;
    }
    for (int n = from, end = min(from + LINES, height + BOTTOM); n < end; n++) {
        uint4 w = FN(gather)(src_base, src_offset, src_stride, x, n, width, height, border);
        STEP(n >= y + BOTTOM, PUT_SOME)
    }
}
