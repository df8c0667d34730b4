/* Copies a plane's pixels to another place of the result, with a border or a background beside them. The grid counts
 * units of the result: a pixel is copied in integers of UNIT_BYTES bytes (src/stage/move/move.h).
 *
 * Vectors are 16 bytes, aligned in the result. In the source they may begin at any byte: then words are loaded and
 * shifted. */
#include <border.cl>
#include <memory.cl>

/* The background's pixel: its units, one after the other, in a … d. */
#define BACKGROUND_PARAMETERS ulong a, ulong b, ulong c, ulong d
#define BACKGROUND_ARGUMENTS  a, b, c, d

inline UNIT FN(background)(int unit, BACKGROUND_PARAMETERS)
{
    int byte = unit * UNIT_BYTES;
    ulong part = byte < 8 ? a : byte < 16 ? b : byte < 24 ? c : d;
    return (UNIT)(part >> (ulong)(byte % 8 * 8));
}

/* Unit x of a row of the result, beside the copied pixels. `in` is NULL if the row has none. */
inline UNIT FN(beside)(__global const UNIT *in, int x, int width, int left, int border,
                       BACKGROUND_PARAMETERS)
{
    int pixel = x / UNITS - left, unit = x % UNITS;
    if (pixel < 0 || pixel >= width)
        pixel = border < 0 ? -2 : border_index(pixel, width, border);
    if (pixel == -2 || in == 0)
        return border < 0 ? FN(background)(unit, BACKGROUND_ARGUMENTS) : (UNIT)0;
    return pixel < 0 ? (UNIT)0 : in[pixel * UNITS + unit];
}

__kernel void KERNEL(GRID, PLANE_IN(UNIT, src), PLANE_OUT(UNIT, dst), int width, int height,
                     int left, int top, int mirror_y, int border, BACKGROUND_PARAMETERS)
{
    POSITION(x, y)
    __global UNIT *out = ROW(dst, y);
    int row = y - top, end = SPAN_END(x);
    if (row < 0 || row >= height)
        row = border < 0 ? -1 : border_index(row, height, border);
    if (mirror_y && row >= 0)
        row = height - 1 - row;
    __global const UNIT *in = row < 0 ? 0 : ROW(src, row);
    int begin = in ? clamp(left * UNITS, x, end) : end;
    int stop = in ? clamp((left + width) * UNITS, begin, end) : end;
#pragma form VECTOR
    if (begin == x && stop == x + SPAN) {
        int byte = (src_offset + row * src_stride + x - left * UNITS) * UNIT_BYTES & 15;
        __global const uint *at =
            (__global const uint *)(in + (x - left * UNITS) - byte % 4 / UNIT_BYTES);
        uint4 v = byte == 0 ? *(__global const uint4 *)at : UNALIGNED_IN(uint, 4, at);
        if (byte % 4 != 0) {
            uint shift = (uint)(byte % 4 * 8);
            v = v >> shift | (uint4)(v.yzw, at[4]) << (32u - shift);
        }
        *(__global uint4 *)(out + x) = v;
        return;
    }
#pragma form
    for (; x < begin; x++)
        out[x] = FN(beside)(in, x, width, left, border, BACKGROUND_ARGUMENTS);
    for (; x < stop; x++)
        out[x] = in[x - left * UNITS];
    for (; x < end; x++)
        out[x] = FN(beside)(in, x, width, left, border, BACKGROUND_ARGUMENTS);
}
