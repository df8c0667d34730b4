#include "stage/convert.h"

#include "stage/stage.h"

static const struct param_choice type_choices[] = {
    {"u8", SAMPLE_U8},
    {"u16", SAMPLE_U16},
    {"f32", SAMPLE_F32},
    {NULL, 0},
};

static const struct param params[] = {
    PARAM(CHOICE, "type", offsetof(struct convert_config, type),
          "of the samples that come out; values stay, rounded and limited to its range",
          .choices = type_choices, .required = true),
    {0},
};

/* Defines which part of the target's range samples of type `from` can reach. */
static void define_limits(struct pixel_function *function, enum sample_type from,
                          enum sample_type to)
{
    double high = sample_max(to) < sample_max(from) ? sample_max(to) : sample_max(from);
    pixel_define(function, "HIGHEST", "%d", (int)high);
    pixel_define(function, "DST_MAX", "%d", (int)sample_max(to));
}

static int pixel(const void *config_, enum sample_type type, struct pixel_function *function,
                 struct fault *fault)
{
    const struct convert_config *config = config_;
    (void)fault;
    function->type = (enum sample_type)config->type;
    function->identity = function->type == type;
    /* its bits are taken apart, one sample after the other */
    function->scalar = type == SAMPLE_F64;
    function->work = type == SAMPLE_F64 ? 20 : 4;
    if (sample_is_integer(function->type))
        define_limits(function, sample_is_integer(type) ? type : function->type, function->type);
    return 0;
}

const struct stage stage_convert = {
    .name = "convert",
    .summary = "samples of another type with the same values, rounded and limited to its range",
    .params = params,
    .config_size = sizeof(struct convert_config),
    .pixel = pixel,
    .reference = convert_reference,
    .bench = "convert:f32",
};
