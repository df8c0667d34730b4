#include "stage/convert.h"

#include <math.h>
#include <stdio.h>

#include "stage/common.h"

#define ZERO_MAX 65535

static const struct param params[] = {
    PARAM(CHOICE, "type", offsetof(struct convert_config, type),
          "of the samples that come out; values stay, rounded and limited to its range",
          CHOICES({"same", CONVERT_SAME}, {"u8", SAMPLE_U8}, {"i8", SAMPLE_I8}, {"u16", SAMPLE_U16},
                  {"f16", SAMPLE_F16}, {"f32", SAMPLE_F32}),
          DEFAULT("same")),
    PARAM(CHOICE, "channels", offsetof(struct convert_config, channels),
          "1: grey, of colours their luma; 3: red, green and blue; 4: and alpha",
          CHOICES({"same", CONVERT_SAME}, {"1", 1}, {"3", 3}, {"4", 4}), DEFAULT("same")),
    PARAM(CHOICE, "layout", offsetof(struct convert_config, planar),
          "chw: the channels below each other, as neural networks ask for them; files of arrays "
          "then have "
          "the shape (C, H, W)",
          CHOICES({"same", CONVERT_SAME}, {"chw", 1}), DEFAULT("same")),
    PARAM(REAL, "scale", offsetof(struct convert_config, scale),
          "quantizes: how far an integer that comes out is from the next; 1 unless given",
          RANGE(1e-6, 1e6)),
    PARAM(INTEGER, "zero", offsetof(struct convert_config, zero),
          "quantizes: the integer that means 0 (zero point); 0 unless given",
          RANGE(-ZERO_MAX, ZERO_MAX)),
    {0},
};

enum sample_type convert_type(const struct convert_config *config, const struct plane *in)
{
    return config->type == CONVERT_SAME ? in->type : (enum sample_type)config->type;
}

bool convert_scales(const struct convert_config *config, const struct plane *in)
{
    enum sample_type to = convert_type(config, in);
    return !config->quantizes && !sample_is_integer(in->type) &&
           (to == SAMPLE_U8 || to == SAMPLE_U16) && plane_white(in) == 1;
}

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct convert_config *config = config_;
    const param_given scale = param_bit(params, "scale");
    config->quantizes = *given & (scale | param_bit(params, "zero"));
    if (!(*given & scale))
        config->scale = 1;
    if (!*given)
        return fault_set(
            fault, FAULT_CHAIN,
            "convert: type is missing: expected u8, i8, u16, f16 or f32; or channels: 1, 3 or "
            "4; or layout: chw");
    if (config->quantizes &&
        (config->type == CONVERT_SAME || !sample_is_integer((enum sample_type)config->type)))
        return fault_set(fault, FAULT_CHAIN,
                         "convert: scale and zero are of integers: say type=u8, i8 or u16, too");
    return 0;
}

/* What cl/convert.cl makes numbers of, and of these. */
static void define_ways(struct pixel_function *function, enum sample_type from, bool scales)
{
    enum sample_type to = function->type;
    bool twice = from == SAMPLE_F64 && to == SAMPLE_F16; /* rounded, but to an odd one first */
    pass_define(&function->needs, "FROM", "%s",
                from == SAMPLE_F16   ? "half"
                : from != SAMPLE_F64 ? "number"
                : twice              ? "odd_f64"
                                     : "f64");
    pass_define(&function->needs, "TO", "%s",
                function->identity        ? "same"
                : scales                  ? "scaled"
                : to == SAMPLE_F32        ? "float"
                : to == SAMPLE_F16        ? "half"
                : from == SAMPLE_F64      ? "saturated"
                : sample_is_integer(from) ? "limited"
                                          : "rounded");
}

static int pixel(const void *config_, const struct plane *in, struct pixel_function *function,
                 struct fault *fault)
{
    const struct convert_config *config = config_;
    enum sample_type type = in->type;
    function->type = convert_type(config, in);
    function->identity = function->type == type && !config->quantizes;
    function->widens = function->type == SAMPLE_F32 && sample_is_integer(type) &&
                       sample_size(type) <= 2 && !config->quantizes; /* others need not be f32 */
    /* its bits are taken apart, one sample after the other */
    function->scalar = type == SAMPLE_F64;
    function->needs.work = type == SAMPLE_F64                                   ? 20
                           : type == SAMPLE_F16 || function->type == SAMPLE_F16 ? 12
                                                                                : 4;
    if (sample_is_integer(function->type)) { /* the part of its range that samples can reach */
        double least = sample_min(function->type), most = sample_max(function->type);
        double low = sample_is_integer(type) ? fmax(sample_min(type), least) : least;
        double high = sample_is_integer(type) ? fmin(sample_max(type), most) : most;
        pass_define(&function->needs, "LOWEST", "%d", (int)low);
        pass_define(&function->needs, "HIGHEST", "%d", (int)high);
        pass_define(&function->needs, "DST_MIN", "%d", (int)least);
        pass_define(&function->needs, "DST_MAX", "%d", (int)most);
    }
    define_ways(function, type, convert_scales(config, in));
    if (config->quantizes) {
        pass_kernel(&function->needs, "quantized");
        snprintf(function->variant, sizeof function->variant, "quantized");
        pass_define(&function->needs, "EXACT_DIVIDE", "%d",
                    function->plan && function->plan->profile->exact_divide);
        function->needs.work += 6;
        pass_floats(&function->needs, (float)config->scale, 1 / (float)config->scale,
                    (float)config->zero);
    } else if (convert_scales(config, in)) {
        snprintf(function->variant, sizeof function->variant, "scaled");
        function->scalar = true;
    }
    return 0;
}

static bool is_per_pixel(const void *config_)
{
    const struct convert_config *config = config_;
    return config->channels == CONVERT_SAME && config->planar == CONVERT_SAME;
}

static uint32_t channels_of(const struct convert_config *config, const struct plane *in)
{
    return config->channels == CONVERT_SAME ? in->channels : (uint32_t)config->channels;
}

static int change(const void *config_, struct plane *plane, struct fault *fault)
{
    const struct convert_config *config = config_;
    bool is_colour = plane->channels > 2;
    plane->type = convert_type(config, plane);
    plane->channels = channels_of(config, plane);
    if (config->channels == 1 && is_colour && plane->type != SAMPLE_U8 &&
        plane->type != SAMPLE_U16 && plane->type != SAMPLE_F32)
        return fault_set(fault, FAULT_SHAPE,
                         "convert:channels=1 takes colours of type u8, u16 and f32, not %s; say "
                         "type=f32, too",
                         sample_name(plane->type));
    if (config->planar == CONVERT_SAME)
        return 0;
    if (plane->height > INT32_MAX / plane->channels)
        return fault_set(fault, FAULT_LIMIT,
                         "convert:layout=chw: %u channels of %u rows are more than 2^31 rows",
                         plane->channels, plane->height);
    plane->layers = plane->channels;
    plane->height *= plane->channels;
    plane->channels = 1;
    return 0;
}

/* A plane on its way: where it lies, and what it is. */
struct place {
    unsigned operand, plane;
    struct plane of;
};

/* A kernel that moves samples, as unsigned integers of their size, or makes luma of them. */
static struct pass *begin_move(struct stage_plan *plan, const char *kernel, bool computes,
                               const struct place *from, const struct place *to)
{
    enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    const struct plane *in = &from->of;
    struct pass *pass = pass_begin(plan, "convert", kernel, form, 0, in->width, in->height);
    size_t size = sample_size(in->type);
    if (computes) {
        pass_define_type(pass, "SRC", in->type);
    } else if (size <= 2) {
        pass_define_type(pass, "SRC", size == 1 ? SAMPLE_U8 : SAMPLE_U16);
    } else {
        pass_define(pass, "SRC", "%s", size == 4 ? "uint" : "ulong");
        pass_name(pass, size == 4 ? "u32" : "u64");
    }
    pass_channels(pass, in->channels, to->of.channels);
    pass_name(pass, kernel_form_name(form));
    pass->bytes_read = plane_bytes(in);
    pass->bytes_written = plane_bytes(&to->of);
    pass_plane(pass, from->operand, from->plane);
    pass_plane(pass, to->operand, to->plane);
    pass->writes = to->operand;
    return pass;
}

/* White is an argument: its bits, the lowest first, as on all processors that sluice is for. */
static void add_channels(const struct convert_config *config, struct stage_plan *plan,
                         const struct place *from, const struct place *to)
{
    const struct plane *out = &to->of;
    bool is_luma = config->channels == 1 && from->of.channels > 2;
    struct pass *pass = begin_move(plan, "channels", is_luma, from, to);
    pass_set_rows(pass, 1, 0, 0, BORDER_EDGE, 0);
    pass->work = 4.0 * out->channels;
    int64_t bits = 0;
    sample_store(out->type, &bits, plane_white(out));
    pass_long(pass, bits);
}

static void add_planar(struct stage_plan *plan, const struct place *from, const struct place *to)
{
    struct pass *pass = begin_move(plan, "planar", false, from, to);
    pass->work = 2.0 * from->of.channels;
    pass_ints(pass, from->of.height);
}

/* Where the next pass writes a plane like `of`: the result, or scratch memory number `between`, a
 * frame with a plane for each of the input's. */
static int next_place(struct stage_plan *plan, unsigned i, bool is_last, const struct plane *of,
                      unsigned *between, struct place *to, struct fault *fault)
{
    *to = (struct place){OPERAND_OUT, i, is_last ? plan->out->planes[i] : *of};
    if (is_last)
        return 0;
    if (*between == 0)
        *between = OPERAND_SCRATCH + plan->n_scratch++;
    struct frame *frame = &plan->scratch[*between - OPERAND_SCRATCH];
    to->operand = *between;
    to->plane = (unsigned)frame->n_planes;
    return stage_add_plane(frame, of, FRAME_ALIGNMENT, fault);
}

static void add_type(struct stage_plan *plan, unsigned i, const struct pixel_function *function,
                     const struct place *to)
{
    pass_pixel(plan, i, function);
    struct pass *pass = &plan->passes[plan->n_passes - 1];
    pass->args[1].operand = to->operand;
    pass->args[1].plane = to->plane;
    pass->writes = to->operand;
    pass->bytes_written = plane_bytes(&to->of);
}

/* The plane's type first, then its channels, then their layout. */
static int add_passes(const struct convert_config *config, struct stage_plan *plan, unsigned i,
                      unsigned between[2], struct fault *fault)
{
    const struct plane *in = &plan->in->planes[i];
    struct pixel_function function = {.plan = plan, .needs = {.work = 4}};
    struct place at = {OPERAND_IN, i, *in}, to;
    struct plane next = *in;
    int result = pixel(config, in, &function, fault);
    const bool channels = channels_of(config, in) != in->channels;
    const bool planar = config->planar == 1 && channels_of(config, in) > 1;
    const bool type = !function.identity || !(channels || planar);
    for (int step = 0; step < 3 && result == 0; step++) {
        if (!(step == 0 ? type : step == 1 ? channels : planar))
            continue;
        bool is_last = step == 2 || (!planar && (step == 1 || !channels));
        next.type = function.type;
        if (step == 1) {
            next.channels = channels_of(config, in);
            next.white = plan->out->planes[i].white;
        }
        result = next_place(plan, i, is_last, &next, is_last ? NULL : &between[step], &to, fault);
        if (result != 0)
            return result;
        if (step == 0)
            add_type(plan, i, &function, &to);
        else if (step == 1)
            add_channels(config, plan, &at, &to);
        else
            add_planar(plan, &at, &to);
        at = to;
    }
    return result;
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct convert_config *config = config_;
    bool needed = config->quantizes;
    unsigned between[2] = {0};
    int result = 0;
    for (unsigned i = 0; i < plan->in->n_planes; i++)
        needed |= plan->in->planes[i].type != plan->out->planes[i].type ||
                  plan->in->planes[i].channels != plan->out->planes[i].channels ||
                  plan->in->planes[i].height != plan->out->planes[i].height;
    for (unsigned i = 0; needed && i < plan->in->n_planes && result == 0; i++)
        result = add_passes(config, plan, i, between, fault);
    return result;
}

/* Rows of planes below each other are not those of the input. */
static bool window(const void *config_, struct stage_window *window)
{
    const struct convert_config *config = config_;
    return config->planar == CONVERT_SAME && stage_window_of_pixel(config, window);
}

const struct stage stage_convert = {
    .name = "convert",
    .chains = (const char *const[]){"convert:type=same:channels=1", "convert:type=same:channels=3",
                                    "convert:type=same:channels=4", "convert:type=u8:channels=1",
                                    "convert:type=u16:channels=1", "convert:type=f32:channels=1",
                                    "convert:type=i8", "convert:type=f16",
                                    "convert:type=u8:scale=2", "convert:type=i8:scale=2",
                                    "convert:type=u16:scale=2", "convert:layout=chw", NULL},
    .summary = "samples of another type with the same values, rounded and limited to its range, or "
               "quantized; "
               "other channels; channels below each other",
    .params = params,
    .config_size = sizeof(struct convert_config),
    .complete = complete,
    .types = STAGE_TYPES_ALL,
    .window = window,
    .change = change,
    .passes = passes,
    .pixel = pixel,
    .is_per_pixel = is_per_pixel,
    .at = convert_at,
    .bench = "convert:f32",
};
