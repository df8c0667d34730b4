/* median: the middle one of the samples of a window of SIDE by SIDE.
 *
 * Networks of comparators, which no sample's value changes the course of: first each column is sorted, which all
 * windows that it is part of share on CPUs; then the middle one is found among rows of the sorted columns (v[r * SIDE
 * + c] is the one of rank r of column c). S puts two in order, L and H keep only the smaller or the larger one. The
 * networks were found by leaving comparators out of sorting networks, one by one, as long as the middle one came out
 * for all inputs of zeros and ones, which proves it for all others (D. Knuth, The art of computer programming 3,
 * 5.3.4, the zero-one principle). tests/stage/test_median.c tries all of them. */
#include <border.cl>
#include <processor.cl>
#define SIDE (2 * RADIUS + 1)
#pragma kernel unnamed words
#define OF(i)        v[i]
#pragma kernel unnamed
#define LESSER(a, b) ((a) < (b) ? (a) : (b))
#define LARGER(a, b) ((a) < (b) ? (b) : (a))
#pragma kernel words
#define LESSER FN(least)
#define LARGER FN(largest)
#pragma kernel columns
#define OF(i)  v##i
#define LESSER fmin
#define LARGER fmax
#pragma kernel samples
#include "numbers.cl"
#define OF(i)  v[at + (i) * apart]
#define LESSER LEAST
#define LARGER LARGEST
#pragma kernel
#define S(i, j)                                                                                    \
    {                                                                                              \
        COMPARED least = LESSER(OF(i), OF(j));                                                     \
        OF(j) = LARGER(OF(i), OF(j));                                                              \
        OF(i) = least;                                                                             \
    }
#define L(i, j) OF(i) = LESSER(OF(i), OF(j));
#define H(i, j) OF(j) = LARGER(OF(i), OF(j));

#define SORT_COLUMN  CAT(SORT_COLUMN_, RADIUS)
#define TAKE_MIDDLE  CAT(TAKE_MIDDLE_, RADIUS)
#define MIDDLE_PLACE (SIDE * SIDE / 2)
#define SORT_COLUMN_1                                                                              \
    S(0, 1) S(1, 2) S(0, 1)
#define TAKE_MIDDLE_1                                                                              \
    H(0, 1) H(1, 2) S(3, 4) H(3, 5) L(4, 5) L(6, 7) L(6, 8) S(2, 4) H(2, 6) L(4, 6)
#define SORT_COLUMN_2                                                                              \
    S(0, 3) S(1, 4) S(0, 2) S(1, 3) S(0, 1) S(2, 4) S(1, 2) S(3, 4) S(2, 3)
#define TAKE_MIDDLE_2                                                                              \
    S(0, 1) S(2, 3) H(0, 2) S(1, 3) H(1, 2) H(2, 4) S(3, 4) S(5, 6) S(7, 8) H(5, 7) S(6, 8)        \
    S(6, 7) S(7, 9) H(6, 7) S(10, 11) S(12, 13) S(10, 12) S(11, 13) H(10, 14) L(13, 14)            \
    S(15, 16) S(17, 18) S(15, 17) L(16, 18) S(16, 17) S(15, 19) L(17, 19) S(20, 21) S(22, 23)      \
    S(20, 22) L(21, 23) S(20, 24) L(22, 24) L(21, 22) S(7, 15) S(20, 11) S(12, 13) S(9, 16)        \
    L(17, 8) H(3, 7) S(4, 15) S(20, 12) L(11, 13) S(9, 17) S(11, 12) H(4, 11) S(7, 12)             \
    H(7, 20) S(15, 11) L(17, 21) S(11, 12) L(16, 17) H(20, 9) L(11, 16) H(15, 11) L(12, 9)         \
    H(11, 12)
#define SORT_COLUMN_3                                                                              \
    S(0, 6) S(2, 3) S(4, 5) S(0, 2) S(1, 4) S(3, 6) S(0, 1) S(2, 5) S(3, 4) S(1, 2) S(4, 6)        \
    S(2, 3) S(4, 5) S(1, 2) S(3, 4) S(5, 6)
#define TAKE_MIDDLE_3                                                                              \
    S(0, 1) S(2, 3) S(4, 5) S(1, 3) S(1, 2) S(5, 6) H(0, 4) H(1, 5) S(2, 6) H(2, 4) S(3, 5)        \
    H(3, 4) S(7, 8) S(9, 10) S(11, 12) S(7, 9) S(8, 10) S(11, 13) S(8, 9) S(12, 13) H(7, 11)       \
    H(8, 12) S(9, 13) H(9, 11) S(10, 12) S(10, 11) S(14, 15) S(16, 17) S(14, 16) S(15, 17)         \
    S(18, 20) S(15, 16) H(14, 18) S(15, 19) S(16, 20) S(16, 18) S(17, 19) H(15, 16) S(19, 20)      \
    S(21, 22) S(23, 24) S(25, 26) S(21, 23) S(22, 24) S(25, 27) S(22, 23) S(26, 27) H(21, 25)      \
    S(22, 26) S(23, 27) S(23, 25) S(24, 26) L(26, 27) S(28, 29) S(30, 31) S(32, 33) S(28, 30)      \
    S(29, 31) S(32, 34) S(29, 30) S(33, 34) S(28, 32) S(29, 33) L(30, 34) S(30, 32) L(31, 33)      \
    S(35, 36) S(37, 38) S(39, 40) S(35, 37) S(36, 38) S(39, 41) S(36, 37) S(35, 39) S(36, 40)      \
    L(37, 41) S(37, 39) L(38, 40) S(36, 37) L(38, 39) S(42, 43) S(44, 45) S(46, 47) S(42, 44)      \
    L(43, 45) S(46, 48) S(43, 44) S(47, 48) S(42, 46) L(43, 47) L(44, 48) L(44, 46) S(43, 44)      \
    S(6, 10) S(13, 16) S(17, 18) S(22, 23) S(24, 25) S(26, 28) S(37, 38) S(5, 10) S(11, 13)        \
    S(12, 16) S(28, 30) S(31, 35) S(37, 42) S(38, 43) H(5, 6) S(12, 13) S(18, 19) S(28, 29)        \
    S(32, 35) S(38, 42) S(4, 11) S(17, 22) S(18, 23) S(19, 24) L(20, 25) S(30, 36) S(6, 11)        \
    S(10, 12) S(19, 22) S(20, 23) S(29, 31) S(30, 32) S(10, 11) S(12, 13) S(18, 19) S(20, 22)      \
    S(23, 24) S(28, 29) S(30, 31) L(43, 44) H(6, 19) S(10, 20) S(11, 22) S(12, 23) S(13, 24)       \
    H(11, 17) S(12, 18) S(13, 19) S(16, 20) S(31, 37) S(32, 38) L(35, 42) L(36, 43) H(10, 12)      \
    S(13, 17) S(16, 18) S(19, 22) S(20, 23) S(29, 31) S(35, 37) L(36, 38) S(12, 13) S(16, 17)      \
    S(18, 19) S(20, 22) S(23, 24) S(30, 31) S(32, 35) S(36, 37) H(4, 26) H(12, 32) H(13, 35)       \
    L(16, 36) L(17, 37) H(17, 26) H(18, 28) H(19, 29) L(20, 30) L(22, 31) L(23, 32) L(24, 35)      \
    H(16, 20) H(22, 26) L(23, 28) L(24, 29) H(20, 23) L(24, 26) H(23, 24)

#pragma kernel unnamed
#include "strips.cl"
#define COMPARED FN(strip_lanes)
/* Behind cl/strips.cl. Scratch memory has SIDE lines for rows with what is outside, and SIDE for
 * a row's columns by rank. */
VECTORS_OF_512_BITS inline void FN(sort)(const struct FN(line) *rows, __global SRC *ranks, int line, int x)
{
    COMPARED v[SIDE];
    UNROLLED for (int i = 0; i < SIDE; i++)
        v[i] = STRIP_IN(STRIP_AT(rows[i], x, STRIP_LANES));
    SORT_COLUMN
    UNROLLED for (int i = 0; i < SIDE; i++)
        STRIP_OUT(ranks + i * line + x) = v[i];
}

VECTORS_OF_512_BITS inline COMPARED FN(middle)(__global const SRC *ranks, int line, int channels)
{
    COMPARED v[SIDE * SIDE];
    UNROLLED for (int i = 0; i < SIDE * SIDE; i++)
        v[i] = STRIP_IN(ranks + i / SIDE * line + i % SIDE * channels);
    TAKE_MIDDLE
    return v[MIDDLE_PLACE];
}

VECTORS_OF_512_BITS __kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), STRIP_PARAMETERS)
{
    IN_GRID(SPAN_BEGIN, GRID_Y)
    int count = STRIP_COUNT, needed = count + 2 * RADIUS * channels;
    int seen = (needed + STRIP_LANES - 1) / STRIP_LANES * STRIP_LANES;
    __global SRC *pads = (__global SRC *)STRIP_MEMORY, *ranks = pads + SIDE * line;
    struct FN(line) rows[SIDE];
    for (int i = 1; i < SIDE; i++)
        rows[i] = STRIP_LINE(STRIP_ROW + centre_y - top + i - 1, needed, seen, STRIP_LANES, pads + i * line);
    for (int y = STRIP_ROW, slot = 0; y < STRIP_ROW_END; y++, slot = slot + 1 == SIDE ? 0 : slot + 1) {
        UNROLLED for (int i = 1; i < SIDE; i++)
            rows[i - 1] = rows[i];
        rows[SIDE - 1] = STRIP_LINE(y + centre_y + bottom, needed, seen, STRIP_LANES, pads + slot * line);
        __global const SRC *ahead = ROW(src, min(y + centre_y + bottom + AHEAD, height - 1)) + STRIP_BEGIN;
        __global SRC *out = ROW(dst, y) + STRIP_BEGIN;
        for (int x = 0; x < seen; x += STRIP_LANES) {
            FETCH_AHEAD(ahead + x);
            FETCH_AHEAD(out + x + AHEAD * dst_stride);
            FN(sort)(rows, ranks, line, x);
        }
        int x = 0;
        for (; x + STRIP_LANES <= count; x += STRIP_LANES)
            STRIP_OUT(out + x) = FN(middle)(ranks + x, line, channels);
        if (x < count) {
            COMPARED v = FN(middle)(ranks + x, line, channels);
            SRC samples[STRIP_LANES];
            *(FN(strip_anywhere) *)samples = v;
            for (int i = 0; x + i < count; i++)
                out[x + i] = samples[i];
        }
        STRIP_ALPHA(out, y, count)
    }
}

#pragma kernel words
#include "bytes.cl"
/* Bytes on GPUs, behind cl/bytes.cl, four of them at a time: the columns of a word and of its neighbours are sorted,
 * and moved to where the networks want them. */
#define COMPARED uint

inline uint FN(word)(__global const uchar *row, int x, int width, int border)
{
    if (x >= 0 && x + 4 <= width)
        return *(__global const uint *)(row + x);
    return edge_word(row, x, width / CH, CH, border);
}

/* Sorts the columns of the word at x. */
INLINED void FN(sort)(uint *v, PLANE_IN(SRC, src), const int *rows, int x, int width, int border)
{
    UNROLLED for (int r = 0; r < SIDE; r++)
        v[r] = rows[r] < 0 ? 0u : FN(word)(ROW(src, max(rows[r], 0)), x, width, border);
    SORT_COLUMN
}

/* The grid counts samples; a work-item takes a word. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), int width, int height, int border)
{
    POSITION(x, y)
    int rows[SIDE];
    uint v[SIDE * SIDE], before[SIDE], own[SIDE], after[SIDE];
    UNROLLED for (int r = 0; r < SIDE; r++)
        rows[r] = border_index(y + r - RADIUS, height, border);
    FN(sort)(before, src_base, src_offset, src_stride, rows, x - 4, width, border);
    FN(sort)(after, src_base, src_offset, src_stride, rows, x + 4, width, border);
    FN(sort)(own, src_base, src_offset, src_stride, rows, x, width, border);
    UNROLLED for (int i = 0; i < SIDE * SIDE; i++) {
        const int r = i / SIDE, bytes = (i % SIDE - RADIUS) * CH;
        v[i] = bytes < -3  ? before[r]
               : bytes < 0 ? BEHIND(before[r], own[r], 32 + 8 * bytes & 31)
               : bytes < 1 ? own[r]
               : bytes < 4 ? BEHIND(own[r], after[r], 8 * bytes & 31)
                           : after[r];
    }
    TAKE_MIDDLE
    uint middle = v[MIDDLE_PLACE];
    if (ALPHA)
        middle = (middle & ~ALPHA_BYTES) | (FN(word)(ROW(src, y), x, width, border) & ALPHA_BYTES);
    __global uchar *out = ROW(dst, y) + x;
    if (x + 4 <= width)
        *(__global uint *)out = middle;
    else
        edge_put_4(out, middle, width - x);
}

#pragma kernel columns
#include "columns_words.cl"
/* 3×3 bytes in floats, for cl/columns.cl: each column of a line is sorted once, for the windows of its neighbours. */
#define STATE    float16 above = 0, line = 0;
#define LEAVE(v) above = line, line = v;
#define ENTER(v)                                                                                   \
    float4 middle;                                                                                 \
    {                                                                                              \
        float16 v0 = above, v1 = line, v2 = v;                                                     \
        SORT_COLUMN                                                                                \
        middle = FN(middle)(v0, v1, v2);                                                           \
    }
#define RESULT   BYTES(middle + RESULTS)

#define COMPARED float4
inline float4 FN(middle)(float16 least, float16 between, float16 largest)
{
    float4 v0 = CAT(AT_m, CH)(least), v1 = AT_0(least), v2 = CAT(AT_, CH)(least);
    float4 v3 = CAT(AT_m, CH)(between), v4 = AT_0(between), v5 = CAT(AT_, CH)(between);
    float4 v6 = CAT(AT_m, CH)(largest), v7 = AT_0(largest), v8 = CAT(AT_, CH)(largest);
    TAKE_MIDDLE
    return v4;
}
#undef COMPARED
#define COMPARED float16
#include "columns.cl"

#pragma kernel samples
/* Of all else on GPUs: the samples of a window, row after row, of which then each column is sorted where it is. */
#define ADD_LINE(j, AT)                                                                            \
    v[SIDE * (j)] = AT(-RADIUS), v[SIDE * (j) + 1] = AT(1 - RADIUS), v[SIDE * (j) + 2] = AT(2 - RADIUS); \
    if (SIDE > 3)                                                                                  \
        v[SIDE * (j) + 3] = AT(3 - RADIUS), v[SIDE * (j) + 4] = AT(4 - RADIUS);                    \
    if (SIDE > 5)                                                                                  \
        v[SIDE * (j) + 5] = AT(5 - RADIUS), v[SIDE * (j) + 6] = AT(6 - RADIUS);
#define SORT_AT(column)                                                                            \
    {                                                                                              \
        const int at = column, apart = SIDE;                                                       \
        SORT_COLUMN                                                                                \
    }
#define TAKE_WINDOW(TYPE, AT)                                                                      \
    TYPE first;                                                                                    \
    {                                                                                              \
        typedef TYPE COMPARED; /* no macro: SORT_COLUMN is made by one that V is made by, too */   \
        COMPARED v[SIDE * SIDE];                                                                   \
        EACH_LINE(AT)                                                                              \
        SORT_AT(0) SORT_AT(1) SORT_AT(2)                                                           \
        if (SIDE > 3) {                                                                            \
            SORT_AT(3) SORT_AT(4)                                                                  \
        }                                                                                          \
        if (SIDE > 5) {                                                                            \
            SORT_AT(5) SORT_AT(6)                                                                  \
        }                                                                                          \
        const int at = 0, apart = 1;                                                               \
        TAKE_MIDDLE                                                                                \
        first = v[MIDDLE_PLACE];                                                                   \
    }
#define VALUE_OF(first, second)  CONVERT(DST, first)
#define SECOND_OF(first, second) VALUE_OF(first, second)
#include "samples.cl"
