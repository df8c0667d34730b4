/* Parameters of the stage shrink. */
#ifndef SLUICE_STAGE_DWT_SHRINK_H
#define SLUICE_STAGE_DWT_SHRINK_H

#include "stage/dwt/dwt.h"
#include "stage/stage.h"

enum shrink_rule {
    SHRINK_SOFT,    /* c moves towards 0 by T; 0 if |c| ≤ T */
    SHRINK_HARD,    /* 0 if |c| < T; otherwise unchanged */
    SHRINK_GARROTE, /* c − T²/c; 0 if |c| ≤ T */
    SHRINK_FIRM, /* 0 if |c| ≤ T; unchanged if |c| > upper · T; between, from 0 on in a line */
    SHRINK_GREATER, /* 0 if c < T; otherwise unchanged */
    SHRINK_LESS,    /* 0 if c > T; otherwise unchanged */
};

enum {
    SHRINK_UNIVERSAL,
    SHRINK_BAYES,
    SHRINK_SURE
}; /* choices of threshold */
enum {
    SHRINK_ALL = 0
}; /* choice of levels */

struct shrink_config {
    int rule; /* enum shrink_rule */
    struct param_scalar threshold;
    struct param_scalar levels; /* how many levels, from the finest */
    double upper;               /* of SHRINK_FIRM; at least 1 */
};

/* Of SHRINK_FIRM: what |c| − T is multiplied with between the thresholds. */
double shrink_slope(const struct shrink_config *config);

/* Whether the coefficients of level i (0: finest) are changed. */
bool shrink_takes_level(const struct shrink_config *config, unsigned i);

/* The norm of the synthesis vectors of a band; a coefficient times this norm is in orthonormal
 * units. 1 for all wavelets except cdf53 and cdf97. Sides of 1, which pass through, do not count.
 */
double shrink_norm(const struct dwt_config *dwt, const struct dwt_layout *layout, unsigned level,
                   enum dwt_band band);

/* With m the median of |HH1|: the factor that makes σ of m, in the units of the band; and for
 * `universal` sqrt(2·ln N) times that, where N is the number of pixels of the plane that dwt split.
 */
double shrink_sigma_factor(const struct dwt_config *dwt, const struct dwt_layout *layout,
                           unsigned level, enum dwt_band band);
double shrink_universal_factor(const struct dwt_config *dwt, const struct dwt_layout *layout,
                               unsigned level, enum dwt_band band);

/* For `sure`: how many thresholds are compared, beside 0, at equal steps up to the universal
 * threshold of a band of n coefficients; with the median of |HH1| times the factor such a step; and
 * the weight of the count of coefficients below a threshold, in quarters of a step's square. */
#define SHRINK_STEPS 256
double shrink_step_factor(const struct dwt_config *dwt, const struct dwt_layout *layout,
                          unsigned level, enum dwt_band band, uint64_t n);
int32_t shrink_step_weight(uint64_t n);

/* Where kernels find the thresholds (cl/dwt/shrink_rule.cl): a buffer. */
struct shrink_limits {
    const struct shrink_config *config;
    enum sample_type type; /* of coefficients */
    unsigned values;       /* operand */
};

/* For a stage that applies the thresholds itself as it reads plan->in, the planes of one transform,
 * on GPUs with local memory: adds the passes that find them. limits->values stays 0 where there are
 * none, or the device is another. */
int shrink_find_limits(const struct shrink_config *config, struct stage_plan *plan,
                       struct shrink_limits *limits, struct fault *fault);

/* Adds definitions, and the arguments LIMITS_IN. */
void shrink_add_limits(struct pass *pass, const struct shrink_limits *limits);

/* The number of the first value of a plane, one for each channel. */
unsigned shrink_value_at(unsigned plane);

extern const struct stage stage_shrink;

/* The definition, in plain C. */
stage_reference shrink_reference;

#endif
