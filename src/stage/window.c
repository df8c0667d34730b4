#include "stage/window.h"

#include "stage/common.h"
#include "stage/packed.h"

enum {
    LANES_MOST = 250,  /* largest bytes whose sum, and what rounds it, a lane of 16 bits holds */
    SIGNED_MOST = 120, /* with a sign */
    ROWS_MOST = 7      /* that the kernels have written out */
};

const struct param window_params[] = {
    STAGE_BORDER_PARAM(offsetof(struct window_config, border)),
    {0},
};

static uint32_t columns_of(const struct stage_window *window)
{
    return window->left + 1 + window->right;
}

static uint32_t rows_of(const struct stage_window *window)
{
    return window->top + 1 + window->bottom;
}

void window_define(struct pass *pass, const struct stage_window *window)
{
    pass_define(pass, "LEFT", "%u", window->left);
    pass_define(pass, "RIGHT", "%u", window->right);
    pass_define(pass, "TOP", "%u", window->top);
    pass_define(pass, "WIDE", "%u", columns_of(window));
    pass_define(pass, "HIGH", "%u", rows_of(window));
}

static bool is_between(const struct window_text *text, int least, int most)
{
    return text->least >= least && text->most <= most;
}

/* Its window, for a plane of single samples. */
static struct stage_window window_of_samples(const struct window_task *task)
{
    struct stage_window window = task->window;
    window.left *= task->in.plane.channels;
    window.right *= task->in.plane.channels;
    return window;
}

bool window_takes_words(const struct window_task *task)
{
    const struct window_text *text = task->text;
    struct plane in = packed_samples(&task->in.plane), out = packed_samples(&task->out.plane);
    struct stage_window window = window_of_samples(task);
    return task->plan->profile->packs_bytes && in.type == SAMPLE_U8 &&
           (is_between(text, 0, LANES_MOST) || is_between(text, -SIGNED_MOST, SIGNED_MOST)) &&
           packed_suits(task->plan->profile, &in, &out, &window);
}

static bool suits_columns(const struct window_task *task)
{
    return task->plan->profile->takes_columns &&
           packed_suits(task->plan->profile, &task->in.plane, &task->out.plane, &task->window);
}

static struct pass *begin_words(const struct window_task *task)
{
    const struct packed_stage stage = {task->source, task->source, NULL};
    struct plane in = packed_samples(&task->in.plane);
    struct stage_window window = window_of_samples(task);
    struct pass *pass =
        packed_begin(task->plan, &stage, &in, &window, rows_of(&window) > 3 ? 2 : 4);
    pass_define(pass, "KERNEL_words", "1");
    pass_define_type(pass, "SRC", task->in.plane.type);
    pass_channels(pass, task->in.plane.channels, task->out.plane.channels);
    pass->goes_on = task->in.plane.channels == 1;
    return pass;
}

static struct pass *begin_columns(const struct window_task *task)
{
    const struct packed_stage stage = {task->source, NULL, task->source};
    struct pass *pass = packed_begin(task->plan, &stage, &task->in.plane, &task->window, 0);
    pass_define(pass, "KERNEL_columns", "1");
    pass_define(pass, "LAST", "%u", rows_of(&task->window) - 1);
    pass->goes_on = true;
    return pass;
}

static struct pass *begin_samples(const struct window_task *task)
{
    const struct device_profile *profile = task->plan->profile;
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    enum kernel_form form = pass_form_for(profile, in, out);
    if (form == FORM_VECTOR && (task->single || in->width != out->width))
        form = FORM_SCALAR;
    unsigned lanes = form == FORM_VECTOR ? pass_vector_length(profile, in->type, out->type) : 0;
    struct pass *pass = pass_begin(task->plan, task->source, "samples", form, lanes,
                                   out->width * out->channels, out->height);
    if (form == FORM_ROWS)
        pass->lanes = 16;
    bool shorts = is_between(task->text, -SIGNED_MOST, SIGNED_MOST) && sample_size(in->type) == 1 &&
                  profile->packs_shorts;
    bool is_real = !sample_is_integer(in->type);
    pass_define_type(pass, "SRC", in->type);
    pass_channels(pass, in->channels, out->channels);
    pass_name(pass, kernel_form_name(form));
    pass_define(pass, "WORK", is_real ? "float" : shorts && pass->lanes ? "short" : "int");
    pass_define(pass, "ONE", is_real ? "float" : "int");
    pass->goes_on = true;
    stage_set_rows(pass, 1, &task->window, 0);
    return pass;
}

/* Which movement serves what: the first that suits. */
enum {
    WORDS,
    COLUMNS,
    SAMPLES
};
static const struct way {
    bool (*suits)(const struct window_task *task); /* NULL: all that is left */
    struct pass *(*begin)(const struct window_task *task);
    bool takes_samples; /* its kernel counts samples, not pixels */
} ways[] = {
    [WORDS] = {window_takes_words, begin_words, true}, /* walker, words: bytes on GPUs */
    [COLUMNS] = {suits_columns, begin_columns},        /* walker, columns: bytes on Mali */
    [SAMPLES] = {NULL, begin_samples}, /* point: vectors on CPUs and GPUs, single samples */
};

static struct pass *add(const struct window_task *task, const struct way *way)
{
    const struct stage_window *w = &task->window;
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    bool crop = w->border == BORDER_CROP;
    struct pass *pass = way->begin(task);
    pass_define_type(pass, "DST", out->type);
    if (sample_is_integer(out->type)) {
        pass_define(pass, "DST_LEAST", "%d", (int)sample_min(out->type));
        pass_define(pass, "DST_MOST", "%d", (int)sample_max(out->type));
    }
    window_define(pass, w);
    packed_outputs(pass, 1);
    pass->work *= task->text->work;
    if (task->in.operand == OPERAND_IN && task->out.operand == OPERAND_OUT)
        pass_planes(pass, task->plan, task->plane);
    else
        pass_views(pass, &task->in, &task->out);
    pass_ints(pass, in->width * (way->takes_samples ? in->channels : 1), in->height,
              stage_border(w->border));
    if (!way->suits)
        pass_ints(pass, crop ? (int32_t)w->left : 0, crop ? (int32_t)w->top : 0, in->channels);
    return pass;
}

struct pass *window_add(const struct window_task *task)
{
    const struct way *way = &ways[WORDS];
    while (way->suits && !way->suits(task))
        way++;
    return add(task, way);
}

struct pass *window_add_columns(const struct window_task *task)
{
    return add(task, &ways[COLUMNS]);
}

struct pass *window_add_samples(const struct window_task *task)
{
    return add(task, &ways[SAMPLES]);
}

struct stage_window small_window_of(const struct stage *stage, const void *config_)
{
    const struct window_config *config = stage->config_size > 0 ? config_ : NULL;
    struct stage_window window = stage->small_window->window;
    window.border = config ? (enum border)config->border : BORDER_EDGE;
    window.by_rows = true;
    return window;
}

int small_window_passes(const struct stage *stage, const void *config, struct stage_plan *plan,
                        struct fault *fault)
{
    struct window_task task = {.plan = plan,
                               .text = &stage->small_window->text,
                               .source = plan->stage,
                               .window = small_window_of(stage, config)};
    uint32_t rows = rows_of(&task.window);
    if (rows > ROWS_MOST)
        return fault_set(fault, FAULT_INTERNAL,
                         "%s: its window has %u rows; small ones have up to %d", stage->name, rows,
                         ROWS_MOST);
    for (; task.plane < plan->in->n_planes; task.plane++) {
        task.in = (struct view){OPERAND_IN, plan->in->planes[task.plane]};
        task.out = (struct view){OPERAND_OUT, plan->out->planes[task.plane]};
        window_add(&task);
    }
    return 0;
}

double small_window_at(const struct stage *stage, const void *config,
                       const struct stage_place *place)
{
    struct stage_window w = small_window_of(stage, config);
    bool crop = w.border == BORDER_CROP;
    int64_t x = (int64_t)place->at.x - (crop ? 0 : w.left);
    int64_t y = (int64_t)place->at.y - (crop ? 0 : w.top);
    uint32_t columns = columns_of(&w), count = columns * rows_of(&w);
    float v[count];
    for (uint32_t k = 0; k < count; k++)
        v[k] = (float)picture_sample(place->in, place->plane, x + k % columns, y + k / columns,
                                     place->at.c, (enum border)stage_border(w.border));
    if (place->at.alpha)
        return v[w.top * columns + w.left];
    return sample_limited(place->to->type, stage->small_window->value(v));
}
