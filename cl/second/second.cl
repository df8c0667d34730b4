/* Arithmetic of two pictures: of a sample v and the sample w at the same place of a second picture, which stays the
 * same for all frames. One of SUBTRACT, DIFFERENCE, DIVIDE, MASK and BLEND is defined (src/stage/second/second.h), and BY,
 * the type of a number that it needs.
 *
 * KERNEL_samples: the second picture has the picture's channels, and the grid counts samples, in vectors as in
 * cl/point.cl. KERNEL_pixels: it has one channel for all colours, or alpha where the picture has none, or the other
 * way about, or it covers a part of the picture alone: of CH channels, at `left` and `top`, `wide` by `high` pixels.
 * A pixel of it is `step` samples, of which colour c is number c * next. The grid counts pixels. */
#include <alpha.cl>
#include <memory.cl>
#include <round.cl>
#if defined(SUBTRACT) && defined(SRC_IS_float)
#define COMBINED v - w
#elif defined(SUBTRACT) && defined(SRC_IS_short)
#define COMBINED CAT3(convert_short, LANES, _sat)(CONVERT(int, v) - CONVERT(int, w))
#elif defined(SUBTRACT)
#define COMBINED max(v, w) - w
#elif defined(DIFFERENCE) && defined(SRC_IS_float)
#define COMBINED fabs(v - w)
#elif defined(DIFFERENCE) && defined(SRC_IS_short)
#define COMBINED CAT3(convert_short, LANES, _sat)(max(CONVERT(int, v), CONVERT(int, w)) - min(CONVERT(int, v), CONVERT(int, w)))
#elif defined(DIFFERENCE)
#define COMBINED max(v, w) - min(v, w)
#elif defined(DIVIDE)
#define COMBINED WIDE_SATURATE(SRC, CONVERT(float, v) * w * by)
#elif defined(MASK) /* w is 0 or 255, BITS as wide as SRC, and ONES has a 1 in each of its bytes */
#define AS(type, v) CAT3(as_, type, LANES)(v)
#define COMBINED AS(SRC, (V(BITS))(AS(BITS, v) & CONVERT(BITS, w) * (BITS)ONES | ~(CONVERT(BITS, w) * (BITS)ONES) & (V(BITS))((BITS)by)))
#else /* BLEND, by so much of w */
#define COMBINED WIDE_SATURATE(SRC, CONVERT(float, v) + (CONVERT(float, w) - CONVERT(float, v)) * by)
#endif
#ifdef BY
#define BY_PARAMETER , BY by
#else
#define BY_PARAMETER
#endif

inline V(SRC) FN(combine)(V(SRC) v, V(WITH) w BY_PARAMETER)
{
    return (V(SRC))(COMBINED);
}

#ifdef KERNEL_samples
#ifdef BY
#define COMBINE(v, w) FN(combine)(v, w, by)
#else
#define COMBINE(v, w) FN(combine)(v, w)
#endif
#define ONE(x) (IS_ALPHA(ALPHA, x) ? THEN_ONE(in[x]) : FIRST(THEN(COMBINE((V(SRC))(in[x]), (V(WITH))(other[x])))))

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(OUT, dst), PLANE_IN(WITH, with) BY_PARAMETER THEN_PARAMETERS)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global const WITH *other = ROW(with, y);
    __global OUT *out = ROW(dst, y);
#ifdef FORM_VECTOR
    /* Planning chooses another form for rows shorter than a vector. */
    bool whole = x + SPAN <= grid_width;
    x = min(x, grid_width - SPAN);
    V(SRC) v = whole ? *(__global const V(SRC) *)(in + x) : CAT(vload, LANES)(0, in + x);
    V(WITH) w = whole ? *(__global const V(WITH) *)(other + x) : CAT(vload, LANES)(0, other + x);
    V(SRC) result = COMBINE(v, w);
    TAKE_ALPHA(ALPHA, result, v);
    if (whole)
        *(__global V(OUT) *)(out + x) = THEN(result);
    else
        CAT(vstore, LANES)(THEN(result), 0, out + x);
#elif LANES + 0
    int end = SPAN_END(x);
    if (end < LANES) {
        for (; x < end; x++)
            out[x] = ONE(x);
        return;
    }
    for (int i = x; i < end; i += LANES) {
        x = min(i, end - LANES);
        V(SRC) v = UNALIGNED_IN(SRC, LANES, in + x);
        V(SRC) result = COMBINE(v, UNALIGNED_IN(WITH, LANES, other + x));
        TAKE_ALPHA(ALPHA, result, v);
        UNALIGNED_OUT(OUT, LANES, out + x) = THEN(result);
    }
#else
    for (int end = SPAN_END(x); x < end; x++)
        out[x] = ONE(x);
#endif
}
#else
#ifdef MASK
#define KEEPS(c) 0
#else
#define KEEPS(c) (ALPHA && (c) == ALPHA - 1)
#endif
#ifdef BLEND
#define COMBINE(v, w, c) FN(combine)(v, w, share)
#define SHARE            float share = alpha < 0 ? by : (float)other[alpha] * by;
#define ALPHA_PARAMETER  , int alpha
#elif defined(MASK)
#define COMBINE(v, w, c) FN(combine)(v, w, (c) == 0 ? by : (c) == 1 ? by1 : (c) == 2 ? by2 : by3)
#define SHARE
#define ALPHA_PARAMETER , BY by1, BY by2, BY by3
#elif defined(BY)
#define COMBINE(v, w, c) FN(combine)(v, w, by)
#define SHARE
#define ALPHA_PARAMETER
#else
#define COMBINE(v, w, c) FN(combine)(v, w)
#define SHARE
#define ALPHA_PARAMETER
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(OUT, dst), PLANE_IN(WITH, with), int left, int top, int wide,
                     int high, int step, int next BY_PARAMETER ALPHA_PARAMETER THEN_PARAMETERS)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global OUT *out = ROW(dst, y);
    int end = SPAN_END(x), first = clamp(left, x, end), behind = clamp(left + wide, first, end);
    if (y < top || y >= top + high)
        first = behind = end;
    for (int i = x * CH; i < first * CH; i++)
        out[i] = THEN_ONE(in[i]);
    if (first < behind) {
        __global const WITH *other = ROW(with, y - top) + (first - left) * step;
        for (x = first; x < behind; x++, other += step) {
            SHARE
            for (int c = 0; c < CH; c++)
                out[x * CH + c] = KEEPS(c) ? THEN_ONE(in[x * CH + c]) : THEN_ONE(COMBINE(in[x * CH + c], other[c * next], c));
        }
    }
    for (int i = behind * CH; i < end * CH; i++)
        out[i] = THEN_ONE(in[i]);
}
#endif
