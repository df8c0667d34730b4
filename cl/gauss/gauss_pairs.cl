/* Sums of bytes for processors of x86, in front of gauss.cl's loops: one instruction multiplies and adds pairs. Lanes are as
 * the instructions that make and part them want them. */
#if LANES_AT_ONCE == 32
#define BITS 512
#define LOW  0, 32, 1, 33, 2, 34, 3, 35, 8, 40, 9, 41, 10, 42, 11, 43, 16, 48, 17, 49, 18, 50, 19, 51, 24, 56, 25, 57, 26, 58, 27, 59
#define HIGH 4, 36, 5, 37, 6, 38, 7, 39, 12, 44, 13, 45, 14, 46, 15, 47, 20, 52, 21, 53, 22, 54, 23, 55, 28, 60, 29, 61, 30, 62, 31, 63
#else
#define BITS 256
#define LOW  0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27
#define HIGH 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31
#endif
typedef VECTOR_OF(short) FN(wide);
typedef short __attribute__((vector_size(BITS / 8))) FN(shorts);
typedef int __attribute__((vector_size(BITS / 8))) FN(ints);
typedef int __attribute__((ext_vector_type(LANES_AT_ONCE / 2))) FN(sums);
struct FN(pairs) {
    FN(sums) low, high;
};
#define SUM_ALONG struct FN(pairs)
#define SUM_DOWN  struct FN(pairs)

inline FN(sums) FN(times)(FN(wide) v, FN(sums) w)
{
    return __builtin_astype(CAT(__builtin_ia32_pmaddwd, BITS)(__builtin_astype(v, FN(shorts)), __builtin_astype(w, FN(shorts))),
                            FN(sums));
}

inline void FN(add_along)(SUM_ALONG *sum, FN(wide) a, FN(wide) b, __global const WEIGHT *w)
{
    FN(sums) pair = *(__global const int *)w;
    sum->low += FN(times)(__builtin_shufflevector(a, b, LOW), pair);
    sum->high += FN(times)(__builtin_shufflevector(a, b, HIGH), pair);
}

inline FN(wide) FN(shifted)(SUM_ALONG sum, int bits)
{
    return __builtin_astype(CAT(__builtin_ia32_packssdw, BITS)(__builtin_astype(sum.low >> bits, FN(ints)),
                                                               __builtin_astype(sum.high >> bits, FN(ints))), FN(wide));
}

inline void FN(begin_along)(SUM_ALONG *sum)
{
    sum->low = sum->high = 1 << 7;
}

inline FN(middle_lanes) FN(of_along)(SUM_ALONG sum)
{
    return FN(shifted)(sum, 8);
}

inline void FN(begin_down)(SUM_DOWN *sum)
{
    sum->low = sum->high = 1 << 19;
}

inline void FN(add_down)(SUM_DOWN *sum, FN(wide) a, FN(wide) b, __global const WEIGHT *w)
{
    FN(add_along)(sum, a, b, w);
}

inline FN(out_lanes) FN(of_down)(SUM_DOWN sum)
{
    return __builtin_convertvector(FN(shifted)(sum, 20), FN(out_lanes));
}
