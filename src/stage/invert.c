#include "stage/invert.h"

#include "stage/common.h"

static int pixel(const void *config, enum sample_type type, struct pixel_function *function,
                 struct fault *fault)
{
    (void)config;
    function->type = type;
    function->keep_alpha = true;
    if (sample_is_integer(type))
        pixel_define(function, "SRC_MAX", "%d", (int)sample_max(type));
    return stage_require_type("invert", type, STAGE_TYPES_BUT_F64, fault);
}

const struct stage stage_invert = {
    .name = "invert",
    .summary = "the negative: the largest value minus the sample, or 1 minus it for f32",
    .pixel = pixel,
    .reference = invert_reference,
};
