/* The stage erode: the least sample of a window. */
#ifndef SLUICE_STAGE_ERODE_H
#define SLUICE_STAGE_ERODE_H

#include "stage/morph/morph.h"

/* The definition, in plain C. */
int erode_reference(const void *config, const struct picture *in, struct picture *out,
                    struct fault *fault);

#endif
