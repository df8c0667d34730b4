/* Arithmetic of two pictures: of a sample v and the sample w at the same place of a second picture, which stays the
 * same for all frames, and has the picture's channels. A kernel for each operation; `shares` is blend of a second picture
 * with alpha.
 *
 * `extra` is a third plane, of type EXTRA: of mask what stands where w is 0, of `shares` the second picture's alpha,
 * which, times `by`, says how much of w there is; otherwise nothing is read from it. Of blend the second picture
 * lies at sample `left` and row `top`, `wide` samples by `high` rows, and what it does not cover stays.
 *
 * The grid counts samples, in vectors as in cl/point.cl. */
#include <alpha.cl>
#include <memory.cl>
#include <round.cl>
#pragma kernel blend shares
#define FIRST_COVERED (y >= top && y < top + high ? left : grid_width)
#define BEHIND        (left + wide)
#define ROW_COVERED   (y - top)
#define LEFT          left
#pragma kernel subtract difference divide mask
#define FIRST_COVERED 0
#define BEHIND        grid_width
#define ROW_COVERED   y
#define LEFT          0

/* COMBINED: what becomes of v, by its type where it matters. */
#pragma kernel subtract difference
#define COMBINED     CAT(OF_, SRC)
#define OF_ushort    OF_uchar
#define TO_SHORTS(v) CAT3(convert_short, LANES, _sat)(v)
#pragma kernel subtract
#define OF_float (v - w)
#define OF_short TO_SHORTS(CONVERT(int, v) - CONVERT(int, w))
#define OF_uchar (max(v, w) - w)
#pragma kernel difference
#define OF_float fabs(v - w)
#define OF_short TO_SHORTS(max(CONVERT(int, v), CONVERT(int, w)) - min(CONVERT(int, v), CONVERT(int, w)))
#define OF_uchar (max(v, w) - min(v, w))
#pragma kernel divide
#define COMBINED WIDE_SATURATE(SRC, CONVERT(float, v) * w * by)
#pragma kernel mask
/* w is 0 or 255, BITS as wide as SRC, and ONES has a 1 in each of its bytes. */
#define AS(type, v) CAT3(as_, type, LANES)(v)
#define KEPT        (CONVERT(BITS, w) * (BITS)ONES)
#define COMBINED    AS(SRC, (V(BITS))(AS(BITS, v) & KEPT | ~KEPT & AS(BITS, extra)))
#pragma kernel blend
#define COMBINED WIDE_SATURATE(SRC, CONVERT(float, v) + (CONVERT(float, w) - CONVERT(float, v)) * by)
#pragma kernel shares
#define COMBINED                                                                                   \
    WIDE_SATURATE(SRC, CONVERT(float, v) + (CONVERT(float, w) - CONVERT(float, v)) * (CONVERT(float, extra) * by))
#pragma kernel
inline V(SRC) FN(combine)(V(SRC) v, V(WITH) w, V(EXTRA) extra, float by)
{
    return COMBINED;
}

/* Sample x of the result. */
#define ONE(x) (IS_ALPHA(ALPHA, x) ? THEN_ONE(in[x]) : FIRST(THEN(FN(combine)((V(SRC))(in[x]), (V(WITH))(other[x]), (V(EXTRA))(third[x]), by))))

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(OUT, dst), PLANE_IN(WITH, with), PLANE_IN(EXTRA, extra), float by,
                     int left, int top, int wide, int high THEN_PARAMETERS)
{
    POSITION(x, y)
    int first = FIRST_COVERED, behind = BEHIND;
    __global const SRC *in = ROW(src, y);
    __global OUT *out = ROW(dst, y);
    /* Where sample 0 of the row would lie. */
    __global const WITH *other = ROW(with, ROW_COVERED) - LEFT;
    __global const EXTRA *third = ROW(extra, ROW_COVERED) - LEFT;
#pragma form VECTOR
    /* Planning chooses another form for rows shorter than a vector. */
    bool whole = x + SPAN <= grid_width;
    x = min(x, grid_width - SPAN);
    if ((x < first || x + SPAN > behind) && x < behind && x + SPAN > first) { /* covered in part */
        for (int end = x + SPAN; x < end; x++)
            out[x] = x >= first && x < behind ? ONE(x) : THEN_ONE(in[x]);
        return;
    }
    V(SRC) v = whole ? *(__global const V(SRC) *)(in + x) : CAT(vload, LANES)(0, in + x), result = v;
    if (x >= first && x < behind) {
        bool aligned = whole && (LEFT & (SPAN - 1)) == 0;
        V(WITH) w = aligned ? *(__global const V(WITH) *)(other + x) : CAT(vload, LANES)(0, other + x);
        V(EXTRA) e = aligned ? *(__global const V(EXTRA) *)(third + x) : CAT(vload, LANES)(0, third + x);
        result = FN(combine)(v, w, e, by);
        TAKE_ALPHA(ALPHA, result, v);
    }
    if (whole)
        *(__global V(OUT) *)(out + x) = THEN(result);
    else
        CAT(vstore, LANES)(THEN(result), 0, out + x);
#pragma form ROWS SCALAR
    int end = SPAN_END(x);
    first = clamp(first, x, end), behind = clamp(behind, first, end);
    for (; x < first; x++)
        out[x] = THEN_ONE(in[x]);
#pragma form ROWS
    for (int i = x; behind - first >= LANES && i < behind; i += LANES) {
        x = min(i, behind - LANES);
        V(SRC) v = UNALIGNED_IN(SRC, LANES, in + x);
        V(SRC) result = FN(combine)(v, UNALIGNED_IN(WITH, LANES, other + x), UNALIGNED_IN(EXTRA, LANES, third + x), by);
        TAKE_ALPHA(ALPHA, result, v);
        UNALIGNED_OUT(OUT, LANES, out + x) = THEN(result);
        x += LANES;
    }
#pragma form ROWS SCALAR
    for (; x < behind; x++)
        out[x] = ONE(x);
    for (; x < end; x++)
        out[x] = THEN_ONE(in[x]);
#pragma form
}
