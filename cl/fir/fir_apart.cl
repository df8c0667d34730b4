/* fir by a window that is the product of a column and a row of whole numbers, on CPUs (behind cl/strips.cl): each row of
 * the source is summed along itself into a ring of lines of ints, and as soon as the window's last line is there, a row
 * of the result is the sum down these, modulo 2^NUM_BITS. `table`: the row's coefficients, then the column's. */
#include <memory.cl>
#include <processor.cl>
#include <quotient.cl>
#include "strips.cl"

VECTORS_OF_512_BITS __kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), STRIP_PARAMETERS,
                                         __global const int *restrict table NUMBERS)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    int columns = left + right + 1, lines = top + bottom + 1, pitch = strip + 64, count = STRIP_COUNT;
    int padded = (count + 2 * LANES - 1) / (2 * LANES) * 2 * LANES, wide = (left + right) * channels;
    int last = STRIP_ROW_END - 1 + centre_y + bottom;
    __global int *ring = (__global int *)STRIP_MEMORY;
    __global SRC *pad = (__global SRC *)(ring + lines * pitch);
    __global const int *down = table + columns;
    for (int row = STRIP_ROW + centre_y - top, slot = 0; row <= last; row++, slot++) {
        slot = slot == lines ? 0 : slot;
        struct FN(line) in = STRIP_LINE(row, count + wide, padded + wide, 2 * LANES + wide, pad);
        __global int *to = ring + slot * pitch;
        for (int x = 0; x < padded; x += 2 * LANES) {
            __global const SRC *at = STRIP_AT(in, x, 2 * LANES + wide);
            V(int) low = 0, high = 0; /* they share the loads of coefficients */
            for (int i = 0; i < columns; i++, at += channels) {
                low += CONVERT(int, UNALIGNED_IN(SRC, 16, at)) * (V(int))(table[i]);
                high += CONVERT(int, UNALIGNED_IN(SRC, 16, at + LANES)) * (V(int))(table[i]);
            }
            UNALIGNED_OUT(int, 16, to + x) = low;
            UNALIGNED_OUT(int, 16, to + x + LANES) = high;
        }
        int y = row - centre_y - bottom;
        if (y < STRIP_ROW)
            continue;
        __global SRC *out = ROW(dst, y) + STRIP_BEGIN;
        for (int x = 0; x < count; x += LANES) {
            V(NUM) sum = 0;
            for (int j = 0, from = slot + 1; j < lines; j++, from++) { /* from the oldest line on */
                from = from == lines ? 0 : from;
                sum += WIDEN(UNALIGNED_IN(int, 16, ring + from * pitch + x)) * (V(NUM))((NUM)down[j]);
            }
            V(DST) result = EXACT_OF(sum);
            if (x + LANES <= count) {
                UNALIGNED_OUT(DST, 16, out + x) = result;
            } else {
                for (int i = 0; i < count - x; i++)
                    out[x + i] = ((DST *)&result)[i];
            }
        }
        STRIP_ALPHA(out, y, count)
    }
}
