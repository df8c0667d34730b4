/* equalize: samples out of the table that cl/tone/histogram.cl makes, or luma, whose change is added to each
 * colour. */
#include <lookup.cl>
#pragma kernel colours
#define MOST (sizeof(SRC) == 1 ? 255 : 65535)
#pragma kernel fours
#include "four_pixels.cl"
#pragma kernel colours

/* The grid counts pixels. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), __global const int *restrict state)
{
    POSITION(x, y)
    __global const SRC *table = (__global const SRC *)(state + 272);
#pragma kernel fours
    if (x + NEEDED <= grid_width) {
        uint4 w = FN(four)(ROW(src, y) + x * CH);
        float4 lumas = FN(lumas)(w);
        int4 v = convert_int4(lumas);
        float4 become = (float4)((float)table[v.s0], (float)table[v.s1], (float)table[v.s2], (float)table[v.s3]);
        FN(put_raised)(ROW(dst, y) + x * CH, w, become - lumas);
        return;
    }
#pragma kernel colours
    for (int end = SPAN_END(x); x < end; x++) {
        __global const SRC *in = ROW(src, y) + x * CH;
        __global SRC *out = ROW(dst, y) + x * CH;
        int luma = (int)((in[0] * 19595u + in[1] * 38470u + in[2] * 7471u + 32768u) >> 16);
        int change = (int)table[luma] - luma;
        for (int c = 0; c < 3; c++)
            out[c] = (SRC)clamp((int)in[c] + change, 0, MOST);
        if (CH == 4)
            out[3] = in[3];
    }
}
#pragma kernel join
/* Two bytes at once: the table of all pairs of them, the lower one first, behind the table; eight by each work-item. */
__kernel void KERNEL(GRID, __global int *restrict state, int joined_at)
{
    POSITION(x, upper)
    __global const uchar *table = (__global const uchar *)(state + 272);
    uint high = (uint)table[upper] << 8, above = high << 16 | high;
    uint2 v = *(__global const uint2 *)(table + x);
    *((__global uint4 *)(state + joined_at) + (upper * 256 + x) / 8) =
        (uint4)((v.s0 & 255u) | (v.s0 << 8 & 0xff0000u), (v.s0 >> 16 & 255u) | (v.s0 >> 8 & 0xff0000u),
                (v.s1 & 255u) | (v.s1 << 8 & 0xff0000u), (v.s1 >> 16 & 255u) | (v.s1 >> 8 & 0xff0000u)) | above;
}

#pragma kernel pairs
/* Samples of one channel, looked up two at a time. The grid counts samples. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), PLANE_OUT(uchar, dst), __global const int *restrict state, int joined_at)
{
    POSITION(x, y)
    __global const ushort *joined = (__global const ushort *)(state + joined_at);
    __global const uchar *in = ROW(src, y), *table = (__global const uchar *)(state + 272);
    __global uchar *out = ROW(dst, y);
    if (x + SPAN <= grid_width) {
        uint4 v = *(__global const uint4 *)(in + x);
#define TWO(w) ((uint)joined[(w) & 0xffffu] | (uint)joined[(w) >> 16] << 16)
        *(__global uint4 *)(out + x) = (uint4)(TWO(v.s0), TWO(v.s1), TWO(v.s2), TWO(v.s3));
        return;
    }
    for (; x < grid_width; x++)
        out[x] = table[in[x]];
}

#pragma kernel unnamed
inline V(DST) FN(equalize_pixel)(V(SRC) v, __global const uchar *restrict state)
{
    return LOOK_UP(DST, state + 272 * 4, v);
}
