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

/* The work for a plane. */
struct task {
    const struct window_text *text;
    struct stage_plan *plan;
    const struct plane *in, *out;
    struct stage_window window;
};

static bool is_between(const struct window_text *text, int least, int most)
{
    return text->least >= least && text->most <= most;
}

/* As a plane whose pixels are single samples. */
static struct plane of_samples(const struct plane *plane)
{
    struct plane samples = *plane;
    samples.width *= samples.channels;
    samples.channels = 1;
    return samples;
}

/* Its window, for them. */
static struct stage_window window_of_samples(const struct task *task)
{
    struct stage_window window = task->window;
    window.left *= task->in->channels;
    window.right *= task->in->channels;
    return window;
}

static bool suits_words(const struct task *task)
{
    const struct window_text *text = task->text;
    struct plane in = of_samples(task->in), out = of_samples(task->out);
    struct stage_window window = window_of_samples(task);
    return task->plan->profile->packs_bytes && in.type == SAMPLE_U8 &&
           (is_between(text, 0, LANES_MOST) || is_between(text, -SIGNED_MOST, SIGNED_MOST)) &&
           packed_suits(task->plan->profile, &in, &out, &window);
}

static bool suits_columns(const struct task *task)
{
    return task->plan->profile->takes_columns &&
           packed_suits(task->plan->profile, task->in, task->out, &task->window);
}

static struct pass *begin_words(const struct task *task)
{
    const struct packed_stage stage = {task->plan->stage, task->plan->stage, NULL};
    struct plane in = of_samples(task->in);
    struct stage_window window = window_of_samples(task);
    struct pass *pass =
        packed_begin(task->plan, &stage, &in, &window, rows_of(&window) > 3 ? 2 : 4);
    pass_define(pass, "KERNEL_words", "1");
    pass_define_type(pass, "SRC", task->in->type);
    pass_channels(pass, task->in->channels, task->out->channels);
    pass->goes_on = task->in->channels == 1;
    return pass;
}

static struct pass *begin_columns(const struct task *task)
{
    const struct packed_stage stage = {task->plan->stage, NULL, task->plan->stage};
    struct pass *pass = packed_begin(task->plan, &stage, task->in, &task->window, 0);
    pass_define(pass, "KERNEL_columns", "1");
    pass->goes_on = true;
    return pass;
}

static struct pass *begin_samples(const struct task *task)
{
    const struct device_profile *profile = task->plan->profile;
    const struct plane *in = task->in, *out = task->out;
    enum kernel_form form = pass_form_for(profile, in, out);
    if (form == FORM_VECTOR && in->width != out->width)
        form = FORM_SCALAR;
    unsigned lanes = form == FORM_VECTOR ? pass_vector_length(profile, in->type, out->type) : 0;
    struct pass *pass = pass_begin(task->plan, task->plan->stage, "samples", form, lanes,
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
    window_define(pass, &task->window);
    pass->goes_on = true;
    return pass;
}

/* Which movement serves what: the first that suits. */
static const struct {
    bool (*suits)(const struct task *task); /* NULL: all that is left */
    struct pass *(*begin)(const struct task *task);
    bool takes_samples; /* its kernel counts samples, not pixels */
} ways[] = {
    {suits_words, begin_words, true}, /* walker, words: bytes on GPUs */
    {suits_columns, begin_columns},   /* walker, columns: bytes on Mali */
    {NULL, begin_samples},            /* point: vectors on CPUs and GPUs, single samples */
};

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
    const struct window_text *text = &stage->small_window->text;
    struct task task = {.text = text, .plan = plan, .window = small_window_of(stage, config)};
    const struct stage_window *w = &task.window;
    if (rows_of(w) > ROWS_MOST)
        return fault_set(fault, FAULT_INTERNAL,
                         "%s: its window has %u rows; small ones have up to %d", stage->name,
                         rows_of(w), ROWS_MOST);
    for (unsigned i = 0, way; i < plan->in->n_planes; i++) {
        task.in = &plan->in->planes[i], task.out = &plan->out->planes[i];
        bool is_integer = sample_is_integer(task.out->type), crop = w->border == BORDER_CROP;
        for (way = 0; ways[way].suits && !ways[way].suits(&task); way++)
            ;
        struct pass *pass = ways[way].begin(&task);
        pass_define_type(pass, "DST", task.out->type);
        if (is_integer) {
            pass_define(pass, "DST_LEAST", "%d", (int)sample_min(task.out->type));
            pass_define(pass, "DST_MOST", "%d", (int)sample_max(task.out->type));
        }
        packed_outputs(pass, 1);
        pass->work *= text->work;
        pass_planes(pass, plan, i);
        pass_ints(pass, task.in->width * (ways[way].takes_samples ? task.in->channels : 1),
                  task.in->height, stage_border(w->border));
        if (ways[way].suits) {
            pass_define(pass, "HIGH", "%u", rows_of(w));
            pass_define(pass, "LAST", "%u", rows_of(w) - 1);
        } else {
            pass_ints(pass, crop ? (int32_t)w->left : 0, crop ? (int32_t)w->top : 0,
                      task.in->channels);
        }
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
    float result = stage->small_window->value(v);
    return sample_is_integer(place->to->type) ? (double)sample_saturate(place->to->type, result)
                                              : result;
}
