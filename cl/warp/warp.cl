/* Pixels of the result from those around their places in the picture (src/stage/warp/warp.h): a place is known at nodes,
 * and lies on lines in between. TAPS pixels each way are weighted: 2 by 2^-8ths, or 4 by Keys' cubic in 2^-14ths. The grid
 * counts groups of AT_ONCE pixels of a row on GPUs, and tiles of SPAN by TILE_ROWS pixels on CPUs.
 *
 * The table has, from index `at` on, the background's samples, and then the nodes: u and v of each, in 2^-8ths of a pixel,
 * row by row. */
#include <border.cl>
#include <memory.cl>
#include <types.cl>

#define NOWHERE INT_MIN
#define FAR     (-((1 << 26) - 1))
#define FIRST_TAP (TAPS / 2 - 1) /* pixels in front of a place that take part, beside the one that is left of it */
#define OUTSIDE (-2)             /* for an index: the background */
#define WITH_ALPHA (CH == 2 || CH == 4)
#define MOST       (sizeof(SRC) == 1 ? 255 : 65535)

/* A PIXEL is loaded at once; three samples as four, so the next pixel must be inside, too. */
typedef PIXEL __attribute__((aligned(sizeof(SRC)))) FN(pixel_at);

/* Of integers, sums of two taps each way may be up to 2^32, those of four be negative: SUM is uint or int. Bits that sums
 * along rows lose, and those of both directions. */
#define SUMS        CAT(SUM, 16)
#define TO_SUMS     CAT3(convert_, SUM, 16)
#define MIDDLE_BITS (TAPS == 2 ? 0 : sizeof(SRC) == 1 ? 8 : 14)
#define END_BITS    (TAPS == 2 ? 16 : sizeof(SRC) == 1 ? 20 : 14)

/* Of a cell: the place of its first pixel in row y, and how much further that of the next cell's is. */
inline int4 FN(line)(__global const int *nodes, int columns, int shift, int cell, int y)
{
    __global const int *top = nodes + 2 * ((y >> shift) * (columns + 1) + cell), *below = top + 2 * (columns + 1);
    int4 a = vload4(0, top), b = vload4(0, below);
    int part = y & ((1 << shift) - 1), half_up = (1 << shift) >> 1;
    if (a.s0 == NOWHERE || a.s2 == NOWHERE || b.s0 == NOWHERE || b.s2 == NOWHERE)
        return (int4)(FAR, FAR, 0, 0);
    a = a + (((b - a) * part + half_up) >> shift);
    return (int4)(a.s0, a.s1, a.s2 - a.s0, a.s3 - a.s1);
}

/* The weights of the pixels around a place with fraction f, a number of 2^-8ths. */
#define WEIGH(w, f)                                                                                \
    {                                                                                              \
        if (TAPS == 2) {                                                                           \
            w[0] = 256 - (f);                                                                      \
            w[1] = (f);                                                                            \
        } else if (IS_REAL(SRC)) {                                                                 \
            w[0] = 3 * (f) * ((f) * (512 - (f)) - 65536);                                          \
            w[1] = (f) * (f) * (5 * (f) - 2304) + 67108864;                                        \
            w[TAPS - 2] = (f) * ((f) * (1536 - 5 * (f)) + 196608);                                 \
            w[TAPS - 1] = 3 * (f) * (f) * ((f) - 256);                                             \
        } else {                                                                                   \
            w[0] = (3 * (f) * ((f) * (512 - (f)) - 65536) + 2048) >> 12;                           \
            w[TAPS - 2] = ((f) * ((f) * (1536 - 5 * (f)) + 196608) + 2048) >> 12;                  \
            w[TAPS - 1] = (3 * (f) * (f) * ((f) - 256) + 2048) >> 12;                              \
            w[1] = 16384 - w[0] - w[TAPS - 2] - w[TAPS - 1];                                       \
        }                                                                                          \
    }
#define WEIGHT_ONE (TAPS == 2 ? 256.0f : 67108864.0f)

/* The column or row that stands at i; OUTSIDE: the background. */
inline int FN(index)(int i, int n, int border)
{
    if (i >= 0 && i < n)
        return i;
    return border < 0 ? OUTSIDE : border_index(i, n, border);
}

#define PICTURE           PLANE_IN(SRC, src), int width, int height, __global const int *table, int at, int border
#define GIVEN_PICTURE     src_base, src_offset, src_stride, width, height, table, at, border

inline SRC FN(background)(__global const int *table, int at, int c)
{
    return IS_REAL(SRC) ? (SRC)as_float(table[at + c]) : (SRC)table[at + c];
}

inline SRC FN(sample)(PICTURE, int x, int y, int c)
{
    if (x < 0 || y < 0)
        return x == OUTSIDE || y == OUTSIDE ? FN(background)(table, at, c) : (SRC)0;
    return ROW(src, y)[x * CH + c];
}

/* Of 16 pixels with alpha Mali's registers hold no more than a row of taps at a time. Its compiler unrolls a loop whose
 * count it knows, so that is one that it does not: there is no picture without columns. On CPUs such a loop is faster where
 * alpha is a weight (by 18 %; of two taps slower, by 15 %). */
#if TAPS == 4 && CH % 2 == 0
#define WEIGHED_ROW ROLLED
#else
#define WEIGHED_ROW UNROLLED
#endif
#pragma form ROWS
#define EACH_ROW     UNROLLED
#define TAP_ROWS     TAPS
#define OF_TAP(v, j) v[j]
#pragma form VECTOR SCALAR
#define EACH_ROW WEIGHED_ROW
#define TAP_ROWS (TAPS < 4 || CH % 2 || width > 0 ? TAPS : 0)
/* v[j] of TAPS values in registers, which cannot be looked up by a number. */
#define OF_TAP(v, j) ((j) == 0 ? v[0] : TAPS == 2 || (j) == 1 ? v[1] : (j) == 2 ? v[TAPS - 2] : v[TAPS - 1])
#pragma form

/* The pixel at a place, wherever that is. */
inline void FN(pixel)(PICTURE, __global SRC *out, int u, int v)
{
    int xs[TAPS], ys[TAPS], wx[TAPS], wy[TAPS];
    WEIGH(wx, u & 255)
    WEIGH(wy, v & 255)
    UNROLLED for (int k = 0; k < TAPS; k++) {
        xs[k] = FN(index)((u >> 8) - FIRST_TAP + k, width, border);
        ys[k] = FN(index)((v >> 8) - FIRST_TAP + k, height, border);
    }
    int even = 1;
    if (WITH_ALPHA) {
        SRC first = FN(sample)(GIVEN_PICTURE, xs[0], ys[0], CH - 1);
        EACH_ROW for (int j = 0; j < TAP_ROWS; j++)
            UNROLLED for (int i = 0; i < TAPS; i++)
                even &= FN(sample)(GIVEN_PICTURE, xs[i], OF_TAP(ys, j), CH - 1) == first;
    }
    UNROLLED for (int c = 0; c < CH; c++) {
        if (WITH_ALPHA && !even && c < CH - 1) { /* colours are weighted by alpha, too */
            SHARE sum = 0, share = 0, w;
            WEIGHED_ROW for (int j = 0; j < TAP_ROWS; j++)
                UNROLLED for (int i = 0; i < TAPS; i++) {
                    SRC alpha = FN(sample)(GIVEN_PICTURE, xs[i], OF_TAP(ys, j), CH - 1);
                    if (IS_REAL(SRC))
                        w = (float)OF_TAP(wy, j) * (float)wx[i] * alpha;
                    else
                        w = (long)(OF_TAP(wy, j) * wx[i]) * (int)alpha;
                    sum += w * FN(sample)(GIVEN_PICTURE, xs[i], OF_TAP(ys, j), c);
                    share += w;
                }
            if (IS_REAL(SRC))
                out[c] = share > 0 ? sum / share : 0;
            else
                out[c] = share <= 0 || sum <= 0 ? 0 : (SRC)min((sum + share / 2) / share, (SHARE)MOST);
        } else if (IS_REAL(SRC)) {
            float sum = 0;
            EACH_ROW for (int j = 0; j < TAP_ROWS; j++) {
                float row = 0;
                UNROLLED for (int i = 0; i < TAPS; i++)
                    row += (float)wx[i] * (1 / WEIGHT_ONE) * FN(sample)(GIVEN_PICTURE, xs[i], OF_TAP(ys, j), c);
                sum += (float)OF_TAP(wy, j) * (1 / WEIGHT_ONE) * row;
            }
            out[c] = sum;
        } else if (TAPS == 2) {
            uint rows[2];
            UNROLLED for (int j = 0; j < 2; j++)
                rows[j] = (uint)wx[0] * (uint)FN(sample)(GIVEN_PICTURE, xs[0], ys[j], c) +
                          (uint)wx[1] * (uint)FN(sample)(GIVEN_PICTURE, xs[1], ys[j], c);
            out[c] = (SRC)(((uint)wy[0] * rows[0] + (uint)wy[1] * rows[1] + 32768u) >> 16);
        } else {
            int sum = 1 << (END_BITS - 1);
            EACH_ROW for (int j = 0; j < TAP_ROWS; j++) {
                int row = MIDDLE_BITS ? 1 << (MIDDLE_BITS - 1) : 0;
                UNROLLED for (int i = 0; i < TAPS; i++)
                    row += wx[i] * (int)FN(sample)(GIVEN_PICTURE, xs[i], OF_TAP(ys, j), c);
                sum += OF_TAP(wy, j) * (row >> MIDDLE_BITS);
            }
            out[c] = (SRC)clamp(sum >> END_BITS, 0, MOST);
        }
    }
}

#pragma form ROWS
/* 16 pixels at a time. Lanes of vector j of CH that hold the pixels' samples: for each the value of its pixel. */
#define OF_PIXELS(j, v)                                                                            \
    (CH == 1   ? (v)                                                                               \
     : CH == 2 ? ((j) == 0 ? (v).s0011223344556677 : (v).s8899aabbccddeeff)                        \
     : CH == 3 ? ((j) == 0 ? (v).s0001112223334445 : (j) == 1 ? (v).s55666777888999aa : (v).sabbbcccdddeeefff) \
               : ((j) == 0   ? (v).s0000111122223333                                               \
                  : (j) == 1 ? (v).s4444555566667777                                               \
                  : (j) == 2 ? (v).s88889999aaaabbbb                                               \
                             : (v).sccccddddeeeeffff))

/* Copies of a pixel at each of the 16 places, one after the other. */
inline void FN(gather)(SRC *to, __global const SRC *from, const int *places)
{
    UNROLLED for (int k = 0; k < 16; k++)
        *(FN(pixel_at) *)(to + k * CH) = *(__global const FN(pixel_at) *)(from + places[k]);
}

/* Of one channel of integers, the taps of a row are loaded at once, as one number. */
#ifdef TAP_ROW
typedef TAP_ROW __attribute__((aligned(sizeof(SRC)))) FN(tap_row);
#define TAP_BITS (8 * sizeof(SRC))
#define TAP(j, i, c) (rows_of[j] >> (TAP_ROW)((i) * TAP_BITS) & (TAP_ROW)((1 << TAP_BITS) - 1))
#else
#define TAP(j, i, c) vload16(c, taps[(j) * TAPS + (i)])
#endif
#if defined(TAP_ROW) && defined(NATIVE) && defined(__AVX512F__) && defined(SRC_IS_uchar) /* 16 words by one instruction */
#define LOAD_ROWS(row, p)                                                                          \
    row = CAT3(convert_, TAP_ROW, 16)(                                                             \
        __builtin_ia32_gathersiv16si((int16)0, (const void *)(size_t)(p), at_16, (ushort)65535, 1));
#define LOADED_BEHIND (4 - TAPS) /* of a place, what loads take behind its taps */
#else
#define LOAD_ROWS(row, p)                                                                          \
    UNROLLED for (int k = 0; k < 16; k++)                                                          \
        ((TAP_ROW *)&row)[k] = *(__global const FN(tap_row) *)((p) + places[k]);
#define LOADED_BEHIND (CH == 3)
#endif

/* All taps of which are inside. False, and nothing done: alpha differs, so that it is a weight. */
inline int FN(inside)(PICTURE, __global SRC *out, int16 u, int16 v)
{
    int places[16];
    __global const SRC *in = src_base + src_offset - FIRST_TAP * (src_stride + CH);
    int16 fx = u & 255, fy = v & 255, at_16 = (v >> 8) * src_stride + (u >> 8) * CH;
    vstore16(at_16, 0, places);
    SRC taps[TAPS * TAPS][16 * CH + 4];
#ifdef TAP_ROW
    CAT(TAP_ROW, 16) rows_of[TAPS];
    UNROLLED for (int j = 0; j < TAPS; j++) {
        LOAD_ROWS(rows_of[j], in + j * src_stride)
    }
#else
    UNROLLED for (int j = 0; j < TAPS; j++)
        UNROLLED for (int i = 0; i < TAPS; i++)
            FN(gather)(taps[j * TAPS + i], in + j * src_stride + i * CH, places);
#endif
    if (WITH_ALPHA) {
        CAT(DIFFERENT, 16) differ = 0;
        UNROLLED for (int c = 0; c < CH; c++)
            UNROLLED for (int k = 1; k < TAPS * TAPS; k++)
                differ |= vload16(c, taps[k]) != vload16(c, taps[0]);
        CAT(DIFFERENT, 8) odd = differ.odd;
        CAT(DIFFERENT, 4) alpha = CH == 2 ? odd.even | odd.odd : odd.odd;
        if (alpha.s0 | alpha.s1 | alpha.s2 | alpha.s3)
            return 0;
    }
    int16 wx[TAPS], wy[TAPS];
    WEIGH(wx, fx)
    WEIGH(wy, fy)
    UNROLLED for (int c = 0; c < CH; c++) {
        if (IS_REAL(SRC)) {
            float16 sum = 0;
            UNROLLED for (int j = 0; j < TAPS; j++) {
                float16 row = 0;
                UNROLLED for (int i = 0; i < TAPS; i++)
                    row += convert_float16(OF_PIXELS(c, wx[i])) * (1 / WEIGHT_ONE) * convert_float16(TAP(j, i, c));
                sum += convert_float16(OF_PIXELS(c, wy[j])) * (1 / WEIGHT_ONE) * row;
            }
            vstore16(CAT3(convert_, SRC, 16)(sum), c, out);
        } else if (TAPS == 2 && sizeof(SRC) == 1) {
            /* Less 2^15, sums along rows are numbers of 16 bits with a sign, whose products are cheapest. */
            int16 sum = (256 + 1) << 15;
            UNROLLED for (int j = 0; j < 2; j++) {
                ushort16 row = convert_ushort16(OF_PIXELS(c, wx[0])) * convert_ushort16(TAP(j, 0, c)) +
                               convert_ushort16(OF_PIXELS(c, wx[1])) * convert_ushort16(TAP(j, 1, c));
                sum += convert_int16(convert_short16(OF_PIXELS(c, wy[j]))) * convert_int16(as_short16(row ^ (ushort)32768));
            }
            vstore16(CAT3(convert_, SRC, 16)(sum >> 16), c, out);
        } else {
            SUMS sum = (SUM)1 << (END_BITS - 1);
            UNROLLED for (int j = 0; j < TAPS; j++) {
                SUMS row = MIDDLE_BITS ? (SUM)1 << (MIDDLE_BITS - 1) : (SUM)0;
                UNROLLED for (int i = 0; i < TAPS; i++)
                    row += TO_SUMS(OF_PIXELS(c, wx[i])) * TO_SUMS(TAP(j, i, c));
                sum += TO_SUMS(OF_PIXELS(c, wy[j])) * (row >> (SUM)MIDDLE_BITS);
            }
            sum >>= (SUM)END_BITS;
            vstore16(CAT3(convert_, SRC, 16)(TAPS == 2 ? sum : clamp(sum, (SUMS)0, (SUMS)MOST)), c, out);
        }
    }
    return 1;
}
#pragma form

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst), int width, int height, int out_width, int out_height,
                     __global const int *table, int at, int columns, int shift, int border)
{
    __global const int *nodes = table + at + 4;
    int mask = (1 << shift) - 1, half_up = (1 << shift) >> 1;
#pragma form ROWS
    int begin = SPAN_BEGIN, y = GRID_Y * TILE_ROWS;
    IN_GRID(begin, GRID_Y)
    int end = SPAN_END(begin), end_y = min(y + TILE_ROWS, out_height);
    /* from the first to the last place whose taps are all inside */
    int least = FIRST_TAP, most_x = width - TAPS + FIRST_TAP - LOADED_BEHIND, most_y = height - TAPS + FIRST_TAP;
    int16 lanes = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (; y < end_y; y++) {
        __global SRC *out = ROW(dst, y);
        for (int x = begin; x < end; x += 16) {
            int16 u, v;
            int n = min(16, end - x), left, right, top, below;
            int4 line = FN(line)(nodes, columns, shift, x >> shift, y), last = line + ((line.zwzw * mask + half_up) >> shift);
            left = min(line.s0, last.s0), right = max(line.s0, last.s0);
            top = min(line.s1, last.s1), below = max(line.s1, last.s1);
            if (shift == 4) {
                u = line.s0 + ((lanes * line.s2 + 8) >> 4);
                v = line.s1 + ((lanes * line.s3 + 8) >> 4);
            } else {
                int16 begins_u = line.s0, begins_v = line.s1, steps_u = line.s2, steps_v = line.s3;
                for (int k = 1 << shift; k < n; k += 1 << shift) {
                    int16 behind = lanes >= k;
                    line = FN(line)(nodes, columns, shift, (x + k) >> shift, y);
                    last = line + ((line.zwzw * mask + half_up) >> shift);
                    left = min(left, min(line.s0, last.s0)), right = max(right, max(line.s0, last.s0));
                    top = min(top, min(line.s1, last.s1)), below = max(below, max(line.s1, last.s1));
                    begins_u = (begins_u & ~behind) | (line.s0 & behind), begins_v = (begins_v & ~behind) | (line.s1 & behind);
                    steps_u = (steps_u & ~behind) | (line.s2 & behind), steps_v = (steps_v & ~behind) | (line.s3 & behind);
                }
                u = begins_u + ((steps_u * (lanes & mask) + half_up) >> shift);
                v = begins_v + ((steps_v * (lanes & mask) + half_up) >> shift);
            }
            left >>= 8, right >>= 8, top >>= 8, below >>= 8;
            if (n == 16 && left >= least && top >= least && right <= most_x && below <= most_y &&
                FN(inside)(GIVEN_PICTURE, out + x * CH, u, v))
                continue;
            if (border < 0 && (right < FIRST_TAP - TAPS + 1 || below < FIRST_TAP - TAPS + 1 || left >= width + FIRST_TAP ||
                               top >= height + FIRST_TAP)) {
                for (int k = 0; k < n * CH; k++)
                    out[x * CH + k] = FN(background)(table, at, k % CH);
                continue;
            }
            int us[16], vs[16];
            vstore16(u, 0, us);
            vstore16(v, 0, vs);
            for (int k = 0; k < n; k++)
                FN(pixel)(GIVEN_PICTURE, out + (x + k) * CH, us[k], vs[k]);
        }
    }
#pragma form VECTOR SCALAR
    int y = GRID_Y, x = SPAN_BEGIN * AT_ONCE;
    IN_GRID(SPAN_BEGIN, y)
    int4 line;
    UNROLLED for (int k = 0; k < AT_ONCE; k++, x++) {
        int part = x & mask;
        if (x >= out_width)
            return;
        if (k == 0 || part == 0)
            line = FN(line)(nodes, columns, shift, x >> shift, y);
        FN(pixel)(GIVEN_PICTURE, ROW(dst, y) + x * CH, line.s0 + ((line.s2 * part + half_up) >> shift),
                  line.s1 + ((line.s3 * part + half_up) >> shift));
    }
#pragma form
}
