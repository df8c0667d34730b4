/* Parameters of the stage colour. */
#ifndef SLUICE_STAGE_TONE_COLOUR_H
#define SLUICE_STAGE_TONE_COLOUR_H

#include "stage/stage.h"

struct colour_config {
    struct param_matrix m;      /* three rows, for red, green and blue of the result */
    struct param_matrix offset; /* one value, or one for each colour */
};

/* What is added to colour `row`. */
double colour_offset(const struct colour_config *config, unsigned row);

/* The definition, in plain C. */
stage_at colour_at;

#endif
