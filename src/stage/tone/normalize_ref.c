/* normalize by its definition: samples are counted one by one, and go through the formula of
 * levels. */
#include "stage/tone/normalize.h"

#include <math.h>
#include <stdlib.h>

#include "stage/tone/levels.h"

struct tones {
    const struct picture *in;
    size_t plane;
    double least, most; /* of f32: of the finite samples */
    uint32_t bins;
    uint32_t *counts;
};

static double edge(const struct tones *t, uint32_t i)
{
    float width = (float)t->most * 0.000244140625f - (float)t->least * 0.000244140625f;
    float distance = (float)i * width;
    if (t->in->frame.planes[t->plane].type != SAMPLE_F32)
        return fmin(i, t->bins - 1);
    return i == t->bins ? t->most : (float)t->least + distance;
}

static uint32_t bin(const struct tones *t, double v)
{
    uint32_t low = 0, high = t->bins - 1; /* the last bin whose lower edge is at most v */
    if (t->in->frame.planes[t->plane].type != SAMPLE_F32)
        return (uint32_t)v;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (v >= edge(t, middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void each(struct tones *t, void (*visit)(struct tones *, double v))
{
    const struct plane *p = &t->in->frame.planes[t->plane];
    for (uint32_t y = 0; y < p->height; y++) {
        const uint8_t *row = picture_row(t->in, t->plane, y);
        for (uint32_t x = 0; x < p->width * p->channels; x++) {
            double v = sample_load(p->type, row + x * sample_size(p->type));
            if (!plane_is_alpha(p, x) && isfinite(v))
                visit(t, v);
        }
    }
}

static void widen(struct tones *t, double v)
{
    t->least = fmin(t->least, v);
    t->most = fmax(t->most, v);
}

static void count(struct tones *t, double v)
{
    t->counts[bin(t, v)]++;
}

/* The places of black and white. */
static void find(const struct tones *t, int64_t share, double *black, double *white)
{
    uint32_t first = 0, last = t->bins;
    for (int64_t below = 0; first < t->bins && below + t->counts[first] <= share; first++)
        below += t->counts[first];
    for (int64_t above = 0; last > 0 && above + t->counts[last - 1] <= share; last--)
        above += t->counts[last - 1];
    *black = edge(t, first);
    *white = edge(t, last);
    if (t->in->frame.planes[t->plane].type != SAMPLE_F32) /* the value below that edge */
        *white = last > 0 ? last - 1 : 0;
}

static void spread(const struct tones *t, double black, double white, struct picture *out)
{
    const struct plane *p = &t->in->frame.planes[t->plane];
    struct levels_config levels = {.black = black, .white = {PARAM_IS_NUMBER, white}, .gamma = 1};
    levels.high.choice = LEVELS_MAX;
    for (struct sample_at s = {0}; plane_each(p, &s);) {
        double v = picture_at(t->in, t->plane, &s);
        if (!s.alpha && black < white) {
            v = levels_value(&levels, p, v);
            v = sample_is_integer(p->type) ? (double)sample_saturate(p->type, v) : v;
        }
        picture_set(out, t->plane, &s, v);
    }
}

int normalize_reference(const void *config, const struct picture *in, struct picture *out,
                        struct fault *fault)
{
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        const struct plane *plane = &in->frame.planes[i];
        struct tones t = {in, i, INFINITY, -INFINITY, NORMALIZE_BINS, NULL};
        double black = 0, white = 0;
        if (sample_is_integer(plane->type))
            t.bins = (uint32_t)sample_max(plane->type) + 1;
        t.counts = calloc(t.bins, sizeof *t.counts);
        if (!t.counts)
            return fault_set(fault, FAULT_MEMORY, "no memory for counts");
        each(&t, widen);
        if (t.least <= t.most) {
            each(&t, count);
            find(&t, normalize_share(config, plane), &black, &white);
        }
        spread(&t, black, white, out);
        free(t.counts);
    }
    return 0;
}
