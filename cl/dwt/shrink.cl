/* shrink: computes thresholds for wavelet coefficients, and applies them.
 *
 * The median of |HH1| is found by radix selection, 8 bits at a time, for the two ranks in the middle. KERNEL_count counts
 * how often each value of the next 8 bits occurs among the keys that begin with the bits found so far (the prefix);
 * KERNEL_pick appends the value in which the rank falls. Keys are the bits of the magnitudes, which compare like them.
 *
 * The first row of `state` holds, for each channel, two prefixes and two ranks, as KEY; then there are, for each channel,
 * rank and part, rows of 256 counts. In the rows form a work-item counts a whole band of rows in counts of its own; in
 * the other forms a column of a band, in counts that it shares with others.
 *
 * WORK is float or double, SRC the coefficients' type, C the number of channels. */
#include <round.cl>
#ifdef WORK_IS_double
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#ifdef SRC_IS_double
#define KEY            ulong
#define KEY_OF(v)      (as_ulong(v) & 0x7fffffffffffffffUL)
#define MAGNITUDE(key) as_double(key)
#elif defined(SRC_IS_float)
#define KEY            uint
#define KEY_OF(v)      (as_uint(v) & 0x7fffffffu)
#define MAGNITUDE(key) as_float(key)
#else
#define KEY            uint
#define KEY_OF(v)      abs(v)
#define MAGNITUDE(key) ((WORK)(key))
#endif

#define STATE(c, i)        (((__global KEY *)ROW(state, 0))[(c) * 4 + (i)])
#define PREFIX             0
#define RANK               2
#define COUNTS(c, w, part) ROW(state, 1 + ((c) * 2 + (w)) * parts + (part))

#if defined(KERNEL_clear)
__kernel void KERNEL(GRID, PLANE_OUT(int, state), int samples)
{
    POSITION(x, y)
    for (int end = SPAN_END(x); x < end; x++) {
        if (y > 0) {
            ROW(state, y)[x] = 0;
        } else if (x < 4 * C) { /* the two middle ranks, which are equal for an odd count */
            int i = x % 4;
            STATE(x / 4, i) = i < RANK ? 0 : i == RANK ? (samples - 1) / 2 : samples / 2;
        }
    }
}

#elif defined(KERNEL_count)
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(int, state), int rows, int height,
                     int parts, int shift)
{
    POSITION(begin, band)
#ifdef FORM_ROWS
    for (int y = band * rows; y < min(band * rows + rows, height); y++) {
        __global const SRC *in = ROW(src, y);
        for (int x = begin; x < SPAN_END(begin); x++) {
            int c = x % C;
            KEY key = KEY_OF(in[x]) >> shift;
            int digit = (int)(key & 255);
            KEY a = STATE(c, PREFIX), b = STATE(c, PREFIX + 1);
            COUNTS(c, 0, band)[digit] += key >> 8 == a;
            COUNTS(c, 1, band)[digit] += a != b && key >> 8 == b;
        }
    }
#else
    int c = begin % C;
    KEY a = STATE(c, PREFIX), b = STATE(c, PREFIX + 1);
    for (int y = band * rows; y < min(band * rows + rows, height); y++) {
        KEY key = KEY_OF(ROW(src, y)[begin]) >> shift;
        int digit = (int)(key & 255);
        if (key >> 8 == a)
            atomic_inc(COUNTS(c, 0, band % parts) + digit);
        else if (key >> 8 == b)
            atomic_inc(COUNTS(c, 1, band % parts) + digit);
    }
#endif
}

#elif defined(KERNEL_pick)
/* The grid counts channels. Clears the counts for the next 8 bits. */
__kernel void KERNEL(GRID, PLANE_OUT(int, state), int parts)
{
    int c = SPAN_BEGIN;
    IN_GRID(c, GRID_Y)
    KEY prefix[2] = {STATE(c, PREFIX), STATE(c, PREFIX + 1)};
    for (int w = 0; w < 2; w++) {
        int from = prefix[0] == prefix[1] ? 0 : w;
        long rank = (long)STATE(c, RANK + w);
        int digit = 0;
        for (; digit < 255; digit++) {
            int count = 0;
            for (int part = 0; part < parts; part++)
                count += COUNTS(c, from, part)[digit];
            if (rank < count)
                break;
            rank -= count;
        }
        STATE(c, RANK + w) = (KEY)rank;
        STATE(c, PREFIX + w) = prefix[w] << 8 | (KEY)digit;
    }
    for (int part = 0; part < 2 * parts; part++)
        for (int i = 0; i < 256; i++)
            COUNTS(c, 0, part)[i] = 0;
}

#elif defined(KERNEL_squares) || defined(KERNEL_gather) || defined(KERNEL_limit)
/* Adds v to a sum in two parts, the second of which is the rounding error of the first (Knuth, The Art of Computer
 * Programming 2, 4.2.2, theorem B). */
inline CAT(WORK, 2) FN(add)(CAT(WORK, 2) sum, WORK v)
{
    WORK s = sum.x + v, back = s - sum.x;
    return (CAT(WORK, 2))(s, sum.y + ((sum.x - (s - back)) + (v - back)));
}
#define TWO(p) (*(__global const CAT(WORK, 2) *)(p))
#endif

#if defined(KERNEL_squares)
/* Sums of squares over bands of rows: in the rows form one for each channel, in other forms one for each column. */
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(WORK, sums), int rows, int height)
{
    POSITION(x, band)
    int until = min(band * rows + rows, height);
    __global CAT(WORK, 2) *to = (__global CAT(WORK, 2) *)ROW(sums, band);
#ifdef FORM_ROWS
    for (int c = 0; c < C; c++) {
        CAT(WORK, 2) sum = 0;
        for (int y = band * rows; y < until; y++) {
            __global const SRC *in = ROW(src, y) + c;
            CAT(WORK, 16) lanes = 0;
            int i = 0;
            for (; i + 16 * C <= grid_width; i += 16 * C) {
                CAT(WORK, 16) v = (CAT(WORK, 16))(
                    in[i], in[i + C], in[i + 2 * C], in[i + 3 * C], in[i + 4 * C], in[i + 5 * C],
                    in[i + 6 * C], in[i + 7 * C], in[i + 8 * C], in[i + 9 * C], in[i + 10 * C],
                    in[i + 11 * C], in[i + 12 * C], in[i + 13 * C], in[i + 14 * C],
                    in[i + 15 * C]);
                lanes += v * v;
            }
            WORK row[16], rest = 0;
            vstore16(lanes, 0, row);
            for (; i + c < grid_width; i += C)
                rest += (WORK)in[i] * (WORK)in[i];
            for (int k = 0; k < 16; k++)
                sum = FN(add)(sum, row[k]);
            sum = FN(add)(sum, rest);
        }
        to[c] = sum;
    }
#else
    CAT(WORK, 2) sum = 0;
    for (int y = band * rows; y < until; y++) {
        WORK v = (WORK)ROW(src, y)[x];
        sum = FN(add)(sum, v * v);
    }
    to[x] = sum;
#endif
}

#elif defined(KERNEL_gather)
/* Adds the columns' sums up, for each channel. The grid counts channels, and bands of rows. */
__kernel void KERNEL(GRID, PLANE_IN(WORK, columns), PLANE_OUT(WORK, sums), int width)
{
    POSITION(c, band)
    __global const CAT(WORK, 2) *in = (__global const CAT(WORK, 2) *)ROW(columns, band);
    CAT(WORK, 2) sum = 0;
    for (int x = 0; x < width; x++)
        sum = FN(add)(FN(add)(sum, in[x * C + c].x), in[x * C + c].y);
    ((__global CAT(WORK, 2) *)ROW(sums, band))[c] = sum;
}

#elif defined(KERNEL_limit)
/* The threshold of a band, one for each channel; the grid counts channels. The median times `factor` is σ, in the band's
 * units, or with UNIVERSAL the threshold itself. */
__kernel void KERNEL(GRID, PLANE_IN(int, state), PLANE_IN(WORK, sums), PLANE_OUT(WORK, limits),
                     int bands, WORK samples, WORK factor)
{
    int c = SPAN_BEGIN;
    IN_GRID(c, GRID_Y)
    __global const KEY *found = (__global const KEY *)ROW(state, 0) + 4 * c;
    WORK median = (MAGNITUDE(found[PREFIX]) + MAGNITUDE(found[PREFIX + 1])) * (WORK)0.5f;
    WORK sigma = median * factor;
#ifdef UNIVERSAL
    ROW(limits, 0)[c] = sigma;
#else
    CAT(WORK, 2) sum = 0;
    for (int band = 0; band < bands; band++) {
        CAT(WORK, 2) part = ((__global const CAT(WORK, 2) *)ROW(sums, band))[c];
        sum = FN(add)(FN(add)(sum, part.x), part.y);
    }
    WORK variance = (sum.x + sum.y) / samples - sigma * sigma;
    ROW(limits, 0)[c] = sigma == 0 ? 0 : variance > 0 ? sigma * sigma / sqrt(variance) : INFINITY;
#endif
}

#elif defined(KERNEL_copy)
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst))
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global SRC *out = ROW(dst, y);
#if SPAN == 4
    if (x + 4 <= grid_width) {
        *(__global CAT(SRC, 4) *)(out + x) = *(__global const CAT(SRC, 4) *)(in + x);
        return;
    }
#endif
    for (int end = SPAN_END(x); x < end; x++)
        out[x] = in[x];
}

#elif defined(KERNEL_soft) || defined(KERNEL_hard) || defined(KERNEL_garrote)
inline WORK FN(rule)(WORK v, WORK t)
{
    WORK size = fabs(v);
#if defined(KERNEL_hard)
    return size < t ? 0 : v;
#elif defined(KERNEL_soft)
    return size <= t ? 0 : copysign(size - t, v);
#else
    return size <= t ? 0 : v - t * t / v;
#endif
}

#ifdef SRC_IS_int
#define TO_SAMPLE(v) saturate_int(v)
#else
#define TO_SAMPLE(v) (v)
#endif

__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(SRC, dst),
                     __global const WORK *restrict all_limits, int first)
{
    POSITION(x, y)
    __global const SRC *in = ROW(src, y);
    __global SRC *out = ROW(dst, y);
    __global const WORK *limits = all_limits + first;
#if C == 1
    WORK limit = limits[0];
#define LIMIT limit
#else
#define LIMIT limits[x % C]
#endif
#if SPAN == 4
#define RULED(lane) TO_SAMPLE(FN(rule)((WORK)v.lane, LIMIT))
    if (x + 4 <= grid_width) {
        CAT(SRC, 4) v = *(__global const CAT(SRC, 4) *)(in + x);
        *(__global CAT(SRC, 4) *)(out + x) =
            (CAT(SRC, 4))(RULED(x), RULED(y), RULED(z), RULED(w));
        return;
    }
#endif
    for (int end = SPAN_END(x); x < end; x++)
        out[x] = TO_SAMPLE(FN(rule)((WORK)in[x], LIMIT));
}
#endif
