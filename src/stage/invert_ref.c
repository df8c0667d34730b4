/* invert by its definition: white − v, saturated where v is negative. */
#include "stage/invert.h"

double invert_sample(const void *config, const struct plane *in, double v)
{
    if (!sample_is_integer(in->type))
        return (float)plane_white(in) - (float)v;
    return (double)sample_saturate(in->type, plane_white(in) - v);
}
