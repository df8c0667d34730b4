/* Parameters of the stage idwt. */
#ifndef SLUICE_STAGE_DWT_IDWT_H
#define SLUICE_STAGE_DWT_IDWT_H

#include "stage/dwt/dwt.h"

enum {
    IDWT_ALL = 0
}; /* choice of levels */

struct idwt_config {
    struct param_scalar levels; /* how many to put together, from the coarsest on; or all */

    /* What planes without origins came from, as far as given. */
    int wavelet, mode, precision, type;
    char size[PARAM_WORD_MAX];
    param_given given;
};

/* Transforms in a frame. */
size_t idwt_count(const struct frame *in);

/* One of them: how it was made, of what, and where its planes are in the frame. FAULT_SHAPE where
 * neither the frame nor the config says so. */
int idwt_read(const struct idwt_config *config, const struct frame *in, size_t index,
              struct dwt_config *dwt, struct dwt_layout *layout, struct plane *original,
              struct fault *fault);

/* Levels that are left apart for a transform of `n_levels`. */
unsigned idwt_kept(const struct idwt_config *config, unsigned n_levels);

/* What a smaller picture is multiplied by: one over the low-pass filters' gain for the levels left
 * apart, so that grey stays grey. */
double idwt_scale(const struct dwt_config *dwt, unsigned kept);

/* The definition, in plain C. */
int idwt_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault);

#endif
