#include "stage/invert.h"

#include "stage/common.h"

static int pixel(const void *config, const struct plane *in, struct pixel_function *function,
                 struct fault *fault)
{
    function->type = in->type;
    function->keep_alpha = true;
    if (sample_is_integer(in->type)) {
        pass_define(&function->needs, "SRC_MAX", "%d", (int)plane_white(in));
    } else {
        pass_kernel(&function->needs, "float");
        pass_float(&function->needs, (float)plane_white(in));
    }
    return 0;
}

const struct stage stage_invert = {
    .name = "invert",
    .summary = "the negative: white minus the sample",
    .types = STAGE_TYPES_BUT_F64,
    .pixel = pixel,
    .sample = invert_sample,
};
