/* One level of cdf97 or cdf53 by lifting for GPUs with few registers (Mali), for pictures of one channel that are at
 * least 8 wide, with the steps of cl/dwt/dwt_steps.cl. KERNEL_analysis computes bands from a picture, KERNEL_synthesis a
 * picture from bands.
 *
 * A work-item goes down two columns of each band (four of the picture), through `rows` rows of the bands. In each row it
 * loads its own columns and the neighbours that the steps along the row need, which other work-items load at the same
 * time from the same cache lines. What the steps down the columns need from rows above stays in registers. So
 * everything is read from memory once, except for a few rows between blocks.
 *
 * Work-items at the picture's edges run a loop that loads single samples at mirrored positions. All others load whole
 * vectors, with offsets of 32 bits.
 *
 * a, b, c and e are the factors of the steps. low_gain and high_gain scale low and high results along rows, and again
 * down columns; in the synthesis even and odd ones. */
#include <memory.cl>
#include <words.cl>
#define BY_FMA
#include "dwt_planes.cl"
#include "dwt_steps.cl"

#define GAINS                                                                                      \
    HALVES low_gains = (HALVES)((BAND)(low_gain * low_gain), (BAND)(low_gain * high_gain));        \
    HALVES high_gains = (HALVES)((BAND)(high_gain * low_gain), (BAND)(high_gain * high_gain));
#define NO_ENDS (struct FN(ends)){false, false, 0, 0} /* lines are loaded with what is outside */

/* The index that a mirrored line has at column i of the picture, which is at most 7 outside. */
#define FOLDED(i) min(abs(i), 2 * width - 2 - abs(i))

#pragma kernel analysis
/* Loads columns 2p - 4 … 2p + 7 of row y of the picture, as WORK. */
#if SRC_SIZE == 1
#define BYTE_OF(w, k) (WORK)SAMPLE_OF(SRC, w, k)
#define FOUR(w) BYTE_OF(w, 0), BYTE_OF(w, 1), BYTE_OF(w, 2), BYTE_OF(w, 3)
inline CAT(WORK, 16) FN(inside)(__global const SRC *from)
{
    uint4 w = UNALIGNED_IN(uint, 4, from);
    return (CAT(WORK, 16))(FOUR(w.x), FOUR(w.y), FOUR(w.z), (CAT(WORK, 4))(0));
}
#else
inline CAT(WORK, 16) FN(inside)(__global const SRC *from)
{
    __global const CAT(SRC, 4) *four = (__global const CAT(SRC, 4) *)from;
    CAT(SRC, 4) x = four[0], y = four[1], z = four[2];
    return CAT3(convert_, WORK, 16)((CAT(SRC, 16))(x, y, z, z));
}
#endif
inline CAT(WORK, 16) FN(mirrored)(__global const SRC *row, int x, int width)
{
#define MIRRORED_AT(k) (WORK)row[(uint)FOLDED(x + (k))]
    return (CAT(WORK, 16))(MIRRORED_AT(0), MIRRORED_AT(1), MIRRORED_AT(2), MIRRORED_AT(3), MIRRORED_AT(4), MIRRORED_AT(5), MIRRORED_AT(6), MIRRORED_AT(7), MIRRORED_AT(8), MIRRORED_AT(9),
                           MIRRORED_AT(10), MIRRORED_AT(11), (CAT(WORK, 4))(0));
}
#define LOAD_LINE(y)                                                                                    \
    (edge ? FN(mirrored)(ROW(src, FN(mirror)(y, height)), 2 * p - 4, width)                        \
          : FN(inside)(PLACE(src, 2 * p - 4, y)))

/* Computes the work-item's columns of rows y … y_end - 1 of the bands. */
inline void FN(walk)(PLANES, struct FN(factors) f, WORK low_gain, WORK high_gain, int width,
                     int height, int p, int y, int y_end, bool edge)
{
    GAINS
    int n_low = edge ? (width + 1) / 2 - p : 2, n_high = edge ? width / 2 - p : 2;
    CAT(WORK, 16) numbers = LOAD_LINE(2 * (y - BEYOND));
    struct FN(column) column = {TAKE(numbers, NO_ENDS, f), 0, 0, 0, 0, 0};
    for (int n = y - BEYOND; n < y_end + BEYOND - 1; n++) {
        numbers = LOAD_LINE(2 * n + 1);
        DOWN odd = TAKE(numbers, NO_ENDS, f);
        numbers = LOAD_LINE(2 * n + 2);
        DOWN below = TAKE(numbers, NO_ENDS, f);
        FN(down)(&column, odd, below, f);
        int done = n - (BEYOND - 1);
        if (done < y)
            continue;
        DOWN low = column.low, high = column.high;
#if STEPS == 4
        low *= low_gains, high *= high_gains;
#endif
        HALVES v = GIVE(low, NO_ENDS, f), w = GIVE(high, NO_ENDS, f);
        FN(store)(PLACE(ll, p, done), v.lo, n_low);
        FN(store)(PLACE(hl, p, done), v.hi, n_high);
        if (!edge || done < height / 2) {
            FN(store)(PLACE(lh, p, done), w.lo, n_low);
            FN(store)(PLACE(hh, p, done), w.hi, n_high);
        }
    }
}

#pragma kernel synthesis
/* Loads columns p - 2 … p + 3 of a band's row. For mirroring, a low sample n has position 2n in the picture's row, and a
 * high one 2n + 1. */
inline LINE FN(inside)(__global const WORK *from)
{
    BAND last = *(__global const BAND *)(from + 4);
    return (LINE)(CAT3(as_, WORK, 4)(UNALIGNED_IN(uint, 4, from)), last, last);
}
inline LINE FN(mirrored)(__global const WORK *row, int x, int width)
{
#define MIRRORED_AT(k) row[(uint)FOLDED(x + 2 * (k)) / 2]
    return (LINE)(MIRRORED_AT(0), MIRRORED_AT(1), MIRRORED_AT(2), MIRRORED_AT(3), MIRRORED_AT(4), MIRRORED_AT(5), (BAND)(0));
}
#define LOAD_LINE(band, high_along, high_down, n)                                                       \
    (edge ? FN(mirrored)(ROW(band, FN(mirror)(2 * (n) + high_down, height) / 2),                   \
                         2 * p - 4 + high_along, width)                                            \
          : FN(inside)(PLACE(band, p - 2, n)))

/* Computes the work-item's columns of pairs of rows y … y_end - 1 of the picture. */
inline void FN(walk)(PLANES, struct FN(factors) f, WORK low_gain, WORK high_gain, int width,
                     int height, int p, int y, int y_end, bool edge)
{
    GAINS
    LINE low = LOAD_LINE(lh, 0, 1, y - BEYOND), high = LOAD_LINE(hh, 1, 1, y - BEYOND);
    struct FN(column) column = {FN(along)(low, high, NO_ENDS, f), 0, 0, 0, 0};
    for (int n = y - BEYOND + 1; n < y_end + BEYOND; n++) {
        low = LOAD_LINE(ll, 0, 0, n), high = LOAD_LINE(hl, 1, 0, n);
        HALVES even = FN(along)(low, high, NO_ENDS, f);
        low = LOAD_LINE(lh, 0, 1, n), high = LOAD_LINE(hh, 1, 1, n);
        FN(down)(&column, even, FN(along)(low, high, NO_ENDS, f), f);
        even = column.even;
        HALVES odd = column.odd;
#if STEPS == 4
        even *= low_gains, odd *= high_gains;
#endif
        int done = n - BEYOND; /* the odd row of this pair is complete, and the even row of the next */
        int n_out = edge ? width - 2 * p : 4;
        if (done >= y && (!edge || 2 * done + 1 < height))
            FN(store)(PLACE(dst, 2 * p, 2 * done + 1), odd, n_out);
        if (done + 1 >= y && done + 1 < y_end)
            FN(store)(PLACE(dst, 2 * p, 2 * done + 2), even, n_out);
    }
}
#pragma kernel

/* The grid counts the low band's columns, and blocks of `rows` of its rows. */
__kernel void KERNEL(GRID, PLANES, WORK a, WORK b, WORK c, WORK e, WORK low_gain, WORK high_gain,
                     int rows, int width, int height)
{
    POSITION(p, block)
    struct FN(factors) f = {a, b, c, e};
    int y = block * rows, y_end = min(y + rows, (height + 1) / 2);
#define WALK(edge)                                                                                 \
    FN(walk)                                                                                       \
    (PLANE_ARGUMENTS, f, low_gain, high_gain, width, height, p, y, y_end, edge)
    if (p >= 2 && 2 * p + 8 <= width && y >= BEYOND && 2 * (y_end + BEYOND) <= height)
        WALK(false);
    else
        WALK(true);
}
