/* levels by its definition: the formula in double, of each sample. */
#include <math.h>

#include "stage/common.h"
#include "stage/tone/tone.h"

static double limit(const struct param_scalar *scalar, const struct plane *in)
{
    return scalar->choice == LEVELS_MAX ? plane_white(in) : scalar->value;
}

struct levels_range levels_range(const struct levels_config *config, const struct plane *in)
{
    struct levels_range range = {config->black, limit(&config->white, in), config->low,
                                 limit(&config->high, in)};
    if (in->type == SAMPLE_F32) {
        range.black = (float)range.black;
        range.white = (float)range.white;
    }
    return range;
}

double levels_value(const struct levels_config *config, const struct plane *in, double v)
{
    struct levels_range range = levels_range(config, in);
    double t = (v - range.black) / (range.white - range.black);
    t = t > 0 ? fmin(t, 1) : 0;
    double curved = config->gamma == 1 ? t : pow(t, 1 / config->gamma);
    return range.low + (range.high - range.low) * curved;
}

double levels_sample(const void *config, const struct plane *in, double v)
{
    return stage_limited(in->type, levels_value(config, in, v));
}
