/* One level of the wavelet transform on CPUs, both directions at once; where these kernels do not serve, cl/dwt/dwt_lines.cl
 * takes one direction at a time. With the signal x extended by the border, and k < count, which is even:
 *
 *     KERNEL_analysis        low[n] = Σ taps[k] · x[2n + first + k]
 *                            high[n] = Σ taps[count + k] · x[2n + first + k]        (cl/dwt/dwt_window.cl)
 *     KERNEL_synthesis       x[2m + p] = Σ taps[p · count + k] · low[m + first + k] +
 *                                taps[(2 + p) · count + k] · high[m + first + k]    for p < 2
 *
 * A tile of columns is filtered, 16 at a time, down into two rows in private memory, and these along the row: a row of the
 * bands that are low down the columns and of those that are high, or two rows of the picture. (Sums may be put together in
 * this order, integer lifting may not.)
 *
 * WORK is the type of sums and bands. C is the number of channels of a band, CH that of the source; if they differ, the
 * source's last channel is alpha. */
#include <ends.cl>
#include <processor.cl>
#include <round.cl>
#include "dwt_planes.cl"
#include "dwt_window.cl"

#pragma kernel synthesis
#define SRC      WORK
#define SRC_SIZE WORK_SIZE
#define CH       C
#pragma kernel

#define TAPS_MAX     104
#define TILE         (2 * SPAN + (TAPS_MAX + 2) * C + 32) /* samples of a row; half of them in pairs */
#define SOURCE_OF(x) (CH == C ? (x) : (x) / C * CH + (x) % C)
#define WORKS        CAT(WORK, 16)
typedef CAT(SRC, 16) __attribute__((aligned(SRC_SIZE))) FN(source16);
typedef WORKS __attribute__((aligned(WORK_SIZE))) FN(work16);

/* Rows under the taps, and what they are multiplied with for the first of two results and for the second. */
struct FN(column) {
    int n;
    __global const SRC *row[TAPS_MAX];
    WORK first[TAPS_MAX], second[TAPS_MAX];
};

inline void FN(take)(struct FN(column) *column, __global const SRC *row, WORK first, WORK second)
{
    column->row[column->n] = row;
    column->first[column->n] = first;
    column->second[column->n++] = second;
}

/* Filters down: sample `s` of both results; and 16 of them. */
#define FIRST_TAP(k)  column->first[k]
#define SECOND_TAP(k) column->second[k]
inline void FN(down)(const struct FN(column) *column, int s, WORK *first, WORK *second)
{
#define READ(k) ((WORK)column->row[k][SOURCE_OF(s)])
    SPLIT(WORK, a, b, column->n, READ, FIRST_TAP, SECOND_TAP)
    *first = a;
    *second = b;
}

VECTORS_OF_512_BITS inline void FN(down16)(const struct FN(column) *column, int s, WORK *first, WORK *second)
{
#define READ16(k) CAT3(convert_, WORK, 16)(*(__global const FN(source16) *)(column->row[k] + s))
    SPLIT(WORKS, a, b, column->n, READ16, FIRST_TAP, SECOND_TAP)
    *(FN(work16) *)first = a;
    *(FN(work16) *)second = b;
}

/* Both results' samples begin … end - 1, of planes that are `width` wide and go on beyond their ends. */
#pragma kernel analysis
#define BESIDE(i) signal_index(i, width, border)
#define TILE_OF   int width, int border
#pragma kernel synthesis
#define BESIDE(i) band_index(i, width, is_high, size, ends)
#define TILE_OF   int width, int is_high, int size, int ends
#pragma kernel
inline void FN(tile)(const struct FN(column) *column, int begin, int end, TILE_OF, WORK *first, WORK *second)
{
    int inner = clamp(0, begin, end), inner_end = max(min(width * C, end), inner);
    bool wide = CH == C && inner_end - inner >= 16;
    for (int s = begin; s < end;) {
        if (wide && s >= inner && s < inner_end) {
            s = min(s, inner_end - 16);
            FN(down16)(column, s, first + (s - begin), second + (s - begin));
            s += 16;
            continue;
        }
        int pixel = s >= 0 ? s / C : -((C - 1 - s) / C); /* floor division: s may be negative */
        int at = BESIDE(pixel);
        first[s - begin] = second[s - begin] = 0;
        if (at >= 0)
            FN(down)(column, at * C + (s - pixel * C), first + (s - begin), second + (s - begin));
        s++;
    }
}

#pragma kernel analysis
/* Filters a tile along the row into n_low and n_high samples. */
VECTORS_OF_512_BITS inline void FN(along)(const WORK *tile, __global const WORK *restrict taps, int count, int n_low,
                      int n_high, __global WORK *low, __global WORK *high)
{
    WORK even[TILE / 2], odd[TILE / 2];
    int n = n_low + (count / 2 - 1) * C;
    for (int i = 0; i < n; i++) {
        even[i] = tile[C == 1 ? 2 * i : (i / C * 2) * C + i % C];
        odd[i] = tile[C == 1 ? 2 * i + 1 : (i / C * 2 + 1) * C + i % C];
    }
    for (int i = 0; i < n_low; i += 16) {
#define EVEN(j) (*(FN(work16) *)(even + i + (j) * C))
#define ODD(j)  (*(FN(work16) *)(odd + i + (j) * C))
#ifdef REVERSIBLE
#define PAIR(k) ((k) % 2 == 0 ? EVEN((k) / 2) : ODD((k) / 2))
        SPLIT(WORKS, l, h, count, PAIR, , )
#else
        WORKS l = 0, h = 0;
        for (int j = 0; j < count / 2; j++) {
            WORKS e = EVEN(j), o = ODD(j);
            l += taps[2 * j] * e + taps[2 * j + 1] * o;
            h += taps[count + 2 * j] * e + taps[count + 2 * j + 1] * o;
        }
#endif
        if (i + 16 <= n_high) {
            *(__global FN(work16) *)(low + i) = l;
            *(__global FN(work16) *)(high + i) = h;
            continue;
        }
        WORK ls[16], hs[16];
        *(FN(work16) *)ls = l;
        *(FN(work16) *)hs = h;
        for (int k = 0; k < 16; k++) {
            if (i + k < n_low)
                low[i + k] = ls[k];
            if (i + k < n_high)
                high[i + k] = hs[k];
        }
    }
}

__kernel void KERNEL(GRID, PLANES, __global const WORK *restrict vertical, int v_first, int v_count,
                     __global const WORK *restrict horizontal, int h_first, int h_count, int width,
                     int height, int high_width, int high_height, int border)
{
    POSITION(x, y)
    struct FN(column) column;
    column.n = 0;
    for (int k = 0; k < v_count; k++) {
        int row = signal_index(2 * y + v_first + k, height, border);
        if (row < 0 || (vertical[k] == 0 && vertical[v_count + k] == 0))
            continue;
        FN(take)(&column, ROW(src, row), vertical[k], vertical[v_count + k]);
    }
    WORK tile[2][TILE];
    int n_low = SPAN_END(x) - x, n_high = clamp(high_width * C - x, 0, n_low);
    int begin = 2 * x + h_first * C; /* SPAN is a multiple of C */
    FN(tile)(&column, begin, begin + 2 * n_low + (h_count - 2) * C, width, border,
             tile[0], tile[1]);
    for (int part = 0; part < (y < high_height ? 2 : 1); part++) /* a loop, because the inlined code is long */
        FN(along)(tile[part], horizontal, h_count, n_low, n_high,
                  (part ? ROW(lh, y) : ROW(ll, y)) + x, (part ? ROW(hh, y) : ROW(hl, y)) + x);
}

#pragma kernel synthesis
/* Combines a tile's low and high half along the row: n_pairs pairs, of which `n` samples are in the row. */
inline void FN(along)(const WORK *low, const WORK *high, __global const WORK *restrict taps,
                      int count, int n_pairs, int n, __global DST *out)
{
    WORK row[2 * SPAN + 32 * C];
    for (int i = 0; i < n_pairs; i += 16) {
        WORKS v0 = 0, v1 = 0;
        for (int j = 0; j < count; j++) {
            WORKS l = *(FN(work16) *)(low + i + j * C);
            WORKS h = *(FN(work16) *)(high + i + j * C);
            v0 += taps[j] * l + taps[2 * count + j] * h;
            v1 += taps[count + j] * l + taps[3 * count + j] * h;
        }
        if (C == 1) {
            WORKS v;
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
__kernel void KERNEL(GRID, PLANES, __global const WORK *restrict vertical, int v_first, int v_count,
                     __global const WORK *restrict horizontal, int h_first, int h_count, int width,
                     int height, int low_width, int high_width, int low_height, int high_height,
                     int ends)
{
    POSITION(x, y)
    WORK tile[2][2][TILE / 2]; /* low and high along the row, for two rows */
    int n = SPAN_END(x) - x, begin = x + h_first * C, end = begin + n + (h_count - 1) * C;
    for (int high = 0; high < 2; high++) {
        struct FN(column) column;
        column.n = 0;
        for (int j = 0; j < v_count; j++) {
            int low_row = band_index(y + v_first + j, low_height, 0, height, ends);
            int high_row = band_index(y + v_first + j, high_height, 1, height, ends);
            if (low_row >= 0)
                FN(take)(&column, high ? ROW(hl, low_row) : ROW(ll, low_row), vertical[j], vertical[v_count + j]);
            if (high_row >= 0)
                FN(take)(&column, high ? ROW(hh, high_row) : ROW(lh, high_row), vertical[2 * v_count + j],
                         vertical[3 * v_count + j]);
        }
        FN(tile)(&column, begin, end, high ? high_width : low_width, high, width, ends, tile[high][0], tile[high][1]);
    }
    int n_out = min(2 * n, width * C - 2 * x);
    for (int p = 0; p < 2; p++)
        if (2 * y + p < height)
            FN(along)(tile[0][p], tile[1][p], horizontal, h_count, n, n_out, ROW(dst, 2 * y + p) + 2 * x);
}
