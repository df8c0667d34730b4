/* Arithmetic of two pictures by its definition, a sample at a time:
 *
 *     subtract     p - q, limited to the type
 *     difference   |p - q|, limited to the type
 *     divide       p f, and that times the scale, both in f32, where f is the nearest f32 to
 *                  m / q, or to 1 / q with a scale that is a number, and 0 for q = 0;
 *                  rounded to nearest, limited
 *     mask         p where q is not 0, else the background
 *     blend        p + (q - p) t in f32, where t is the opacity, or the nearest f32 to the
 *                  opacity divided by white, times alpha; rounded to nearest, limited
 *
 * q is the second picture's sample; with one colour it is that of all. Alpha stays, but for mask.
 */
#include "stage/second/second.h"

#include <math.h>

/* The second picture as the references take it. */
struct other {
    const struct plane *plane; /* NULL: a number */
    const uint8_t *samples;
    double number;
    double means[PLANE_CHANNELS_MAX];
};

static double sample_of(const struct other *other, int64_t x, int64_t y, uint32_t channel)
{
    if (!other->plane)
        return other->number;
    size_t size = sample_size(other->plane->type);
    return sample_load(other->plane->type,
                       other->samples + other->plane->offset + (size_t)y * other->plane->stride +
                           ((size_t)x * other->plane->channels + channel) * size);
}

/* f for a sample q. */
static float factor(const struct second_config *config, double mean, double q)
{
    float f = (float)((config->scale.choice == PARAM_IS_NUMBER ? 1 : mean) / q);
    return q != 0 && isfinite(f) ? f : 0;
}

static double combine(const struct second_config *config, enum sample_type type, double p, double q,
                      double mean, float t)
{
    float v = (float)p, w = (float)q, scale = 1;
    if (config->scale.choice == PARAM_IS_NUMBER)
        scale = (float)config->scale.value;
    switch (config->operation) {
    case SECOND_SUBTRACT:
        return type == SAMPLE_F32 ? v - w : stage_limited(type, p - q);
    case SECOND_DIFFERENCE:
        return type == SAMPLE_F32 ? fabsf(v - w) : stage_limited(type, fabs(p - q));
    case SECOND_DIVIDE: {
        float quotient = v * factor(config, mean, q);
        return stage_limited(type, quotient * scale);
    }
    default: {
        float step = (w - v) * t;
        return stage_limited(type, v + step);
    }
    }
}

static void compute(const struct second_config *config, const struct other *other,
                    const struct picture *in, size_t index, struct picture *out)
{
    const struct plane *plane = &in->frame.planes[index];
    const struct plane *second = other->plane, *size_of = second ? second : plane;
    bool has_alpha = second && plane_has_alpha(second);
    uint32_t colours = second ? second->channels - has_alpha : 1;
    int32_t left, top;
    double background[PLANE_CHANNELS_MAX] = {0};
    stage_background("mask", &config->background, plane, background, NULL);
    second_place(config, plane, size_of->width, size_of->height, &left, &top);
    for (struct sample_at s = {0}; plane_each(plane, &s);) {
        int64_t x = (int64_t)s.x - left, y = (int64_t)s.y - top;
        bool inside = x >= 0 && x < size_of->width && y >= 0 && y < size_of->height;
        uint32_t of = colours > 1 ? s.c : 0;
        double v = picture_at(in, index, &s);
        float t = (float)config->opacity;
        if (inside && has_alpha)
            t = (float)sample_of(other, x, y, colours) *
                (float)(config->opacity / plane_white(second));
        if (config->operation == SECOND_MASK)
            v = sample_of(other, x, y, 0) != 0 ? v : background[s.c];
        else if (inside && !s.alpha)
            v = combine(config, plane->type, v, sample_of(other, x, y, of), other->means[of], t);
        picture_set(out, index, &s, v);
    }
}

int second_reference(const void *config_, const struct picture *in, struct picture *out,
                     struct fault *fault)
{
    const struct second_config *config = config_;
    const struct definition_picture *second = config->defined;
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        enum sample_type type = in->frame.planes[i].type;
        struct other other = {.number = config->number};
        if (second && !second->samples)
            return fault_set(fault, FAULT_INTERNAL, "picture '%s' has no samples", second->name);
        if (second) {
            other.plane = &second->plane;
            other.samples = second->samples;
            for (uint32_t c = 0; c < second->plane.channels; c++)
                other.means[c] = second_mean(&second->plane, second->samples, c);
        } else {
            if (sample_is_integer(type) && config->operation != SECOND_DIVIDE &&
                config->operation != SECOND_MASK)
                other.number = (double)sample_saturate(type, other.number);
            other.means[0] = other.number;
        }
        compute(config, &other, in, i, out);
    }
    return 0;
}
