/* Parameters of the stage gauss: weights of a Gaussian. docs/stages/gauss.md has the definition. */
#ifndef SLUICE_STAGE_GAUSS_H
#define SLUICE_STAGE_GAUSS_H

#include "base/fault.h"
#include "image/border.h"
#include "image/frame.h"
#include "param/param.h"
#include "stage/pass.h"

#define GAUSS_RADIUS_MAX 255
#define GAUSS_SIGMA_MIN  1e-6
#define GAUSS_SIGMA_MAX  1e6

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

int gauss_shape(const char *stage, const struct gauss_config *config, const struct frame *in,
                size_t alignment, struct frame *out, struct fault *fault);

/* Passes of both stages, and the definition in plain C; `sharpen` NULL: the blur is the result. */
int gauss_plan(const struct gauss_config *config, const struct gauss_sharpen *sharpen,
               struct stage_plan *plan, struct fault *fault);

int gauss_compute(const struct gauss_config *config, const struct gauss_sharpen *sharpen,
                  const struct picture *in, struct picture *out, struct fault *fault);
int gauss_reference(const void *config, const struct picture *in, struct picture *out,
                    struct fault *fault);

#endif
