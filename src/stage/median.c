#include "stage/median.h"

#include "stage/common.h"
#include "stage/packed.h"
#include "stage/stage.h"
#include "stage/strips.h"
#include "stage/window.h"

static const struct param params[] = {
    PARAM(INTEGER, "radius", offsetof(struct median_config, radius),
          "of the window in pixels: 1 is 3 by 3, 2 is 5 by 5, 3 is 7 by 7",
          RANGE(1, MEDIAN_RADIUS_MAX), DEFAULT("1")),
    STAGE_BORDER_PARAM(offsetof(struct median_config, border)),
    {0},
};

static bool window(const void *config_, struct stage_window *window)
{
    const struct median_config *config = config_;
    const uint32_t radius = (uint32_t)config->radius;
    *window = (struct stage_window){radius, radius, radius, radius, (enum border)config->border};
    return true;
}

/* What a sample takes: its column sorted, and the networks of cl/median.cl. */
static double work_of(const struct median_config *config)
{
    static const double operations[] = {0, 18, 110, 350};
    return operations[config->radius];
}

struct task {
    const struct median_config *config;
    struct stage_plan *plan;
    unsigned plane; /* its index */
    struct view in, out;
    struct stage_window window;
    struct scratch scratch;
};

static bool suits_rows(const struct task *task)
{
    return task->plan->profile->form == FORM_ROWS;
}

static void add_rows(struct task *task)
{
    uint32_t radius = (uint32_t)task->config->radius, side = 2 * radius + 1;
    size_t size = sample_size(task->in.plane.type);
    struct strips_need need = {2 * side * size, STRIPS_SECOND_CACHE, work_of(task->config), radius};
    struct strips strips = strips_cut(task->plan->profile, &task->out.plane, &need);
    uint64_t line = strips_line(&strips, &task->window, task->in.plane.channels);
    struct pass *pass = strips_begin(task->plan, "median", "", &strips, &task->in, &task->out,
                                     &task->window, &task->scratch, 2 * side * line * size);
    pass_define(pass, "RADIUS", "%u", radius);
    pass_name(pass, radius == 1 ? "3x3_rows" : radius == 2 ? "5x5_rows" : "7x7_rows");
    pass->work = work_of(task->config) * strips.width * strips.bands.rows;
}

/* For movements that other stages have, too. */
static struct window_task task_of(const struct task *task, const struct window_text *text)
{
    return (struct window_task){.plan = task->plan,
                                .text = text,
                                .source = "median",
                                .window = task->window,
                                .in = task->in,
                                .out = task->out,
                                .plane = task->plane,
                                .single = task->config->radius > 1};
}

/* What all of its kernels for GPUs have in common. */
static void describe(const struct task *task, struct pass *pass)
{
    pass_define(pass, "RADIUS", "%u", (unsigned)task->config->radius);
    pass_name(pass, task->config->radius == 1 ? "3x3" : task->config->radius == 2 ? "5x5" : "7x7");
}

static void add_samples(struct task *task)
{
    const struct window_text text = {.most = 1, .work = 5 * work_of(task->config)};
    const struct window_task samples = task_of(task, &text);
    describe(task, window_add_samples(&samples));
}

/* Four bytes at a time, whose window lies within a word's neighbours. */
static bool suits_words(const struct task *task)
{
    const struct plane *in = &task->in.plane;
    return task->plan->profile->packs_bytes && in->type == SAMPLE_U8 &&
           task->window.border != BORDER_CROP && task->config->radius * in->channels <= 4 &&
           pass_is_aligned(in) && pass_is_aligned(&task->out.plane);
}

static void add_words(struct task *task)
{
    const struct plane *in = &task->in.plane;
    uint32_t samples = in->width * in->channels;
    struct pass *pass =
        pass_begin(task->plan, "median", "words", FORM_SCALAR, 4, samples, in->height);
    pass_define_type(pass, "SRC", in->type);
    pass_channels(pass, in->channels, in->channels);
    describe(task, pass);
    pass_planes(pass, task->plan, task->plane);
    stage_set_rows(pass, 1, &task->window, 0);
    pass->work = 2 * work_of(task->config); /* of a sample: a word takes its four at once */
    pass_ints(pass, samples, in->height, task->window.border);
}

/* Down columns, for GPUs with few registers: those of 3×3 fit them. */
static bool suits_columns(const struct task *task)
{
    return !task->plan->profile->packs_bytes && task->config->radius == 1 &&
           task->in.plane.type == SAMPLE_U8 &&
           packed_suits(task->plan->profile, &task->in.plane, &task->out.plane, &task->window);
}

static void add_columns(struct task *task)
{
    const struct window_text text = {.most = 1, .work = work_of(task->config)};
    const struct window_task columns = task_of(task, &text);
    struct pass *pass = window_add_columns(&columns);
    pass_define(pass, "RADIUS", "%u", (unsigned)task->config->radius);
}

/* Which movement serves what: the first that suits. */
static const struct {
    bool (*suits)(const struct task *task); /* NULL: all that is left */
    void (*add)(struct task *task);
} ways[] = {
    {suits_rows, add_rows},       /* strips: CPUs */
    {suits_words, add_words},     /* point, four at once: bytes on GPUs with local memory */
    {suits_columns, add_columns}, /* walker, columns: 3×3 bytes on Mali */
    {NULL, add_samples},          /* window: vectors, or single samples */
};

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct median_config *config = config_;
    struct task task = {.config = config, .plan = plan};
    window(config, &task.window);
    for (unsigned i = 0, way; i < plan->in->n_planes; i++) {
        task.plane = i;
        task.in = (struct view){OPERAND_IN, plan->in->planes[i]};
        task.out = (struct view){OPERAND_OUT, plan->out->planes[i]};
        for (way = 0; ways[way].suits && !ways[way].suits(&task); way++)
            ;
        ways[way].add(&task);
    }
    return 0;
}

const struct stage stage_median = {
    .name = "median",
    .chains = (const char *const[]){"median", "median:radius=2", "median:radius=3", NULL},
    .summary = "specks taken away: the middle one of the samples around each",
    .params = params,
    .config_size = sizeof(struct median_config),
    .types = 1u << SAMPLE_U8 | 1u << SAMPLE_U16 | 1u << SAMPLE_F32,
    .window = window,
    .passes = passes,
    .reference = median_reference,
    .floats = &(const struct tolerance){0, 0},
};
