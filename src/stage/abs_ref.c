/* abs by its definition: |v|, saturated. */
#include "stage/abs.h"

#include <math.h>

#include "stage/common.h"

static double absolute(const void *config, const struct plane *in, double v)
{
    return sample_is_integer(in->type) ? (double)sample_saturate(in->type, fabs(v)) : fabs(v);
}

int abs_reference(const void *config, const struct picture *in, struct picture *out,
                  struct fault *fault)
{
    reference_each_sample(config, in, out, absolute, true);
    return 0;
}
