/* sobel of bytes, two in a word. Sums of columns come first, because three gradients share each. */
#include "packed_words.cl"
#define BIAS TWICE(2048u) /* 8 · 256: makes gradients positive, and vanishes in the byte that is stored */

struct FN(state) {
    uint8 even[LINES], odd[LINES];
};

INLINED void FN(begin)(struct FN(state) *state, const uint8 *lines)
{
    UNROLLED for (int k = 0; k < LINES; k++)
    {
        state->even[k] = EVEN(lines[k]);
        state->odd[k] = FN(odd)(lines[k]);
    }
}

#pragma kernel l1 magnitude
/* The lower or the upper lane as a float with 2^23 added, which takes only an "or". Differences of two such floats
 * are right; CENTRED subtracts the 2^23, and the bias, from a gradient. */
#define LOW(v)     as_float(as_uint((ushort2)(as_ushort2(v).x, (ushort)0x4b00)))
#define HIGH(v)    as_float(as_uint((ushort2)(as_ushort2(v).y, (ushort)0x4b00)))
#define CENTRED(f) ((f) - (8388608.0f + 2048.0f))

/* The length of a gradient, in the lowest bits of a word. With LIMITED it may exceed 255.
 *
 * The magnitude m is sqrt(n) * scale with n = dx² + dy², rounded, halves up. At 1/8 it is the
 * largest m with m = 0 or (8m - 4)² <= n. With n + 3/2 in place of n there are no halves, and the
 * root of no n that two gradients can give is nearer to a half than 3 * 2^-23 of itself (no sum of
 * two squares is 1 or 2 less than a (8m - 4)²). The error of rsqrt is at most two units in the last
 * place, 2 * 2^-23, and that of the product half of one, so the result needs no correction. Other
 * powers of two have other numbers in place of 3/2 (`lift` in src/stage/sobel/sobel.c), and no
 * root up to where m is 255 is nearer than that, either; tests/stage/test_sobel.c tries the nearest
 * ones.
 *
 * At 1/8 no sum of absolute values has a result above 255. A sum times the scale lies `lift` or
 * more away from a half when `lift` has been added. */
inline uint FN(length)(float dx, float dy, float scale, float lift)
{
#pragma kernel l1
    float m = fma(fabs(dx) + fabs(dy), scale, lift) + ROUNDER;
#pragma kernel magnitude
    float n = mad(dx, dx, mad(dy, dy, lift)), root;
#ifdef HAS_PTX
    /* One instruction, with an error of at most 2^-23 of the root. Right for all possible gradients (tried on an
     * H200). */
    __asm__("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(n));
#else
    root = n * rsqrt(n);
#endif
    float m = fma(root, scale, ROUNDER);
#pragma kernel l1 magnitude
#ifdef LIMITED
    m = fmin(m, ROUNDER + 255.0f);
#endif
    return as_uint(m);
}

/* A word of lengths, from smoothed columns, as words of even and of odd samples: the odd ones of the word before, the
 * word's own, and the even ones of the word behind; and from vertical gradients. */
inline uint FN(word)(uint odd_before, uint even, uint odd, uint even_after, uint y0, uint y1 NUMBERS)
{
    float before = HIGH(odd_before), f0 = LOW(even), f1 = LOW(odd), f2 = HIGH(even), f3 = HIGH(odd);
    float after = LOW(even_after);
    uint a = FN(length)(f1 - before, CENTRED(LOW(y0)) GIVEN), b = FN(length)(f2 - f0, CENTRED(LOW(y1)) GIVEN);
    uint c = FN(length)(f3 - f1, CENTRED(HIGH(y0)) GIVEN), d = FN(length)(after - f2, CENTRED(HIGH(y1)) GIVEN);
    return as_uint((ushort2)((ushort)(a + (b << 8)), (ushort)(c + (d << 8))));
}
#pragma kernel

INLINED void FN(row)(struct FN(state) *state, const uint8 *lines, int i, OWN *v NUMBERS)
{
    const uint8 *e = state->even + i, *o = state->odd + i;
    uint8 even = e[0] + 2u * e[1] + e[2], odd = o[0] + 2u * o[1] + o[2];
    uint8 slope_even = e[0] - e[2] + TWICE(512u), slope_odd = o[0] - o[2] + TWICE(512u);
    OWN y0 = AT_m1(FN(moved)(slope_odd)) + 2u * AT_0(slope_even) + AT_0(slope_odd);
    OWN y1 = AT_0(slope_even) + 2u * AT_0(slope_odd) + AT_0(FN(moved)(slope_even));
#pragma kernel l1 magnitude
    UNROLLED for (int k = 0; k < WORDS; k++)
        WORD(*v, k) = FN(word)(WORD(odd, k + 1), WORD(even, k + 2), WORD(odd, k + 2), WORD(even, k + 3), WORD(y0, k),
                               WORD(y1, k) GIVEN);
#pragma kernel dx dy both sample
    OWN x0 = AT_0(odd) - AT_m1(FN(moved)(odd)) + BIAS, x1 = AT_0(FN(moved)(even)) - AT_0(even) + BIAS;
    v[0] = FN(bytes)(x0, x1, 3);
#pragma kernel dy both
    v[PLANES - 1] = FN(bytes)(y0, y1, 3);
#pragma kernel
}
#include "packed.cl"
