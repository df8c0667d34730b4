/* The movement of small windows in vectors, on CPUs and GPUs, and in single samples, at the plane's edges and where there are
 * no vectors. In front of it a stage's file has (cl/window.cl for those whose arithmetic is one text)
 *
 *     HIGH, WIDE, TOP, LEFT, RIGHT   the window's size, and how far it reaches from the result's own pixel
 *     WORK, N, ONE                   the type of numbers, of a vector of them, and of a single one
 *     ADD_LINE(j, AT)                takes row j into the numbers `first` and `second`; AT(i) is the sample at column i
 *     VALUE_OF(first, second), SECOND_OF  the result of two N, a V(DST); that of the second plane, if there are two
 *
 * and may say itself what it makes of a window: TAKE_WINDOW(TYPE, AT) declares what VALUE_OF takes, of numbers TYPE, and has
 * EACH_LINE(AT) in it, where all rows are taken. It may have vectors of its own: WHOLE_VECTOR computes SAMPLES_AT_ONCE results
 * at x, and stores them. Sample i of a window's row j is at R(j, i).
 *
 * `step` is the number of channels, as an argument. With a constant LLVM would keep loaded samples for the next pixel, and then
 * could not vectorise the loop over single ones (with PoCL 3.1: 17 ms instead of 2.3 ms). */
#include <alpha.cl>
#include <border.cl>
#include <memory.cl>
#include <shift.cl>
#pragma form VECTOR
#define R(j, i) PLACE(src, i, rows[j]) /* centre_x is 0 */
#pragma form SCALAR
#define R(j, i) PLACE(src, centre_x * CH + (i), rows[j])
#pragma form ROWS
#define R(j, i) (ROW(src, rows[j]) + centre_x * CH + (i))
#pragma form
#define IN_REACH(i, n) (HIGH > 3 || WIDE > 3 ? border_near(i, n, border) : border_beside(i, n, border))
/* All lines, written out: Mesa's compiler for Mali would not unroll a loop over them. */
#define LINE_OF(k, AT)                                                                             \
    {                                                                                              \
        const int j = k;                                                                           \
        ADD_LINE(k, AT)                                                                            \
    }
#define LINES_1(AT)   LINE_OF(0, AT)
#define LINES_2(AT)   LINES_1(AT) LINE_OF(1, AT)
#define LINES_3(AT)   LINES_2(AT) LINE_OF(2, AT)
#define LINES_4(AT)   LINES_3(AT) LINE_OF(3, AT)
#define LINES_5(AT)   LINES_4(AT) LINE_OF(4, AT)
#define LINES_6(AT)   LINES_5(AT) LINE_OF(5, AT)
#define LINES_7(AT)   LINES_6(AT) LINE_OF(6, AT)
#define EACH_LINE(AT) CAT(LINES_, HIGH)(AT)
#ifndef TAKE_WINDOW
#define TAKE_WINDOW(TYPE, AT)                                                                      \
    TYPE first = 0, second = 0;                                                                    \
    EACH_LINE(AT)
#endif
/* The sample of column i, for a vector: a whole vector of that place, or the two that hold it. (Without a compiler's optimiser,
 * too: behind a whole one the plane may end.) */
#pragma form VECTOR
#define SHIFT(i)   (((i) * CH) + 8 * LANES) /* counted from 8 vectors in front */
#define PLACED(j, i, k) ((__global const V(SRC) *)R(j, x))[SHIFT(i) / LANES - 8 + (k)]
#define LOADED(j, i)  VECTOR_SHIFT(LANES, SHIFT(i) % LANES, SRC, PLACED(j, i, 0), PLACED(j, i, SHIFT(i) % LANES > 0))
#define STORE(v, p) *(__global V(OUT) *)(p) = v
#pragma form ROWS
#define LOADED(j, i) UNALIGNED_IN(SRC, LANES, R(j, x + (i) * CH))
#define STORE(v, p) UNALIGNED_OUT(OUT, LANES, p) = v
#pragma form
#ifndef WHOLE_VECTOR
#define SAMPLES_AT_ONCE LANES
#define NUMBER(i) CONVERT(WORK, LOADED(j, i))
#define WHOLE_VECTOR                                                                               \
    TAKE_WINDOW(N, NUMBER)                                                                         \
    V(DST) v = VALUE_OF(first, second);                                                            \
    TAKE_ALPHA(ALPHA, v, LOADED(TOP, 0));                                                          \
    STORE_BOTH(v, first, second)
#endif
#define STORE_BOTH(v, first, second)                                                               \
    STORE(THEN(v), out + x);                                                                       \
    if (PLANES == 2)                                                                               \
        STORE(SECOND_OF(first, second), out2 + x);
/* What is loaded, or a zero in its place: not FETCH, because what one of several lines loads under a condition, none of the
 * others has. */
#define FETCHED(i)                                                                                 \
    FN(fetched)((ONE)ROW(src, max(rows[j], 0))[max(columns[(i) + LEFT], 0) * CH + c], (columns[(i) + LEFT] | rows[j]) < 0)
inline ONE FN(fetched)(ONE v, bool is_zero)
{
    return is_zero ? 0 : v;
}
#define POINTED(i) (ONE)*R(j, own + (i) * step)
#define ONE_RESULT(own)                                                                            \
    DST v = FIRST(VALUE_OF((N)(WORK)first, (N)(WORK)second));                                      \
    out[x] = THEN_ONE(IS_ALPHA(ALPHA, x) ? (DST)(own) : v);                                        \
    if (PLANES == 2)                                                                               \
        out2[x] = FIRST(SECOND_OF((N)(WORK)first, (N)(WORK)second));

/* The grid counts samples of the result, of which a pixel has DST_CH. Pixel (0, 0) has the source's (centre_x, centre_y) in
 * its window's middle. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), OUTPUTS, int width, int height, int border, int centre_x, int centre_y,
                     int step NUMBERS THEN_PARAMETERS)
{
    POSITION(x, y)
    int end = SPAN_END(x), rows[HIGH];
    __global OUT *out = ROW(dst, y), *out2 = LAST_OUTPUT(y);
    UNROLLED for (int j = 0; j < HIGH; j++)
        rows[j] = source_row(y + centre_y - TOP + j, IN_REACH(y + centre_y - TOP + j, height), RING);
    /* Positions whose window lies inside; none if a row of it is of zeros, as the first or the last is then. */
    int inner = (rows[0] | rows[HIGH - 1]) < 0 ? end : max((LEFT - centre_x) * DST_CH, x);
    int inner_end = min((width - RIGHT - centre_x) * DST_CH, end);
#pragma form VECTOR
    bool fits = x == inner && x + LANES == inner_end;
    inner = end = fits ? x : end;
#pragma form
#ifdef FORM_ROWS
#if LANES + 0
    int begin = x;
    if (inner + SAMPLES_AT_ONCE > inner_end)
        inner = inner_end = end;
    for (x = inner; x < inner_end; x += SAMPLES_AT_ONCE) {
        x = min(x, inner_end - SAMPLES_AT_ONCE);
        WHOLE_VECTOR
    }
    x = begin;
#endif
#endif
    while (x < end) {
        for (int until = min(inner, end); x < until; x++) {
            int px = x / DST_CH + centre_x, c = x % DST_CH, columns[WIDE];
            UNROLLED for (int i = 0; i < WIDE; i++)
                columns[i] = i == LEFT ? px : IN_REACH(px + i - LEFT, width);
            TAKE_WINDOW(ONE, FETCHED)
            ONE_RESULT(FETCH(src, px, CH, rows[TOP], c))
        }
#if LANES + 0
        x = max(inner_end, x);
#else
        for (; x < inner_end; x++) {
            int own = DST_CH == CH ? x : x / DST_CH * CH + x % DST_CH;
            TAKE_WINDOW(ONE, POINTED)
            ONE_RESULT(*R(TOP, own))
        }
#endif
        inner = end; /* what is left is the other edge */
    }
#pragma form VECTOR
    if (fits) { /* behind the loop: in front of it, with a return, Mesa's compiler for Mali would need more registers */
        WHOLE_VECTOR
    }
#pragma form
}
