/* gauss and unsharp down columns on GPUs: sums of what gauss_across.cl has made. The grid counts samples of the result,
 * in vectors of LANES where rows are aligned. TABLE or REAL: unsharp, by a table of the changes or in f32. */
#if defined(SRC_IS_uchar)
#define MIDDLE short
#define WEIGHT short
#define START  V(int) sum = 1 << 19
#define ADD(v, w) sum += (v) * (V(int))(w);
#define FINISH CONVERT(uchar, sum >> 20)
#define WORK   int
#elif defined(SRC_IS_ushort)
#define MIDDLE int
#define WEIGHT short
/* Sums do not fit 32 bits: one is 4096 * high + low. */
#define START  V(int) high = 0, low = 1 << 19
#define ADD(v, w)                                                                                  \
    high += ((v) >> 12) * (V(int))(w);                                                             \
    low += ((v) & 4095) * (V(int))(w);
#define FINISH CONVERT(ushort, (high + (low >> 12)) >> 8)
#define WORK   int
#else
#define MIDDLE float
#define WEIGHT float
#define START  V(float) sum = 0
#define ADD(v, w) sum += (v) * (V(float))(w);
#define FINISH sum
#define WORK   float
#endif
#define LINE(y) CONVERT(WORK, *(__global const V(MIDDLE) *)(ROW(middle, y) + x))

#if defined(TABLE)
#define SHARPEN_PARAMETERS , __global const int *restrict changes
#elif defined(REAL)
#define SHARPEN_PARAMETERS , float amount, float threshold
#else
#define SHARPEN_PARAMETERS
#endif

/* ALPHA: channels of pixels that end in alpha, which is copied; else 0. `skip`: samples of a row of the source in
 * front of the result's first one. */
__kernel void KERNEL(GRID, PLANE_IN(MIDDLE, middle), PLANE_OUT(SRC, dst), PLANE_IN(SRC, src),
                     int skip, int height, int radius, int border, int centre,
                     __global const WEIGHT *restrict table
                     SHARPEN_PARAMETERS)
{
    int y = GRID_Y, x = SPAN_BEGIN;
    if (y >= grid_y_end || x >= grid_width)
        return;
    int row = y + centre;
    START;
    ADD(LINE(row), table[0])
    for (int i = 1; i <= radius; i++) {
        int a = border_near(row - i, height, border), b = border_near(row + i, height, border);
        V(WORK) v = 0;
        if (a >= 0)
            v = LINE(a);
        if (b >= 0)
            v += LINE(b);
        ADD(v, table[i])
    }
    V(SRC) out = FINISH;
#if defined(TABLE) || defined(REAL) || ALPHA
    V(SRC) in = *(__global const V(SRC) *)(ROW(src, row) + x + skip);
#endif
#if defined(TABLE)
    V(int) d = CONVERT(int, in) - CONVERT(int, out), sign = d >> 31;
    V(int) change = LOOK_UP(int, changes, abs(d));
    out = CAT4(convert_, SRC, LANES, _sat)(CONVERT(int, in) + ((change ^ sign) - sign));
#elif defined(REAL)
    V(float) v = CONVERT(float, in), d = v - CONVERT(float, out), none = 0;
    V(float) change = d * amount;
#ifndef SRC_IS_float
    change = RNE(change);
#endif
    v += fabs(d) >= (V(float))threshold ? change : none;
#ifdef SRC_IS_float
    out = v;
#else
    out = CONVERT(SRC, CONVERT(int, CAT(RANGE_, SRC)(v)));
#endif
#endif
    __global SRC *to = ROW(dst, y) + x;
#ifdef FORM_VECTOR
#if ALPHA
    TAKE_ALPHA(4, ALPHA, out, in);
#endif
    if (x + 4 <= grid_width) {
        *(__global V(SRC) *)to = out;
        return;
    }
    to[0] = out.s0;
    if (x + 1 < grid_width)
        to[1] = out.s1;
    if (x + 2 < grid_width)
        to[2] = out.s2;
#else
#if ALPHA
    out = x % ALPHA == ALPHA - 1 ? in : out;
#endif
    *to = out;
#endif
}
