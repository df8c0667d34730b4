/* A vector of n samples that is not aligned, from two aligned ones: it begins k samples behind the first of `a`, which `b`
 * follows. k is a constant. */
#define DEFINE_SHIFT(type)                                                                         \
    inline type##4 shift_##type##_4(type##4 a, type##4 b, int k)                                   \
    {                                                                                              \
        return k == 0   ? a                                                                        \
               : k == 1 ? (type##4)(a.s12, a.s3, b.s0)                                             \
               : k == 2 ? (type##4)(a.s23, b.s01)                                                  \
               : k == 3 ? (type##4)(a.s3, b.s01, b.s2)                                             \
                        : b;                                                                       \
    }                                                                                              \
    inline type##8 shift_##type##_8(type##8 a, type##8 b, int k)                                   \
    {                                                                                              \
        type##4 first = k < 4 ? a.lo : a.hi, second = k < 4 ? a.hi : b.lo, third = k < 4 ? b.lo : b.hi; \
        return (type##8)(shift_##type##_4(first, second, k % 4), shift_##type##_4(second, third, k % 4)); \
    }                                                                                              \
    inline type##16 shift_##type##_16(type##16 a, type##16 b, int k)                               \
    {                                                                                              \
        type##8 first = k < 8 ? a.lo : a.hi, second = k < 8 ? a.hi : b.lo, third = k < 8 ? b.lo : b.hi; \
        return (type##16)(shift_##type##_8(first, second, k % 8), shift_##type##_8(second, third, k % 8)); \
    }
DEFINE_SHIFT(uchar) DEFINE_SHIFT(char) DEFINE_SHIFT(ushort) DEFINE_SHIFT(short) DEFINE_SHIFT(int) DEFINE_SHIFT(float)
#define VECTOR_SHIFT(n, k, type, a, b) CAT4(shift_, type, _, n)(a, b, k)

/* The vector of n samples one pixel (`ch` samples) before, or after, the aligned vector c. p is the vector before
 * c, and a the one after it. */
#define VECTOR_BEFORE(n, ch, type, p, c) VECTOR_SHIFT(n, (n) - (ch), type, p, c)
#define VECTOR_AFTER(n, ch, type, c, a)  VECTOR_SHIFT(n, ch, type, c, a)
