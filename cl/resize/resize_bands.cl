/* resize on CPUs, both passes at once: computes the same as resize_across.cl and then resize_down.cl. A work-item takes
 * a band of the result's rows. The sums along rows that they need stay in scratch memory of its own, in a near cache,
 * until the sums down columns have used them; neighbouring bands compute some of them twice.
 *
 * Along rows it takes sixteen rows at a time. The lanes of a vector (a column) are the samples that these rows have at
 * one position, so lanes never depend on each other, whatever the channels and the filter. The source is transposed
 * into columns, as far as the next sums need them, and the sums are transposed back into rows. FIXED sums add two
 * samples at a time; then a column holds pairs, and the table's first samples and counts along rows are numbers of
 * pairs. */
#include <memory.cl>
#include <own.cl>
#include <processor.cl>
#include "resize_table.cl"
#define ROWS 16

#if FIXED
#define COLUMN       int16
#define PER_COLUMN   2
#define WEIGHT_ALONG int /* along rows: for a pair */
#else
#define COLUMN       float16
#define PER_COLUMN   1
#define WEIGHT_ALONG float
#endif
#define BY_TYPE inline __attribute__((overloadable)) /* of several functions, that for the argument's type */

/* The sums of eight pixels are SUMS_OF_PIXEL * 8 vectors: pixel by pixel, or with alpha channel by channel. MIDDLE_AT is where
 * sum i of the pixels from x on is stored. */
#define SUMS_OF_PIXEL   (CH + EXACT_ALPHA)
#define NEXT_PIXEL      (ALPHA ? 1 : CH)
#define NEXT_CHANNEL    (ALPHA ? 8 : 1)
#define MIDDLE_AT(x, i) (ALPHA ? (x) + (i) % 8 + (i) / 8 * pitch : (x) * CH + (i))

/* A word of PER_WORD sums in a row. */
#define PER_WORD (4 / (int)sizeof(MIDDLE))
BY_TYPE uint16 FN(word)(const int16 *s)
{
    uint16 first = as_uint16(s[0] >> 8);
    return PER_WORD == 1 ? first : (first & 65535) | as_uint16(s[PER_WORD - 1] >> 8) << 16;
}

BY_TYPE uint16 FN(word)(const float16 *s)
{
    return as_uint16(s[0]);
}

/* Transposes four matrices of 4 × 4 lanes: lane 4 k + i of vector j becomes lane 4 k + j of vector i. */
#define LOW(a, b)   __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define HIGH(a, b)  __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define LOW2(a, b)  as_uint16(__builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14))
#define HIGH2(a, b) as_uint16(__builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15))

inline void FN(turn)(uint16 *v)
{
    ulong8 a = as_ulong8(LOW(v[0], v[1])), b = as_ulong8(HIGH(v[0], v[1]));
    ulong8 c = as_ulong8(LOW(v[2], v[3])), d = as_ulong8(HIGH(v[2], v[3]));
    v[0] = LOW2(a, c);
    v[1] = HIGH2(a, c);
    v[2] = LOW2(b, d);
    v[3] = HIGH2(b, d);
}

/* A step takes 16 bytes of each row, of which it converts BLOCK samples to COLUMNS vectors. SAMPLE_OF_ROWS(k) has the sample of
 * each row at position k. */
#define LOADED  (16 / (int)sizeof(SRC))
#define COLUMNS (BLOCK / PER_COLUMN)
#define BLOCK   (FIXED ? LOADED / (2 * CH) * 2 * CH : LOADED)
#define SAMPLE_OF_ROWS(k)                                                                          \
    (sizeof(SRC) == 1   ? words[(k) / 4] >> 8 * ((k) % 4) & 255                                     \
     : sizeof(SRC) == 2 ? words[(k) / 2 % 4] >> 16 * ((k) % 2) & 65535                              \
                        : words[(k) % 4])
#define VALUE(k)                                                                                   \
    (IS_REAL(SRC) ? as_float16(SAMPLE_OF_ROWS(k)) : convert_float16(as_int16(SAMPLE_OF_ROWS(k))))
typedef uint4 __attribute__((aligned(1))) FN(four_words);

/* PAIR_PRODUCTS(a, w) is a0 * w0 + a1 * w1 of the pair in each lane. x86 has an instruction for that (LLVM 15 by itself makes
 * four). On other processors a column holds the first samples of all pairs, then the second ones.
 * Samples of u16 are made signed by subtracting 2^15. As the sum of weights is 2^14, 2^29 is added to the sums. */
#define HALF    ((sizeof(SRC) == 1 ? 0 : 1 << 29) + (1 << 7))
#define PAIR(k) ((SAMPLE_OF_ROWS(k) | SAMPLE_OF_ROWS((k) + CH) << 16) ^ (sizeof(SRC) == 1 ? 0u : 0x80008000u))
#if defined(__AVX512BW__)
#define PAIR_WORDS                int16
#define PRODUCTS(a, w)      __builtin_ia32_pmaddwd512(a, w)
#define PAIR_PRODUCTS(a, w) FN(pairs)(a, w)
#elif defined(__AVX2__)
#define PAIR_WORDS                int8
#define PRODUCTS(a, w)      __builtin_ia32_pmaddwd256(a, w)
#define PAIR_PRODUCTS(a, w) (int16)(FN(pairs)((a).lo, w), FN(pairs)((a).hi, w))
#elif defined(__SSE2__)
#define PAIR_WORDS           int4
#define PRODUCTS(a, w) __builtin_ia32_pmaddwd128(a, w)
#define PAIR_PRODUCTS(a, w)                                                                        \
    (int16)(FN(pairs)((a).s0123, w), FN(pairs)((a).s4567, w), FN(pairs)((a).s89ab, w),             \
            FN(pairs)((a).scdef, w))
#endif
#ifdef PAIR_WORDS
#define AS_COLUMN(v) as_int16(v)
typedef short __attribute__((vector_size(sizeof(PAIR_WORDS)))) FN(shorts);
inline PAIR_WORDS FN(pairs)(PAIR_WORDS a, int w)
{
    return __builtin_astype(PRODUCTS(__builtin_astype(a, FN(shorts)), __builtin_astype((PAIR_WORDS)(w), FN(shorts))), PAIR_WORDS);
}
#else
#define AS_COLUMN(v) (int16)(as_int8(convert_short16(v)), as_int8(convert_short16(v >> 16)))
#define PAIR_PRODUCTS(a, w)                                                                        \
    (convert_int16(as_short16((a).lo)) * (int16)(as_short2(w).s0) +                                \
     convert_int16(as_short16((a).hi)) * (int16)(as_short2(w).s1))
#endif

/* Converts a block of rows that are `stride` samples apart. */
inline void FN(columns)(__global const SRC *in, int stride, __global COLUMN *to)
{
    uint16 words[4];
#define FOUR_WORDS(r) *(__global const FN(four_words) *)(in + (r) * stride)
    UNROLLED for (int i = 0; i < 4; i++)
        words[i] = (uint16)(FOUR_WORDS(i), FOUR_WORDS(i + 4), FOUR_WORDS(i + 8), FOUR_WORDS(i + 12));
    FN(turn)(words);
    UNROLLED for (int k = 0; k < COLUMNS; k++) {
#if FIXED
        to[k] = AS_COLUMN(PAIR(k / CH * 2 * CH + k % CH));
#else
        to[k] = ALPHA && k % CH < CH - 1 ? VALUE(k) * VALUE(k / CH * CH + CH - 1) : VALUE(k);
#endif
    }
}

/* Copies a block with less than 16 bytes or rows, which has `width` samples and ends with row `last`. */
inline void FN(copy)(__global const SRC *in, int stride, int width, int last, __global SRC *to)
{
    for (int r = 0; r < ROWS; r++, to += LOADED)
        for (int k = 0; k < LOADED; k++)
            to[k] = in[min(r, last) * stride + min(k, width - 1)];
}

/* The sums of one pixel of the result in sixteen rows, a vector for each channel. `columns` and `weights` are the
 * pixel's first ones. */
BY_TYPE void FN(sum)(__global const int16 *columns, __global const int *weights, int count,
                    int16 *sums)
{
    int16 sum[CH];
    UNROLLED for (int c = 0; c < CH; c++)
        sum[c] = HALF;
    for (int k = 0; k < count; k++)
        UNROLLED for (int c = 0; c < CH; c++)
            sum[c] += PAIR_PRODUCTS(columns[k * CH + c], weights[k]);
    UNROLLED for (int c = 0; c < CH; c++)
        sums[c] = sum[c];
}

BY_TYPE void FN(sum)(__global const float16 *columns, __global const float *weights, int count,
                    float16 *sums)
{
    float16 total[CH], lost[CH];
    UNROLLED for (int c = 0; c < CH; c++)
        total[c] = lost[c] = 0;
    for (int k = 0; k < count || k == 0; k += SUM_BLOCK) {
        float16 block[CH];
        UNROLLED for (int c = 0; c < CH; c++)
            block[c] = 0;
        for (int i = k; i < min(k + SUM_BLOCK, count); i++)
            UNROLLED for (int c = 0; c < CH; c++)
                block[c] += (float16)(weights[i]) * columns[i * CH + c];
        UNROLLED for (int c = 0; c < CH; c++)
            ADD_BLOCK(block[c], total[c], lost[c])
    }
    UNROLLED for (int c = 0; c < CH; c++)
        sums[c * NEXT_CHANNEL] = total[c];
}

/* What a group of rows needs: an axis of the table, and scratch memory for `capacity` columns and for a block that is
 * copied. */
struct FN(line) {
    __global const int *table;
    struct FN(axis) axis, fixed;
    int width, pixels, pitch; /* samples of a source row; pixels of the result's; see MIDDLE_AT */
    int capacity;
    __global COLUMN *columns;
};
#define COPIED (16 * ROWS / (int)sizeof(COLUMN))

/* The sums of sixteen rows, of which `last` is the last one that there is. */
VECTORS_OF_512_BITS CALLED inline void FN(across)(struct FN(line) a, __global const SRC *in, int stride, int last,
                       __global MIDDLE *out, int out_stride)
{
    __global const int *table = a.table;
    __global SRC *copied = (__global SRC *)(a.columns + a.capacity);
    int base = 0, done = 0; /* scratch memory has columns base … done - 1 */
    for (int x = 0; x < a.pixels; x += 8) {
        int begin = FN(first)(table, a.axis, x) * CH;
        int end = (FN(first)(table, a.axis, x + 7) + FN(count)(table, a.axis, x + 7)) * CH;
        if (begin >= done) {
            base = done = begin / COLUMNS * COLUMNS;
        } else if (end + COLUMNS > base + a.capacity) {
            for (int k = begin; k < done; k++)
                a.columns[k - begin] = a.columns[k - base];
            base = begin;
        }
        for (; done < end; done += COLUMNS) {
            int i = done * PER_COLUMN;
            bool is_short = last < ROWS - 1 || i + LOADED > a.width;
            if (is_short)
                FN(copy)(in + i, stride, a.width - i, last, copied);
            FN(columns)(is_short ? copied : in + i, is_short ? LOADED : stride,
                        a.columns + done - base);
        }
        COLUMN sums[8 * SUMS_OF_PIXEL];
        for (int i = 0; i < 8; i++) {
            int pixel = x + i, count = FN(count)(table, a.axis, pixel);
            int first = FN(first)(table, a.axis, pixel) * CH - base;
            FN(sum)(a.columns + first,
                    (__global const WEIGHT_ALONG *)(table + a.axis.at + 2 * a.axis.n) + pixel * a.axis.taps, count,
                    sums + i * NEXT_PIXEL);
            if (EXACT_ALPHA) {
                __global const short *fixed = FN(fixed_weights)(table, a.fixed, pixel);
                int16 alpha = 1 << 7;
                for (int k = 0; k < count; k++)
                    alpha += convert_int16(a.columns[first + k * CH + CH - 1]) * (int16)(fixed[k]);
                sums[i + CH * 8] = CAT(as_, COLUMN)(alpha >> 8);
            }
        }
        int pitch = a.pitch;
        UNROLLED for (int i = 0; i < 8 * SUMS_OF_PIXEL; i += 4 * PER_WORD) {
            uint16 words[4];
            UNROLLED for (int k = 0; k < 4; k++)
                words[k] = FN(word)(sums + i + k * PER_WORD);
            FN(turn)(words);
            __global MIDDLE *to = out + MIDDLE_AT(x, i);
            UNROLLED for (int k = 0; k < 4; k++) {
                *(__global uint4 *)(to + k * out_stride) = words[k].s0123;
                *(__global uint4 *)(to + (k + 4) * out_stride) = words[k].s4567;
                *(__global uint4 *)(to + (k + 8) * out_stride) = words[k].s89ab;
                *(__global uint4 *)(to + (k + 12) * out_stride) = words[k].scdef;
            }
        }
    }
}

/* Down columns: DOWN_AT_ONCE samples of a row of the result, or pixels if there is alpha. `in` is in the first row of sums.
 * Of integers a result is sat((sum + 2^19) >> 20). */
#if FIXED && defined(SRC_IS_uchar)
#define DOWN_AT_ONCE 32
/* Two rows at a time; the last weight may be 0. A word has an even sample and the odd one behind it. */
inline void FN(down)(__global const short *in, int stride, __global const short *weights, int count,
                     uchar16 *results)
{
    int16 even = 1 << 19, odd = 1 << 19;
    for (int k = 0; k < count; k += 2, in += 2 * stride) {
        uint16 a = *(__global const uint16 *)in, b = *(__global const uint16 *)(in + stride);
        int w = *(__global const int *)(weights + k);
        even += PAIR_PRODUCTS(AS_COLUMN(((a & 65535) | b << 16)), w);
        odd += PAIR_PRODUCTS(AS_COLUMN(((a >> 16) | (b & 0xffff0000u))), w);
    }
    even = clamp(even >> 20, (int16)(0), (int16)(255));
    odd = clamp(odd >> 20, (int16)(0), (int16)(255));
    *(ushort16 *)results = convert_ushort16(even | odd << 8);
}
#else
#define DOWN_AT_ONCE 16
inline void FN(down)(__global const MIDDLE *in, int stride, __global const WEIGHT *weights, int count, V(SRC) *results)
{
#if FIXED
    results[0] = FN(exact_down)(in, stride, weights, count);
#elif !ALPHA
    results[0] = FN(real_down)(in, stride, weights, count);
#endif
}
#endif

/* Scratch memory has `size` vectors for each item. The result has `pixels` by `lines` pixels, the source `width`
 * samples by `height` rows. */
VECTORS_OF_512_BITS __kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst),
                     __global COLUMN *restrict scratch, int size, int capacity, int rows, int stride,
                     int pitch, int band, int pixels, int lines, int width, int height,
                     __global const int *restrict table, AXIS(x), AXIS(y))
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    const struct FN(axis) fixed = FIXED_AXIS(x), real = REAL_AXIS(x), fixed_down = FIXED_AXIS(y), real_down = REAL_AXIS(y);
    const struct FN(axis) down = FIXED ? fixed_down : real_down;
    struct FN(line) line = {.table = table, .axis = FIXED ? fixed : real, .fixed = fixed, .width = width, .pixels = pixels,
                            .pitch = pitch, .capacity = capacity, .columns = scratch + OWN_Y * size};
    __global MIDDLE *middle = (__global MIDDLE *)(line.columns + capacity + COPIED);
    int y = GRID_Y * band, end = min(y + band, lines);
    /* There are sums of the source's rows base … done - 1. */
    int base = FN(first)(table, down, y), done = base;
    for (; y < end; y++) {
        int first = FN(first)(table, down, y), count = FN(count)(table, down, y);
        for (done = max(done, first); done < first + count; done += ROWS) {
            if (done + ROWS > base + rows) {
                int moved = (first - base) * stride;
                for (int i = 0; i < (done - first) * stride; i += 64 / (int)sizeof(MIDDLE))
                    *(__global COLUMN *)(middle + i) = *(__global COLUMN *)(middle + i + moved);
                base = first;
            }
            FN(across)(line, ROW(src, done), src_stride, height - 1 - done,
                       middle + (done - base) * stride, stride);
        }
        __global const WEIGHT *weights = (__global const WEIGHT *)(table + down.at + 2 * down.n) + y * down.taps;
        __global const MIDDLE *in = middle + (first - base) * stride;
        __global SRC *out = ROW(dst, y);
#ifdef WITH_ALPHA
        for (int x = 0; x < pixels; x += DOWN_AT_ONCE) {
            V(SRC) results[CH];
            float16 alpha = FN(real_down)(in + x + (CH - 1) * pitch, stride, weights, count);
            for (int c = 0; c < CH - 1; c++) {
                float16 v = FN(real_down)(in + x + c * pitch, stride, weights, count);
                results[c] = CONVERT(SRC, FN(colour)(v, alpha));
            }
#ifndef SRC_IS_float
            results[CH - 1] = FN(exact_down)((__global const int *)in + x + CH * pitch, stride,
                                             FN(fixed_weights)(table, fixed_down, y), count);
#else
            results[CH - 1] = alpha;
            if (CH == 4 && x + DOWN_AT_ONCE <= pixels) {
                uint16 words[4];
                UNROLLED for (int c = 0; c < 4; c++)
                    words[c] = as_uint16(results[c % CH]);
                FN(turn)(words);
                UNROLLED for (int i = 0; i < 4; i++) {
                    UNALIGNED_OUT(uint, 4, out + (x + i) * 4) = words[i].s0123;
                    UNALIGNED_OUT(uint, 4, out + (x + i + 4) * 4) = words[i].s4567;
                    UNALIGNED_OUT(uint, 4, out + (x + i + 8) * 4) = words[i].s89ab;
                    UNALIGNED_OUT(uint, 4, out + (x + i + 12) * 4) = words[i].scdef;
                }
                continue;
            }
#endif
            for (int i = 0; i < min(DOWN_AT_ONCE, pixels - x); i++)
                for (int c = 0; c < CH; c++)
                    out[(x + i) * CH + c] = ((SRC *)&results[c])[i];
        }
#else
        for (int x = 0; x < pixels * CH; x += DOWN_AT_ONCE) {
            V(SRC) results[DOWN_AT_ONCE / 16] __attribute__((aligned(64)));
            FN(down)(in + x, stride, weights, count, results);
            if (x + DOWN_AT_ONCE <= pixels * CH)
                for (int i = 0; i < DOWN_AT_ONCE; i += 16)
                    UNALIGNED_OUT(SRC, 16, out + x + i) = results[i / 16];
            else
                for (int i = 0; x + i < pixels * CH; i++)
                    out[x + i] = ((SRC *)results)[i];
        }
#endif
    }
}
