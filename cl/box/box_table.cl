/* A summed-area table (Crow, Summed-area tables for texture mapping, 1984), and box from it on GPUs. The entry in row y and
 * column x is the sum of all samples above and left of (x, y), so the table has one row and one column more than the
 * picture. Sums are modulo 2^32; entries may overflow, because the sum of one window fits.
 *
 * CPUs make it by KERNEL_rows, sums along each row, and KERNEL_down, sums of these down columns. On GPUs a row has chunks of
 * 12 samples, whole pixels, and the picture bands of `band` rows:
 *
 *     KERNEL_blocks   sums each column of a band
 *     KERNEL_carry    makes of these the sums of all bands above each
 *     KERNEL_along    sums those along rows: the table's entries for the last row above each band
 *     KERNEL_starts   sums what is in front of each chunk of each row
 *     KERNEL_walk     goes down the rows of a chunk of a band, from those entries on: an entry is the one above it, plus
 *                     the sum of its own row, which begins with the chunk's start
 *
 * ALIGNED: rows are aligned to 16 bytes, and may be read so far. */
#include <border.cl>
#include <memory.cl>
#include <quotient.cl>
#include <words.cl>
#define CHUNK  12
#define STARTS (CH == 1 ? 1 : 4) /* of a chunk */

#pragma kernel rows
/* The grid counts rows of the table. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(uint, table))
{
    int y = GRID_Y;
    IN_GRID(SPAN_BEGIN, y)
    __global uint *to = ROW(table, y);
    uint sums[CH];
    for (int c = 0; c < CH; c++)
        to[c] = sums[c] = 0;
    for (int i = 0; i < grid_width; i += CH)
        for (int c = 0; c < CH; c++)
            to[CH + i + c] = sums[c] += y == 0 ? 0 : (uint)(int)ROW(src, y - 1)[i + c];
}

#pragma kernel down
/* The grid counts columns. */
__kernel void KERNEL(GRID, PLANE_OUT(uint, table), int height)
{
    int x = SPAN_BEGIN, end = SPAN_END(x);
    IN_GRID(x, GRID_Y)
    for (int y = 1; y <= height; y++) {
        __global const uint *above = ROW(table, y - 1);
        __global uint *to = ROW(table, y);
        for (int i = x; i < end; i++)
            to[i] += above[i];
    }
}

#pragma kernel blocks starts walk
/* Sample i of words. */
inline uint FN(sample)(uint8 w, int i)
{
    const int k = i * (int)sizeof(SRC) / 4;
    uint word = k == 0 ? w.s0 : k == 1 ? w.s1 : k == 2 ? w.s2 : k == 3 ? w.s3 : k == 4 ? w.s4 : k == 5 ? w.s5 : k == 6 ? w.s6 : w.s7;
    return (uint)SAMPLE_OF(SRC, word, i % (4 / (int)sizeof(SRC)));
}

/* The three words at byte `at` of a row of which `bytes` may be read, a multiple of 16. */
inline uint4 FN(words)(__global const uchar *row, int at, int bytes)
{
    int back = max(at + 16 - bytes, 0);
    uint4 w = UNALIGNED_IN(uint, 4, row + at - back);
    if (back == 0)
        return w;
    w = back & 4 ? w.yzww : w;
    return back & 8 ? w.zwww : w;
}

/* The samples of a chunk at x of a row of n samples, and more; those beyond the row are any. */
inline uint8 FN(chunk)(__global const SRC *row, int x, int n)
{
    const int size = sizeof(SRC), bits = 8 * size;
    if (ALIGNED) {
        __global const uchar *in = (__global const uchar *)row;
        int bytes = (n * size + 15) & ~15;
        uint4 w = FN(words)(in, x * size, bytes);
        if (size == 1)
            return (uint8)(w, (uint4)0);
        return (uint8)(w.s012, FN(words)(in, x * size + 12, bytes).s012, 0u, 0u);
    }
    uint8 v = 0;
    ROLLED for (int i = x; i < x + 32 / size; i++)
        v = (uint8)(v.s0123 >> bits | v.s1234 << (32 - bits), v.s456 >> bits | v.s567 << (32 - bits),
                    v.s7 >> bits | (uint)row[min(i, n - 1)] << (32 - bits));
    return v;
}

#pragma kernel blocks
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(uint, blocks), int height, int band)
{
    POSITION(x, b)
    uint sums[16];
    UNROLLED for (int i = 0; i < 16; i++)
        sums[i] = 0;
    for (int y = b * band, end = min(y + band, height); y < end; y++) {
        __global const SRC *in = ROW(src, y);
        uint8 w = 0;
        if (!ALIGNED)
            w = FN(chunk)(in, x, grid_width);
        else if (sizeof(SRC) == 1)
            w.lo = *(__global const uint4 *)(in + x);
        else
            w = (uint8)(*(__global const uint4 *)(in + x), *(__global const uint4 *)(in + min(x + 8, (grid_width + 7 & ~7) - 8)));
        UNROLLED for (int i = 0; i < 16; i++)
            sums[i] += FN(sample)(w, i);
    }
    __global uint4 *to = (__global uint4 *)(ROW(blocks, b) + x);
    UNROLLED for (int k = 0; k < 4; k++)
        to[k] = (uint4)(sums[4 * k], sums[4 * k + 1], sums[4 * k + 2], sums[4 * k + 3]);
}

#pragma kernel carry
__kernel void KERNEL(GRID, PLANE_OUT(uint, blocks), int bands)
{
    POSITION(x, y)
    uint4 sum = 0;
    for (int b = 0; b < bands; b++) {
        __global uint4 *at = (__global uint4 *)(ROW(blocks, b) + x);
        uint4 own = *at;
        *at = sum;
        sum += own;
    }
}

#pragma kernel along
__kernel void KERNEL(GRID, PLANE_OUT(uint, blocks), int samples)
{
    int b = SPAN_BEGIN;
    IN_GRID(b, GRID_Y)
    uint sums[CH];
    UNROLLED for (int c = 0; c < CH; c++)
        sums[c] = 0;
    for (int x = 0; x < samples; x += CHUNK) {
        __global uint4 *at = (__global uint4 *)(ROW(blocks, b) + x);
        uint v[CHUNK];
        UNROLLED for (int k = 0; k < CHUNK / 4; k++)
        {
            uint4 four = at[k];
            v[4 * k] = four.s0, v[4 * k + 1] = four.s1, v[4 * k + 2] = four.s2, v[4 * k + 3] = four.s3;
        }
        UNROLLED for (int i = 0; i < CHUNK; i++)
            v[i] = sums[i % CH] += v[i];
        UNROLLED for (int k = 0; k < CHUNK / 4; k++)
            at[k] = (uint4)(v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]);
    }
}

#pragma kernel starts
/* The grid counts rows. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(uint, starts), int samples)
{
    int y = SPAN_BEGIN;
    IN_GRID(y, GRID_Y)
    __global const SRC *in = ROW(src, y);
    __global uint *to = ROW(starts, y);
    uint sums[4];
    UNROLLED for (int c = 0; c < 4; c++)
        sums[c] = 0;
    for (int chunk = 0;; to += STARTS) {
        if (CH == 1)
            *to = sums[0];
        else
            *(__global uint4 *)to = (uint4)(sums[0], sums[1], sums[2], sums[3]);
        if (++chunk * CHUNK >= samples)
            return;
        uint8 w = FN(chunk)(in, CHUNK * (chunk - 1), samples);
        UNROLLED for (int i = 0; i < CHUNK; i++)
            sums[i % CH] += FN(sample)(w, i);
    }
}

#pragma kernel walk
/* The grid counts chunks, and bands. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_IN(uint, blocks), PLANE_IN(uint, starts), PLANE_OUT(uint, table),
                     int samples, int height, int band)
{
    int chunk = SPAN_BEGIN, x = chunk * CHUNK, b = GRID_Y, y = b * band, end = min(y + band, height);
    IN_GRID(chunk, b)
    int count = samples - x;
    uint entries[CHUNK];
    UNROLLED for (int k = 0; k < CHUNK / 4; k++)
    {
        uint4 four = *(__global const uint4 *)(ROW(blocks, b) + x + 4 * k);
        entries[4 * k] = four.s0, entries[4 * k + 1] = four.s1, entries[4 * k + 2] = four.s2, entries[4 * k + 3] = four.s3;
    }
    if (b == 0)
        for (int i = chunk == 0 ? 0 : CH; i < CH + min(count, CHUNK); i++)
            table_base[table_offset + x + i] = 0;
    for (; y < end; y++) {
        uint8 w = FN(chunk)(ROW(src, y), x, samples);
        __global const uint *start = ROW(starts, y) + chunk * STARTS;
        uint sums[4];
        uint4 first = CH == 1 ? (uint4)(*start, 0u, 0u, 0u) : *(__global const uint4 *)start;
        sums[0] = first.s0, sums[1] = first.s1, sums[2] = first.s2, sums[3] = first.s3;
        UNROLLED for (int i = 0; i < CHUNK; i++)
        {
            sums[i % CH] += FN(sample)(w, i);
            entries[i] += sums[i % CH];
        }
        __global uint *to = ROW(table, y + 1) + CH + x;
        if (chunk == 0)
            for (int c = 0; c < CH; c++)
                to[c - CH] = 0;
        if (count >= CHUNK) {
            UNROLLED for (int k = 0; k < CHUNK / 4; k++)
                UNALIGNED_OUT(uint, 4, to + 4 * k) = (uint4)(entries[4 * k], entries[4 * k + 1], entries[4 * k + 2],
                                                             entries[4 * k + 3]);
        } else {
            UNROLLED for (int i = 0; i < CHUNK; i++)
                if (i < count)
                    to[i] = entries[i];
        }
    }
}

#pragma kernel lookup
/* The sum of a window: of runs of its rows and columns that are neighbours in the picture, too, or one of it many times. */
inline uint FN(sum)(PLANE_IN(uint, table), int channel, int x, int y, int width, int height, int left, int right, int top,
                    int bottom, int border)
{
    uint sum = 0;
    int row, down, column, across;
    for (int v = y - top, rows; v <= y + bottom; v += rows) {
        rows = border_run(v, y + bottom + 1, height, border, &row, &down);
        int above = down < 0 ? row - rows + 1 : row, under = down == 0 ? row + 1 : above + rows;
        for (int u = x - left, columns; u <= x + right && row >= 0; u += columns) {
            columns = border_run(u, x + right + 1, width, border, &column, &across);
            int from = across < 0 ? column - columns + 1 : column, to = across == 0 ? column + 1 : from + columns;
            __global const uint *over = ROW(table, above) + channel, *last = ROW(table, under) + channel;
            uint times = (uint)((down == 0 ? rows : 1) * (across == 0 ? columns : 1));
            if (column >= 0)
                sum += times * (last[to * CH] - last[from * CH] - over[to * CH] + over[from * CH]);
        }
    }
    return sum;
}

/* Means. The grid counts samples; SPAN is 4 where rows are aligned for so many. */
#define QUOTIENT(sum) (floor_quotient_uint((sum) + bias, area, factor) - (uint)LOWEST)
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_IN(uint, table), PLANE_OUT(SRC, dst), int width, int height,
                     int out_width, int out_height, int band, int left, int right, int top, int bottom, int border,
                     int centre_x, int centre_y, uint area, float factor, uint bias)
{
    POSITION(i, y)
    __global const SRC *in = ROW(src, y + centre_y) + centre_x * CH + i;
    __global SRC *out = ROW(dst, y) + i;
    bool inside = i >= left * CH && i + 4 + right * CH <= width * CH && y >= top && y + bottom < height;
    if (SPAN == 4 && inside && i + 4 <= grid_width) {
        uint before = (uint)(i - left * CH), behind = (uint)(i + (right + 1) * CH);
        __global const uint *under = ROW(table, y + bottom + 1), *over = ROW(table, y - top);
        uint4 sums = UNALIGNED_IN(uint, 4, under + behind) - UNALIGNED_IN(uint, 4, under + before) -
                     UNALIGNED_IN(uint, 4, over + behind) + UNALIGNED_IN(uint, 4, over + before);
        uint4 v = (uint4)(QUOTIENT(sums.s0), QUOTIENT(sums.s1), QUOTIENT(sums.s2), QUOTIENT(sums.s3));
        if (ALPHA == 2)
            v.s1 = (uint)in[1];
        if (ALPHA)
            v.s3 = (uint)in[3];
        if (sizeof(SRC) == 1) {
            v &= 255u;
            *(__global uint *)out = v.s0 | v.s1 << 8 | v.s2 << 16 | v.s3 << 24;
        } else {
            v &= 65535u;
            *(__global uint2 *)out = (uint2)(v.s0 | v.s1 << 16, v.s2 | v.s3 << 16);
        }
        return;
    }
    for (int end = SPAN_END(i); i < end; i++, in++, out++)
        *out = IS_ALPHA(ALPHA, i) ? *in
                                  : (SRC)QUOTIENT(FN(sum)(table_base, table_offset, table_stride, i % CH, i / CH, y, width,
                                                      height, left, right, top, bottom, border));
}
