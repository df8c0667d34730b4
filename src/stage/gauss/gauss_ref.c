/* gauss and unsharp by their definition: each sample from all of its window, first along the rows.
 */
#include "stage/gauss/gauss.h"

#include <math.h>

#include "stage/gauss/unsharp.h"
#include "stage/stage.h"

struct place {
    const struct picture *in;
    size_t plane;
    int64_t x, y; /* of the window's middle, in the source */
    uint32_t channel;
    int64_t radius;
    enum border border;
    double weights[GAUSS_RADIUS_MAX + 1];
    int32_t fixed[GAUSS_RADIUS_MAX + 1];
};

static double at(const struct place *p, int64_t x, int64_t y)
{
    return picture_sample(p->in, p->plane, x, y, p->channel, p->border);
}

/* (Σ wy·T + 2^19) >> 20 of T = (Σ wx·in + 2^7) >> 8. */
static double fixed_blur(const struct place *p)
{
    int64_t sum = 1 << 19;
    for (int64_t j = -p->radius; j <= p->radius; j++) {
        int64_t t = 1 << 7;
        for (int64_t i = -p->radius; i <= p->radius; i++)
            t += p->fixed[i < 0 ? -i : i] * (int64_t)at(p, p->x + i, p->y + j);
        sum += p->fixed[j < 0 ? -j : j] * (t >> 8);
    }
    return (double)(sum >> 20);
}

static double real_blur(const struct place *p)
{
    double sum = 0;
    for (int64_t j = -p->radius; j <= p->radius; j++)
        for (int64_t i = -p->radius; i <= p->radius; i++)
            sum +=
                p->weights[j < 0 ? -j : j] * p->weights[i < 0 ? -i : i] * at(p, p->x + i, p->y + j);
    return sum;
}

static double result_at(const struct place *p, const struct gauss_sharpen *sharpen)
{
    const struct plane *plane = &p->in->frame.planes[p->plane];
    bool whole = sample_is_integer(plane->type);
    double in = at(p, p->x, p->y);
    if (plane_has_alpha(plane) && p->channel == plane->channels - 1)
        return in;
    double blurred = whole ? fixed_blur(p) : real_blur(p);
    if (!sharpen)
        return blurred;
    if (whole)
        return (double)sample_saturate(plane->type, in + gauss_change(sharpen, in - blurred));
    double d = in - blurred;
    return fabs(d) >= sharpen->threshold ? in + sharpen->amount * d : in;
}

int gauss_compute(const struct gauss_config *config, const struct gauss_sharpen *sharpen,
                  const struct picture *in, struct picture *out, struct fault *fault)
{
    bool crop = config->border == BORDER_CROP;
    struct place p = {.in = in, .radius = config->radius, .border = (enum border)config->border};
    (void)fault;
    p.border = crop ? BORDER_EDGE : p.border;
    gauss_weights(config->sigma, config->radius, p.weights);
    gauss_fixed_weights(p.weights, config->radius, p.fixed);
    for (p.plane = 0; p.plane < in->frame.n_planes; p.plane++) {
        const struct plane *to = &out->frame.planes[p.plane];
        for (uint32_t y = 0; y < to->height; y++) {
            uint8_t *row = picture_row(out, p.plane, y);
            for (uint32_t i = 0; i < to->width * to->channels; i++) {
                p.x = i / to->channels + (crop ? config->radius : 0);
                p.y = y + (crop ? config->radius : 0);
                p.channel = i % to->channels;
                sample_store(to->type, row + i * sample_size(to->type), result_at(&p, sharpen));
            }
        }
    }
    return 0;
}

int gauss_reference(const void *config, const struct picture *in, struct picture *out,
                    struct fault *fault)
{
    return gauss_compute(config, NULL, in, out, fault);
}
