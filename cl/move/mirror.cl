/* Mirrors a plane left to right, and with mirror_y also top to bottom. The grid counts pixels of UNITS units
 * (src/stage/move/move.h).
 *
 * As vectors, a work-item takes 16 bytes of the result, or 12 where a pixel is 3, 6 or 12. In the source they may begin
 * at any byte: then words are loaded and shifted. */
#include <memory.cl>
#include <words.cl>
#pragma form VECTOR
#define PIXEL_BYTES (UNITS * UNIT_BYTES)
#define WORDS       (PIXEL_BYTES % 3 == 0 ? 3 : 4)
#define PERMUTED(a, b, c, d, order)                                                                \
    (uint4)(permute(v.s##a, 0u, order), permute(v.s##b, 0u, order), permute(v.s##c, 0u, order), permute(v.s##d, 0u, order))

/* The pixels of a vector in reverse. */
inline uint4 FN(reversed)(uint4 v)
{
    switch (PIXEL_BYTES) {
    case 1: return PERMUTED(3, 2, 1, 0, 0x0123u);
    case 2: return PERMUTED(3, 2, 1, 0, 0x1032u);
    case 3: return (uint4)(permute(v.s2, v.s1, 0x6321u), permute(permute(v.s1, v.s2, 0x0043u), v.s0, 0x2710u),
                           permute(v.s1, v.s0, 0x6541u), 0u);
    case 4: return v.s3210;
    case 6: return (uint4)(permute(v.s1, v.s2, 0x5432u), permute(v.s2, v.s0, 0x5432u), permute(v.s0, v.s1, 0x5432u), 0u);
    case 8: return v.s2301;
    default: return v;
    }
}

/* The vector that begins `byte` bytes, of which the last 4 bits count, behind the beginning of the memory. */
inline uint4 FN(vector_at)(__global const UNIT *in, int byte)
{
    __global const uint *at = (__global const uint *)(in - byte % 4 / UNIT_BYTES);
    uint shift = (uint)(byte % 4 * 8), behind = shift > 0 ? at[WORDS] : 0u;
    uint4 v;
    if (WORDS == 3)
        v = (uint4)(at[0], at[1], at[2], 0u);
    else
        v = byte == 0 ? *(__global const uint4 *)at : UNALIGNED_IN(uint, 4, at);
    uint4 next = WORDS == 3 ? (uint4)(v.s12, behind, 0u) : (uint4)(v.s123, behind);
    return v >> shift | next << 1u << (31u - shift);
}
#pragma form

__kernel void KERNEL(GRID, PLANE_IN(UNIT, src), PLANE_OUT(UNIT, dst), int height, int mirror_y)
{
    POSITION(x, y)
    int row = mirror_y ? height - 1 - y : y;
    __global const UNIT *in = ROW(src, row) + (grid_width - 1) * UNITS;
    __global UNIT *out = ROW(dst, y);
#pragma form VECTOR
    if (x + SPAN <= grid_width) {
        int first = (grid_width - SPAN - x) * UNITS;
        int byte = (src_offset + row * src_stride + first) * UNIT_BYTES & 15;
        uint4 v = FN(reversed)(FN(vector_at)(ROW(src, row) + first, byte));
        if (WORDS == 3)
            vstore3(v.s012, 0, (__global uint *)(out + x * UNITS));
        else
            *(__global uint4 *)(out + x * UNITS) = v;
        return;
    }
#pragma form
    for (int end = SPAN_END(x); x < end; x++)
        for (int unit = 0; unit < UNITS; unit++)
            out[x * UNITS + unit] = in[unit - x * UNITS];
}
