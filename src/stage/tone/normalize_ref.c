/* normalize by its definition: samples are counted one by one, and go through the formula of
 * levels. */
#include "stage/tone/tone.h"

#include <math.h>
#include <stdlib.h>

double tones_edge(const struct tones *t, uint32_t i)
{
    float part = 1.0f / (float)t->bins, width = (float)t->most * part - (float)t->least * part;
    float distance = (float)i * width;
    if (t->in->frame.planes[t->plane].type != SAMPLE_F32)
        return t->levels ? i : t->least + ceil((t->most - t->least) * i / t->bins);
    return i == t->bins ? t->most : (float)t->least + distance;
}

/* The last bin that begins at most at `v`. */
static uint32_t bin_of(const struct tones *t, double v)
{
    uint32_t low = 0, high = t->bins - 1;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (v >= tones_edge(t, middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

bool tones_count(struct tones *t)
{
    const struct plane *p = &t->in->frame.planes[t->plane];
    t->least = INFINITY;
    t->most = -INFINITY;
    for (int counts = 0; counts < 2; counts++)
        for (struct sample_at s = {0}; plane_each(p, &s);) {
            double v = picture_at(t->in, t->plane, &s);
            if (s.alpha || !isfinite(v))
                continue;
            t->least = fmin(t->least, v);
            t->most = fmax(t->most, v);
            if (counts)
                t->counts[bin_of(t, v)]++;
        }
    return t->least <= t->most;
}

/* The places of black and white: with a bin for each value those of the first and of the last. */
static void find(const struct tones *t, uint64_t share, double *black, double *white)
{
    uint32_t first = 0, last = t->bins;
    for (uint64_t below = 0; first < t->bins && below + t->counts[first] <= share; first++)
        below += t->counts[first];
    for (uint64_t above = 0; last > 0 && above + t->counts[last - 1] <= share; last--)
        above += t->counts[last - 1];
    if (t->levels) {
        first = first < t->bins ? first : t->bins - 1;
        last = last > 0 ? last - 1 : 0;
    }
    *black = tones_edge(t, first);
    *white = tones_edge(t, last);
}

static void spread(const struct tones *t, double black, double white, struct picture *out)
{
    const struct plane *p = &t->in->frame.planes[t->plane];
    struct levels_config levels = {.black = black, .white = {PARAM_IS_NUMBER, white}, .gamma = 1};
    levels.high.choice = LEVELS_MAX;
    for (struct sample_at s = {0}; plane_each(p, &s);) {
        double v = picture_at(t->in, t->plane, &s);
        picture_set(out, t->plane, &s,
                    !s.alpha && black < white ? levels_sample(&levels, p, v) : v);
    }
}

int normalize_reference(const void *config, const struct picture *in, struct picture *out,
                        struct fault *fault)
{
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        const struct plane *plane = &in->frame.planes[i];
        struct tones t = {.in = in, .plane = i, .levels = sample_is_integer(plane->type)};
        double black = 0, white = 0;
        t.bins = t.levels ? (uint32_t)sample_max(plane->type) + 1 : NORMALIZE_BINS;
        t.counts = calloc(t.bins, sizeof *t.counts);
        if (!t.counts)
            return fault_set(fault, FAULT_MEMORY, "no memory for counts");
        if (tones_count(&t))
            find(&t, (uint64_t)normalize_share(config, plane), &black, &white);
        spread(&t, black, white, out);
        free(t.counts);
    }
    return 0;
}
