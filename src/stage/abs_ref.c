/* abs by its definition: |v|, saturated. */
#include "stage/abs.h"

#include <math.h>

double abs_sample(const void *config, const struct plane *in, double v)
{
    return sample_is_integer(in->type) ? (double)sample_saturate(in->type, fabs(v)) : fabs(v);
}
