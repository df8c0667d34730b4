/* copy writes a frame's samples elsewhere: the last step of a plan whose result has to lie where
 * nothing computes it. */
#include "stage/move/move.h"

#include "stage/common.h"

static void add(const void *config, struct stage_plan *plan, unsigned plane)
{
    move_add(plan, plane, &(struct move){0});
}

const struct stage stage_copy = {
    .name = "copy",
    .summary = "the same samples in other memory",
    .internal = true,
    .types = STAGE_TYPES_ALL,
    .add = add,
    .reference = copy_reference,
};
