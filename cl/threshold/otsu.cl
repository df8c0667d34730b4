/* Otsu's threshold (IEEE Trans. SMC-9, 1979, pages 62 to 66) of a plane, from counts (cl/count.cl) in 256 bins of equal
 * width from the least value to the greatest; of the 255 ways to split the bins into two classes, the first one with the
 * greatest variance between the classes gives the threshold.
 *
 * Everything is exact, and independent of the order in which work-items run: a sample's bin is found by comparing with
 * the bins' edges, and variances are compared as fractions of integers. */
#include "bins.cl"
#include "shares.cl"

/* a² * b, in three words of 64 bits. */
inline ulong4 FN(square_times)(ulong a, ulong b)
{
    ulong low = a * a, high = mul_hi(a, a);
    ulong carry = mul_hi(low, b), middle = high * b + carry;
    return (ulong4)(low * b, middle, mul_hi(high, b) + (middle < carry), 0);
}

inline bool FN(is_greater)(ulong4 a, ulong4 b)
{
    return a.z != b.z ? a.z > b.z : a.y != b.y ? a.y > b.y : a.x > b.x;
}

/* A way to split, (difference, over, i, 0), is behind bin i. n is the number of samples and s the sum of their bins'
 * numbers; n0 and s0 are those of the lower class, n1 and s1 of the upper one. The variance between the classes is, up to a
 * constant factor, n0 * n1 * (s0 / n0 - s1 / n1)² = (s * n0 - s0 * n)² / (n0 * n1) = difference² / over. The number of
 * samples is limited (src/stage/threshold.h) so that the difference fits 64 bits; computed modulo 2^64 it is right even
 * where the products overflow. (A vector, because Mesa's compiler keeps a struct that is chosen in memory.) */
inline ulong4 FN(better)(ulong4 a, ulong4 b)
{
    bool second = FN(is_greater)(FN(square_times)(b.x, a.y), FN(square_times)(a.x, b.y));
    return second ? b : a;
}

/* 256 bins are taken by ITEMS work-items together, EACH by one. (Where one takes all, it does no harm that 64-bit numbers
 * need many registers on Mali.) */
GROUPED __kernel void KERNEL(GRID, __global int *restrict state)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    SHARED ulong sums[ITEMS];
    SHARED int place;
    SHARED ulong4 splits[ITEMS];
    int item = SPAN_BEGIN % ITEMS, begin = item * EACH, least = state[FOUND_LEAST], most = state[FOUND_MOST];
    __global int *counts = state + COUNTS_AT;
    if (LEVELS) {
        least = LEVEL_MIN + FN(first_counted)(counts, BINS, 1, &place, item);
        most = LEVEL_MIN + BINS - 1 - FN(first_counted)(counts + BINS - 1, BINS, -1, &place, item);
    }
    bool found = least <= most;
    struct FN(bins) bins = FN(bins_of)(found ? least : 0, found ? most : 0);
    bool splits_up = found && !FN(are_flat)(bins);
#if LEVELS /* counts of values become counts of bins */
    __global int *values = counts;
    counts = state + TABLE_AT;
    for (int i = begin, v = (int)FN(edge)(bins, i); splits_up && i < begin + EACH; i++) {
        int count = 0, end = i < 255 ? (int)FN(edge)(bins, i + 1) : (int)bins.range + 1;
        for (; v < end; v++)
            count += values[least - LEVEL_MIN + v];
        counts[i] = count;
    }
#endif
    ulong n0 = 0, s0 = 0;
    for (int i = begin; splits_up && i < begin + EACH; i++)
        n0 += counts[i], s0 += (ulong)counts[i] * i;
    n0 = SUM_UP_WIDE(sums, n0) - n0;
    ulong n = SUM_OF_ALL(sums);
    s0 = SUM_UP_WIDE(sums, s0) - s0;
    ulong s = SUM_OF_ALL(sums);
    ulong4 best = (ulong4)(0, 1, (ulong)-1, 0);
    for (int i = begin; splits_up && i < begin + EACH; i++) {
        if (counts[i] == 0)
            continue; /* an empty bin: the same classes as before */
        n0 += counts[i];
        s0 += (ulong)counts[i] * i;
        if (n0 < n)
            best = FN(better)(best, (ulong4)(s * n0 - s0 * n, n0 * (n - n0), (ulong)i, 0));
    }
    splits[item] = best;
    for (int distance = 1; distance < ITEMS; distance *= 2) {
        BARRIER
        if ((item & (2 * distance - 1)) == 0)
            splits[item] = FN(better)(splits[item], splits[item + distance]);
    }
    if (item == 0)
        state[FOUND] = found ? EDGE_AT(bins, (int)splits[0].z + 1) : 0;
}
