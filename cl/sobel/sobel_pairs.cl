/* Lengths of bytes on native for x86, whose root is exact, 32 samples at a time, in front of sobel.cl's kernel. Most of a
 * magnitude's time goes into the root.
 *
 * x86 multiplies bytes that lie side by side and adds the two products. So a left sample is put beside its right one, and one
 * below beside that above; dX and dY then lie side by side to be squared. Vectors are put together in parts of 16 bytes, which
 * packing undoes, so that samples keep their order. */
#ifdef __AVX2__
#define PART        32
#define BITS        256
#define SHORTS      short16
#define INTS        int8
#define REALS      float8
#define LOW_BYTES   ZIP_8(0, 32), ZIP_8(16, 32)
#define HIGH_BYTES  ZIP_8(8, 32), ZIP_8(24, 32)
#define LOW_SHORTS  ZIP_4(0, 16), ZIP_4(8, 16)
#define HIGH_SHORTS ZIP_4(4, 16), ZIP_4(12, 16)
#else
#define PART        16
#define BITS        128
#define SHORTS      short8
#define INTS        int4
#define REALS      float4
#define LOW_BYTES   ZIP_8(0, 16)
#define HIGH_BYTES  ZIP_8(8, 16)
#define LOW_SHORTS  ZIP_4(0, 8)
#define HIGH_SHORTS ZIP_4(4, 8)
#endif
#define ZIP_4(k, n) (k), (k) + (n), (k) + 1, (k) + 1 + (n), (k) + 2, (k) + 2 + (n), (k) + 3, (k) + 3 + (n)
#define ZIP_8(k, n) ZIP_4(k, n), ZIP_4((k) + 4, n)
#define OF_X86(name) CAT3(__builtin_ia32_, name, BITS)
typedef char FN(chars) __attribute__((vector_size(PART)));
typedef char FN(any_chars) __attribute__((vector_size(PART), aligned(1)));
typedef short FN(shorts) __attribute__((vector_size(PART)));
typedef int FN(ints) __attribute__((vector_size(PART)));
inline FN(chars) FN(chars_at)(__global const SRC *at)
{
    return *(__global const FN(any_chars) *)at;
}

inline FN(chars) FN(weights)(int first, int second)
{
    return __builtin_astype((SHORTS)((short)((first & 255) | second * 256)), FN(chars));
}

#pragma kernel l1
inline FN(shorts) FN(lengths)(SHORTS dx, SHORTS dy NUMBERS)
{
    CAT(u, SHORTS) n = CAT(as_u, SHORTS)(max(dx, -dx) + max(dy, -dy));
    n = min(((n << (ushort)up) + (ushort)half_of) >> (ushort)down, (CAT(u, SHORTS))DST_MAX);
    return __builtin_astype(n, FN(shorts));
}
#pragma kernel magnitude
/* The length of dX and dY that lie side by side, times the scale and rounded. */
inline FN(ints) FN(roots)(SHORTS d, float scale)
{
#pragma OPENCL FP_CONTRACT ON /* either rounding gives the same result */
    FN(shorts) pairs = __builtin_astype(d, FN(shorts));
    INTS n = __builtin_astype(OF_X86(pmaddwd)(pairs, pairs), INTS);
    return __builtin_astype(CAT(convert_, INTS)(sqrt(CAT(convert_, REALS)(n)) * scale + 0.5f), FN(ints));
}

inline FN(shorts) FN(lengths)(SHORTS dx, SHORTS dy NUMBERS)
{
    return OF_X86(packssdw)(FN(roots)(__builtin_shufflevector(dx, dy, LOW_SHORTS), scale),
                            FN(roots)(__builtin_shufflevector(dx, dy, HIGH_SHORTS), scale));
}
#pragma kernel

inline FN(chars) FN(part_at)(__global const SRC *r0, __global const SRC *r1, __global const SRC *r2,
                             int x NUMBERS)
{
    FN(chars) l0 = FN(chars_at)(r0 + x - CH), l1 = FN(chars_at)(r1 + x - CH), l2 = FN(chars_at)(r2 + x - CH);
    FN(chars) m0 = FN(chars_at)(r0 + x), m2 = FN(chars_at)(r2 + x);
    FN(chars) r_0 = FN(chars_at)(r0 + x + CH), r_1 = FN(chars_at)(r1 + x + CH), r_2 = FN(chars_at)(r2 + x + CH);
    FN(chars) once = FN(weights)(-1, 1), twice = FN(weights)(-2, 2), both = FN(weights)(1, 1);
#define PAIR_SUMS(a, b, weights, ...)                                                              \
    __builtin_astype(OF_X86(pmaddubsw)(__builtin_shufflevector(a, b, __VA_ARGS__), weights), SHORTS)
#define LENGTHS(...)                                                                               \
    FN(lengths)(PAIR_SUMS(l0, r_0, once, __VA_ARGS__) + PAIR_SUMS(l2, r_2, once, __VA_ARGS__) +    \
                    PAIR_SUMS(l1, r_1, twice, __VA_ARGS__),                                        \
                PAIR_SUMS(l0, r_0, both, __VA_ARGS__) - PAIR_SUMS(l2, r_2, both, __VA_ARGS__) +    \
                    PAIR_SUMS(m2, m0, twice, __VA_ARGS__) GIVEN)
    return OF_X86(packuswb)(LENGTHS(LOW_BYTES), LENGTHS(HIGH_BYTES));
}

inline ushort16 FN(pairs_at)(__global const SRC *r0, __global const SRC *r1, __global const SRC *r2,
                             int x NUMBERS)
{
#if PART == 32
    return __builtin_astype(FN(part_at)(r0, r1, r2, x GIVEN), ushort16);
#else
    ushort16 v;
    v.lo = __builtin_astype(FN(part_at)(r0, r1, r2, x GIVEN), ushort8);
    v.hi = __builtin_astype(FN(part_at)(r0, r1, r2, x + PART GIVEN), ushort8);
    return v;
#endif
}
