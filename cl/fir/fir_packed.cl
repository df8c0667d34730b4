/* fir of bytes, two in a word. TAPS is a text of T(j, v0, at0, v1, at1, k) for each coefficient k of row j of the window: the
 * words at0 of vector v0 are multiplied for even results, and words at1 of v1 for odd ones. Vectors are the even samples
 * of a line, e, the odd ones, o, and both moved by one lane, p and q. If the window is the product of a column and a row,
 * ACROSS is the row's T, and DOWNS the column's D. */
#include <quotient.cl>
#include "packed_words.cl"
#define T(j, v0, at0, v1, at1, k)                                                                  \
    s0 += (uint)(k) * at0(v0[i + j]);                                                              \
    s1 += (uint)(k) * at1(v1[i + j]);
#define D(j, k) s0 += (uint)(k) * state->even[i + j], s1 += (uint)(k) * state->odd[i + j];

#ifdef DOWNS
struct FN(state) {
    OWN even[LINES], odd[LINES]; /* sums along the lines */
};
#else
struct FN(state) {
    uint8 e[LINES], o[LINES], p[LINES], q[LINES];
};
#endif

INLINED void FN(begin)(struct FN(state) *state, const uint8 *lines)
{
#ifdef DOWNS
    uint8 e[LINES], o[LINES], p[LINES], q[LINES];
#else
    uint8 *e = state->e, *o = state->o, *p = state->p, *q = state->q;
#endif
    UNROLLED for (int i = 0; i < LINES; i++)
    {
        e[i] = EVEN(lines[i]), o[i] = FN(odd)(lines[i]);
        p[i] = FN(moved)(e[i]), q[i] = FN(moved)(o[i]);
#ifdef DOWNS
        OWN s0 = 0, s1 = 0;
        ACROSS
        state->even[i] = s0, state->odd[i] = s1;
#endif
    }
}

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
    return FN(bytes)(s0, s1, 0);
#else
    return FN(bytes)(s0, s1, SHIFT);
#endif
#elif defined(MULTIPLIER)
    return FN(quotients)(s0, s1);
#else
    V(NUM) n;
    n.even.even = s0 & 0xffffu, n.odd.even = s1 & 0xffffu;
    n.even.odd = s0 >> 16, n.odd.odd = s1 >> 16;
    return CAT(as_uint, WORDS)(EXACT_RESULT(n));
#endif
}

INLINED void FN(row)(struct FN(state) *state, const uint8 *lines, int i, OWN *v)
{
    OWN s0 = TWICE(START), s1 = TWICE(START);
#ifdef DOWNS
    DOWNS
#else
    const uint8 *e = state->e, *o = state->o, *p = state->p, *q = state->q;
    TAPS
#endif
    v[0] = FN(finish)(s0, s1);
}
#include "packed.cl"
