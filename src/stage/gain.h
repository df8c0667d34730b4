/* Parameters of the stage scale. */
#ifndef SLUICE_STAGE_SCALE_H
#define SLUICE_STAGE_SCALE_H

#include "base/fault.h"
#include "image/frame.h"

struct scale_config {
    double gain, offset; /* taken as the decimals that they were written as */
};

/* The definition, in plain C. */
int scale_reference(const void *config, const struct picture *in, struct picture *out,
                    struct fault *fault);

#endif
