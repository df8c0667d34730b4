/* synthesis: adds what one or two bands (BANDS) contribute to a signal. Position factor·g + r gets the sum over t of
 * taps[r][t] times the band's sample g + base + t, as far as the band has these. With ADDS it is added to the sums of
 * earlier passes. Across the direction of the filters a band begins at position `move` and has `size` samples.
 *
 * Taps are a table, so all filter banks use the same program. SRC0 and SRC1 are the types of the bands, ACC (float or
 * double) that of sums, DST that of the result. */
#include <round.cl>
#ifdef ACC_IS_double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define BAND(b)                                                                                    \
    PLANE_IN(SRC##b, src##b), int base##b, int length##b, int move##b, int size##b
#if BANDS == 2
#define EACH_BAND(f) f(0) f(1)
#define BANDS_IN     BAND(0), BAND(1)
#else
#define EACH_BAND(f) f(0)
#define BANDS_IN     BAND(0)
#endif

/* With ADDS the sums may be in the same memory as the result, so there is no `restrict`. */
#ifdef ADDS
#define TARGET                                                                                     \
    __global DST *dst_base, int dst_offset, int dst_stride, __global const ACC *sum_base,          \
        int sum_offset, int sum_stride
#define BEGIN(i)   sum[i]
#define BEGIN16(i) (*(__global const FN(sums) *)(sum + (i)))
#else
#define TARGET     PLANE_OUT(DST, dst)
#define BEGIN(i)   (ACC)0
#define BEGIN16(i) (CAT(ACC, 16))0
#endif
#define COMMON __global const ACC *restrict all_taps, int taps_at, int n_taps, int factor

#ifndef ACC_IS_double
#define FINISH16(v) WIDE_SATURATE(DST, v)
#elif defined(DST_IS_double) || defined(DST_IS_float)
#define FINISH16(v) CAT3(convert_, DST, 16)(v)
#else
#define FINISH16(v) CAT3(convert_, DST, 16_sat_rte)(v)
#endif

#ifdef FORM_ROWS
typedef CAT(SRC0, 16) __attribute__((aligned(sizeof(SRC0)))) FN(band0);
#if BANDS == 2
typedef CAT(SRC1, 16) __attribute__((aligned(sizeof(SRC1)))) FN(band1);
#endif
typedef CAT(DST, 16) __attribute__((aligned(sizeof(DST)))) FN(results);
typedef CAT(ACC, 16) __attribute__((aligned(sizeof(ACC)))) FN(sums);
#define LOAD16(b, p) CAT3(convert_, ACC, 16)(*(__global const FN(band##b) *)(p))
#define STORE16(p, v) *(__global FN(results) *)(p) = (v)
#endif

#ifdef KERNEL_rows
/* Along rows. The grid counts samples. At positions inner … inner_end - 1 the bands have samples for all taps. */
#define HAS(b)     bool has##b = y >= move##b && y - move##b < size##b;
#define ROW_OF(b)  __global const SRC##b *in##b = ROW(src##b, has##b ? y - move##b : 0);
#define ALL_HAVE_(b) && has##b
#define ADD_WIDE(b)                                                                                \
    for (int t = 0; t < n_taps; t++) {                                                             \
        CAT(ACC, 16) v = LOAD16(b, in##b + (x >> 1) + base##b + t);                                \
        even += taps[2 * b * n_taps + t] * v;                                                      \
        odd += taps[(2 * b + 1) * n_taps + t] * v;                                                 \
    }
#define ADD(b)                                                                                     \
    if (has##b)                                                                                    \
        for (int t = 0; t < n_taps; t++) {                                                         \
            int i = g + base##b + t;                                                               \
            if (i >= 0 && i < length##b)                                                           \
                a += taps[(b * factor + r) * n_taps + t] * (ACC)in##b[i * channels + c];           \
        }

__kernel void KERNEL(GRID, BANDS_IN, TARGET, COMMON, int channels, int inner, int inner_end)
{
    POSITION(x, y)
    int end = SPAN_END(x);
    __global DST *out = ROW(dst, y);
#ifdef ADDS
    __global const ACC *sum = ROW(sum, y);
#endif
    __global const ACC *taps = all_taps + taps_at;
    EACH_BAND(HAS)
    EACH_BAND(ROW_OF)
#ifdef FORM_ROWS
    int wide_end = factor == 2 && channels == 1 EACH_BAND(ALL_HAVE_) ? min(end, inner_end) : 0;
#endif
    while (x < end) {
#ifdef FORM_ROWS
        /* With factor 2 and one channel: 32 positions from 16 samples of each band for every tap. */
        if ((x & 1) == 0 && x >= inner && x + 32 <= wide_end) {
            CAT(ACC, 16) even = 0, odd = 0, first, second;
            EACH_BAND(ADD_WIDE)
            first.even = even.lo;
            first.odd = odd.lo;
            second.even = even.hi;
            second.odd = odd.hi;
            first += BEGIN16(x);
            second += BEGIN16(x + 16);
            STORE16(out + x, FINISH16(first));
            STORE16(out + x + 16, FINISH16(second));
            x += 32;
            continue;
        }
#endif
        int o = x / channels, c = x - o * channels, g = o / factor, r = o - g * factor;
        ACC a = BEGIN(x);
        EACH_BAND(ADD)
        out[x] = SATURATE_FROM(ACC, DST, a);
        x++;
    }
}
#endif

#ifdef KERNEL_columns
/* Along columns: row y is computed from the bands' rows under its taps. */
#define FIRST_TAP(b) __global const ACC *taps##b = all_taps + taps_at + (b * factor + r) * n_taps;
#define INSIDE(b)    && x >= move##b && x + 16 <= move##b + size##b
#define ADD_WIDE(b)                                                                                \
    for (int t = 0; t < n_taps; t++) {                                                             \
        int i = g + base##b + t;                                                                   \
        if (i >= 0 && i < length##b)                                                               \
            a += taps##b[t] * LOAD16(b, ROW(src##b, i) + x - move##b);                             \
    }
#define ADD(b)                                                                                     \
    if (x >= move##b && x < move##b + size##b)                                                     \
        for (int t = 0; t < n_taps; t++) {                                                         \
            int i = g + base##b + t;                                                               \
            if (i >= 0 && i < length##b)                                                           \
                a += taps##b[t] * (ACC)ROW(src##b, i)[x - move##b];                                \
        }

__kernel void KERNEL(GRID, BANDS_IN, TARGET, COMMON)
{
    POSITION(x, y)
    int end = SPAN_END(x);
    int g = y / factor, r = y - g * factor;
    __global DST *out = ROW(dst, y);
#ifdef ADDS
    __global const ACC *sum = ROW(sum, y);
#endif
    EACH_BAND(FIRST_TAP)
    while (x < end) {
#ifdef FORM_ROWS
        if (x + 16 <= end EACH_BAND(INSIDE)) {
            CAT(ACC, 16) a = BEGIN16(x);
            EACH_BAND(ADD_WIDE)
            STORE16(out + x, FINISH16(a));
            x += 16;
            continue;
        }
#endif
        ACC a = BEGIN(x);
        EACH_BAND(ADD)
        out[x] = SATURATE_FROM(ACC, DST, a);
        x++;
    }
}
#endif
