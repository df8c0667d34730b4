/* statistics and histogram: samples of each region and colour are counted by value, and numbers made of the counts.
 *
 * `state` holds for each row of regions, each part of it, each region in the row and each colour as many ints as there
 * are values; behind all of them, from `sums_at` on, four ulongs for each 256 values of a region and colour: how many samples,
 * their sum, the sum of their squares, and the greatest value times 2^32 plus the least. On CPUs each band of a row of
 * regions is a part of its own, elsewhere there is one part, to which all add.
 *
 * clear    sets counts to 0, on GPUs
 * count    counts a band of rows, of which a work-item on GPUs has a column
 * sum      adds parts up in the first one, and sums 256 values
 * numbers  what statistics tells of a region and colour, each number into a plane of its own (`table`)
 * bins     what histogram tells: sums of `each` neighbouring values */

/* enum statistics_kind of src/stage/statistics/statistics.h */
#define COUNT      0
#define LEAST      1
#define MOST       2
#define PERCENTILE 3
#define OVER       4
#define MEAN       5
#define DEVIATION  6

/* Where part i of n of a side begins: i * side / n. */
#define PART_OF(i, n, side) ((i) * ((side) / (n)) + (i) * ((side) % (n)) / (n))

/* Where the counts of set number `set` are, of as many sets in a row of regions as `along`. */
#define COUNTS_OF(set, along, part) (state + (((set) / (along) * parts + (part)) * (along) + (set) % (along)) * values)

#pragma kernel clear
__kernel void KERNEL(GRID, __global int *restrict state, int values)
{
    POSITION(v, set)
    state[set * values + v] = 0;
}
#pragma kernel count
#ifdef SRC_IS_float
/* −1: it counts nowhere. The end of the last bin belongs to it. */
inline int FN(bin)(float v, int values, float low, float scale)
{
    float t = (v - low) * scale;
    return t >= 0.0f && t <= (float)values ? min((int)t, values - 1) : -1;
}
#define BIN(v) FN(bin)(v, values, low, scale)
#else
#define BIN(v) (int)(v)
#endif

__kernel void KERNEL(GRID, __global int *restrict state, PLANE_IN(SRC, src), int width, int height, int across, int down,
                     int bands, int values, float low, float scale)
{
    POSITION(column, y)
    int region = y / bands, band = y % bands, top = PART_OF(region, down, height);
    int rows = PART_OF(region + 1, down, height) - top;
    int first = top + PART_OF(band, bands, rows), last = top + PART_OF(band + 1, bands, rows);
#ifdef FORM_ROWS
    __global int *counts = state + y * across * COLOURS * values;
    for (int tile = 0; tile < across; tile++, counts += COLOURS * values) {
        int begin = PART_OF(tile, across, width), end = PART_OF(tile + 1, across, width);
#ifdef SRC_IS_uchar
        /* Neighbours are often alike, and adding to the same count twice takes longer. */
#define TABLES (COLOURS == 1 ? 4 : 2)
        int own[TABLES * COLOURS * 256];
        for (int i = 0; i < TABLES * COLOURS * 256; i++)
            own[i] = 0;
        for (int row = first; row < last; row++) {
            __global const SRC *in = ROW(src, row) + begin * CH;
            int x = begin;
            for (; x + TABLES <= end; x += TABLES)
                UNROLLED for (int t = 0; t < TABLES; t++, in += CH)
                    UNROLLED for (int c = 0; c < COLOURS; c++)
                        own[(t * COLOURS + c) * 256 + in[c]]++;
            for (; x < end; x++, in += CH)
                for (int c = 0; c < COLOURS; c++)
                    own[c * 256 + in[c]]++;
        }
        for (int i = 0; i < COLOURS * 256; i++) {
            int sum = 0;
            for (int t = 0; t < TABLES; t++)
                sum += own[t * COLOURS * 256 + i];
            counts[i] = sum;
        }
#else
        for (int i = 0; i < COLOURS * values; i++)
            counts[i] = 0;
        for (int row = first; row < last; row++) {
            __global const SRC *in = ROW(src, row);
            for (int x = begin; x < end; x++)
                for (int c = 0; c < COLOURS; c++) {
                    int bin = BIN(in[x * CH + c]);
                    if (bin >= 0)
                        counts[c * values + bin]++;
                }
        }
#endif
    }
#else
    int tile = 0;
    while (tile + 1 < across && PART_OF(tile + 1, across, width) <= column)
        tile++;
    for (int c = 0; c < COLOURS; c++) {
        __global int *counts = state + ((region * across + tile) * COLOURS + c) * values;
        int place = -1, run = 0;
        for (int row = first; row < last; row++) {
            int bin = BIN(ROW(src, row)[column * CH + c]);
            if (bin != place) {
                if (place >= 0)
                    atomic_add(counts + place, run);
                place = bin, run = 0;
            }
            run++;
        }
        if (place >= 0)
            atomic_add(counts + place, run);
    }
#endif
}
#pragma kernel sum
__kernel void KERNEL(GRID, __global int *restrict state, int values, int along, int parts, int sums_at)
{
    POSITION(block, set)
    __global ulong *out = (__global ulong *)(state + sums_at) + (set * grid_width + block) * 4;
    __global int *counts = COUNTS_OF(set, along, 0);
    ulong count = 0, sum = 0, squares = 0, least = 0, most = 0;
    for (int v = block * 256; v < block * 256 + 256; v++) {
        int here = counts[v];
        for (int part = 1; part < parts; part++)
            here += COUNTS_OF(set, along, part)[v];
        counts[v] = here;
        ulong value = (ulong)(uint)v, times = (ulong)(uint)here;
        least = count == 0 ? value : least;
        most = here > 0 ? value : most;
        count += times;
        sum += times * value;
        squares += times * value * value;
    }
    out[0] = count, out[1] = sum, out[2] = squares, out[3] = most << 32 | least;
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

__kernel void KERNEL(GRID, __global int *restrict state, __global uchar *restrict out, __global const int *restrict table,
                     int numbers, int values, int parts, int colours, int sums_at)
{
    POSITION(x, y)
    int set = y * grid_width + x, blocks = (values + 255) / 256;
    __global const int *counts = COUNTS_OF(set, grid_width, 0);
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
    for (int i = 0; i < numbers; i++, table += 4) {
        __global uchar *to = out + table[2] + y * table[3];
        int kind = table[0], v = table[1];
        if (kind == MEAN || kind == DEVIATION) {
            ulong bits = kind == MEAN ? FN(quotient)(0, sum, count)
                                      : FN(root)(FN(quotient)(high, product - square, count * count));
            ((__global ulong *)to)[x] = bits;
            continue;
        }
        int number = kind == COUNT ? (int)count : kind == LEAST ? least : most;
        if (kind == PERCENTILE) {
            ulong rank = max((count * (ulong)(uint)v + 99999) / 100000, (ulong)1), below = 0;
            int b = 0;
            while (below + sums[b * 4] < rank)
                below += sums[b++ * 4];
            number = b * 256;
            for (; below + (ulong)(uint)counts[number] < rank; number++)
                below += (ulong)(uint)counts[number];
        } else if (kind == OVER) {
            number = 0;
            for (int b = (v + 1) / 256 + ((v + 1) % 256 > 0 ? 1 : 0); b < blocks; b++)
                number += (int)sums[b * 4];
            for (int i = v + 1; i < values && i % 256 != 0; i++)
                number += counts[i];
        }
        if (kind == COUNT || kind == OVER)
            ((__global int *)to)[x] = number;
        else
            ((__global SRC *)to)[x] = (SRC)number;
    }
}
#pragma kernel bins
__kernel void KERNEL(GRID, __global const int *restrict state, PLANE_OUT(int, dst), int values, int each, int parts,
                     int across, int colours)
{
    POSITION(x, region)
    int set = region * colours + x % colours, along = across * colours, sum = 0;
    for (int part = 0; part < parts; part++) {
        __global const int *counts = COUNTS_OF(set, along, part) + x / colours * each;
        for (int i = 0; i < each; i++)
            sum += counts[i];
    }
    ROW(dst, region)[x] = sum;
}
