/* Parameters of the stage rotate: the picture turned clockwise. */
#ifndef SLUICE_STAGE_ROTATE_H
#define SLUICE_STAGE_ROTATE_H

#include "base/fault.h"
#include "image/frame.h"

struct rotate_config {
    int angle; /* clockwise: 90, 180 or 270 */
};

/* The definition, in plain C. */
int rotate_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault);

#endif
