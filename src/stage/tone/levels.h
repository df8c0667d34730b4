/* Parameters of the stage levels, and its definition sample by sample. */
#ifndef SLUICE_STAGE_TONE_LEVELS_H
#define SLUICE_STAGE_TONE_LEVELS_H

#include "base/fault.h"
#include "image/frame.h"
#include "param/param.h"

enum {
    LEVELS_MAX = 0 /* as the choice of white and high: the type's largest value, 1 for f32 */
};

struct levels_config {
    double black;
    struct param_scalar white;
    double gamma, low;
    struct param_scalar high;
};

/* The four numbers for samples of a type. For f32, black and white are rounded to f32. */
struct levels_range {
    double black, white, low, high;
};

struct levels_range levels_range(const struct levels_config *config, enum sample_type type);

/* low + (high − low)·clamp((v − black)/(white − black), 0, 1)^(1/gamma) in double, of samples of
 * the type: not rounded. NaN counts as black. */
double levels_value(const struct levels_config *config, enum sample_type type, double v);

/* The definition, in plain C. */
int levels_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault);

#endif
