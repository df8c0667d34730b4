/* Erosion and dilation. On CPUs one kernel (cl/morph/morph.cl) whose work does not grow with the
 * window's height, and with its width by a step for each factor of four; on GPUs such steps alone,
 * along rows and then down columns (cl/morph/morph_step.cl). Bytes there are compared four at a
 * time: in one kernel (cl/packed.cl) in windows of up to 9 rows, and in larger ones as far as these
 * reach, from where steps go on (cl/morph/morph_far.cl). */
#include "stage/morph/morph.h"

#include <stdio.h>

#include "base/text.h"
#include "stage/common.h"
#include "stage/packed.h"
#include "stage/strips.h"

enum {
    WIDTH,
    HEIGHT,
    RADIUS
};

const struct param morph_params[] = {
    PARAM(INTEGER, "width", offsetof(struct morph_config, width), "of the window in pixels",
          RANGE(1, MORPH_SIDE_MAX)),
    PARAM(INTEGER, "height", offsetof(struct morph_config, height),
          "of the window in pixels; as its width unless given", RANGE(1, MORPH_SIDE_MAX)),
    PARAM(INTEGER, "radius", offsetof(struct morph_config, radius),
          "in place of width and height: a square window of 2·radius + 1 pixels a side",
          RANGE(0, (MORPH_SIDE_MAX - 1) / 2)),
    STAGE_BORDER_PARAM(offsetof(struct morph_config, border)),
    {0},
};

int morph_complete(const char *stage, struct morph_config *config, param_given *given,
                   struct fault *fault)
{
    const param_given width = 1 << WIDTH, height = 1 << HEIGHT, radius = 1 << RADIUS;
    if (*given & radius && *given & (width | height))
        return fault_set(fault, FAULT_CHAIN,
                         "%s: radius is given, and so is %s: a window has either", stage,
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

int morph_shape(const char *stage, const struct morph_config *config, unsigned times,
                const struct frame *in, size_t alignment, struct frame *out, struct fault *fault)
{
    int result = stage_require_types(stage, in,
                                     1u << SAMPLE_U8 | 1u << SAMPLE_U16 | 1u << SAMPLE_F32, fault);
    for (size_t i = 0; i < in->n_planes && result == 0; i++) {
        struct plane plane = in->planes[i];
        for (unsigned k = 0; k < times && result == 0; k++)
            result = stage_window_size(stage, (enum border)config->border, (uint32_t)config->width,
                                       (uint32_t)config->height, &plane, fault);
        if (result == 0 && !frame_add_plane(out, &plane, alignment))
            result = fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    }
    return result;
}

struct task {
    struct stage_plan *plan;
    uint32_t width, height;
    enum border border;
    enum morph_kind kind;
    struct strips_view in, out;
    unsigned own, between, half[2], turn;
    bool too_large;
};

static struct strips_window window_of(const struct task *task)
{
    uint32_t w = task->width, h = task->height;
    struct strips_window window = {w / 2, w - 1 - w / 2, h / 2, h - 1 - h / 2, task->border};
    if (task->kind == MORPH_LARGEST)
        window = (struct strips_window){window.right, window.left, window.bottom, window.top,
                                        task->border};
    return window;
}

static void describe(struct pass *pass, enum morph_kind kind)
{
    pass_define(pass, kind == MORPH_LEAST ? "TAKE_LEAST" : "TAKE_LARGEST", "1");
    pass_name(pass, kind == MORPH_LEAST ? "least" : "largest");
    pass_name(pass, kernel_form_name(pass->form));
}

static void add_rows(struct task *task)
{
    size_t size = sample_size(task->in.plane.type);
    struct strips_window window = window_of(task);
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
    describe(pass, task->kind);
    pass->work = 16.0 * strips.width * (strips.band + task->height / 4.0);
}

/* One step on GPUs: of each position the least of up to four, `distance` apart but none beyond
 * `last`. Positions begin with `x`, `y` of the source. */
struct step {
    struct strips_view in, out;
    bool down, ends; /* goes down columns; is the last one, which copies alpha */
    uint32_t distance, last;
    int32_t x, y;
    enum border border;
};

static void add_step(struct task *task, const struct step *step)
{
    const struct plane *in = &step->in.plane, *out = &step->out.plane;
    bool crop = task->border == BORDER_CROP;
    struct strips_window window = window_of(task);
    struct pass *pass = pass_begin(task->plan, "morph_step", "", FORM_SCALAR, 1,
                                   out->width * out->channels, out->height);
    pass_define_type(pass, "SRC", in->type);
    pass_channels(pass, in->channels, out->channels);
    describe(pass, task->kind);
    pass->work = 24;
    pass->bytes_read = plane_bytes(in);
    pass->bytes_written = plane_bytes(out);
    pass_plane_at(pass, step->in.operand, in);
    pass_plane_at(pass, step->out.operand, out);
    pass_plane_at(pass, task->in.operand, &task->in.plane);
    pass_int(pass, (int32_t)in->width);
    pass_int(pass, (int32_t)in->height);
    pass_int(pass, step->x);
    pass_int(pass, step->y);
    pass_int(pass, step->down);
    pass_int(pass, (int32_t)step->distance);
    pass_int(pass, (int32_t)step->last);
    pass_int(pass, strips_border(step->border));
    pass_int(pass, step->ends && plane_has_alpha(in));
    pass_int(pass, crop ? (int32_t)window.left : 0);
    pass_int(pass, crop ? (int32_t)window.top : 0);
}

/* The steps along one axis, to `size` positions there, from `in`. The first one sees the border. */
static struct strips_view add_axis(struct task *task, struct strips_view in, bool down,
                                   uint32_t window, uint32_t size, int32_t begin)
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
            task->too_large |=
                !strips_scratch(task->plan, &task->half[task->turn ^= 1], &shape, &step.out);
        add_step(task, &step);
        in = step.out;
        covered += last;
        if (ends)
            break;
    }
    return in;
}

static void add_steps(struct task *task)
{
    struct strips_window window = window_of(task);
    bool crop = task->border == BORDER_CROP;
    struct strips_view across = add_axis(task, task->in, false, task->width, task->out.plane.width,
                                         crop ? 0 : -(int32_t)window.left);
    add_axis(task, across, true, task->height, task->out.plane.height,
             crop ? 0 : -(int32_t)window.top);
}

/* Adds the words `offset` bytes behind those of t that begin with `word`, a name for each word. */
static void add_words(struct text *text, const char *(*word)(int), int offset)
{
    int at = offset < 0 ? -((3 - offset) / 4) : offset / 4, rest = offset - 4 * at;
    if (rest == 0)
        text_printf(text, "%s(t)", word(at));
    else
        text_printf(text, "BEHIND(%s(t),%s(t),%d)", word(at), word(at + 1), 8 * rest);
}

static const char *word_from(int place)
{
    static const char *const names[] = {"FROM_0", "FROM_1", "FROM_2"};
    return names[place];
}

/* Along rows: t becomes the best of 1, 2, 4 … pixels from each on, and two of such make a window.
 */
static void define_across(struct pass *pass, const struct packed_reach *reach, int channels)
{
    struct text across = {0}, result = {0};
    int left = (int)reach->left, right = (int)reach->right;
    int seen = channels, window = left + right + channels;
    for (; 2 * seen <= window; seen *= 2) {
        text_append(&across, "t=BETTER_8(t,");
        add_words(&across, word_from, seen);
        text_append(&across, ");");
    }
    if (seen < window) {
        text_append(&result, "BETTER_OWN(");
        add_words(&result, packed_word, right + channels - seen);
        text_append(&result, ",");
    }
    add_words(&result, packed_word, -left);
    text_append(&result, seen < window ? ")" : "");
    pass_define(pass, "ACROSS", "%s", text_string(&across));
    pass_define(pass, "RESULT", "%s", text_string(&result));
    text_finish(&across);
    text_finish(&result);
}

/* Down columns: a0 … are the best of a line and those behind it in the first row's window, b3 … of
 * the lines behind that window and in front of this one. */
static void define_down(struct pass *pass, unsigned rows)
{
    struct text downs = {0};
    text_printf(&downs, "uint8 a%x=w%x;", rows - 1, rows - 1);
    for (unsigned i = rows - 1; i-- > 0;)
        text_printf(&downs, "uint8 a%x=BETTER_8(w%x,a%x);", i, i, i + 1);
    for (unsigned i = rows; i < rows + PACKED_ROWS - 1; i++)
        if (i % rows == 0)
            text_printf(&downs, "uint8 b%x=w%x;", i, i);
        else
            text_printf(&downs, "uint8 b%x=BETTER_8(b%x,w%x);", i, i - 1, i);
    for (unsigned i = 0; i < PACKED_ROWS; i++)
        if (i % rows == 0)
            text_printf(&downs, "uint8 r%u=%c%x;", i, i == 0 ? 'a' : 'b',
                        i == 0 ? 0 : i + rows - 1);
        else if (i < rows)
            text_printf(&downs, "uint8 r%u=BETTER_8(a%x,b%x);", i, i, i + rows - 1);
        else
            text_printf(&downs, "uint8 r%u=BETTER_8(w%x,b%x);", i, i, i + rows - 1);
    pass_define(pass, "DOWNS", "%s", text_string(&downs));
    text_finish(&downs);
}

/* A plane whose pixels are single samples. */
static struct plane of_samples(const struct plane *plane)
{
    struct plane samples = *plane;
    samples.width *= samples.channels;
    samples.channels = 1;
    return samples;
}

static void add_near(struct task *task, const struct strips_view *out,
                     const struct packed_reach *reach)
{
    const struct plane *in = &task->in.plane;
    struct plane samples = of_samples(in);
    unsigned rows = reach->top + reach->bottom + 1;
    struct pass *pass = packed_begin(task->plan, "morph", &samples, reach, rows > 3 ? 2 : 4);
    pass_define(pass, "PIXEL_SOURCE", "bytes");
    pass_define_type(pass, "DST", in->type);
    pass_channels(pass, in->channels, in->channels);
    describe(pass, task->kind);
    define_across(pass, reach, (int)in->channels);
    define_down(pass, rows);
    for (unsigned i = 0; i < PACKED_ROWS; i++) {
        char name[24];
        snprintf(name, sizeof name, "MIDDLE_%u", i);
        pass_define(pass, name, "%x", i + reach->top);
    }
    pass->goes_on = in->channels == 1 && out->operand == OPERAND_OUT;
    pass->work *= 8.0 + 2.0 * (rows + reach->left + reach->right);
    pass->bytes_read = pass->bytes_written = plane_bytes(in);
    pass_plane_at(pass, task->in.operand, in);
    pass_plane_at(pass, out->operand, &out->plane);
    pass_int(pass, (int32_t)samples.width);
    pass_int(pass, (int32_t)in->height);
    pass_int(pass, (int32_t)task->border);
}

/* A step of cl/morph/morph_far.cl: positions up to `distance` apart, from `before` in front of each
 * to `last` behind that. */
struct far {
    bool down;
    uint32_t distance, before, last;
};

static void add_far(struct task *task, const struct far *far, const struct strips_view *in,
                    const struct strips_view *out, bool ends)
{
    const struct plane *plane = &in->plane;
    int32_t unit = far->down ? 1 : (int32_t)plane->channels;
    bool zeros_are_least = task->border == BORDER_ZERO && task->kind == MORPH_LARGEST;
    struct pass *pass =
        pass_begin(task->plan, "morph_far", far->down ? "down" : "across", FORM_SCALAR,
                   far->down ? 16 : 4, plane->width * plane->channels, plane->height);
    unsigned places = (far->last + far->distance - 1) / far->distance + 1;
    pass_define(pass, "PIXEL_SOURCE", "bytes");
    pass_define(pass, "PLACES", "%u", places);
    pass_channels(pass, plane->channels, plane->channels);
    describe(pass, task->kind);
    pass->work = 3.0 * places;
    pass->bytes_read = pass->bytes_written = plane_bytes(plane);
    pass_plane_at(pass, in->operand, plane);
    pass_plane_at(pass, out->operand, &out->plane);
    pass_plane_at(pass, task->in.operand, &task->in.plane);
    pass_int(pass, (int32_t)(plane->width * plane->channels));
    pass_int(pass, (int32_t)plane->height);
    pass_int(pass, -(int32_t)far->before * unit);
    pass_int(pass, (int32_t)far->distance * unit);
    pass_int(pass, (int32_t)far->last * unit);
    pass_int(pass, zeros_are_least ? BORDER_EDGE : (int32_t)task->border);
    pass_int(pass, ends);
}

/* The steps from a window of `covered` to one that reaches so much further on both sides. */
static unsigned list_far(struct far *list, unsigned n, bool down, uint32_t before, uint32_t behind,
                         uint32_t covered)
{
    while (before + behind > 0) {
        struct far far = {down, covered, before, before + behind};
        if (far.last > 3 * covered) { /* as far to both sides: see add_bytes */
            far.last = 3 * covered & ~1u;
            far.before = far.last / 2;
        }
        list[n++] = far;
        before -= far.before;
        behind -= far.last - far.before;
        covered += far.last;
    }
    return n;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* All planes between are as large as the source, and bordered as it is: the best of what windows
 * have found is then the best of the large one; with a mirror, where each window is as large to
 * both sides. Zeros, to dilate, are the least and tell nothing: there the position outside stands
 * for the nearest one inside, whose window is part of the large one. */
static bool add_bytes(struct task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    struct strips_window w = window_of(task);
    uint32_t side = 8 / in->channels, above = 4;
    struct strips_window near = {least(w.left, side), least(w.right, side), least(w.top, above),
                                 least(w.bottom, above), w.border};
    struct plane in_samples = of_samples(in), out_samples = of_samples(out);
    const struct packed_reach reach = {near.left * in->channels, near.right * in->channels,
                                       near.top, near.bottom};
    bool mirrored = w.border == BORDER_REFLECT || w.border == BORDER_SYMMETRIC;
    bool uneven = (w.left > side && w.left != w.right) || (w.top > above && w.top != w.bottom);
    if (!task->plan->profile->packs_bytes || w.border == BORDER_CROP || (mirrored && uneven) ||
        !packed_suits(task->plan->profile, &in_samples, &out_samples, &reach))
        return false;
    struct far list[2 * 8]; /* windows grow by a factor of nearly four */
    unsigned n = list_far(list, 0, false, w.left - near.left, w.right - near.right,
                          near.left + near.right + 1);
    n = list_far(list, n, true, w.top - near.top, w.bottom - near.bottom,
                 near.top + near.bottom + 1);
    struct strips_view from = task->in;
    for (unsigned i = 0; i <= n; i++) {
        struct strips_view to = task->out;
        if (i < n)
            task->too_large |= !strips_scratch(task->plan, &task->half[task->turn ^= 1], out, &to);
        if (i == 0)
            add_near(task, &to, &reach);
        else
            add_far(task, &list[i - 1], &from, &to, i == n);
        from = to;
    }
    return true;
}

int morph_plan(const struct morph_config *config, enum morph_kind kind, unsigned times,
               struct stage_plan *plan, struct fault *fault)
{
    struct task task = {.plan = plan,
                        .width = (uint32_t)config->width,
                        .height = (uint32_t)config->height,
                        .border = (enum border)config->border,
                        .kind = kind};
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        struct strips_view in = {OPERAND_IN, plan->in->planes[i]};
        struct strips_view out = {OPERAND_OUT, plan->out->planes[i]}, half = out;
        if (times == 2) {
            struct plane shape = in.plane;
            stage_window_size("", task.border, task.width, task.height, &shape, fault);
            task.too_large |= !strips_scratch(plan, &task.between, &shape, &half);
        }
        for (unsigned k = 0; k < times; k++) {
            task.kind = k == 0 ? kind : !kind;
            task.in = k == 0 ? in : half;
            task.out = k + 1 < times ? half : out;
            if (plan->profile->form == FORM_ROWS)
                add_rows(&task);
            else if (!add_bytes(&task))
                add_steps(&task);
        }
    }
    if (task.too_large)
        return fault_set(fault, FAULT_LIMIT, "%s: this picture has more than 2^31 samples",
                         plan->stage);
    return 0;
}
