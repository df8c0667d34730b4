/* Parameters of the stage gauss: weights of a Gaussian. docs/stages/gauss.md has the definition. */
#ifndef SLUICE_STAGE_GAUSS_H
#define SLUICE_STAGE_GAUSS_H

#include "stage/stage.h"

#define GAUSS_RADIUS_MAX 255
#define GAUSS_SIGMA_MIN  1e-6
#define GAUSS_SIGMA_MAX  1e6
#define GAUSS_TYPES      (1u << SAMPLE_U8 | 1u << SAMPLE_U16 | 1u << SAMPLE_F32)

struct gauss_config {
    double sigma;
    int64_t radius;
    int border; /* enum border */
};

struct gauss_sharpen; /* what unsharp does behind the blur: unsharp.h */

/* The radius that belongs to a sigma: 3 sigma, rounded up. */
int64_t gauss_radius(double sigma);

/* Weights 0 … radius, of a pixel and of those on either side of it; all 2·radius + 1 sum to 1. */
void gauss_weights(double sigma, int64_t radius, double weights[GAUSS_RADIUS_MAX + 1]);

/* The same in 2^14ths, which sum to 2^14: differences of the rounded running sum. */
void gauss_fixed_weights(const double *weights, int64_t radius,
                         int32_t fixed[GAUSS_RADIUS_MAX + 1]);

/* The window of a struct gauss_config. */
bool gauss_window(const void *config, struct stage_window *window);

/* Passes of both stages, and the definition in plain C; `sharpen` NULL: the blur is the result. */
int gauss_plan(const struct gauss_config *config, const struct gauss_sharpen *sharpen,
               struct stage_plan *plan, struct fault *fault);

int gauss_compute(const struct gauss_config *config, const struct gauss_sharpen *sharpen,
                  const struct picture *in, struct picture *out, struct fault *fault);
stage_reference gauss_reference;

#endif
