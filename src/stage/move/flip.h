/* Parameters of the stage flip: the picture in a mirror. */
#ifndef SLUICE_STAGE_FLIP_H
#define SLUICE_STAGE_FLIP_H

#include "base/fault.h"
#include "image/frame.h"

enum flip_axis {
    FLIP_X, /* left and right change places */
    FLIP_Y, /* top and bottom do */
};

struct flip_config {
    int axis;
};

/* The definition, in plain C. */
int flip_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault);

#endif
