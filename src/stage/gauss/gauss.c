#include "stage/gauss/gauss.h"

#include <math.h>

#include "stage/common.h"
#include "stage/stage.h"

static const struct param params[] = {
    PARAM(REAL, "sigma", offsetof(struct gauss_config, sigma),
          "the standard deviation in pixels: how far the blur reaches",
          RANGE(GAUSS_SIGMA_MIN, GAUSS_SIGMA_MAX), .required = true),
    PARAM(INTEGER, "radius", offsetof(struct gauss_config, radius),
          "pixels on either side that take part; 3 times sigma, rounded up, unless given",
          RANGE(0, GAUSS_RADIUS_MAX)),
    STAGE_BORDER_PARAM(offsetof(struct gauss_config, border)),
    {0},
};

int64_t gauss_radius(double sigma)
{
    double radius = ceil(3 * sigma);
    return radius > GAUSS_RADIUS_MAX ? GAUSS_RADIUS_MAX : (int64_t)radius;
}

void gauss_weights(double sigma, int64_t radius, double weights[GAUSS_RADIUS_MAX + 1])
{
    double sum = weights[0] = 1;
    for (int64_t i = 1; i <= radius; i++) {
        weights[i] = exp(-(double)(i * i) / (2 * sigma * sigma));
        sum += 2 * weights[i];
    }
    for (int64_t i = 0; i <= radius; i++)
        weights[i] /= sum;
}

/* Both sides are alike, so the sums from the outermost weight to the one before the middle give all
 * of them. */
void gauss_fixed_weights(const double *weights, int64_t radius, int32_t fixed[GAUSS_RADIUS_MAX + 1])
{
    double sum = 0, before = 0;
    for (int64_t i = radius; i > 0; i--) {
        sum += weights[i];
        double now = floor(16384 * sum + 0.5);
        fixed[i] = (int32_t)(now - before);
        before = now;
    }
    fixed[0] = 16384 - 2 * (int32_t)before;
}

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct gauss_config *config = config_;
    const param_given radius = param_bit(params, "radius");
    if (!(*given & radius))
        config->radius = gauss_radius(config->sigma);
    *given |= radius;
    return 0;
}

bool gauss_window(const void *config_, struct stage_window *window)
{
    const struct gauss_config *config = config_;
    const uint32_t radius = (uint32_t)config->radius;
    *window = (struct stage_window){radius, radius, radius, radius, (enum border)config->border};
    return true;
}

const struct stage stage_gauss = {
    .name = "gauss",
    .chains = (const char *const[]){"gauss:sigma=3", NULL},
    .summary = "blurred: means of the pixels around each, weighted by a Gaussian",
    .params = params,
    .config_size = sizeof(struct gauss_config),
    .complete = complete,
    .types = GAUSS_TYPES,
    .window = gauss_window,
    .passes = gauss_passes,
    .reference = gauss_reference,
    .floats = &(const struct tolerance){1e-3, 1e-5}, /* sums are made in another order */
    .bench = "gauss:1.5",
};
