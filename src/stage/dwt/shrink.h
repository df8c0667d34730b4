/* Parameters of the stage shrink. */
#ifndef SLUICE_STAGE_DWT_SHRINK_H
#define SLUICE_STAGE_DWT_SHRINK_H

#include "stage/dwt/dwt.h"

enum shrink_rule {
    SHRINK_SOFT,    /* c moves towards 0 by T, and is 0 where |c| ≤ T */
    SHRINK_HARD,    /* c is 0 where |c| < T, else as it is */
    SHRINK_GARROTE, /* c − T²/c, and 0 where |c| ≤ T */
};

enum {
    SHRINK_UNIVERSAL,
    SHRINK_BAYES
}; /* choices of threshold */
enum {
    SHRINK_ALL = 0
}; /* choice of levels */

struct shrink_config {
    int rule; /* enum shrink_rule */
    struct param_scalar threshold;
    struct param_scalar levels; /* the finest that many */
};

/* Whether the coefficients of level i (0: finest) are changed. */
bool shrink_takes_level(const struct shrink_config *config, unsigned i);

/* The norm of the synthesis vectors of a band: coefficients times it are in orthonormal units. 1
 * for all wavelets but cdf53 and cdf97. Sides of 1, which pass through, do not count. */
double shrink_norm(const struct dwt_config *dwt, const struct dwt_layout *layout, unsigned level,
                   enum dwt_band band);

/* With m the median of |HH1|: what makes σ, in the units of the band, of m; and for `universal`
 * the threshold: sqrt(2·ln N) times that, N the pixels of the plane that dwt took apart. */
double shrink_sigma_factor(const struct dwt_config *dwt, const struct dwt_layout *layout,
                           unsigned level, enum dwt_band band);
double shrink_universal_factor(const struct dwt_config *dwt, const struct dwt_layout *layout,
                               unsigned level, enum dwt_band band);

/* The definition, in plain C. */
int shrink_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault);

#endif
