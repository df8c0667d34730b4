/* box of f32 on CPUs (behind cl/strips.cl).
 *
 * Nothing is ever subtracted from a sum of floats: the rounding error of an addition, or a NaN, would stay in the sums of
 * all later windows. So a result depends only on the samples of its own window.
 *
 * Down the columns `block` rows are computed together (van Herk 1992, Gil and Werman 1993). Their windows have the rows
 * `middle` in common. In addition each window has the lower part of the rows above the middle, and the upper part of
 * those below it:
 *
 *     above, summed upwards | middle | below, summed downwards
 *
 * There are `block` rows below, and their whole sum is kept as a chunk, because the middle of a later block consists of
 * such chunks and of `rest` rows above them. So about two rows are added for each row of the result.
 *
 * Along rows, sums of 1, 2, 4, 8 … neighbours are computed, and added according to the bits of the window's width. So no
 * sum takes more than a few dozen additions, which keeps rounding errors small. */
#include <processor.cl>
#include "strips.cl"
#define EACH(x, n) for (int x = 0; x < (n); x += STRIP_LANES)

VECTORS_OF_512_BITS inline void FN(clear)(__global SRC *sum, int n)
{
    EACH(x, n)
        STRIP_OUT(sum + x) = (FN(strip_lanes))0;
}

/* sum = a + row. */
VECTORS_OF_512_BITS inline void FN(add)(__global SRC *sum, __global const SRC *a, struct FN(line) row, int n)
{
    EACH(x, n)
        STRIP_OUT(sum + x) = STRIP_IN(a + x) + STRIP_IN(STRIP_AT(row, x, STRIP_LANES));
}

/* sum += row, and error += the rounding error of that (Knuth, The Art of Computer Programming 2, 4.2.2). */
VECTORS_OF_512_BITS inline void FN(add_exactly)(__global SRC *sum, __global SRC *error, __global const SRC *row, int n)
{
    EACH(x, n) {
        FN(strip_lanes) a = STRIP_IN(sum + x), b = STRIP_IN(row + x), t = a + b, part = t - a;
        STRIP_OUT(sum + x) = t;
        STRIP_OUT(error + x) += (a - (t - part)) + (b - part);
    }
}

/* Sums of `side` neighbours along a row, which is overwritten, for n samples. */
VECTORS_OF_512_BITS inline void FN(sum_along)(__global SRC *sum, __global SRC *row, int n, int side, int channels)
{
    int offset = 0, length = n + (side - 1) * channels;
    for (int bit = 1; bit <= side; bit *= 2) {
        if (side & bit) {
            EACH(x, n) {
                FN(strip_lanes) more = STRIP_IN(row + offset + x);
                STRIP_OUT(sum + x) = offset == 0 ? more : STRIP_IN(sum + x) + more;
            }
            offset += bit * channels;
        }
        length -= bit * channels;
        if (2 * bit <= side)
            EACH(x, length)
                STRIP_OUT(row + x) = STRIP_IN(row + x) + STRIP_IN(row + bit * channels + x);
    }
}

/* Scratch memory has lines for the sums above the middle, one for each row of a block; for chunks, as a ring; for the middle
 * and its rounding error; for the sums below, those of a row's windows down columns and then along it; and for a row with
 * what is outside. */
VECTORS_OF_512_BITS __kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), STRIP_PARAMETERS, float area,
                                         int block, int chunks, int rest)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    int count = STRIP_COUNT, side = left + 1 + right, needed = count + (side - 1) * channels;
    int n = (needed + STRIP_LANES - 1) / STRIP_LANES * STRIP_LANES;
    __global SRC *above = (__global SRC *)STRIP_MEMORY, *chunk = above + block * line, *middle = chunk + chunks * line;
    __global SRC *error = middle + line, *below = error + line, *column = below + line, *sums = column + line;
    __global SRC *pad = sums + line;
#define SOURCE_LINE(y) STRIP_LINE(y, needed, n, STRIP_LANES, pad)
    int y = STRIP_ROW, end = STRIP_ROW_END, first = y + centre_y - top;
    for (int i = 0; i < chunks; i++) { /* the middle of the band's first block, below its rest */
        FN(clear)(chunk + i * line, n);
        for (int k = 0; k < block; k++)
            FN(add)(chunk + i * line, chunk + i * line, SOURCE_LINE(first + block - 1 + rest + i * block + k), n);
    }
    for (int index = chunks; y < end; y += block, first += block, index++) {
        FN(clear)(above + (block - 1) * line, n);
        for (int k = block - 2; k >= 0; k--)
            FN(add)(above + k * line, above + (k + 1) * line, SOURCE_LINE(first + k), n);
        FN(clear)(middle, n);
        for (int k = 0; k < rest; k++)
            FN(add)(middle, middle, SOURCE_LINE(first + block - 1 + k), n);
        FN(clear)(error, n);
        for (int k = index - chunks; k < index; k++)
            FN(add_exactly)(middle, error, chunk + k % chunks * line, n);
        for (int x = 0; x < n; x++) /* if the sum is infinite its error is NaN */
            middle[x] = error[x] == error[x] ? middle[x] + error[x] : middle[x];
        FN(clear)(below, n);
        for (int k = 0; k < block; k++) {
            if (y + k < end) {
                __global SRC *out = ROW(dst, y + k) + STRIP_BEGIN;
                EACH(x, n)
                    STRIP_OUT(column + x) = STRIP_IN(middle + x) + STRIP_IN(below + x) + STRIP_IN(above + k * line + x);
                FN(sum_along)(sums, column, count, side, channels);
                int x = 0;
                for (; x + STRIP_LANES <= count; x += STRIP_LANES)
                    STRIP_OUT(out + x) = STRIP_IN(sums + x) / area;
                for (; x < count; x++)
                    out[x] = sums[x] / area;
                STRIP_ALPHA(out, y + k, count)
            }
            FN(add)(below, below, SOURCE_LINE(first + k + top + bottom + 1), n);
        }
        if (chunks > 0)
            EACH(x, n)
                STRIP_OUT(chunk + index % chunks * line + x) = STRIP_IN(below + x);
    }
}
