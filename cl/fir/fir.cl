/* fir: the sum of k[j][i] times the sample at (x + i - left, y + j - top), divided, biased, rounded.
 *
 * The grid counts samples: the destination's pixels with the source's channels (CH). If the destination has no
 * alpha (DST_CH < CH), nothing is stored for alpha samples. A pass defines
 *
 *     NUM, WIDEN(v)    the type of sums, and the conversion from V(SRC) to V(NUM); ACC, the type for one sample
 *     COEFFICIENT      the type of the table's coefficients: int or float
 *     NUM_BITS, …      for exact sums: what EXACT_RESULT needs
 *     DIVIDE, ADD_BIAS for f32 sums: how the result is computed from the sum
 *     GENERIC          the numbers of the last two are arguments
 *     TAPS, ROWS       a window that is written out, with T(row, offset, lane, k) for each coefficient
 *     COLUMNS, ROWS    a window of that size with coefficients from the table, in unrolled loops
 *     PAIRS            behind the coefficients the table has them in pairs, for use if `paired` is not 0
 *
 * Without TAPS or COLUMNS the window's size is an argument. Samples under a coefficient of 0 are not used, even if
 * they are infinite or NaN. Sums are added in the order of rows. Vectors compute positions whose window lies inside
 * the plane; all others, and all in the scalar form, are computed sample by sample. */
#include <alpha.cl>
#include <border.cl>
#include <memory.cl>
#include <processor.cl>
#include <quotient.cl>
#include <round.cl>
#include <shift.cl>
#if defined(NUM_BITS) && defined(GENERIC) && NUM_BITS == 16
/* As quotient_by_uint of cl/prelude.cl, but for any n + d/2 of 16 bits (quotient_numbers in src/stage/quotient.c). The upper half of a
 * product is one instruction if both factors are converted right beside it. `volatile` keeps LLVM from moving the
 * conversion of the constant factor out of the loop. */
inline V(ushort) FN(quotient)(V(ushort) n, ushort d, ushort multiplier, ushort shift)
{
    volatile V(ushort) in_memory = (V(ushort))multiplier;
    V(ushort) moved = n + (V(ushort))(ushort)(d >> 1), factor = in_memory;
    ushort first = min(shift, (ushort)1);
    V(ushort) high = CONVERT(ushort, CONVERT(uint, moved) * CONVERT(uint, factor) >> 16);
    V(ushort) q = (high + ((moved - high) >> (V(ushort))first)) >> (V(ushort))(ushort)(shift - first);
    V(ushort) rest = moved - q * (V(ushort))d;
    return q - (q & (V(ushort))(ushort)(~d & 1) & ((V(ushort))(ushort)1 - min(rest, (V(ushort))(ushort)1)));
}
#define QUOTIENT(n)                                                                                  \
    (clamp(FN(quotient)((n) + (V(NUM))offset, divisor, multiplier, shift), (V(NUM))low, (V(NUM))high) - (V(NUM))zero)
#define FINISH(n) CONVERT(DST, CAT3(as_, VALUE, LANES)(QUOTIENT(n)))
#elif defined(NUM_BITS)
#define FINISH(n) EXACT_OF(n)
#else
#define FINISH(n) WIDE_SATURATE(DST, DIVIDE(n) ADD_BIAS)
#endif

#include "fir_divide.cl"

/* The sum for channel c of the window whose upper left pixel is (px, py), which may be outside. */
inline ACC FN(sum)(PLANE_IN(SRC, src), __global const COEFFICIENT *restrict table, int pitch,
                   int columns, int rows, int width, int height, int border, int ring, int px, int py, int c)
{
    ACC sum = 0;
    for (int j = 0; j < rows; j++) {
        int row = source_row(py + j, border_index(py + j, height, border), ring);
        if (row < 0)
            continue;
        for (int i = 0; i < columns; i++) {
            COEFFICIENT k = table[j * pitch + i];
            int column = border_index(px + i, width, border);
            if (k != 0 && column >= 0)
                sum += (ACC)k * (ACC)ROW(src, row)[column * CH + c];
        }
    }
    return sum;
}

#if LANES + 0
#pragma form VECTOR
/* A row is given by where it begins in the source's memory, counted in vectors; v counts vectors in the row. A vector
 * beside the row is replaced by one in it, because its lanes are not used. */
#define ROW_TYPE    int
#define ROW_AT(y)   ((src_offset + (y) * src_stride) / LANES)
#define AT(row, v)  ((__global const V(SRC) *)src_base)[(row) + clamp(v, 0, last)]
#define TAKEN(j, o, b) VECTOR_SHIFT(LANES, b, SRC, AT(r[j], x / LANES + (o)), AT(r[j], x / LANES + (o) + 1))
#define LOAD(at)     CAT(vload, LANES)(0, at)
#define STORE(v, at) *(__global V(OUT) *)(at) = THEN(v)
#pragma form ROWS SCALAR
#define ROW_TYPE       __global const SRC *
#define ROW_AT(y)      ROW(src, y)
#define TAKEN(j, o, b) LOAD(r[j] + x + (o))
#define LOAD(at)       UNALIGNED_IN(SRC, LANES, at)
#define STORE(v, at)   UNALIGNED_OUT(OUT, LANES, at) = THEN(v)
#pragma form

/* Stores a vector of n samples without its alpha samples. */
#define STORE_4_2(v, at)  vstore2((v).s02, 0, at)
#define STORE_4_4(v, at)  vstore3((v).s012, 0, at)
#define STORE_16_2(v, at) vstore8((v).s02468ace, 0, at)
#define STORE_16_4(v, at)                                                                          \
    vstore3((v).s012, 0, at), vstore3((v).s456, 1, at), vstore3((v).s89a, 2, at),                  \
        vstore3((v).scde, 3, at)

#if defined(TAPS)
#define T(j, o, b, k) sum += (NUM)(k) * WIDEN(TAKEN(j, o, b));
#elif defined(FORM_VECTOR)
/* Adds four coefficients of a row. These need CH further vectors behind p, of which the last becomes p. */
#define ADD(k, v)                                                                                  \
    if ((k) != 0)                                                                                  \
        sum += (NUM)(k) * WIDEN(v);
/* The vectors of a row from p on, each loaded once; and that of the samples `i` pixels further. */
#define VECTOR(i, row, v)                                                                          \
    ((i) == 0 ? p : CH == 4 ? AT(row, v + (i)) : (i) == 1 ? next : (i) == 2 ? third : fourth)
#define FURTHER(i, row, v)                                                                         \
    VECTOR_SHIFT(4, (i) * CH % 4, SRC, VECTOR((i) * CH / 4, row, v),                               \
                 VECTOR(((i) * CH + 3) / 4, row, v))
#define ADD_FOUR(k, row, v)                                                                        \
    V(SRC) next = CH < 4 ? AT(row, v + 1) : p;                                                     \
    V(SRC) third = CH == 2 || CH == 3 ? AT(row, v + 2) : p, fourth = CH == 3 ? AT(row, v + 3) : p; \
    ADD(k.s0, p) ADD(k.s1, FURTHER(1, row, v)) ADD(k.s2, FURTHER(2, row, v)) ADD(k.s3, FURTHER(3, row, v)) \
    p = VECTOR(CH, row, v);
#endif
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(OUT, dst),
                     __global const COEFFICIENT *restrict table, int pitch, int lead, int columns,
                     int rows, int left, int top, int width, int height, int border, int first
                     NUMBERS THEN_PARAMETERS)
{
    POSITION(x, y)
    __global OUT *out = ROW(dst, y);
    /* middle[x] is the sample in the middle of x's window. */
    __global const SRC *middle = ROW(src, SOURCE_Y(y + rows / 2 - top)) + (columns / 2 - left) * CH;
    int begin = x, end = SPAN_END(x), inner = end, inner_end = end;
#if LANES + 0
    inner = max(left * CH, x);
    inner_end = min((width - columns + 1 + left) * CH, end);
#pragma form VECTOR
    int last = (width * CH - 1) / LANES;
    bool fits = x + LANES <= grid_width && inner < inner_end;
#pragma form ROWS SCALAR
    bool fits = inner + LANES <= inner_end;
#pragma form
#ifdef ROWS
    ROW_TYPE r[ROWS];
    for (int j = 0; j < ROWS; j++) {
        int row = SOURCE_Y(y - top + j);
        fits = fits && row >= 0; /* FN(sum) computes windows with rows of zeros */
        r[j] = ROW_AT(row);
    }
#endif
    if (!fits)
        inner = inner_end = end;
#pragma form VECTOR
    if (fits) {
#pragma form ROWS SCALAR
    int next = inner;
#if defined(PAIRS) && defined(PAIR_SAMPLES)
    /* Results at even places and at odd ones have sums of their own, to which two products are added at a time. From
     * the second step on, stores are within a line of the cache. */
    for (; paired && next + PAIR_SAMPLES <= inner_end; next = (next + PAIR_SAMPLES) / PAIR_SAMPLES * PAIR_SAMPLES) {
        FETCH_AHEAD(r[ROWS - 1] + next + src_stride); /* the next row, as luminance has it */
        V(NUM) even = 0, odd = 0;
        __global const int *pair = table + ROWS * COLUMNS;
        UNROLLED
        for (int j = 0; j < ROWS; j++) {
            __global const SRC *in = r[j] + next - left;
            UNROLLED
            for (int i = 0; i < COLUMNS; i += 2, pair += 2) {
                CAT(SRC, PAIR_SAMPLES) v = UNALIGNED_IN(SRC, PAIR_SAMPLES, in + i);
                even += pair_sums(v, pair[0]);
                odd += pair_sums(v, pair[1]);
            }
        }
        UNALIGNED_OUT(OUT, PAIR_SAMPLES, out + next) =
            CAT(as_uchar, PAIR_SAMPLES)(QUOTIENT(even) | QUOTIENT(odd) << (V(NUM))(NUM)8);
    }
#endif
    for (; next < inner_end; next += LANES) {
        x = min(next, inner_end - LANES);
#pragma form
        V(NUM) sum = 0;
#if defined(TAPS)
        TAPS
#elif defined(ROWS)
        UNROLLED
        for (int j = 0; j < ROWS; j++) {
            __global const SRC *in = r[j] + x - left * CH;
            UNROLLED
            for (int i = 0; i < COLUMNS; i++)
                sum += (NUM)table[j * COLUMNS + i] * WIDEN(LOAD(in + i * CH));
        }
#else
        for (int j = 0; j < rows; j++) {
            int row = SOURCE_Y(y - top + j);
            if (row < 0)
                continue;
#pragma form VECTOR
            ROW_TYPE in = ROW_AT(row);
            __global const CAT(COEFFICIENT, 4) *k =
                (__global const CAT(COEFFICIENT, 4) *)(table + j * pitch);
            int v = x / LANES + first;
            V(SRC) p = AT(in, v);
            for (int b = 0; b < pitch / 4; b++, v += CH) {
                ADD_FOUR(k[b], in, v)
            }
#pragma form ROWS SCALAR
            __global const SRC *in = ROW(src, row) + x - left * CH;
            for (int i = 0; i < columns; i++, in += CH) {
                COEFFICIENT k = table[j * pitch + i];
                if (k != 0)
                    sum += (NUM)k * WIDEN(LOAD(in));
            }
#pragma form
        }
#endif
        V(DST) result = FINISH(sum);
#if DST_CH < CH
        V(OUT) kept = THEN(result);
        CAT4(STORE_, LANES, _, CH)(kept, out + x / CH * DST_CH);
#else
        TAKE_ALPHA(ALPHA, result, LOAD(middle + x));
        STORE(result, out + x);
#endif
    }
#endif
    for (x = begin; x < end; x++) {
        if (x == inner) {
            x = inner_end;
            if (x == end)
                return;
        }
        int pixel = x / CH, c = x % CH;
        if (ALPHA && c == CH - 1)
            out[x] = middle[x];
        if ((ALPHA || DST_CH < CH) && c == CH - 1)
            continue;
        ACC sum = FN(sum)(src_base, src_offset, src_stride, table + lead, pitch, columns, rows,
                          width, height, border, RING, pixel - left, y - top, c);
        out[pixel * DST_CH + c] = FIRST(THEN(FINISH((V(NUM))((NUM)sum))));
    }
}
