/* shrink: computes thresholds for wavelet coefficients, and applies them.
 *
 * The median of |HH1| is found by radix selection, 8 bits at a time, for the two ranks in the middle. KERNEL_count counts
 * how often each value of the next 8 bits occurs among the keys that begin with the bits found so far (the prefix);
 * KERNEL_pick appends the value in which the rank falls. Keys are the bits of the magnitudes, which compare like them.
 *
 * The first row of `state` holds, for each channel, two prefixes and two ranks, as KEY; then there are, for each channel,
 * rank and part, rows of 256 counts. In the rows form a work-item counts a whole band of rows in counts of its own; in
 * the other forms a column of a band, in counts that it shares with others.
 *
 * TOGETHER, on GPUs with local memory: work-groups of ITEMS count there, and find a rank, 11 bits at a time (of floats 8
 * bits are mostly the same, so that all would wait for a few counts); and one launch applies the thresholds to all planes
 * of a transform.
 *
 * WORK is float or double, SRC the coefficients' type, C the number of channels. */
#include <round.cl>
#include <together.cl>
#ifdef WORK_IS_double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#include "shrink_rule.cl"

#define COUNTS(c, w, part) ROW(state, 1 + ((c) * 2 + (w)) * parts + (part))

#pragma kernel clear
__kernel void KERNEL(GRID, PLANE_OUT(int, state), int samples)
{
    POSITION(x, y)
    for (int end = SPAN_END(x); x < end; x++) {
        if (y > 0) {
            ROW(state, y)[x] = 0;
        } else if (x < 4 * C) { /* the two middle ranks, which are equal for an odd count */
            int i = x % 4;
            STATE(x / 4, i) = i < RANK ? 0 : i == RANK ? (samples - 1) / 2 : samples / 2;
        }
    }
}

#pragma kernel count_together
/* The grid counts work-items, and bands of rows for each channel. Runs of one value are added at once. */
#define COUNT(v)                                                                                   \
    {                                                                                              \
        KEY key = KEY_OF(v) >> shift;                                                              \
        KEY above = key >> bits;                                                                   \
        int p = (int)(key & (KEY)((BINS - 1) >> (11 - bits))) + (above == a ? 0 : BINS);           \
        if (above == a || above == b) {                                                            \
            if (p != place && run > 0) {                                                           \
                atomic_add(counts + place, run);                                                   \
                run = 0;                                                                           \
            }                                                                                      \
            place = p, run++;                                                                      \
        }                                                                                          \
    }
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(int, state), int rows, int height, int width, int shift, int bits)
{
    __local int counts[2 * BINS];
    int item = (int)get_local_id(0), c = GRID_Y % C, band = GRID_Y / C, parts = 1;
    KEY a = STATE(c, PREFIX), b = STATE(c, PREFIX + 1);
    for (int i = item; i < 2 * BINS; i += ITEMS)
        counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int place = 0, run = 0;
    for (int y = band * rows; y < min(band * rows + rows, height); y++) {
        __global const SRC *in = ROW(src, y);
#if ALIGNED
        for (int x = 4 * item; x < width; x += 4 * ITEMS) {
            if (x + 4 <= width) {
                CAT(SRC, 4) v = *(__global const CAT(SRC, 4) *)(in + x);
                COUNT(v.s0) COUNT(v.s1) COUNT(v.s2) COUNT(v.s3)
            } else {
                for (int i = x; i < width; i++)
                    COUNT(in[i])
            }
        }
#else
        for (int x = item * C + c; x < width; x += ITEMS * C)
            COUNT(in[x])
#endif
    }
    if (run > 0)
        atomic_add(counts + place, run);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < 2 * BINS; i += ITEMS)
        if (counts[i] > 0)
            atomic_add(COUNTS(c, i / BINS, 0) + i % BINS, counts[i]);
}

#pragma kernel pick_together
/* A work-group for each channel, and BINS / ITEMS counts for each work-item. Clears the counts for the next bits. */
#define EACH (BINS / ITEMS)
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void KERNEL(GRID, PLANE_OUT(int, state), int bits)
{
    __local int sums[ITEMS];
    int item = (int)get_local_id(0), c = GRID_Y, parts = 1;
    KEY prefix[2] = {STATE(c, PREFIX), STATE(c, PREFIX + 1)};
    int ranks[2] = {(int)STATE(c, RANK), (int)STATE(c, RANK + 1)};
    for (int w = 0; w < 2; w++) {
        __global int *counts = COUNTS(c, prefix[0] == prefix[1] ? 0 : w, 0) + item * EACH;
        int all = 0;
        for (int i = 0; i < EACH; i++)
            all += counts[i];
        int rank = ranks[w] - (sum_up(sums, item, ITEMS, all) - all); /* among this work-item's own */
        if (rank >= 0 && rank < all) {
            int digit = 0;
            for (; rank >= counts[digit]; digit++)
                rank -= counts[digit];
            STATE(c, RANK + w) = (KEY)rank;
            STATE(c, PREFIX + w) = prefix[w] << bits | (KEY)(item * EACH + digit);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    for (int i = item; i < 2 * BINS; i += ITEMS)
        COUNTS(c, i / BINS, 0)[i % BINS] = 0;
}

#pragma kernel count
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(int, state), int rows, int height,
                     int parts, int shift)
{
    POSITION(begin, band)
#pragma form ROWS
    for (int y = band * rows; y < min(band * rows + rows, height); y++) {
        __global const SRC *in = ROW(src, y);
        for (int x = begin; x < SPAN_END(begin); x++) {
            int c = x % C;
            KEY key = KEY_OF(in[x]) >> shift;
            int digit = (int)(key & 255);
            KEY a = STATE(c, PREFIX), b = STATE(c, PREFIX + 1);
            COUNTS(c, 0, band)[digit] += key >> 8 == a;
            COUNTS(c, 1, band)[digit] += a != b && key >> 8 == b;
        }
    }
#pragma form VECTOR SCALAR
    int c = begin % C;
    KEY a = STATE(c, PREFIX), b = STATE(c, PREFIX + 1);
    for (int y = band * rows; y < min(band * rows + rows, height); y++) {
        KEY key = KEY_OF(ROW(src, y)[begin]) >> shift;
        int digit = (int)(key & 255);
        if (key >> 8 == a)
            atomic_inc(COUNTS(c, 0, band % parts) + digit);
        else if (key >> 8 == b)
            atomic_inc(COUNTS(c, 1, band % parts) + digit);
    }
#pragma form
}

#pragma kernel pick
/* The grid counts channels. Clears the counts for the next 8 bits. */
__kernel void KERNEL(GRID, PLANE_OUT(int, state), int parts)
{
    int c = SPAN_BEGIN;
    IN_GRID(c, GRID_Y)
    KEY prefix[2] = {STATE(c, PREFIX), STATE(c, PREFIX + 1)};
    for (int w = 0; w < 2; w++) {
        int from = prefix[0] == prefix[1] ? 0 : w;
        long rank = (long)STATE(c, RANK + w);
        int digit = 0;
        for (; digit < 255; digit++) {
            int count = 0;
            for (int part = 0; part < parts; part++)
                count += COUNTS(c, from, part)[digit];
            if (rank < count)
                break;
            rank -= count;
        }
        STATE(c, RANK + w) = (KEY)rank;
        STATE(c, PREFIX + w) = prefix[w] << 8 | (KEY)digit;
    }
    for (int part = 0; part < 2 * parts; part++)
        for (int i = 0; i < 256; i++)
            COUNTS(c, 0, part)[i] = 0;
}

#pragma kernel steps least
/* Of the risk of thresholds, up to the universal one. */
#define RISK_STEPS 256
/* One of them; where it is too small to divide by, there is none. */
inline WORK FN(step_of)(__global const KEY *found, WORK factor)
{
    WORK step = (MAGNITUDE(found[PREFIX]) + MAGNITUDE(found[PREFIX + 1])) * (WORK)0.5f * factor;
    return step < (WORK)1e-30f ? 0 : step;
}

#pragma kernel steps
/* For the threshold of least risk (SURE): counts how many magnitudes of a band lie in each of RISK_STEPS equal steps, the k-th
 * from k · step, which is not in it, to (k + 1) · step; those beyond all are not counted. The median times `factor` is a
 * step. Counts are those of the first rank, and all 0 before. */
inline int FN(step_at)(WORK size, WORK step, WORK inverse)
{
    int k = (int)fmin(size * inverse, (WORK)RISK_STEPS); /* by one step wrong at most */
    k -= k > 0 && size <= (WORK)k * step;
    return k + (k < RISK_STEPS && size > (WORK)(k + 1) * step);
}
#define STEP_OF(c)     FN(step_of)((__global const KEY *)ROW(state, 0) + 4 * (c), factor)
#define INVERSE(step)  ((step) > 0 ? 1 / (step) : 0)
#define PLACE_OF(v)    FN(step_at)(fabs((WORK)(v)), step, inverse)

#ifdef TOGETHER
/* The grid counts work-items, and bands of rows for each channel. */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(int, state), int rows, int height, int parts, WORK factor, int width)
{
    __local int counts[RISK_STEPS];
    int item = (int)get_local_id(0), c = GRID_Y % C, band = GRID_Y / C;
    WORK step = STEP_OF(c), inverse = INVERSE(step);
    for (int i = item; i < RISK_STEPS; i += ITEMS)
        counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int y = band * rows; y < min(band * rows + rows, height); y++) {
        __global const SRC *in = ROW(src, y);
        for (int x = item * C + c; x < width; x += ITEMS * C) {
            int k = PLACE_OF(in[x]);
            if (k < RISK_STEPS)
                atomic_inc(counts + k);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < RISK_STEPS; i += ITEMS)
        if (counts[i] > 0)
            atomic_add(COUNTS(c, 0, 0) + i, counts[i]);
}
#else
/* As `count`. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(int, state), int rows, int height, int parts, WORK factor)
{
    POSITION(begin, band)
    int end = min(band * rows + rows, height);
#pragma form ROWS
    for (int c = 0; c < C; c++) {
        WORK step = STEP_OF(c), inverse = INVERSE(step);
        __global int *counts = COUNTS(c, 0, band);
        for (int y = band * rows; y < end; y++) {
            __global const SRC *in = ROW(src, y);
            for (int x = begin + c; x < SPAN_END(begin); x += C) {
                int k = PLACE_OF(in[x]);
                if (k < RISK_STEPS)
                    counts[k]++;
            }
        }
    }
#pragma form VECTOR SCALAR
    int c = begin % C;
    WORK step = STEP_OF(c), inverse = INVERSE(step);
    for (int y = band * rows; y < end; y++) {
        int k = PLACE_OF(ROW(src, y)[begin]);
        if (k < RISK_STEPS)
            atomic_inc(COUNTS(c, 0, band % parts) + k);
    }
#pragma form
}
#endif

#pragma kernel least
/* The threshold of least risk of a band, one for each channel; the grid counts channels. With magnitudes in the middle of
 * their steps, and risks in quarters of a step's square, the risk of k steps is beyond that of none
 *     Σ over steps i < k of their counts · ((2i + 1)² − weight) + 4k² · how many magnitudes are not in these.
 * All are whole numbers below 2^51. Of equal risks the smallest threshold is taken. Clears the counts. */
__kernel void KERNEL(GRID, PLANE_OUT(int, state), PLANE_OUT(WORK, limits), int parts, WORK factor, int samples, int weight)
{
    int c = SPAN_BEGIN, best = 0;
    IN_GRID(c, GRID_Y)
    long below = 0, rest = samples, least = 0;
    for (int k = 1; k <= RISK_STEPS; k++) {
        long count = 0, middle = 2 * k - 1;
        for (int part = 0; part < parts; part++) {
            count += COUNTS(c, 0, part)[k - 1];
            COUNTS(c, 0, part)[k - 1] = 0;
        }
        below += count * (middle * middle - weight);
        rest -= count;
        long risk = below + 4 * (long)k * k * rest;
        if (risk < least) {
            least = risk;
            best = k;
        }
    }
    ROW(limits, 0)[c] = (WORK)best * FN(step_of)((__global const KEY *)ROW(state, 0) + 4 * c, factor);
}

#pragma kernel squares gather limit
/* Adds v to a sum in two parts, the second of which is the rounding error of the first (Knuth, The Art of Computer
 * Programming 2, 4.2.2, theorem B). */
inline CAT(WORK, 2) FN(add)(CAT(WORK, 2) sum, WORK v)
{
    WORK s = sum.x + v, back = s - sum.x;
    return (CAT(WORK, 2))(s, sum.y + ((sum.x - (s - back)) + (v - back)));
}
#define TWO(p) (*(__global const CAT(WORK, 2) *)(p))

#pragma kernel squares
/* Sums of squares over bands of rows: in the rows form one for each channel, in other forms one for each column. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(WORK, sums), int rows, int height)
{
    POSITION(x, band)
    int until = min(band * rows + rows, height);
    __global CAT(WORK, 2) *to = (__global CAT(WORK, 2) *)ROW(sums, band);
#pragma form ROWS
    for (int c = 0; c < C; c++) {
        CAT(WORK, 2) sum = 0;
        for (int y = band * rows; y < until; y++) {
            __global const SRC *in = ROW(src, y) + c;
            CAT(WORK, 16) lanes = 0;
            int i = 0;
            for (; i + 16 * C <= grid_width; i += 16 * C) {
                CAT(WORK, 16) v = (CAT(WORK, 16))(
                    in[i], in[i + C], in[i + 2 * C], in[i + 3 * C], in[i + 4 * C], in[i + 5 * C],
                    in[i + 6 * C], in[i + 7 * C], in[i + 8 * C], in[i + 9 * C], in[i + 10 * C],
                    in[i + 11 * C], in[i + 12 * C], in[i + 13 * C], in[i + 14 * C],
                    in[i + 15 * C]);
                lanes += v * v;
            }
            WORK row[16], rest = 0;
            vstore16(lanes, 0, row);
            for (; i + c < grid_width; i += C)
                rest += (WORK)in[i] * (WORK)in[i];
            for (int k = 0; k < 16; k++)
                sum = FN(add)(sum, row[k]);
            sum = FN(add)(sum, rest);
        }
        to[c] = sum;
    }
#pragma form VECTOR SCALAR
    CAT(WORK, 2) sum = 0;
    for (int y = band * rows; y < until; y++) {
        WORK v = (WORK)ROW(src, y)[x];
        sum = FN(add)(sum, v * v);
    }
    to[x] = sum;
#pragma form
}

#pragma kernel gather
/* Adds the columns' sums up, for each channel. The grid counts channels, and bands of rows. */
__kernel void KERNEL(GRID, PLANE_IN(WORK, columns), PLANE_OUT(WORK, sums), int width)
{
    POSITION(c, band)
    __global const CAT(WORK, 2) *in = (__global const CAT(WORK, 2) *)ROW(columns, band);
    CAT(WORK, 2) sum = 0;
    for (int x = 0; x < width; x++)
        sum = FN(add)(FN(add)(sum, in[x * C + c].x), in[x * C + c].y);
    ((__global CAT(WORK, 2) *)ROW(sums, band))[c] = sum;
}

#pragma kernel limit
/* The threshold of a band, one for each channel; the grid counts channels. The median times `factor` is σ, in the band's
 * units, or with UNIVERSAL the threshold itself. */
__kernel void KERNEL(GRID, PLANE_IN(int, state), PLANE_IN(WORK, sums), PLANE_OUT(WORK, limits),
                     int bands, WORK samples, WORK factor)
{
    int c = SPAN_BEGIN;
    IN_GRID(c, GRID_Y)
    __global const KEY *found = (__global const KEY *)ROW(state, 0) + 4 * c;
    WORK median = (MAGNITUDE(found[PREFIX]) + MAGNITUDE(found[PREFIX + 1])) * (WORK)0.5f;
    WORK sigma = median * factor;
#ifdef UNIVERSAL
    ROW(limits, 0)[c] = sigma;
#else
    CAT(WORK, 2) sum = 0;
    for (int band = 0; band < bands; band++) {
        CAT(WORK, 2) part = ((__global const CAT(WORK, 2) *)ROW(sums, band))[c];
        sum = FN(add)(FN(add)(sum, part.x), part.y);
    }
    WORK variance = (sum.x + sum.y) / samples - sigma * sigma;
    ROW(limits, 0)[c] = sigma == 0 ? 0 : variance > 0 ? sigma * sigma / sqrt(variance) : INFINITY;
#endif
}

#pragma kernel copy
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst))
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global SRC *out = ROW(dst, y);
#if SPAN == 4
    if (x + 4 <= grid_width) {
        *(__global CAT(SRC, 4) *)(out + x) = *(__global const CAT(SRC, 4) *)(in + x);
        return;
    }
#endif
    for (int end = SPAN_END(x); x < end; x++)
        out[x] = in[x];
}

#pragma kernel soft hard garrote firm greater less
#ifdef SRC_IS_int
#define TO_SAMPLE(v) saturate_int(v)
#else
#define TO_SAMPLE(v) (v)
#endif

#ifdef TOGETHER
/* What the grid's rows are: for each plane so many ints, from places[from] on. */
#define PLACE_INTS 9
#define ROWS_END   0 /* the row of the grid behind the plane's last one, and its first one */
#define ROWS_BEGIN 1
#define SRC_AT     2 /* the plane's offset and stride, in samples, in both frames; samples of its rows */
#define DST_AT     4
#define WIDTH      6
#define IS_COPIED  7 /* it has no threshold */
#define VALUE      8 /* its number among the values */

/* The grid counts samples of the widest plane's rows, and all rows. `values` are thresholds, for each band as many as
 * there can be channels; UNIVERSAL: what the median is multiplied with. */
__kernel void KERNEL(GRID, __global const SRC *restrict src, __global SRC *restrict dst,
                     __global const int *restrict places, int from, LIMITS_IN NUMBERS)
{
    POSITION(x, y)
    __global const int *place = places + from;
    while (y >= place[ROWS_END])
        place += PLACE_INTS;
    int width = place[WIDTH], row = y - place[ROWS_BEGIN];
    if (x >= width)
        return;
    __global const SRC *in = src + place[SRC_AT] + row * place[SRC_AT + 1];
    __global SRC *out = dst + place[DST_AT] + row * place[DST_AT + 1];
    bool copies = place[IS_COPIED];
    WORK limit = C > 1 || copies ? 0 : LIMIT_OF(0, place[VALUE]);
#define LIMIT (C == 1 ? limit : LIMIT_OF(x % C, place[VALUE] + x % C))
#define RULED(lane) (copies ? v.lane : TO_SAMPLE(FN(rule)((WORK)v.lane, LIMIT GIVEN)))
#if SPAN == 4
    if (x + 4 <= width) {
        CAT(SRC, 4) v = *(__global const CAT(SRC, 4) *)(in + x);
        *(__global CAT(SRC, 4) *)(out + x) =
            (CAT(SRC, 4))(RULED(x), RULED(y), RULED(z), RULED(w));
        return;
    }
#endif
    for (int end = min(x + SPAN, width); x < end; x++)
        out[x] = copies ? in[x] : TO_SAMPLE(FN(rule)((WORK)in[x], LIMIT GIVEN));
}
#else
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst),
                     __global const WORK *restrict all_limits, int first NUMBERS)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global SRC *out = ROW(dst, y);
    __global const WORK *limits = all_limits + first;
    WORK limit = limits[0];
#define LIMIT (C == 1 ? limit : limits[x % C])
#if SPAN == 4
#define RULED(lane) TO_SAMPLE(FN(rule)((WORK)v.lane, LIMIT GIVEN))
    if (x + 4 <= grid_width) {
        CAT(SRC, 4) v = *(__global const CAT(SRC, 4) *)(in + x);
        *(__global CAT(SRC, 4) *)(out + x) =
            (CAT(SRC, 4))(RULED(x), RULED(y), RULED(z), RULED(w));
        return;
    }
#endif
    for (int end = SPAN_END(x); x < end; x++)
        out[x] = TO_SAMPLE(FN(rule)((WORK)in[x], LIMIT GIVEN));
}
#endif
