/* The stage abs has no parameters. */
#ifndef SLUICE_STAGE_ABS_H
#define SLUICE_STAGE_ABS_H

#include "base/fault.h"
#include "image/frame.h"

/* The definition, in plain C. */
int abs_reference(const void *config, const struct picture *in, struct picture *out,
                  struct fault *fault);

#endif
