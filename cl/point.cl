/* The kernel of per-pixel stages: PIXEL(v), a stage's function, computes V(DST) from V(SRC). The grid counts
 * samples. With ALPHA, every ALPHA-th sample is alpha and is copied.
 *
 * Vectors are aligned in the vector form, and 16 samples at any address in the rows form (from a plain loop LLVM
 * makes code with wider integers than needed for some stages: 2.7 ms instead of 1.0). If a row is no multiple of the
 * vector, its last vector begins earlier and computes some samples a second time. */
#include <alpha.cl>
#pragma form VECTOR
#include <in_words.cl>
#pragma form ROWS
#include <memory.cl>
#pragma form
#define SAMPLE(x, v) (IS_ALPHA(ALPHA, x) ? (DST)(v) : FIRST(PIXEL((V(SRC))(v))))

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(DST, dst) PIXEL_PARAMETERS)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global DST *out = ROW(dst, y);
#pragma form VECTOR
#ifdef IN_WORDS
    /* Whole vectors return from here: if both paths joined, the compiler would unpack the bytes. */
    if (x + SPAN <= grid_width) {
        CAT(uint, IN_WORDS) w = *(__global const CAT(uint, IN_WORDS) *)(in + x);
        V(SRC) v = AS_BYTES(HIDDEN(w));
        V(DST) result = PIXEL(v);
        TAKE_ALPHA(ALPHA, result, v);
        w = AS_WORDS(result);
        *(__global CAT(uint, IN_WORDS) *)(out + x) = HIDDEN(w);
        return;
    }
    ROLLED for (; x < grid_width; x++)
        out[x] = SAMPLE(x, in[x]);
#else
    /* Planning chooses another form for rows shorter than a vector. */
    bool whole = x + SPAN <= grid_width;
    x = min(x, grid_width - SPAN);
    V(SRC) v = whole ? *(__global const V(SRC) *)(in + x) : CAT(vload, LANES)(0, in + x);
    V(DST) w = PIXEL(v);
    TAKE_ALPHA(ALPHA, w, v);
    if (whole)
        *(__global V(DST) *)(out + x) = w;
    else
        CAT(vstore, LANES)(w, 0, out + x);
#endif
#pragma form ROWS SCALAR
#if LANES + 0
    int end = SPAN_END(x);
    if (end < LANES) {
        for (; x < end; x++)
            out[x] = SAMPLE(x, in[x]);
        return;
    }
    for (int i = x; i < end; i += LANES) { /* x must not wait for the x before */
        x = min(i, end - LANES);
        V(SRC) v = UNALIGNED_IN(SRC, LANES, in + x);
        V(DST) w = PIXEL(v);
        TAKE_ALPHA(ALPHA, w, v);
        UNALIGNED_OUT(DST, LANES, out + x) = w;
    }
#else
    for (int end = SPAN_END(x); x < end; x++)
        out[x] = SAMPLE(x, in[x]);
#endif
#pragma form
}
