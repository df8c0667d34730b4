/* The definition of shrink. Thresholds for f32 and i32 planes are computed in double from exact
 * sums and then rounded to f32, as coefficients are, so that a coefficient close to the threshold
 * is on the same side everywhere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stage/dwt/shrink.h"

static double coefficient(const struct picture *picture, size_t plane, uint32_t x, uint32_t y,
                          uint32_t channel)
{
    return picture_at(picture, plane, &(struct sample_at){x, y, channel});
}

static double narrow(enum sample_type type, double v)
{
    return type == SAMPLE_F64 ? v : (double)(float)v;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of |c| over one channel of a plane; for an even count the mean of the middle two. */
static int find_median(const struct picture *in, size_t plane, uint32_t channel, double *median,
                       struct fault *fault)
{
    const struct plane *p = &in->frame.planes[plane];
    size_t n = (size_t)p->width * p->height, i = 0;
    double *sizes = malloc(n * sizeof *sizes);
    if (!sizes)
        return fault_set(fault, FAULT_MEMORY, "no memory for a reference");
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++)
            sizes[i++] = fabs(coefficient(in, plane, x, y, channel));
    qsort(sizes, n, sizeof *sizes, ascending);
    *median = narrow(p->type, (sizes[(n - 1) / 2] + sizes[n / 2]) / 2);
    free(sizes);
    return 0;
}

static double shrunk(const struct shrink_config *config, double v, double t)
{
    double size = fabs(v);
    int rule = config->rule;
    if (rule == SHRINK_HARD)
        return size < t ? 0 : v;
    if (rule == SHRINK_GREATER || rule == SHRINK_LESS)
        return (rule == SHRINK_LESS ? v > t : v < t) ? 0 : v;
    if (size <= t)
        return 0;
    if (rule == SHRINK_FIRM)
        return size > config->upper * t ? v : copysign((size - t) * shrink_slope(config), v);
    return rule == SHRINK_SOFT ? copysign(size - t, v) : v - t * t / v;
}

struct transform {
    const struct shrink_config *config;
    struct dwt_config dwt;
    struct dwt_layout layout;
    size_t first;
    bool has_noise;
    double median[PLANE_CHANNELS_MAX];
};

/* The threshold, of SHRINK_STEPS equal steps up to the universal one of the band and 0, that has
 * the least of Stein's unbiased risk for soft thresholds (Donoho, Johnstone, J. Amer. Statist.
 * Assoc. 90, 1995, equation 11), n·σ² − 2σ² · #{|c| ≤ T} + Σ min(|c|, T)², with each magnitude in
 * the middle of its step; the smallest of equal ones. Risks are whole numbers in quarters of a
 * step's square, beyond that of 0. */
static double find_least(const struct transform *t, const struct picture *in, unsigned level,
                         enum dwt_band band, size_t plane, uint32_t channel)
{
    const struct plane *p = &in->frame.planes[plane];
    uint64_t n = (uint64_t)p->width * p->height;
    double step = narrow(
        p->type, t->median[channel] *
                     narrow(p->type, shrink_step_factor(&t->dwt, &t->layout, level, band, n)));
    int64_t counts[SHRINK_STEPS + 1] = {0}, below = 0, rest = (int64_t)n, least = 0;
    int best = 0;
    if (step < (double)1e-30f)
        return 0;
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++) {
            double size = fabs(narrow(p->type, coefficient(in, plane, x, y, channel)));
            int k = (int)fmin(size / step, SHRINK_STEPS);
            while (k > 0 && size <= narrow(p->type, k * step))
                k--;
            while (k < SHRINK_STEPS && !(size <= narrow(p->type, (k + 1) * step)))
                k++;
            counts[k]++;
        }
    for (int k = 1; k <= SHRINK_STEPS; k++) {
        int64_t middle = 2 * k - 1;
        below += counts[k - 1] * (middle * middle - shrink_step_weight(n));
        rest -= counts[k - 1];
        int64_t risk = below + 4 * (int64_t)k * k * rest;
        best = risk < least ? k : best;
        least = risk < least ? risk : least;
    }
    return narrow(p->type, best * step);
}

static double find_threshold(const struct transform *t, const struct picture *in, unsigned level,
                             enum dwt_band band, size_t plane, uint32_t channel)
{
    enum sample_type type = t->layout.type;
    if (t->config->threshold.choice == PARAM_IS_NUMBER)
        return narrow(type,
                      t->config->threshold.value / shrink_norm(&t->dwt, &t->layout, level, band));
    if (t->config->threshold.choice == SHRINK_UNIVERSAL)
        return narrow(type,
                      t->median[channel] *
                          narrow(type, shrink_universal_factor(&t->dwt, &t->layout, level, band)));
    if (t->config->threshold.choice == SHRINK_SURE)
        return find_least(t, in, level, band, plane, channel);
    double sigma = t->median[channel] * shrink_sigma_factor(&t->dwt, &t->layout, level, band);
    const struct plane *p = &in->frame.planes[plane];
    double squares = 0;
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++)
            squares += pow(coefficient(in, plane, x, y, channel), 2);
    double rest = squares / ((double)p->width * p->height) - sigma * sigma;
    return sigma == 0 ? 0 : rest > 0 ? narrow(type, sigma * sigma / sqrt(rest)) : INFINITY;
}

static void shrink_band(const struct transform *t, const struct picture *in, unsigned level,
                        enum dwt_band band, struct picture *out)
{
    if (t->layout.levels[level].plane[band] < 0)
        return;
    size_t index = t->first + (size_t)t->layout.levels[level].plane[band];
    const struct plane *p = &in->frame.planes[index];
    bool has_limit = t->has_noise || t->config->threshold.choice == PARAM_IS_NUMBER;
    bool keep = band == DWT_LL || !shrink_takes_level(t->config, level) || !has_limit;
    double limits[PLANE_CHANNELS_MAX] = {0};
    for (uint32_t c = 0; c < p->channels && !keep; c++)
        limits[c] = find_threshold(t, in, level, band, index, c);
    for (struct sample_at s = {0}; plane_each(p, &s);) {
        double v = picture_at(in, index, &s);
        if (!keep)
            v = narrow(p->type, shrunk(t->config, v, limits[s.c]));
        picture_set(out, index, &s, sample_limited(p->type, v));
    }
}

int shrink_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault)
{
    for (size_t i = 0; i < in->frame.n_origins; i++) {
        struct transform t = {.config = config, .first = in->frame.origins[i].first};
        int result = dwt_read_origin("shrink", &in->frame, i, false, &t.dwt, &t.layout, fault);
        int finest = t.layout.levels[0].plane[t.layout.finest];
        t.has_noise = finest >= 0;
        for (uint32_t c = 0; c < t.layout.channels && result == 0 && t.has_noise; c++)
            result = find_median(in, t.first + (size_t)finest, c, &t.median[c], fault);
        if (result != 0)
            return result;
        for (unsigned level = 0; level < t.layout.n_levels; level++)
            for (int band = 0; band < DWT_BANDS; band++)
                shrink_band(&t, in, level, (enum dwt_band)band, out);
    }
    return 0;
}
