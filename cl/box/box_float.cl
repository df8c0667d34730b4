/* box of f32 in rows form, for CPUs. A work-item computes a band of rows; the grid counts bands.
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
#include <border.cl>
typedef float16 FN(floats) __attribute__((aligned(4)));
#define LOAD(p)     (*(__global const FN(floats) *)(p))
#define STORE(v, p) (*(__global FN(floats) *)(p) = (v))

struct FN(shape) {
    int width, height, out_width, left, right, top, bottom, border;
    int pitch; /* floats from row to row of scratch memory */
    int block, chunks, rest;
};

/* Scratch memory of a work-item, in rows: the sums above the middle, one for each row of a block; chunks, as a ring; the
 * middle and its rounding error; the sum below; the result; and the row with its border, which is longer. */
#define ABOVE_OF(base, i)  ((base) + (i) * s.pitch)
#define CHUNK_OF(base, i)  ((base) + (s.block + modulo(i, s.chunks)) * s.pitch)
#define MIDDLE_OF(base)    ((base) + (s.block + s.chunks) * s.pitch)
#define ERROR_OF(base)     ((base) + (s.block + s.chunks + 1) * s.pitch)
#define BELOW_OF(base)     ((base) + (s.block + s.chunks + 2) * s.pitch)
#define RESULT_OF(base)    ((base) + (s.block + s.chunks + 3) * s.pitch)
#define BORDERED_OF(base)  ((base) + (s.block + s.chunks + 4) * s.pitch)

/* sum = a + row, of n floats. */
inline void FN(add)(__global float *sum, __global const float *a, __global const float *row, int n)
{
    int i = 0;
    for (; i + 16 <= n; i += 16)
        STORE(LOAD(a + i) + LOAD(row + i), sum + i);
    for (; i < n; i++)
        sum[i] = a[i] + row[i];
}

/* sum += row, and error += the rounding error of that (Knuth, The Art of Computer Programming 2, 4.2.2). */
inline void FN(add_exactly)(__global float *sum, __global float *error, __global const float *row,
                            int n)
{
    for (int i = 0; i < n; i++) {
        float a = sum[i], b = row[i], t = a + b, part = t - a;
        sum[i] = t;
        error[i] += (a - (t - part)) + (b - part);
    }
}

/* Row y of the bordered plane; NULL: a row of zeros. */
inline __global const float *FN(inner_row)(PLANE_IN(float, src), int y, const struct FN(shape) s)
{
    int row = border_index(y, s.height, s.border);
    return row < 0 ? 0 : ROW(src, row);
}
#define INNER_ROW(y) FN(inner_row)(src_base, src_offset, src_stride, y, s)

/* The sum of rows first … first + count - 1 of the bordered plane. */
inline void FN(sum_rows)(__global float *sum, PLANE_IN(float, src), int first, int count,
                         const struct FN(shape) s)
{
    int n = s.width * CH;
    for (int i = 0; i < n; i++)
        sum[i] = 0;
    for (int y = first; y < first + count; y++) {
        __global const float *row = INNER_ROW(y);
        if (row)
            FN(add)(sum, sum, row, n);
    }
}

/* The sums of the rows above the middle, for the windows of rows y, y + 1, … */
inline void FN(sum_above)(__global float *base, PLANE_IN(float, src), int y,
                          const struct FN(shape) s)
{
    int n = s.width * CH;
    for (int i = 0; i < n; i++)
        ABOVE_OF(base, s.block - 1)[i] = 0;
    for (int k = s.block - 2; k >= 0; k--) {
        __global const float *row = INNER_ROW(y - s.top + k), *below = ABOVE_OF(base, k + 1);
        if (row)
            FN(add)(ABOVE_OF(base, k), below, row, n);
        else
            for (int i = 0; i < n; i++)
                ABOVE_OF(base, k)[i] = below[i];
    }
}

/* The middle of block number `index`, which begins at row y. */
inline void FN(sum_middle)(__global float *base, PLANE_IN(float, src), int y, int index,
                           const struct FN(shape) s)
{
    __global float *middle = MIDDLE_OF(base), *error = ERROR_OF(base);
    FN(sum_rows)(middle, src_base, src_offset, src_stride, y - s.top + s.block - 1, s.rest, s);
    for (int i = 0; i < s.width * CH; i++)
        error[i] = 0;
    for (int k = index - s.chunks; k < index; k++)
        FN(add_exactly)(middle, error, CHUNK_OF(base, k), s.width * CH);
    for (int i = 0; i < s.width * CH; i++) /* if the sum is infinite its error is NaN */
        middle[i] = error[i] == error[i] ? middle[i] + error[i] : middle[i];
}

/* Writes pixels begin … end - 1 of the bordered row of column sums. */
inline void FN(fill)(__global float *to, __global const float *row, int begin, int end,
                     const struct FN(shape) s)
{
    int first, step;
    for (int p = begin, count; p < end; p += count, to += count * CH) {
        count = border_run(p, end, s.width, s.border, &first, &step);
        for (int k = 0; k < count; k++)
            for (int c = 0; c < CH; c++)
                to[k * CH + c] = first < 0 ? 0.0f : row[(first + k * step) * CH + c];
    }
}

/* Sums of `side` neighbours along a bordered row, which is overwritten. */
inline void FN(sum_along)(__global float *sum, __global float *row, int n, int side)
{
    int offset = 0, length = n + (side - 1) * CH;
    for (int bit = 1; bit <= side; bit *= 2) {
        if (side & bit) {
            if (offset == 0)
                for (int i = 0; i < n; i += 16)
                    STORE(LOAD(row + i), sum + i);
            else
                for (int i = 0; i < n; i += 16)
                    STORE(LOAD(sum + i) + LOAD(row + offset + i), sum + i);
            offset += bit * CH;
        }
        length -= bit * CH;
        for (int i = 0; 2 * bit <= side && i < length; i += 16)
            STORE(LOAD(row + i) + LOAD(row + bit * CH + i), row + i);
    }
}

/* A row of means, from sums of columns, which are in BORDERED_OF(base) behind the place for the left border. */
inline void FN(finish_row)(__global float *out, __global const float *centre, __global float *base,
                           const struct FN(shape) s, float area)
{
    __global float *bordered = BORDERED_OF(base), *inside = bordered + s.left * CH;
    __global float *sum = RESULT_OF(base);
    int n = s.out_width * CH, i = 0;
    FN(fill)(bordered, inside, -s.left, 0, s);
    FN(fill)(inside + s.width * CH, inside, s.width, s.out_width + s.right, s);
    FN(sum_along)(sum, bordered, n, s.left + 1 + s.right);
#if !ALPHA
    for (; i + 16 <= n; i += 16)
        STORE(LOAD(sum + i) / area, out + i);
#endif
    for (; i < n; i++)
        out[i] = ALPHA && IS_ALPHA(CH, i) ? centre[i] : sum[i] / area;
}

/* The rows of block number `index`, from y to end - 1. */
inline void FN(block)(__global float *base, PLANE_IN(float, src), PLANE_OUT(float, dst), int y,
                      int end, int index, int centre, const struct FN(shape) s, float area)
{
    int n = s.width * CH;
    __global float *middle = MIDDLE_OF(base), *below = BELOW_OF(base);
    FN(sum_above)(base, src_base, src_offset, src_stride, y, s);
    FN(sum_middle)(base, src_base, src_offset, src_stride, y, index, s);
    for (int i = 0; i < n; i++)
        below[i] = 0;
    for (int k = 0; k < s.block; k++) {
        if (y + k < end) {
            __global float *sum = BORDERED_OF(base) + s.left * CH;
            FN(add)(sum, middle, below, n);
            FN(add)(sum, sum, ABOVE_OF(base, k), n);
            FN(finish_row)(ROW(dst, y + k), ROW(src, y + k) + centre, base, s, area);
        }
        __global const float *row = INNER_ROW(y + k + s.bottom + 1);
        if (row)
            FN(add)(below, below, row, n);
    }
    if (s.chunks > 0)
        for (int i = 0; i < n; i++)
            CHUNK_OF(base, index)[i] = below[i];
}

__kernel void KERNEL(GRID, PLANE_IN(float, src), PLANE_OUT(float, dst),
                     __global float *restrict scratch, int item_size, int pitch, int width,
                     int height, int out_width, int out_height, int band, int left, int right,
                     int top, int bottom, int border, int centre_x, int centre_y, float area,
                     int block, int chunks, int rest)
{
    int item = GRID_Y;
    IN_GRID(SPAN_BEGIN, item)
    struct FN(shape) s = {width, height, out_width, left, right, top, bottom, border,
                          pitch, block, chunks, rest};
    int y = item * band, end = min(y + band, out_height);
    __global float *base = scratch + (size_t)item * item_size;
    for (int i = 0; i < chunks; i++) /* the middle of the band's first block, below its rest */
        FN(sum_rows)(CHUNK_OF(base, i), src_base, src_offset, src_stride,
                     y - top + block - 1 + rest + i * block, block, s);
    for (int index = chunks; y < end; y += block, index++)
        FN(block)(base, src_base, src_offset, src_stride, dst_base, dst_offset, dst_stride, y, end,
                  index, centre_y * src_stride + centre_x * CH, s, area);
}
