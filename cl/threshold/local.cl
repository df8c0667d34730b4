/* threshold:t=local: v - mean >= least ? high : low. `mean` is a plane that box has computed; its first sample belongs
 * to the source's sample (left, top). With ALPHA, every ALPHA-th sample is alpha and is copied. Vectors are 16 bytes. */
#if ALPHA
#define COPIED(x) IS_ALPHA(ALPHA, x)
#else
#define COPIED(x) false
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_IN(SRC, mean), PLANE_OUT(SRC, dst), int least, int low,
                     int high, int left, int top)
{
    int y = GRID_Y;
    int x = SPAN_BEGIN;
    if (y >= grid_y_end || x >= grid_width)
        return;
    __global const SRC *in = ROW(src, y + top) + left, *means = ROW(mean, y);
    __global SRC *out = ROW(dst, y);
#ifdef FORM_VECTOR
#define VECTOR_AT(p) CAT3(as_, SRC, LANES)(HIDDEN_4(*(__global const uint4 *)(p)))
    if (x + SPAN <= grid_width) {
        V(SRC) v = VECTOR_AT(in + x), mean = VECTOR_AT(means + x);
        V(int) above = high, below = low;
        mean = CONVERT(SRC, CONVERT(int, v) - CONVERT(int, mean) >= (V(int))least ? above : below);
#if ALPHA
        TAKE_ALPHA(LANES, ALPHA, mean, v);
#endif
        *(__global uint4 *)(out + x) = HIDDEN_4(as_uint4(mean));
        return;
    }
#endif
    for (int end = SPAN_END(x); x < end; x++)
        out[x] = COPIED(x) ? in[x] : (SRC)((int)in[x] - (int)means[x] >= least ? high : low);
}
