/* Shared by the files of the stages dwt, idwt and shrink alone: the passes of the wavelet transform
 * and of its inverse. */
#ifndef SLUICE_STAGE_DWT_PASSES_H
#define SLUICE_STAGE_DWT_PASSES_H

#include "stage/dwt/dwt.h"

/* From plan->in to plan->out, whose planes stand as dwt_add_planes put them, plane after plane. */
void dwt_analysis_passes(const struct dwt_config *config, struct stage_plan *plan);

/* One transform back, all levels but the `kept` finest: from the planes of plan->in at `first` to
 * plane `out` of plan->out, times `scale`. Scratch frames are made with the first call of a plan
 * and are those of `scratch`, whose largest sizes the caller gives. */
struct dwt_scratch {
    uint32_t mid_width, mid_height;       /* in samples; between the directions */
    uint32_t low_width[2], low_height[2]; /* of what comes out of levels, by turns */
    unsigned mid, low[2];                 /* operands; mid is 0 until a level is two kernels */
};

/* Enlarges what `scratch` asks for so that it serves `layout` too. */
void dwt_scratch_reserve(struct dwt_scratch *scratch, const struct dwt_layout *layout);

/* Adds the scratch frames to the plan, but for `mid`. */
void dwt_scratch_add(struct dwt_scratch *scratch, struct stage_plan *plan, enum sample_type type);

void dwt_synthesis_passes(const struct dwt_config *config, const struct dwt_layout *layout,
                          struct dwt_scratch *scratch, struct stage_plan *plan, unsigned out,
                          unsigned kept, double scale);

#endif
