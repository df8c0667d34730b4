/* box from a summed-area table (Crow, Summed-area tables for texture mapping, 1984). The entry in row y and column x is
 * the sum of all samples above and left of (x, y), so the table has one row and one column more than the picture. Sums
 * are modulo 2^32 or 2^64; entries may overflow, because the sum of one window fits.
 *
 * A border needs no larger table. Along one axis, the sum of all samples in front of a position outside is a sum inside
 * plus multiples of the first sample, of all samples but the last, and of all samples (struct front). */
#include <border.cl>
#include <quotient.cl>
#define SUM_AT(x, y) ROW(table, y)[(x) * CH + channel]

#if defined(KERNEL_table)
/* Makes the table, on CPUs. The grid counts bands of `block` rows; `carry` has the sums of all rows above each band. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_IN(SUM, carry), PLANE_OUT(SUM, table),
                     int width, int height, int block)
{
    int band = GRID_Y, n = width * CH;
    IN_GRID(SPAN_BEGIN, band)
    int y = band * block, end = min(y + block, height);
    for (int i = 0; band == 0 && i < n + CH; i++)
        ROW(table, 0)[i] = 0;
    for (int first = y; y < end; y++) {
        __global const SRC *in = ROW(src, y);
        /* Above the band's first row there is no row of the table, but the carry, which has to be summed along the row. */
        __global const SUM *above = y == first ? ROW(carry, band) : ROW(table, y) + CH;
        __global SUM *out = ROW(table, y + 1);
        SUM sum[CH];
        for (int c = 0; c < CH; c++)
            out[c] = sum[c] = 0;
        if (y == first)
            for (int i = 0; i < n; i += CH)
                for (int c = 0; c < CH; c++)
                    out[i + CH + c] = sum[c] += (SUM)in[i + c] + above[i + c];
        else
            for (int i = 0; i < n; i += CH)
                for (int c = 0; c < CH; c++)
                    out[i + CH + c] = (sum[c] += (SUM)in[i + c]) + above[i + c];
    }
}

#else
/* The sum of all samples in front of position i of a bordered line of n: sign * P(at) + first *
 * P(1) + before * P(n - 1) + all * P(n), where P(k) is the sum of the line's first k samples. */
struct FN(front) {
    int at, sign, first, before, all;
};

inline struct FN(front) FN(front)(int i, int n, int border)
{
    struct FN(front) f = {clamp(i, 0, n), 1, 0, 0, 0};
    if ((i >= 0 && i <= n) || border == BORDER_ZERO)
        return f;
    f.at = f.sign = 0;
    if (n == 1) {
        f.first = i;
    } else if (border == BORDER_EDGE) {
        f.first = min(i, 0);
        f.before = min(n - i, 0);
        f.all = i > n ? 1 + i - n : 0;
    } else {
        int period = border_period(n, border), rest = modulo(i, period);
        int periods = (i - rest) / period, mirrored = rest > n;
        f.at = mirrored ? period + (border == BORDER_REFLECT) - rest : rest;
        f.sign = mirrored ? -1 : 1;
        f.all = border == BORDER_SYMMETRIC ? 2 * (periods + mirrored) : periods + mirrored;
        if (border == BORDER_REFLECT) {
            f.first = -periods;
            f.before = f.all;
        }
    }
    return f;
}

/* A window's sum along one axis: the sum in front of its end minus the sum in front of its begin. */
struct FN(span) {
    int begin, begin_sign, end, end_sign, first, before, all;
};

inline struct FN(span) FN(span)(int begin, int end, int n, int border)
{
    struct FN(front) b = FN(front)(begin, n, border), e = FN(front)(end, n, border);
    struct FN(span) s = {b.at, b.sign, e.at, e.sign, e.first - b.first, e.before - b.before,
                         e.all - b.all};
    return s;
}
#define IS_INSIDE(s)                                                                               \
    ((s).begin_sign == 1 && (s).end_sign == 1 && !((s).first | (s).before | (s).all))
/* The sum over a span of a line of n, where PREFIX(k) is P(k). */
#define OF_INSIDE(s, PREFIX) (PREFIX((s).end) - PREFIX((s).begin))
#define OF_SPAN(s, n, PREFIX)                                                                      \
    ((SUM)(s).end_sign * PREFIX((s).end) - (SUM)(s).begin_sign * PREFIX((s).begin) +               \
     (SUM)(s).first * PREFIX(1) + (SUM)(s).before * PREFIX((n) - 1) + (SUM)(s).all * PREFIX(n))

/* The mean of a window, whose sum may have fewer bits than the table's entries. */
#define MEAN(sum)                                                                                  \
    (SRC)((int)CAT(floor_quotient_, WINDOW_SUM)((WINDOW_SUM)(sum) + bias, area, factor) - LOWEST)
#define WINDOW                                                                                     \
    int width, int height, int out_width, int out_height, int band, int left, int right, int top,  \
        int bottom, int border, int centre_x, int centre_y, uint area, float factor,               \
        WINDOW_SUM bias

#ifdef FORM_ROWS
/* Means on CPUs. The grid counts bands of rows. A row of scratch memory holds, for each column, the sum of all samples
 * left of it in the window's rows. */
#define ROW_ENTRY(y) ROW(table, y)[i]
#define OWN(x)       own[(x) * CH + channel]
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_IN(SUM, table), PLANE_OUT(SRC, dst),
                     __global SUM *restrict scratch, WINDOW)
{
    int item = GRID_Y, n = (width + 1) * CH;
    IN_GRID(SPAN_BEGIN, item)
    __global SUM *own = scratch + (size_t)item * n;
    for (int y = item * band, last = min(y + band, out_height); y < last; y++) {
        struct FN(span) rows = FN(span)(y - top, y + bottom + 1, height, border);
        if (IS_INSIDE(rows))
            for (int i = 0; i < n; i++)
                own[i] = OF_INSIDE(rows, ROW_ENTRY);
        else
            for (int i = 0; i < n; i++)
                own[i] = OF_SPAN(rows, height, ROW_ENTRY);
        __global SRC *out = ROW(dst, y);
        __global const SRC *centre = ROW(src, y + centre_y) + centre_x * CH;
        /* The windows of pixels begin … end - 1 lie inside the row. */
        int begin = min(left, out_width), end = clamp(width - right, begin, out_width);
        int ahead = (right + 1) * CH, behind = left * CH;
        for (int i = begin * CH; i < end * CH; i++)
            out[i] = IS_ALPHA(ALPHA, i) ? centre[i] : MEAN(own[i + ahead] - own[i - behind]);
        for (int x = begin > 0 ? 0 : end; x < out_width; x = x + 1 == begin ? end : x + 1) {
            struct FN(span) columns = FN(span)(x - left, x + right + 1, width, border);
            for (int channel = 0; channel < CH; channel++)
                out[x * CH + channel] = ALPHA && channel == CH - 1
                                            ? centre[x * CH + channel]
                                            : MEAN(OF_SPAN(columns, width, OWN));
        }
    }
}

#else
/* Means on GPUs. The grid counts samples. With entries of ulong a Mali core runs half the threads, because its registers
 * have 32 bits; windows of u8 never need them. */
#define COLUMN_ENTRY(y)  ROW(table, y)[column]
#define COLUMN(x)                                                                                  \
    FN(column)(table_base, table_offset, table_stride, rows, (x) * CH + channel, height)
inline SUM FN(column)(PLANE_IN(SUM, table), struct FN(span) rows, int column, int height)
{
    return OF_SPAN(rows, height, COLUMN_ENTRY);
}

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_IN(SUM, table), PLANE_OUT(SRC, dst), WINDOW)
{
    POSITION(i, y)
    int x = i / CH, channel = i % CH;
    __global SRC *out = ROW(dst, y) + i;
    if (ALPHA && channel == CH - 1) {
        *out = ROW(src, y + centre_y)[centre_x * CH + i];
        return;
    }
    struct FN(span) rows = FN(span)(y - top, y + bottom + 1, height, border);
    struct FN(span) columns = FN(span)(x - left, x + right + 1, width, border);
    if (IS_INSIDE(rows) && IS_INSIDE(columns))
        *out = MEAN(SUM_AT(columns.end, rows.end) - SUM_AT(columns.end, rows.begin) -
                    SUM_AT(columns.begin, rows.end) + SUM_AT(columns.begin, rows.begin));
    else
        *out = MEAN(OF_SPAN(columns, width, COLUMN));
}
#endif
#endif
