/* erode and dilate of bytes on GPUs, in windows that are wider than what `src` is made of: of each position the
 * least or the largest of PLACES that are up to `distance` apart along a row or a column, from `begin` to `begin` +
 * `last` samples or rows from there. Each of these has been made of a window as large as `distance`, or is one
 * sample. The grid counts samples; a work-item takes a word of a row (across), or four (down). Where `ends`, alpha
 * is that of the stage's own source, `whole`. */
#include "bytes.cl"
#pragma kernel down
#define WORDS_OF_ITEM uint4
#define BEST          FN(better_4)
#define PUT_SOME      edge_put_16
#define WORDS_AT(at)  FN(words_in)(src_base, src_offset, src_stride, x, border_index(y + (at), height, border))
inline uint4 FN(words_in)(PLANE_IN(uchar, src), int x, int row)
{
    return row < 0 ? (uint4)0 : *(__global const uint4 *)(ROW(src, row) + x);
}
#pragma kernel across
#define WORDS_OF_ITEM uint
#define BEST          FN(better_1)
#define PUT_SOME      edge_put_4
#define WORDS_AT(at)  FN(word_at)(ROW(src, y), x + (at), width, border)
/* The word at any sample of a row. */
inline uint FN(word_at)(__global const uchar *row, int x, int width, int border)
{
    if (x >= 0 && x + 8 <= width) {
        __global const uint *at = (__global const uint *)(row + (x & ~3));
        uint low = at[0], high = at[1], bits = 8u * ((uint)x & 3u);
        return low >> bits | high << 1 << (31u - bits);
    }
    return edge_word(row, x, width / CH, CH, border);
}
#pragma kernel

__kernel void KERNEL(GRID, PLANE_IN(uchar, src), PLANE_OUT(uchar, dst), PLANE_IN(uchar, whole), int width,
                     int height, int begin, int distance, int last, int border, int ends)
{
    POSITION(x, y)
    WORDS_OF_ITEM best = 0;
    UNROLLED for (int i = 0; i < PLACES; i++) {
        WORDS_OF_ITEM v = WORDS_AT(begin + min(i * distance, last));
        best = i == 0 ? v : BEST(best, v);
    }
    if (ALPHA && ends)
        best = (best & ~ALPHA_BYTES) | (*(__global const WORDS_OF_ITEM *)(ROW(whole, y) + x) & ALPHA_BYTES);
    __global uchar *out = ROW(dst, y) + x;
    if (x + SPAN <= width) {
        *(__global WORDS_OF_ITEM *)out = best;
        return;
    }
    PUT_SOME(out, best, width - x);
}
