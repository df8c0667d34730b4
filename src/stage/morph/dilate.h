/* The stage dilate: the largest sample of a window. */
#ifndef SLUICE_STAGE_DILATE_H
#define SLUICE_STAGE_DILATE_H

#include "stage/morph/morph.h"

/* The definition, in plain C. */
int dilate_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault);

#endif
