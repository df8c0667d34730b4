/* Counts of a plane's samples by value, of f32 in bins from the least finite sample to the greatest, or of
 * pixels' luma; and what is made of them: where a share of all lies below and above, or the table that spreads
 * them evenly. Alpha does not count, nor what is not finite.
 *
 * `state` begins with what is found, then 256 sums of 256 bins each, then the table, then BINS counts for each
 * part. In the
 * rows form a work-item takes whole bands of rows and has its own histograms; else it takes a column of a
 * band, and adds to a histogram that others add to. */
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
    for (int y = band * rows; y < until; y++) {
        __global const SRC *in = ROW(src, y);
        for (int x = begin; x < SPAN_END(begin); x++)
            if (!SKIPPED(x))
                counts[(x & 3) * BINS + AT(in, x)]++;
    }
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
#elif defined(KERNEL_spread)
/* The table of equalize: with c samples up to a value, and m of the least, (c - m) / (n - m) of the range, halves
 * up. A work-item takes 256 values. */
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
        ulong n = (ulong)(uint)max(below - least, 0) * (BINS - 1) * 2 + rest;
        ((__global SRC *)(state + TABLE_AT))[v] = (SRC)(rest == 0 ? (ulong)v : n / (2 * rest));
    }
}
#elif defined(KERNEL_limits)
/* Black is the largest value (of f32, the last edge) with at most `share` samples below it, white the least one
 * with at most as many above it. Sums of 256 bins are stepped over at once. */
__kernel void KERNEL(GRID, __global int *restrict state, int share)
{
    if (GRID_Y >= grid_y_end || SPAN_BEGIN >= grid_width)
        return;
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
