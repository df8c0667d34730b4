/* gauss and unsharp by their definition: sums along the rows first, then down the columns. */
#include "stage/gauss/gauss.h"

#include <math.h>
#include <stdlib.h>

#include "stage/common.h"

struct blur {
    const struct gauss_config *config;
    const struct picture *in;
    size_t plane;
    bool whole; /* integers, by weights in 2^14ths */
    enum border border;
    double weights[GAUSS_RADIUS_MAX + 1];
    double *across; /* by row of the plane */
};

/* Of one channel, about column `x` of each row: for integers T = (sum of wx·in + 2^7) >> 8. */
static void sum_across(const struct blur *b, int64_t x, uint32_t channel)
{
    for (uint32_t y = 0; y < b->in->frame.planes[b->plane].height; y++) {
        double sum = b->whole ? 1 << 7 : 0;
        for (int64_t i = -b->config->radius; i <= b->config->radius; i++)
            sum += b->weights[llabs(i)] *
                   picture_sample(b->in, b->plane, x + i, y, channel, b->border);
        b->across[y] = b->whole ? floor(sum / (1 << 8)) : sum;
    }
}

/* About row `y` of what sum_across found: for integers (sum of wy·T + 2^19) >> 20. */
static double sum_down(const struct blur *b, int64_t y)
{
    double sum = b->whole ? 1 << 19 : 0;
    for (int64_t j = -b->config->radius; j <= b->config->radius; j++) {
        int64_t row = border_index(y + j, b->in->frame.planes[b->plane].height, b->border);
        sum += row < 0 ? 0 : b->weights[llabs(j)] * b->across[row];
    }
    return b->whole ? floor(sum / (1 << 20)) : sum;
}

/* Column `x` of one channel of `out`, whose first pixel lies at `corner` of the input in both
 * directions. */
static void compute_column(const struct blur *b, uint32_t x, uint32_t channel, int64_t corner,
                           struct picture *out)
{
    const struct gauss_config *config = b->config;
    const struct plane *to = &out->frame.planes[b->plane];
    bool alpha = plane_has_alpha(to) && channel == to->channels - 1;
    if (!alpha)
        sum_across(b, x + corner, channel);
    for (uint32_t y = 0; y < to->height; y++) {
        double in = picture_sample(b->in, b->plane, x + corner, y + corner, channel, b->border);
        double result = alpha ? in : sum_down(b, y + corner);
        double d = in - result;
        if (config->sharpens && !alpha && sample_is_integer(to->type))
            result = (double)sample_saturate(to->type, in + gauss_change(config, d));
        else if (config->sharpens && !alpha)
            result = fabs(d) >= config->threshold ? in + config->amount * d : in;
        picture_set(out, b->plane, &(struct sample_at){x, y, channel}, result);
    }
}

static int compute_plane(struct blur *b, struct picture *out, struct fault *fault)
{
    const struct gauss_config *config = b->config;
    const struct plane *from = &b->in->frame.planes[b->plane], *to = &out->frame.planes[b->plane];
    int32_t fixed[GAUSS_RADIUS_MAX + 1];
    b->whole = sample_is_integer(from->type);
    gauss_weights(config->sigma, config->radius, b->weights);
    gauss_fixed_weights(b->weights, config->radius, fixed);
    for (int64_t i = 0; i <= config->radius && b->whole; i++)
        b->weights[i] = fixed[i];
    b->across = malloc(from->height * sizeof *b->across);
    if (!b->across)
        return fault_set(fault, FAULT_MEMORY, "no memory for a column of sums");
    for (uint32_t i = 0; i < to->width * to->channels; i++)
        compute_column(b, i / to->channels, i % to->channels,
                       config->border == BORDER_CROP ? config->radius : 0, out);
    free(b->across);
    return 0;
}

int gauss_reference(const void *config_, const struct picture *in, struct picture *out,
                    struct fault *fault)
{
    const struct gauss_config *config = config_;
    struct blur b = {config, in, .border = (enum border)stage_border((enum border)config->border)};
    int result = 0;
    for (; b.plane < in->frame.n_planes && result == 0; b.plane++)
        result = compute_plane(&b, out, fault);
    return result;
}
