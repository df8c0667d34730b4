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

/* The function's first argument, the threshold, is there. */
static void fill_function(const struct threshold_config *config, const struct plane *in,
                          struct pixel_function *function)
{
    enum sample_type type = in->type;
    function->type = type;
    function->keep_alpha = true;
    function->wide = true; /* half of its time is the loop around it */
    function->needs.work = 3;
    pass_ints(&function->needs, as_sample(type, config->low), as_sample(type, high_of(config, in)));
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
    double t = sample_is_integer(type) ? ceil(config->t.value) : config->t.value;
    pass_int(&function->needs, as_sample(type, t));
    fill_function(config, in, function);
    if (sample_is_integer(type) && t > sample_max(type)) /* no sample is so large */
        function->needs.args[2] = function->needs.args[1];
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
    pass_buffer(&function.needs, state);
    fill_function(config, plane, &function);
    snprintf(function.variant, sizeof function.variant, "otsu");
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
static void add_levels(struct stage_plan *plan, unsigned index, const struct view *levels)
{
    const struct plane *in = &plan->in->planes[index];
    enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    struct pass *pass =
        pass_begin(plan, "local", "levels", form, 0, in->width * in->channels, in->height);
    pass_name(pass, kernel_form_name(form));
    pass->work = 4;
    pass->bytes_read = plane_bytes(in);
    pass->bytes_written = plane_bytes(in) / 2;
    pass_plane(pass, OPERAND_IN, index);
    pass_view(pass, levels);
    pass->writes = levels->operand;
    pass_set_rows(pass, 1, 0, 0, BORDER_EDGE, 0);
    pass_float(pass, (float)threshold_scale(in));
}

/* Compares a plane, or its levels, with means. */
static void add_local(const struct threshold_config *config, struct stage_plan *plan,
                      unsigned index, const struct box_compare *compare, const struct view *levels,
                      const struct view *means)
{
    const struct plane *in = &plan->in->planes[index], *out = &plan->out->planes[index];
    enum kernel_form form = pass_form_for(plan->profile, in, out);
    int32_t inset = config->border == BORDER_CROP ? (int32_t)config->radius : 0;
    if (form == FORM_VECTOR && (inset > 0 || levels))
        form = FORM_SCALAR;
    uint32_t span = form == FORM_VECTOR ? 16 / (uint32_t)sample_size(in->type) : 0;
    struct pass *pass =
        pass_begin(plan, "local", "", form, span, out->width * out->channels, out->height);
    pass_define_type(pass, "SRC", levels ? SAMPLE_I16 : in->type);
    pass_define(pass, "DST", "%s", pass_type_name(out->type));
    if (levels) {
        pass_define(pass, "KERNEL_f32", "1");
        pass_name(pass, "f32");
    }
    pass_define(pass, "ALPHA", "%u", plane_has_alpha(in) ? in->channels : 0);
    if (plane_has_alpha(in))
        pass_name(pass, in->channels == 2 ? "c2" : "c4");
    pass_name(pass, kernel_form_name(form));
    pass->work = 4;
    pass->bytes_read = 2 * plane_bytes(out);
    pass->bytes_written = plane_bytes(out);
    if (levels)
        pass_view(pass, levels);
    else
        pass_plane(pass, OPERAND_IN, index);
    pass_view(pass, means);
    pass_plane(pass, OPERAND_OUT, index);
    pass_set_rows(pass, 1, 0, inset, BORDER_EDGE, 0);
    pass_ints(pass, compare->least, compare->low, compare->high, inset * (int32_t)in->channels,
              inset);
    if (levels)
        pass_plane(pass, OPERAND_IN, index);
}

static void local_passes(const struct threshold_config *config, struct stage_plan *plan)
{
    struct scratch of_levels = {0}, of_means = {0};
    struct box_memory memory = {0};
    struct box_config box;
    threshold_means(config, &box);
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        const struct plane *in = &plan->in->planes[i];
        const struct box_compare compare = {least_of(config, in), as_sample(in->type, config->low),
                                            as_sample(in->type, high_of(config, in))};
        if (box_add_compare(plan, i, &box, &compare))
            continue;
        bool is_float = in->type == SAMPLE_F32;
        struct view from = {OPERAND_IN, *in};
        struct plane shape = plan->out->planes[i];
        if (is_float) {
            from.plane.type = shape.type = SAMPLE_I16;
            from = stage_plan_view(plan, &of_levels, &from.plane);
            add_levels(plan, i, &from);
        }
        struct view means = stage_plan_view(plan, &of_means, &shape);
        box_add_means(plan, &memory, &box, &from, &means);
        add_local(config, plan, i, &compare, is_float ? &from : NULL, &means);
    }
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct threshold_config *config = config_;
    if (config->t.choice == THRESHOLD_LOCAL) {
        local_passes(config, plan);
        return 0;
    }
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
