/* Otsu's threshold (IEEE Trans. SMC-9, 1979, pages 62 to 66) of a plane, from counts (cl/count.cl) in 256 bins of equal
 * width from the least value to the greatest; of the 255 ways to split the bins into two classes, the first one with the
 * greatest variance between the classes gives the threshold.
 *
 * Everything is exact, and independent of the order in which work-items run: a sample's bin is found by comparing with
 * the bins' edges, and variances are compared as fractions of integers. */
#include <together.cl>
#include "bins.cl"

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

/* n is the number of samples and s the sum of their bins' numbers; n0 and s0 are those of the lower class, n1 and s1 of
 * the upper one. The variance between the classes is, up to a constant factor,
 * n0 * n1 * (s0 / n0 - s1 / n1)² = (s * n0 - s0 * n)² / (n0 * n1). The number of samples is limited
 * (src/stage/threshold.h) so that the difference fits 64 bits; computed modulo 2^64 it is right even where
 * the products overflow.
 *
 * On GPUs with local memory (TOGETHER) a work-group of 256 does this, a bin by each work-item. Elsewhere it is a single
 * work-item, so it does no harm that 64-bit numbers need many registers on Mali. */
#ifdef TOGETHER
/* A way to split: behind bin i. */
struct FN(split) {
    ulong difference, over;
    int i;
};

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void KERNEL(GRID, __global int *restrict state)
{
    __local int sums[256], ends[2];
    __local struct FN(split) splits[256];
    __global int *counts = state + COUNTS_AT;
    int item = (int)get_local_id(0), least = state[FOUND_LEAST], most = state[FOUND_MOST];
    if (LEVELS) { /* counts of values become counts of bins */
        if (item == 0)
            ends[0] = INT_MAX, ends[1] = INT_MIN;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int v = item; v < BINS; v += 256)
            if (counts[v] > 0) {
                atomic_min(&ends[0], v + LEVEL_MIN);
                atomic_max(&ends[1], v + LEVEL_MIN);
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        least = ends[0], most = ends[1];
    }
    bool found = least <= most;
    struct FN(bins) bins = FN(bins_of)(found ? least : 0, found ? most : 0);
    bool is_split = found && !FN(are_flat)(bins);
    int count = is_split ? counts[item] : 0;
#if LEVELS
    count = 0;
    int end = item < 255 ? (int)FN(edge)(bins, item + 1) : (int)bins.range + 1;
    for (int v = (int)FN(edge)(bins, item); v < end && is_split; v++)
        count += counts[least - LEVEL_MIN + v];
#endif
    ulong moment = (ulong)(uint)count * item; /* summed up in two parts that fit */
    ulong n0 = sum_up(sums, item, 256, count), n = sums[255];
    ulong s0 = sum_up(sums, item, 256, (int)(moment & 0xffff)), s = sums[255];
    s0 += (ulong)sum_up(sums, item, 256, (int)(moment >> 16)) << 16, s += (ulong)sums[255] << 16;
    bool parts = count > 0 && n0 < n; /* an empty bin: the same classes as before */
    splits[item] = (struct FN(split)){parts ? s * n0 - s0 * n : 0, parts ? n0 * (n - n0) : 1, item};
    for (int distance = 1; distance < 256; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((item & (2 * distance - 1)) != 0)
            continue;
        struct FN(split) a = splits[item], b = splits[item + distance];
        if (FN(is_greater)(FN(square_times)(b.difference, a.over), FN(square_times)(a.difference, b.over)))
            splits[item] = b;
    }
    if (item == 0) {
        struct FN(split) best = splits[0];
        state[FOUND] = !found ? 0 : EDGE_AT(bins, best.difference > 0 ? best.i + 1 : 0);
    }
}
#else
__kernel void KERNEL(GRID, __global int *restrict state)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    __global int *counts = state + COUNTS_AT;
#if LEVELS /* counts of values become counts of bins */
    int least = 0, most = BINS - 1;
    while (least < BINS && counts[least] == 0)
        least++;
    while (most > least && counts[most] == 0)
        most--;
    struct FN(bins) bins = FN(bins_of)(least + LEVEL_MIN, most + LEVEL_MIN);
    bool found = least < BINS, splits = found && !FN(are_flat)(bins);
    __global int *values = counts + least;
    counts = state + TABLE_AT;
    for (int i = 0, v = 0; splits && i < 256; i++) {
        int count = 0, end = i < 255 ? (int)FN(edge)(bins, i + 1) : (int)bins.range + 1;
        for (; v < end; v++)
            count += values[v];
        counts[i] = count;
    }
#else
    struct FN(bins) bins = FN(bins_of)(state[FOUND_LEAST], state[FOUND_MOST]);
    bool found = state[FOUND_LEAST] <= state[FOUND_MOST], splits = found && !FN(are_flat)(bins);
#endif
    int t = found ? EDGE_AT(bins, 0) : 0;
    ulong n = 0, s = 0, n0 = 0, s0 = 0, best = 0, best_over = 1;
    for (int i = 0; splits && i < 256; i++) {
        n += counts[i];
        s += (ulong)counts[i] * i;
    }
    for (int i = 0; splits && i < 256; i++) {
        if (counts[i] == 0)
            continue; /* an empty bin: the same classes as before */
        n0 += counts[i];
        s0 += (ulong)counts[i] * i;
        if (n0 == n)
            break;
        ulong difference = s * n0 - s0 * n, over = n0 * (n - n0);
        if (FN(is_greater)(FN(square_times)(difference, best_over), FN(square_times)(best, over))) {
            best = difference;
            best_over = over;
            t = EDGE_AT(bins, i + 1);
        }
    }
    state[FOUND] = t;
}
#endif
