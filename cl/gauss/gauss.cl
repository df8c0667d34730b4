/* gauss and unsharp on CPUs (behind cl/strips.cl): each row of the source is summed along itself into a ring of
 * lines, and as soon as the window's last line is there, a row of the result is the sum down these.
 *
 * Both sums take the two samples at one distance together, whose weights are alike. `table` holds the weights from
 * distance 0 on, in 2^14ths or as f32, with zeros up to an even count. TABLE or REAL: unsharp, by a table of the
 * changes or in f32. */
#include <memory.cl>
#include "gauss_sharpen.cl"
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
#define IN(p)       (*(__global const FN(in_any) *)(p))
#define LINE(p)     (*(__global const FN(middle_any) *)(p))
#define PUT_LINE(p) (*(__global FN(middle_any) *)(p))
#define PUT_OUT(p)  (*(__global FN(in_any) *)(p))

/* Sums of a and b times a pair of weights, for each lane. */
#ifdef SRC_IS_uchar
typedef VECTOR_OF(short) FN(wide);
#if defined(__AVX512BW__)
#define BITS 512
#define LOW  0, 32, 1, 33, 2, 34, 3, 35, 8, 40, 9, 41, 10, 42, 11, 43, 16, 48, 17, 49, 18, 50, 19, 51, 24, 56, 25, 57, 26, 58, 27, 59
#define HIGH 4, 36, 5, 37, 6, 38, 7, 39, 12, 44, 13, 45, 14, 46, 15, 47, 20, 52, 21, 53, 22, 54, 23, 55, 28, 60, 29, 61, 30, 62, 31, 63
#elif defined(__AVX2__)
#define BITS 256
#define LOW  0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27
#define HIGH 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31
#endif
#ifdef BITS
/* One instruction multiplies and adds pairs; lanes are as the instructions that make and part them want them. */
typedef short __attribute__((vector_size(BITS / 8))) FN(shorts);
typedef int __attribute__((vector_size(BITS / 8))) FN(ints);
typedef int __attribute__((ext_vector_type(LANES_AT_ONCE / 2))) FN(sums);
#define BUILT_IN_PAIRS(v, w) CAT(__builtin_ia32_pmaddwd, BITS)(v, w)
#define BUILT_IN_PACK(v, w)  CAT(__builtin_ia32_packssdw, BITS)(v, w)
#define TIMES(v, w)                                                                                \
    __builtin_astype(BUILT_IN_PAIRS(__builtin_astype(v, FN(shorts)), __builtin_astype(w, FN(shorts))), FN(sums))
#define BEGIN_SUM(k, half) FN(sums) low##k = (half), high##k = (half);
#define ADD_PAIR(k, a, b, w)                                                                            \
    {                                                                                              \
        FN(sums) pair = *(__global const int *)(w);                                                \
        low##k += TIMES(__builtin_shufflevector(a, b, LOW), pair);                                 \
        high##k += TIMES(__builtin_shufflevector(a, b, HIGH), pair);                               \
    }
#define SHIFTED(k, bits)                                                                           \
    __builtin_astype(BUILT_IN_PACK(__builtin_astype(low##k >> (bits), FN(ints)),                   \
                                   __builtin_astype(high##k >> (bits), FN(ints))), FN(wide))
#else
#define BEGIN_SUM(k, half) int16 s##k = (half);
#define ADD_PAIR(k, a, b, w)                                                                            \
    s##k += convert_int16(a) * (int16)((w)[0]) + convert_int16(b) * (int16)((w)[1]);
#define SHIFTED(k, bits) convert_short16(s##k >> (bits))
#endif
#define SUM_ACROSS(k)    BEGIN_SUM(k, 1 << 7)
#define SUM_DOWN(k)      BEGIN_SUM(k, 1 << 19)
#ifdef WIDENED
#define WIDEN_ACROSS(p)  LINE(p)
#else
#define WIDEN_ACROSS(p)  __builtin_convertvector(IN(p), FN(wide))
#endif
#define WIDEN_DOWN(p)    LINE(p)
#define ADD_ACROSS       ADD_PAIR
#define ADD_DOWN         ADD_PAIR
#define RESULT_ACROSS(k) SHIFTED(k, 8)
#define RESULT_DOWN(k)   __builtin_convertvector(SHIFTED(k, 20), FN(out_lanes))

#elif defined(SRC_IS_ushort)
typedef int16 FN(wide);
/* Sums down do not fit 32 bits: one is 4096 * h + l. */
#define SUM_ACROSS(k)    int16 s##k = 1 << 7;
#define WIDEN_ACROSS(p)  convert_int16(IN(p))
#define ADD_ACROSS(k, a, b, w) s##k += a * (int16)((w)[0]) + b * (int16)((w)[1]);
#define RESULT_ACROSS(k) (s##k >> 8)
#define SUM_DOWN(k)      int16 h##k = 0, l##k = 1 << 19;
#define WIDEN_DOWN(p)    LINE(p)
#define ADD_DOWN(k, a, b, w)                                                                       \
    h##k += (a >> 12) * (int16)((w)[0]) + (b >> 12) * (int16)((w)[1]);                             \
    l##k += (a & 4095) * (int16)((w)[0]) + (b & 4095) * (int16)((w)[1]);
#define RESULT_DOWN(k)   convert_ushort16((h##k + (l##k >> 12)) >> 8)

#else
typedef float16 FN(wide);
#define SUM_ACROSS(k)    float16 s##k = 0;
#define WIDEN_ACROSS(p)  IN(p)
#define ADD_ACROSS(k, a, b, w)                                                                     \
    s##k += a * (float16)((w)[0]);                                                                 \
    s##k += b * (float16)((w)[1]);
#define RESULT_ACROSS(k) s##k
#define SUM_DOWN         SUM_ACROSS
#define WIDEN_DOWN(p)    LINE(p)
#define ADD_DOWN         ADD_ACROSS
#define RESULT_DOWN(k)   s##k
#endif

/* What lies at distance i on both sides, as a number of samples from `at`: along a row each distance is `step` further
 * from `centre`, and down, low[i] and high[i] are places of lines. The last weight may be one that is 0, for a distance
 * that the window has not: widened bytes have room for it, other samples are taken from the last one. */
#define PLACES_ACROSS  int centre, int step, int reach
#define PLACES_DOWN    const int *low, const int *high
#ifdef WIDENED
#define FAR(i)         ((i) * step)
#else
#define FAR(i)         (min(i, reach) * step)
#endif
#define LOW_ACROSS(i)  (centre - FAR(i))
#define HIGH_ACROSS(i) (centre + FAR(i))
#define LOW_DOWN(i)    low[i]
#define HIGH_DOWN(i)   high[i]

/* The sums around `at` and around the samples LANES_AT_ONCE behind. Two vectors share the loads of weights and places. */
#define BOTH(WAY, at, i) (WIDEN_##WAY((at) + LOW_##WAY(i)) + WIDEN_##WAY((at) + HIGH_##WAY(i)))
#define DEFINE_SUM(name, WAY, from, to_type)                                                       \
    VECTORS_OF_512_BITS inline void FN(name)(__global const from *at, PLACES_##WAY,                \
                                             __global const WEIGHT *table, int pairs,              \
                                             FN(to_type) *to)                                      \
    {                                                                                              \
        __global const from *next = at + LANES_AT_ONCE;                                                    \
        SUM_##WAY(0)                                                                               \
        SUM_##WAY(1)                                                                               \
        FN(wide) a = WIDEN_##WAY(at + LOW_##WAY(0)), b = BOTH(WAY, at, 1);                         \
        ADD_##WAY(0, a, b, table)                                                                  \
        a = WIDEN_##WAY(next + LOW_##WAY(0)), b = BOTH(WAY, next, 1);                              \
        ADD_##WAY(1, a, b, table)                                                                  \
        for (int i = 1; i < pairs; i++) {                                                          \
            a = BOTH(WAY, at, 2 * i), b = BOTH(WAY, at, 2 * i + 1);                                \
            ADD_##WAY(0, a, b, table + 2 * i)                                                      \
            a = BOTH(WAY, next, 2 * i), b = BOTH(WAY, next, 2 * i + 1);                            \
            ADD_##WAY(1, a, b, table + 2 * i)                                                      \
        }                                                                                          \
        to[0] = RESULT_##WAY(0);                                                                   \
        to[1] = RESULT_##WAY(1);                                                                   \
    }
DEFINE_SUM(across, ACROSS, SUMMED, middle_lanes)
DEFINE_SUM(down, DOWN, MIDDLE, out_lanes)

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
            PUT_LINE(widened + x) = __builtin_convertvector(IN(STRIP_AT(in, x, LANES_AT_ONCE)), FN(middle_lanes));
#endif
        for (int x = 0; x < padded; x += 2 * LANES_AT_ONCE) {
            FETCH_AHEAD(ahead + x);
            FETCH_AHEAD(out + x + AHEAD * dst_stride);
            FN(middle_lanes) sums[2];
            FN(across)(ACROSS_AT(x), left * channels, channels, left, table, pairs, sums);
            PUT_LINE(to + x) = sums[0];
            PUT_LINE(to + x + LANES_AT_ONCE) = sums[1];
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
                PUT_OUT(out + x) = samples[0];
                PUT_OUT(out + x + LANES_AT_ONCE) = samples[1];
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
