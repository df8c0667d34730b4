/* Counts of a plane's samples by value, of f32 in bins from the least finite sample to the greatest, or of
 * pixels' luma; and what is made of them: where a share of all lies below and above, or the table that spreads
 * them evenly. Alpha does not count, nor what is not finite.
 *
 * `state` begins with what is found, then 256 sums of 256 bins each, then the table, then BINS counts for each
 * part. In the
 * rows form a work-item takes whole bands of rows and has its own histograms; else it takes a column of a
 * band, and adds to a histogram that others add to, or a work-group of ITEMS counts together. */
#define FOUND_LEAST 0
#define FOUND_MOST  1
#define FOUND_BLACK 2
#define FOUND_WHITE 3
#define SUMS_AT     16
#define TABLE_AT    272
#define COUNTS_AT   (272 + BINS)

#ifdef SRC_IS_float
#define BINS 4096
/* Keys are ints in the order of the floats. */
inline int FN(key)(float v)
{
    int bits = as_int(v);
    return bits ^ (bits >> 31 & 0x7fffffff);
}
#define VALUE_OF(key) as_float((key) ^ ((key) >> 31 & 0x7fffffff))
#define COUNTS(v)     (fabs(v) < INFINITY)

/* Edge i is least + i * width, in f32; the last one is the greatest sample. The range may exceed f32. */
inline float FN(edge)(float least, float most, int i)
{
    float width = most * 0.000244140625f - least * 0.000244140625f;
    return i == BINS ? most : least + (float)i * width;
}

/* The last bin whose edge the sample reaches, wherever the guess begins. */
inline int FN(bin)(float least, float most, float v)
{
    float width = most * 0.000244140625f - least * 0.000244140625f;
    float guess = width > 0.0f ? (v * 0.000244140625f - least * 0.000244140625f) * (4096.0f / width)
                               : 0.0f;
    int b = guess > 0.0f ? (int)min(guess, 4095.0f) : 0;
    while (b < BINS - 1 && v >= FN(edge)(least, most, b + 1))
        b++;
    while (b > 0 && v < FN(edge)(least, most, b))
        b--;
    return b;
}
#define PLACE(v) FN(bin)(least, most, v)
#define EDGE(i)  as_int(FN(edge)(least, most, i))
#else
#ifdef SRC_IS_uchar
#define BINS 256
#else
#define BINS 65536
#endif
#define COUNTS(v) true
#define PLACE(v)  (v)
#define EDGE(i)   min(i, BINS - 1)
#endif

#ifdef LUMA
#define AT(in, x)                                                                                  \
    (int)((in[(x) * LUMA] * 19595u + in[(x) * LUMA + 1] * 38470u + in[(x) * LUMA + 2] * 7471u +    \
           32768u) >> 16)
#else
#define AT(in, x) in[x]
#endif

#ifdef ALPHA
#define SKIPPED(x) IS_ALPHA(ALPHA, x)
#else
#define SKIPPED(x) false
#endif

#if defined(KERNEL_clear)
__kernel void KERNEL(GRID, __global int *restrict state)
{
    int part = GRID_Y;
    int x = SPAN_BEGIN;
    if (part >= grid_y_end || x >= grid_width)
        return;
    for (int end = SPAN_END(x); x < end; x++)
        if (part == 0 || x >= COUNTS_AT)
            state[part * BINS + x] = x == FOUND_LEAST ? INT_MAX : x == FOUND_MOST ? INT_MIN : 0;
}
#elif defined(KERNEL_range)
__kernel void KERNEL(GRID, __global int *restrict state, PLANE_IN(SRC, src), int rows, int height,
                     int parts)
{
    int band = GRID_Y;
    int begin = SPAN_BEGIN;
    if (band >= grid_y_end || begin >= grid_width)
        return;
    int least = INT_MAX, most = INT_MIN, end = SPAN_END(begin);
    for (int y = band * rows; y < min(band * rows + rows, height); y++) {
        __global const SRC *in = ROW(src, y);
        for (int x = begin; x < end; x++) {
            bool counts = !SKIPPED(x) && COUNTS(in[x]);
            int key = FN(key)(in[x]);
            least = min(least, counts ? key : INT_MAX);
            most = max(most, counts ? key : INT_MIN);
        }
    }
    if (least <= most) {
        atomic_min(state + FOUND_LEAST, least);
        atomic_max(state + FOUND_MOST, most);
    }
}
#elif defined(KERNEL_count)
#if defined(FORM_ROWS) && defined(SRC_IS_uchar) && !defined(LUMA) && !defined(ALPHA) && defined(PAIRS_FROM)
#define IN_PAIRS
#endif
__kernel void KERNEL(GRID, __global int *restrict state, PLANE_IN(SRC, src), int rows, int height,
                     int parts)
{
    int band = GRID_Y;
    int begin = SPAN_BEGIN;
    if (band >= grid_y_end || begin >= grid_width)
        return;
#ifdef SRC_IS_float
    if (state[FOUND_LEAST] > state[FOUND_MOST])
        return;
    float least = VALUE_OF(state[FOUND_LEAST]), most = VALUE_OF(state[FOUND_MOST]);
#endif
    int until = min(band * rows + rows, height);
#if defined(FORM_ROWS) && defined(SRC_IS_uchar)
    __global int *counts = state + COUNTS_AT + band * 4 * BINS;
#ifdef IN_PAIRS
    struct pair_counts pairs;
    bool in_pairs = (until - band * rows) * (SPAN_END(begin) - begin) >= PAIRS_FROM;
    if (in_pairs)
        pairs_begin(&pairs);
#endif
    for (int y = band * rows; y < until; y++) {
        __global const SRC *in = ROW(src, y);
        int x = begin;
#ifdef IN_PAIRS
        if (in_pairs) {
            x = begin + ((SPAN_END(begin) - begin) & ~7);
            pairs_count(&pairs, in + begin, x - begin, 4096, counts);
        }
#endif
#if !defined(LUMA) && !defined(ALPHA)
        for (; x + 8 <= SPAN_END(begin); x += 8) {
            uchar8 v = vload8(0, in + x);
            counts[v.s0]++, counts[BINS + v.s1]++, counts[2 * BINS + v.s2]++, counts[3 * BINS + v.s3]++;
            counts[v.s4]++, counts[BINS + v.s5]++, counts[2 * BINS + v.s6]++, counts[3 * BINS + v.s7]++;
        }
#endif
        for (; x < SPAN_END(begin); x++)
            if (!SKIPPED(x))
                counts[(x & 3) * BINS + AT(in, x)]++;
    }
#ifdef IN_PAIRS
    if (in_pairs)
        pairs_add(&pairs, counts);
#endif
#elif defined(FORM_ROWS)
    __global int *counts = state + COUNTS_AT + band * BINS;
    for (int y = band * rows; y < until; y++) {
        __global const SRC *in = ROW(src, y);
        for (int x = begin; x < SPAN_END(begin); x++)
            if (!SKIPPED(x) && COUNTS(AT(in, x)))
                counts[PLACE(AT(in, x))]++;
    }
#else
    /* Runs of one bin are added at once: in a plain region all items meet in a few bins. */
    if (SKIPPED(begin))
        return;
    __global int *counts = state + COUNTS_AT + band % parts * BINS;
    int place = 0, run = 0;
    for (int y = band * rows; y < until; y++) {
        __global const SRC *in = ROW(src, y);
        SRC v = AT(in, begin);
        if (!COUNTS(v))
            continue;
        int p = PLACE(v);
        if (p != place && run > 0) {
            atomic_add(counts + place, run);
            run = 0;
        }
        place = p;
        run++;
    }
    if (run > 0)
        atomic_add(counts + place, run);
#endif
}
#elif defined(KERNEL_tally)
/* Bytes on GPUs with local memory: a work-group counts there, each 32 of its work-items, which most likely run side
 * by side, in a histogram of their own, and adds up what it has at the end. It takes SPREAD samples, or pixels, of
 * each row; of samples that all count a work-item takes 16 at once, and four that are alike are added at once. */
#define SPREAD (16 * ITEMS)
#define COPIES (ITEMS / 32)
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
KERNEL(GRID, __global int *restrict state, PLANE_IN(SRC, src), int rows, int height, int parts, int width)
{
    __local int counts[COPIES * BINS];
    int item = (int)get_local_id(0), begin = (int)get_group_id(0) * SPREAD;
    __local int *own = counts + item / 32 * BINS;
    for (int i = item; i < COPIES * BINS; i += ITEMS)
        counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int y = GRID_Y * rows; y < min(GRID_Y * rows + rows, height); y++) {
        __global const SRC *in = ROW(src, y);
#if !defined(LUMA) && !defined(ALPHA)
        int x = begin + 16 * item;
        if (x + 16 <= width) {
            uint4 v = *(__global const uint4 *)(in + x);
            for (int i = 0; i < 4; i++, v = v.s1233) {
                if (v.x == (v.x & 255u) * 0x01010101u) {
                    atomic_add(own + (v.x & 255u), 4);
                    continue;
                }
                atomic_inc(own + (v.x & 255u));
                atomic_inc(own + (v.x >> 8 & 255u));
                atomic_inc(own + (v.x >> 16 & 255u));
                atomic_inc(own + (v.x >> 24));
            }
            continue;
        }
        for (int end = width; x < end; x++)
            atomic_inc(own + in[x]);
#else
        for (int x = begin + item; x < min(begin + SPREAD, width); x += ITEMS)
            if (!SKIPPED(x))
                atomic_inc(own + AT(in, x));
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < BINS; i += ITEMS) {
        int sum = 0;
        for (int c = 0; c < COPIES; c++)
            sum += counts[c * BINS + i];
        if (sum > 0)
            atomic_add(state + COUNTS_AT + i, sum);
    }
}
#elif defined(KERNEL_merge)
/* Adds up all parts in the first one, and its bins in sums of 256. */
__kernel void KERNEL(GRID, __global int *restrict state, int parts)
{
    int bin = SPAN_BEGIN;
    if (GRID_Y >= grid_y_end || bin >= grid_width)
        return;
    int count = 0;
    for (int p = 0; p < parts; p++)
        count += state[COUNTS_AT + p * BINS + bin];
    state[COUNTS_AT + bin] = count;
    if (count > 0)
        atomic_add(state + SUMS_AT + bin / 256, count);
}
#elif defined(KERNEL_spread) || defined(KERNEL_limits)
/* The table of equalize (spread): with c samples up to a value, and m of the least, (c - m) / (n - m) of the range,
 * halves up.
 *
 * The limits of normalize: black is the largest value (of f32, the last edge) with at most `share` samples below it,
 * white the least one with at most as many above it.
 *
 * On GPUs with local memory (TOGETHER) a work-group takes 256 values, or sums of as many: each of its work-items adds
 * those in front of its own. Else a work-item takes 256 values one by one, and for limits steps over sums at once. */
#define SPREAD_TO(v, below, least, rest)                                                           \
    (SRC)((rest) == 0 ? (ulong)(v)                                                                 \
                      : ((ulong)(uint)max((below) - (least), 0) * (BINS - 1) * 2 + (rest)) / (2 * (rest)))
#ifdef TOGETHER
/* The sum of `v` of the work-items up to this one. */
inline int FN(sum_up)(__local int *sums, int item, int v)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[item] = v;
    for (int distance = 1; distance < ITEMS; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int before = item >= distance ? sums[item - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] += before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sums[item];
}

/* The first work-item of which `is_one` is true, ITEMS where there is none. */
inline int FN(first_one)(__local int *found, int item, bool is_one)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0)
        *found = ITEMS;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_one)
        atomic_min(found, item);
    barrier(CLK_LOCAL_MEM_FENCE);
    return *found;
}
#endif
#endif
#if defined(KERNEL_spread) && defined(TOGETHER)
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void KERNEL(GRID, __global int *restrict state)
{
    __local int sums[ITEMS], found;
    int item = (int)get_local_id(0), group = (int)get_group_id(0), v = group * ITEMS + item;
    int own = item < BINS / ITEMS ? state[SUMS_AT + item] : 0;
    __global int *counts = state + COUNTS_AT;
    FN(sum_up)(sums, item, own);
    int below = group > 0 ? sums[max(group - 1, 0)] : 0, all = sums[ITEMS - 1];
    int first = min(FN(first_one)(&found, item, own > 0), BINS / ITEMS - 1) * ITEMS;
    int place = FN(first_one)(&found, item, counts[first + item] > 0);
    int least = place < ITEMS ? counts[first + place] : 0;
    below += FN(sum_up)(sums, item, counts[v]);
    ulong rest = (ulong)(uint)(all - least);
    ((__global SRC *)(state + TABLE_AT))[v] = SPREAD_TO(v, below, least, rest);
}
#elif defined(KERNEL_spread)
__kernel void KERNEL(GRID, __global int *restrict state)
{
    int group = SPAN_BEGIN;
    if (GRID_Y >= grid_y_end || group >= grid_width)
        return;
    __global int *sums = state + SUMS_AT, *counts = state + COUNTS_AT;
    int below = 0, all = 0, least = 0;
    for (int i = 0; i < BINS / 256; i++) {
        below += i < group ? sums[i] : 0;
        if (all == 0 && sums[i] > 0)
            for (int k = i * 256; least == 0; k++)
                least = counts[k];
        all += sums[i];
    }
    ulong rest = (ulong)(uint)(all - least);
    for (int v = group * 256; v < group * 256 + 256; v++) {
        below += counts[v];
        ((__global SRC *)(state + TABLE_AT))[v] = SPREAD_TO(v, below, least, rest);
    }
}
#elif defined(KERNEL_limits)
#ifdef TOGETHER
/* The first bin up to which more samples lie than `share`, BINS where there is none. Backwards: from the end. */
inline int FN(first_beyond)(__global const int *restrict state, __local int *sums, __local int *found, int item,
                            int share, bool backwards)
{
    int groups = BINS / ITEMS, group = backwards ? groups - 1 - item : item;
    int own = item < groups ? state[SUMS_AT + group] : 0;
    int first = FN(first_one)(found, item, FN(sum_up)(sums, item, own) > share);
    if (first >= groups)
        return BINS;
    int before = first > 0 ? sums[max(first - 1, 0)] : 0, bin = first * ITEMS + item;
    int count = state[COUNTS_AT + (backwards ? BINS - 1 - bin : bin)];
    return first * ITEMS + FN(first_one)(found, item, before + FN(sum_up)(sums, item, count) > share);
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
#endif
__kernel void KERNEL(GRID, __global int *restrict state, int share)
{
    if (GRID_Y >= grid_y_end || SPAN_BEGIN >= grid_width)
        return;
#ifdef TOGETHER
    __local int sums[ITEMS], place;
    int item = (int)get_local_id(0);
    int black = FN(first_beyond)(state, sums, &place, item, share, false);
    int white = BINS - FN(first_beyond)(state, sums, &place, item, share, true);
    if (item > 0)
        return;
#else
    __global int *sums = state + SUMS_AT, *counts = state + COUNTS_AT;
    int black = 0, below = 0, white = BINS, above = 0;
    for (; black < BINS && below + sums[black / 256] <= share; black += 256)
        below += sums[black / 256];
    while (black < BINS && below + counts[black] <= share)
        below += counts[black++];
    for (; white > 0 && above + sums[white / 256 - 1] <= share; white -= 256)
        above += sums[white / 256 - 1];
    while (white > 0 && above + counts[white - 1] <= share)
        above += counts[--white];
#endif
#ifdef SRC_IS_float
    bool found = state[FOUND_LEAST] <= state[FOUND_MOST];
    float least = found ? VALUE_OF(state[FOUND_LEAST]) : 0.0f;
    float most = found ? VALUE_OF(state[FOUND_MOST]) : 0.0f;
    state[FOUND_WHITE] = EDGE(white);
#else
    state[FOUND_WHITE] = max(white - 1, 0); /* no sample of that value or more but the share's */
#endif
    state[FOUND_BLACK] = EDGE(black);
}
#endif
