/* box for GPUs: sums along one axis, written transposed, so that the same kernel then sums along the other axis, and
 * neighbouring work-items read neighbouring samples both times.
 *
 * A lane is a line along the axis. The sample at position p of lane l is src[p * STEP + channel][l]; its result goes to
 * dst[l][p * STEP + channel]. Down columns a lane is a column of samples and STEP is 1. Along rows, from transposed sums,
 * a lane is a row and STEP is the number of channels. The grid counts lanes in x, and in y bands of positions, for each
 * of the channels in turn.
 *
 * KERNEL_blocks sums blocks of `block` positions, which speeds up long windows. KERNEL_windows sums windows, and at the end
 * computes means.
 *
 * Sums of integers are modulo 2^32 or 2^64; a window's sum fits. */
#include <border.cl>
#include <quotient.cl>
#include <types.cl>
#define CHANNEL   (GRID_Y % STEP)
#define BAND      (GRID_Y / STEP)
#define AT(p)     ROW(src, (p) * STEP + channel)[lane]
#define BLOCK_AT(b) ROW(blocks, (b) * STEP + channel)[lane]
#define SOURCE    PLANE_IN(SRC, src), PLANE_IN(ACC, blocks)
#define SOURCE_ARGUMENTS src_base, src_offset, src_stride, blocks_base, blocks_offset, blocks_stride

/* total + error += v, where error is the rounding error of floats (Knuth, The Art of Computer Programming 2, 4.2.2). */
#define ADD_EXACTLY(v)                                                                             \
    {                                                                                              \
        ACC added_ = (v), sum_ = total + added_, part_ = sum_ - total;                             \
        if (IS_REAL(ACC))                                                                          \
            error += (total - (sum_ - part_)) + (added_ - part_);                                  \
        total = sum_;                                                                              \
    }
#define TOTAL (error == error ? total + error : total) /* if the sum is infinite its error is NaN */

#pragma kernel windows
/* The sum of positions begin … end - 1, which are in the lane. */
inline ACC FN(sum_inside)(SOURCE, int lane, int channel, int begin, int end)
{
    ACC total = 0, error = 0;
    int first = (begin + BLOCK - 1) / BLOCK, last = end / BLOCK;
    if (HAS_BLOCKS && first < last) {
        for (; begin < first * BLOCK; begin++)
            ADD_EXACTLY((ACC)AT(begin))
        for (; first < last; first++)
            ADD_EXACTLY(BLOCK_AT(first))
        begin = last * BLOCK;
    }
    for (; begin < end; begin++)
        ADD_EXACTLY((ACC)AT(begin))
    return TOTAL;
}

/* The same for the bordered lane. */
inline ACC FN(sum_bordered)(SOURCE, int lane, int channel, int begin, int end, int length,
                            int border)
{
    int first, step, period = border_period(length, border);
    int whole = period ? (end - begin) / period : 0;
    ACC total = 0, error = 0, times = whole > 0 ? (ACC)whole : (ACC)1;
    /* A whole period of the border, times the number of periods, then what is left. */
    for (int p = begin, to = whole > 0 ? begin + period : end; p < end;) {
        int count = border_run(p, to, length, border, &first, &step);
        if (step == 0 && first >= 0)
            ADD_EXACTLY((ACC)AT(first) * (ACC)count * times)
        else if (step != 0)
            ADD_EXACTLY(times * FN(sum_inside)(SOURCE_ARGUMENTS, lane, channel, step > 0 ? first : first - count + 1,
                                               step > 0 ? first + count : first + 1))
        p += count;
        if (p == to && to < end) {
            p = begin + whole * period;
            to = end;
            times = 1;
        }
    }
    return TOTAL;
}
#pragma kernel

/* DO(k, digit) for each of RESULTS results, which one store writes: k is a decimal number, `digit` the same in
 * hexadecimal, as vectors name their lanes. */
#define EACH_2(DO)  DO(0, 0) DO(1, 1)
#define EACH_4(DO)  EACH_2(DO) DO(2, 2) DO(3, 3)
#define EACH_8(DO)  EACH_4(DO) DO(4, 4) DO(5, 5) DO(6, 6) DO(7, 7)
#define EACH_16(DO) EACH_8(DO) DO(8, 8) DO(9, 9) DO(10, a) DO(11, b) DO(12, c) DO(13, d) DO(14, e) DO(15, f)
#define BACK_2(DO)  DO(1, 1) DO(0, 0)
#define BACK_4(DO)  DO(3, 3) DO(2, 2) BACK_2(DO)
#define BACK_8(DO)  DO(7, 7) DO(6, 6) DO(5, 5) DO(4, 4) BACK_4(DO)
#define BACK_16(DO) DO(15, f) DO(14, e) DO(13, d) DO(12, c) DO(11, b) DO(10, a) DO(9, 9) DO(8, 8) BACK_8(DO)
#define EACH_RESULT    CAT(EACH_, RESULTS)
#define EACH_BACKWARDS CAT(BACK_, RESULTS)
#define RESULT_TYPE CAT(DST, RESULTS)

/* Writes the results r of positions p and following, as far as they are before `end`. WIDE: rows are aligned to whole
 * vectors. */
#define PUT_ONE(k, digit)                                                                          \
    if (p + k < end)                                                                               \
        to[(p + k) * STEP] = r.s##digit;
#define PUT_RESULTS                                                                                \
    if (WIDE && p + RESULTS <= end) {                                                              \
        *(__global RESULT_TYPE *)(to + p) = r;                                                     \
    } else {                                                                                       \
        EACH_RESULT(PUT_ONE)                                                                       \
    }

/* The result for the sum of a window. Sums of ulong take many registers on Mali, whose registers have 32 bits, so that a
 * core runs half the threads: see results_at_once in src/stage/box/box_sums.c. */
#if defined(MEANS) && defined(ACC_IS_float)
#define WINDOW_RESULT(sum) ((sum) / area)
#define FINISH_PARAMETERS , PLANE_IN(DST, original), int centre_x, int centre_y, float area
#elif defined(MEANS)
#define WINDOW_RESULT(sum) (DST)((int)CAT(floor_quotient_, ACC)((sum) + bias, area, factor) - LOWEST)
#define FINISH_PARAMETERS                                                                          \
    , PLANE_IN(DST, original), int centre_x, int centre_y, uint area, float factor, ACC bias
#else
#define WINDOW_RESULT(sum) (DST)(sum)
#define FINISH_PARAMETERS
#endif

#pragma kernel blocks
__kernel void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(ACC, dst), int length,
                     int block)
{
    POSITION(lane, y)
    int channel = CHANNEL;
    int begin = BAND * block, end = min(begin + block, length);
    ACC sum = 0;
    for (int p = begin; p < end; p++)
        sum += (ACC)AT(p);
    ROW(dst, y)[lane] = sum;
}

#pragma kernel windows
#ifdef ACC_IS_float
/* The results from p on whose windows lie inside the lane: see cl/box/box_float.cl for above, middle and below. 8 results
 * or more take so many registers that a Mali core runs half the threads, which is faster all the same: see
 * results_at_once in src/stage/box/box_sums.c. */
#define SUM_ABOVE(k, digit)                                                                        \
    r.s##digit = run;                                                                              \
    if (k > 0)                                                                                     \
        run += AT(p - before + k - 1);
#define SUM_ALL(k, digit)                                                                          \
    r.s##digit = WINDOW_RESULT(r.s##digit + (middle + run));                                              \
    run += AT(p + k + after + 1);
#define RESULTS_INSIDE                                                                             \
    ACC run = 0, middle = FN(sum_inside)(SOURCE_ARGUMENTS, lane, channel,                          \
                                         p - before + RESULTS - 1, p + after + 1);                 \
    EACH_BACKWARDS(SUM_ABOVE)                                                                      \
    run = 0;                                                                                       \
    EACH_RESULT(SUM_ALL)
#define RESULT_ANYWHERE(p)                                                                         \
    WINDOW_RESULT(FN(sum_bordered)(SOURCE_ARGUMENTS, lane, channel, (p) - before, (p) + after + 1,        \
                            length, border))

#else
/* Each window's sum is the one before plus a sample minus a sample. */
#define SLIDE(k, digit)                                                                            \
    r.s##digit = WINDOW_RESULT(sum);                                                                      \
    sum += (ACC)AT(p + k + after + 1) - (ACC)AT(p + k - before);
#define RESULTS_INSIDE EACH_RESULT(SLIDE)
#define RESULT_ANYWHERE(p)                                                                         \
    WINDOW_RESULT(sum);                                                                                   \
    sum += SAMPLE_ANYWHERE((p) + after + 1) - SAMPLE_ANYWHERE((p) - before)
#define SAMPLE_ANYWHERE(p)                                                                         \
    FN(sample)(src_base, src_offset, src_stride, lane, channel, p, length, border)
inline ACC FN(sample)(PLANE_IN(SRC, src), int lane, int channel, int p, int length, int border)
{
    int i = border_index(p, length, border);
    return i < 0 ? (ACC)0 : (ACC)AT(i);
}
#endif

/* A window has `before` positions in front of its middle and `after` behind it. `band` is the number of a work-item's
 * results, a multiple of RESULTS. */
__kernel void KERNEL(GRID, SOURCE, PLANE_OUT(DST, dst), int length, int out_length, int before,
                     int after, int border, int band FINISH_PARAMETERS)
{
    POSITION(lane, y)
    int channel = CHANNEL;
    __global DST *to = ROW(dst, lane) + channel;
    int p = BAND * band, end = min(p + band, out_length);
#if defined(MEANS) && ALPHA
    if (channel == STEP - 1) {
        __global const DST *from = ROW(original, lane + centre_y) + centre_x * STEP + channel;
        for (; p < end; p++)
            to[p * STEP] = from[p * STEP];
        return;
    }
#endif
#ifndef ACC_IS_float
    ACC sum = FN(sum_bordered)(SOURCE_ARGUMENTS, lane, channel, p - before, p + after + 1, length,
                               border);
#endif
    for (; p < end; p += RESULTS) {
        if (p >= before && p + RESULTS + after < length) {
            RESULT_TYPE r;
            RESULTS_INSIDE
            PUT_RESULTS
        } else {
            for (int q = p; q < min(p + RESULTS, end); q++) {
                to[q * STEP] = RESULT_ANYWHERE(q);
            }
        }
    }
}
