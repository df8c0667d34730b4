#include "stage/median.h"

#include "stage/common.h"
#include "stage/packed.h"
#include "stage/stage.h"
#include "stage/strips.h"

static const struct param params[] = {
    PARAM(INTEGER, "radius", offsetof(struct median_config, radius),
          "of the window in pixels: 1 is 3 by 3, 2 is 5 by 5, 3 is 7 by 7",
          RANGE(1, MEDIAN_RADIUS_MAX), DEFAULT("1")),
    STAGE_BORDER_PARAM(offsetof(struct median_config, border)),
    {0},
};

static int shape(const void *config_, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    const struct median_config *config = config_;
    uint32_t side = 2 * (uint32_t)config->radius + 1;
    return stage_window_shape("median", config->border, side, side,
                              1u << SAMPLE_U8 | 1u << SAMPLE_U16 | 1u << SAMPLE_F32, in, alignment,
                              out, fault);
}

/* What a sample takes: its column sorted, and the networks of cl/median.cl. */
static double work_of(const struct median_config *config)
{
    static const double operations[] = {0, 18, 110, 350};
    return operations[config->radius];
}

static void add_rows(const struct median_config *config, struct stage_plan *plan,
                     const struct view *in, const struct view *out, unsigned *scratch)
{
    uint32_t radius = (uint32_t)config->radius, side = 2 * radius + 1;
    size_t size = sample_size(in->plane.type);
    struct stage_window window = {radius, radius, radius, radius, (enum border)config->border};
    struct strips_need need = {2 * side * size, STRIPS_SECOND_CACHE, work_of(config), radius};
    struct strips strips = strips_cut(plan->profile, &out->plane, &need);
    uint64_t line = strips_line(&strips, &window, in->plane.channels);
    struct pass *pass = strips_begin(plan, "median", "", &strips, in, out, &window, scratch,
                                     2 * side * line * size);
    pass_define(pass, "RADIUS", "%u", radius);
    pass_name(pass, radius == 1 ? "3x3_rows" : radius == 2 ? "5x5_rows" : "7x7_rows");
    pass->work = work_of(config) * strips.width * strips.band;
}

static void describe(const struct median_config *config, struct pass *pass, const struct plane *in)
{
    pass_define_type(pass, "SRC", in->type);
    pass_channels(pass, in->channels, in->channels);
    pass_define(pass, "RADIUS", "%u", (unsigned)config->radius);
    pass_name(pass, config->radius == 1 ? "3x3" : config->radius == 2 ? "5x5" : "7x7");
    pass_name(pass, kernel_form_name(pass->form));
}

static void set_rows(const struct median_config *config, struct pass *pass)
{
    const uint32_t radius = (uint32_t)config->radius;
    const struct stage_window window = {radius, radius, radius, radius,
                                        (enum border)config->border};
    stage_set_rows(pass, 1, &window, 0);
}

static void add_samples(const struct median_config *config, struct stage_plan *plan, unsigned i)
{
    const struct plane *in = &plan->in->planes[i], *out = &plan->out->planes[i];
    struct pass *pass =
        pass_begin(plan, "median", "", FORM_SCALAR, 1, out->width * out->channels, out->height);
    describe(config, pass, in);
    pass->work = 5 * work_of(config);
    pass_planes(pass, plan, i);
    set_rows(config, pass);
    pass_ints(pass, in->width, in->height, stage_border((enum border)config->border),
              config->border == BORDER_CROP ? (int32_t)config->radius : 0);
}

/* Four bytes at a time, whose window lies within a word's neighbours. */
static bool add_words(const struct median_config *config, struct stage_plan *plan, unsigned i)
{
    const struct plane *in = &plan->in->planes[i], *out = &plan->out->planes[i];
    if (!plan->profile->packs_bytes || in->type != SAMPLE_U8 || config->border == BORDER_CROP ||
        config->radius * in->channels > 4 || !pass_is_aligned(in) || !pass_is_aligned(out))
        return false;
    uint32_t samples = in->width * in->channels;
    struct pass *pass = pass_begin(plan, "median", "words", FORM_SCALAR, 4, samples, in->height);
    describe(config, pass, in);
    pass->work = 2 * work_of(config); /* of a sample: a word takes its four at once */
    pass_planes(pass, plan, i);
    set_rows(config, pass);
    pass_ints(pass, samples, in->height, config->border);
    return true;
}

/* Down columns, for GPUs with few registers: those of 3×3 fit them. */
static bool add_columns(const struct median_config *config, struct stage_plan *plan, unsigned i)
{
    static const struct packed_stage stage = {"median", NULL, "median"};
    const struct stage_window window = {1, 1, 1, 1, (enum border)config->border};
    const struct plane *in = &plan->in->planes[i], *out = &plan->out->planes[i];
    if (plan->profile->packs_bytes || config->radius > 1 || in->type != SAMPLE_U8 ||
        !packed_suits(plan->profile, in, out, &window))
        return false;
    struct pass *pass = packed_begin(plan, &stage, in, &window, 0);
    pass_define_type(pass, "DST", in->type);
    pass_define(pass, "RADIUS", "%u", (unsigned)config->radius);
    packed_outputs(pass, 1);
    pass->goes_on = true;
    pass->work *= work_of(config);
    pass_planes(pass, plan, i);
    pass_ints(pass, in->width, in->height, config->border);
    return true;
}

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    unsigned scratch = 0;
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        struct view in = {OPERAND_IN, plan->in->planes[i]};
        struct view out = {OPERAND_OUT, plan->out->planes[i]};
        if (plan->profile->form == FORM_ROWS)
            add_rows(config, plan, &in, &out, &scratch);
        else if (!add_words(config, plan, i) && !add_columns(config, plan, i))
            add_samples(config, plan, i);
    }
    return 0;
}

static struct tolerance tolerance(const void *config, enum sample_type in, enum sample_type out)
{
    return (struct tolerance){0, 0};
}

static int64_t margin(const void *config_)
{
    const struct median_config *config = config_;
    return stage_margin(config->radius, config->border);
}

static const char *const chains[] = {
    "median",
    "median:radius=2",
    "median:radius=3",
    NULL,
};

const struct stage stage_median = {
    .name = "median",
    .chains = chains,
    .summary = "specks taken away: the middle one of the samples around each",
    .params = params,
    .config_size = sizeof(struct median_config),
    .shape = shape,
    .passes = passes,
    .margin = margin,
    .reference = median_reference,
    .tolerance = tolerance,
    .bench = "median",
};
