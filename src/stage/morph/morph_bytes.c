/* Erosion and dilation of bytes in large windows on GPUs, which compare four of them at a time
 * (cl/bytes.cl): along rows and then down columns, as far as one kernel reaches
 * (cl/morph/morph_line.cl), and from there by steps (cl/morph/morph_far.cl). */
#include "stage/morph/morph.h"
#include "stage/packed.h"

/* Of cl/morph/morph_line.cl. */
enum {
    LINE_REACH = 16, /* samples, or rows */
    LINE_ROWS = 8    /* that a work-item has, and that its window has at least */
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* A window along one axis: positions up to `distance` apart, from `before` in front of each to
 * `last` behind that. Those of distance 1 are samples of the source, others have been made of
 * windows as large as the distance. */
struct step {
    bool down;
    uint32_t distance, before, last;
};

static struct pass *begin_step(struct morph_task *task, const struct step *step, const char *source,
                               uint32_t span, const struct view *in, const struct view *out,
                               uint32_t grid_height)
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
    uint32_t height = in->plane.height;
    uint32_t blocks = (height + LINE_ROWS - 1) / LINE_ROWS, window = step->last + 1;
    struct pass *pass = begin_step(task, step, "morph_line", step->down ? 16 : 32, in, out,
                                   step->down ? blocks : height);
    pass->work = step->down ? 2.0 * (window + 3 * LINE_ROWS) : 20;
    if (step->down) {
        pass_define(pass, "WINDOW", "%u", window);
        pass_int(pass, (int32_t)step->before);
    } else {
        pass_define(pass, "LEFT", "%u", step->before);
        pass_define(pass, "RIGHT", "%u", step->last - step->before);
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
    struct plane in = packed_samples(&task->in.plane), out = packed_samples(&task->out.plane);
    return task->plan->profile->packs_bytes && w.border != BORDER_CROP && !(mirrored && uneven) &&
           packed_suits(task->plan->profile, &in, &out, &(struct stage_window){0});
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
