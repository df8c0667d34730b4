/* Parameters of the stage convert. */
#ifndef SLUICE_STAGE_CONVERT_H
#define SLUICE_STAGE_CONVERT_H

#include "stage/stage.h"

#define CONVERT_SAME (-1) /* of both parameters: what comes in */

struct convert_config {
    int type;     /* enum sample_type: u8, u16 or f32 */
    int channels; /* 1, 3 or 4 */
};

/* The type that comes out for a plane. */
enum sample_type convert_type(const struct convert_config *config, const struct plane *in);

/* Whether values are multiplied by the largest of the type that comes out: floats whose white is 1.
 */
bool convert_scales(const struct convert_config *config, const struct plane *in);

/* The definition, in plain C. */
stage_reference convert_reference;

#endif
