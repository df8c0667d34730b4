/* Parameters of the stage convert. */
#ifndef SLUICE_STAGE_CONVERT_H
#define SLUICE_STAGE_CONVERT_H

#include "stage/stage.h"

#define CONVERT_SAME (-1) /* what comes in */

struct convert_config {
    int type;       /* enum sample_type: u8, i8, u16, f16 or f32; CONVERT_SAME */
    int channels;   /* 1, 3 or 4; CONVERT_SAME */
    int planar;     /* 1: the channels below each other; CONVERT_SAME */
    double scale;   /* of integers: the step from one to the next */
    int64_t zero;   /* and which of them means 0 */
    bool quantizes; /* scale or zero were given */
};

/* The type that comes out for a plane. */
enum sample_type convert_type(const struct convert_config *config, const struct plane *in);

/* Whether values are multiplied by the largest of the type that comes out: floats whose white is 1,
 * to unsigned integers, unless they are divided by `scale`. */
bool convert_scales(const struct convert_config *config, const struct plane *in);

/* The definition, in plain C. */
stage_at convert_at;

#endif
