#include "stage/abs.h"

static int pixel(const void *config, const struct plane *in, struct pixel_function *function,
                 struct fault *fault)
{
    enum sample_type type = in->type;
    function->type = type;
    function->keep_alpha = true;
    function->identity = type == SAMPLE_U8 || type == SAMPLE_U16;
    function->needs.work = 2;
    if (sample_is_integer(type))
        pass_define(&function->needs, "SRC_MAX", "%d", (int)sample_max(type));
    return 0;
}

const struct stage stage_abs = {
    .name = "abs",
    .summary = "the sample without its sign; of the least i8, i16 or i32 the largest",
    .pixel = pixel,
    .sample = abs_sample,
    .bench_type = SAMPLE_I8,
};
