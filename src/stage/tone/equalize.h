/* The stage equalize, which has no parameters. */
#ifndef SLUICE_STAGE_TONE_EQUALIZE_H
#define SLUICE_STAGE_TONE_EQUALIZE_H

#include "base/fault.h"
#include "image/frame.h"

/* The definition, in plain C. */
int equalize_reference(const void *config, const struct picture *in, struct picture *out,
                       struct fault *fault);

#endif
