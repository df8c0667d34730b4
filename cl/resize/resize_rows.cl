/* resize along rows on CPUs: computes the same as resize_across.cl, but eight rows at a time. The lanes of a vector (a
 * column) are the samples that eight rows have at one position, so lanes never depend on each other, whatever the
 * channels and the filter.
 *
 * A work-item takes a band of such groups of rows. It transposes the source into columns in scratch memory of its own,
 * as far as the next sums need them, and transposes the sums back into rows. FIXED sums add two samples at a time; then
 * a column holds pairs, and the table's first samples and counts are numbers of pairs. */
#define ROWS     8
#define UNROLLED _Pragma("unroll")

#define FIRST_TAP(at, n, x)   (table[(at) + (x)])
#define TAP_COUNT(at, n, x)   (table[(at) + (n) + (x)])
#define WEIGHTS_AT(at, n)     (table + (at) + 2 * (n))

#ifdef FIXED
#define COLUMN     short16
#define SUM        int8
#define PER_COLUMN 2
#else
#define COLUMN     float8
#define SUM        float8
#define PER_COLUMN 1
#endif

#if defined(WITH_ALPHA) && !defined(SRC_IS_float)
#define SUMS (CH + 1)
#else
#define SUMS CH
#endif

/* The layout of the sums, in vectors for eight pixels: with alpha, channel by channel. MIDDLE_AT is where the sums of
 * channel c of the pixels from x on are stored. */
#ifdef WITH_ALPHA
#define NEXT_PIXEL   1
#define NEXT_CHANNEL 8
#define MIDDLE_AT(x, c) ((x) + (c) * pitch)
#else
#define NEXT_PIXEL   CH
#define NEXT_CHANNEL 1
#define MIDDLE_AT(x, c) ((x) * CH + (c) * 8)
#endif

#if !defined(FIXED)
#define MIDDLE float
#elif defined(SRC_IS_uchar)
#define MIDDLE short
#else
#define MIDDLE int
#endif

/* Transposes an 8 × 8 matrix of lanes. */
#define LOW(a, b)   (SUM)((a).s0, (b).s0, (a).s1, (b).s1, (a).s4, (b).s4, (a).s5, (b).s5)
#define HIGH(a, b)  (SUM)((a).s2, (b).s2, (a).s3, (b).s3, (a).s6, (b).s6, (a).s7, (b).s7)
#define LOW2(a, b)  (SUM)((a).s01, (b).s01, (a).s45, (b).s45)
#define HIGH2(a, b) (SUM)((a).s23, (b).s23, (a).s67, (b).s67)

inline void FN(turn)(SUM *v)
{
    SUM a[8], b[8];
    UNROLLED for (int i = 0; i < 8; i += 2) {
        a[i] = LOW(v[i], v[i + 1]);
        a[i + 1] = HIGH(v[i], v[i + 1]);
    }
    UNROLLED for (int i = 0; i < 8; i += 4) {
        b[i] = LOW2(a[i], a[i + 2]);
        b[i + 1] = HIGH2(a[i], a[i + 2]);
        b[i + 2] = LOW2(a[i + 1], a[i + 3]);
        b[i + 3] = HIGH2(a[i + 1], a[i + 3]);
    }
    UNROLLED for (int i = 0; i < 4; i++) {
        v[i] = (SUM)(b[i].lo, b[i + 4].lo);
        v[i + 4] = (SUM)(b[i].hi, b[i + 4].hi);
    }
}

/* A step converts BLOCK samples of eight rows, of LOADED that are loaded, to COLUMNS vectors. */
#ifdef FIXED
/* Samples of u16 are made signed by subtracting 2^15. As the sum of weights is 2^14, 2^29 is added to the sums. */
#ifdef SRC_IS_uchar
#define HALF      ((1 << 7))
#define SHORTS(v) convert_short16(v)
#else
#define HALF      ((1 << 29) + (1 << 7))
#define SHORTS(v) as_short16((v) ^ (ushort16)(32768))
#endif
#define LOADED 16
#if CH == 1
#define BLOCK    16
#define COLUMNS  8
#define PLACE(k) (k)
#define LINE(v)  as_int8(SHORTS(v))
#else
/* Of four pixels: the reds of the first two, their greens, their blues, a gap; then the same of the other two. */
#define BLOCK    12
#define COLUMNS  6
#define PLACE(k) ((k) / 3 * 4 + (k) % 3)
#define LINE(v)  as_int8(SHORTS((v).s03142500697a8b00))
#endif
#else
#define LOADED   8
#define BLOCK    8
#define COLUMNS  8
#define PLACE(k) (k)
#define LINE(v)  FN(line)(convert_float8(v))
inline float8 FN(line)(float8 v)
{
#if defined(WITH_ALPHA) && CH == 2
    v *= (float8)(v.s1, 1, v.s3, 1, v.s5, 1, v.s7, 1);
#elif defined(WITH_ALPHA)
    v *= (float8)(v.s333, 1, v.s777, 1);
#endif
    return v;
}
#endif
typedef CAT(SRC, LOADED) __attribute__((aligned(1))) FN(samples);

/* PAIRS(a, w) is a0 * w0 + a1 * w1 of the pair in each lane. x86 has an instruction for that (LLVM 15 by itself makes
 * four). On other processors a column holds the first samples of all pairs, then the second ones. */
#ifdef FIXED
#if defined(__SSE2__) && defined(__has_builtin)
#if __has_builtin(__builtin_ia32_pmaddwd128)
#define HAS_PAIRS
#endif
#endif
#if defined(HAS_PAIRS) && defined(__AVX2__)
typedef short __attribute__((vector_size(32))) FN(sixteen);
#define AS_COLUMN(v) as_short16(v)
#define PAIRS(a, w)                                                                                \
    __builtin_astype(__builtin_ia32_pmaddwd256(__builtin_astype(a, FN(sixteen)),                   \
                                               __builtin_astype((int8)(w), FN(sixteen))), int8)
#elif defined(HAS_PAIRS)
typedef short __attribute__((vector_size(16))) FN(eight);
#define AS_COLUMN(v) as_short16(v)
#define EIGHT(a, w)                                                                                \
    __builtin_astype(__builtin_ia32_pmaddwd128(__builtin_astype(a, FN(eight)),                     \
                                               __builtin_astype((int4)(w), FN(eight))), int4)
#define PAIRS(a, w) (int8)(EIGHT((a).lo, w), EIGHT((a).hi, w))
#else
#define AS_COLUMN(v) (short16)(as_short16(v).even, as_short16(v).odd)
#define PAIRS(a, w)                                                                                \
    (convert_int8((a).lo) * (int8)(as_short2(w).s0) +                                              \
     convert_int8((a).hi) * (int8)(as_short2(w).s1))
#endif
#else
#define AS_COLUMN(v) (v)
#endif

/* Transposes the block that begins with sample i of eight rows: a column has a lane for each row. */
inline void FN(columns)(__global const SRC *in, const int *rows, int width, int i,
                        __global COLUMN *to)
{
    SUM v[ROWS];
    if (i + LOADED <= width) {
        UNROLLED for (int r = 0; r < ROWS; r++)
            v[r] = LINE(*(__global const FN(samples) *)(in + rows[r] + i));
    } else {
        for (int r = 0; r < ROWS; r++) {
            SRC samples[LOADED];
            for (int k = 0; k < LOADED; k++)
                samples[k] = i + k < width ? in[rows[r] + i + k] : 0;
            v[r] = LINE(CAT(vload, LOADED)(0, samples));
        }
    }
    FN(turn)(v);
    UNROLLED for (int k = 0; k < COLUMNS; k++)
        to[k] = AS_COLUMN(v[PLACE(k)]);
}

/* The sums of one pixel of the result in eight rows, a vector for each channel. `columns` and `weights` are the pixel's
 * first ones. f32 products are added in blocks of 16, and the blocks by Kahan's compensated summation. */
#ifdef FIXED
#define WEIGHT int
inline void FN(sum)(__global const COLUMN *columns, __global const WEIGHT *weights, int count,
                    int8 *sums)
{
    int8 sum[CH];
    UNROLLED for (int c = 0; c < CH; c++)
        sum[c] = HALF;
    for (int k = 0; k < count; k++)
        UNROLLED for (int c = 0; c < CH; c++)
            sum[c] += PAIRS(columns[k * CH + c], weights[k]);
    UNROLLED for (int c = 0; c < CH; c++)
        sums[c] = sum[c] >> 8;
}
#else
#define WEIGHT float
inline void FN(sum)(__global const COLUMN *columns, __global const WEIGHT *weights, int count,
                    float8 *sums)
{
    float8 total[CH], lost[CH];
    UNROLLED for (int c = 0; c < CH; c++)
        total[c] = lost[c] = 0;
    for (int k = 0; k < count || k == 0; k += 16) {
        float8 block[CH];
        UNROLLED for (int c = 0; c < CH; c++)
            block[c] = 0;
        for (int i = k; i < min(k + 16, count); i++)
            UNROLLED for (int c = 0; c < CH; c++)
                block[c] += (float8)(weights[i]) * columns[i * CH + c];
        UNROLLED for (int c = 0; c < CH; c++) {
            float8 y = block[c] - lost[c], t = total[c] + y;
            lost[c] = (t - total[c]) - y;
            total[c] = t;
        }
    }
    UNROLLED for (int c = 0; c < CH; c++)
        sums[c * NEXT_CHANNEL] = total[c];
}
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(MIDDLE, middle),
                     __global COLUMN *restrict scratch, int capacity, int band, int width,
                     int height, int pixels, int pitch, __global const int *restrict table,
#if SUMS > CH
                     int fixed_at, int fixed_n, int fixed_taps,
#endif
                     int at, int n, int taps)
{
    int item = GRID_Y, end_row = min((item + 1) * band, height);
    if (item >= grid_y_end || SPAN_BEGIN >= grid_width)
        return;
    __global COLUMN *columns = scratch + item * capacity;
    for (int row = item * band; row < end_row; row += ROWS) {
        /* Scratch memory has columns base … done - 1. */
        int rows[ROWS], base = 0, done = 0;
        for (int r = 0; r < ROWS; r++)
            rows[r] = src_offset + min(row + r, height - 1) * src_stride;
        for (int x = 0; x < pixels; x += 8) {
            int last = min(x + 7, pixels - 1), begin = FIRST_TAP(at, n, x) * CH;
            int end = (FIRST_TAP(at, n, last) + TAP_COUNT(at, n, last)) * CH;
            if (begin >= done) {
                base = done = begin / COLUMNS * COLUMNS;
            } else if (end + COLUMNS > base + capacity) {
                for (int k = begin; k < done; k++)
                    columns[k - begin] = columns[k - base];
                base = begin;
            }
            for (; done < end; done += COLUMNS)
                FN(columns)(src_base, rows, width, done * PER_COLUMN, columns + done - base);
            SUM sums[8 * SUMS];
            for (int i = 0; i < 8; i++) {
                int pixel = min(x + i, pixels - 1), count = TAP_COUNT(at, n, pixel);
                int first = FIRST_TAP(at, n, pixel) * CH - base;
                FN(sum)(columns + first, (__global const WEIGHT *)WEIGHTS_AT(at, n) + pixel * taps,
                        count, sums + i * NEXT_PIXEL);
#if SUMS > CH
                /* Alpha, exact. */
                __global const short *fixed =
                    (__global const short *)WEIGHTS_AT(fixed_at, fixed_n) + pixel * fixed_taps;
                int8 alpha = 1 << 7;
                for (int k = 0; k < count; k++)
                    alpha += convert_int8(columns[first + k * CH + CH - 1]) * (int8)(fixed[k]);
                sums[i + CH * 8] = as_float8(alpha >> 8);
#endif
            }
            UNROLLED for (int c = 0; c < SUMS; c++) {
                __global MIDDLE *out = ROW(middle, row) + MIDDLE_AT(x, c);
                FN(turn)(sums + c * 8);
                UNROLLED for (int r = 0; r < ROWS; r++)
                    *(__global CAT(MIDDLE, 8) *)(out + r * middle_stride) =
                        CAT3(convert_, MIDDLE, 8)(sums[c * 8 + r]);
            }
        }
    }
}
