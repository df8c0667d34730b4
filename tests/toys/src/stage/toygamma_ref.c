/* toygamma by its definition: max·(v / max)^exponent, max being 1 for f32, where v is limited to
 * 0…1. */
#include <math.h>

#include "stage/common.h"
#include "stage/toygamma.h"

double toygamma_value(double exponent, enum sample_type type, double v)
{
    double max = sample_max(type);
    return max * pow(fmin(fmax(v / max, 0), 1), exponent);
}

double toygamma_sample(const void *config_, const struct plane *in, double v)
{
    const struct toygamma_config *config = config_;
    enum sample_type type = in->type;
    double result = toygamma_value(config->exponent, type, v);
    return sample_is_integer(type) ? (double)sample_saturate(type, result) : result;
}
