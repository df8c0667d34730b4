/* The picture that a video frame's planes mean (src/stage/video.h). The grid counts pixels. Where the samples are:
 *
 *     PLANE_Y   a plane of Y; LUMA alone is wanted
 *     PAIRS     a plane of Y, and one of pairs of Cb and Cr, CB_AT and CR_AT, for 2×2 pixels
 *     THIRDS    planes of Y, Cb and Cr
 *     FOURS     two pixels are four bytes, Y_AT and two behind, CB_AT, CR_AT
 *     SOURCE_CH a pixel is so many bytes, red R_AT, green 1, blue B_AT
 *     PACKED    numbers of so many bits: the upper 8 of four or two pixels, then a byte with the others
 *
 * LUMA: y alone comes out. EACH_ROW: of PAIRS, rows have chroma of their own. TEN_BITS: numbers are the upper 10 of 16
 * bits, and results have 16. */
#include <memory.cl>
#include <processor.cl>
#if defined(PAIRS)
#define SOURCE_PLANES PLANE_IN(SRC, src), PLANE_IN(SRC, chroma)
#elif defined(THIRDS)
#define SOURCE_PLANES PLANE_IN(uchar, src), PLANE_IN(uchar, cb), PLANE_IN(uchar, cr)
#else
#define SOURCE_PLANES PLANE_IN(SRC, src)
#endif

#if defined(SOURCE_CH) || defined(PACKED)
#define FACTORS
#elif defined(LUMA)
#define FACTORS , int y_zero, int y_gain
#else
#define FACTORS , int y_zero, int y_gain, int cr_to_r, int cb_to_g, int cr_to_g, int cb_to_b
#endif

#ifdef TEN_BITS
#define CLIPPED(v)  (ushort)clamp(((v) + 4096) >> 13, 0, 65535)
#define NUMBER(v) ((v) >> 6)
#define CHROMA_ZERO 512
#else
#define CLIPPED(v)  (uchar)clamp(((v) + 32768) >> 16, 0, 255)
#define NUMBER(v) (v)
#define CHROMA_ZERO 128
#endif

#if defined(FOURS)
#define LUMA_AT(x) in[2 * (x) + Y_AT]
#else
#define LUMA_AT(x) in[x]
#endif

#if defined(EACH_ROW)
#define CHROMA_ROW(y) (y)
#else
#define CHROMA_ROW(y) ((y) >> 1)
#endif

#define NUMBERS_IN_PACK (PACKED == 10 ? 4 : 2) /* PACKED bits each, their lowest ones in the last byte */

#if defined(NATIVE) && defined(PACKED)
/* Sixteen numbers at a time, from two vectors that meet without reading beyond their bytes. */
#define WIDE
#if PACKED == 10
#define APART 4
#define UPPER(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 15, 28, 29, 30)
#define REST(a, b)  __builtin_shufflevector(a, b, 4, 4, 4, 4, 9, 9, 9, 9, 14, 14, 14, 14, 31, 31, 31, 31)
#define SHIFTS      (ushort16)(0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6)
#else
#define APART 8
#define UPPER(a, b) __builtin_shufflevector(a, b, 0, 1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 24, 26, 27, 29, 30)
#define REST(a, b)  __builtin_shufflevector(a, b, 2, 2, 5, 5, 8, 8, 11, 11, 14, 14, 25, 25, 28, 28, 31, 31)
#define SHIFTS      (ushort16)(0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4)
#endif
#endif

#if defined(NATIVE) && !defined(SOURCE_CH) && !defined(PACKED) && !defined(TEN_BITS)
/* Sixteen pixels at a time, whose chroma is computed once for two. */
#define WIDE
typedef uchar FN(bytes8) __attribute__((ext_vector_type(8), aligned(1)));
typedef uchar FN(bytes32) __attribute__((ext_vector_type(32), aligned(1)));
typedef uchar FN(bytes48) __attribute__((ext_vector_type(48), aligned(1)));
#define EVERY_SECOND(v, k)                                                                         \
    __builtin_shufflevector(v, v, (k), (k) + 2, (k) + 4, (k) + 6, (k) + 8, (k) + 10, (k) + 12, (k) + 14)
#define EVERY_SECOND_16(v, k)                                                                      \
    __builtin_shufflevector(v, v, (k), (k) + 2, (k) + 4, (k) + 6, (k) + 8, (k) + 10, (k) + 12, (k) + 14, (k) + 16,     \
        (k) + 18, (k) + 20, (k) + 22, (k) + 24, (k) + 26, (k) + 28, (k) + 30)
#define EVERY_FOURTH(v, k)                                                                         \
    __builtin_shufflevector(v, v, (k), (k) + 4, (k) + 8, (k) + 12, (k) + 16, (k) + 20, (k) + 24, (k) + 28)
#define TWICE(v) __builtin_shufflevector(v, v, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7)
#define CLIPPED_16(v) convert_uchar16(clamp((v) >> 16, (int16)(0), (int16)(255)))

#if defined(FOURS)
#define LUMA_16(x) EVERY_SECOND_16(*(__global const FN(bytes32) *)(in + 2 * (x)), Y_AT)
#else
#define LUMA_16(x) UNALIGNED_IN(uchar, 16, in + (x))
#endif

#ifdef LUMA
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
#else
inline FN(bytes48) FN(interleave)(uchar16 r, uchar16 g, uchar16 b)
{
    FN(bytes32) rg = __builtin_shufflevector(r, g, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                             21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    FN(bytes32) bb = __builtin_shufflevector(b, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6,
                                             7, 8, 9, 10, 11, 12, 13, 14, 15);
    return __builtin_shufflevector(rg, bb, 0, 16, 32, 1, 17, 33, 2, 18, 34, 3, 19, 35, 4, 20, 36, 5, 21, 37, 6, 22, 38, 7, 23,
                                   39, 8, 24, 40, 9, 25, 41, 10, 26, 42, 11, 27, 43, 12, 28, 44, 13, 29, 45, 14, 30, 46, 15,
                                   31, 47);
}
#endif
#endif

__kernel void KERNEL(GRID, SOURCE_PLANES, PLANE_OUT(OUT, dst) FACTORS THEN_PARAMETERS)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global OUT *out = ROW(dst, y);
    int end = SPAN_END(x);
#if defined(PACKED)
#ifdef WIDE
    for (; x + 16 <= end && x % NUMBERS_IN_PACK == 0; x += 16) {
        __global const uchar *at = in + x / NUMBERS_IN_PACK * (NUMBERS_IN_PACK + 1);
        uchar16 a = UNALIGNED_IN(uchar, 16, at), b = UNALIGNED_IN(uchar, 16, at + APART);
        ushort16 rest = convert_ushort16(REST(a, b)) >> SHIFTS;
        ushort16 v = convert_ushort16(UPPER(a, b)) << (ushort16)(PACKED - 8) | (rest & (ushort16)((1 << (PACKED - 8)) - 1));
        UNALIGNED_OUT(ushort, 16, out + x) = v;
    }
#endif
    for (; x < end; x++) {
        __global const uchar *at = in + x / NUMBERS_IN_PACK * (NUMBERS_IN_PACK + 1);
        uint k = (uint)x % NUMBERS_IN_PACK, rest = (at[NUMBERS_IN_PACK] >> ((PACKED - 8) * k)) & ((1u << (PACKED - 8)) - 1u);
        out[x] = THEN_ONE((ushort)((uint)at[k] << (PACKED - 8) | rest));
    }
#elif defined(SOURCE_CH)
    for (; x < end; x++) {
        out[x * DST_CH] = THEN_ONE(in[x * SOURCE_CH + R_AT]);
        out[x * DST_CH + 1] = THEN_ONE(in[x * SOURCE_CH + 1]);
        out[x * DST_CH + 2] = THEN_ONE(in[x * SOURCE_CH + B_AT]);
#if DST_CH == 4
        out[x * DST_CH + 3] = THEN_ONE(in[x * SOURCE_CH + 3]);
#endif
    }
#elif defined(LUMA)
#ifdef WIDE
    for (; x + 16 <= end; x += 16) {
        FETCH_AHEAD(&LUMA_AT(x) + src_stride); /* the next row: the processor's own prefetching ends with each page */
        UNALIGNED_OUT(uchar, 16, out + x) = FN(luma_16)(LUMA_16(x), y_zero, y_gain);
    }
#endif
    for (; x < end; x++)
        out[x] = THEN_ONE(CLIPPED(((int)NUMBER(LUMA_AT(x)) - y_zero) * y_gain));
#else
#if defined(PAIRS)
    __global const SRC *pairs = ROW(chroma, CHROMA_ROW(y));
#elif defined(THIRDS)
    __global const uchar *blue = ROW(cb, y >> 1), *red = ROW(cr, y >> 1);
#endif
#ifdef WIDE
    for (; x + 16 <= end; x += 16) {
        FETCH_AHEAD(&LUMA_AT(x) + src_stride); /* the next rows */
#if defined(PAIRS)
        FETCH_AHEAD(pairs + x + chroma_stride);
        uchar16 both = UNALIGNED_IN(uchar, 16, pairs + x);
        int8 b = convert_int8(EVERY_SECOND(both, CB_AT)) - 128, r = convert_int8(EVERY_SECOND(both, CR_AT)) - 128;
#elif defined(THIRDS)
        FETCH_AHEAD(blue + (x >> 1) + cb_stride);
        FETCH_AHEAD(red + (x >> 1) + cr_stride);
        int8 b = convert_int8(*(__global const FN(bytes8) *)(blue + (x >> 1))) - 128;
        int8 r = convert_int8(*(__global const FN(bytes8) *)(red + (x >> 1))) - 128;
#else
        FN(bytes32) fours = *(__global const FN(bytes32) *)(in + 2 * x);
        int8 b = convert_int8(EVERY_FOURTH(fours, CB_AT)) - 128, r = convert_int8(EVERY_FOURTH(fours, CR_AT)) - 128;
#endif
        int16 luma = (convert_int16(LUMA_16(x)) - y_zero) * y_gain;
        int8 to_red = cr_to_r * r + 32768, to_green = 32768 - cb_to_g * b - cr_to_g * r, to_blue = cb_to_b * b + 32768;
        *(__global FN(bytes48) *)(out + 3 * x) =
            FN(interleave)(CLIPPED_16(luma + TWICE(to_red)), CLIPPED_16(luma + TWICE(to_green)), CLIPPED_16(luma + TWICE(to_blue)));
    }
#endif
    for (; x < end; x++) {
        int pair = x >> 1;
#if defined(PAIRS)
        int b = NUMBER(pairs[2 * pair + CB_AT]) - CHROMA_ZERO, r = NUMBER(pairs[2 * pair + CR_AT]) - CHROMA_ZERO;
#elif defined(THIRDS)
        int b = blue[pair] - 128, r = red[pair] - 128;
#else
        int b = in[4 * pair + CB_AT] - 128, r = in[4 * pair + CR_AT] - 128;
#endif
        int luma = ((int)NUMBER(LUMA_AT(x)) - y_zero) * y_gain;
        out[3 * x] = THEN_ONE(CLIPPED(luma + cr_to_r * r));
        out[3 * x + 1] = THEN_ONE(CLIPPED(luma - cb_to_g * b - cr_to_g * r));
        out[3 * x + 2] = THEN_ONE(CLIPPED(luma + cb_to_b * b));
    }
#endif
}
