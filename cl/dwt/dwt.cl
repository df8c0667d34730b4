/* One level of the wavelet transform. With the signal x extended by the border,
 *     low[n] = Σ taps[k] · x[2n + first + k],  high[n] = Σ taps[count + k] · x[2n + first + k]
 * for k < count, which is even; first down the columns, then along the rows (cl/dwt/dwt_window.cl).
 *
 * This form, for CPUs, does both directions: for a row of the bands it filters a tile of columns, 16 at a time, down
 * into private memory, and that along the row. Where it does not serve, cl/dwt/dwt_lines.cl takes one direction at a time.
 *
 * WORK is the type of sums and bands. C is the number of channels of a band, CH that of the source; if they differ, the
 * source's last channel is alpha. */
#include <ends.cl>
#include <processor.cl>

#define TAPS_MAX 104

#define SOURCE_OF(x) (CH == C ? (x) : (x) / C * CH + (x) % C)

#include "dwt_window.cl"

#define TILE_COLUMNS (2 * SPAN + (TAPS_MAX + 2) * C + 32)
#define TILE_HALF    (SPAN + (TAPS_MAX / 2 + 1) * C + 16)
typedef CAT(SRC, 16) __attribute__((aligned(SRC_SIZE))) FN(source16);
typedef CAT(WORK, 16) __attribute__((aligned(WORK_SIZE))) FN(work16);
#define TO_WORK16 CAT3(convert_, WORK, 16)

/* The source's rows under the taps for a row of the bands. */
struct FN(column) {
    int n, n_taps;
    int row[TAPS_MAX]; /* offset of the row's first sample */
    WORK low[TAPS_MAX], high[TAPS_MAX];
};

#define LOW_TAP(k)   column->low[k]
#define HIGH_TAP(k)  column->high[k]

/* Filters down: sample `s` of the low row and of the high row; and 16 of them. */
inline void FN(down)(__global const SRC *restrict src, const struct FN(column) *column, int s,
                     WORK *low, WORK *high)
{
#define READ(k) ((WORK)src[column->row[k] + SOURCE_OF(s)])
    SPLIT(WORK, l, h, column->n, READ, LOW_TAP, HIGH_TAP)
    *low = l;
    *high = h;
}

VECTORS_OF_512_BITS inline void FN(down16)(__global const SRC *restrict src, const struct FN(column) *column, int s,
                       WORK *low, WORK *high)
{
#define READ16(k) TO_WORK16(*(__global const FN(source16) *)(src + column->row[k] + (s)))
    SPLIT(CAT(WORK, 16), l, h, column->n, READ16, LOW_TAP, HIGH_TAP)
    *(FN(work16) *)low = l;
    *(FN(work16) *)high = h;
}

/* Filters down samples begin … end - 1 of the low row and of the high row, which are extended by the border. */
inline void FN(tile)(__global const SRC *restrict src, const struct FN(column) *column, int begin,
                     int end, int width, int border, WORK *low, WORK *high)
{
    int inner = clamp(0, begin, end), inner_end = max(min(width * C, end), inner);
    bool wide = CH == C && inner_end - inner >= 16;
    for (int s = begin; s < end;) {
        bool is_inner = s >= inner && s < inner_end;
        if (wide && is_inner) {
            s = min(s, inner_end - 16);
            FN(down16)(src, column, s, low + (s - begin), high + (s - begin));
            s += 16;
            continue;
        }
        /* Floor division: s may be negative. */
        int pixel = s >= 0 ? s / C : -((C - 1 - s) / C);
        int at = signal_index(pixel, width, border);
        low[s - begin] = high[s - begin] = 0;
        if (at >= 0)
            FN(down)(src, column, at * C + (s - pixel * C), low + (s - begin), high + (s - begin));
        s++;
    }
}

/* Filters a tile along the row into n_low and n_high samples. */
VECTORS_OF_512_BITS inline void FN(along)(const WORK *tile, __global const WORK *restrict taps, int count, int n_low,
                      int n_high, __global WORK *low, __global WORK *high)
{
    WORK even[TILE_HALF], odd[TILE_HALF];
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
        SPLIT(CAT(WORK, 16), l, h, count, PAIR, , )
#else
        CAT(WORK, 16) l = 0, h = 0;
        for (int j = 0; j < count / 2; j++) {
            CAT(WORK, 16) e = EVEN(j), o = ODD(j);
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

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(WORK, ll), PLANE_OUT(WORK, hl),
                     PLANE_OUT(WORK, lh), PLANE_OUT(WORK, hh),
                     __global const WORK *restrict vertical, int v_first, int v_count,
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
        column.row[column.n] = src_offset + row * src_stride;
        column.low[column.n] = vertical[k];
        column.high[column.n++] = vertical[v_count + k];
    }
    WORK tile[2][TILE_COLUMNS];
    int n_low = SPAN_END(x) - x, n_high = clamp(high_width * C - x, 0, n_low);
    int begin = 2 * x + h_first * C; /* SPAN is a multiple of C */
    FN(tile)(src_base, &column, begin, begin + 2 * n_low + (h_count - 2) * C, width, border,
             tile[0], tile[1]);
    for (int part = 0; part < (y < high_height ? 2 : 1); part++) /* a loop, because the inlined code is long */
        FN(along)(tile[part], horizontal, h_count, n_low, n_high,
                  (part ? ROW(lh, y) : ROW(ll, y)) + x, (part ? ROW(hh, y) : ROW(hl, y)) + x);
}
