/* box from a summed-area table (Crow, Summed-area tables for texture mapping, 1984). The entry in row y and column x is
 * the sum of all samples above and left of (x, y), so the table has one row and one column more than the picture. Sums
 * are modulo 2^32 or 2^64; entries may overflow, because the sum of one window fits.
 *
 * A border needs no larger table. Along one axis, the sum of all samples in front of a position outside is a sum inside
 * plus multiples of the first sample, of all samples but the last, and of all samples (struct front). */
#include <border.cl>
#include <memory.cl>
#include <processor.cl>
#include <quotient.cl>
#define SUM_AT(x, y) ROW(table, y)[(x) * CH + channel]

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
    (SRC)((int)CAT(floor_quotient_, WINDOW_SUM)((WINDOW_SUM)(SUM)((sum) + bias), area, factor) - LOWEST)
#define WINDOW                                                                                     \
    int width, int height, int out_width, int out_height, int band, int left, int right, int top,  \
        int bottom, int border, int centre_x, int centre_y, uint area, float factor,               \
        WINDOW_SUM bias
#define WINDOW_ARGUMENTS                                                                            \
    width, height, out_width, out_height, band, left, right, top, bottom, border, centre_x, centre_y, area, factor, bias

#pragma kernel rows
/* The table on CPUs: sums along each row, which lies one row and one pixel further there; the grid counts rows of the table.
 */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(uint, table))
{
    int y = GRID_Y;
    IN_GRID(SPAN_BEGIN, y)
    __global uint *to = ROW(table, y);
    uint sums[CH];
    for (int c = 0; c < CH; c++)
        to[c] = sums[c] = 0;
    for (int i = 0; i < grid_width; i += CH)
        for (int c = 0; c < CH; c++)
            to[CH + i + c] = sums[c] += y == 0 ? 0 : (uint)(int)ROW(src, y - 1)[i + c];
}

#pragma kernel down
/* Sums of these down columns. The grid counts columns. */
__kernel void KERNEL(GRID, PLANE_OUT(uint, table), int height)
{
    int x = SPAN_BEGIN, end = SPAN_END(x);
    IN_GRID(x, GRID_Y)
    for (int y = 1; y <= height; y++) {
        __global const uint *above = ROW(table, y - 1);
        __global uint *to = ROW(table, y);
        for (int i = x; i < end; i++)
            to[i] += above[i];
    }
}

#pragma kernel sliding
/* Means on CPUs, without the table. Of it a row of results needs two rows, the one behind its windows and their first one,
 * and of these no more than by how much they differ: own[i], the sum of all samples left of column i in the windows'
 * rows. From row to row this changes by the sums along the row that enters minus the one that leaves, so that all of it
 * stays in a near cache. The grid counts bands of rows. Scratch memory of a work-item has `own`, and a row of zeros. */
#define OWN(x) (WINDOW_SUM)own[(x) * CH + channel]

#if defined(NATIVE) && (defined(SRC_IS_uchar) || defined(SRC_IS_char)) && !defined(SUM_IS_ulong)
/* Bytes: 32 differences at once, of which as many as are whole pixels count. Sums of so few fit 16 bits. */
#define IN_VECTORS
#define WHOLE (32 / CH * CH)
typedef SRC FN(bytes) __attribute__((ext_vector_type(32), aligned(1)));
typedef short FN(shorts) __attribute__((ext_vector_type(32)));
typedef SUM FN(sums) __attribute__((ext_vector_type(32), aligned(2)));
typedef uint FN(words) __attribute__((ext_vector_type(32)));
typedef int FN(ints) __attribute__((ext_vector_type(32)));
typedef float FN(floats) __attribute__((ext_vector_type(32)));
#define MOVED_LANE(i, k) ((i) < (k) ? 32 : (i) - (k))
#define LAST_LANE(i, k)  ((i) < WHOLE ? WHOLE - CH + (i) % CH : 32)
#define OWN_LANE(i, k)   ((i) < WHOLE ? (i) : 32)
#define FOUR_LANES(WHICH, i, k) WHICH(i, k), WHICH(i + 1, k), WHICH(i + 2, k), WHICH(i + 3, k)
#define LANES_OF(v, WHICH, k)                                                                      \
    __builtin_shufflevector(v, v - v, FOUR_LANES(WHICH, 0, k), FOUR_LANES(WHICH, 4, k), FOUR_LANES(WHICH, 8, k), \
                            FOUR_LANES(WHICH, 12, k), FOUR_LANES(WHICH, 16, k), FOUR_LANES(WHICH, 20, k),        \
                            FOUR_LANES(WHICH, 24, k), FOUR_LANES(WHICH, 28, k))
#endif

/* Adds `count` rows that lie `stride` apart, eight of them at a time. */
inline void FN(add_rows)(__global SUM *restrict sums, __global const SRC *restrict rows, int stride, int count, int n)
{
    for (int r = 0; r < count; r += 8) {
        int step[8];
        SUM weight[8]; /* 0: there is no such row */
        for (int k = 0; k < 8; k++) {
            weight[k] = r + k < count ? 1 : 0;
            step[k] = (r + (int)weight[k] * k) * stride;
        }
#define OF_ROW(k) weight[k] * (SUM)rows[step[k] + i]
        for (int i = 0; i < n; i++)
            sums[i] += OF_ROW(0) + OF_ROW(1) + OF_ROW(2) + OF_ROW(3) + OF_ROW(4) + OF_ROW(5) + OF_ROW(6) + OF_ROW(7);
    }
}

/* How sums are divided. Those of 16 bits by `multiplier` and `shift` (box_divider_choose in src/stage/box/box_divide.c).
 * For others `quick` is a little more than 1/area if, for all sums, the product is not far enough from the quotient to
 * need a correction; else 0. */
struct FN(quotient) {
    uint area;
    float factor;
    WINDOW_SUM bias;
    float quick;
    uint multiplier;
    int shift;
};

#ifdef IN_VECTORS
#ifdef SUM_IS_ushort
#define HAS_VECTORS(q) 1
#else
#define HAS_VECTORS(q) ((q).quick != 0)
#endif

/* Stores the means of 32 windows. `factors`: the multiplier in memory, see FN(quotient) in cl/fir/fir.cl */
inline void FN(store)(__global SRC *to, FN(sums) t, const struct FN(quotient) q, volatile FN(sums) *factors)
{
#ifdef SUM_IS_ushort
    FN(sums) m = *factors;
    t += (ushort)q.bias;
    t = __builtin_convertvector(__builtin_convertvector(t, FN(words)) * __builtin_convertvector(m, FN(words)) >> 16, FN(sums));
    *(__global FN(bytes) *)to = __builtin_convertvector((t >> (ushort)q.shift) - (ushort)LOWEST, FN(bytes));
#else
    FN(floats) v = __builtin_convertvector(__builtin_convertvector(t + q.bias, FN(ints)), FN(floats)) * q.quick;
    *(__global FN(bytes) *)to = __builtin_convertvector(__builtin_convertvector(v, FN(ints)) - LOWEST, FN(bytes));
#endif
}
#endif

/* Samples from … to - 1 of a row, whose windows lie inside it; means may be stored up to `end`. */
VECTORS_OF_512_BITS inline void FN(means)(__global SRC *restrict out, __global const SUM *restrict own, int from, int to,
                                          int end, int ahead, int behind, const struct FN(quotient) q)
{
#ifdef IN_VECTORS
    volatile FN(sums) factors = (FN(sums))(ushort)q.multiplier;
    for (; HAS_VECTORS(q) && from < to && from + 32 <= end; from += 32)
        FN(store)(out + from, *(__global const FN(sums) *)(own + from + ahead) - *(__global const FN(sums) *)(own + from - behind),
                  q, &factors);
#endif
#ifdef SUM_IS_ushort
    for (int i = from; i < to; i++) {
        ushort t = own[i + ahead] - own[i - behind] + (ushort)q.bias;
        out[i] = (SRC)((ushort)((uint)t * q.multiplier >> 16) >> q.shift) - (SRC)LOWEST;
    }
#else
    uint area = q.area;
    float factor = q.factor;
    WINDOW_SUM bias = q.bias;
    if (q.quick != 0)
        for (int i = from; i < to; i++)
            out[i] = (SRC)((int)((float)(int)(own[i + ahead] - own[i - behind] + bias) * q.quick) - LOWEST);
    else
        for (int i = from; i < to; i++)
            out[i] = MEAN(own[i + ahead] - own[i - behind]);
#endif
}

/* The next row: own[i + CH] += the sum of entering - leaving up to sample i of its channel; and the means of samples
 * begin … end - 1, whose windows lie inside, as soon as the sums in front of their windows' ends are there. */
VECTORS_OF_512_BITS inline void FN(move_down)(__global SRC *restrict out, __global SUM *restrict own,
                                              __global const SRC *restrict entering, __global const SRC *restrict leaving,
                                              int n, int begin, int end, int ahead, int behind, const struct FN(quotient) q)
{
    SUM sums[CH];
    int i = 0, from = end, to = end; /* so far no means; then those from … to - 1 */
    for (int c = 0; c < CH; c++)
        sums[c] = 0;
#ifdef IN_VECTORS
    volatile FN(sums) factors = (FN(sums))(ushort)q.multiplier;
    FN(sums) carry = 0; /* of each lane's channel */
    /* Means lag behind, so that what they load was not stored just before: a processor would wait for it. */
    int lag = ahead + behind < 4 * WHOLE ? 4 * WHOLE : 0;
    for (; i + 32 <= n; i += WHOLE) {
        FN(shorts) v = __builtin_convertvector(*(__global const FN(bytes) *)(entering + i), FN(shorts)) -
                       __builtin_convertvector(*(__global const FN(bytes) *)(leaving + i), FN(shorts));
        v += LANES_OF(v, MOVED_LANE, CH);
        v += LANES_OF(v, MOVED_LANE, 2 * CH);
        v += LANES_OF(v, MOVED_LANE, 4 * CH);
        v += LANES_OF(v, MOVED_LANE, 8 * CH);
#if CH == 1
        v += LANES_OF(v, MOVED_LANE, 16);
#endif
        FN(sums) all = __builtin_convertvector(LANES_OF(v, OWN_LANE, 0), FN(sums)) + carry +
                       *(__global FN(sums) *)(own + i + CH);
        *(__global FN(sums) *)(own + i + CH) = all;
        carry += __builtin_convertvector(LANES_OF(v, LAST_LANE, 0), FN(sums));
        int x = i + CH - ahead - lag;
        if (HAS_VECTORS(q) && x >= begin && x + 32 <= end) { /* lanes from WHOLE on are stored again */
            FN(store)(out + x, *(__global const FN(sums) *)(own + x + ahead) - *(__global const FN(sums) *)(own + x - behind),
                      q, &factors);
            from = min(from, x);
            to = x + WHOLE;
        }
    }
    for (int c = 0; c < CH; c++)
        sums[c] = carry[c];
#endif
    for (; i < n; i += CH)
        for (int c = 0; c < CH; c++)
            own[i + CH + c] += sums[c] += (SUM)entering[i + c] - (SUM)leaving[i + c];
    if (from == end)
        from = to = begin;
    FN(means)(out, own, begin, from, end, ahead, behind, q);
    FN(means)(out, own, max(begin, min(to, end - 32)), end, end, ahead, behind, q);
}

VECTORS_OF_512_BITS __kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst),
                                         __global uchar *restrict scratch, int size, WINDOW, float quick,
                                         uint multiplier, int shift)
{
    int item = GRID_Y, n = width * CH;
    IN_GRID(SPAN_BEGIN, item)
    __global SUM *own = (__global SUM *)(scratch + (size_t)item * size);
    __global SRC *zeros = (__global SRC *)(own + n + CH);
    for (int i = 0; i < n; i++)
        own[i + CH] = zeros[i] = 0;
    for (int c = 0; c < CH; c++)
        own[c] = 0;
    int y = item * band, last = min(y + band, out_height);
    for (int r = y - top, count, first, step; r <= y + bottom; r += count) { /* columns, for the first row */
        count = border_run(r, y + bottom + 1, height, border, &first, &step);
        if (first >= 0)
            FN(add_rows)(own + CH, ROW(src, first), step * src_stride, count, n);
    }
    for (int i = CH; i < n; i++)
        own[i + CH] += own[i];
    /* The windows of pixels begin … end - 1 lie inside the row. */
    int begin = min(left, out_width), end = clamp(width - right, begin, out_width);
    const struct FN(quotient) q = {area, factor, bias, quick, multiplier, shift};
    FN(means)(ROW(dst, y), own, begin * CH, end * CH, end * CH, (right + 1) * CH, left * CH, q);
    for (;;) {
        __global SRC *out = ROW(dst, y);
        __global const SRC *centre = ROW(src, y + centre_y) + centre_x * CH;
        for (int channel = 0; channel < CH; channel++) {
            int x = 0, beyond = end;
#define AT_END (OWN(width) - OWN(width - 1))
            if (border == BORDER_EDGE && left + right < width) { /* the first sample and the last one, many times */
                for (; x < begin; x++)
                    out[x * CH + channel] = MEAN(OWN(x + right + 1) + (SUM)(left - x) * OWN(1));
                for (; beyond < out_width; beyond++)
                    out[beyond * CH + channel] =
                        MEAN(OWN(width) + (SUM)(beyond + right + 1 - width) * AT_END - OWN(beyond - left));
            }
            for (x = x < begin ? x : beyond; x < out_width; x = x + 1 == begin ? end : x + 1) {
                struct FN(span) columns = FN(span)(x - left, x + right + 1, width, border);
                out[x * CH + channel] = MEAN(OF_SPAN(columns, width, OWN));
            }
        }
#if ALPHA
        for (int i = CH - 1; i < out_width * CH; i += CH)
            out[i] = centre[i];
#endif
        if (++y >= last)
            return;
        int enters = border_index(y + bottom, height, border), leaves = border_index(y - top - 1, height, border);
        FN(move_down)(ROW(dst, y), own, enters < 0 ? zeros : ROW(src, enters), leaves < 0 ? zeros : ROW(src, leaves), n,
                      begin * CH, end * CH, (right + 1) * CH, left * CH, q);
    }
}

#pragma kernel lookup
/* Means on GPUs. The grid counts samples. With entries of ulong a Mali core runs half the threads, because its registers
 * have 32 bits; windows of u8 never need them. */
#define COLUMN_ENTRY(y)  ROW(table, y)[column]
#define COLUMN(x)                                                                                  \
    FN(column)(table_base, table_offset, table_stride, rows, (x) * CH + channel, height)
inline SUM FN(column)(PLANE_IN(SUM, table), struct FN(span) rows, int column, int height)
{
    return OF_SPAN(rows, height, COLUMN_ENTRY);
}

/* Sample i of row y. */
inline void FN(one)(PLANE_IN(SRC, src), PLANE_IN(SUM, table), PLANE_OUT(SRC, dst), int i, int y, WINDOW)
{
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

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_IN(SUM, table), PLANE_OUT(SRC, dst), WINDOW)
{
    POSITION(i, y)
#if SPAN == 4 /* of bytes, on Mali: four samples at once where all of their windows are inside */
    uint before = (uint)(i - left * CH), behind = (uint)(i + (right + 1) * CH);
    if (i >= left * CH && i + 4 <= grid_width && i + 4 + right * CH <= width * CH && y >= top && y + bottom < height) {
        __global const uint *under = ROW(table, y + bottom + 1), *over = ROW(table, y - top);
        uint4 sums = UNALIGNED_IN(uint, 4, under + behind) - UNALIGNED_IN(uint, 4, under + before) -
                     UNALIGNED_IN(uint, 4, over + behind) + UNALIGNED_IN(uint, 4, over + before) + bias;
        uint4 means = (uint4)(floor_quotient_uint(sums.s0, area, factor), floor_quotient_uint(sums.s1, area, factor),
                              floor_quotient_uint(sums.s2, area, factor), floor_quotient_uint(sums.s3, area, factor)) -
                      (uint)LOWEST & 255u;
        uint word = means.s0 | means.s1 << 8 | means.s2 << 16 | means.s3 << 24;
#if ALPHA
        uint alpha = CH == 2 ? 0xff00ff00u : 0xff000000u;
        word = (word & ~alpha) | (*(__global const uint *)(ROW(src, y) + i) & alpha);
#endif
        *(__global uint *)(ROW(dst, y) + i) = word;
        return;
    }
    for (int end = min(i + 4, grid_width); i < end; i++)
        FN(one)(src_base, src_offset, src_stride, table_base, table_offset, table_stride, dst_base, dst_offset,
                dst_stride, i, y, WINDOW_ARGUMENTS);
#else
    FN(one)(src_base, src_offset, src_stride, table_base, table_offset, table_stride, dst_base, dst_offset, dst_stride,
            i, y, WINDOW_ARGUMENTS);
#endif
}
