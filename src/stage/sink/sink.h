/* The internal stage sink: makes of a chain's last frame what a picture format can hold. No user
 * writes it; a plan ends with it where the format asks (chain/plan.h). */
#ifndef SLUICE_STAGE_SINK_H
#define SLUICE_STAGE_SINK_H

#include "stage/stage.h"

struct sink_config {
    const struct plane *targets; /* type and channels that each plane of the input becomes */
};

extern const struct stage stage_sink;

/* The definition, in plain C. */
int sink_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault);

#endif
