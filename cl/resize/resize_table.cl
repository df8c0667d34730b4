/* The table of resize, and sums of f32 products, for all of its kernels but `pairs` and `wide`. The table holds, from
 * index `at` on, the first source pixel of each of `n` sums, then n numbers of pixels, then `taps` weights for each. */
#define FIRST_TAP(at, n, x) (table[(at) + (x)])
#define TAP_COUNT(at, n, x) (table[(at) + (n) + (x)])
#define WEIGHTS_AT(at, n)   (table + (at) + 2 * (n))

/* Products are added in blocks of SUM_BLOCK, and the blocks by Kahan's compensated summation, so that the error does not
 * grow with their number. */
#define SUM_BLOCK 16
#define ADD_BLOCK(type, block, total, lost)                                                        \
    {                                                                                              \
        type y_ = block - lost, t_ = total + y_;                                                   \
        lost = (t_ - total) - y_;                                                                  \
        total = t_;                                                                                \
        block = 0;                                                                                 \
    }
