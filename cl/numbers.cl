/* The numbers in which a stage with a small window computes, so that one text serves every form. Behind this file stands
 * the stage's text, and behind that cl/window.cl, which says what it has. A number N is, as the pass's kernel says,
 *
 *     samples   on CPUs 16 shorts, ints or floats, on GPUs a vector of them or a single one
 *     words     bytes on GPUs that compute slower than they load: two lanes of 16 bits in a word (packed_words.cl)
 *     columns   bytes on Mali: four floats (columns_words.cl)
 *
 * Numbers are added and subtracted, a + b and a - b. A product is TIMES(k, a), for a whole constant k. In words no number that
 * LEAST, LARGEST or MEAN takes may be below 0; those that ABS and LIMITED take may be. Of f32 MEAN divides alone, and
 * LIMITED does nothing.
 *
 *     LEAST(a, b), LARGEST(a, b)   each of two; a and b may be single samples in `samples`
 *     ABS(a)
 *     MEAN(a, n)                   a / n, rounded to nearest, halves to even; n is a constant
 *     LIMITED(a)                   between the least and the largest sample
 */
#include <words.cl>
#define IS_POWER(n) (((n) & ((n) - 1)) == 0)
#define LOG_2(n)    ((n) / 2 % 2 + (n) / 4 % 2 * 2 + (n) / 8 % 2 * 3 + (n) / 16 % 2 * 4 + (n) / 32 % 2 * 5 + \
                     (n) / 64 % 2 * 6 + (n) / 128 % 2 * 7 + (n) / 256 % 2 * 8) /* of a power of two */
#pragma kernel samples
#define N V(WORK)
#define REALS V(float)
#define BITS_OF(m) CAT(as_int, LANES)(m)
#define TIMES(k, a) ((WORK)(k) * (a))
#pragma kernel words
#include "packed_words.cl"
#define N OWN
#define REALS CAT(float, WORDS)
#define BITS_OF(m) CAT(as_int, WORDS)(m)
#define TIMES(k, a) ((uint)(k) * (a))
#pragma kernel columns
#include "columns_words.cl"
#define N float4
#define REALS float4
#define BITS_OF(m) as_int4(m)
#define TIMES(k, a) ((float)(k) * (a))
#define LEAST    fmin
#define LARGEST  fmax
#define ABS      fabs
#define LIMITED(a) clamp(a, (float)DST_LEAST, (float)DST_MOST)
#pragma kernel

/* a / n, rounded, in the last bits of floats (ROUNDER). |a| is below 2^22: then no quotient that is not half a whole number is
 * rounded to one, and for an even n, where such are, the rest tells. */
inline REALS FN(nearest)(REALS a, int n)
{
    REALS m = fma(a, (REALS)(1.0f / (float)n), (REALS)(ROUNDER)), one = (REALS)(1.0f);
    REALS rest = fma(m - ROUNDER, (REALS)(-(float)n), a);
    if (n % 2 == 0 && !IS_POWER(n))
        m = fabs(rest) == (REALS)((float)(n / 2)) && (BITS_OF(m) & 1) ? m + (rest > (REALS)(0.0f) ? one : -one) : m;
    return m;
}
#define MEAN(a, n) FN(mean)(a, n)
#pragma kernel columns
inline N FN(mean)(N a, int n)
{
    return FN(nearest)(a, n) - ROUNDER;
}
#pragma kernel samples
#ifdef SRC_IS_float
#define LEAST       fmin
#define LARGEST     fmax
#define ABS         fabs
#define LIMITED(a)  (a)
inline N FN(mean)(N a, int n)
{
    return a * (1.0f / (float)n);
}
#else
#define LEAST       min
#define LARGEST     max
#define ABS(a)      max(a, -(a))
#define LIMITED(a)  clamp(a, (N)(WORK)DST_LEAST, (N)(WORK)DST_MOST)

inline N FN(mean)(N a, int n)
{
    if (!IS_POWER(n))
        return CONVERT(WORK, BITS_OF(FN(nearest)(CONVERT(float, a), n)) - as_int(ROUNDER));
    N shift = (N)(WORK)LOG_2(n), odd = a >> shift & (N)(WORK)1;
    return n == 1 ? a : (a + (N)(WORK)(n / 2 - 1) + odd) >> shift;
}
#endif
#pragma kernel words

/* Lanes that hold what two numbers' difference says: all bits where a is not less. */
inline N FN(where_not_less)(N a, N b)
{
    return (((a | TWICE(0x8000u)) - b) >> 15 & TWICE(1u)) * 0xffffu;
}

inline N FN(lesser)(N a, N b)
{
    N mask = FN(where_not_less)(a, b);
    return (a & ~mask) | (b & mask);
}

inline N FN(larger)(N a, N b)
{
    N mask = FN(where_not_less)(a, b);
    return (b & ~mask) | (a & mask);
}

/* Lanes that may be below 0 are brought above it, and their signs taken off again. */
inline N FN(absolute)(N a)
{
    N c = a + TWICE(0x8000u), below = ~c >> 15 & TWICE(1u);
    return (c ^ TWICE(0x8000u) ^ below * 0xffffu) + below;
}

/* Bit 15 tells first which lanes are not below 0, then which are above 255. */
inline N FN(limited)(N a)
{
    N c = a + TWICE(0x8000u);
    c &= (c >> 15 & TWICE(1u)) * 0x7fffu;
    return (c | ((c + TWICE(0x7f00u)) >> 15 & TWICE(1u)) * 0xffu) & TWICE(0xffu);
}

inline N FN(mean)(N a, int n)
{
    if (!IS_POWER(n)) {
        REALS low = CAT(convert_float, WORDS)(a & 0xffffu), high = CAT(convert_float, WORDS)(a >> 16);
        low = FN(nearest)(low, n), high = FN(nearest)(high, n);
        return (CAT(as_uint, WORDS)(low) & 0xffffu) | CAT(as_uint, WORDS)(high) << 16;
    }
    uint shift = LOG_2(n);
    return n == 1 ? a : (a + TWICE(n / 2 - 1u) + (a >> shift & TWICE(1u))) >> shift & TWICE(0xffffu >> shift);
}
#define LEAST      FN(lesser)
#define LARGEST    FN(larger)
#define ABS        FN(absolute)
#define LIMITED(a) FN(limited)(a)
#pragma kernel
