/* gauss and unsharp of bytes by products of matrices, behind cl/matrix.cl and gauss_sums.cl. 32
 * work-items blur a strip of 16 columns from top to bottom, 16 rows at a time. A sum along rows is weights (a) times
 * samples of eight rows (b); a sum down columns is weights (a) times sums along rows (b). Nothing is exchanged between
 * the two: what a work-item holds of the first sums it holds of the second factor, if weights are put in an order that
 * fits (src/stage/gauss/gauss_matrix.c).
 *
 * Weights and sums along rows have 16 bits, and are multiplied by their lower and upper bytes. A window is 32 * STEPS
 * columns by as many rows around the 16 by 16 of the result, with weights of 0 where the filter does not reach. */
#define ITEMS  128
#define MARGIN (16 * STEPS - 8)
#ifndef TILES
#define TILES 1
#endif
#define PARTS  (TILES * CH)
#define WORDS  (2 * STEPS) /* of each column in a window; in one, four work-items share 16 rows */

/* Eight pixels as they lie in memory; those of a channel. */
#if CH == 1
#define PIXELS        uint2
#define CHANNEL(v, c) (v)
#else
#define PIXELS         uint8
#define CHANNEL(v, c)                                                                              \
    ((c) == 0   ? (uint2)(RED((v).s0, (v).s1, (v).s2), RED((v).s3, (v).s4, (v).s5))                \
     : (c) == 1 ? (uint2)(GREEN((v).s0, (v).s1, (v).s2), GREEN((v).s3, (v).s4, (v).s5))            \
                : (uint2)(BLUE((v).s0, (v).s1, (v).s2), BLUE((v).s3, (v).s4, (v).s5)))
#endif

/* Four samples one by one, for strips at a row's ends: from the one of number i on behind the beginning of pixel x. */
inline uint FN(gathered)(__global const uchar *row, int x, int i, int width, int border)
{
    uint word = 0;
    _Pragma("nounroll")
    for (int k = 0; k < 4; k++) {
        int pixel = border_near(x + (i + k) / CH, width, border);
        word |= (pixel < 0 ? 0u : (uint)row[pixel * CH + (i + k) % CH]) << 8 * k;
    }
    return word;
}

inline PIXELS FN(pixels)(__global const uchar *row, int x, int width, int border, bool inside)
{
#define GATHERED(i) FN(gathered)(row, x, i, width, border)
#if CH == 1
    if (inside)
        return *(__global const uint2 *)(row + x);
    return (uint2)(GATHERED(0), GATHERED(4));
#else
    if (inside) {
        __global const uint2 *words = (__global const uint2 *)(row + x * CH);
        return (uint8)(words[0], words[1], words[2], 0, 0);
    }
    return (uint8)(GATHERED(0), GATHERED(4), GATHERED(8), GATHERED(12), GATHERED(16), GATHERED(20), 0, 0);
#endif
}

/* Sums down columns of 16 rows and eight columns, one byte of each in the result's bits 20 to 27. */
inline int4 FN(down)(const uint *lower, const uint *upper, const uint4 *lower_down, const uint4 *upper_down
                     MATRIX_PARAMETERS)
{
    int4 sum = 0;
    UNROLL for (int k = 0; k < STEPS; k++)
        sum = FN(add_uu)(sum, upper_down[k], (uint2)(upper[2 * k], upper[2 * k + 1]) MATRIX_ARGUMENTS);
    sum = sum << 8;
    UNROLL for (int k = 0; k < STEPS; k++) {
        sum = FN(add_uu)(sum, lower_down[k], (uint2)(upper[2 * k], upper[2 * k + 1]) MATRIX_ARGUMENTS);
        sum = FN(add_uu)(sum, upper_down[k], (uint2)(lower[2 * k], lower[2 * k + 1]) MATRIX_ARGUMENTS);
    }
    sum = (sum << 8) + (1 << 19);
    UNROLL for (int k = 0; k < STEPS; k++)
        sum = FN(add_uu)(sum, lower_down[k], (uint2)(lower[2 * k], lower[2 * k + 1]) MATRIX_ARGUMENTS);
    return sum >> 20;
}

/* The result's pixels, of which `source` has the same ones before. */
inline void FN(put_sharpened)(__global uchar *out, __global const uint *source, uint3 words, int count SHARPEN_PARAMETERS)
{
    uint3 v = FN(interleaved)(words);
#if SHARPENS
    if (count > 0) {
        v.s0 = as_uint(SHARPENED(as_uchar4(source[0]), as_uchar4(v.s0)));
#if CH == 3
        v.s1 = as_uint(SHARPENED(as_uchar4(source[1]), as_uchar4(v.s1)));
        v.s2 = as_uint(SHARPENED(as_uchar4(source[2]), as_uchar4(v.s2)));
#endif
    }
#endif
    FN(put)(out, v, count);
}

/* The grid counts work-items of strips in x, and bands of `rows` rows in y. The table has weights along rows, then down
 * columns: for each step the lower bytes, then the upper ones. */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(uchar, src), PLANE_OUT(uchar, dst), int width, int height, int rows, int border,
       __global const uint *restrict table SHARPEN_PARAMETERS)
{
    MATRIX_MEMORY(ITEMS)
    int item = (int)get_local_id(0), row = item % 32 / 4, quad = item % 4;
    int x = ((int)get_group_id(0) * ITEMS + item) / 32 * 16 * TILES, begin = min(x, (width - 1) / 16 * 16) - MARGIN;
    bool inside = begin >= 0 && begin + 32 * STEPS + 16 * (TILES - 1) <= width;
    int top = GRID_Y * rows, bottom = min(top + rows, height);
    __global const uint4 *weights = (__global const uint4 *)table + item % 32;
    uint4 lower_along[STEPS], upper_along[STEPS], lower_down[STEPS], upper_down[STEPS];
    UNROLL for (int k = 0; k < STEPS; k++) {
        lower_along[k] = weights[64 * k];
        upper_along[k] = weights[64 * k + 32];
        lower_down[k] = weights[64 * (k + STEPS)];
        upper_down[k] = weights[64 * (k + STEPS) + 32];
    }
    uint lower[2 * PARTS][WORDS], upper[2 * PARTS][WORDS]; /* of each part, of columns as `down` takes them */
    PIXELS next[2][TILES][STEPS];
#define LOAD(from)                                                                                 \
    UNROLL for (int e = 0; e < 2; e++) {                                                           \
        int source_y = border_near((from) + MARGIN + 8 * e + row, height, border);                 \
        __global const uchar *in = ROW(src, max(source_y, 0));                                     \
        UNROLL for (int t = 0; t < TILES; t++)                                                     \
            UNROLL for (int k = 0; k < STEPS; k++) {                                               \
                next[e][t][k] = FN(pixels)(in, begin + 16 * t + 32 * k + 8 * quad, width, border, inside); \
                if (source_y < 0)                                                                  \
                    next[e][t][k] = 0;                                                             \
            }                                                                                      \
    }
    LOAD(top - 16 * (WORDS - 1))
    for (int y = top - 16 * (WORDS - 1); y < bottom; y += 16) {
        int4 sums[2][PARTS], more[2][PARTS];
        UNROLL for (int e = 0; e < 2; e++)
            UNROLL for (int p = 0; p < PARTS; p++) {
                sums[e][p] = 1 << 7;
                more[e][p] = 0;
                UNROLL for (int k = 0; k < STEPS; k++) {
                    uint2 v = CHANNEL(next[e][p / CH][k], p % CH);
                    sums[e][p] = FN(add_uu)(sums[e][p], lower_along[k], v MATRIX_ARGUMENTS);
                    more[e][p] = FN(add_uu)(more[e][p], upper_along[k], v MATRIX_ARGUMENTS);
                }
            }
        LOAD(y + 16)
        UNROLL for (int c = 0; c < 2 * PARTS; c++) {
            UNROLL for (int i = 0; i + 1 < WORDS; i++) {
                lower[c][i] = lower[c][i + 1];
                upper[c][i] = upper[c][i + 1];
            }
            int4 a = sums[0][c / 2] + (more[0][c / 2] << 8), b = sums[1][c / 2] + (more[1][c / 2] << 8);
            uint first = c % 2 == 0 ? MIDDLE_BYTES(a.s0, a.s1) : MIDDLE_BYTES(a.s2, a.s3);
            uint last = c % 2 == 0 ? MIDDLE_BYTES(b.s0, b.s1) : MIDDLE_BYTES(b.s2, b.s3);
            lower[c][WORDS - 1] = EVEN_BYTES(first, last);
            upper[c][WORDS - 1] = ODD_BYTES(first, last);
        }
        if (y < top)
            continue;
        uint words[2][TILES][3];
        UNROLL for (int p = 0; p < PARTS; p++) {
            int4 a = FN(down)(lower[2 * p], upper[2 * p], lower_down, upper_down MATRIX_ARGUMENTS);
            int4 b = FN(down)(lower[2 * p + 1], upper[2 * p + 1], lower_down, upper_down MATRIX_ARGUMENTS);
            words[0][p / CH][p % CH] = WORD_OF(a.s0, a.s1, b.s0, b.s1);
            words[1][p / CH][p % CH] = WORD_OF(a.s2, a.s3, b.s2, b.s3);
        }
        UNROLL for (int e = 0; e < 2; e++)
            UNROLL for (int t = 0; t < TILES; t++) {
                int out_y = y + 8 * e + row, column = x + 16 * t + 4 * quad, at = column * CH;
                FN(put_sharpened)(ROW(dst, out_y) + at, (__global const uint *)(ROW(src, out_y) + at),
                                  (uint3)(words[e][t][0], words[e][t][CH > 1], words[e][t][CH - 1]),
                                  out_y < bottom ? width - column : 0 SHARPEN_ARGUMENTS);
            }
    }
}
