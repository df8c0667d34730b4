/* statistics and histogram: numbers that are made of counts (cl/count.cl) of the samples of each region and colour, a set.
 *
 * `state` holds for each region and part as many counts for each colour as there are `values`, from the least value on,
 * LEVEL_MIN; behind all of them, from `sums_at` on, four ulongs for each 256 values of a set: how many samples, the sum of
 * their distances from LEVEL_MIN, that of the squares, and the greatest distance times 2^32 plus the least.
 *
 * sum      makes of 256 counts their sums, and of each one how many samples there are up to it of these 256
 * numbers  what statistics tells of a set, each number into a plane of its own (`table`)
 * bins     what histogram tells: sums of `each` neighbouring values */

/* enum statistics_kind of src/stage/statistics/statistics.h */
#define STATISTICS_COUNT      0
#define STATISTICS_LEAST      1
#define STATISTICS_MOST       2
#define STATISTICS_PERCENTILE 3
#define STATISTICS_OVER       4
#define STATISTICS_MEAN       5
#define STATISTICS_DEVIATION  6

/* The counts of a set in a part of its region. */
#define COUNTS_OF(set, part) (state + (((set) / colours * parts + (part)) * colours + (set) % colours) * values)

#pragma kernel sum
#include "shares.cl"
/* 256 values of a set by ITEMS work-items together, EACH by one. */
GROUPED __kernel void KERNEL(GRID, __global int *restrict state, int parts, int colours, int sums_at)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    SHARED ulong sums[ITEMS];
    SHARED int place;
    int values = BINS, group = SPAN_BEGIN / ITEMS, item = SPAN_BEGIN % ITEMS, set = group / (BINS / 256);
    int begin = group % (BINS / 256) * 256 + item * EACH, least = INT_MAX, most = 0;
    __global int *counts = COUNTS_OF(set, 0);
    ulong count = 0, sum = 0, squares = 0;
    for (int v = begin; v < begin + EACH; v++) {
        int here = counts[v];
        for (int part = 1; part < parts; part++)
            here += COUNTS_OF(set, part)[v];
        ulong value = (ulong)(uint)v, times = (ulong)(uint)here;
        least = here > 0 ? min(least, v) : least;
        most = here > 0 ? v : most;
        count += times;
        sum += times * value;
        squares += times * value * value;
        counts[v] = (int)count;
    }
    ulong front = SUM_UP_WIDE(sums, count) - count;
    count = SUM_OF_ALL(sums);
    for (int v = begin; ITEMS > 1 && v < begin + EACH; v++)
        counts[v] += (int)front;
    SUM_UP_WIDE(sums, sum);
    sum = SUM_OF_ALL(sums);
    SUM_UP_WIDE(sums, squares);
    squares = SUM_OF_ALL(sums);
    least = LEAST_OF(&place, least), most = -LEAST_OF(&place, -most);
    __global ulong *out = (__global ulong *)(state + sums_at) + group * 4;
    if (item == 0)
        out[0] = count, out[1] = sum, out[2] = squares, out[3] = (ulong)(uint)most << 32 | (ulong)(uint)least;
}
#pragma kernel numbers
/* The bits of the double nearest to (high * 2^64 + low) / by, ties to even; by is at most 2^62, the quotient below 2^53.
 * Digit by digit: 53 of the quotient, one more, and whether anything follows. */
inline ulong FN(quotient)(ulong high, ulong low, ulong by)
{
    ulong digits = 0, rest = 0;
    int power = 0;
    if ((high | low) == 0)
        return 0;
    for (int i = 127; i >= 0 || digits >> 53 == 0; i--) {
        ulong bit = i >= 64 ? high >> (i & 63) & 1 : i >= 0 ? low >> i & 1 : 0;
        power -= i < 0 ? 1 : 0;
        rest = rest << 1 | bit;
        digits = digits << 1 | (rest >= by ? 1 : 0);
        rest -= rest >= by ? by : 0;
    }
    ulong up = (digits & 1) != 0 && (rest != 0 || (digits & 2) != 0) ? 1 : 0;
    return ((ulong)(1023 + 53 + power) << 52) + ((digits >> 1) + up - (1UL << 52));
}

/* The bits of the nearest double to the root of a double, which is never a tie. */
inline ulong FN(root)(ulong bits)
{
    int power = (int)(bits >> 52) - 1075;
    ulong square = (bits & ((1UL << 52) - 1)) | 1UL << 52, digits = 0, rest = 0;
    if (bits == 0)
        return 0;
    if ((power & 1) != 0)
        square <<= 1, power--;
    for (int i = 26; i >= -27; i--) { /* 54 digits of the root, for two of the square each */
        rest = rest << 2 | (i >= 0 ? square >> (2 * i) & 3 : 0);
        ulong trial = digits << 2 | 1;
        digits = digits << 1 | (rest >= trial ? 1 : 0);
        rest -= rest >= trial ? trial : 0;
    }
    return ((ulong)(1023 + 26 + power / 2) << 52) + ((digits >> 1) + (digits & 1) - (1UL << 52));
}

/* The first of the 256 counts from `begin` on that is at least `rank`. */
inline int FN(place)(__global const int *counts, int begin, int rank)
{
    for (int step = 128; step > 0; step /= 2)
        begin += counts[begin + step - 1] < rank ? step : 0;
    return begin;
}

__kernel void KERNEL(GRID, __global int *restrict state, __global uchar *restrict out, __global const int *restrict table,
                     int numbers, int values, int parts, int colours, int sums_at)
{
    POSITION(x, y)
    int set = y * grid_width + x, blocks = values / 256;
    __global const int *counts = COUNTS_OF(set, 0);
    __global const ulong *sums = (__global const ulong *)(state + sums_at) + set * blocks * 4;
    ulong count = 0, sum = 0, squares = 0;
    int least = -1, most = 0;
    for (int b = 0; b < blocks; b++) {
        count += sums[b * 4], sum += sums[b * 4 + 1], squares += sums[b * 4 + 2];
        if (sums[b * 4] == 0)
            continue;
        least = least < 0 ? (int)(uint)sums[b * 4 + 3] : least;
        most = (int)(uint)(sums[b * 4 + 3] >> 32);
    }
    ulong product = count * squares, square = sum * sum;
    ulong high = mul_hi(count, squares) - mul_hi(sum, sum) - (product < square ? 1 : 0);
    long total = (long)sum + (long)count * LEVEL_MIN;
    for (int i = 0; i < numbers; i++, table += 4) {
        __global uchar *to = out + table[2] + y * table[3];
        int kind = table[0], v = clamp(table[1] - LEVEL_MIN, -1, values - 1);
        if (kind == STATISTICS_MEAN || kind == STATISTICS_DEVIATION) {
            ulong bits = kind == STATISTICS_MEAN ? FN(quotient)(0, (ulong)(total < 0 ? -total : total), count) | (total < 0 ? 1UL << 63 : 0)
                                      : FN(root)(FN(quotient)(high, product - square, count * count));
            ((__global ulong *)to)[x] = bits;
            continue;
        }
        int number = kind == STATISTICS_COUNT ? (int)count : kind == STATISTICS_LEAST ? least : most;
        if (kind == STATISTICS_PERCENTILE) {
            ulong rank = max((count * (ulong)(uint)table[1] + 99999) / 100000, (ulong)1), below = 0;
            int b = 0;
            while (below + sums[b * 4] < rank)
                below += sums[b++ * 4];
            number = FN(place)(counts, b * 256, (int)(rank - below));
        } else if (kind == STATISTICS_OVER) {
            number = v < 0 ? (int)count : (int)sums[v / 256 * 4] - counts[v];
            for (int b = v / 256 + 1; b < blocks && v >= 0; b++)
                number += (int)sums[b * 4];
        }
        if (kind == STATISTICS_COUNT || kind == STATISTICS_OVER)
            ((__global int *)to)[x] = number;
        else
            ((__global SRC *)to)[x] = (SRC)(number + LEVEL_MIN);
    }
}
#pragma kernel bins
__kernel void KERNEL(GRID, __global const int *restrict state, PLANE_OUT(int, dst), int values, int each, int parts,
                     int colours)
{
    POSITION(x, region)
    int set = region * colours + x % colours, sum = 0;
    for (int part = 0; part < parts; part++) {
        __global const int *counts = COUNTS_OF(set, part) + x / colours * each;
        for (int i = 0; i < each; i++)
            sum += counts[i];
    }
    ROW(dst, region)[x] = sum;
}
