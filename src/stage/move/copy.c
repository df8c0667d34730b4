/* copy writes a frame's samples elsewhere: the last step of a plan whose result has to lie where
 * nothing computes it. */
#include "stage/move/move.h"

#include "stage/common.h"

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    for (unsigned i = 0; i < plan->in->n_planes; i++)
        move_add(plan, i, &(struct move){0});
    return 0;
}

const struct stage stage_copy = {
    .name = "copy",
    .summary = "the same samples in other memory",
    .internal = true,
    .types = STAGE_TYPES_ALL,
    .passes = passes,
    .reference = copy_reference,
};
