/* Parameters of the stage toygamma. */
#ifndef SLUICE_STAGE_TOYGAMMA_H
#define SLUICE_STAGE_TOYGAMMA_H

#include "base/fault.h"
#include "image/frame.h"

struct toygamma_config {
    double exponent;
};

/* The definition, in plain C. */
int toygamma_reference(const void *config, const struct picture *in, struct picture *out,
                       struct fault *fault);

/* Of one sample, before it is rounded to an integer type. */
double toygamma_value(double exponent, enum sample_type type, double v);

#endif
