/* resize by its definition: each sample of the result from all source samples on which it depends,
 * first along their rows, then across them. */
#include "stage/resize/resize.h"

#include <math.h>
#include <stdlib.h>

#include "stage/common.h"

struct place {
    const struct picture *in;
    size_t plane;
    const struct resize_tap *x, *y;
    uint32_t channel;
    bool moves; /* nothing is summed, so any type will do, and alpha is no weight */
};

/* Sums in f32 if alpha is a weight: blocks of 16 products, each in its order; the blocks by Kahan's
 * method, which keeps long sums accurate. */
struct sum {
    float block, total, lost;
    unsigned count;
};

static void sum_block(struct sum *sum)
{
    float y = sum->block - sum->lost, t = sum->total + y;
    sum->lost = (t - sum->total) - y;
    sum->total = t;
    sum->block = 0;
}

static void sum_add(struct sum *sum, float v)
{
    sum->block += v;
    if (++sum->count % 16 == 0)
        sum_block(sum);
}

static float sum_end(struct sum *sum)
{
    sum_block(sum);
    return sum->total;
}

static double at(const struct place *p, uint32_t kx, uint32_t ky, uint32_t channel)
{
    return picture_sample(p->in, p->plane, p->x->first + kx, p->y->first + ky, channel,
                          BORDER_EDGE);
}

/* sat((Σ wy·T + 2^19) >> 20) of T = (Σ wx·in + 2^7) >> 8. */
static double fixed_result(const struct place *p)
{
    const struct plane *plane = &p->in->frame.planes[p->plane];
    int64_t sum = 1 << 19, largest = (int64_t)sample_max(plane->type);
    for (uint32_t ky = 0; ky < p->y->count; ky++) {
        int64_t t = 1 << 7;
        for (uint32_t kx = 0; kx < p->x->count; kx++)
            t += p->x->fixed[kx] * (int64_t)at(p, kx, ky, p->channel);
        sum += p->y->fixed[ky] * (t >> 8);
    }
    sum >>= 20;
    return (double)(sum < 0 ? 0 : sum > largest ? largest : sum);
}

static double float_result(const struct place *p)
{
    double sum = 0;
    for (uint32_t ky = 0; ky < p->y->count; ky++)
        for (uint32_t kx = 0; kx < p->x->count; kx++)
            sum += p->y->weights[ky] * p->x->weights[kx] * at(p, kx, ky, p->channel);
    return sum;
}

/* The weighted sum of a channel times alpha, or of alpha itself. */
static float weighted(const struct place *p, uint32_t channel)
{
    uint32_t alpha = p->in->frame.planes[p->plane].channels - 1;
    struct sum column = {0};
    for (uint32_t ky = 0; ky < p->y->count; ky++) {
        struct sum row = {0};
        for (uint32_t kx = 0; kx < p->x->count; kx++) {
            float v = (float)at(p, kx, ky, alpha);
            if (channel != alpha)
                v *= (float)at(p, kx, ky, channel);
            sum_add(&row, (float)p->x->weights[kx] * v);
        }
        sum_add(&column, (float)p->y->weights[ky] * sum_end(&row));
    }
    return sum_end(&column);
}

/* For a colour of a picture with alpha, the quotient of two floats is never so close to a half that
 * double could not tell the difference. */
static double result_at(const struct place *p)
{
    const struct plane *plane = &p->in->frame.planes[p->plane];
    bool whole = sample_is_integer(plane->type);
    if (p->moves)
        return at(p, 0, 0, p->channel);
    if (!plane_has_alpha(plane) || p->channel == plane->channels - 1)
        return whole ? fixed_result(p) : float_result(p);
    float alpha = weighted(p, plane->channels - 1);
    if (!(alpha > 0))
        return 0;
    double v = (double)weighted(p, p->channel) / alpha;
    return whole ? (double)sample_saturate(plane->type, v) : (float)v;
}

/* Computes one plane. */
static void compute(const struct resize_config *config, const struct resize_layout *layout,
                    struct place *p, const struct resize_taps *x, const struct resize_taps *y,
                    struct picture *out)
{
    const struct plane *to = &out->frame.planes[p->plane];
    double background[PLANE_CHANNELS_MAX] = {0};
    if (config->fit == RESIZE_PAD)
        stage_background("resize", &config->background, to, background, NULL);
    for (struct sample_at s = {0}; plane_each(to, &s);) {
        uint32_t i = s.x - layout->left, j = s.y - layout->top; /* large in front of it */
        bool inside = i < layout->x.count && j < layout->y.count;
        if (inside) {
            p->x = &x->at[i];
            p->y = &y->at[j];
            p->channel = s.c;
        }
        picture_set(out, p->plane, &s, inside ? result_at(p) : background[s.c]);
    }
}

int resize_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < in->frame.n_planes && result == 0; i++) {
        struct place place = {.in = in, .plane = i};
        struct resize_layout layout;
        struct resize_taps x = {0}, y = {0};
        resize_layout(config, &in->frame.planes[i], &layout, NULL);
        place.moves = resize_axis_moves(&layout.x) && resize_axis_moves(&layout.y);
        if (resize_taps_make(&x, &layout.x) && resize_taps_make(&y, &layout.y))
            compute(config, &layout, &place, &x, &y, out);
        else
            result = fault_set(fault, FAULT_MEMORY, "no memory for weights");
        free(x.at);
        free(y.at);
    }
    return result;
}
