/* Weights of the filters, in double. Sources of the formulas: R. G. Keys, "Cubic convolution
 * interpolation for digital image processing", 1981 (a = −1/2); C. E. Duchon, "Lanczos filtering in
 * one and two dimensions", 1979. */
#include "stage/resize/resize.h"

#include <math.h>
#include <stdlib.h>

static double sinc(double t)
{
    return t == 0 ? 1 : sin(M_PI * t) / (M_PI * t);
}

static double keys(double t)
{
    const double a = -0.5;
    t = fabs(t);
    return t <= 1 ? ((a + 2) * t - (a + 3)) * t * t + 1 : ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
}

static double radius_of(enum resize_filter filter)
{
    return filter == RESIZE_BILINEAR ? 1 : filter == RESIZE_BICUBIC ? 2 : 3;
}

/* The samples of the source for one of the scaled picture. */
static double step_of(const struct resize_axis *axis)
{
    return (double)axis->whole / ((double)axis->unit * axis->to);
}

/* The position of sample x of the scaled picture among the source's samples. */
static double centre(const struct resize_axis *axis, uint32_t x)
{
    int64_t unit = axis->unit, to = axis->to;
    int64_t twice = (2 * (int64_t)x + 1) * axis->whole + 2 * to * axis->lead - unit * to;
    return (double)twice / (2.0 * (double)(unit * to));
}

/* The part of source sample i that the picture covers, from `low` to `high`; the sample itself is
 * i − 1/2 to i + 1/2. Only the outermost samples of a reduced picture are covered in part. */
static void cover(const struct resize_axis *axis, double i, double *low, double *high)
{
    double begin = (double)axis->lead / axis->unit, end = begin + (double)axis->whole / axis->unit;
    *low = fmax(i, begin) - 0.5;
    *high = fmin(i + 1, end) - 0.5;
}

/* The weight of source sample i before weights are scaled to the sum 1; 0: the sample is left out.
 */
static double weight_at(const struct resize_axis *axis, double u, double i)
{
    double f = step_of(axis), s = f > 1 ? f : 1, low, high;
    cover(axis, i, &low, &high);
    double distance = (low + high) / 2 - u, t = distance / s, part = high - low;
    if (axis->filter == RESIZE_AREA)
        return fmax(0, fmin(high, u + f / 2) - fmax(low, u - f / 2));
    if (fabs(distance) >= radius_of(axis->filter) * s)
        return 0;
    if (axis->filter == RESIZE_BILINEAR)
        return part * (1 - fabs(t));
    return part * (axis->filter == RESIZE_BICUBIC ? keys(t) : sinc(t) * sinc(t / 3));
}

bool resize_axis_moves(const struct resize_axis *axis)
{
    return axis->filter == RESIZE_NEAREST || (axis->unit == 1 && axis->from == axis->to) ||
           (axis->filter == RESIZE_AREA && step_of(axis) < 1);
}

/* The source samples from which sample x of the scaled picture is computed, from `first` on;
 * returns how many. */
static uint32_t support(const struct resize_axis *axis, uint32_t x, uint32_t *first)
{
    if (resize_axis_moves(axis)) {
        uint64_t to = axis->to, unit = axis->unit;
        *first = (uint32_t)(((2 * (uint64_t)x + 1) * axis->whole + 2 * to * axis->lead) /
                            (2 * to * unit));
        return 1;
    }
    double f = step_of(axis), s = f > 1 ? f : 1, u = centre(axis, x);
    double reach = axis->filter == RESIZE_AREA ? f / 2 + 0.5 : radius_of(axis->filter) * s;
    double low = fmax(0, floor(u - reach) + 1), high = fmin(axis->from - 1.0, ceil(u + reach) - 1);
    *first = (uint32_t)low;
    return (uint32_t)(high - low) + 1;
}

/* Sets the weights of sample x of the scaled picture. Fixed ones are differences of the rounded
 * running sum. */
static void weigh(const struct resize_axis *axis, uint32_t x, const struct resize_tap *tap)
{
    double u = centre(axis, x), sum = 0, running = 0, before = 0;
    tap->weights[0] = sum = 1;
    if (tap->count > 1) {
        sum = 0;
        for (uint32_t k = 0; k < tap->count; k++)
            sum += tap->weights[k] = weight_at(axis, u, (double)tap->first + k);
    }
    for (uint32_t k = 0; k < tap->count; k++) {
        running += tap->weights[k] /= sum;
        double now = floor(16384 * running + 0.5);
        tap->fixed[k] = (int16_t)(now - before);
        before = now;
    }
}

bool resize_taps_make(struct resize_taps *taps, const struct resize_axis *axis)
{
    size_t all = 0;
    *taps = (struct resize_taps){.n = axis->count};
    for (uint32_t i = 0, first; i < axis->count; i++) {
        uint32_t count = support(axis, axis->begin + i, &first);
        all += count;
        taps->largest = count > taps->largest ? count : taps->largest;
    }
    /* One block: the taps, then the weights of all, then the fixed ones. */
    taps->at = malloc(axis->count * sizeof *taps->at + all * (sizeof(double) + sizeof(int16_t)));
    if (!taps->at)
        return false;
    double *weights = (double *)(taps->at + axis->count);
    int16_t *fixed = (int16_t *)(weights + all);
    for (uint32_t i = 0; i < axis->count; i++) {
        struct resize_tap *tap = &taps->at[i];
        *tap = (struct resize_tap){.weights = weights, .fixed = fixed};
        tap->count = support(axis, axis->begin + i, &tap->first);
        weigh(axis, axis->begin + i, tap);
        weights += tap->count;
        fixed += tap->count;
    }
    return true;
}
