/* Parameters of the stage levels, and its definition sample by sample. */
#ifndef SLUICE_STAGE_TONE_LEVELS_H
#define SLUICE_STAGE_TONE_LEVELS_H

#include "stage/stage.h"

enum {
    LEVELS_MAX = 0 /* choice of white and high: the plane's white */
};

struct levels_config {
    double black;
    struct param_scalar white;
    double gamma, low;
    struct param_scalar high;
};

/* The four numbers for a plane's samples. For f32, black and white are rounded to f32. */
struct levels_range {
    double black, white, low, high;
};

struct levels_range levels_range(const struct levels_config *config, const struct plane *in);

/* low + (high − low)·clamp((v − black)/(white − black), 0, 1)^(1/gamma) in double, of samples of
 * the plane: not rounded. NaN counts as black. */
double levels_value(const struct levels_config *config, const struct plane *in, double v);

/* The definition, in plain C. */
stage_sample levels_sample;

#endif
