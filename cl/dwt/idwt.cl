/* One level of the inverse wavelet transform:
 *     x[2m + p] = Σ low taps[p][j] · low[m + first + j] + Σ high taps[p][j] · high[m + first + j]
 * for j < count. A table of taps holds low[0], low[1], high[0], high[1], `count` each.
 *
 * This form, for CPUs, does both directions: for two rows of the result it combines a tile of the bands' columns, 16
 * at a time, down into private memory, and that along the rows. (Sums may be computed in this order, integer lifting may
 * not.) Where it does not serve, cl/dwt/dwt_lines.cl takes one direction at a time.
 *
 * WORK is the type of sums and bands, DST that of the result, and C the number of channels. */
#include <ends.cl>
#include <round.cl>

#define TAPS_MAX 52

#define TILE (SPAN + TAPS_MAX * C + 16)
typedef CAT(WORK, 16) __attribute__((aligned(WORK_SIZE))) FN(work16);

/* The bands' rows under the taps for two rows of the result. */
struct FN(column) {
    int n;
    int low_row[TAPS_MAX], high_row[TAPS_MAX]; /* −1: none */
    WORK low[2][TAPS_MAX], high[2][TAPS_MAX];
};

/* Combines columns for the two rows, 16 or one, from sample `s` of a band that is low down the columns and of one that is
 * high. */
#define ADD_ROW(type, memory, band, j)                                                             \
    if (column->band##_row[j] >= 0) {                                                              \
        type v = *(__global const memory *)(band + column->band##_row[j] * band##_stride + s);     \
        v0 += column->band[0][j] * v;                                                              \
        v1 += column->band[1][j] * v;                                                              \
    }
#define DOWN(name, type, memory)                                                                   \
    inline void FN(name)(__global const WORK *restrict low, int low_stride,                        \
                         __global const WORK *restrict high, int high_stride,                      \
                         const struct FN(column) *column, int s, WORK *to0, WORK *to1)             \
    {                                                                                              \
        type v0 = 0, v1 = 0;                                                                       \
        for (int j = 0; j < column->n; j++) {                                                      \
            ADD_ROW(type, memory, low, j)                                                          \
            ADD_ROW(type, memory, high, j)                                                         \
        }                                                                                          \
        *(memory *)to0 = v0;                                                                       \
        *(memory *)to1 = v1;                                                                       \
    }
DOWN(down16, CAT(WORK, 16), FN(work16))
DOWN(down, WORK, WORK)

/* Combines samples begin … end - 1 for the two rows, of bands that are `width` wide, high or low along the row, and
 * extended at their ends. */
inline void FN(tile)(__global const WORK *restrict low, int low_stride,
                     __global const WORK *restrict high, int high_stride,
                     const struct FN(column) *column, int begin, int end, int width, int is_high,
                     int size, int ends, WORK *to0, WORK *to1)
{
    int inner = clamp(0, begin, end), inner_end = max(min(width * C, end), inner);
    bool wide = inner_end - inner >= 16;
    for (int s = begin; s < end;) {
        if (wide && s >= inner && s < inner_end) {
            s = min(s, inner_end - 16);
            FN(down16)(low, low_stride, high, high_stride, column, s, to0 + (s - begin),
                       to1 + (s - begin));
            s += 16;
            continue;
        }
        int pixel = s >= 0 ? s / C : -((C - 1 - s) / C);
        int at = band_index(pixel, width, is_high, size, ends);
        to0[s - begin] = to1[s - begin] = 0;
        if (at >= 0)
            FN(down)(low, low_stride, high, high_stride, column, at * C + (s - pixel * C),
                     to0 + (s - begin), to1 + (s - begin));
        s++;
    }
}

/* Combines a tile's low and high half along the row: n_pairs pairs, of which `n` samples are in the row. */
inline void FN(along)(const WORK *low, const WORK *high, __global const WORK *restrict taps,
                      int count, int n_pairs, int n, __global DST *out)
{
    WORK row[2 * SPAN + 32 * C];
    for (int i = 0; i < n_pairs; i += 16) {
        CAT(WORK, 16) v0 = 0, v1 = 0;
        for (int j = 0; j < count; j++) {
            CAT(WORK, 16) l = *(FN(work16) *)(low + i + j * C);
            CAT(WORK, 16) h = *(FN(work16) *)(high + i + j * C);
            v0 += taps[j] * l + taps[2 * count + j] * h;
            v1 += taps[count + j] * l + taps[3 * count + j] * h;
        }
        if (C == 1) {
            CAT(WORK, 16) v;
            v.even = v0.lo, v.odd = v1.lo;
            *(FN(work16) *)(row + 2 * i) = v;
            v.even = v0.hi, v.odd = v1.hi;
            *(FN(work16) *)(row + 2 * i + 16) = v;
            continue;
        }
        WORK pair[2][16];
        *(FN(work16) *)pair[0] = v0;
        *(FN(work16) *)pair[1] = v1;
        for (int k = 0; k < 16 && i + k < n_pairs; k++) {
            int at = (i + k) / C * 2 * C + (i + k) % C;
            row[at] = pair[0][k];
            row[at + C] = pair[1][k];
        }
    }
    for (int i = 0; i < n; i++)
        out[i] = SATURATE_FROM(WORK, DST, row[i]);
}

/* The grid counts pairs of columns, times channels, and pairs of rows. */
__kernel void KERNEL(GRID, PLANE_IN(WORK, ll), PLANE_IN(WORK, hl), PLANE_IN(WORK, lh),
                     PLANE_IN(WORK, hh), PLANE_OUT(DST, dst),
                     __global const WORK *restrict vertical, int v_first, int v_count,
                     __global const WORK *restrict horizontal, int h_first, int h_count, int width,
                     int height, int low_width, int high_width, int low_height, int high_height,
                     int ends)
{
    POSITION(x, y)
    struct FN(column) column;
    column.n = v_count;
    for (int j = 0; j < v_count; j++) {
        column.low_row[j] = band_index(y + v_first + j, low_height, 0, height, ends);
        column.high_row[j] = band_index(y + v_first + j, high_height, 1, height, ends);
        for (int p = 0; p < 2; p++) {
            column.low[p][j] = vertical[p * v_count + j];
            column.high[p][j] = vertical[(2 + p) * v_count + j];
        }
    }
    WORK tile[2][2][TILE]; /* low and high along the row, for two rows */
    int n = SPAN_END(x) - x, begin = x + h_first * C, end = begin + n + (h_count - 1) * C;
    for (int i = 0; i < 2; i++) /* a loop, because the inlined code is long */
        FN(tile)(i ? ROW(hl, 0) : ROW(ll, 0), i ? hl_stride : ll_stride,
                 i ? ROW(hh, 0) : ROW(lh, 0), i ? hh_stride : lh_stride, &column, begin, end,
                 i ? high_width : low_width, i, width, ends, tile[i][0], tile[i][1]);
    int n_out = min(2 * n, width * C - 2 * x);
    for (int p = 0; p < 2; p++)
        if (2 * y + p < height)
            FN(along)(tile[0][p], tile[1][p], horizontal, h_count, n, n_out,
                      ROW(dst, 2 * y + p) + 2 * x);
}
