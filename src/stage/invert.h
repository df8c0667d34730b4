/* The stage invert has no parameters. */
#ifndef SLUICE_STAGE_INVERT_H
#define SLUICE_STAGE_INVERT_H

#include "base/fault.h"
#include "image/frame.h"

/* The definition, in plain C. */
int invert_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault);

#endif
