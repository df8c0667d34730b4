/* The stage close: dilate, then erode. */
#ifndef SLUICE_STAGE_CLOSE_H
#define SLUICE_STAGE_CLOSE_H

#include "stage/morph/morph.h"

/* The definition, in plain C. */
int close_reference(const void *config, const struct picture *in, struct picture *out,
                    struct fault *fault);

#endif
