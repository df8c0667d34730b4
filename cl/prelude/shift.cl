/* A vector of n samples that is not aligned, from two aligned ones: it begins k samples behind the first of `a`,
 * which `b` follows. */
#define SHIFT_4_0(V, a, b) (a)
#define SHIFT_4_4(V, a, b) (b)
#define SHIFT_8_0(V, a, b) (a)
#define SHIFT_16_0(V, a, b) (a)
#define SHIFT_4_1(V, a, b) (V)((a).s12, (a).s3, (b).s0)
#define SHIFT_4_2(V, a, b) (V)((a).s23, (b).s01)
#define SHIFT_4_3(V, a, b) (V)((a).s3, (b).s01, (b).s2)
#define SHIFT_8_1(V, a, b) (V)((a).s1234, (a).s56, (a).s7, (b).s0)
#define SHIFT_8_2(V, a, b) (V)((a).s2345, (a).s67, (b).s01)
#define SHIFT_8_3(V, a, b) (V)((a).s3456, (a).s7, (b).s01, (b).s2)
#define SHIFT_8_4(V, a, b) (V)((a).s4567, (b).s0123)
#define SHIFT_8_5(V, a, b) (V)((a).s56, (a).s7, (b).s0123, (b).s4)
#define SHIFT_8_6(V, a, b) (V)((a).s67, (b).s0123, (b).s45)
#define SHIFT_8_7(V, a, b) (V)((a).s7, (b).s0123, (b).s45, (b).s6)
#define SHIFT_16_1(V, a, b) (V)((a).s12345678, (a).s9abc, (a).sde, (a).sf, (b).s0)
#define SHIFT_16_2(V, a, b) (V)((a).s23456789, (a).sabcd, (a).sef, (b).s01)
#define SHIFT_16_3(V, a, b) (V)((a).s3456789a, (a).sbcde, (a).sf, (b).s01, (b).s2)
#define SHIFT_16_4(V, a, b) (V)((a).s456789ab, (a).scdef, (b).s0123)
#define SHIFT_16_5(V, a, b) (V)((a).s56789abc, (a).sde, (a).sf, (b).s0123, (b).s4)
#define SHIFT_16_6(V, a, b) (V)((a).s6789abcd, (a).sef, (b).s0123, (b).s45)
#define SHIFT_16_7(V, a, b) (V)((a).s789abcde, (a).sf, (b).s0123, (b).s45, (b).s6)
#define SHIFT_16_8(V, a, b) (V)((a).s89abcdef, (b).s01234567)
#define SHIFT_16_9(V, a, b) (V)((a).s9abc, (a).sde, (a).sf, (b).s01234567, (b).s8)
#define SHIFT_16_10(V, a, b) (V)((a).sabcd, (a).sef, (b).s01234567, (b).s89)
#define SHIFT_16_11(V, a, b) (V)((a).sbcde, (a).sf, (b).s01234567, (b).s89, (b).sa)
#define SHIFT_16_12(V, a, b) (V)((a).scdef, (b).s01234567, (b).s89ab)
#define SHIFT_16_13(V, a, b) (V)((a).sde, (a).sf, (b).s01234567, (b).s89ab, (b).sc)
#define SHIFT_16_14(V, a, b) (V)((a).sef, (b).s01234567, (b).s89ab, (b).scd)
#define SHIFT_16_15(V, a, b) (V)((a).sf, (b).s01234567, (b).s89ab, (b).scd, (b).se)
#define VECTOR_SHIFT(n, k, V, a, b) CAT4(SHIFT_, n, _, k)(V, a, b)

/* The vector of n samples one pixel (`ch` samples) before, or after, the aligned vector c. p is the vector before
 * c, and a the one after it. */
#define BEFORE_4_1  3
#define BEFORE_4_2  2
#define BEFORE_4_3  1
#define BEFORE_4_4  0
#define BEFORE_8_1  7
#define BEFORE_8_2  6
#define BEFORE_8_3  5
#define BEFORE_8_4  4
#define BEFORE_16_1 15
#define BEFORE_16_2 14
#define BEFORE_16_3 13
#define BEFORE_16_4 12
#define VECTOR_BEFORE(n, ch, V, p, c) VECTOR_SHIFT(n, CAT4(BEFORE_, n, _, ch), V, p, c)
#define VECTOR_AFTER(n, ch, V, c, a)  VECTOR_SHIFT(n, ch, V, c, a)
