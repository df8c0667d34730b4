/* box of bytes with small windows, two samples in a word. `even` and `odd` are sums of columns over the window's height;
 * after each row of results one line is added and one is subtracted. Along x, t are sums of pairs of columns, s of two
 * pairs, and WINDOW_0 and WINDOW_1, which the pass defines, combine these to the windows of even and of odd results.
 * Signed samples become unsigned by adding 128. */
#include "packed_words.cl"
#define FLIPPED (FLIP * 0x80808080u)

#define LINE_EVEN(k) EVEN(lines[k] ^ FLIPPED)
#define LINE_ODD(k)  FN(odd)(lines[k] ^ FLIPPED)

struct FN(state) {
    uint8 even, odd;
};

INLINED void FN(begin)(struct FN(state) *state, const uint8 *lines)
{
    state->even = state->odd = 0;
    UNROLLED for (int k = 0; k < WINDOW; k++)
        state->even += LINE_EVEN(k), state->odd += LINE_ODD(k);
}

INLINED void FN(row)(struct FN(state) *state, const uint8 *lines, int i, OWN *v)
{
    uint8 e = state->even, o = state->odd, t = e + o, th = FN(moved)(t), s = t + th;
    uint8 p = FN(moved)(e), q = FN(moved)(o);
    v[0] = FN(quotients)(WINDOW_0 + TWICE(START), WINDOW_1 + TWICE(START)) ^ FLIPPED;
    if (i + 1 < ROWS) {
        state->even += LINE_EVEN(i + WINDOW) - LINE_EVEN(i);
        state->odd += LINE_ODD(i + WINDOW) - LINE_ODD(i);
    }
}
#include "packed.cl"
