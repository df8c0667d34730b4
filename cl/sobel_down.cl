/* Sobel of one channel of u8 for GPUs: a work-item computes SPAN columns down ROWS rows, so that a row
 * is loaded and taken apart once for the three that need it. What cl/sobel.cl says of gradients and
 * results holds; samples, sums and gradients are floats here, since a GPU adds twice as many of them.
 *
 * A sample v becomes the float 32768 + v by an "or" into its bits: no conversion. The sums' multiples of
 * 32768 are exact, and gone from every difference. */
#define OFFSET   32768.0f
#define BYTE(w, k)                                                                                 \
    as_float((k < 1 ? (w) << 8 & 0xff00u : (w) >> (8 * k - 8) & 0xff00u) | 0x47000000u)
#define MAGIC    12582912.0f /* 1.5 * 2^23: the last bits of it plus an integer are that integer */
#define ROWS     8

/* The result's byte in the last bits. Magnitude: m, the largest with m = 0 or (8m - 4)² <= n, is
 * sqrt(n) / 8 rounded, and a half goes up. With n + 1/2 in place of the integer n nothing is a half, and
 * the root is at least 2^-23 of itself away from one, as n < 2^21. One step of Newton's method brings
 * the estimate of any device within 2^-24 · 1.1 (the root's own rounding, and 3/2 of the square of an
 * error below 2^-14), so the rounded product with 1/8 is m. */
inline uint FN(magnitude)(float dx, float dy)
{
    float n = mad(dx, dx, mad(dy, dy, 0.5f));
    float r = native_rsqrt(n), root = n * r;
    root = fma(fma(-root, root, n) * r, 0.5f, root);
    return as_uint(fma(root, 0.125f, MAGIC));
}

#define SHIFTED_DOWN(g) (as_uint((g) + MAGIC) >> 3)
#if defined(OUT_magnitude)
#define RESULT(dx, dy) FN(magnitude)(dx, dy)
#elif defined(OUT_l1)
#define RESULT(dx, dy) (as_uint(fabs(dx) + fabs(dy) + (MAGIC + 4.0f)) >> 3)
#elif defined(OUT_dy)
#define RESULT(dx, dy) SHIFTED_DOWN(dy)
#else
#define RESULT(dx, dy) SHIFTED_DOWN(dx)
#endif

#ifdef OUT_both
#define OUTPUTS PLANE_OUT(uchar, dst), PLANE_OUT(uchar, dst2)
#else
#define OUTPUTS PLANE_OUT(uchar, dst)
#endif

#define PACK(r, a, b, c, d)                                                                        \
    ((r.s##a & 255u) | (r.s##b & 255u) << 8 | (r.s##c & 255u) << 16 | r.s##d << 24)

/* The columns from x - 1 to x + 8 as floats, in the first ten lanes. (No arrays here: where a compiler does
 * not see every index, they lie in memory.) */
inline float16 FN(line)(uint2 here, float left, float right)
{
    return (float16)(left, BYTE(here.x, 0), BYTE(here.x, 1), BYTE(here.x, 2), BYTE(here.x, 3),
                     BYTE(here.y, 0), BYTE(here.y, 1), BYTE(here.y, 2), BYTE(here.y, 3), right, 0.0f,
                     0.0f, 0.0f, 0.0f, 0.0f, 0.0f);
}

/* The results of a row from it and its neighbours: eight of the first plane, eight of the second. */
inline uint4 FN(row)(float16 top, float16 middle, float16 bottom)
{
    float16 smooth = mad((float16)2.0f, middle, top) + bottom, slope = top - bottom;
    float8 dx = smooth.s23456789 - smooth.s01234567;
    float8 dy = mad((float8)2.0f, slope.s12345678, slope.s01234567 + slope.s23456789);
    uint8 a, b;
#define EACH_RESULT(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define COMPUTE(k)                                                                                 \
    a.s##k = RESULT(dx.s##k, dy.s##k);                                                             \
    b.s##k = SHIFTED_DOWN(dy.s##k);
    EACH_RESULT(COMPUTE)
    return (uint4)(PACK(a, 0, 1, 2, 3), PACK(a, 4, 5, 6, 7), PACK(b, 0, 1, 2, 3), PACK(b, 4, 5, 6, 7));
}

/* One by one, where the row ends among the eight, or lies outside and is zeros. */
inline float16 FN(bordered)(PLANE_IN(uchar, src), int x, int y, int width, int height, int border)
{
    float16 v = 0.0f;
    int row = border_index(y, height, border);
#define FETCH_COLUMN(k, lane)                                                                      \
    {                                                                                              \
        int column = border_index(x + k - 1, width, border);                                       \
        v.s##lane = OFFSET + (float)FETCH(src, column, 1, row, 0);                                 \
    }
    FETCH_COLUMN(0, 0) FETCH_COLUMN(1, 1) FETCH_COLUMN(2, 2) FETCH_COLUMN(3, 3) FETCH_COLUMN(4, 4)
    FETCH_COLUMN(5, 5) FETCH_COLUMN(6, 6) FETCH_COLUMN(7, 7) FETCH_COLUMN(8, 8) FETCH_COLUMN(9, 9)
    return v;
}

/* Results are bytes; so is what stages that follow here make of them (src/chain/fuse_pixels.c). */
#define STORED(v) as_uint2(THEN(CAT3(as_, DST, LANES)(v)))

/* Eight samples at x, of which `count` are the row's. */
inline void FN(put)(__global uchar *at, uint2 v, int count)
{
    if (count >= 8) {
        *(__global uint2 *)at = v;
        return;
    }
    for (int i = 0; i < count; i++)
        at[i] = (uchar)((i < 4 ? v.x : v.y) >> i % 4 * 8);
}

#ifdef OUT_both
#define PUT(i, v, count)                                                                           \
    FN(put)(ROW(dst, y + (i)) + x, STORED(v.s01), count);                                          \
    FN(put)(ROW(dst2, y + (i)) + x, v.s23, count);
#else
#define PUT(i, v, count) FN(put)(ROW(dst, y + (i)) + x, STORED(v.s01), count);
#endif

/* The grid counts samples in x, and in y blocks of ROWS rows. */
__kernel void KERNEL(GRID, PLANE_IN(uchar, src), OUTPUTS, int width, int height,
                     int border THEN_PARAMETERS)
{
    int y = GRID_Y * ROWS, x = SPAN_BEGIN;
    if (GRID_Y >= grid_y_end || x >= grid_width)
        return;
    if (x + 8 <= width && y > 0 && y + ROWS < height) {
        /* All loads in one go, since each takes long to come; the samples beside the eight one by one,
         * so that edges take no way of their own. */
        int before = border_index(x - 1, width, border), after = border_index(x + 8, width, border);
        __global const uchar *at = ROW(src, y - 1), *left = at + max(before, 0);
        __global const uchar *right = at + max(after, 0);
#define LOAD(k)                                                                                    \
    uint2 here##k = *(__global const uint2 *)(at + k * src_stride + x);                            \
    uint left##k = left[k * src_stride], right##k = right[k * src_stride];
        LOAD(0) LOAD(1) LOAD(2) LOAD(3) LOAD(4) LOAD(5) LOAD(6) LOAD(7) LOAD(8) LOAD(9)
#define LINE(k)                                                                                    \
    float16 line##k = FN(line)(here##k, as_float((before < 0 ? 0u : left##k << 8) | 0x47000000u),  \
                               as_float((after < 0 ? 0u : right##k << 8) | 0x47000000u));
#define STEP(i, a, b, c)                                                                           \
    LINE(c)                                                                                        \
    uint4 v##i = FN(row)(line##a, line##b, line##c);                                               \
    PUT(i, v##i, 8)
        LINE(0) LINE(1)
        STEP(0, 0, 1, 2) STEP(1, 1, 2, 3) STEP(2, 2, 3, 4) STEP(3, 3, 4, 5)
        STEP(4, 4, 5, 6) STEP(5, 5, 6, 7) STEP(6, 6, 7, 8) STEP(7, 7, 8, 9)
        return;
    }
    for (int i = 0; i < ROWS && y + i < height; i++) {
#define BORDERED(y) FN(bordered)(src_base, src_offset, src_stride, x, y, width, height, border)
        uint4 v = FN(row)(BORDERED(y + i - 1), BORDERED(y + i), BORDERED(y + i + 1));
        PUT(i, v, width - x)
    }
}
