/* One direction of a level, along rows (ALONG_X) or down columns, for transforms of one direction alone and for those that
 * keep all samples. With a signal continued by the border, and k < count:
 *
 *     KERNEL_split           low[n] = Σ taps[k] · x[STEP · n + first + k · gap]
 *                            high[n] = Σ taps[count + k] · x[STEP · n + first + k · gap]
 *     KERNEL_join, STEP 1    x[n] = Σ taps[k] · low[n + first + k · gap] + taps[count + k] · high[n + first + k · gap]
 *     KERNEL_join, STEP 2    x[2m + p], as in idwt.cl
 *
 * WORK is the type of sums and bands. C is the number of channels of a band, CH that of the source; if they differ, the
 * source's last channel is alpha. Where LANES samples in a row have all they need, they are computed together. */
#include <ends.cl>
#include <processor.cl>
#include <round.cl>
#ifdef WORK_IS_double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#if CH == C
#define SOURCE_OF(x) (x)
#else
#define SOURCE_OF(x) ((x) / C * CH + (x) % C)
#endif

/* WIDE: whether LANES samples lie together in the source as they do in the result. */
#if !defined(FORM_SCALAR) && CH == C && (STEP == 1 || !ALONG_X)
#define WIDE
#endif
typedef V(SRC) __attribute__((aligned(SRC_SIZE))) FN(sources);
typedef V(WORK) __attribute__((aligned(WORK_SIZE))) FN(works);

#pragma kernel join
typedef V(DST) __attribute__((aligned(DST_SIZE))) FN(results);
/* Stores LANES results at `out`. */
#if defined(WORK_IS_double) || defined(DST_IS_int)
#define STORE(v, out)                                                                              \
    {                                                                                              \
        WORK each[LANES];                                                                          \
        *(FN(works) *)each = v;                                                                    \
        for (int i = 0; i < LANES; i++)                                                            \
            (out)[i] = SATURATE_FROM(WORK, DST, each[i]);                                          \
    }
#else
#define STORE(v, out) *(__global FN(results) *)(out) = WIDE_SATURATE(DST, v);
#endif
#pragma kernel

/* Of sample x in row y: its place along the direction. */
#define ALONG(x, y) (ALONG_X ? (x) / C : (y))

#pragma kernel split
#ifdef WIDE
VECTORS_OF_512_BITS inline void FN(wide)(__global const SRC *restrict src, int far, __global const WORK *restrict taps,
                                         int count, __global WORK *low, __global WORK *high)
{
    V(WORK) l = 0, h = 0;
    for (int k = 0; k < count; k++, src += far) {
        V(WORK) v = CONVERT(WORK, *(__global const FN(sources) *)src);
        l += taps[k] * v;
        h += taps[count + k] * v;
    }
    *(__global FN(works) *)low = l;
    if (high)
        *(__global FN(works) *)high = h;
}
#endif

/* The grid counts samples and rows of the low band; the high one has n_high along the direction. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(WORK, low), PLANE_OUT(WORK, high),
                     __global const WORK *restrict taps, int first, int count, int gap, int size, int n_high, int border)
{
    POSITION(x, y)
    int reach = first + (count - 1) * gap, most = ALONG_X ? n_high : INT_MAX;
    for (int end = SPAN_END(x); x < end;) {
        int n = ALONG(x, y), begin = STEP * n + first;
#ifdef WIDE
        if (x + LANES <= end && begin >= 0 && STEP * ALONG(x + LANES - 1, y) + reach < size &&
            ALONG(x + LANES - 1, y) < most) {
            FN(wide)(ALONG_X ? ROW(src, y) + x + first * C : ROW(src, begin) + x, ALONG_X ? gap * C : gap * src_stride,
                     taps, count, ROW(low, y) + x, ALONG_X || y < n_high ? ROW(high, y) + x : 0);
            x += LANES;
            continue;
        }
#endif
        __global const SRC *in = ALONG_X ? ROW(src, y) + SOURCE_OF(x % C) : ROW(src, 0) + SOURCE_OF(x);
        int far = ALONG_X ? CH : src_stride;
        WORK l = 0, h = 0;
        for (int k = 0; k < count; k++) {
            int at = signal_index(begin + k * gap, size, border);
            WORK v = at < 0 ? 0 : in[at * far];
            l += taps[k] * v;
            h += taps[count + k] * v;
        }
        ROW(low, y)[x] = l;
        if (n < n_high)
            ROW(high, y)[x] = h;
        x++;
    }
}

#pragma kernel join
#if STEP == 1
#ifdef WIDE
VECTORS_OF_512_BITS inline void FN(wide)(__global const WORK *restrict low, int far_low,
                                         __global const WORK *restrict high, int far_high,
                                         __global const WORK *restrict taps, int count, __global DST *out)
{
    V(WORK) sum = 0;
    for (int k = 0; k < count; k++, low += far_low, high += far_high)
        sum += taps[k] * *(__global const FN(works) *)low + taps[count + k] * *(__global const FN(works) *)high;
    STORE(sum, out)
}
#endif

/* The grid counts samples and rows of the result. */
__kernel void KERNEL(GRID, PLANE_IN(WORK, low), PLANE_IN(WORK, high), PLANE_OUT(DST, dst),
                     __global const WORK *restrict taps, int first, int count, int gap, int size, int n_low, int n_high,
                     int ends)
{
    POSITION(x, y)
    int reach = first + (count - 1) * gap;
    for (int end = SPAN_END(x); x < end;) {
        int begin = ALONG(x, y) + first;
#ifdef WIDE
        if (x + LANES <= end && begin >= 0 && ALONG(x + LANES - 1, y) + reach < size) {
            FN(wide)(ALONG_X ? ROW(low, y) + x + first * C : ROW(low, begin) + x, ALONG_X ? gap * C : gap * low_stride,
                     ALONG_X ? ROW(high, y) + x + first * C : ROW(high, begin) + x,
                     ALONG_X ? gap * C : gap * high_stride, taps, count, ROW(dst, y) + x);
            x += LANES;
            continue;
        }
#endif
        __global const WORK *lows = ALONG_X ? ROW(low, y) + x % C : ROW(low, 0) + x;
        __global const WORK *highs = ALONG_X ? ROW(high, y) + x % C : ROW(high, 0) + x;
        WORK sum = 0;
        for (int k = 0; k < count; k++) {
            int at = modulo(begin + k * gap, size);
            sum += taps[k] * lows[at * (ALONG_X ? C : low_stride)] +
                   taps[count + k] * highs[at * (ALONG_X ? C : high_stride)];
        }
        ROW(dst, y)[x] = SATURATE_FROM(WORK, DST, sum);
        x++;
    }
}

#else
#ifdef WIDE
VECTORS_OF_512_BITS inline void FN(wide)(__global const WORK *restrict low, int low_stride,
                                         __global const WORK *restrict high, int high_stride,
                                         __global const WORK *restrict taps, int count, __global DST *even,
                                         __global DST *odd)
{
    V(WORK) v0 = 0, v1 = 0;
    for (int k = 0; k < count; k++, low += low_stride, high += high_stride) {
        V(WORK) l = *(__global const FN(works) *)low, h = *(__global const FN(works) *)high;
        v0 += taps[k] * l + taps[2 * count + k] * h;
        v1 += taps[count + k] * l + taps[3 * count + k] * h;
    }
    STORE(v0, even)
    if (odd)
        STORE(v1, odd)
}
#endif

/* The grid counts pairs of columns, times channels, and rows; or a row's samples, and pairs of rows. */
__kernel void KERNEL(GRID, PLANE_IN(WORK, low), PLANE_IN(WORK, high), PLANE_OUT(DST, dst),
                     __global const WORK *restrict taps, int first, int count, int gap, int size, int n_low, int n_high,
                     int ends)
{
    POSITION(x, y)
    for (int end = SPAN_END(x); x < end;) {
        int m = ALONG(x, y), begin = m + first;
#ifdef WIDE
        if (x + LANES <= end && begin >= 0 && begin + count <= min(n_low, n_high)) {
            FN(wide)(ROW(low, begin) + x, low_stride, ROW(high, begin) + x, high_stride, taps, count,
                     ROW(dst, 2 * y) + x, 2 * y + 1 < size ? ROW(dst, 2 * y + 1) + x : 0);
            x += LANES;
            continue;
        }
#endif
        __global const WORK *lows = ALONG_X ? ROW(low, y) + x % C : ROW(low, 0) + x;
        __global const WORK *highs = ALONG_X ? ROW(high, y) + x % C : ROW(high, 0) + x;
        WORK even = 0, odd = 0;
        for (int k = 0; k < count; k++) {
            int at = band_index(begin + k, n_low, 0, size, ends);
            WORK l = at < 0 ? 0 : lows[at * (ALONG_X ? C : low_stride)];
            at = band_index(begin + k, n_high, 1, size, ends);
            WORK h = at < 0 ? 0 : highs[at * (ALONG_X ? C : high_stride)];
            even += taps[k] * l + taps[2 * count + k] * h;
            odd += taps[count + k] * l + taps[3 * count + k] * h;
        }
        __global DST *out = ALONG_X ? ROW(dst, y) + 2 * m * C + x % C : ROW(dst, 2 * y) + x;
        out[0] = SATURATE_FROM(WORK, DST, even);
        if (2 * m + 1 < size)
            out[ALONG_X ? C : dst_stride] = SATURATE_FROM(WORK, DST, odd);
        x++;
    }
}
#endif
