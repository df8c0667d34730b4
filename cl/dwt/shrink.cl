/* shrink: computes thresholds for wavelet coefficients, and applies them. A launch is for all planes of transforms with
 * as many channels, which a table of places describes: first those that show the noise (HH1), one of each transform.
 *
 * The median of |HH1| is found by radix selection, 8 bits at a time, for the two ranks in the middle. KERNEL_count counts
 * how often each value of the next 8 bits occurs among the keys that begin with the bits found so far (the prefix);
 * KERNEL_pick appends the value in which the rank falls. Keys are the bits of the magnitudes, which compare like them.
 *
 * A row of `state` for each transform holds, for each channel, two prefixes and two ranks, as KEY; then there are, for each
 * part of each plane, for each channel and rank, rows of counts. Planes are cut into bands of `rows` rows. On CPUs a
 * work-item counts a whole band, which is a part; elsewhere columns of a pixel of a band, in parts that bands share.
 *
 * On GPUs with local memory work-groups of ITEMS count there, and find a rank, 11 bits at a time (of floats 8 bits are
 * mostly the same, so that all would wait for a few counts).
 *
 * WORK is float or double, SRC the coefficients' type, C the number of channels. */
#include <round.cl>
#include <together.cl>

#ifdef WORK_IS_double
#define KEY ulong
#else
#define KEY uint
#endif
#ifdef SRC_IS_int
#define KEY_OF(v)      abs(v)
#define MAGNITUDE(key) ((WORK)(key))
#else
#define KEY_OF(v)      (CAT(as_, KEY)(v) & (KEY)-1 >> 1) /* without the sign */
#define MAGNITUDE(key) CAT(as_, WORK)(key)
#endif
#define PREFIX      0
#define RANK        2

/* The keys of channel c in a row of the state, and the median. */
#define KEYS(row, c) ((__global KEY *)ROW(state, row) + 4 * (c))
#define MEDIAN(row, c)                                                                             \
    ((MAGNITUDE(KEYS(row, c)[PREFIX]) + MAGNITUDE(KEYS(row, c)[PREFIX + 1])) * (WORK)0.5f)

/* A place is four vectors, `plane`, `parts`, `result` and `range`: kernels load those that they need, each at once. */
#define SRC_AT      plane.x /* offset and stride, in samples; samples of its rows */
#define SRC_STRIDE  plane.y
#define WIDTH       plane.z
#define HEIGHT      plane.w
#define BANDS_AT    parts.x /* of all planes' bands its first one; those that are copied have none */
#define PARTS_AT    parts.y /* the row of its first counts */
#define PARTS       parts.z
#define STATE_ROW   parts.w /* its transform's, which a plane that shows the noise has the number of */
#define BLOCKS_END  result.x /* of all planes' blocks of ROWS rows the one behind its last one */
#define DST_AT      result.y
#define DST_STRIDE  result.z
#define VALUE       result.w /* the number of its first channel's among the values; negative: it is copied */
#define BANDS_END   range.x
#define VALUES_AT   range.y /* its transform's planes' */
#define VALUES_END  range.z
#define WEIGHT      range.w /* of KERNEL_least */
#define BY_BLOCKS   8       /* the ints BLOCKS_END and BANDS_END */
#define BY_BANDS    12

#define PLACES_IN   __global const int4 *restrict all_places, int first_place, int n_places
#define PLACE_AT(i) (all_places + 4 * (first_place + (i)))

/* The place of which `row` is, by its end in field `by`. */
inline int FN(place_of)(PLACES_IN, int by, int row)
{
#define IS_BEHIND(i) (row >= ((__global const int *)PLACE_AT(i))[by])
    int low = 0, high = 0; /* the first planes have most rows */
    while (high < n_places - 1 && IS_BEHIND(high)) {
        low = high + 1;
        high = min(2 * high + 1, n_places - 1);
    }
    while (low < high) {
        int middle = (low + high) / 2;
        if (IS_BEHIND(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#define PLACE_OF(by, row)  FN(place_of)(all_places, first_place, n_places, by, row)
#define IN_ROW(y)          (src + (uint)(SRC_AT + (y) * SRC_STRIDE))
/* Where the samples from `begin` on end that are a work-item's: a pixel, or what the row has of SPAN. */
#define END                (SPAN == C ? begin + C : min(begin + SPAN, WIDTH))
/* Takes each of these that is channel c's; IN_FOURS: four of one channel, which are loaded at once. */
#define TAKE_EACH(in)                                                                              \
    if (IN_FOURS && begin + 4 == end) {                                                            \
        CAT(SRC, 4) v = *(__global const CAT(SRC, 4) *)((in) + begin);                             \
        TAKE_ONE(v.x) TAKE_ONE(v.y) TAKE_ONE(v.z) TAKE_ONE(v.w)                                    \
    } else {                                                                                       \
        for (int x = begin + c; x < end; x += C)                                                   \
            TAKE_ONE((in)[x])                                                                      \
    }
#define COUNTS(c, w, part) ROW(state, PARTS_AT + ((part) * C + (c)) * 2 + (w))
#define EACH_ROW_OF_BAND(y)                                                                        \
    for (int y = (band - BANDS_AT) * rows, y_end = min(y + rows, HEIGHT); y < y_end; y++)

#pragma kernel clear
/* The grid counts counts, and rows of the state. */
__kernel void KERNEL(GRID, PLANE_OUT(int, state), PLACES_IN)
{
    POSITION(x, y)
    for (int end = SPAN_END(x); x < end; x++) {
        if (y >= n_places) {
            ROW(state, y)[x] = 0;
        } else if (x < 4 * C) { /* the two middle ranks, which are equal for an odd count */
            int4 plane = PLACE_AT(y)[0];
            KEYS(y, 0)[x] = x % 4 < RANK ? 0 : (WIDTH / C * HEIGHT - (x % 4 == RANK)) / 2;
        }
    }
}

#pragma kernel pick pick_together
/* Behind the last bits, where the median times a factor is the threshold of a plane (`stores`): stores those of the
 * transform's planes, of which those that are copied have a factor of 0. */
#define UNIVERSAL_IN int stores, __global const WORK *restrict factors, __global WORK *restrict limits
#define STORE_UNIVERSAL(first, step)                                                               \
    for (int i = VALUES_AT + 4 * (first) + c, end = stores ? VALUES_END : 0; i < end; i += 4 * (step)) \
        limits[i] = MEDIAN(transform, c) * factors[i];

#pragma kernel count_together
/* The grid counts work-items, and bands for each channel. Runs of one value are added at once. */
#define COUNT(v)                                                                                   \
    {                                                                                              \
        KEY key = KEY_OF(v) >> shift;                                                              \
        KEY above = key >> bits;                                                                   \
        int p = (int)(key & (KEY)((BINS - 1) >> (11 - bits))) + (above == a ? 0 : BINS);           \
        if (above == a || above == b) {                                                            \
            if (p != last && run > 0) {                                                            \
                atomic_add(counts + last, run);                                                    \
                run = 0;                                                                           \
            }                                                                                      \
            last = p, run++;                                                                       \
        }                                                                                          \
    }
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, __global const SRC *restrict src, PLANE_OUT(int, state), PLACES_IN, int rows, int shift, int bits)
{
    __local int counts[2 * BINS];
    int item = (int)get_local_id(0), c = GRID_Y % C, band = GRID_Y / C;
    int transform = PLACE_OF(BY_BANDS, band);
    __global const int4 *place = PLACE_AT(transform);
    int4 plane = place[0], parts = place[1];
    KEY a = KEYS(transform, c)[PREFIX], b = KEYS(transform, c)[PREFIX + 1];
    for (int i = item; i < 2 * BINS; i += ITEMS)
        counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int last = 0, run = 0;
    EACH_ROW_OF_BAND(y) {
        __global const SRC *in = IN_ROW(y);
        int x = item * C + c;
        if (ALIGNED)
            for (x = 4 * item; x + 4 <= WIDTH; x += 4 * ITEMS) {
                CAT(SRC, 4) v = *(__global const CAT(SRC, 4) *)(in + x);
                COUNT(v.s0) COUNT(v.s1) COUNT(v.s2) COUNT(v.s3)
            }
        for (; x < WIDTH; x += ALIGNED ? 1 : ITEMS * C)
            COUNT(in[x])
    }
    if (run > 0)
        atomic_add(counts + last, run);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < 2 * BINS; i += ITEMS)
        if (counts[i] > 0)
            atomic_add(COUNTS(c, i / BINS, 0) + i % BINS, counts[i]);
}

#pragma kernel pick_together
/* A work-group for each channel of each transform, and BINS / ITEMS counts for each work-item. Clears the counts for the
 * next bits. */
#define EACH (BINS / ITEMS)
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, PLANE_OUT(int, state), PLACES_IN, UNIVERSAL_IN, int bits)
{
    __local int sums[ITEMS];
    int item = (int)get_local_id(0), c = GRID_Y % C, transform = GRID_Y / C;
    __global const int4 *place = PLACE_AT(transform);
    int4 parts = place[1], range = place[3];
    __global KEY *keys = KEYS(transform, c);
    KEY prefix[2] = {keys[PREFIX], keys[PREFIX + 1]};
    int ranks[2] = {(int)keys[RANK], (int)keys[RANK + 1]};
    barrier(CLK_GLOBAL_MEM_FENCE); /* all have read what one of them stores below */
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
            keys[RANK + w] = (KEY)rank;
            keys[PREFIX + w] = prefix[w] << bits | (KEY)(item * EACH + digit);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    for (int i = item; i < 2 * BINS; i += ITEMS)
        COUNTS(c, i / BINS, 0)[i % BINS] = 0;
    STORE_UNIVERSAL(item, ITEMS)
}

#pragma kernel count steps
#pragma form ROWS
#define COUNT_IF(count, is) *(count) += (is)
#define PART (band - BANDS_AT)
#pragma form VECTOR SCALAR
#define PART ((band - BANDS_AT) & 15) /* there are 16, or as many as bands */
#define COUNT_IF(count, is)                                                                        \
    if (is)                                                                                        \
        atomic_inc(count);
#pragma form

#pragma kernel count
#define TAKE_ONE(v)                                                                                \
    {                                                                                              \
        KEY key = KEY_OF(v) >> shift;                                                              \
        COUNT_IF(counts + (key & 255), key >> 8 == prefix.x);                                      \
        COUNT_IF(others + (key & 255), prefix.x != prefix.y && key >> 8 == prefix.y);              \
    }
/* The grid counts samples of the widest plane's rows, and bands. */
__kernel void KERNEL(GRID, __global const SRC *restrict src, PLANE_OUT(int, state), PLACES_IN, int rows, int shift)
{
    POSITION(begin, band)
    int transform = PLACE_OF(BY_BANDS, band);
    __global const int4 *place = PLACE_AT(transform);
    int4 plane = place[0], parts = place[1];
    if (begin >= WIDTH)
        return;
    int end = END;
    for (int c = 0; c < C; c++) {
        CAT(KEY, 2) prefix = *(__global const CAT(KEY, 2) *)KEYS(transform, c);
        __global int *counts = COUNTS(c, 0, PART), *others = COUNTS(c, 1, PART);
        EACH_ROW_OF_BAND(y) {
            TAKE_EACH(IN_ROW(y))
        }
    }
}

#pragma kernel pick
/* The grid counts channels, and transforms. Clears the counts for the next 8 bits. */
__kernel void KERNEL(GRID, PLANE_OUT(int, state), PLACES_IN, UNIVERSAL_IN)
{
    POSITION(c, transform)
    __global const int4 *place = PLACE_AT(transform);
    int4 parts = place[1], range = place[3];
    __global KEY *keys = KEYS(transform, c);
    KEY prefix[2] = {keys[PREFIX], keys[PREFIX + 1]};
    for (int w = 0; w < 2; w++) {
        int from = prefix[0] == prefix[1] ? 0 : w;
        long rank = (long)keys[RANK + w];
        int digit = 0;
        for (; digit < 255; digit++) {
            int count = 0;
            for (int part = 0; part < PARTS; part++)
                count += COUNTS(c, from, part)[digit];
            if (rank < count)
                break;
            rank -= count;
        }
        keys[RANK + w] = (KEY)rank;
        keys[PREFIX + w] = prefix[w] << 8 | (KEY)digit;
    }
    for (int i = 0; i < 2 * PARTS; i++) {
        __global int4 *counts = (__global int4 *)COUNTS(c, i & 1, i >> 1);
        for (int k = 0; k < 64; k++)
            counts[k] = 0;
    }
    STORE_UNIVERSAL(0, 1)
}

#pragma kernel steps steps_together least
/* Of the risk of thresholds, up to the universal one. */
#define RISK_STEPS 256
/* One of them; where it is too small to divide by, there is none. */
inline WORK FN(step_of)(WORK median, WORK factor)
{
    WORK step = median * factor;
    return step < (WORK)1e-30f ? 0 : step;
}
#define STEP_OF(c) FN(step_of)(MEDIAN(STATE_ROW, c), factors[VALUE + (c)])

#pragma kernel steps steps_together
/* For the threshold of least risk (SURE): counts how many magnitudes of a band lie in each of RISK_STEPS equal steps, the k-th
 * from k · step, which is not in it, to (k + 1) · step; those beyond all are not counted. The median times a factor is a
 * step. Counts are those of the first rank, and all 0 before. */
inline int FN(step_at)(WORK size, WORK step, WORK inverse)
{
    int k = (int)fmin(size * inverse, (WORK)RISK_STEPS); /* by one step wrong at most */
    k -= k > 0 && size <= (WORK)k * step;
    return k + (k < RISK_STEPS && size > (WORK)(k + 1) * step);
}
#define STEP_AT(v)     FN(step_at)(fabs((WORK)(v)), step, inverse)

#pragma kernel steps_together
/* The grid counts work-items, and bands for each channel. */
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, __global const SRC *restrict src, PLANE_OUT(int, state), PLACES_IN, int rows,
       __global const WORK *restrict factors)
{
    __local int counts[RISK_STEPS];
    int item = (int)get_local_id(0), c = GRID_Y % C, band = GRID_Y / C;
    __global const int4 *place = PLACE_AT(PLACE_OF(BY_BANDS, band));
    int4 plane = place[0], parts = place[1], result = place[2];
    WORK step = STEP_OF(c), inverse = step > 0 ? 1 / step : 0;
    for (int i = item; i < RISK_STEPS; i += ITEMS)
        counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH_ROW_OF_BAND(y) {
        for (int x = item * C + c; x < WIDTH; x += ITEMS * C) {
            int k = STEP_AT(IN_ROW(y)[x]);
            if (k < RISK_STEPS)
                atomic_inc(counts + k);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < RISK_STEPS; i += ITEMS)
        if (counts[i] > 0)
            atomic_add(COUNTS(c, 0, 0) + i, counts[i]);
}

#pragma kernel steps
#define TAKE_ONE(v)                                                                                \
    {                                                                                              \
        int k = STEP_AT(v);                                                                        \
        COUNT_IF(counts + min(k, RISK_STEPS - 1), k < RISK_STEPS);                                 \
    }
/* As `count`. */
__kernel void KERNEL(GRID, __global const SRC *restrict src, PLANE_OUT(int, state), PLACES_IN, int rows,
                     __global const WORK *restrict factors)
{
    POSITION(begin, band)
    __global const int4 *place = PLACE_AT(PLACE_OF(BY_BANDS, band));
    int4 plane = place[0], parts = place[1], result = place[2];
    if (begin >= WIDTH)
        return;
    int end = END;
    for (int c = 0; c < C; c++) {
        WORK step = STEP_OF(c), inverse = step > 0 ? 1 / step : 0;
        __global int *counts = COUNTS(c, 0, PART);
        EACH_ROW_OF_BAND(y) {
            TAKE_EACH(IN_ROW(y))
        }
    }
}

#pragma kernel least
/* The threshold of least risk of a plane, one for each channel; the grid counts channels, and planes. With magnitudes in the
 * middle of their steps, and risks in quarters of a step's square, the risk of k steps is beyond that of none
 *     Σ over steps i < k of their counts · ((2i + 1)² − weight) + 4k² · how many magnitudes are not in these.
 * All are whole numbers below 2^51. Of equal risks the smallest threshold is taken. */
__kernel void KERNEL(GRID, PLANE_OUT(int, state), PLACES_IN, __global const WORK *restrict factors,
                     __global WORK *restrict limits)
{
    POSITION(c, y)
    __global const int4 *place = PLACE_AT(y);
    int4 plane = place[0], parts = place[1], result = place[2], range = place[3];
    int best = 0;
    if (VALUE < 0)
        return;
    long below = 0, rest = WIDTH / C * HEIGHT, least = 0;
    for (int k = 1; k <= RISK_STEPS; k++) {
        long count = 0, middle = 2 * k - 1;
        for (int part = 0; part < PARTS; part++)
            count += COUNTS(c, 0, part)[k - 1];
        below += count * (middle * middle - WEIGHT);
        rest -= count;
        long risk = below + 4 * (long)k * k * rest;
        if (risk < least) {
            least = risk;
            best = k;
        }
    }
    limits[VALUE + c] = (WORK)best * STEP_OF(c);
}

#pragma kernel squares gather limit
/* Adds v to a sum in two parts, the second of which is the rounding error of the first (Knuth, The Art of Computer
 * Programming 2, 4.2.2, theorem B). */
inline CAT(WORK, 2) FN(add)(CAT(WORK, 2) sum, WORK v)
{
    WORK s = sum.x + v, back = s - sum.x;
    return (CAT(WORK, 2))(s, sum.y + ((sum.x - (s - back)) + (v - back)));
}
#define SUMS_OF(band) ((__global CAT(WORK, 2) *)ROW(sums, band))

#pragma kernel squares
/* Sums of squares over bands: on CPUs one for each channel, elsewhere one for each work-item. The grid is that of `count`. */
#define TAKE_ONE(v) sum = FN(add)(sum, (WORK)(v) * (WORK)(v));
__kernel void KERNEL(GRID, __global const SRC *restrict src, PLANE_OUT(WORK, sums), PLACES_IN, int rows)
{
    POSITION(begin, band)
    __global const int4 *place = PLACE_AT(PLACE_OF(BY_BANDS, band));
    int4 plane = place[0], parts = place[1];
    if (begin >= WIDTH)
        return;
    int end = END;
    for (int c = 0; c < C; c++) {
        CAT(WORK, 2) sum = 0;
        EACH_ROW_OF_BAND(y) {
            __global const SRC *in = src + (uint)(SRC_AT + y * SRC_STRIDE + begin + c);
#pragma form ROWS
            CAT(WORK, 16) lanes = 0;
            WORK row[16], rest = 0;
            int i = 0, n = min(SPAN, WIDTH - begin);
            for (; i + 16 * C <= n; i += 16 * C) {
                CAT(WORK, 16) v = (CAT(WORK, 16))(
                    in[i], in[i + C], in[i + 2 * C], in[i + 3 * C], in[i + 4 * C], in[i + 5 * C],
                    in[i + 6 * C], in[i + 7 * C], in[i + 8 * C], in[i + 9 * C], in[i + 10 * C],
                    in[i + 11 * C], in[i + 12 * C], in[i + 13 * C], in[i + 14 * C],
                    in[i + 15 * C]);
                lanes += v * v;
            }
            vstore16(lanes, 0, row);
            for (int k = 0; k < 16; k++)
                sum = FN(add)(sum, row[k]);
            for (; i + c < n; i += C)
                rest += (WORK)in[i] * (WORK)in[i];
            sum = FN(add)(sum, rest);
#pragma form VECTOR SCALAR
            if (IN_FOURS) {
                TAKE_EACH(in - begin)
            } else {
                TAKE_ONE(in[0])
            }
#pragma form
        }
        SUMS_OF(band)[IN_FOURS ? begin / 4 : begin + c] = sum;
    }
}

#pragma kernel gather
/* Adds the sums of work-items up, for each channel. The grid counts channels, and bands. */
__kernel void KERNEL(GRID, PLANE_IN(WORK, columns), PLANE_OUT(WORK, sums), PLACES_IN)
{
    POSITION(c, band)
    __global const CAT(WORK, 2) *in = (__global const CAT(WORK, 2) *)ROW(columns, band);
    __global const int4 *place = PLACE_AT(PLACE_OF(BY_BANDS, band));
    int4 plane = place[0];
    CAT(WORK, 2) sum = 0;
    for (int x = c, n = IN_FOURS ? (WIDTH + 3) / 4 : WIDTH; x < n; x += C)
        sum = FN(add)(FN(add)(sum, in[x].x), in[x].y);
    SUMS_OF(band)[c] = sum;
}

#pragma kernel limit
/* The threshold of a plane by its sum of squares, one for each channel; the grid counts channels, and planes. The median
 * times a factor is σ, in the plane's units. */
__kernel void KERNEL(GRID, PLANE_OUT(int, state), PLANE_OUT(WORK, sums), PLACES_IN,
                     __global const WORK *restrict factors, __global WORK *restrict limits)
{
    POSITION(c, y)
    __global const int4 *place = PLACE_AT(y);
    int4 plane = place[0], parts = place[1], result = place[2], range = place[3];
    if (VALUE < 0)
        return;
    WORK sigma = MEDIAN(STATE_ROW, c) * factors[VALUE + c];
    CAT(WORK, 2) sum = 0;
    for (int band = BANDS_AT; band < BANDS_END; band++)
        sum = FN(add)(FN(add)(sum, SUMS_OF(band)[c].x), SUMS_OF(band)[c].y);
    WORK variance = (sum.x + sum.y) / (WORK)(WIDTH / C * HEIGHT) - sigma * sigma;
    limits[VALUE + c] = sigma == 0 ? 0 : variance > 0 ? sigma * sigma / sqrt(variance) : INFINITY;
}

#pragma kernel apply
#include "shrink_rule.cl"

/* The grid counts samples of the widest plane's rows, and all blocks. */
#define RULED(v) SATURATE(SRC, FN(rule)((WORK)(v), limit, upper, slope))
__kernel void KERNEL(GRID, __global const SRC *restrict src, __global SRC *restrict dst, PLACES_IN, LIMITS_IN)
{
    POSITION(begin, block)
    __global const int4 *place = PLACE_AT(PLACE_OF(BY_BLOCKS, block));
    int4 plane = place[0], result = place[2];
    if (begin >= WIDTH)
        return;
    int first = (block - BLOCKS_END + (HEIGHT + ROWS - 1) / ROWS) * ROWS, end = END;
    for (int c = 0; c < C; c++) {
        WORK limit = VALUE < 0 ? 0 : values[VALUE + c];
        for (int y = first; y < min(first + ROWS, HEIGHT); y++) {
            __global const SRC *in = IN_ROW(y);
            __global SRC *out = dst + (uint)(DST_AT + y * DST_STRIDE);
            if (IN_FOURS && begin + 4 == end) {
                CAT(SRC, 4) v = *(__global const CAT(SRC, 4) *)(in + begin);
                if (VALUE >= 0)
                    v = (CAT(SRC, 4))(RULED(v.x), RULED(v.y), RULED(v.z), RULED(v.w));
                *(__global CAT(SRC, 4) *)(out + begin) = v;
                continue;
            }
            if (VALUE < 0)
                for (int x = begin + c; x < end; x += C)
                    out[x] = in[x];
            else
                for (int x = begin + c; x < end; x += C)
                    out[x] = RULED(in[x]);
        }
    }
}
