/* erode and dilate of bytes in small windows: all four bytes of a word are compared at once (cl/bytes.cl), first down
 * columns, then along rows. */
#include "packed_words.cl"
#include "bytes.cl"
#define WORDS_OF_ROW uint8
#define NEXT(t)      (uint8)((t).s1234, (t).s567, 0u)
#define BETTER(t, v) FN(better_8)(t, v)
#define FRONT        8
#include "morph_along.cl"

struct FN(state) {
    uint8 rows[ROWS]; /* the best down each row's window */
};

/* front[i] are the best of line i and those behind it in the first window, behind[i] of the lines behind that window, or a
 * later one that begins where another has ended, and in front of line i + 1. */
INLINED void FN(begin)(struct FN(state) *state, const uint8 *lines)
{
    uint8 front[LINES], behind[LINES];
    front[HIGH - 1] = lines[HIGH - 1];
    UNROLLED for (int i = HIGH - 2; i >= 0; i--)
        front[i] = BETTER(lines[i], front[i + 1]);
    UNROLLED for (int i = HIGH; i < LINES; i++)
        behind[i] = i % HIGH == 0 ? lines[i] : BETTER(behind[i - 1], lines[i]);
    UNROLLED for (int i = 0; i < ROWS; i++)
        state->rows[i] = i == 0          ? front[0]
                         : i % HIGH == 0 ? behind[i + HIGH - 1]
                                         : BETTER(i < HIGH ? front[i] : lines[i], behind[i + HIGH - 1]);
}

INLINED void FN(row)(struct FN(state) *state, const uint8 *lines, int i, OWN *v)
{
    OWN own = AT_m2(FN(along)(state->rows[i]));
    v[0] = (own & ~ALPHA_BYTES) | (AT_0(lines[i + TOP]) & ALPHA_BYTES);
}
#include "packed.cl"
