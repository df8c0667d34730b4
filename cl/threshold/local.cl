#pragma kernel levels
/* The samples of f32 in levels, shorts: v * scale. NaN is the least. */
__kernel void KERNEL(GRID, PLANE_IN(float, src), PLANE_OUT(short, dst), float scale)
{
    POSITION(x, y)
    __global const float *in = ROW(src, y);
    __global short *out = ROW(dst, y);
    for (int end = SPAN_END(x); x < end; x++)
        out[x] = (short)(int)rint(fmin(fmax(in[x] * scale, -32768.0f), 32767.0f));
}
#pragma kernel unnamed
/* threshold:t=local: v - mean >= least ? high : low. `mean` is a plane that box has computed; its first sample belongs
 * to the source's sample (left, top). With ALPHA, every ALPHA-th sample is alpha and is copied. Vectors are 16 bytes.
 *
 * Of f32 samples are compared in levels, and `whole` has them as they came: floats, as low and high are. */
#include <alpha.cl>
#include <in_words.cl>
#pragma kernel f32
#define WHOLE_PARAMETER , PLANE_IN(float, whole)
#define COPIED          ROW(whole, y + top) + left
#define TO_SAMPLE(v)    as_float(v)
#pragma kernel unnamed
#define WHOLE_PARAMETER
#define COPIED       in
#define TO_SAMPLE(v) (SRC)(v)
#pragma kernel unnamed f32

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_IN(SRC, mean), PLANE_OUT(DST, dst), int least, int low,
                     int high, int left, int top WHOLE_PARAMETER)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y + top) + left, *means = ROW(mean, y);
    __global DST *out = ROW(dst, y);
    __global const DST *copied = COPIED;
#pragma form VECTOR
#define VECTOR_AT(p) CAT3(as_, SRC, LANES)(hidden_4(*(__global const uint4 *)(p)))
    if (x + SPAN <= grid_width) {
        V(SRC) v = VECTOR_AT(in + x), mean = VECTOR_AT(means + x);
        V(int) above = high, below = low;
        mean = CONVERT(SRC, CONVERT(int, v) - CONVERT(int, mean) >= (V(int))least ? above : below);
        TAKE_ALPHA(ALPHA, mean, v);
        *(__global uint4 *)(out + x) = hidden_4(as_uint4(mean));
        return;
    }
#pragma form
    for (int end = SPAN_END(x); x < end; x++)
        out[x] = IS_ALPHA(ALPHA, x) ? copied[x] : TO_SAMPLE((int)in[x] - (int)means[x] >= least ? high : low);
}
