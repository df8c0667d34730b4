/* A luminance sample for each pixel of CH channels: 3, or 4 with alpha, which is dropped; of grey (CH 1 or 2) a copy.
 * The grid counts pixels. Of integers it is (r*R + g*G + b*B + 32768) >> 16 with weights whose sum is 65536; for
 * samples of 16 bits, too, that fits 32 bits. MIXED is the type of the weights. */
#include <luma.cl>
#include <memory.cl>
#include <processor.cl>
#include <words.cl>
#pragma kernel grey
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(OUT, dst) THEN_PARAMETERS)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global OUT *out = ROW(dst, y);
    for (int end = SPAN_END(x); x < end; x++)
        out[x] = THEN_ONE(in[CH * x]);
}
#pragma kernel bytes
/* RGB bytes on CPUs, 32 pixels at a time in lanes of 16 bits; LLVM would vectorise a plain loop in lanes of 32 bits. A
 * lane first holds the bytes of an even pixel and of the odd one behind it. A weight is 256 h + l, and planning has
 * checked that the sum of the three l is at most 256. So the sums of products fit 16 bits (at most 255 · 256), and so
 * does the sum that is shifted last (at most 65536 / 256 · 255 + 128). Clang deals the bytes of a vector of 96 to the
 * channels in 13 instructions. */
typedef uchar FN(bytes96) __attribute__((ext_vector_type(96), aligned(1)));
#define CHANNEL(v, k)                                                                              \
    __builtin_astype(__builtin_shufflevector(v, v,                                               \
        (k), (k) + 3, (k) + 6, (k) + 9, (k) + 12, (k) + 15, (k) + 18, (k) + 21, (k) + 24, (k) +    \
        27, (k) + 30, (k) + 33, (k) + 36, (k) + 39, (k) + 42, (k) + 45, (k) + 48, (k) + 51, (k)    \
        + 54, (k) + 57, (k) + 60, (k) + 63, (k) + 66, (k) + 69, (k) + 72, (k) + 75, (k) + 78,      \
        (k) + 81, (k) + 84, (k) + 87, (k) + 90, (k) + 93), ushort16)

inline ushort16 FN(mix)(ushort16 r, ushort16 g, ushort16 b, uint red, uint green, uint blue)
{
    ushort16 high = r * (ushort)(red >> 8) + g * (ushort)(green >> 8) + b * (ushort)(blue >> 8);
    ushort16 low = r * (ushort)(red & 255) + g * (ushort)(green & 255) + b * (ushort)(blue & 255);
    return high + (low >> (ushort)8) + (ushort)128;
}

inline ushort16 FN(pairs_at)(__global const uchar *in, uint red, uint green, uint blue)
{
    FN(bytes96) v = *(__global const FN(bytes96) *)in;
    ushort16 r = CHANNEL(v, 0), g = CHANNEL(v, 1), b = CHANNEL(v, 2);
    ushort16 even = FN(mix)(r & (ushort)255, g & (ushort)255, b & (ushort)255, red, green, blue);
    ushort16 odd = FN(mix)(r >> (ushort)8, g >> (ushort)8, b >> (ushort)8, red, green, blue);
    return even >> (ushort)8 | (odd & (ushort)0xff00);
}
#pragma kernel floats
/* Bytes on GPUs with few registers (Mali): 16 pixels, in accesses of 16 bytes. Four luminances in a word. */
inline uint FN(word)(float4 greys)
{
    return as_uint(four_of(greys + ROUNDER));
}
#pragma kernel unnamed bytes floats
#define MIX               CAT(MIX_, MIXED)
#define MIX_float(r, g, b) ((r) * red + (g) * green + (b) * blue)
#define MIX_uint(r, g, b)  ((MIX_float(r, g, b) + 32768u) >> 16)

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(OUT, dst), MIXED red, MIXED green, MIXED blue THEN_PARAMETERS)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global OUT *out = ROW(dst, y);
#pragma kernel floats
    if (x + SPAN <= grid_width) {
        __global const uint4 *at = (__global const uint4 *)(in + x * CH);
        float r = (float)red * 0x1p-16f, g = (float)green * 0x1p-16f, b = (float)blue * 0x1p-16f;
        uint4 v = at[0], w = at[1], u = at[2];
        if (CH == 3)
            *(__global uint4 *)(out + x) = (uint4)(THEN_WORD(FN(word)(lumas_of_rgb(v.s0, v.s1, v.s2, r, g, b))),
                                                   THEN_WORD(FN(word)(lumas_of_rgb(v.s3, w.s0, w.s1, r, g, b))),
                                                   THEN_WORD(FN(word)(lumas_of_rgb(w.s2, w.s3, u.s0, r, g, b))),
                                                   THEN_WORD(FN(word)(lumas_of_rgb(u.s1, u.s2, u.s3, r, g, b))));
        else
            *(__global uint4 *)(out + x) = (uint4)(THEN_WORD(FN(word)(lumas_of_rgba(v, r, g, b))),
                                                   THEN_WORD(FN(word)(lumas_of_rgba(w, r, g, b))),
                                                   THEN_WORD(FN(word)(lumas_of_rgba(u, r, g, b))),
                                                   THEN_WORD(FN(word)(lumas_of_rgba(at[CH - 1], r, g, b))));
        return;
    }
#pragma kernel unnamed
#pragma form VECTOR
    /* Four pixels from CH vectors of four samples. */
    if (x + SPAN <= grid_width) {
        __global const CAT(SRC, 4) *at = (__global const CAT(SRC, 4) *)(in + x * CH);
        __global CAT(OUT, 4) *to = (__global CAT(OUT, 4) *)(out + x);
        for (int i = 0; i < SPAN / 4; i++) {
            CAT(SRC, 4) a = at[i * CH], b = at[i * CH + 1], c = at[i * CH + 2], d = at[i * CH + CH - 1];
            CAT(SRC, 4) r = CH == 3 ? (CAT(SRC, 4))(a.s0, a.s3, b.s2, c.s1) : (CAT(SRC, 4))(a.s0, b.s0, c.s0, d.s0);
            CAT(SRC, 4) g = CH == 3 ? (CAT(SRC, 4))(a.s1, b.s0, b.s3, c.s2) : (CAT(SRC, 4))(a.s1, b.s1, c.s1, d.s1);
            CAT(SRC, 4) l = CH == 3 ? (CAT(SRC, 4))(a.s2, b.s1, c.s0, c.s3) : (CAT(SRC, 4))(a.s2, b.s2, c.s2, d.s2);
            CAT(DST, 4) v = CAT3(convert_, DST, 4)(MIX(CAT3(convert_, MIXED, 4)(r),
                                                       CAT3(convert_, MIXED, 4)(g),
                                                       CAT3(convert_, MIXED, 4)(l)));
            to[i] = THEN(v);
        }
        return;
    }
#pragma kernel unnamed bytes floats
    int end = SPAN_END(x);
#pragma kernel bytes
    for (; x + 32 <= end; x += 32) {
        FETCH_AHEAD(in + 3 * x + src_stride); /* the next row: the processor's own prefetching ends with each page */
        FETCH_AHEAD(in + 3 * x + src_stride + 64);
        ushort16 pairs = FN(pairs_at)(in + 3 * x, red, green, blue);
        UNALIGNED_OUT(OUT, 16, out + x) = THEN(as_uchar16(pairs.lo));
        UNALIGNED_OUT(OUT, 16, out + x + 16) = THEN(as_uchar16(pairs.hi));
    }
#pragma kernel unnamed bytes floats
    for (; x < end; x++)
        out[x] = THEN_ONE((DST)MIX((MIXED)in[CH * x], (MIXED)in[CH * x + 1], (MIXED)in[CH * x + 2]));
}
