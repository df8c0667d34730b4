/* box of integers in rows form, for CPUs. A work-item computes a band of rows; the grid counts bands.
 *
 * For each sample of the row the work-item keeps the sum of its window plus half of the window's area, which rounds the
 * division. From row to row it adds the sum's change. With d = the row that enters the window minus the row that leaves
 * it, the change at x is the sum of d over the window's width; so from pixel to pixel the change itself changes by
 *
 *     e(x) = d(x + right) - d(x - left - 1)
 *
 * and is the prefix sum of e. e is small, so the prefix sum is computed in many narrow lanes at once. The cost does not
 * depend on the window's width. Signed samples become unsigned by adding 128 or 32768 (FLIP), which does not change
 * differences and makes every sum positive.
 *
 * Samples are computed in blocks of 32 bytes; cl/box/box_lanes.cl has their arithmetic.
 *
 * Windows that reach beyond the row read a copy of the samples there, extended by the border (a pad), so the loop over
 * blocks knows nothing of borders. */
#include <border.cl>
#include <own.cl>
#include <processor.cl>
#include "box_lanes.cl"
/* The samples of a block that are alpha; none without alpha. */
#define ALPHA_MASK                                                                                  \
    CAT(as_, PAIRS)((ulong4)(ALPHA == 2   ? (SAMPLE_BITS == 8 ? 0xff00ff00ff00ff00UL : 0xffff0000ffff0000UL) \
                             : ALPHA == 4 ? (SAMPLE_BITS == 8 ? 0xff000000ff000000UL : 0xffff000000000000UL) \
                                          : 0UL))

/* The planes and windows of a work-item. */
struct FN(shape) {
    int width, height, out_width, left, right, top, bottom, border;
    int capacity; /* samples from one row of scratch memory to the next */
    /* In samples. At a block, the window's left end is in the row from behind_begin to behind_end, and its right end up
     * to ahead_end; other blocks read pads. The block at `whole` is only partly in the row. */
    int behind_begin, behind_end, ahead_end, whole, end;
};

/* Scratch memory of a work-item: the sums, and, behind those of 16 bits, quotients; sums of columns; and rows of samples:
 * three pads of the row that enters, three of the row that leaves, zeros, and the row's last block. The three pads are
 * for the window's left end at the row's begin and at its end, and for the window's right end. */
#define SUMS_OF(base)      ((__global SUM *)(base))
#define QUOTIENTS_OF(base) ((__global SRC *)((__global uint *)(base) + s.capacity))
#define COLUMNS_OF(base)   ((__global uint *)(base) + 2 * s.capacity)
#define SAMPLES_OF(base)   ((__global SRC *)((__global uint *)(base) + 3 * s.capacity))
#define PAD_OF(base, i)    (SAMPLES_OF(base) + (i) * s.capacity + 8)
#define ZEROS_OF(base)     (SAMPLES_OF(base) + 6 * s.capacity)
#define LAST_OF(base)      (SAMPLES_OF(base) + 7 * s.capacity)
#define UP_TO_BLOCK(n)     (((n) + BLOCK - 1) & ~(BLOCK - 1))

/* The rows from which blocks are read, and to which they are written, as pointers to x = 0. `ahead` is at the window's
 * right end, `behind` at its left end. */
struct FN(lines) {
    __global const SRC *entering_ahead, *leaving_ahead, *entering_behind, *leaving_behind, *centre;
    __global SRC *out;
};

/* For the blocks from x to end: adds the changes to the sums, and writes the means. */
inline void FN(blocks)(struct FN(lines) at, __global SUM *row_sums, __global SRC *quotients, int x,
                       int end, PHASE *carry, const struct FN(divider) divider)
{
    volatile ushort16 multiplier;
    if (SUM_BITS == 16)
        multiplier = (ushort16)divider.multiplier;
    PHASE c[PHASES];
    UNROLLED for (int k = 0; k < PHASES; k++)
        c[k] = carry[k];
    for (; x < end; x += BLOCK) {
        PAIRS a = FN(load)(at.entering_ahead + x) ^ FLIPPED_PAIR;
        PAIRS b = FN(load)(at.leaving_ahead + x) ^ FLIPPED_PAIR;
        PAIRS p = FN(load)(at.entering_behind + x) ^ FLIPPED_PAIR;
        PAIRS q = FN(load)(at.leaving_behind + x) ^ FLIPPED_PAIR;
        HALVES even = FN(even)(a) - FN(even)(b) - (FN(even)(p) - FN(even)(q));
        HALVES odd = FN(odd)(a) - FN(odd)(b) - (FN(odd)(p) - FN(odd)(q));
        FN(changes)(&even, &odd);
        PHASE d[PHASES];
        FN(spread)(d, even, odd);
        __global SUMS *sums = (__global SUMS *)(row_sums + x);
        SUMS t[PHASES];
        QUOTIENTS m[PHASES];
        UNROLLED for (int k = 0; k < PHASES; k++)
        {
            d[k] += c[k];
            t[k] = sums[k] + CAT(convert_, SUMS)(d[k]);
        }
        FN(carry_on)(c, d);
        UNROLLED for (int k = 0; k < PHASES; k++)
        {
            m[k] = FN(divided)(&t[k], d[k], &multiplier, divider);
            sums[k] = t[k];
        }
        PAIRS means = FN(means)(m, quotients + x, divider.raised) ^ FLIPPED_PAIR;
        if (ALPHA)
            means = (means & ~ALPHA_MASK) | (FN(load)(at.centre + x) & ALPHA_MASK);
        FN(store)(means, at.out + x);
    }
    UNROLLED for (int k = 0; k < PHASES; k++)
        carry[k] = c[k];
}

/* Copies less than a block, in pieces that overlap. (A loop over samples took a fifth of the whole time.) */
inline void FN(copy_few)(__global SRC *to, __global const SRC *from, int n)
{
    if (n >= BLOCK / 2) {
        *(__global FN(piece8) *)to = *(__global const FN(piece8) *)from;
        *(__global FN(piece8) *)(to + n - BLOCK / 2) = *(__global const FN(piece8) *)(from + n - BLOCK / 2);
    } else if (n >= BLOCK / 4) {
        *(__global FN(piece4) *)to = *(__global const FN(piece4) *)from;
        *(__global FN(piece4) *)(to + n - BLOCK / 4) = *(__global const FN(piece4) *)(from + n - BLOCK / 4);
    } else {
        for (int i = 0; i < n; i++)
            to[i] = from[i];
    }
}

inline void FN(copy)(__global SRC *to, __global const SRC *from, int n)
{
    for (int i = 0; i + BLOCK < n; i += BLOCK)
        FN(store)(FN(load)(from + i), to + i);
    if (n >= BLOCK) /* the last whole block, part of which is copied a second time */
        FN(store)(FN(load)(from + n - BLOCK), to + n - BLOCK);
    else
        FN(copy_few)(to, from, n);
}

/* Repeats a pixel `count` times. May write up to CH blocks more. */
inline void FN(repeat)(__global SRC *to, __global const SRC *pixel, int count)
{
    PAIRS same = FN(repeated)(*pixel);
    for (int i = 0; CH == 1 && i < count; i += BLOCK)
        FN(store)(same, to + i);
    if (CH == 1)
        return;
    for (int i = 0, end = min(count, BLOCK); i < end; i++)
        for (int c = 0; c < CH; c++)
            to[i * CH + c] = pixel[c];
    if (count <= BLOCK)
        return;
    PAIRS v[CH];
    for (int c = 0; c < CH; c++)
        v[c] = FN(load)(to + c * BLOCK);
    for (int i = CH * BLOCK; i < count * CH; i += CH * BLOCK)
        for (int c = 0; c < CH; c++)
            FN(store)(v[c], to + i + c * BLOCK);
}

/* Copies `count` pixels backwards, from the pixel `from` on. */
inline void FN(copy_mirrored)(__global SRC *to, __global const SRC *from, int count)
{
    int k = 0;
    for (; CH == 1 && k + BLOCK <= count; k += BLOCK)
        FN(store)(FN(mirrored)(FN(load)(from - k - (BLOCK - 1))), to + k);
    for (; k < count; k++)
        for (int c = 0; c < CH; c++)
            to[k * CH + c] = from[c - k * CH];
}

/* Writes pixels begin … end - 1 of the bordered row. */
inline void FN(fill)(__global SRC *to, __global const SRC *row, __global const SRC *zero_pixel,
                     int begin, int end, const struct FN(shape) s)
{
    int first, step;
    for (int p = begin, count; p < end; p += count, to += count * CH) {
        count = border_run(p, end, s.width, s.border, &first, &step);
        if (step == 0)
            FN(repeat)(to, first < 0 ? zero_pixel : row + first * CH, count);
        else if (step > 0)
            FN(copy)(to, row + first * CH, count * CH);
        else
            FN(copy_mirrored)(to, row + first * CH, count);
    }
}

/* Writes samples begin … end - 1 of the bordered row, which need not begin or end at a pixel. */
inline void FN(pad)(__global SRC *to, __global const SRC *row, __global const SRC *zero_pixel,
                    int begin, int end, const struct FN(shape) s)
{
    int within = modulo(begin, CH), after = modulo(-end, CH);
    if (begin < end)
        FN(fill)(to - within, row, zero_pixel, (begin - within) / CH, (end + after) / CH, s);
}

/* Adds to the sum of each channel `weight` times the difference of entering and leaving samples, of pixels
 * begin … end - 1, which are in the row. */
inline void FN(add_inside)(int *sum, __global const SRC *entering, __global const SRC *leaving,
                           int begin, int end, int weight)
{
    int i = begin * CH;
    int8 total = 0;
    for (; CH == 1 && i + BLOCK <= end; i += BLOCK) {
        PAIRS a = FN(load)(entering + i) ^ FLIPPED_PAIR, b = FN(load)(leaving + i) ^ FLIPPED_PAIR;
        HALVES d = FN(even)(a) + FN(odd)(a) - FN(even)(b) - FN(odd)(b);
        total += SAMPLE_BITS == 8 ? ((as_int8(d) << 16) >> 16) + (as_int8(d) >> 16) : as_int8(d);
    }
    int4 four = total.s0123 + total.s4567;
    sum[0] += weight * (four.s0 + four.s1 + four.s2 + four.s3);
    for (; i < end * CH; i += CH)
        for (int c = 0; c < (CH == 2 ? 1 : CH); c++)
            sum[c] += weight * ((entering[i + c] ^ FLIPPED_ONE) - (leaving[i + c] ^ FLIPPED_ONE));
}

/* The same for the bordered row. */
inline void FN(add_bordered)(int *sum, __global const SRC *entering, __global const SRC *leaving,
                             int begin, int end, int weight, const struct FN(shape) s)
{
    int first, step;
    for (int p = begin, count; p < end; p += count) {
        count = border_run(p, end, s.width, s.border, &first, &step);
        if (step == 0 && first >= 0)
            FN(add_inside)(sum, entering, leaving, first, first + 1, weight * count);
        else if (step > 0)
            FN(add_inside)(sum, entering, leaving, first, first + count, weight);
        else if (step < 0)
            FN(add_inside)(sum, entering, leaving, first - count + 1, first + 1, weight);
    }
}

/* The sums' change at the pixel in front of the row, with which the prefix sum begins: for each lane of phase k that of
 * the lane's channel. */
inline void FN(first_carry)(PHASE *carry, __global const SRC *entering, __global const SRC *leaving,
                            const struct FN(shape) s, const struct FN(divider) divider)
{
    int sum[CH], period = border_period(s.width, s.border), begin = -s.left - 1;
    int whole = period ? (s.right - begin) / period : 0;
    for (int c = 0; c < CH; c++)
        sum[c] = 0;
    if (whole > 0)
        FN(add_bordered)(sum, entering, leaving, begin, begin + period, whole, s);
    FN(add_bordered)(sum, entering, leaving, begin + whole * period, s.right, 1, s);
    LANE first[CH];
    for (int c = 0; c < CH; c++)
        first[c] = (LANE)sum[c];
    for (int k = 0; k < PHASES; k++)
        carry[k] = FN(by_channel)(first, k, 0) + (PHASE)(LANE)(DIVIDE_REST ? divider.raised * divider.area : 0u);
}

/* Prefetches the ends of the row that enters next, because its pads are made first. (A fifth of the whole time was spent
 * waiting for them: processors prefetch along a row, but not the next row.) */
inline void FN(fetch_ends)(__global const SRC *row, int n)
{
    for (int i = 0; i < 4 * 64 / (SAMPLE_BITS / 8); i += 64 / (SAMPLE_BITS / 8)) {
        FETCH_AHEAD(row + i);
        FETCH_AHEAD(row + n - 1 - i);
    }
}

/* Computes a row: from the sums of the row before those of this one, and their means. */
inline void FN(row)(__global const SRC *entering, __global const SRC *leaving,
                    __global const SRC *centre, __global SRC *out, int next,
                    __global uchar *base, const struct FN(shape) s, const struct FN(divider) divider)
{
    int shift = (s.left + 1) * CH, lead = s.right * CH;
    for (int i = 0; i < 2; i++) {
        __global const SRC *row = i == 0 ? entering : leaving;
        __global const SRC *zero = ZEROS_OF(base);
        FN(pad)(PAD_OF(base, 3 * i), row, zero, -shift, s.behind_begin - shift, s);
        FN(pad)(PAD_OF(base, 3 * i + 1), row, zero, s.behind_end - shift, s.end - shift, s);
        FN(pad)(PAD_OF(base, 3 * i + 2), row, zero, s.ahead_end + lead, s.end + lead, s);
    }
    FN(fetch_ends)(entering + next, s.width * CH);
    PHASE carry[PHASES];
    FN(first_carry)(carry, entering, leaving, s, divider);
    for (int x = 0, end; x < s.end; x = end) {
        struct FN(lines) at = {entering + lead, leaving + lead, entering - shift, leaving - shift,
                               centre, out};
        end = x < s.whole ? s.whole : s.end;
        end = min(end, x < s.ahead_end ? s.ahead_end : s.end);
        if (x < s.behind_end)
            end = min(end, x < s.behind_begin ? s.behind_begin : s.behind_end);
        if (x >= s.ahead_end) {
            at.entering_ahead = PAD_OF(base, 2) - s.ahead_end;
            at.leaving_ahead = PAD_OF(base, 5) - s.ahead_end;
        }
        if (x < s.behind_begin) {
            at.entering_behind = PAD_OF(base, 0);
            at.leaving_behind = PAD_OF(base, 3);
        } else if (x >= s.behind_end) {
            at.entering_behind = PAD_OF(base, 1) - s.behind_end;
            at.leaving_behind = PAD_OF(base, 4) - s.behind_end;
        }
        if (x >= s.whole)
            at.centre = at.out = LAST_OF(base) - x;
        FN(blocks)(at, SUMS_OF(base), QUOTIENTS_OF(base), x, end, carry, divider);
    }
    for (int i = s.whole; i < s.out_width * CH; i++)
        out[i] = IS_ALPHA(ALPHA, i) ? centre[i] : LAST_OF(base)[i - s.whole];
}

/* Adds `weight` times each of `count` rows, at first, first + stride, …, to the sums of columns. */
inline void FN(add_rows)(__global uint *columns, __global const SRC *first, int stride, int count,
                         int n, uint weight)
{
    const int at_once = 8; /* not more rows than processors can prefetch at the same time */
    for (; count > 0; count -= at_once, first += at_once * stride) {
        int rows = min(count, at_once), i = 0;
        for (; i + 16 <= n; i += 16) {
            ROW_SUMS sums = 0;
            for (int r = 0; r < rows; r++)
                sums += CAT(convert_, ROW_SUMS)(*(__global const FN(samples) *)(first + r * stride + i) ^ (SRC)FLIPPED_ONE);
            *(__global uint16 *)(columns + i) += convert_uint16(sums) * weight;
        }
        for (; i < n; i++)
            for (int r = 0; r < rows; r++)
                columns[i] += (first[r * stride + i] ^ FLIPPED_ONE) * weight;
    }
}

/* The same for rows begin … end - 1 of the bordered plane. */
inline void FN(add_bordered_rows)(__global uchar *base, PLANE_IN(SRC, src), int begin, int end,
                                  uint weight, const struct FN(shape) s)
{
    int first, step;
    for (int p = begin, count; p < end; p += count) {
        count = border_run(p, end, s.height, s.border, &first, &step);
        __global const SRC *row = first < 0 ? ZEROS_OF(base) : ROW(src, first);
        FN(add_rows)(COLUMNS_OF(base), row, step * src_stride, step ? count : 1, s.width * CH,
                     step ? weight : weight * count);
    }
}

/* The sums of row y's windows plus half of the area, from the sums of columns. */
inline void FN(first_sums)(__global uchar *base, const struct FN(shape) s, uint area)
{
    uint outside = FLIPPED_ONE * (s.top + s.bottom + 1); /* a column of zeros */
    __global const uint *columns = COLUMNS_OF(base);
    for (int c = 0; c < CH; c++) {
        TOTAL sum = area / 2;
        for (int p = -s.left; p < s.out_width + s.right; p++) {
            int x = p - s.right, enters = border_index(p, s.width, s.border);
            int leaves = border_index(x - s.left - 1, s.width, s.border);
            sum += enters < 0 ? outside : columns[enters * CH + c];
            if (x > 0)
                sum -= leaves < 0 ? outside : columns[leaves * CH + c];
            if (x >= 0)
                SUMS_OF(base)[FN(place)(x * CH + c)] = (SUM)(DIVIDE_REST ? sum % area : sum);
            if (x >= 0 && DIVIDE_REST)
                QUOTIENTS_OF(base)[x * CH + c] = (SRC)(sum / area);
        }
    }
}

inline void FN(first_row)(__global uchar *base, PLANE_IN(SRC, src), int y,
                          const struct FN(shape) s, uint area)
{
    int period = border_period(s.height, s.border), begin = y - s.top;
    int whole = period ? (s.top + s.bottom + 1) / period : 0;
    for (int i = 0; i < s.width * CH; i++)
        COLUMNS_OF(base)[i] = ZEROS_OF(base)[i] = 0;
    if (whole > 0)
        FN(add_bordered_rows)(base, src_base, src_offset, src_stride, begin, begin + period, whole,
                              s);
    FN(add_bordered_rows)(base, src_base, src_offset, src_stride, begin + whole * period,
                          y + s.bottom + 1, 1, s);
    for (int i = s.out_width * CH; i < s.end; i++)
        SUMS_OF(base)[FN(place)(i)] = 0;
    FN(first_sums)(base, s, area);
}

#define INNER_ROW(y) FN(inner_row)(src_base + src_offset, src_stride, y, base, s)
inline __global const SRC *FN(inner_row)(__global const SRC *plane, int stride, int y,
                                         __global uchar *base, const struct FN(shape) s)
{
    int row = border_index(y, s.height, s.border);
    return row < 0 ? ZEROS_OF(base) : plane + row * stride;
}

/* `band` is the number of rows of a work-item. The destination's pixel (0, 0) has the source's (centre_x, centre_y) in its
 * window's middle. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst),
                     __global uchar *restrict scratch, int capacity, int width, int height,
                     int out_width, int out_height, int band, int left, int right,
                     int top, int bottom, int border, int centre_x, int centre_y,
                     uint area, uint multiplier, int drop, float factor, uint raised)
{
    int item = GRID_Y;
    IN_GRID(SPAN_BEGIN, item)
    int n = width * CH, shift = (left + 1) * CH, end = UP_TO_BLOCK(out_width * CH);
    const struct FN(divider) divider = {area, multiplier, drop, factor, raised};
    struct FN(shape) s = {width, height, out_width, left, right, top, bottom, border, capacity};
    s.end = end;
    s.whole = (out_width * CH) & ~(BLOCK - 1);
    s.behind_begin = min(UP_TO_BLOCK(shift), end);
    s.behind_end = clamp(UP_TO_BLOCK(n - BLOCK + shift + 1), s.behind_begin, end);
    s.ahead_end = clamp(UP_TO_BLOCK(n - BLOCK - right * CH + 1), 0, end);
    __global uchar *base = scratch + (size_t)OWN_Y * (capacity * (12 + SAMPLE_BITS));
    int first = item * band, last = min(first + band, out_height);
    FN(first_row)(base, src_base, src_offset, src_stride, first, s, area);
    for (int y = first; y < last; y++) {
        /* The first row's sums are complete: the same row enters and leaves. */
        __global const SRC *entering = INNER_ROW(y + bottom);
        __global const SRC *leaving = y == first ? entering : INNER_ROW(y - top - 1);
        FN(row)(entering, leaving, ROW(src, y + centre_y) + centre_x * CH, ROW(dst, y), src_stride,
                base, s, divider);
    }
}
