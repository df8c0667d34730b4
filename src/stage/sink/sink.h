/* The internal stage sink: converts a chain's last frame to what a picture format can hold. It is
 * not for chains; a plan ends with it if the format needs it (chain/plan.h). */
#ifndef SLUICE_STAGE_SINK_H
#define SLUICE_STAGE_SINK_H

#include "stage/stage.h"

struct sink_config {
    size_t n_planes;
    struct plane targets[]; /* type and channels for each plane of the input */
};

extern const struct stage stage_sink;

/* The definition, in plain C. */
stage_at sink_at;

#endif
