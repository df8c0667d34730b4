/* invert by its definition: max − v, saturated where v is negative; f32: 1 − v. */
#include "stage/common.h"
#include "stage/invert.h"

static double invert(const void *config, enum sample_type type, double v)
{
    (void)config;
    if (!sample_is_integer(type))
        return 1.0f - (float)v;
    return (double)sample_saturate(type, sample_max(type) - v);
}

int invert_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault)
{
    (void)fault;
    reference_each_sample(config, in, out, invert, true);
    return 0;
}
