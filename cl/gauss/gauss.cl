/* gauss and unsharp on CPUs (behind cl/strips.cl): each row of the source is summed along itself into a ring of
 * lines, and as soon as the window's last line is there, a row of the result is the sum down these.
 *
 * Both sums take the two samples at one distance together, whose weights are alike. `table` holds the weights from
 * distance 0 on, in 2^14ths or as f32, with zeros up to an even count. TABLE or REAL: unsharp, by a table of the
 * changes or in f32. */
#include <memory.cl>
#include <processor.cl>
#include "gauss_sharpen.cl"
#include "weighted.cl"
#include "strips.cl"
#define DISTANCES 258

/* What is summed along rows: bytes are widened once for each row, not for each weight, unless vectors would then be whole
 * lines of the cache, of which each load at any address takes two. */
#if defined(SRC_IS_uchar) && !defined(__AVX512BW__)
#define WIDENED
#define SUMMED MIDDLE
#else
#define SUMMED SRC
#endif

/* Lanes of a vector, and vectors of so many at any address. */
#if defined(SRC_IS_uchar) && defined(__AVX512BW__)
#define LANES_AT_ONCE 32
#else
#define LANES_AT_ONCE 16
#endif
#define VECTOR_OF(type) type __attribute__((ext_vector_type(LANES_AT_ONCE)))
typedef VECTOR_OF(SRC) FN(out_lanes);
typedef VECTOR_OF(MIDDLE) FN(middle_lanes);
typedef FN(out_lanes) __attribute__((aligned(sizeof(SRC)))) FN(in_any);
typedef FN(middle_lanes) __attribute__((aligned(sizeof(MIDDLE)))) FN(middle_any);

/* Sums of two vectors, each of whose weights `w` has one: along a row (SUM_ALONG) and down columns (SUM_DOWN). */
#if defined(SRC_IS_uchar) && defined(__AVX2__)
#include "gauss_pairs.cl"
#else
#ifdef SRC_IS_uchar
typedef short16 FN(wide);
#else
typedef V(WORK) FN(wide);
#endif
#define SUM_ALONG V(WORK)
#define SUM_DOWN  struct FN(column)
struct FN(column) {
    V(WORK) high, low;
};

inline void FN(begin_along)(SUM_ALONG *sum)
{
#ifdef SRC_IS_float
    *sum = 0;
#else
    *sum = 1 << 7;
#endif
}

inline void FN(add_along)(SUM_ALONG *sum, FN(wide) a, FN(wide) b, __global const WEIGHT *w)
{
    *sum += CONVERT(WORK, a) * (V(WORK))(w[0]);
    *sum += CONVERT(WORK, b) * (V(WORK))(w[1]);
}

inline FN(middle_lanes) FN(of_along)(SUM_ALONG sum)
{
#ifdef SRC_IS_float
    return sum;
#else
    return CONVERT(MIDDLE, sum >> 8);
#endif
}

inline void FN(begin_down)(SUM_DOWN *sum)
{
    sum->high = 0, sum->low = ROUNDING;
}

inline void FN(add_down)(SUM_DOWN *sum, FN(wide) a, FN(wide) b, __global const WEIGHT *w)
{
    ADD_ROW(sum->high, sum->low, CONVERT(WORK, a), w[0]);
    ADD_ROW(sum->high, sum->low, CONVERT(WORK, b), w[1]);
}

inline FN(out_lanes) FN(of_down)(SUM_DOWN sum)
{
    return FN(of_column)(sum.high, sum.low);
}
#endif

inline FN(wide) FN(wide_at)(__global const SUMMED *at)
{
#if defined(WIDENED) || defined(SRC_IS_float)
    return *(__global const FN(middle_any) *)at;
#else
    return __builtin_convertvector(*(__global const FN(in_any) *)at, FN(wide));
#endif
}

inline FN(wide) FN(line_at)(__global const MIDDLE *at)
{
    return *(__global const FN(middle_any) *)at;
}

/* The sums around `at` and around the samples LANES_AT_ONCE behind; two vectors share the loads of weights and places.
 * Along a row each distance is `step` samples further. The last weight may be one that is 0, for a distance that the
 * window has not: widened bytes have room for it, other samples are taken from the last one. Down columns, low[i] and
 * high[i] are places of lines. */
VECTORS_OF_512_BITS inline void FN(across)(__global const SUMMED *at, int step, int reach,
                                           __global const WEIGHT *table, int pairs, FN(middle_lanes) *to)
{
#ifdef WIDENED
#define FAR(i) ((i) * step)
#else
#define FAR(i) (min(i, reach) * step)
#endif
    SUM_ALONG sums[2];
    UNROLLED for (int k = 0; k < 2; k++) {
        FN(begin_along)(&sums[k]);
        __global const SUMMED *p = at + k * LANES_AT_ONCE;
        FN(add_along)(&sums[k], FN(wide_at)(p), FN(wide_at)(p - FAR(1)) + FN(wide_at)(p + FAR(1)), table);
    }
    for (int i = 2; i < 2 * pairs; i += 2)
        UNROLLED for (int k = 0; k < 2; k++) {
            __global const SUMMED *p = at + k * LANES_AT_ONCE;
            FN(add_along)(&sums[k], FN(wide_at)(p - FAR(i)) + FN(wide_at)(p + FAR(i)),
                          FN(wide_at)(p - FAR(i + 1)) + FN(wide_at)(p + FAR(i + 1)), table + i);
        }
    UNROLLED for (int k = 0; k < 2; k++)
        to[k] = FN(of_along)(sums[k]);
}

VECTORS_OF_512_BITS inline void FN(down)(__global const MIDDLE *at, const int *low, const int *high,
                                         __global const WEIGHT *table, int pairs, FN(out_lanes) *to)
{
    SUM_DOWN sums[2];
    UNROLLED for (int k = 0; k < 2; k++) {
        FN(begin_down)(&sums[k]);
        __global const MIDDLE *p = at + k * LANES_AT_ONCE;
        FN(add_down)(&sums[k], FN(line_at)(p + low[0]), FN(line_at)(p + low[1]) + FN(line_at)(p + high[1]), table);
    }
    for (int i = 2; i < 2 * pairs; i += 2)
        UNROLLED for (int k = 0; k < 2; k++) {
            __global const MIDDLE *p = at + k * LANES_AT_ONCE;
            FN(add_down)(&sums[k], FN(line_at)(p + low[i]) + FN(line_at)(p + high[i]),
                         FN(line_at)(p + low[i + 1]) + FN(line_at)(p + high[i + 1]), table + i);
        }
    UNROLLED for (int k = 0; k < 2; k++)
        to[k] = FN(of_down)(sums[k]);
}

VECTORS_OF_512_BITS __kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), STRIP_PARAMETERS,
                                         __global const WEIGHT *restrict table NUMBERS)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    int lines = top + bottom + 1, pairs = top / 2 + 1, pitch = strip + 64, count = STRIP_COUNT;
    int padded = (count + 2 * LANES_AT_ONCE - 1) / (2 * LANES_AT_ONCE) * 2 * LANES_AT_ONCE, wide = (left + right) * channels;
    int last = STRIP_ROW_END - 1 + centre_y + bottom;
    __global MIDDLE *ring = (__global MIDDLE *)STRIP_MEMORY;
    __global SRC *pad = (__global SRC *)(ring + lines * pitch);
#ifdef WIDENED
    __global MIDDLE *widened = (__global MIDDLE *)(pad + line);
#define ACROSS_AT(x) (widened + (x))
#else
#define ACROSS_AT(x) STRIP_AT(in, x, 2 * LANES_AT_ONCE + wide)
#endif
    int low[DISTANCES], high[DISTANCES];
    for (int row = STRIP_ROW + centre_y - top, slot = 0; row <= last; row++, slot++) {
        slot = slot == lines ? 0 : slot;
        struct FN(line) in = STRIP_LINE(row, count + wide, padded + wide + LANES_AT_ONCE, 2 * LANES_AT_ONCE + wide, pad);
        __global MIDDLE *to = ring + slot * pitch;
        int y = row - centre_y - bottom;
        __global const SRC *ahead = ROW(src, clamp(row + AHEAD, 0, height - 1)) + STRIP_BEGIN;
        __global SRC *out = ROW(dst, max(y, STRIP_ROW)) + STRIP_BEGIN;
#ifdef WIDENED
        for (int x = 0; x < padded + wide; x += LANES_AT_ONCE)
            *(__global FN(middle_any) *)(widened + x) = __builtin_convertvector(
                *(__global const FN(in_any) *)STRIP_AT(in, x, LANES_AT_ONCE), FN(middle_lanes));
#endif
        for (int x = 0; x < padded; x += 2 * LANES_AT_ONCE) {
            FETCH_AHEAD(ahead + x);
            FETCH_AHEAD(out + x + AHEAD * dst_stride);
            FN(middle_lanes) sums[2];
            FN(across)(ACROSS_AT(x) + left * channels, channels, left, table, pairs, sums);
            *(__global FN(middle_any) *)(to + x) = sums[0];
            *(__global FN(middle_any) *)(to + x + LANES_AT_ONCE) = sums[1];
        }
        if (y < STRIP_ROW)
            continue;
        for (int i = 0; i < 2 * pairs; i++) {
            int below = slot + 1 + top - min(i, top), above = slot + 1 + top + min(i, top);
            low[i] = (below >= lines ? below - lines : below) * pitch;
            high[i] = (above >= lines ? above - lines : above) * pitch;
        }
        int x = 0;
        for (; x < count; x += 2 * LANES_AT_ONCE) {
            FN(out_lanes) samples[2];
            FN(down)(ring + x, low, high, table, pairs, samples);
            if (x + 2 * LANES_AT_ONCE <= count) {
                *(__global FN(in_any) *)(out + x) = samples[0];
                *(__global FN(in_any) *)(out + x + LANES_AT_ONCE) = samples[1];
            } else {
                for (int i = 0; i < count - x; i++)
                    out[x + i] = ((SRC *)samples)[i];
            }
        }
#if defined(TABLE) || defined(REAL)
        __global const SRC *centre = ROW(src, y + centre_y) + centre_x * channels + STRIP_BEGIN;
        for (x = 0; x + 16 <= count; x += 16)
            UNALIGNED_OUT(SRC, 16, out + x) =
                SHARPENED(UNALIGNED_IN(SRC, 16, centre + x), UNALIGNED_IN(SRC, 16, out + x));
        if (x < count) {
            SRC samples[16], blurred[16]; /* an initialiser is run too late by PoCL 3.1 */
            for (int i = 0; i < 16; i++) {
                samples[i] = x + i < count ? centre[x + i] : 0;
                blurred[i] = x + i < count ? out[x + i] : 0;
            }
            /* Through a vector's pointer to `samples`, PoCL 3.1 reads before it is filled (AVX2). */
            vstore16(SHARPENED(vload16(0, samples), vload16(0, blurred)), 0, samples);
            for (int i = 0; i < count - x; i++)
                out[x + i] = samples[i];
        }
#endif
        STRIP_ALPHA(out, y, count)
    }
}
