/* What is made of a plane's counts (cl/count.cl): the table that spreads them evenly, for equalize; and between which
 * values all lie but a share below and a share above, for normalize. */
#include <together.cl>
#include "bins.cl"

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
#pragma kernel spread
#ifdef TOGETHER
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void KERNEL(GRID, __global int *restrict state)
{
    __local int sums[ITEMS], found;
    int item = (int)get_local_id(0), group = (int)get_group_id(0), v = group * ITEMS + item;
    int own = item < BINS / ITEMS ? state[SUMS_AT + item] : 0;
    __global int *counts = state + COUNTS_AT;
    sum_up(sums, item, ITEMS, own);
    int below = group > 0 ? sums[max(group - 1, 0)] : 0, all = sums[ITEMS - 1];
    int first = min(first_one(&found, item, ITEMS, own > 0), BINS / ITEMS - 1) * ITEMS;
    int place = first_one(&found, item, ITEMS, counts[first + item] > 0);
    int least = place < ITEMS ? counts[first + place] : 0;
    below += sum_up(sums, item, ITEMS, counts[v]);
    ulong rest = (ulong)(uint)(all - least);
    ((__global SRC *)(state + TABLE_AT))[v] = SPREAD_TO(v, below, least, rest);
}
#else
__kernel void KERNEL(GRID, __global int *restrict state)
{
    int group = SPAN_BEGIN;
    IN_GRID(group, GRID_Y)
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
#endif
#pragma kernel limits
#ifdef TOGETHER
/* The first bin up to which more samples lie than `share`, BINS where there is none. Backwards: from the end. */
inline int FN(first_beyond)(__global const int *restrict state, __local int *sums, __local int *found, int item,
                            int share, bool backwards)
{
    int groups = BINS / ITEMS, group = backwards ? groups - 1 - item : item;
    int own = item < groups ? state[SUMS_AT + group] : 0;
    int first = first_one(found, item, ITEMS, sum_up(sums, item, ITEMS, own) > share);
    if (first >= groups)
        return BINS;
    int before = first > 0 ? sums[max(first - 1, 0)] : 0, bin = first * ITEMS + item;
    int count = state[COUNTS_AT + (backwards ? BINS - 1 - bin : bin)];
    return first * ITEMS + first_one(found, item, ITEMS, before + sum_up(sums, item, ITEMS, count) > share);
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1)))
#endif
__kernel void KERNEL(GRID, __global int *restrict state, int share)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
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
    struct FN(bins) bins = FN(bins_of)(found ? state[FOUND_LEAST] : 0, found ? state[FOUND_MOST] : 0);
    state[FOUND_WHITE] = EDGE_AT(bins, white);
    state[FOUND] = EDGE_AT(bins, black);
#else
    state[FOUND_WHITE] = max(white - 1, 0); /* no sample of that value or more but the share's */
    state[FOUND] = min(black, BINS - 1);
#endif
}
