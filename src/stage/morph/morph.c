/* Erosion and dilation. On CPUs one kernel (cl/morph/morph.cl) whose work does not grow with the
 * window's height, and with its width by a step for each factor of four; on GPUs small windows by
 * stage/window.h, and of larger ones such steps alone, along rows and then down columns
 * (cl/morph/morph_step.cl), or bytes by morph_bytes.c. */
#include "stage/morph/morph.h"
#include "stage/common.h"
#include "stage/window.h"

#define SIDE_MAX 4095

static const struct param params[] = {
    PARAM(INTEGER, "width", offsetof(struct morph_config, width), "of the window in pixels",
          RANGE(1, SIDE_MAX)),
    PARAM(INTEGER, "height", offsetof(struct morph_config, height),
          "of the window in pixels; as its width unless given", RANGE(1, SIDE_MAX)),
    PARAM(INTEGER, "radius", offsetof(struct morph_config, radius),
          "in place of width and height: a square window of 2·radius + 1 pixels a side",
          RANGE(0, (SIDE_MAX - 1) / 2)),
    STAGE_BORDER_PARAM(offsetof(struct morph_config, border)),
    {0},
};

static int complete(void *config_, param_given *given, struct fault *fault)
{
    static const char *const names[] = {"erode", "dilate", "open", "close"};
    struct morph_config *config = config_;
    const param_given width = param_bit(params, "width"), height = param_bit(params, "height");
    const param_given radius = param_bit(params, "radius");
    const char *stage = names[config->stage];
    if (*given & radius && *given & (width | height))
        return fault_set(fault, FAULT_CHAIN, "%s: give either radius or %s, not both", stage,
                         *given & width ? "width" : "height");
    if (*given & radius) {
        config->width = 2 * config->radius + 1;
        *given = (*given & ~radius) | width;
    }
    if (!(*given & width))
        return fault_set(fault, FAULT_CHAIN, "%s: its window is missing: give width=W or radius=R",
                         stage);
    if (!(*given & height))
        config->height = config->width;
    *given |= height;
    return 0;
}

static struct stage_window window_of(uint32_t width, uint32_t height, enum border border)
{
    return (struct stage_window){width / 2, width - 1 - width / 2, height / 2,
                                 height - 1 - height / 2, border};
}

struct stage_window morph_window(const struct morph_task *task)
{
    struct stage_window w = window_of(task->width, task->height, task->border);
    return task->kind == MORPH_LEAST
               ? w
               : (struct stage_window){w.right, w.left, w.bottom, w.top, task->border};
}

static void define_kind(struct pass *pass, enum morph_kind kind)
{
    pass_define(pass, kind == MORPH_LEAST ? "TAKE_LEAST" : "TAKE_LARGEST", "1");
}

void morph_describe(struct pass *pass, enum morph_kind kind)
{
    define_kind(pass, kind);
    pass_name(pass, kind == MORPH_LEAST ? "least" : "largest");
    pass_name(pass, kernel_form_name(pass->form));
}

static bool suits_rows(const struct morph_task *task)
{
    return task->plan->profile->form == FORM_ROWS;
}

static void add_rows(struct morph_task *task)
{
    size_t size = sample_size(task->in.plane.type);
    struct stage_window window = morph_window(task);
    size_t bytes_needed = (task->height + 3) * size;
    /* What lies between two strips is seen by both of them, and worked on twice. */
    size_t apart = bytes_needed * 4 * task->width * task->in.plane.channels;
    struct strips_need need = {bytes_needed,
                               apart > STRIPS_SECOND_CACHE ? apart : STRIPS_SECOND_CACHE, 16,
                               task->height / 4.0};
    struct strips strips = strips_cut(task->plan->profile, &task->out.plane, &need);
    uint64_t line = strips_line(&strips, &window, task->in.plane.channels);
    uint64_t bytes = ((uint64_t)(task->height + 1) * strips.width + 2 * line) * size;
    struct pass *pass = strips_begin(task->plan, "morph", "", &strips, &task->in, &task->out,
                                     &window, &task->own, bytes);
    morph_describe(pass, task->kind);
    pass->work = 16.0 * strips.width * (strips.bands.rows + task->height / 4.0);
}

/* One step on GPUs: of each position the least of up to four, `distance` apart but none beyond
 * `last`. Positions begin with `x`, `y` of the source. */
struct step {
    struct view in, out;
    bool down, ends; /* goes down columns; is the last one, which copies alpha */
    uint32_t distance, last;
    int32_t x, y;
    enum border border;
};

static void add_step(struct morph_task *task, const struct step *step)
{
    const struct plane *in = &step->in.plane, *out = &step->out.plane;
    bool crop = task->border == BORDER_CROP;
    struct stage_window window = morph_window(task);
    struct pass *pass = pass_begin(task->plan, "morph_step", "", FORM_SCALAR, 1,
                                   out->width * out->channels, out->height);
    pass_define_type(pass, "SRC", in->type);
    pass_channels(pass, in->channels, out->channels);
    morph_describe(pass, task->kind);
    pass->work = 24;
    pass_views(pass, &step->in, &step->out);
    pass_view(pass, &task->in);
    pass_ints(pass, in->width, in->height, step->x, step->y, step->down, step->distance, step->last,
              stage_border(step->border), step->ends && plane_has_alpha(in),
              crop ? (int32_t)window.left : 0, crop ? (int32_t)window.top : 0);
}

/* The steps along one axis, to `size` positions there, from `in`. The first one sees the border. */
static struct view add_axis(struct morph_task *task, struct view in, bool down, uint32_t window,
                            uint32_t size, int32_t begin)
{
    for (uint32_t covered = 1; covered < window || (down && covered == 1);) {
        uint32_t last = window - covered < 3 * covered ? window - covered : 3 * covered;
        bool first = covered == 1, ends = down && covered + last == window;
        struct step step = {.in = in,
                            .down = down,
                            .ends = ends,
                            .distance = covered,
                            .last = last,
                            .x = first && !down ? begin : 0,
                            .y = first && down ? begin : 0,
                            .border = first ? task->border : BORDER_EDGE};
        struct plane shape = in.plane;
        *(down ? &shape.height : &shape.width) = size + window - covered - last;
        step.out = task->out;
        if (!ends)
            step.out = stage_plan_view(task->plan, &task->half[task->turn ^= 1], &shape);
        add_step(task, &step);
        in = step.out;
        covered += last;
        if (ends)
            break;
    }
    return in;
}

static void add_steps(struct morph_task *task)
{
    struct stage_window window = morph_window(task);
    bool crop = task->border == BORDER_CROP;
    struct view across = add_axis(task, task->in, false, task->width, task->out.plane.width,
                                  crop ? 0 : -(int32_t)window.left);
    add_axis(task, across, true, task->height, task->out.plane.height,
             crop ? 0 : -(int32_t)window.top);
}

/* The largest windows that are one text for all forms: as wide as ACROSS_9 of cl/morph/morph.cl;
 * higher ones in words, where rows have lines in common. */
enum {
    SMALL_WIDTH = 9,
    SMALL_HEIGHT = 7,
    WORDS_HEIGHT = 9
};

static struct window_task task_of(const struct morph_task *task)
{
    static const struct window_text text = {.most = 1, .work = 1};
    return (struct window_task){task->plan, &text,     "morph",    morph_window(task),
                                task->in,   task->out, task->plane};
}

static bool suits_small(const struct morph_task *task)
{
    const struct window_task small = task_of(task);
    if (task->plan->profile->generic || task->border == BORDER_CROP)
        return false;
    return window_takes_words(&small) ? task->height <= WORDS_HEIGHT
                                      : task->width <= SMALL_WIDTH && task->height <= SMALL_HEIGHT;
}

static void add_small(struct morph_task *task)
{
    const struct window_task small = task_of(task);
    struct pass *pass = window_add(&small);
    pass_define(pass, "ACROSS", "ACROSS_%u", task->width);
    define_kind(pass, task->kind);
    pass->work *= task->width * task->height;
}

/* Which movement serves what: the first that suits. */
static const struct {
    bool (*suits)(const struct morph_task *task); /* NULL: all that is left */
    void (*add)(struct morph_task *task);
} ways[] = {
    {suits_rows, add_rows},           /* strips: CPUs */
    {suits_small, add_small},         /* window, in every form */
    {morph_suits_far, morph_add_far}, /* lines along rows and down columns: larger ones of bytes */
    {NULL, add_steps},                /* point, in steps */
};

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct morph_config *config = config_;
    const unsigned twice = config->stage >= MORPH_OPEN;
    struct morph_task task = {.plan = plan,
                              .width = (uint32_t)config->width,
                              .height = (uint32_t)config->height,
                              .border = (enum border)config->border};
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        struct view in = {OPERAND_IN, plan->in->planes[i]};
        struct view out = {OPERAND_OUT, plan->out->planes[i]}, half = out;
        task.plane = i;
        if (twice) {
            struct plane shape = in.plane;
            stage_window_size("", task.border, task.width, task.height, &shape, fault);
            half = stage_plan_view(plan, &task.between, &shape);
        }
        for (unsigned k = 0; k <= twice; k++) {
            task.kind = (enum morph_kind)((config->stage + k) % 2);
            task.in = k == 0 ? in : half;
            task.out = k < twice ? half : out;
            unsigned way = 0;
            while (ways[way].suits && !ways[way].suits(&task))
                way++;
            ways[way].add(&task);
        }
    }
    return 0;
}

static bool window(const void *config_, struct stage_window *window)
{
    const struct morph_config *config = config_;
    *window =
        window_of((uint32_t)config->width, (uint32_t)config->height, (enum border)config->border);
    window->more = config->stage >= MORPH_OPEN;
    return true;
}

#define MORPH_STAGE(word, number, text)                                                            \
    {                                                                                              \
        .name = #word, .summary = text, .params = params,                                          \
        .chains = (const char *const[]){#word ":3", NULL},                                         \
        .config_size = sizeof(struct morph_config),                                                \
        .types = 1u << SAMPLE_U8 | 1u << SAMPLE_U16 | 1u << SAMPLE_F32, .kind = number,            \
        .complete = complete, .window = window, .passes = passes, .reference = morph_reference,    \
        .floats = &(const struct tolerance){0, 0}, .bench = #word ":3",                            \
    }

const struct stage stage_erode =
    MORPH_STAGE(erode, MORPH_ERODE, "dark grows: the least of the samples around each");
const struct stage stage_dilate =
    MORPH_STAGE(dilate, MORPH_DILATE, "light grows: the largest of the samples around each");
const struct stage stage_open =
    MORPH_STAGE(open, MORPH_OPEN, "light specks taken away: erode, then dilate");
const struct stage stage_close =
    MORPH_STAGE(close, MORPH_CLOSE, "dark specks and gaps taken away: dilate, then erode");
