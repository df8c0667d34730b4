/* The stage open: erode, then dilate. */
#ifndef SLUICE_STAGE_OPEN_H
#define SLUICE_STAGE_OPEN_H

#include "stage/morph/morph.h"

/* The definition, in plain C. */
int open_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault);

#endif
