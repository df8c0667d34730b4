/* abs by its definition: |v|, saturated. */
#include "stage/abs.h"

#include <math.h>

double abs_sample(const void *config, const struct plane *in, double v)
{
    return sample_limited(in->type, fabs(v));
}
