/* erode and dilate. */
#pragma kernel words
#include "morph_packed.cl"
#pragma kernel samples columns
/* In small windows on GPUs: the best samples along each row, then of these. */
#include "numbers.cl"
#ifdef TAKE_LEAST
#define BETTER LEAST
#else
#define BETTER LARGEST
#endif
#define ACROSS_1(AT) AT(-LEFT)
#define ACROSS_2(AT) BETTER(ACROSS_1(AT), AT(1 - LEFT))
#define ACROSS_3(AT) BETTER(ACROSS_2(AT), AT(2 - LEFT))
#define ACROSS_4(AT) BETTER(ACROSS_3(AT), AT(3 - LEFT))
#define ACROSS_5(AT) BETTER(ACROSS_4(AT), AT(4 - LEFT))
#define ACROSS_6(AT) BETTER(ACROSS_5(AT), AT(5 - LEFT))
#define ACROSS_7(AT) BETTER(ACROSS_6(AT), AT(6 - LEFT))
#define ACROSS_8(AT) BETTER(ACROSS_7(AT), AT(7 - LEFT))
#define ACROSS_9(AT) BETTER(ACROSS_8(AT), AT(8 - LEFT))
#define LINE(j, AT) ACROSS(AT)
#define JOIN(a, b)  BETTER(a, b)
#define VALUE       first
#include "window.cl"

#pragma kernel unnamed
/* On CPUs, behind cl/strips.cl: windows of any height by three comparisons a sample (M. van Herk, "A fast algorithm for
 * local minimum and maximum filters on rectangular and octagonal kernels", 1992).
 *
 * Rows are first worked on along themselves, by steps that each take four positions together, so that windows grow by
 * a factor of four. Rows of results lie in blocks of as many as the window is high. A window's rows are the end of one
 * block and the beginning of the next: of the finished block, row i is the best of rows i to the last; of the one that
 * is being filled, `begun` is the best of all so far. */
#include <processor.cl>
#include "strips.cl"
typedef FN(strip_lanes) FN(wide);
VECTORS_OF_512_BITS inline FN(wide) FN(better)(FN(wide) a, FN(wide) b)
{
#ifdef TAKE_LEAST
    return a < b ? a : b;
#else
    return a > b ? a : b;
#endif
}

/* The best of four that are `distance` apart, the last ones no further than `last`. */
VECTORS_OF_512_BITS inline FN(wide) FN(four)(__global const SRC *in, int distance, int last)
{
    if (last <= distance) {
        FN(wide) first = STRIP_IN(in), other = STRIP_IN(in + last);
        return FN(better)(first, other);
    }
    int second = min(distance, last), third = min(2 * distance, last);
    FN(wide) a = STRIP_IN(in), b = STRIP_IN(in + second), c = STRIP_IN(in + third), d = STRIP_IN(in + last);
    a = FN(better)(a, b);
    c = FN(better)(c, d);
    return FN(better)(a, c);
}

#if defined(NATIVE) && defined(__AVX512BW__) && defined(SRC_IS_uchar)
/* The samples that begin 4 * `words` after those of v, of v and what follows it. */
VECTORS_OF_512_BITS inline FN(wide) FN(later)(FN(wide) v, FN(wide) next, int words)
{
    typedef int __attribute__((vector_size(64))) lanes;
    int16 index = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) + words;
    return __builtin_astype(__builtin_ia32_vpermi2vard512(__builtin_astype(v, lanes), __builtin_astype(index, lanes),
                                                          __builtin_astype(next, lanes)), FN(wide));
}

/* The first two steps, for n windows of 16 pixels; what the second one sees is in registers. */
VECTORS_OF_512_BITS inline void FN(sixteen)(struct FN(line) in, __global SRC *buffer, int n, int channels)
{
    FN(wide) next = FN(four)(STRIP_AT(in, 0, STRIP_LANES + 3 * channels), channels, 3 * channels);
    for (int x = 0; x < n; x += STRIP_LANES) {
        FN(wide) v = next;
        next = FN(four)(STRIP_AT(in, x + STRIP_LANES, STRIP_LANES + 3 * channels), channels, 3 * channels);
        FN(wide) b = FN(later)(v, next, channels), c = FN(later)(v, next, 2 * channels);
        FN(wide) d = FN(later)(v, next, 3 * channels);
        b = FN(better)(v, b);
        c = FN(better)(c, d);
        STRIP_OUT(buffer + x) = FN(better)(b, c);
    }
}
#define SIXTEEN(in, buffer, n) (FN(sixteen)(in, buffer, n, channels), true)
#else
#define SIXTEEN(in, buffer, n) false
#endif

/* All steps along `in` but the last one, which is `four` with *distance and *last, into `buffer`. Returns what the
 * last one works on. */
VECTORS_OF_512_BITS inline struct FN(line) FN(along)(struct FN(line) in, __global SRC *buffer, int count, int window,
                                                     int channels, int *distance, int *last)
{
    int covered = 1;
    if (window > 16 && SIXTEEN(in, buffer, count + (window - 16) * channels)) {
        in.row = in.pad = buffer;
        covered = 16;
    }
    for (; 4 * covered < window; covered *= 4) {
        int n = count + (window - 4 * covered) * channels, step = covered * channels;
        for (int x = 0; x < n; x += STRIP_LANES)
            STRIP_OUT(buffer + x) = FN(four)(STRIP_AT(in, x, STRIP_LANES + 3 * step), step, 3 * step);
        in.row = in.pad = buffer;
    }
    *distance = covered * channels;
    *last = min(3 * covered, window - covered) * channels;
    return in;
}

VECTORS_OF_512_BITS __kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), STRIP_PARAMETERS)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    int count = STRIP_COUNT, padded = (count + STRIP_LANES - 1) / STRIP_LANES * STRIP_LANES;
    int window = left + right + 1, rows = top + bottom + 1;
    __global SRC *block = (__global SRC *)STRIP_MEMORY, *begun = block + rows * strip;
    __global SRC *pad = begun + strip, *buffer = pad + line;
    int first = STRIP_ROW + centre_y - top, lines = STRIP_ROW_END - STRIP_ROW + rows - 1;
    for (int i = 0, slot = 0; i < lines; i++, slot = slot + 1 == rows ? 0 : slot + 1) {
        int distance, last, y = STRIP_ROW + i - (rows - 1);
        struct FN(line) in = STRIP_LINE(first + i, count + (left + right) * channels,
                                        padded + STRIP_LANES + (left + right) * channels,
                                        STRIP_LANES + 3 * channels, pad);
        in = FN(along)(in, buffer, padded, window, channels, &distance, &last);
        __global SRC *own = block + slot * strip;
        __global SRC *out = y < STRIP_ROW ? begun : ROW(dst, y) + STRIP_BEGIN;
        /* The finished block's rows behind this one; where there are none, the new one's own. */
        __global const SRC *behind = slot + 1 < rows && y >= STRIP_ROW ? own + strip : begun;
        __global const SRC *ahead = ROW(src, clamp(first + i + AHEAD, 0, height - 1)) + STRIP_BEGIN;
        int x = 0, whole = y < STRIP_ROW ? padded : count;
        for (; x + STRIP_LANES <= whole; x += STRIP_LANES) {
            FETCH_AHEAD(ahead + x);
            FETCH_AHEAD(out + x + AHEAD * dst_stride);
            FN(wide) v = FN(four)(STRIP_AT(in, x, STRIP_LANES + last), distance, last), best = v;
            if (slot > 0)
                best = FN(better)(v, STRIP_IN(begun + x));
            STRIP_OUT(own + x) = v;
            STRIP_OUT(begun + x) = best;
            v = STRIP_IN(behind + x);
            STRIP_OUT(out + x) = FN(better)(best, v);
        }
        if (x < whole) {
            SRC samples[STRIP_LANES];
            FN(wide) v = FN(four)(STRIP_AT(in, x, STRIP_LANES + last), distance, last), best = v;
            if (slot > 0)
                best = FN(better)(v, STRIP_IN(begun + x));
            STRIP_OUT(own + x) = v;
            STRIP_OUT(begun + x) = best;
            v = STRIP_IN(behind + x);
            *(FN(strip_anywhere) *)samples = FN(better)(best, v);
            for (int k = 0; x + k < whole; k++)
                out[x + k] = samples[k];
        }
        if (slot + 1 == rows)
            for (x = 0; x < padded; x += STRIP_LANES) {
                FN(wide) best = STRIP_IN(own + x);
                for (int row = rows - 2; row >= 0; row--) {
                    FN(wide) v = STRIP_IN(block + row * strip + x);
                    best = FN(better)(v, best);
                    STRIP_OUT(block + row * strip + x) = best;
                }
            }
        if (y >= STRIP_ROW) {
            STRIP_ALPHA(out, y, count)
        }
    }
}
