/* threshold by its definition. Otsu's method counts the samples of a plane in 256 bins of equal
 * width from its least sample to its greatest and splits them where the variance between the two
 * classes is greatest, at the first such place; what is not finite does not count, nor does alpha.
 */
#include "stage/threshold.h"

#include <math.h>

#include "stage/box/box.h"
#include "stage/common.h"
#include "stage/tone/tone.h"

__extension__ typedef unsigned __int128 wide;

/* a²/b as whole part and remainder, so that fractions can be compared exactly. */
struct variance {
    wide whole, rest, divisor;
};

/* The last bin of the lower class. Apart from a constant factor, the variance between the classes
 * is (s·n0 − s0·n)² / (n0·n1). */
static int best_split(const uint64_t counts[OTSU_BINS])
{
    uint64_t n = 0, s = 0, n0 = 0, s0 = 0;
    struct variance best = {0, 0, 1};
    int split = 0;
    for (int i = 0; i < OTSU_BINS; i++) {
        n += counts[i];
        s += counts[i] * (uint64_t)i;
    }
    for (int i = 0; i < OTSU_BINS - 1; i++) {
        n0 += counts[i];
        s0 += counts[i] * (uint64_t)i;
        if (n0 == 0 || n0 == n)
            continue;
        wide difference = (wide)s * n0 - (wide)s0 * n, divisor = (wide)n0 * (n - n0);
        struct variance v = {difference * difference / divisor, difference * difference % divisor,
                             divisor};
        if (v.whole != best.whole ? v.whole > best.whole
                                  : v.rest * best.divisor > best.rest * v.divisor) {
            best = v;
            split = i;
        }
    }
    return split;
}

static double otsu(const struct picture *picture, size_t plane)
{
    uint64_t counts[OTSU_BINS] = {0};
    struct tones t = {.in = picture, .plane = plane, .bins = OTSU_BINS, .counts = counts};
    return tones_count(&t) ? tones_edge(&t, (uint32_t)best_split(counts) + 1) : 0;
}

/* The picture as t=local compares it, whose f32 is in levels. */
static bool make_levels(const struct picture *in, struct picture *levels)
{
    if (!picture_create(levels, &in->frame)) /* with more room than levels need */
        return false;
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        const struct plane *p = &in->frame.planes[i];
        enum sample_type to = p->type == SAMPLE_F32 ? SAMPLE_I16 : p->type;
        float scale = (float)threshold_scale(p);
        levels->frame.planes[i].type = to;
        for (struct sample_at s = {0}; plane_each(p, &s);) {
            double v = picture_at(in, i, &s);
            if (p->type == SAMPLE_F32)
                v = isnan(v) ? sample_min(to) : (double)((float)v * scale);
            picture_set(levels, i, &s, (double)sample_saturate(to, v));
        }
    }
    return true;
}

int threshold_reference(const void *config_, const struct picture *in, struct picture *out,
                        struct fault *fault)
{
    const struct threshold_config *config = config_;
    const bool local = config->t.choice == THRESHOLD_LOCAL; /* against the mean around a sample */
    struct picture levels = {0}, means = {0};
    struct box_config box;
    uint32_t inset = local && config->border == BORDER_CROP ? (uint32_t)config->radius : 0;
    int result = 0;
    threshold_means(config, &box);
    if (local)
        result = make_levels(in, &levels)
                     ? stage_compute_new(&stage_box, &box, &levels, &means, fault)
                     : fault_set(fault, FAULT_MEMORY, "no memory for levels");
    for (size_t i = 0; i < out->frame.n_planes && result == 0; i++) {
        const struct plane *p = &out->frame.planes[i];
        double t = config->t.choice == THRESHOLD_OTSU ? otsu(in, i) : config->t.value;
        double high = config->high.choice == THRESHOLD_MAX ? plane_white(p) : config->high.value;
        double offset = config->offset * threshold_scale(p);
        if (p->type == SAMPLE_F32)
            t = (float)t;
        for (struct sample_at s = {0}; plane_each(p, &s);) {
            struct sample_at at = {s.x + inset, s.y + inset, s.c};
            double v = picture_at(in, i, &at);
            bool above =
                local ? picture_at(&levels, i, &at) >= picture_at(&means, i, &s) - offset : v >= t;
            picture_set(out, i, &s,
                        s.alpha ? v : stage_limited(p->type, above ? high : config->low));
        }
    }
    picture_destroy(&levels);
    picture_destroy(&means);
    return result;
}
