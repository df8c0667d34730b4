/* What is made of a plane's counts (cl/count.cl): the table that spreads them evenly, for equalize; and between which
 * values all lie but a share below and a share above, for normalize. 256 values, or sums of as many, are taken by ITEMS
 * work-items together, EACH by one. */
#include "bins.cl"
#include "shares.cl"
#define GROUPS (BINS / 256)

#pragma kernel spread
/* The table of equalize: with c samples up to a value, and m of the least, (c - m) / (n - m) of the range, halves up. */
GROUPED __kernel void KERNEL(GRID, __global int *restrict state)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    SHARED ulong both[ITEMS];
    SHARED int sums[ITEMS], place;
    int group = SPAN_BEGIN / ITEMS, item = SPAN_BEGIN % ITEMS, begin = group * 256 + item * EACH;
    __global int *counts = state + COUNTS_AT;
    int front = 0, all = 0, first = 0, own = 0;
    if (GROUPS == 1) {
        all = state[SUMS_AT];
    } else {
        for (int i = item; i < GROUPS; i += ITEMS) {
            all += state[SUMS_AT + i];
            front += i < group ? state[SUMS_AT + i] : 0;
        }
        SUM_UP_WIDE(both, (ulong)(uint)all << 32 | (ulong)(uint)front);
        all = (int)(SUM_OF_ALL(both) >> 32), front = (int)(uint)SUM_OF_ALL(both);
        first = min(FN(first_counted)(state + SUMS_AT, GROUPS, 1, &place, item), GROUPS - 1) * 256;
    }
    int least = counts[first + min(FN(first_counted)(counts + first, 256, 1, &place, item), 255)];
    for (int v = begin; ITEMS > 1 && v < begin + EACH; v++) /* one alone needs no sum; Mesa would keep the empty loop */
        own += counts[v];
    int below = front + SUM_UP(sums, own) - own;
    ulong rest = (ulong)(uint)(all - least);
    for (int v = begin; v < begin + EACH; v++) {
        below += counts[v];
        ulong share = (ulong)(uint)max(below - least, 0) * (BINS - 1);
        ((__global SRC *)(state + TABLE_AT))[v] = (SRC)(rest == 0 ? (ulong)v : (share * 2 + rest) / (2 * rest));
    }
}
#pragma kernel limits
/* The first of `n` counts, each `step` behind the one before, up to which there are more than `share`; n where there is
 * none. `share` loses those in front of it. */
inline int FN(first_beyond)(__global const int *counts, int n, int step, int *share, SHARED int *sums, SHARED int *place,
                            int item)
{
    int begin = min(item * EACH, n), end = min(begin + EACH, n), own = 0, at = begin;
    for (int i = begin; i < end; i++)
        own += counts[i * step];
    int below = SUM_UP(sums, own) - own;
    while (at < end && below + counts[at * step] <= *share)
        below += counts[at++ * step];
    own = at < end && below <= *share ? at : n;
    int first = LEAST_OF(place, own);
    if (first == n)
        return n;
    if (own == first) /* whose place it is */
        sums[0] = *share - below;
    BARRIER
    *share = sums[0];
    return first;
}

/* How many bins there are up to that with more than `share` samples up to it, from the first on, or from the last. */
inline int FN(bins_within)(__global const int *state, bool backwards, int share, SHARED int *sums, SHARED int *place,
                           int item)
{
    int step = backwards ? -1 : 1;
    __global const int *counts = state + COUNTS_AT + (backwards ? BINS - 1 : 0);
    int group = 0;
    if (GROUPS > 1)
        group = FN(first_beyond)(state + SUMS_AT + (backwards ? GROUPS - 1 : 0), GROUPS, step, &share, sums, place, item);
    if (group == GROUPS)
        return BINS;
    return group * 256 + FN(first_beyond)(counts + group * 256 * step, 256, step, &share, sums, place, item);
}

/* The limits of normalize: black is the largest value (of f32, the last edge) with at most `share` samples below it,
 * white the least one with at most as many above it. */
GROUPED __kernel void KERNEL(GRID, __global int *restrict state, int share)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    SHARED int sums[ITEMS], place;
    int item = SPAN_BEGIN % ITEMS;
    int black = FN(bins_within)(state, false, share, sums, &place, item);
    int white = BINS - FN(bins_within)(state, true, share, sums, &place, item);
    if (item > 0)
        return;
#ifdef SRC_IS_float
    bool found = state[FOUND_LEAST] <= state[FOUND_MOST];
    struct FN(bins) bins = FN(bins_of)(found ? state[FOUND_LEAST] : 0, found ? state[FOUND_MOST] : 0);
    state[FOUND_WHITE] = EDGE_AT(bins, white);
    state[FOUND] = EDGE_AT(bins, black);
#else
    state[FOUND_WHITE] = max(white - 1, 0); /* no sample of that value or more but the share's */
    state[FOUND] = min(black, BINS - 1);
#endif
}
