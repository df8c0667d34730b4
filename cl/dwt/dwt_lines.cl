/* One direction of a level, along rows (ALONG_X) or down columns: for transforms of one direction alone, for those that
 * keep all samples, and wherever no form does both directions at once. With a signal continued by the border, and k < count:
 *
 *     KERNEL_split           low[n] = Σ taps[k] · x[STEP · n + first + k · gap]
 *                            high[n] = Σ taps[count + k] · x[STEP · n + first + k · gap]
 *     KERNEL_join            x[STEP · m + p] = Σ taps[p · count + k] · low[m + first + k · gap] +
 *                                taps[(STEP + p) · count + k] · high[m + first + k · gap]        for p < STEP
 *
 * REVERSIBLE is the integer lifting of ISO/IEC 15444-1 F.3.8.1. WORK is the type of sums and bands. C is the number of
 * channels of a band, CH that of the source; if they differ, the source's last channel is alpha. Where LANES samples in a
 * row have all they need, they are computed together. */
#include <ends.cl>
#include <processor.cl>
#include <round.cl>

#define SOURCE_OF(x) (CH == C ? (x) : (x) / C * CH + (x) % C)

/* Whether LANES samples lie together in the source as they do in the result, or every second one (PAIRED). */
#define PAIRED (ALONG_X && STEP == 2)
#define WIDE   (CH == C && (C == 1 || !PAIRED))
typedef V(SRC) __attribute__((aligned(SRC_SIZE))) FN(sources);
typedef V(WORK) __attribute__((aligned(WORK_SIZE))) FN(works);

/* Of sample x in row y: its place along the direction. */
#define ALONG(x, y) (ALONG_X ? (x) / C : (y))

#define LOW_TAP(k)  taps[(uint)(k)]
#define HIGH_TAP(k) taps[count + k]

/* The sample at `at`, or 0 if that is negative; samples lie `far` apart. (Unsigned: Mali extends a sign by an instruction.) */
inline WORK FN(sample)(__global const SRC *in, int at, int far)
{
    return at < 0 ? 0 : (WORK)in[(uint)(at * far)];
}

#pragma kernel split
#include "dwt_window.cl"

inline V(WORK) FN(load)(__global const SRC *from)
{
    V(SRC) v = *(__global const FN(sources) *)from;
    if (PAIRED) {
        V(SRC) behind = *(__global const FN(sources) *)(from + LANES);
        v = (V(SRC))(v.even, behind.even);
    }
    return CONVERT(WORK, v);
}

VECTORS_OF_512_BITS inline void FN(wide)(__global const SRC *restrict src, int far, __global const WORK *restrict taps,
                                         int count, __global WORK *low, __global WORK *high)
{
#define OF_SIGNALS(k) FN(load)(src + (k) * far)
    SPLIT(V(WORK), l, h, count, OF_SIGNALS, LOW_TAP, HIGH_TAP)
    *(__global FN(works) *)low = l;
    if (high)
        *(__global FN(works) *)high = h;
}

/* The grid counts samples and rows of the low band; the high one has n_high along the direction. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(WORK, low), PLANE_OUT(WORK, high),
                     __global const WORK *restrict taps, int first, int count, int gap, int size, int n_high, int border)
{
    POSITION(x, y)
    int reach = first + (count - 1) * gap + PAIRED, most = ALONG_X ? n_high : INT_MAX;
    for (int end = SPAN_END(x); x < end;) {
        int n = ALONG(x, y), begin = STEP * n + first, last = ALONG(x + LANES - 1, y);
        if (WIDE && x + LANES <= end && begin >= 0 && STEP * last + reach < size && last < most) {
            FN(wide)(ALONG_X ? ROW(src, y) + begin * C + x % C : ROW(src, begin) + x,
                     ALONG_X ? gap * C : gap * src_stride, taps, count, ROW(low, y) + x,
                     ALONG_X || y < n_high ? ROW(high, y) + x : 0);
            x += LANES;
            continue;
        }
        __global const SRC *in = ALONG_X ? ROW(src, y) + SOURCE_OF(x % C) : ROW(src, 0) + SOURCE_OF(x);
        int far = ALONG_X ? CH : src_stride;
#define OF_SIGNAL(k) FN(sample)(in, signal_index(begin + (k) * gap, size, border), far)
        SPLIT(WORK, l, h, count, OF_SIGNAL, LOW_TAP, HIGH_TAP)
        *PLACE(low, x, y) = l;
        if (n < n_high)
            *PLACE(high, x, y) = h;
        x++;
    }
}

#pragma kernel join
#include "dwt_lifting.cl"
typedef V(DST) __attribute__((aligned(DST_SIZE))) FN(results);
inline void FN(store)(V(WORK) v, __global DST *out)
{
#if defined(WORK_IS_float) && !defined(DST_IS_int)
    *(__global FN(results) *)out = WIDE_SATURATE(DST, v);
#else
    WORK each[LANES];
    *(FN(works) *)each = v;
    for (int i = 0; i < LANES; i++)
        out[i] = SATURATE_FROM(WORK, DST, each[i]);
#endif
}

/* Declares the samples `even` and `odd` (with STEP 1 all are even) that the bands' samples LOW(k) and HIGH(k) make, the
 * k-th under the taps. */
#ifdef REVERSIBLE
#define JOIN(type, even, odd, LOW, HIGH)                                                           \
    type even = LOW(-first), odd = 0;                                                              \
    if (size > 1) {                                                                                \
        type h = HIGH(1);                                                                          \
        even = LIFT_EVEN(even, HIGH(0), h, 0);                                                     \
        odd = LIFT_ODD(h, even, LIFT_EVEN(LOW(2), h, HIGH(2), 0), 0);                              \
    }
#else
#define JOIN(type, even, odd, LOW, HIGH)                                                           \
    type even = 0, odd = 0;                                                                        \
    for (int k = 0; k < count; k++) {                                                              \
        type l = LOW(k), h = HIGH(k);                                                              \
        even += taps[k] * l + taps[STEP * count + k] * h;                                          \
        if (STEP == 2)                                                                             \
            odd += taps[count + k] * l + taps[3 * count + k] * h;                                  \
    }
#endif

/* `odd` is where the odd samples go that are not among the even ones; NULL: there are none. */
VECTORS_OF_512_BITS inline void FN(wide)(__global const WORK *restrict low, int far_low,
                                         __global const WORK *restrict high, int far_high,
                                         __global const WORK *restrict taps, int first, int count, int size,
                                         __global DST *even, __global DST *odd)
{
#define LOWS(k)  (*(__global const FN(works) *)(low + (k) * far_low))
#define HIGHS(k) (*(__global const FN(works) *)(high + (k) * far_high))
    JOIN(V(WORK), v0, v1, LOWS, HIGHS)
    if (PAIRED) {
        V(WORK) v;
        v.even = v0.lo, v.odd = v1.lo;
        FN(store)(v, even);
        v.even = v0.hi, v.odd = v1.hi;
        FN(store)(v, even + LANES);
        return;
    }
    FN(store)(v0, even);
    if (odd)
        FN(store)(v1, odd);
}

/* The grid counts the result's samples along rows, or every second one, and its rows, or every second one. */
__kernel void KERNEL(GRID, PLANE_IN(WORK, low), PLANE_IN(WORK, high), PLANE_OUT(DST, dst),
                     __global const WORK *restrict taps, int first, int count, int gap, int size, int n_low, int n_high,
                     int ends)
{
    POSITION(x, y)
    int reach = (count - 1) * gap, far_low = ALONG_X ? C : low_stride, far_high = ALONG_X ? C : high_stride;
    for (int end = SPAN_END(x); x < end;) {
        int m = ALONG(x, y), begin = m + first, last = ALONG(x + LANES - 1, y);
        bool has_odd = STEP == 2 && 2 * m + 1 < size;
        __global const WORK *lows = ALONG_X ? ROW(low, y) + x % C : ROW(low, 0) + x;
        __global const WORK *highs = ALONG_X ? ROW(high, y) + x % C : ROW(high, 0) + x;
        __global DST *out = ALONG_X ? ROW(dst, y) + STEP * m * C + x % C : ROW(dst, STEP * y) + x;
        if (WIDE && x + LANES <= end && begin >= 0 && last + first + reach < min(n_low, n_high) &&
            (!PAIRED || 2 * last + 1 < size)) {
            FN(wide)(lows + begin * far_low, gap * far_low, highs + begin * far_high, gap * far_high, taps, first, count,
                     size, out, has_odd ? out + dst_stride : 0);
            x += LANES;
            continue;
        }
#define LOW_AT(k)  FN(sample)(lows, band_index(begin + (k) * gap, n_low, 0, size, ends), far_low)
#define HIGH_AT(k) FN(sample)(highs, band_index(begin + (k) * gap, n_high, 1, size, ends), far_high)
        JOIN(WORK, even, odd, LOW_AT, HIGH_AT)
        out[0] = SATURATE_FROM(WORK, DST, even);
        if (has_odd)
            out[ALONG_X ? C : dst_stride] = SATURATE_FROM(WORK, DST, odd);
        x++;
    }
}
