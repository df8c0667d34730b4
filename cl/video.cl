/* The picture that a video frame's planes mean (src/stage/video.h). The grid counts pixels. Where the samples are:
 *
 *     PLANE_Y   a plane of Y; LUMA alone is wanted
 *     PAIRS     a plane of Y, and one of pairs of Cb and Cr, CB_AT and CR_AT, for 2×2 pixels
 *     THIRDS    planes of Y, Cb and Cr
 *     FOURS     two pixels are four bytes, Y_AT and two behind, CB_AT, CR_AT
 *     SOURCE_CH a pixel is so many bytes, red R_AT, green 1, blue B_AT
 *
 * LUMA: y alone comes out. */
#if defined(PAIRS)
#define PLANES PLANE_IN(uchar, src), PLANE_IN(uchar, chroma)
#elif defined(THIRDS)
#define PLANES PLANE_IN(uchar, src), PLANE_IN(uchar, cb), PLANE_IN(uchar, cr)
#else
#define PLANES PLANE_IN(uchar, src)
#endif

#if defined(SOURCE_CH)
#define FACTORS
#elif defined(LUMA)
#define FACTORS , int y_zero, int y_gain
#else
#define FACTORS , int y_zero, int y_gain, int cr_to_r, int cb_to_g, int cr_to_g, int cb_to_b
#endif

#define LIMIT(v) (uchar)clamp(((v) + 32768) >> 16, 0, 255)

#if defined(FOURS)
#define LUMA_AT(x) in[2 * (x) + Y_AT]
#else
#define LUMA_AT(x) in[x]
#endif

__kernel void KERNEL(GRID, PLANES, PLANE_OUT(OUT, dst) FACTORS THEN_PARAMETERS)
{
    int y = GRID_Y;
    int x = SPAN_BEGIN;
    if (y >= grid_y_end || x >= grid_width)
        return;
    __global const uchar *in = ROW(src, y);
    __global OUT *out = ROW(dst, y);
    int end = SPAN_END(x);
#if defined(SOURCE_CH)
    for (; x < end; x++) {
        out[x * DST_CH] = THEN_ONE(in[x * SOURCE_CH + R_AT]);
        out[x * DST_CH + 1] = THEN_ONE(in[x * SOURCE_CH + 1]);
        out[x * DST_CH + 2] = THEN_ONE(in[x * SOURCE_CH + B_AT]);
#if DST_CH == 4
        out[x * DST_CH + 3] = THEN_ONE(in[x * SOURCE_CH + 3]);
#endif
    }
#elif defined(LUMA)
    for (; x < end; x++)
        out[x] = THEN_ONE(LIMIT(((int)LUMA_AT(x) - y_zero) * y_gain));
#else
#if defined(PAIRS)
    __global const uchar *pairs = ROW(chroma, y >> 1);
#elif defined(THIRDS)
    __global const uchar *blue = ROW(cb, y >> 1), *red = ROW(cr, y >> 1);
#endif
    for (; x < end; x++) {
        int pair = x >> 1;
#if defined(PAIRS)
        int b = pairs[2 * pair + CB_AT] - 128, r = pairs[2 * pair + CR_AT] - 128;
#elif defined(THIRDS)
        int b = blue[pair] - 128, r = red[pair] - 128;
#else
        int b = in[4 * pair + CB_AT] - 128, r = in[4 * pair + CR_AT] - 128;
#endif
        int luma = ((int)LUMA_AT(x) - y_zero) * y_gain;
        out[3 * x] = THEN_ONE(LIMIT(luma + cr_to_r * r));
        out[3 * x + 1] = THEN_ONE(LIMIT(luma - cb_to_g * b - cr_to_g * r));
        out[3 * x + 2] = THEN_ONE(LIMIT(luma + cb_to_b * b));
    }
#endif
}
