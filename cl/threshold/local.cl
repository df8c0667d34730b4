/* threshold:t=local: v - mean >= least ? high : low. `mean` is a plane that box has computed; its first sample belongs
 * to the source's sample (left, top). With ALPHA, every ALPHA-th sample is alpha and is copied. */
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
    for (int end = SPAN_END(x); x < end; x++)
        out[x] = COPIED(x) ? in[x] : (SRC)((int)in[x] - (int)means[x] >= least ? high : low);
}
