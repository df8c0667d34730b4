/* The movement of stages whose results come from small windows (src/stage/window.h), in every form. In front of it, behind
 * cl/numbers.cl, the stage's file has
 *
 *     LINE(j, AT)    what row j of a window gives, from 0: AT(i) is the sample of column i, where AT(0) stands above or below
 *                    the result's own
 *     JOIN(a, b)     two rows' together; a + b unless it is defined
 *     LINE_2, JOIN_2 the same of a second number, where one is not enough
 *     VALUE          the result, of `first` and `second`, which are what all rows gave
 *
 * j is a constant, so that `j % 4 == 0 ? … : …` costs nothing. What rows of several windows have in common is computed once in
 * `words` and `columns`: an expression of LINE that is the same for several rows, whatever it is multiplied by. Alpha is copied. */
#ifndef JOIN
#define JOIN(a, b) ((a) + (b))
#endif
#ifndef LINE_2
#define LINE_2(j, AT) LINE(j, AT)
#define JOIN_2(a, b)  JOIN(a, b)
#elif !defined JOIN_2
#define JOIN_2(a, b) ((a) + (b))
#endif
#define ADD_LINE(j, AT)                                                                            \
    if ((j) == 0)                                                                                  \
        first = LINE(j, AT), second = LINE_2(j, AT);                                               \
    else                                                                                           \
        first = JOIN(first, LINE(j, AT)), second = JOIN_2(second, LINE_2(j, AT));
inline N FN(value)(N first, N second)
{
    return VALUE;
}
#pragma kernel samples
#define VALUE_OF(first, second)  CONVERT(DST, FN(value)(first, second))
#define SECOND_OF(first, second) VALUE_OF(first, second)
#include "samples.cl"
#pragma kernel words
#include "bytes.cl"

/* What stands `place` samples behind even results: of the even and the odd samples of a line, and both moved by a lane. */
INLINED OWN FN(beside)(uint8 e, uint8 o, uint8 p, uint8 q, int place)
{
    int lane = (place + 16) / 2 - 8, word = (lane + 8) / 2 - 4;
    uint8 v = place & 1 ? (lane & 1 ? q : o) : (lane & 1 ? p : e);
    return word == -2 ? AT_m2(v) : word == -1 ? AT_m1(v) : word == 0 ? AT_0(v) : word == 1 ? AT_1(v) : AT_2(v);
}

struct FN(state) {
    OWN first[ROWS][2], second[ROWS][2]; /* of even results, and of odd ones */
};
#define LANE(i) FN(beside)(e[row + j], o[row + j], p[row + j], q[row + j], (i) * CH + odd)

INLINED void FN(begin)(struct FN(state) *state, const uint8 *lines)
{
    uint8 e[LINES], o[LINES], p[LINES], q[LINES];
    UNROLLED for (int k = 0; k < LINES; k++)
    {
        e[k] = EVEN(lines[k]), o[k] = FN(odd)(lines[k]);
        p[k] = FN(moved)(e[k]), q[k] = FN(moved)(o[k]);
    }
    UNROLLED for (int row = 0; row < ROWS; row++)
        UNROLLED for (int odd = 0; odd < 2; odd++)
        {
            N first = 0, second = 0;
            UNROLLED for (int j = 0; j < HIGH; j++)
            {
                ADD_LINE(j, LANE)
            }
            state->first[row][odd] = first, state->second[row][odd] = second;
        }
}

INLINED void FN(row)(struct FN(state) *state, const uint8 *lines, int i, OWN *v)
{
    OWN own = FN(bytes)(FN(value)(state->first[i][0], state->second[i][0]),
                        FN(value)(state->first[i][1], state->second[i][1]), 0);
    v[0] = (own & ~ALPHA_BYTES) | (AT_0(lines[i + TOP]) & ALPHA_BYTES);
}
#include "packed.cl"
#pragma kernel columns
inline float4 FN(beside)(float16 v, int place)
{
    return place == -4 ? AT_m4(v) : place == -3 ? AT_m3(v) : place == -2 ? AT_m2(v) : place == -1 ? AT_m1(v)
           : place == 0 ? AT_0(v) : place == 1 ? AT_1(v) : place == 2 ? AT_2(v) : place == 3 ? AT_3(v) : AT_4(v);
}
#define SAMPLE(i) FN(beside)(v, (i) * CH)
/* s0 … are of rows whose windows contain the current line, s0 of the lowest one, for which it is the first line. */
#define STATE float4 s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, t0 = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0, t5 = 0, t6 = 0;
#define TAKE(j, s, before, t, before_2)                                                            \
    s = JOIN(before, LINE(j, SAMPLE)), t = JOIN_2(before_2, LINE_2(j, SAMPLE));
#define TAKE_1 s0 = LINE(0, SAMPLE), t0 = LINE_2(0, SAMPLE);
#define TAKE_2 TAKE(1, s1, s0, t1, t0) TAKE_1
#define TAKE_3 TAKE(2, s2, s1, t2, t1) TAKE_2
#define TAKE_4 TAKE(3, s3, s2, t3, t2) TAKE_3
#define TAKE_5 TAKE(4, s4, s3, t4, t3) TAKE_4
#define TAKE_6 TAKE(5, s5, s4, t5, t4) TAKE_5
#define TAKE_7 TAKE(6, s6, s5, t6, t5) TAKE_6
#define ENTER(v)  CAT(TAKE_, HIGH)
#define LEAVE(v)
#define RESULT    BYTES(FN(value)(CAT(s, LAST), CAT(t, LAST)) + RESULTS)
#include "columns.cl"
#pragma kernel
