/* In front of kernels for GPUs that have instructions for products of matrices of bytes (profile->multiplies_bytes).
 * 32 work-items hold three matrices: a has 16 rows and 32 columns, b 32 rows and 8 columns, the sum 16 rows and 8
 * columns. With r = i / 4 and k = i % 4, item i of them has
 *
 *     of a       words of four columns: row r from 4k on, row r + 8 from 4k, row r from 4k + 16, row r + 8 from 4k + 16
 *     of b       words of four rows of column r: from row 4k on, and from row 4k + 16
 *     of the sum columns 2k and 2k + 1 of row r, then of row r + 8
 *
 * FN(add_su) and the like add a * b to the sum; the letters say whether bytes of a and of b have signs. All work-items
 * of a group call them together. For tests they are there without such instructions, too: then work-items exchange
 * their words through MATRIX_MEMORY. */
#include <words.cl>
#include "channels.cl"
/* Loops are UNROLLED_ON_GPUS: unrolled, PoCL 3.1 also writes behind the ends of rows in gauss_matrix, although the IR that
 * clang hands it compares with the row's end; Oclgrind sees no such write. */
#ifdef HAS_PTX
#define MATRIX_MEMORY(items)
#define MATRIX_PARAMETERS
#define MATRIX_ARGUMENTS
#define DEFINE_ADD_PRODUCT(name, a_sign, b_sign)                                                   \
    inline int4 name(int4 sum, uint4 a, uint2 b)                                                   \
    {                                                                                              \
        int s0 = sum.s0, s1 = sum.s1, s2 = sum.s2, s3 = sum.s3;                                    \
        __asm__ volatile("mma.sync.aligned.m16n8k32.row.col.s32." #a_sign "8." #b_sign "8.s32 "    \
                         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"         \
                         : "+r"(s0), "+r"(s1), "+r"(s2), "+r"(s3)                                  \
                         : "r"(a.s0), "r"(a.s1), "r"(a.s2), "r"(a.s3), "r"(b.s0), "r"(b.s1));      \
        return (int4)(s0, s1, s2, s3);                                                             \
    }
#else
#define MATRIX_MEMORY(items) __local uint matrix_memory[6 * (items)];
#define MATRIX_PARAMETERS , __local uint *matrix_memory
#define MATRIX_ARGUMENTS  , matrix_memory
inline int FN(matrix_byte)(__local const uint *words, int byte, bool has_sign)
{
    int v = (int)(words[byte / 4] >> byte % 4 * 8 & 255u);
    return has_sign && v > 127 ? v - 256 : v;
}

inline int FN(matrix_sum)(__local const uint *words, int row, int column, bool a_has_sign, bool b_has_sign)
{
    int sum = 0;
    for (int k = 0; k < 32; k++) {
        int item = k % 16 / 4, part = k / 16;
        __local const uint *a = words + (row % 8 * 4 + item) * 6 + row / 8 + 2 * part;
        __local const uint *b = words + (column * 4 + item) * 6 + 4 + part;
        sum += FN(matrix_byte)(a, k % 4, a_has_sign) * FN(matrix_byte)(b, k % 4, b_has_sign);
    }
    return sum;
}

#define DEFINE_ADD_PRODUCT(name, a_sign, b_sign)                                                   \
    inline int4 name(int4 sum, uint4 a, uint2 b, __local uint *memory)                             \
    {                                                                                              \
        const bool s = true, u = false;                                                            \
        int item = (int)get_local_id(0), row = item % 32 / 4, column = item % 4 * 2;               \
        __local uint *words = memory + item / 32 * 192;                                            \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        vstore4(a, 0, words + item % 32 * 6);                                                      \
        vstore2(b, 0, words + item % 32 * 6 + 4);                                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        return sum + (int4)(FN(matrix_sum)(words, row, column, a_sign, b_sign),                    \
                            FN(matrix_sum)(words, row, column + 1, a_sign, b_sign),                \
                            FN(matrix_sum)(words, row + 8, column, a_sign, b_sign),                \
                            FN(matrix_sum)(words, row + 8, column + 1, a_sign, b_sign));           \
    }
#endif
DEFINE_ADD_PRODUCT(FN(add_uu), u, u)
DEFINE_ADD_PRODUCT(FN(add_us), u, s)
DEFINE_ADD_PRODUCT(FN(add_su), s, u)
DEFINE_ADD_PRODUCT(FN(add_ss), s, s)

/* What kernels do with the words that they multiply and get. Weights have such an order (src/stage/weighted.h) that a
 * work-item gets sums along rows of two rows at a time, a and b, for two columns. These become a factor: of each sum the
 * second and the third byte, in words of four rows. Of the result it gets four neighbours, a byte of each. */
INLINED void FN(keep)(uint *lower, uint *upper, uint *next_lower, uint *next_upper, int4 a, int4 b)
{
    uint first = permute((uint)a.s0, (uint)a.s1, 0x6521u), last = permute((uint)b.s0, (uint)b.s1, 0x6521u);
    *lower = permute(first, last, 0x6420u), *upper = permute(first, last, 0x7531u);
    first = permute((uint)a.s2, (uint)a.s3, 0x6521u), last = permute((uint)b.s2, (uint)b.s3, 0x6521u);
    *next_lower = permute(first, last, 0x6420u), *next_upper = permute(first, last, 0x7531u);
}

inline uint FN(word_of)(int a, int b, int c, int d)
{
    return permute(permute((uint)a, (uint)b, 0x0040u), permute((uint)c, (uint)d, 0x0040u), 0x5410u);
}

/* Stores four pixels, or as many as `count` says if that is less. */
inline void FN(put)(__global uchar *out, uint3 v, int count)
{
    const uint words[] = {v.s0, v.s1, v.s2};
    UNROLLED_ON_GPUS for (int i = 0; i < CH; i++) {
        if (count >= 4)
            ((__global uint *)out)[i] = words[i];
        else
            for (int k = 0; k < 4; k++)
                if (4 * i + k < count * CH)
                    out[4 * i + k] = (uchar)(words[i] >> 8 * k);
    }
}
