/* erode and dilate of bytes in small windows: all four bytes of a word are compared at once (cl/bytes.cl). First
 * down columns, DOWNS, which makes of the lines the words r of each row; then along rows, ACROSS, which makes of these, as
 * t, what RESULT takes the results from. */
#include "packed_words.cl"
#include "bytes.cl"
#define BETTER_OWN CAT(FN(better_), WORDS)
/* Words k further. */
#define FROM_0(t) (t)
#define FROM_1(t) (uint8)((t).s1234, (t).s56, (t).s7, 0u)
#define FROM_2(t) (uint8)((t).s2345, (t).s67, 0u, 0u)

struct FN(state) {
    uint8 r[ROWS];
};

INLINED void FN(begin)(struct FN(state) *state, const uint8 *w)
{
    uint8 a[LINES], b[LINES], *r = state->r;
    DOWNS
}

INLINED void FN(row)(struct FN(state) *state, const uint8 *lines, int i, OWN *v)
{
    uint8 t = state->r[i];
    ACROSS
    OWN own = RESULT;
    v[0] = (own & ~ALPHA_BYTES) | (AT_0(lines[i + TOP]) & ALPHA_BYTES);
}
#include "packed.cl"
