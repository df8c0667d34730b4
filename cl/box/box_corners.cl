/* The summed-area table of cl/box/box_table.cl, of bytes on GPUs with few registers and without fast local memory (Mali).
 * A row has chunks of 12 samples, whole pixels, and the picture bands of `band` rows.
 *
 *     KERNEL_blocks   sums each column of a band
 *     KERNEL_carry    makes of these the sums of all bands above each
 *     KERNEL_along    sums those along rows: the table's entries for the last row above each band
 *     KERNEL_starts   sums what is in front of each chunk of each row
 *     KERNEL_walk     goes down the rows of a chunk of a band, from those entries on: an entry is the one above it, plus
 *                     the sum of its own row, which begins with the chunk's start
 *
 * Rows are aligned to 16 bytes, and may be read so far. */
#include <memory.cl>
#include <words.cl>
#define CHUNK 12
#define STARTS (CH == 1 ? 1 : 4) /* of a chunk */

inline uint FN(sample)(uint4 w, int i)
{
    return (uint)SAMPLE_OF(SRC, i < 4 ? w.s0 : i < 8 ? w.s1 : i < 12 ? w.s2 : w.s3, i % 4);
}

#pragma kernel blocks
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(uint, blocks), int height, int band)
{
    POSITION(x, b)
    uint sums[16];
    UNROLLED for (int i = 0; i < 16; i++)
        sums[i] = 0;
    for (int y = b * band, end = min(y + band, height); y < end; y++) {
        uint4 w = *(__global const uint4 *)(ROW(src, y) + x);
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
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(uint, starts), int chunks)
{
    int y = SPAN_BEGIN;
    IN_GRID(y, GRID_Y)
    __global const SRC *in = ROW(src, y);
    __global uint *to = ROW(starts, y);
    uint sums[4];
    UNROLLED for (int c = 0; c < 4; c++)
        sums[c] = 0;
    for (int chunk = 0;; to += STARTS, in += CHUNK) {
        if (CH == 1)
            *to = sums[0];
        else
            *(__global uint4 *)to = (uint4)(sums[0], sums[1], sums[2], sums[3]);
        if (++chunk == chunks)
            return;
        uint4 w = UNALIGNED_IN(uint, 4, in);
        UNROLLED for (int i = 0; i < CHUNK; i++)
            sums[i % CH] += FN(sample)(w, i);
    }
}

#pragma kernel walk
/* The samples of a chunk at x, of a row of which `bytes` may be read. */
inline uint4 FN(chunk)(__global const SRC *row, int x, int bytes)
{
    int back = max(x + 16 - bytes, 0);
    uint4 w = UNALIGNED_IN(uint, 4, row + x - back);
    if (back == 0)
        return w;
    w = back & 4 ? w.yzww : w;
    return back & 8 ? w.zwww : w;
}

/* The grid counts chunks, and bands. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_IN(uint, blocks), PLANE_IN(uint, starts), PLANE_OUT(uint, table),
                     int samples, int height, int band)
{
    int chunk = SPAN_BEGIN, x = chunk * CHUNK, b = GRID_Y, y = b * band, end = min(y + band, height);
    IN_GRID(chunk, b)
    int bytes = (samples + 15) & ~15, count = samples - x;
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
        uint4 w = FN(chunk)(ROW(src, y), x, bytes);
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
