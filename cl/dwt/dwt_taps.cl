/* One level of the wavelet transform by sums of products, with the formulas of cl/dwt/dwt.cl, for
 * GPUs with few registers (Mali), pictures of one channel and filters of up to 12 taps. KERNEL_analysis computes bands
 * from a picture, KERNEL_synthesis a picture from bands.
 *
 * A work-item goes down one column of each band (two of the picture), through `rows` rows of the bands. It filters each
 * source row along, and adds the result to the unfinished sums of all rows of the result whose window contains the row.
 * Finished sums are stored, and the others move up by one. So no row is filtered along twice, except for a few between
 * blocks.
 *
 * If all windows of a work-item lie inside the picture it loads whole words. Otherwise it finds the index of each
 * sample, and reads the taps along the row from a table.
 *
 * Each filter has TAPS taps; the pass defines as many as there can be. For the analysis these are L0, L1 … of the low
 * band's filter and H0, H1 … of the high band's. For the synthesis EL0 … and EH0 … are those of low and high samples for even results, OL0 … and
 * OH0 … those for odd ones; and results are multiplied with GAIN. */
#include <ends.cl>
#include <memory.cl>
#include <round.cl>
#include <words.cl>

#define LOAD_FOUR(k, from, x)                                                                      \
    if (TAPS > k)                                                                                  \
        vstore4(as_float4(UNALIGNED_IN(uint, 4, from + k)), k / 4, x);
#include "dwt_planes.cl"

#pragma kernel analysis
/* Filters along a row: the low and the high sample whose window begins at `from`. Samples of 1 and 2 bytes are loaded as
 * words; ODD is 1 if the window begins at an odd sample, so that the words begin one sample earlier. */
#define SAMPLE(w, k) (float)SAMPLE_OF(SRC, w, k)
#define TAKE(k)                                                                                    \
    if (TAPS > k)                                                                                  \
        v = fma((float2)(L##k, H##k), (float2)(x[k + ODD]), v);
inline float2 FN(inside)(__global const SRC *from)
{
    float x[16];
#if SRC_SIZE == 1
    /* If the window begins at a word's third byte, the loaded words are shifted. */
    bool moved = (size_t)from & 2u;
    uint4 w = UNALIGNED_IN(uint, 4, from - ODD - 2 * moved);
    w = moved ? w >> 16 | (uint4)(w.yzw, 0u) << 16 : w;
#define TAKE_WORD(k, w)                                                                                 \
    x[k] = SAMPLE(w, 0), x[k + 1] = SAMPLE(w, 1), x[k + 2] = SAMPLE(w, 2), x[k + 3] = SAMPLE(w, 3);
    TAKE_WORD(0, w.x) TAKE_WORD(4, w.y) TAKE_WORD(8, w.z) TAKE_WORD(12, w.w)
#elif SRC_SIZE == 2
    __global const uint *words = (__global const uint *)(from - ODD);
#define TAKE_WORD(k)                                                                                    \
    if (TAPS + ODD > 2 * k) {                                                                      \
        uint w = words[k];                                                                         \
        x[2 * k] = SAMPLE(w, 0), x[2 * k + 1] = SAMPLE(w, 1);                                      \
    }
    TAKE_WORD(0) TAKE_WORD(1) TAKE_WORD(2) TAKE_WORD(3) TAKE_WORD(4) TAKE_WORD(5) TAKE_WORD(6)
#else
    LOAD_FOUR(0, from, x) LOAD_FOUR(4, from, x) LOAD_FOUR(8, from, x)
#endif
    float2 v = 0;
    TAKE(0) TAKE(1) TAKE(2) TAKE(3) TAKE(4) TAKE(5) TAKE(6) TAKE(7) TAKE(8) TAKE(9) TAKE(10) TAKE(11)
    return v;
}

inline float2 FN(anywhere)(__global const SRC *row, __global const float *restrict taps, int x,
                           int width, int border)
{
    float2 v = 0;
    for (int k = 0; k < TAPS + (width >> 30); k++) { /* width >> 30 is 0; a constant end might be unrolled */
        int at = signal_index_near(x + k, width, border);
        float sample = at < 0 ? 0.0f : (float)row[at];
        v = fma((float2)(taps[k], taps[TAPS + k]), (float2)(sample), v);
    }
    return v;
}

#define SIZES          int width, int height, int high_width, int high_height, int border
#define SIZE_ARGUMENTS width, height, high_width, high_height, border

/* Filters along row y of the picture. */
#define ROW_ALONG(y) FN(row)(PLANE_ARGUMENTS, taps, SIZE_ARGUMENTS, p, y, edge)
inline float2 FN(row)(PLANES, __global const float *restrict taps, SIZES, int p, int y, bool edge)
{
    if (!edge)
        return FN(inside)(PLACE(src, 2 * p + WINDOW_AT, y));
    int row = signal_index_near(y, height, border);
    return row < 0 ? (float2)(0.0f)
                   : FN(anywhere)(ROW(src, row), taps, 2 * p + WINDOW_AT, width, border);
}

/* lowM and highM are the unfinished sums of rows to which M + 1 pairs of source rows have been added. MEET adds the
 * next pair to those with one pair less. */
#define MEET(m, before, k0, k1)                                                                    \
    if (TAPS > k1) {                                                                               \
        low##m = fma((float2)(L##k1), odd, fma((float2)(L##k0), even, low##before));                   \
        high##m = fma((float2)(H##k1), odd, fma((float2)(H##k0), even, high##before));             \
    }
inline void FN(walk)(PLANES, __global const float *restrict taps, SIZES, int p, int y, int y_end,
                     bool edge)
{
    const float2 low_ = 0, high_ = 0;
    float2 low0 = 0, low1 = 0, low2 = 0, low3 = 0, low4 = 0, low5 = 0;
    float2 high0 = 0, high1 = 0, high2 = 0, high3 = 0, high4 = 0, high5 = 0;
    for (int n = y - TAPS / 2 + 1; n < y_end; n++) {
        int from = 2 * (n + TAPS / 2 - 1) + WINDOW_AT;
        float2 even = ROW_ALONG(from), odd = ROW_ALONG(from + 1);
        MEET(5, 4, 10, 11) MEET(4, 3, 8, 9) MEET(3, 2, 6, 7) MEET(2, 1, 4, 5) MEET(1, 0, 2, 3) MEET(0, _, 0, 1)
        if (n < y)
            continue;
        float2 low = CAT(low, LAST), high = CAT(high, LAST);
        bool has_high = !edge || p < high_width;
        *PLACE(ll, p, n) = low.x;
        if (has_high)
            *PLACE(hl, p, n) = low.y;
        if (edge && n >= high_height)
            continue;
        *PLACE(lh, p, n) = high.x;
        if (has_high)
            *PLACE(hh, p, n) = high.y;
    }
}
#define INSIDE                                                                                     \
    2 * p + WINDOW_AT >= 3 && 2 * p + WINDOW_AT + 24 <= width && p < high_width &&                 \
        2 * y + WINDOW_AT >= 0 && 2 * (y_end - 1) + WINDOW_AT + TAPS <= height && y_end <= high_height

#pragma kernel synthesis
/* Puts together along a row: an even sample of the picture and the odd one behind it, from a low and a high band. */
#define TAKE(k)                                                                                    \
    if (TAPS > k) {                                                                                \
        v = fma((float2)(EL##k, OL##k), (float2)(x[k]), v);                                        \
        v = fma((float2)(EH##k, OH##k), (float2)(z[k]), v);                                        \
    }
inline float2 FN(inside)(__global const float *low, __global const float *high)
{
    float x[8], z[8];
    LOAD_FOUR(0, low, x) LOAD_FOUR(4, low, x) LOAD_FOUR(0, high, z) LOAD_FOUR(4, high, z)
    float2 v = 0;
    TAKE(0) TAKE(1) TAKE(2) TAKE(3) TAKE(4) TAKE(5)
    return v;
}

inline float2 FN(anywhere)(__global const float *low, __global const float *high,
                           __global const float *restrict taps, int n, int low_width,
                           int high_width, int width, int ends)
{
    float2 v = 0;
    for (int k = 0; k < TAPS + (width >> 30); k++) {
        int l = band_index_near(n + k, low_width, 0, width, ends);
        int h = band_index_near(n + k, high_width, 1, width, ends);
        v = fma((float2)(taps[k], taps[TAPS + k]), (float2)(l < 0 ? 0.0f : low[l]), v);
        v = fma((float2)(taps[2 * TAPS + k], taps[3 * TAPS + k]),
                (float2)(h < 0 ? 0.0f : high[h]), v);
    }
    return v;
}

#define SIZES                                                                                      \
    int width, int height, int low_width, int high_width, int low_height, int high_height, int ends
#define SIZE_ARGUMENTS width, height, low_width, high_width, low_height, high_height, ends

/* Puts row n of two bands together along the row: of those that are low down the columns (ll, hl), or high (lh, hh). */
#define ROW_ALONG(low, high, n_rows, is_high, n)                                                   \
    (!edge ? FN(inside)(PLACE(low, p + WINDOW_AT, n), PLACE(high, p + WINDOW_AT, n))               \
           : FN(bordered)(low##_base + low##_offset, low##_stride, high##_base + high##_offset,    \
                          high##_stride, taps, band_index_near(n, n_rows, is_high, height, ends),        \
                          p + WINDOW_AT, low_width, high_width, width, ends))
inline float2 FN(bordered)(__global const float *low, int low_stride, __global const float *high,
                           int high_stride, __global const float *restrict taps, int row, int n,
                           int low_width, int high_width, int width, int ends)
{
    return row < 0 ? (float2)(0.0f)
                   : FN(anywhere)(low + row * low_stride, high + row * high_stride, taps, n,
                                  low_width, high_width, width, ends);
}

/* evenM and oddM are the unfinished sums of rows to which M + 1 rows of the bands have been added. MEET adds the next
 * row to those with one row less. */
#define MEET(m, before)                                                                            \
    if (TAPS > m) {                                                                                \
        even##m = fma((float2)(EH##m), high, fma((float2)(EL##m), low, even##before));             \
        odd##m = fma((float2)(OH##m), high, fma((float2)(OL##m), low, odd##before));               \
    }
#define TO_DST(v) SATURATE(DST, (v) * GAIN)
inline void FN(walk)(PLANES, __global const float *restrict taps, SIZES, int p, int y, int y_end,
                     bool edge)
{
    const float2 even_ = 0, odd_ = 0;
    float2 even0 = 0, even1 = 0, even2 = 0, even3 = 0, even4 = 0, even5 = 0;
    float2 odd0 = 0, odd1 = 0, odd2 = 0, odd3 = 0, odd4 = 0, odd5 = 0;
    for (int n = y - TAPS + 1; n < y_end; n++) {
        int row = n + TAPS - 1 + WINDOW_AT;
        float2 low = ROW_ALONG(ll, hl, low_height, 0, row);
        float2 high = ROW_ALONG(lh, hh, high_height, 1, row);
        MEET(5, 4) MEET(4, 3) MEET(3, 2) MEET(2, 1) MEET(1, 0) MEET(0, _)
        if (n < y)
            continue;
        float2 even = CAT(even, LAST), odd = CAT(odd, LAST);
        CAT(DST, 2) v = (CAT(DST, 2))(TO_DST(even.x), TO_DST(even.y));
        CAT(DST, 2) w = (CAT(DST, 2))(TO_DST(odd.x), TO_DST(odd.y));
        __global DST *to = PLACE(dst, 2 * p, 2 * n), *to_odd = PLACE(dst, 2 * p, 2 * n + 1);
        bool has_odd = !edge || 2 * n + 1 < height;
        if (!edge || 2 * p + 1 < width) {
            *(__global CAT(DST, 2) *)to = v;
            if (has_odd)
                *(__global CAT(DST, 2) *)to_odd = w;
        } else {
            *to = v.x;
            if (has_odd)
                *to_odd = w.x;
        }
    }
}
#define INSIDE                                                                                     \
    p + WINDOW_AT >= 0 && p + WINDOW_AT + 16 <= high_width && p + WINDOW_AT + 16 <= low_width &&   \
        y + WINDOW_AT >= 0 && y_end - 1 + WINDOW_AT + TAPS <= min(low_height, high_height) &&      \
        2 * p + 1 < width && 2 * y_end <= height
#pragma kernel

/* The grid counts columns of the low band, or pairs of columns, and blocks of `rows` of its rows. */
__kernel void KERNEL(GRID, PLANES, __global const float *restrict taps, int rows, int n_rows, SIZES)
{
    POSITION(p, block)
    int y = block * rows, y_end = min(y + rows, n_rows);
    if (INSIDE)
        FN(walk)(PLANE_ARGUMENTS, taps, SIZE_ARGUMENTS, p, y, y_end, false);
    else
        FN(walk)(PLANE_ARGUMENTS, taps, SIZE_ARGUMENTS, p, y, y_end, true);
}
