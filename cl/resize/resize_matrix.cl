/* resize of bytes without alpha on GPUs by products of matrices, behind cl/matrix.cl: both directions at once. 32
 * work-items sum 32 rows of the source along, for 16 pixels of the result: weights (a) times samples of eight rows (b).
 * These sums are the second factor (b) of sums down columns, for TILES times 16 rows of the result, as in
 * cl/gauss/gauss_matrix.cl. A work-group has such 32 for ACROSS strips of the result's columns, and for each DOWN that
 * share its rows; their sums are added in local memory.
 *
 * Weights have 16 bits; a sum along a row, too. Both are multiplied by their lower bytes, without signs, and their upper
 * ones, with signs. */
#include "matrix.cl"
#define ITEMS (32 * ACROSS * DOWN)
#define RESULTS  (2 * CH * TILES) /* of four numbers, by each work-item */

#define EIGHTS (CH == 1 ? 4 : 2) /* times eight rows: as registers allow */

/* 16 pixels as they lie in memory, from byte `at` of a row on, as far as there are bytes, since what follows is weighted by
 * 0; and word i of channel c. */
#define SIXTEEN(i) *(__global const uint4 *)(row + min(at + 16 * (i), last))
#if CH == 1
#define PIXELS          uint4
#define SIXTEEN_PIXELS  SIXTEEN(0)
#define WORD_OF(v, c, i) ((i) == 0 ? (v).s0 : (i) == 1 ? (v).s1 : (i) == 2 ? (v).s2 : (v).s3)
#else
#define PIXELS         uint16
#define SIXTEEN_PIXELS (uint16)(SIXTEEN(0), SIXTEEN(1), SIXTEEN(2), 0, 0, 0, 0)
#define WORD_OF(v, c, i)                                                                            \
    ((i) == 0   ? FN(channel_of)((v).s0, (v).s1, (v).s2, c)                                        \
     : (i) == 1 ? FN(channel_of)((v).s3, (v).s4, (v).s5, c)                                        \
     : (i) == 2 ? FN(channel_of)((v).s6, (v).s7, (v).s8, c)                                        \
                : FN(channel_of)((v).s9, (v).sa, (v).sb, c))
#endif
inline PIXELS FN(pixels)(__global const uchar *row, int at, int last)
{
    return SIXTEEN_PIXELS;
}

/* The grid counts work-items for strips in x, and TILES times 16 rows in y. The table has, from x_at on, the first pixel
 * of each strip, and then for each of `pairs` times two steps of 32 pixels the weights; from y_at on the first row for
 * each TILES * 16 of the result, and then for each of `steps` of 32 rows the weights of all tiles. */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(uchar, src), PLANE_OUT(uchar, dst), __global const int *restrict table, int x_at, int x_n, int pairs,
       int y_at, int y_n, int steps, int source_height, int last, int width, int height)
{
    MATRIX_MEMORY(ITEMS)
    __local int totals[ACROSS * 128 * RESULTS];
    int item = (int)get_local_id(0), lane = item % 32, row = lane / 4, quad = lane % 4;
    int strip = (int)get_group_id(0) * ACROSS + item / 32 % ACROSS, down = item / 32 / ACROSS, own = min(strip, x_n - 1);
    int begin = (table[x_at + own] + 16 * quad) * CH, top = table[y_at + GRID_Y] + row;
    __global const uint4 *along = (__global const uint4 *)(table + x_at + (x_n + 3) / 4 * 4) + own * pairs * 128 + lane;
    __global const uint4 *weights = (__global const uint4 *)(table + y_at + (y_n + 3) / 4 * 4) + GRID_Y * steps * TILES * 64 + lane;
    int4 results[RESULTS];
    UNROLLED_ON_GPUS for (int i = 0; i < RESULTS; i++)
        results[i] = 0;
    for (int i = item; i < ACROSS * 128 * RESULTS; i += ITEMS)
        totals[i] = 0;
    for (int begin_step = 0; begin_step < steps; begin_step += DOWN) {
        int step = begin_step + down;
        uint lower[2 * CH][2], upper[2 * CH][2];
        UNROLLED_ON_GPUS for (int rows = 0; rows < 4; rows += EIGHTS) {
            int4 sums[EIGHTS][CH], more[EIGHTS][CH];
            __global const uchar *in[EIGHTS];
            UNROLLED_ON_GPUS for (int e = 0; e < EIGHTS; e++) {
                in[e] = ROW(src, min(top + 32 * step + 8 * (rows + e), source_height - 1));
                UNROLLED_ON_GPUS for (int c = 0; c < CH; c++) {
                    sums[e][c] = 1 << 7;
                    more[e][c] = 0;
                }
            }
            const bool ahead = CH == 1; /* loaded a turn ahead, for which three channels have no registers */
            PIXELS next[EIGHTS], v[EIGHTS];
            UNROLLED_ON_GPUS for (int e = 0; ahead && e < EIGHTS; e++)
                next[e] = FN(pixels)(in[e], begin, last);
            for (int pair = 0; pair < pairs; pair++) {
                UNROLLED_ON_GPUS for (int e = 0; e < EIGHTS; e++) {
                    v[e] = ahead ? next[e] : FN(pixels)(in[e], begin + 64 * CH * pair, last);
                    if (ahead)
                        next[e] = FN(pixels)(in[e], begin + 64 * CH * (pair + 1), last);
                }
                UNROLLED_ON_GPUS for (int s = 0; s < 2; s++) {
                    uint4 w = along[128 * pair + 64 * s], w_upper = along[128 * pair + 64 * s + 32];
                    UNROLLED_ON_GPUS for (int e = 0; e < EIGHTS; e++)
                        UNROLLED_ON_GPUS for (int c = 0; c < CH; c++) {
                            uint2 samples = (uint2)(WORD_OF(v[e], c, 2 * s), WORD_OF(v[e], c, 2 * s + 1));
                            sums[e][c] = FN(add_uu)(sums[e][c], w, samples MATRIX_ARGUMENTS);
                            more[e][c] = FN(add_su)(more[e][c], w_upper, samples MATRIX_ARGUMENTS);
                        }
                }
            }
            UNROLLED_ON_GPUS for (int e = 0; e < EIGHTS; e += 2)
                UNROLLED_ON_GPUS for (int c = 0; c < CH; c++) {
                    int4 a = sums[e][c] + (more[e][c] << 8), b = sums[e + 1][c] + (more[e + 1][c] << 8);
                    const int k = (rows + e) / 2;
                    FN(keep)(&lower[2 * c][k], &upper[2 * c][k], &lower[2 * c + 1][k], &upper[2 * c + 1][k], a, b);
                }
        }
        UNROLLED_ON_GPUS for (int t = 0; t < TILES; t++) {
            uint4 w = 0, w_upper = 0;
            if (step < steps) {
                w = weights[(step * TILES + t) * 64];
                w_upper = weights[(step * TILES + t) * 64 + 32];
            }
            UNROLLED_ON_GPUS for (int c = 0; c < 2 * CH; c++) {
                uint2 low = (uint2)(lower[c][0], lower[c][1]), high = (uint2)(upper[c][0], upper[c][1]);
                int4 sum = FN(add_ss)(0, w_upper, high MATRIX_ARGUMENTS) << 8;
                sum = FN(add_us)(sum, w, high MATRIX_ARGUMENTS);
                sum = FN(add_su)(sum, w_upper, low MATRIX_ARGUMENTS) << 8;
                results[t * 2 * CH + c] += FN(add_uu)(sum, w, low MATRIX_ARGUMENTS);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __local int *total = totals + item / 32 % ACROSS * 128 * RESULTS + lane;
    UNROLLED_ON_GPUS for (int i = 0; i < RESULTS; i++) {
        atomic_add(total + 128 * i, results[i].s0);
        atomic_add(total + 128 * i + 32, results[i].s1);
        atomic_add(total + 128 * i + 64, results[i].s2);
        atomic_add(total + 128 * i + 96, results[i].s3);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    /* A tile has two stores for each work-item: of rows 0 to 7, and of 8 to 15. */
    UNROLLED_ON_GPUS for (int i = 0; i < 2 * TILES; i += DOWN) {
        int store = i + down, y = (GRID_Y * 2 * TILES + store) * 8 + row, x = strip * 16 + 4 * quad;
        uint words[3];
        UNROLLED_ON_GPUS for (int c = 0; c < CH; c++) {
            __local int *at = total + 128 * (store / 2 * 2 * CH + 2 * c) + store % 2 * 64;
            bool stored = store < 2 * TILES;
            int4 v = stored ? (int4)(at[0], at[32], at[128], at[160]) : 0;
            v = clamp((v + (1 << 19)) >> 20, (int4)0, (int4)255);
            words[c] = FN(word_of)(v.s0, v.s1, v.s2, v.s3);
        }
        FN(put)(ROW(dst, y) + x * CH, FN(interleaved)((uint3)(words[0], words[CH > 1], words[CH - 1])),
                store < 2 * TILES && y < height ? width - x : 0);
    }
}
