/* invert by its definition: white − v, saturated where v is negative. */
#include "stage/common.h"
#include "stage/invert.h"

static double invert(const void *config, const struct plane *in, double v)
{
    if (!sample_is_integer(in->type))
        return (float)plane_white(in) - (float)v;
    return (double)sample_saturate(in->type, plane_white(in) - v);
}

int invert_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault)
{
    reference_each_sample(config, in, out, invert, true);
    return 0;
}
