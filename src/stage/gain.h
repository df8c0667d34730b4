/* Parameters of the stage gain. */
#ifndef SLUICE_STAGE_GAIN_H
#define SLUICE_STAGE_GAIN_H

#include "stage/stage.h"

struct gain_config {
    double by, offset; /* as the decimals that were written */
};

/* The definition, in plain C. */
stage_sample gain_sample;

#endif
