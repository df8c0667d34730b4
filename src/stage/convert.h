/* Parameters of the stage convert. */
#ifndef SLUICE_STAGE_CONVERT_H
#define SLUICE_STAGE_CONVERT_H

#include "base/fault.h"
#include "image/frame.h"

struct convert_config {
    int type; /* enum sample_type: u8, u16 or f32 */
};

/* The definition, in plain C. */
int convert_reference(const void *config, const struct picture *in, struct picture *out,
                      struct fault *fault);

#endif
