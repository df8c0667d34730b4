/* gauss and unsharp of bytes by products of matrices, behind cl/matrix.cl. 32
 * work-items blur a strip of 16 columns from top to bottom, 16 rows at a time. A sum along rows is weights (a) times
 * samples of eight rows (b); a sum down columns is weights (a) times sums along rows (b). Nothing is exchanged between
 * the two: what a work-item holds of the first sums it holds of the second factor, if weights are put in an order that
 * fits (src/stage/gauss/gauss_passes.c).
 *
 * Weights and sums along rows have 16 bits, and are multiplied by their lower and upper bytes. A window is 32 * STEPS
 * columns by as many rows around the 16 by 16 of the result, with weights of 0 where the filter does not reach. */
#include <border.cl>
#include "gauss_sharpen.cl"
#include "matrix.cl"
#define ITEMS  128
#define MARGIN (16 * STEPS - 8)
#define WORDS  (2 * STEPS) /* of each column in a window; in one, four work-items share 16 rows */

/* The samples of a channel of eight pixels as they lie in memory. */
inline uint2 FN(channel)(uint8 v, int c)
{
    return CH == 1 ? v.s01 : (uint2)(FN(channel_of)(v.s0, v.s1, v.s2, c), FN(channel_of)(v.s3, v.s4, v.s5, c));
}

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

inline uint8 FN(pixels)(__global const uchar *row, int x, int width, int border, bool inside)
{
#define GATHERED(i) FN(gathered)(row, x, i, width, border)
    __global const uint2 *words = (__global const uint2 *)(row + x * CH);
    if (CH == 1)
        return (uint8)(inside ? *words : (uint2)(GATHERED(0), GATHERED(4)), 0, 0, 0, 0, 0, 0);
    if (inside)
        return (uint8)(words[0], words[1], words[2], 0, 0);
    return (uint8)(GATHERED(0), GATHERED(4), GATHERED(8), GATHERED(12), GATHERED(16), GATHERED(20), 0, 0);
}

/* Sums down columns of 16 rows and eight columns, one byte of each in the result's bits 20 to 27. */
inline int4 FN(down)(const uint *lower, const uint *upper, const uint4 *lower_down, const uint4 *upper_down
                     MATRIX_PARAMETERS)
{
    int4 sum = 0;
    UNROLLED_ON_GPUS for (int k = 0; k < STEPS; k++)
        sum = FN(add_uu)(sum, upper_down[k], (uint2)(upper[2 * k], upper[2 * k + 1]) MATRIX_ARGUMENTS);
    sum = sum << 8;
    UNROLLED_ON_GPUS for (int k = 0; k < STEPS; k++) {
        sum = FN(add_uu)(sum, lower_down[k], (uint2)(upper[2 * k], upper[2 * k + 1]) MATRIX_ARGUMENTS);
        sum = FN(add_uu)(sum, upper_down[k], (uint2)(lower[2 * k], lower[2 * k + 1]) MATRIX_ARGUMENTS);
    }
    sum = (sum << 8) + (1 << 19);
    UNROLLED_ON_GPUS for (int k = 0; k < STEPS; k++)
        sum = FN(add_uu)(sum, lower_down[k], (uint2)(lower[2 * k], lower[2 * k + 1]) MATRIX_ARGUMENTS);
    return sum >> 20;
}

/* The result's pixels, of which `source` has the same ones before. */
inline void FN(put_sharpened)(__global uchar *out, __global const uint *source, uint3 words, int count NUMBERS)
{
    uint3 v = FN(interleaved)(words);
    if (SHARPENS && count > 0)
        v.s0 = as_uint(SHARPENED(as_uchar4(source[0]), as_uchar4(v.s0)));
    if (SHARPENS && CH == 3 && count > 1) /* behind a row's end there need not be three words */
        v.s1 = as_uint(SHARPENED(as_uchar4(source[1]), as_uchar4(v.s1)));
    if (SHARPENS && CH == 3 && count > 2)
        v.s2 = as_uint(SHARPENED(as_uchar4(source[2]), as_uchar4(v.s2)));
    FN(put)(out, v, count);
}

/* Blurs a strip of 16 columns from x on, in rows `top` to `bottom`. `inside`: a constant, whether no window and no row
 * of 16 leaves the plane, so that nothing has to be looked up. */
INLINED void
FN(strip)(__global const uchar *src_base, int src_offset, int src_stride, __global uchar *dst_base, int dst_offset,
          int dst_stride, int x, int width, int top, int bottom, int height, int border, __global const uint *table,
          const bool inside NUMBERS MATRIX_PARAMETERS)
{
    int item = (int)get_local_id(0) % 32, row = item / 4, quad = item % 4, begin = x - MARGIN + 8 * quad;
    __global const uint4 *weights = (__global const uint4 *)table + item;
    uint4 lower_along[STEPS], upper_along[STEPS], lower_down[STEPS], upper_down[STEPS];
    UNROLLED_ON_GPUS for (int k = 0; k < STEPS; k++) {
        lower_along[k] = weights[64 * k];
        upper_along[k] = weights[64 * k + 32];
        lower_down[k] = weights[64 * (k + STEPS)];
        upper_down[k] = weights[64 * (k + STEPS) + 32];
    }
    int y = top - 16 * (WORDS - 1), column = x + 4 * quad;
    uint lower[2 * CH][WORDS], upper[2 * CH][WORDS]; /* of each channel, of columns as `down` takes them */
    uint8 next[2][STEPS], now[2][STEPS];
#define LOAD_TURN(from)                                                                                 \
    UNROLLED_ON_GPUS for (int e = 0; e < 2; e++) {                                                           \
        int source_y = (from) + MARGIN + 8 * e + row;                                              \
        if (!inside)                                                                               \
            source_y = border_near(source_y, height, border);                                      \
        __global const uchar *in = ROW(src, inside || source_y >= 0 ? source_y : top);             \
        UNROLLED_ON_GPUS for (int k = 0; k < STEPS; k++) {                                                   \
            next[e][k] = FN(pixels)(in, begin + 32 * k, width, border, inside);                    \
            if (!inside && source_y < 0)                                                           \
                next[e][k] = 0;                                                                    \
        }                                                                                          \
    }
    const bool ahead = CH == 1; /* loaded a turn ahead, for which three channels have no registers */
    if (ahead)
        LOAD_TURN(y)
    _Pragma("nounroll")
    for (; y < bottom; y += 16) {
        if (!ahead)
            LOAD_TURN(y)
        UNROLLED_ON_GPUS for (int k = 0; k < STEPS; k++) {
            now[0][k] = next[0][k];
            now[1][k] = next[1][k];
        }
        if (ahead)
            LOAD_TURN(inside ? min(y + 16, bottom - 16) : y + 16)
        uint words[2][3];
        UNROLLED_ON_GPUS for (int c = 0; c < CH; c++) {
            int4 sums[2];
            UNROLLED_ON_GPUS for (int e = 0; e < 2; e++) {
                int4 sum = 1 << 7, more = 0;
                UNROLLED_ON_GPUS for (int k = 0; k < STEPS; k++) {
                    uint2 v = FN(channel)(now[e][k], c);
                    sum = FN(add_uu)(sum, lower_along[k], v MATRIX_ARGUMENTS);
                    more = FN(add_uu)(more, upper_along[k], v MATRIX_ARGUMENTS);
                }
                sums[e] = sum + (more << 8);
            }
            UNROLLED_ON_GPUS for (int i = 2 * c; i < 2 * c + 2; i++)
                UNROLLED_ON_GPUS for (int k = 0; k + 1 < WORDS; k++) {
                    lower[i][k] = lower[i][k + 1];
                    upper[i][k] = upper[i][k + 1];
                }
            FN(keep)(&lower[2 * c][WORDS - 1], &upper[2 * c][WORDS - 1], &lower[2 * c + 1][WORDS - 1],
                     &upper[2 * c + 1][WORDS - 1], sums[0], sums[1]);
            if (y >= top) {
                int4 a = FN(down)(lower[2 * c], upper[2 * c], lower_down, upper_down MATRIX_ARGUMENTS);
                int4 b = FN(down)(lower[2 * c + 1], upper[2 * c + 1], lower_down, upper_down MATRIX_ARGUMENTS);
                words[0][c] = FN(word_of)(a.s0, a.s1, b.s0, b.s1);
                words[1][c] = FN(word_of)(a.s2, a.s3, b.s2, b.s3);
            }
        }
        if (y < top) /* there are no words yet, and a compiler may take it that what is passed has been set */
            continue;
        UNROLLED_ON_GPUS for (int e = 0; e < 2; e++) {
            int out_y = y + 8 * e + row, count = out_y >= bottom ? 0 : inside ? 4 : width - column;
            FN(put_sharpened)(ROW(dst, out_y) + column * CH, (__global const uint *)(ROW(src, out_y) + column * CH),
                              (uint3)(words[e][0], words[e][CH > 1], words[e][CH - 1]), count GIVEN);
        }
    }
}

/* The grid counts work-items of strips in x, and bands of `rows` rows in y. The table has weights along rows, then down
 * columns: for each step the lower bytes, then the upper ones. */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(uchar, src), PLANE_OUT(uchar, dst), int width, int height, int rows, int border,
       __global const uint *restrict table NUMBERS)
{
    MATRIX_MEMORY(ITEMS)
    int group = (int)get_group_id(0) * ITEMS / 2, x = group + (int)get_local_id(0) / 32 * 16;
    int top = GRID_Y * rows, bottom = top + rows;
    if (group >= MARGIN && group + ITEMS / 2 + MARGIN <= width && top >= 16 * STEPS + MARGIN && bottom + MARGIN <= height)
        FN(strip)(src_base, src_offset, src_stride, dst_base, dst_offset, dst_stride, x, width, top, bottom, height,
                  border, table, true GIVEN MATRIX_ARGUMENTS);
    else
        FN(strip)(src_base, src_offset, src_stride, dst_base, dst_offset, dst_stride, x, width, top, min(bottom, height),
                  height, border, table, false GIVEN MATRIX_ARGUMENTS);
}
