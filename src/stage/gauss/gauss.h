/* Parameters of the stages gauss and unsharp: weights of a Gaussian, and what unsharp does behind
 * the blur. docs/stages/ has the definitions. */
#ifndef SLUICE_STAGE_GAUSS_H
#define SLUICE_STAGE_GAUSS_H

#include "base/ratio.h"
#include "stage/stage.h"

#define GAUSS_RADIUS_MAX 255
#define GAUSS_SIGMA_MIN  1e-6
#define GAUSS_SIGMA_MAX  1e6
#define GAUSS_TYPES      (1u << SAMPLE_U8 | 1u << SAMPLE_U16 | 1u << SAMPLE_F32)

struct gauss_config {
    int sharpens; /* 0: gauss; 1: unsharp */
    double sigma;
    int64_t radius;
    int border; /* enum border */
    double amount, threshold;
    struct ratio exact; /* the amount as a fraction */
};

/* The radius that belongs to a sigma: 3 sigma, rounded up. */
int64_t gauss_radius(double sigma);

/* Weights 0 … radius, of a pixel and of those on either side of it; all 2·radius + 1 sum to 1. */
void gauss_weights(double sigma, int64_t radius, double weights[GAUSS_RADIUS_MAX + 1]);

/* The same in 2^14ths, which sum to 2^14: differences of the rounded running sum. */
void gauss_fixed_weights(const double *weights, int64_t radius,
                         int32_t fixed[GAUSS_RADIUS_MAX + 1]);

/* What unsharp adds to an integer sample that is `d` more than the blurred one: rne(amount · d),
 * exactly, or 0 below the threshold. */
double gauss_change(const struct gauss_config *config, int64_t d);

/* What the stages do with their config, and the definition in plain C. */
bool gauss_window(const void *config, struct stage_window *window);
int gauss_passes(const void *config, struct stage_plan *plan, struct fault *fault);
stage_reference gauss_reference;

#endif
