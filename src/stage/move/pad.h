/* Parameters of the stage pad: a picture with something around it. */
#ifndef SLUICE_STAGE_PAD_H
#define SLUICE_STAGE_PAD_H

#include "base/fault.h"
#include "image/frame.h"
#include "param/param.h"

struct pad_config {
    int64_t left, right, top, bottom;
    struct param_matrix background;
    int border; /* enum border, or MOVE_BACKGROUND */
};

/* The definition, in plain C. */
int pad_reference(const void *config, const struct picture *in, struct picture *out,
                  struct fault *fault);

#endif
