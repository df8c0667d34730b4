/* Parameters of the stage gain. */
#ifndef SLUICE_STAGE_GAIN_H
#define SLUICE_STAGE_GAIN_H

#include "base/fault.h"
#include "image/frame.h"

struct gain_config {
    double by, offset; /* as the decimals that were written */
};

/* The definition, in plain C. */
int gain_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault);

#endif
