/* Parameters of the stage median: the middle one of a window's samples. */
#ifndef SLUICE_STAGE_MEDIAN_H
#define SLUICE_STAGE_MEDIAN_H

#include "base/fault.h"
#include "image/border.h"
#include "image/frame.h"

#define MEDIAN_RADIUS_MAX 3

struct median_config {
    int64_t radius;
    int border; /* enum border */
};

/* The definition, in plain C. */
int median_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault);

#endif
