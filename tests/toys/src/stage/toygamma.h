/* Parameters of the stage toygamma. */
#ifndef SLUICE_STAGE_TOYGAMMA_H
#define SLUICE_STAGE_TOYGAMMA_H

#include "stage/stage.h"

struct toygamma_config {
    double exponent;
};

/* The definition, in plain C. */
stage_sample toygamma_sample;

/* Of one sample, before it is rounded to an integer type. */
double toygamma_value(double exponent, enum sample_type type, double v);

#endif
