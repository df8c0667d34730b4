#include "stage/move/move.h"

#include "stage/common.h"

static const struct param params[] = {
    PARAM(CHOICE, "axis", offsetof(struct flip_config, axis),
          "x: left and right change places; y: top and bottom do",
          CHOICES({"x", FLIP_X}, {"y", FLIP_Y}), .required = true),
    {0},
};

static void add(const void *config_, struct stage_plan *plan, unsigned plane)
{
    const struct flip_config *config = config_;
    const struct move move = {.mirror_x = config->axis == FLIP_X,
                              .mirror_y = config->axis == FLIP_Y};
    move_add(plan, plane, &move);
}

const struct stage stage_flip = {
    .name = "flip",
    .chains = (const char *const[]){"flip:axis=x", NULL},
    .summary = "the picture in a mirror: left and right, or top and bottom, change places",
    .params = params,
    .config_size = sizeof(struct flip_config),
    .types = STAGE_TYPES_ALL,
    .add = add,
    .reference = flip_reference,
    .bench = "flip:x",
};
