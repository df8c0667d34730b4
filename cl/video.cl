/* The picture that a video frame's planes mean (src/stage/video.h). The grid counts pixels. A kernel for each way samples
 * lie:
 *
 *     pairs   a plane of Y, and one of pairs of Cb and Cr, CB_AT and CR_AT, for 2×2 pixels, or with EACH_ROW for 2×1
 *     thirds  planes of Y, Cb (CB_AT) and Cr (CR_AT)
 *     fours   two pixels are four bytes: Y_AT and two behind, CB_AT, CR_AT
 *     luma    of these y alone comes out: Y_AT and each Y_STEP behind
 *     moved   a pixel is SOURCE_CH bytes, red R_AT, green 1, blue B_AT
 *     packed  numbers of PACKED bits: the upper 8 of four or two pixels, then a byte with the others
 *
 * TEN_BITS: numbers are the upper 10 of 16 bits, and results have 16. WIDE: of bytes sixteen pixels at a time. */
#include <memory.cl>
#include <processor.cl>
#pragma kernel pairs thirds fours luma
#define FRACTION    (TEN_BITS ? 13 : 16) /* bits of the factors */
#define CLIPPED(v)  (DST)clamp(((v) + (1 << (FRACTION - 1))) >> FRACTION, 0, TEN_BITS ? 65535 : 255)
#define NUMBER(v)   ((int)(v) >> (TEN_BITS ? 6 : 0))
#define CHROMA_ZERO (TEN_BITS ? 512 : 128)
#define Y_OF(x)     in[Y_STEP * (x) + Y_AT]
#pragma form ROWS
typedef uchar FN(bytes8) __attribute__((ext_vector_type(8), aligned(1)));
typedef uchar FN(bytes32) __attribute__((ext_vector_type(32), aligned(1)));
typedef uchar FN(bytes48) __attribute__((ext_vector_type(48), aligned(1)));
#define EACH_OF(n, v, k)                                                                           \
    __builtin_shufflevector(v, v, (k), (k) + n, (k) + 2 * n, (k) + 3 * n, (k) + 4 * n, (k) + 5 * n, (k) + 6 * n, (k) + 7 * n)
#define EVERY_SECOND_16(v, k)                                                                      \
    __builtin_shufflevector(v, v, (k), (k) + 2, (k) + 4, (k) + 6, (k) + 8, (k) + 10, (k) + 12, (k) + 14, (k) + 16,     \
        (k) + 18, (k) + 20, (k) + 22, (k) + 24, (k) + 26, (k) + 28, (k) + 30)
inline uchar16 FN(y_16)(__global const SRC *in)
{
    if (Y_STEP == 2)
        return EVERY_SECOND_16(*(__global const FN(bytes32) *)in, Y_AT);
    return UNALIGNED_IN(uchar, 16, in);
}
#pragma form
#pragma kernel luma
#pragma form ROWS
#ifdef __AVX2__ /* LLVM 14 does not find this instruction for as many lanes */
typedef short FN(words) __attribute__((vector_size(32)));
#define WORDS(v) __builtin_astype(v, FN(words))
#define HIGH_HALF(a, b) __builtin_astype(__builtin_ia32_pmulhuw256(WORDS(a), WORDS(b)), ushort16)
#else
#define HIGH_HALF(a, b) convert_ushort16(convert_uint16(a) * convert_uint16(b) >> 16u)
#endif
/* y + (y * rest + 32768 >> 16) for a gain of 65536 + rest, in 16 bits: the product's high half, and one more where the
 * low half is 32768 and more. */
inline uchar16 FN(luma_16)(uchar16 bytes, int y_zero, int y_gain)
{
    ushort16 zero = (ushort16)(ushort)y_zero, rest = (ushort16)(ushort)(y_gain - 65536);
    ushort16 y = max(convert_ushort16(bytes), zero) - zero;
    ushort16 high = HIGH_HALF(y, rest);
    ushort16 v = y + high + (y * rest >> (ushort)15);
    return convert_uchar16(min(v, (ushort16)(255)));
}
#pragma form

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(OUT, dst), int y_zero, int y_gain THEN_PARAMETERS)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global OUT *out = ROW(dst, y);
    int end = SPAN_END(x);
#pragma form ROWS
    for (; WIDE && x + 16 <= end; x += 16) {
        FETCH_AHEAD(&Y_OF(x) + src_stride); /* the next row: the processor's own prefetching ends with each page */
        UNALIGNED_OUT(uchar, 16, out + x) = FN(luma_16)(FN(y_16)(in + Y_STEP * x), y_zero, y_gain);
    }
#pragma form
    for (; x < end; x++)
        out[x] = THEN_ONE(CLIPPED((NUMBER(Y_OF(x)) - y_zero) * y_gain));
}
#pragma kernel pairs
#define CHROMA_PLANES     , PLANE_IN(SRC, chroma)
#define CHROMA_ROWS       __global const SRC *pairs = ROW(chroma, EACH_ROW ? y : y >> 1);
#define CHROMA_AHEAD(x)   FETCH_AHEAD(pairs + (x) + chroma_stride);
#define CHROMA_8(x, at)   EACH_OF(2, UNALIGNED_IN(uchar, 16, pairs + (x)), at)
#define CHROMA_OF(x, at)  pairs[((x) & ~1) + at]
#pragma kernel thirds
#define CHROMA_PLANES     , PLANE_IN(SRC, cb), PLANE_IN(SRC, cr)
#define CHROMA_ROWS       __global const SRC *thirds[] = {ROW(cb, y >> 1), ROW(cr, y >> 1)};
#define CHROMA_AHEAD(x)                                                                            \
    FETCH_AHEAD(thirds[CB_AT] + ((x) >> 1) + cb_stride);                                           \
    FETCH_AHEAD(thirds[CR_AT] + ((x) >> 1) + cr_stride);
#define CHROMA_8(x, at)   (*(__global const FN(bytes8) *)(thirds[at] + ((x) >> 1)))
#define CHROMA_OF(x, at)  thirds[at][(x) >> 1]
#pragma kernel fours
#define CHROMA_PLANES
#define CHROMA_ROWS
#define CHROMA_AHEAD(x)
#define CHROMA_8(x, at)   EACH_OF(4, *(__global const FN(bytes32) *)(in + 2 * (x)), at)
#define CHROMA_OF(x, at)  in[4 * ((x) >> 1) + at]
#pragma kernel pairs thirds fours
#pragma form ROWS
#define TWICE(v) __builtin_shufflevector(v, v, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7)
#define CLIPPED_16(v) convert_uchar16(clamp((v) >> 16, (int16)(0), (int16)(255)))
#pragma form

__kernel void KERNEL(GRID, PLANE_IN(SRC, src) CHROMA_PLANES, PLANE_OUT(OUT, dst), int y_zero, int y_gain, int cr_to_r,
                     int cb_to_g, int cr_to_g, int cb_to_b THEN_PARAMETERS)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global OUT *out = ROW(dst, y);
    int end = SPAN_END(x);
    CHROMA_ROWS
#pragma form ROWS
    for (; WIDE && x + 16 <= end; x += 16) {
        FETCH_AHEAD(&Y_OF(x) + src_stride); /* the next rows */
        CHROMA_AHEAD(x)
        /* chroma is computed once for two pixels */
        int8 b = convert_int8(CHROMA_8(x, CB_AT)) - 128, r = convert_int8(CHROMA_8(x, CR_AT)) - 128;
        int16 luma = (convert_int16(FN(y_16)(in + Y_STEP * x)) - y_zero) * y_gain;
        int8 to_red = cr_to_r * r + 32768, to_green = 32768 - cb_to_g * b - cr_to_g * r, to_blue = cb_to_b * b + 32768;
        *(__global FN(bytes48) *)(out + 3 * x) =
            PIXELS_16(CLIPPED_16(luma + TWICE(to_red)), CLIPPED_16(luma + TWICE(to_green)), CLIPPED_16(luma + TWICE(to_blue)));
    }
#pragma form
    for (; x < end; x++) {
        int b = NUMBER(CHROMA_OF(x, CB_AT)) - CHROMA_ZERO, r = NUMBER(CHROMA_OF(x, CR_AT)) - CHROMA_ZERO;
        int luma = (NUMBER(Y_OF(x)) - y_zero) * y_gain;
        out[3 * x] = THEN_ONE(CLIPPED(luma + cr_to_r * r));
        out[3 * x + 1] = THEN_ONE(CLIPPED(luma - cb_to_g * b - cr_to_g * r));
        out[3 * x + 2] = THEN_ONE(CLIPPED(luma + cb_to_b * b));
    }
}
#pragma kernel moved
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(OUT, dst) THEN_PARAMETERS)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global OUT *out = ROW(dst, y);
    for (int end = SPAN_END(x); x < end; x++) {
        out[x * DST_CH] = THEN_ONE(in[x * SOURCE_CH + R_AT]);
        out[x * DST_CH + 1] = THEN_ONE(in[x * SOURCE_CH + 1]);
        out[x * DST_CH + 2] = THEN_ONE(in[x * SOURCE_CH + B_AT]);
        if (DST_CH == 4)
            out[x * DST_CH + 3] = THEN_ONE(in[x * SOURCE_CH + 3]);
    }
}
#pragma kernel packed
#define NUMBERS_IN_PACK (PACKED == 10 ? 4 : 2) /* PACKED bits each, their lowest ones in the last byte */
#pragma form ROWS
/* Sixteen numbers at a time, from two vectors that meet without reading beyond their bytes. */
#define APART       (PACKED == 10 ? 4 : 8)
#define UPPER_10    0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 15, 28, 29, 30
#define REST_10     4, 4, 4, 4, 9, 9, 9, 9, 14, 14, 14, 14, 31, 31, 31, 31
#define UPPER_12    0, 1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 24, 26, 27, 29, 30
#define REST_12     2, 2, 5, 5, 8, 8, 11, 11, 14, 14, 25, 25, 28, 28, 31, 31
#define SHIFTS      ((ushort16)(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3) % (ushort)NUMBERS_IN_PACK * (ushort)(PACKED - 8))
#pragma form

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(OUT, dst) THEN_PARAMETERS)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global OUT *out = ROW(dst, y);
    int end = SPAN_END(x);
#pragma form ROWS
    for (; WIDE && x + 16 <= end && x % NUMBERS_IN_PACK == 0; x += 16) {
        __global const uchar *at = in + x / NUMBERS_IN_PACK * (NUMBERS_IN_PACK + 1);
        uchar16 a = UNALIGNED_IN(uchar, 16, at), b = UNALIGNED_IN(uchar, 16, at + APART);
        ushort16 rest = convert_ushort16(__builtin_shufflevector(a, b, CAT(REST_, PACKED))) >> SHIFTS;
        ushort16 upper = convert_ushort16(__builtin_shufflevector(a, b, CAT(UPPER_, PACKED)));
        UNALIGNED_OUT(ushort, 16, out + x) = upper << (ushort16)(PACKED - 8) | (rest & (ushort16)((1 << (PACKED - 8)) - 1));
    }
#pragma form
    for (; x < end; x++) {
        __global const uchar *at = in + x / NUMBERS_IN_PACK * (NUMBERS_IN_PACK + 1);
        uint k = (uint)x % NUMBERS_IN_PACK, rest = (at[NUMBERS_IN_PACK] >> ((PACKED - 8) * k)) & ((1u << (PACKED - 8)) - 1u);
        out[x] = THEN_ONE((ushort)((uint)at[k] << (PACKED - 8) | rest));
    }
}
