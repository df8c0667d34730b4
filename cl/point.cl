/* The kernel around a per-pixel stage's function: PIXEL(v) computes V(DST) from V(SRC).
 * The grid counts samples. With ALPHA, every ALPHA-th sample is alpha, and copied. */
#if ALPHA
#define SAMPLE(x, v) (IS_ALPHA(ALPHA, x) ? (DST)(v) : PIXEL(v))
#else
#define SAMPLE(x, v) PIXEL(v)
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(DST, dst) PIXEL_PARAMETERS)
{
    int y = GRID_Y;
    int x = SPAN_BEGIN;
    if (y >= grid_y_end || x >= grid_width)
        return;
    __global const SRC *in = ROW(src, y);
    __global DST *out = ROW(dst, y);
#ifdef FORM_VECTOR
    /* The last vector of a row whose length no vector divides begins earlier, over samples that its
     * neighbour computes too. Planning keeps rows shorter than a vector away. */
    bool whole = x + SPAN <= grid_width;
    x = min(x, grid_width - SPAN);
    V(SRC) v = whole ? *(__global const V(SRC) *)(in + x) : CAT(vload, SPAN)(0, in + x);
    V(DST) w = PIXEL(v);
#if ALPHA
    TAKE_ALPHA(SPAN, ALPHA, w, v);
#endif
    if (whole)
        *(__global V(DST) *)(out + x) = w;
    else
        CAT(vstore, SPAN)(w, 0, out + x);
#else
    for (int end = SPAN_END(x); x < end; x++)
        out[x] = SAMPLE(x, in[x]);
#endif
}
