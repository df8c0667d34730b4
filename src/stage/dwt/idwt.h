/* Parameters of the stage idwt. */
#ifndef SLUICE_STAGE_DWT_IDWT_H
#define SLUICE_STAGE_DWT_IDWT_H

#include "stage/dwt/dwt.h"
#include "stage/stage.h"

enum {
    IDWT_ALL = 0
}; /* choice of levels */

struct idwt_config {
    struct param_scalar levels; /* how many levels to put together, from the coarsest; or all */

    /* For planes without origins: the parameters of dwt that made them, as far as they are given.
     */
    int wavelet, mode, precision, type, axis;
    bool stationary, norm;
    char size[PARAM_WORD_MAX];
    param_given given;
};

/* The number of transforms in a frame. */
size_t idwt_count(const struct frame *in);

/* Reads one of them: its parameters, its original, and which planes of the frame are its own.
 * FAULT_SHAPE if neither the frame nor the config tells. */
int idwt_read(const struct idwt_config *config, const struct frame *in, size_t index,
              struct dwt_config *dwt, struct dwt_layout *layout, struct plane *original,
              struct fault *fault);

/* How many levels are left split, for a transform of `n_levels`. */
unsigned idwt_kept(const struct idwt_config *config, unsigned n_levels);

/* The factor for a smaller picture: one over the low-pass filters' gain in the levels left split,
 * so that grey stays the same. */
double idwt_scale(const struct dwt_config *dwt, unsigned kept);

/* The definition, in plain C. */
stage_reference idwt_reference;

#endif
