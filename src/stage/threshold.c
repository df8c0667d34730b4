/* With a number, threshold is per-pixel. With t=otsu each plane takes more passes, which find the
 * threshold on the device and leave it there: they count samples, and look for the best place to
 * split the counts. The algorithm is in cl/threshold/otsu.cl, the definition in
 * docs/stages/threshold.md. */
#include "stage/threshold.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stage/box/box.h"
#include "stage/common.h"
#include "stage/count.h"

extern const struct stage stage_box;

static const struct param params[] = {
    PARAM(REAL_OR_CHOICE, "t", offsetof(struct threshold_config, t),
          "the threshold; otsu finds the one that parts the samples' values best, local takes the "
          "mean "
          "around each sample",
          CHOICES({"otsu", THRESHOLD_OTSU}, {"local", THRESHOLD_LOCAL}), .required = true),
    PARAM(REAL, "low", offsetof(struct threshold_config, low), "what comes out for samples below t",
          DEFAULT("0")),
    PARAM(REAL_OR_CHOICE, "high", offsetof(struct threshold_config, high),
          "what comes out for samples of at least t; max is white", CHOICES({"max", THRESHOLD_MAX}),
          DEFAULT("max")),
    PARAM(INTEGER, "radius", offsetof(struct threshold_config, radius),
          "of t=local: the window is a square of 2·radius + 1 pixels a side",
          RANGE(1, (BOX_SIDE_MAX - 1) / 2), DEFAULT("15")),
    PARAM(REAL, "offset", offsetof(struct threshold_config, offset),
          "of t=local: samples this much below the mean still are high", DEFAULT("0")),
    STAGE_BORDER_PARAM(offsetof(struct threshold_config, border)),
    {0},
};

static bool is_per_pixel(const void *config_)
{
    const struct threshold_config *config = config_;
    return config->t.choice != THRESHOLD_OTSU && config->t.choice != THRESHOLD_LOCAL;
}

void threshold_means(const struct threshold_config *config, struct box_config *box)
{
    int64_t side = 2 * config->radius + 1;
    *box = (struct box_config){.height = side, .passes = 1, .border = config->border};
    box->width.count = 1;
    box->width.v[0] = side;
}

/* The number for the kernel: an integer within the type's range, or the bits of a float. */
static int32_t as_sample(enum sample_type type, double value)
{
    float single = (float)value;
    int32_t bits;
    if (type != SAMPLE_F32)
        return (int32_t)sample_saturate(type, value);
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static double high_of(const struct threshold_config *config, const struct plane *in)
{
    return config->high.choice == THRESHOLD_MAX ? plane_white(in) : config->high.value;
}

static void fill_function(const struct threshold_config *config, const struct plane *in,
                          struct pixel_function *function)
{
    double high = high_of(config, in);
    enum sample_type type = in->type;
    function->type = type;
    function->keep_alpha = true;
    function->wide = true; /* half of its time is the loop around it */
    function->work = 3;
    function->n_args = 3;
    function->args[1] = (struct pass_arg){.kind = PASS_INT, .i = as_sample(type, config->low)};
    function->args[2] = (struct pass_arg){.kind = PASS_INT, .i = as_sample(type, high)};
}

/* What a threshold that parts nothing from the rest may have been meant for. */
static const char *doubtful(double t, const struct plane *in)
{
    bool whole = sample_is_integer(in->type);
    if (whole && t > 0 && t < 1)
        return "t is below 1, and these samples are whole numbers: all but 0 and below come out "
               "high; half of white is 128 for u8, 32768 for u16";
    if (whole && t > sample_max(in->type))
        return "t is above every sample of this type: all come out low";
    if (whole && t <= sample_min(in->type))
        return "t is not above any sample of this type: all come out high";
    return NULL;
}

static int pixel(const void *config_, const struct plane *in, struct pixel_function *function,
                 struct fault *fault)
{
    const struct threshold_config *config = config_;
    enum sample_type type = in->type;
    fill_function(config, in, function);
    double t = sample_is_integer(type) ? ceil(config->t.value) : config->t.value;
    function->args[0] = (struct pass_arg){.kind = PASS_INT, .i = as_sample(type, t)};
    if (sample_is_integer(type) && t > sample_max(type)) /* no sample is so large */
        function->args[2] = function->args[1];
    if (function->plan)
        function->plan->warning = doubtful(config->t.value, in);
    return 0;
}

static bool window(const void *config_, struct stage_window *window)
{
    const struct threshold_config *config = config_;
    const uint32_t radius = (uint32_t)config->radius;
    *window = (struct stage_window){radius, radius, radius, radius, (enum border)config->border};
    return config->t.choice == THRESHOLD_LOCAL;
}

static int change(const void *config_, struct plane *plane, struct fault *fault)
{
    const struct threshold_config *config = config_;
    if (config->t.choice == THRESHOLD_LOCAL)
        return stage_require_type("threshold:t=local", plane->type, stage_box.types, fault);
    if ((uint64_t)plane->width * plane->height * plane->channels > OTSU_SAMPLES_MAX)
        return fault_set(fault, FAULT_LIMIT,
                         "threshold:t=otsu takes planes of at most 2^29 samples, not %u×%u×%u",
                         plane->width, plane->height, plane->channels);
    return 0;
}

static void add_passes(const struct threshold_config *config, struct stage_plan *plan,
                       unsigned index, unsigned state)
{
    const struct plane *plane = &plan->in->planes[index];
    struct count count;
    count_plane(plan, plane, false, OTSU_BINS, &count);
    count_add(plan, index, state, &count);
    struct pass *split = count_pass(plan, "otsu", "", plane, state, &count, 1);
    split->work = 100.0 * OTSU_BINS + count.bins;
    split->bytes_read = count.bins * sizeof(int32_t);

    struct pixel_function function = {0};
    fill_function(config, plane, &function);
    snprintf(function.variant, sizeof function.variant, "otsu");
    function.args[0] = (struct pass_arg){.kind = PASS_BUFFER, .operand = state};
    pass_pixel(plan, index, &function);
}

double threshold_scale(const struct plane *in)
{
    return in->type == SAMPLE_F32 ? THRESHOLD_LEVELS / plane_white(in) : 1;
}

/* What samples are compared with: their difference to the mean is an integer. */
static int32_t least_of(const struct threshold_config *config, const struct plane *in)
{
    return (int32_t)fmin(fmax(ceil(-config->offset * threshold_scale(in)), -1e6), 1e6);
}

/* Of floats, means differ from device to device in their last bits, and so would black and white of
 * every even region. So f32 is compared as levels, of which means are exact. */
static unsigned add_levels(struct stage_plan *plan)
{
    struct frame *levels = &plan->scratch[plan->n_scratch++];
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        struct plane plane = plan->in->planes[i];
        plane.type = SAMPLE_I16;
        plan->out_of_memory |= !frame_add_plane(levels, &plane, FRAME_ALIGNMENT);
    }
    unsigned operand = OPERAND_SCRATCH + plan->n_scratch - 1;
    for (unsigned i = 0; i < plan->in->n_planes && !plan->out_of_memory; i++) {
        const struct plane *in = &plan->in->planes[i];
        enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
        struct pass *pass =
            pass_begin(plan, "local", "levels", form, 0, in->width * in->channels, in->height);
        pass_name(pass, kernel_form_name(form));
        pass->work = 4;
        pass->bytes_read = plane_bytes(in);
        pass->bytes_written = plane_bytes(in) / 2;
        pass_plane(pass, OPERAND_IN, i);
        pass_plane(pass, operand, i);
        pass->writes = operand;
        pass_set_rows(pass, 1, 0, 0, BORDER_EDGE, 0);
        pass_float(pass, (float)threshold_scale(in));
    }
    return operand;
}

/* Compares with means; `from` is where the samples lie, as they came or as levels. */
static void add_local(const struct threshold_config *config, struct stage_plan *plan,
                      unsigned index, unsigned from, unsigned means)
{
    const struct plane *in = &plan->in->planes[index], *out = &plan->out->planes[index];
    bool levels = in->type == SAMPLE_F32;
    enum kernel_form form = pass_form_for(plan->profile, in, out);
    int32_t inset = config->border == BORDER_CROP ? (int32_t)config->radius : 0;
    if (form == FORM_VECTOR && (inset > 0 || levels))
        form = FORM_SCALAR;
    uint32_t span = form == FORM_VECTOR ? 16 / (uint32_t)sample_size(in->type) : 0;
    struct pass *pass =
        pass_begin(plan, "local", "", form, span, out->width * out->channels, out->height);
    pass_define_type(pass, "SRC", levels ? SAMPLE_I16 : in->type);
    pass_define(pass, "DST", "%s", pass_type_name(out->type));
    pass_define(pass, "LEVELS", "%d", levels);
    if (levels)
        pass_name(pass, "f32");
    pass_define(pass, "ALPHA", "%u", plane_has_alpha(in) ? in->channels : 0);
    if (plane_has_alpha(in))
        pass_name(pass, in->channels == 2 ? "c2" : "c4");
    pass_name(pass, kernel_form_name(form));
    pass->work = 4;
    pass->bytes_read = 2 * plane_bytes(out);
    pass->bytes_written = plane_bytes(out);
    pass_plane(pass, from, index);
    pass_plane(pass, means, index);
    pass_plane(pass, OPERAND_OUT, index);
    pass_set_rows(pass, 1, 0, inset, BORDER_EDGE, 0);
    pass_ints(pass, least_of(config, in), as_sample(in->type, config->low),
              as_sample(in->type, high_of(config, in)), inset * (int32_t)in->channels, inset);
    if (levels)
        pass_plane(pass, OPERAND_IN, index);
}

static int local_passes(const struct threshold_config *config, struct stage_plan *plan,
                        struct fault *fault)
{
    struct box_config box;
    unsigned means, at_once = 0, from = OPERAND_IN;
    threshold_means(config, &box);
    for (size_t i = 0; i < plan->in->n_planes; i++)
        if ((plan->in->planes[i].type == SAMPLE_F32) != (plan->in->planes[0].type == SAMPLE_F32))
            return fault_set(fault, FAULT_SHAPE,
                             "threshold:t=local takes planes of f32, or of integers, not of both; "
                             "convert:type=f32 makes them all f32");
    if (plan->in->planes[0].type == SAMPLE_F32)
        from = add_levels(plan);
    if (plan->out_of_memory)
        return 0;
    for (; at_once < plan->in->n_planes; at_once++) { /* where a kernel of box compares, too */
        const struct plane *in = &plan->in->planes[at_once];
        struct box_compare compare = {least_of(config, in), as_sample(in->type, config->low),
                                      as_sample(in->type, high_of(config, in))};
        if (!box_add_compare(plan, at_once, &box, &compare))
            break;
    }
    if (at_once == plan->in->n_planes)
        return 0;
    int result = stage_plan_add_stage(plan, from, &stage_box, &box, &means, fault);
    for (unsigned i = at_once; i < plan->in->n_planes && result == 0; i++)
        add_local(config, plan, i, from, means);
    return result;
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct threshold_config *config = config_;
    if (config->t.choice == THRESHOLD_LOCAL)
        return local_passes(config, plan, fault);
    unsigned state = count_state(plan, false, OTSU_BINS).operand;
    for (unsigned i = 0; i < plan->in->n_planes; i++)
        add_passes(config, plan, i, state);
    return 0;
}

const struct stage stage_threshold = {
    .name = "threshold",
    .chains = (const char *const[]){"threshold:t=0", "threshold:t=otsu", "threshold:t=local", NULL},
    .summary = "two values: one where the sample is at least a threshold, one where it is below",
    .params = params,
    .config_size = sizeof(struct threshold_config),
    .types = STAGE_TYPES_BUT_F64,
    .window = window,
    .change = change,
    .passes = passes,
    .pixel = pixel,
    .is_per_pixel = is_per_pixel,
    .reference = threshold_reference,
    .bench = "threshold:100",
};
