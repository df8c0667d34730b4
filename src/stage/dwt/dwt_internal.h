/* Shared by the files of the stages dwt, idwt and shrink alone: the passes of the wavelet transform
 * and of its inverse. */
#ifndef SLUICE_STAGE_DWT_PASSES_H
#define SLUICE_STAGE_DWT_PASSES_H

#include "stage/dwt/dwt.h"

/* Adds passes from plan->in to plan->out, whose planes dwt_add_planes has laid out, plane by plane.
 */
void dwt_analysis_passes(const struct dwt_config *config, struct stage_plan *plan);

/* The inverse of one transform, without its `kept` finest levels: from the planes of plan->in that
 * begin at `first` to plane `out` of plan->out, times `scale`. The first call for a plan makes
 * scratch frames of the sizes in `scratch`, which the caller sets to the largest needed. */
struct dwt_scratch {
    uint32_t mid_width, mid_height;       /* in samples; between the directions */
    uint32_t low_width[2], low_height[2]; /* of the results of levels, by turns */
    unsigned mid, low[2];                 /* operands; mid is 0 until a level needs two kernels */
};

/* Enlarges `scratch` so that it is enough for `layout`, too. */
void dwt_scratch_reserve(struct dwt_scratch *scratch, const struct dwt_layout *layout);

/* Adds the scratch frames to the plan, except `mid`. */
void dwt_scratch_add(struct dwt_scratch *scratch, struct stage_plan *plan, enum sample_type type);

void dwt_synthesis_passes(const struct dwt_config *config, const struct dwt_layout *layout,
                          struct dwt_scratch *scratch, struct stage_plan *plan, unsigned out,
                          unsigned kept, double scale);

#endif
