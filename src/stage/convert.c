#include "stage/convert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stage/common.h"

static const struct param_choice type_choices[] = {
    {"same", CONVERT_SAME}, {"u8", SAMPLE_U8}, {"u16", SAMPLE_U16}, {"f32", SAMPLE_F32}, {NULL, 0},
};

static const struct param_choice channels_choices[] = {
    {"same", CONVERT_SAME}, {"1", 1}, {"3", 3}, {"4", 4}, {NULL, 0},
};

static const struct param params[] = {
    PARAM(CHOICE, "type", offsetof(struct convert_config, type),
          "of the samples that come out; values stay, rounded and limited to its range",
          .choices = type_choices, DEFAULT("same")),
    PARAM(CHOICE, "channels", offsetof(struct convert_config, channels),
          "1: grey, of colours their luma; 3: red, green and blue; 4: and alpha",
          .choices = channels_choices, DEFAULT("same")),
    {0},
};

enum sample_type convert_type(const struct convert_config *config, const struct plane *in)
{
    return config->type == CONVERT_SAME ? in->type : (enum sample_type)config->type;
}

bool convert_scales(const struct convert_config *config, const struct plane *in)
{
    return !sample_is_integer(in->type) && sample_is_integer(convert_type(config, in)) &&
           plane_white(in) == 1;
}

static int complete(void *config_, param_given *given, struct fault *fault)
{
    if (*given)
        return 0;
    return fault_set(fault, FAULT_CHAIN,
                     "convert: type is missing: expected u8, u16 or f32; or channels: 1, 3 or 4");
}

static int pixel(const void *config_, const struct plane *in, struct pixel_function *function,
                 struct fault *fault)
{
    const struct convert_config *config = config_;
    enum sample_type type = in->type;
    function->type = convert_type(config, in);
    function->identity = function->type == type;
    if (function->identity)
        pixel_define(function, "KEEPS_TYPE", "1");
    /* its bits are taken apart, one sample after the other */
    function->scalar = type == SAMPLE_F64;
    function->work = type == SAMPLE_F64 ? 20 : 4;
    if (sample_is_integer(function->type)) { /* the part of its range that samples can reach */
        double most = sample_max(function->type);
        double high = sample_is_integer(type) ? fmin(sample_max(type), most) : most;
        pixel_define(function, "HIGHEST", "%d", (int)high);
        pixel_define(function, "DST_MAX", "%d", (int)most);
    }
    if (convert_scales(config, in)) {
        pixel_define(function, "SCALED", "1");
        snprintf(function->variant, sizeof function->variant, "scaled");
        function->scalar = true;
    }
    return 0;
}

static bool is_per_pixel(const void *config)
{
    return ((const struct convert_config *)config)->channels == CONVERT_SAME;
}

static int shape(const void *config_, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    const struct convert_config *config = config_;
    for (size_t i = 0; i < in->n_planes; i++) {
        struct plane plane = in->planes[i];
        plane.type = convert_type(config, &in->planes[i]);
        if (config->channels != CONVERT_SAME)
            plane.channels = (uint32_t)config->channels;
        if (config->channels == 1 && in->planes[i].channels > 2 && plane.type != SAMPLE_U8 &&
            plane.type != SAMPLE_U16 && plane.type != SAMPLE_F32)
            return fault_set(
                fault, FAULT_SHAPE,
                "convert:channels=1 takes colours of type u8, u16 and f32, not %s; say "
                "type=f32, too",
                sample_name(plane.type));
        if (!frame_add_plane(out, &plane, alignment))
            return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    }
    return 0;
}

/* White is an argument: the bits of a float or of a double, or an integer. */
static void add_channels(const struct convert_config *config, struct stage_plan *plan, unsigned i,
                         unsigned operand, unsigned plane)
{
    const struct plane *in = &plan->in->planes[i], *out = &plan->out->planes[i];
    enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    struct pass *pass = pass_begin(plan, "convert", "channels", form, 0, in->width, in->height);
    size_t size = sample_size(out->type);
    if (config->channels == 1 && in->channels > 2) {
        pass_define_type(pass, "SRC", out->type);
    } else if (size <= 2) { /* only moved, as the unsigned type of its size, and so below */
        pass_define_type(pass, "SRC", size == 1 ? SAMPLE_U8 : SAMPLE_U16);
    } else {
        pass_define(pass, "SRC", "%s", size == 4 ? "uint" : "ulong");
        pass_name(pass, size == 4 ? "u32" : "u64");
    }
    pass_channels(pass, in->channels, out->channels);
    pass_name(pass, kernel_form_name(form));
    pass->work = 4.0 * out->channels;
    pass->bytes_read = plane_bytes(out) / out->channels * in->channels;
    pass->bytes_written = plane_bytes(out);
    pass_plane(pass, operand, plane);
    pass_plane(pass, OPERAND_OUT, i);
    double white = plane_white(out);
    float in_f32 = (float)white;
    int64_t bits = sample_is_integer(out->type) ? (int64_t)white : 0;
    if (out->type == SAMPLE_F64)
        memcpy(&bits, &white, sizeof white);
    else if (out->type == SAMPLE_F32)
        memcpy(&bits, &in_f32, sizeof in_f32);
    pass_long(pass, bits);
}

/* The plane's type first, then its channels. Between the two, planes lie in scratch memory, one for
 * each of the input. */
static int add_passes(const struct convert_config *config, struct stage_plan *plan, unsigned i,
                      unsigned *between, struct fault *fault)
{
    const struct plane *in = &plan->in->planes[i], *out = &plan->out->planes[i];
    struct pixel_function function = {.plan = plan, .work = 4};
    bool has_type = in->type == out->type, has_channels = in->channels == out->channels;
    int result = pixel(config, in, &function, fault);
    if (result != 0)
        return result;
    if (!has_channels && !has_type) {
        struct plane middle = *in;
        middle.type = out->type;
        if (*between == 0)
            *between = OPERAND_SCRATCH + plan->n_scratch++;
        struct frame *frame = &plan->scratch[*between - OPERAND_SCRATCH];
        if (!frame_add_plane(frame, &middle, FRAME_ALIGNMENT))
            return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    }
    unsigned plane = has_type || has_channels
                         ? i
                         : (unsigned)plan->scratch[*between - OPERAND_SCRATCH].n_planes - 1;
    if (!has_type || has_channels)
        pass_pixel(plan, i, &function);
    if (!has_type && !has_channels) {
        struct pass *pass = &plan->passes[plan->n_passes - 1];
        pass->args[1].operand = *between;
        pass->args[1].plane = plane;
        pass->bytes_written = plane_bytes(&plan->scratch[*between - OPERAND_SCRATCH].planes[plane]);
    }
    if (!has_channels)
        add_channels(config, plan, i, has_type ? OPERAND_IN : *between, plane);
    return 0;
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    bool needed = false;
    unsigned between = 0;
    int result = 0;
    for (unsigned i = 0; i < plan->in->n_planes; i++)
        needed |= plan->in->planes[i].type != plan->out->planes[i].type ||
                  plan->in->planes[i].channels != plan->out->planes[i].channels;
    for (unsigned i = 0; needed && i < plan->in->n_planes && result == 0; i++)
        result = add_passes(config_, plan, i, &between, fault);
    return result;
}

static struct stage_reach reach(const void *config)
{
    return (struct stage_reach){.rows = 1};
}

static const char *const chains[] = {
    "convert:type=same:channels=1",
    "convert:type=same:channels=3",
    "convert:type=same:channels=4",
    "convert:type=u8:channels=1",
    "convert:type=u16:channels=1",
    "convert:type=f32:channels=1",
    NULL,
};

const struct stage stage_convert = {
    .name = "convert",
    .chains = chains,
    .summary =
        "samples of another type with the same values, rounded and limited to its range; other "
        "channels",
    .params = params,
    .config_size = sizeof(struct convert_config),
    .complete = complete,
    .shape = shape,
    .passes = passes,
    .pixel = pixel,
    .is_per_pixel = is_per_pixel,
    .reach = reach,
    .reference = convert_reference,
    .bench = "convert:f32",
};
