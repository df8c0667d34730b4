/* Parameters of the stage normalize. */
#ifndef SLUICE_STAGE_TONE_NORMALIZE_H
#define SLUICE_STAGE_TONE_NORMALIZE_H

#include "stage/stage.h"

#define NORMALIZE_BINS 4096 /* of f32 */

struct normalize_config {
    double clip; /* share of the samples that may be below black, and above white */
};

/* How many samples of a plane may be below black: the share `clip`, without alpha. */
int32_t normalize_share(const struct normalize_config *config, const struct plane *plane);

/* The definition, in plain C. */
stage_reference normalize_reference;

#endif
