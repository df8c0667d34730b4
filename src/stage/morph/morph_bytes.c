/* Erosion and dilation of bytes on GPUs, which compare four of them at a time (cl/bytes.cl):
 * windows of up to 9 rows in one kernel (morph_packed.cl), larger ones along rows and then down
 * columns, as far as one kernel reaches (cl/morph/morph_line.cl), and from there by steps
 * (cl/morph/morph_far.cl). On GPUs with few registers small windows in floats down columns
 * (cl/morph/morph_columns.cl). */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "stage/morph/morph.h"
#include "stage/packed.h"

/* How far one kernel reaches: cl/packed.cl in samples and rows, and cl/morph/morph_line.cl in
 * either. */
enum {
    NEAR_SAMPLES = 8,
    NEAR_ROWS = 4,
    COLUMNS_ROWS = 7, /* of a window in cl/columns.cl */
    LINE_REACH = 16,
    LINE_ROWS = 8 /* that a work-item has, and that its window has at least */
};

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
    static const char *const names[] = {"FROM_0", "FROM_1", "FROM_2", "FROM_3", "FROM_4"};
    return names[place];
}

static const char *word_of(int place)
{
    static const char *const names[] = {"AT_m4", "AT_m3", "AT_m2", "AT_m1", "AT_0",
                                        "AT_1",  "AT_2",  "AT_3",  "AT_4"};
    return names[place + 4];
}

/* Along rows: t, of so many words, becomes the best of 1, 2, 4 … pixels from each on, and two of
 * such make a window. */
static void define_across(struct pass *pass, int left, int right, int channels, int words)
{
    struct text across = {0}, result = {0};
    int seen = channels, window = left + right + channels;
    for (; 2 * seen <= window; seen *= 2) {
        text_printf(&across, "t=FN(better_%d)(t,", words);
        add_words(&across, word_from, seen);
        text_append(&across, ");");
    }
    if (seen < window) {
        text_append(&result, "BETTER_OWN(");
        add_words(&result, word_of, right + channels - seen);
        text_append(&result, ",");
    }
    add_words(&result, word_of, -left);
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
    text_printf(&downs, "a[%u]=w[%u];", rows - 1, rows - 1);
    for (unsigned i = rows - 1; i-- > 0;)
        text_printf(&downs, "a[%u]=FN(better_8)(w[%u],a[%u]);", i, i, i + 1);
    for (unsigned i = rows; i < rows + PACKED_ROWS - 1; i++)
        if (i % rows == 0)
            text_printf(&downs, "b[%u]=w[%u];", i, i);
        else
            text_printf(&downs, "b[%u]=FN(better_8)(b[%u],w[%u]);", i, i - 1, i);
    for (unsigned i = 0; i < PACKED_ROWS; i++)
        if (i % rows == 0)
            text_printf(&downs, "r[%u]=%c[%u];", i, i == 0 ? 'a' : 'b', i == 0 ? 0 : i + rows - 1);
        else if (i < rows)
            text_printf(&downs, "r[%u]=FN(better_8)(a[%u],b[%u]);", i, i, i + rows - 1);
        else
            text_printf(&downs, "r[%u]=FN(better_8)(w[%u],b[%u]);", i, i, i + rows - 1);
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

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The window of cl/packed.cl, in samples, as far as it goes. */
static struct stage_window near_window(const struct morph_task *task)
{
    struct stage_window w = morph_window(task);
    uint32_t channels = task->in.plane.channels, side = NEAR_SAMPLES / channels;
    return (struct stage_window){least(w.left, side) * channels, least(w.right, side) * channels,
                                 least(w.top, NEAR_ROWS), least(w.bottom, NEAR_ROWS), w.border};
}

static bool suits_packed(const struct morph_task *task)
{
    struct plane in = of_samples(&task->in.plane), out = of_samples(&task->out.plane);
    struct stage_window near = near_window(task);
    return task->plan->profile->packs_bytes && task->border != BORDER_CROP &&
           packed_suits(task->plan->profile, &in, &out, &near);
}

bool morph_suits_near(const struct morph_task *task)
{
    struct stage_window w = morph_window(task);
    uint32_t side = NEAR_SAMPLES / task->in.plane.channels;
    return w.left <= side && w.right <= side && w.top <= NEAR_ROWS && w.bottom <= NEAR_ROWS &&
           suits_packed(task);
}

void morph_add_near(struct morph_task *task)
{
    const struct stage_window near = near_window(task), *reach = &near;
    const struct plane *in = &task->in.plane;
    struct plane samples = of_samples(in);
    unsigned rows = reach->top + reach->bottom + 1;
    static const struct packed_stage stage = {"morph", "morph_packed", NULL};
    struct pass *pass = packed_begin(task->plan, &stage, &samples, reach, rows > 3 ? 2 : 4);
    pass_define_type(pass, "DST", in->type);
    pass_channels(pass, in->channels, in->channels);
    morph_describe(pass, task->kind);
    define_across(pass, (int)reach->left, (int)reach->right, (int)in->channels, 8);
    define_down(pass, rows);
    packed_outputs(pass, 1);
    pass->goes_on = in->channels == 1 && task->out.operand == OPERAND_OUT;
    pass->work *= 8.0 + 2.0 * (rows + reach->left + reach->right);
    pass_views(pass, &task->in, &task->out);
    pass_ints(pass, samples.width, in->height, task->border);
}

bool morph_suits_columns(const struct morph_task *task)
{
    struct stage_window w = morph_window(task);
    return task->plan->profile->takes_columns && task->height <= COLUMNS_ROWS &&
           w.border != BORDER_CROP &&
           packed_suits(task->plan->profile, &task->in.plane, &task->out.plane, &w);
}

void morph_add_columns(struct morph_task *task)
{
    static const struct packed_stage stage = {"morph", NULL, "morph_columns"};
    const struct plane *in = &task->in.plane;
    struct stage_window w = morph_window(task);
    int left = (int)w.left, right = (int)w.right, channels = (int)in->channels;
    struct pass *pass = packed_begin(task->plan, &stage, in, &w, 0);
    struct text across = {0}, downs = {0};
    for (int i = 0; i < left + right; i++)
        text_append(&across, "BETTER(");
    for (int i = -left; i <= right; i++)
        text_printf(&across, i == -left ? "AT_%s%d(v)" : ",AT_%s%d(v))", i < 0 ? "m" : "",
                    abs(i) * channels);
    for (unsigned j = 1; j < task->height; j++)
        text_printf(&downs, "D(%u)", j);
    pass_define(pass, "ACROSS", "%s", text_string(&across));
    pass_define(pass, "DOWNS", "%s", text_string(&downs));
    pass_define(pass, "LAST", "%u", task->height - 1);
    text_finish(&across);
    text_finish(&downs);
    pass_define_type(pass, "DST", in->type);
    char window[16];
    snprintf(window, sizeof window, "%ux%u", task->width, task->height);
    pass_name(pass, window);
    morph_describe(pass, task->kind);
    packed_outputs(pass, 1);
    pass->goes_on = task->out.operand == OPERAND_OUT;
    pass->work *= task->width + task->height;
    pass_views(pass, &task->in, &task->out);
    pass_ints(pass, in->width, in->height, task->border);
}

/* A window along one axis: positions up to `distance` apart, from `before` in front of each to
 * `last` behind that. Those of distance 1 are samples of the source, others have been made of
 * windows as large as the distance. */
struct step {
    bool down;
    uint32_t distance, before, last;
};

static struct pass *begin_step(struct morph_task *task, const struct step *step, const char *source,
                               uint32_t span, const struct view *in,
                               const struct view *out, uint32_t grid_height)
{
    const struct plane *plane = &in->plane;
    struct pass *pass = pass_begin(task->plan, source, step->down ? "down" : "across", FORM_SCALAR,
                                   span, plane->width * plane->channels, grid_height);
    pass_channels(pass, plane->channels, plane->channels);
    morph_describe(pass, task->kind);
    pass->bytes_read = pass->bytes_written = plane_bytes(plane);
    pass_view(pass, in);
    pass_view(pass, out);
    pass_view(pass, &task->in);
    pass_ints(pass, plane->width * plane->channels, plane->height);
    return pass;
}

static void add_far(struct morph_task *task, const struct step *step, const struct view *in,
                    const struct view *out, bool ends)
{
    int32_t unit = step->down ? 1 : (int32_t)in->plane.channels;
    bool zeros_are_least = task->border == BORDER_ZERO && task->kind == MORPH_LARGEST;
    unsigned places = (step->last + step->distance - 1) / step->distance + 1;
    struct pass *pass =
        begin_step(task, step, "morph_far", step->down ? 16 : 4, in, out, in->plane.height);
    pass_define(pass, "PLACES", "%u", places);
    pass->work = 3.0 * places;
    pass_ints(pass, -(int32_t)step->before * unit, (int32_t)step->distance * unit,
              (int32_t)step->last * unit, zeros_are_least ? BORDER_EDGE : (int32_t)task->border,
              ends);
}

static void add_line(struct morph_task *task, const struct step *step, const struct view *in,
                     const struct view *out, bool ends)
{
    uint32_t height = in->plane.height, channels = in->plane.channels;
    uint32_t blocks = (height + LINE_ROWS - 1) / LINE_ROWS, window = step->last + 1;
    struct pass *pass = begin_step(task, step, "morph_line", step->down ? 16 : 32, in, out,
                                   step->down ? blocks : height);
    pass->work = step->down ? 2.0 * (window + 3 * LINE_ROWS) : 20;
    if (step->down) {
        pass_define(pass, "WINDOW", "%u", window);
        pass_int(pass, (int32_t)step->before);
    } else {
        define_across(pass, (int)(step->before * channels),
                      (int)((step->last - step->before) * channels), (int)channels, 16);
    }
    pass_ints(pass, task->border, ends);
}

/* The steps to a window that reaches so far, of which the first one takes `most` on either side. */
static unsigned list_steps(struct step *list, unsigned n, bool down, uint32_t before,
                           uint32_t behind, uint32_t most)
{
    for (uint32_t covered = 1; before + behind > 0;) {
        struct step step = {down, covered, before, before + behind};
        if (covered == 1) {
            step.before = least(before, most);
            step.last = step.before + least(behind, most);
        } else if (step.last > 3 * covered) { /* as far to both sides: see add_steps */
            step.last = 3 * covered & ~1u;
            step.before = step.last / 2;
        }
        list[n++] = step;
        before -= step.before;
        behind -= step.last - step.before;
        covered += step.last;
    }
    return n;
}

bool morph_suits_far(const struct morph_task *task)
{
    struct stage_window w = morph_window(task);
    uint32_t reach = LINE_REACH / task->in.plane.channels;
    bool mirrored = w.border == BORDER_REFLECT || w.border == BORDER_SYMMETRIC;
    bool uneven =
        (w.left > reach && w.left != w.right) || (w.top > LINE_REACH && w.top != w.bottom);
    return suits_packed(task) && !(mirrored && uneven);
}

/* All planes between are as large as the source, and bordered as it is: the best of what windows
 * have found is then the best of the large one; with a mirror, where each window is as large to
 * both sides. Zeros, to dilate, are the least and tell nothing: there the position outside stands
 * for the nearest one inside, whose window is part of the large one. */
void morph_add_far(struct morph_task *task)
{
    const struct stage_window window = morph_window(task), *w = &window;
    struct step list[2 * 8]; /* windows grow by a factor of nearly four */
    uint32_t across = LINE_REACH / task->in.plane.channels;
    unsigned n = list_steps(list, 0, false, w->left, w->right, across);
    n = list_steps(list, n, true, w->top, w->bottom, LINE_REACH);
    struct view from = task->in;
    for (unsigned i = 0; i < n; i++) {
        const struct step *step = &list[i];
        struct view to = task->out;
        if (i + 1 < n)
            to = stage_plan_view(task->plan, &task->half[task->turn ^= 1], &task->out.plane);
        if (step->distance == 1 && (!step->down || step->last + 1 >= LINE_ROWS))
            add_line(task, step, &from, &to, i + 1 == n);
        else
            add_far(task, step, &from, &to, i + 1 == n);
        from = to;
    }
}
