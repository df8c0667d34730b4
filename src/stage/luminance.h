/* Parameters of the stage luminance: one grey channel from RGB.
 *
 * Weights: ITU-R BT.601-7 (0.299, 0.587, 0.114), BT.709-6 (0.2126, 0.7152, 0.0722) and BT.2020-2
 * (0.2627, 0.6780, 0.0593), in 65536ths rounded so that they sum to 65536 and grey stays grey. */
#ifndef SLUICE_STAGE_LUMINANCE_H
#define SLUICE_STAGE_LUMINANCE_H

#include "stage/stage.h"

enum luminance_weights {
    LUMINANCE_BT601,
    LUMINANCE_BT709,
    LUMINANCE_BT2020,
};

struct luminance_config {
    struct param_matrix weights;
    bool exact; /* compute the formula even if the file has its own Y channel */
};

/* The weights of red, green and blue in 65536ths, with the sum 65536. A user's weights are rounded
 * by largest remainder; of equal remainders green comes first. */
void luminance_weights(const struct luminance_config *config, uint32_t weights[3]);

/* Those of the standards. */
extern const uint32_t luminance_standards[][3];

/* For references: the sum of the colours by such weights, of f32 in f32, else rounded; and that of
 * a picture's pixel, which is grey as it is. */
double luminance_sum(enum sample_type type, const double rgb[3], const uint32_t weights[3]);
double luminance_of(const struct stage_place *place, const uint32_t weights[3]);

/* The definition, in plain C. */
stage_at luminance_at;

#endif
