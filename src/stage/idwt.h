/* Parameters of the stage idwt. */
#ifndef SLUICE_STAGE_IDWT_H
#define SLUICE_STAGE_IDWT_H

#include "stage/dwt.h"

enum {
    IDWT_ALL = 0
}; /* choice of levels */

struct idwt_config {
    struct param_scalar levels; /* how many to put together, from the coarsest on; or all */
};

/* Levels that are left apart for a transform of `n_levels`. */
unsigned idwt_kept(const struct idwt_config *config, unsigned n_levels);

/* What a smaller picture is multiplied by: one over the low-pass filters' gain for the levels left
 * apart, so that grey stays grey. */
double idwt_scale(const struct dwt_config *dwt, unsigned kept);

/* The definition, in plain C. */
int idwt_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault);

#endif
