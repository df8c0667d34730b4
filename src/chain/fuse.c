#include "chain/plan_internal.h"

#include <stdio.h>
#include <stdlib.h>

void fused_destroy(struct fused **fused)
{
    struct fused *f = *fused;
    if (!f)
        return;
    for (unsigned i = 0; i < f->n_parts; i++)
        fused_destroy(&f->parts[i].fused);
    free(f->parts);
    text_finish(&f->defines);
    free(f);
    *fused = NULL;
}

struct pass *fused_add_part(struct fused *fused)
{
    struct pass *parts = realloc(fused->parts, (fused->n_parts + 1) * sizeof *parts);
    if (!parts)
        return NULL;
    fused->parts = parts;
    parts[fused->n_parts] = (struct pass){0};
    return &parts[fused->n_parts++];
}

void fuse_label(const struct fuse_group *group, char sign, char *label, size_t size)
{
    size_t used = 0;
    label[0] = '\0';
    for (size_t i = group->first; i <= group->last; i++) {
        const struct plan_step *step = &group->plan->steps[i];
        if (step->work.n_passes == 0 || used >= size)
            continue;
        used += (size_t)snprintf(label + used, size - used, "%.*s%s", used > 0, &sign,
                                 step->stage->name);
    }
}

void fuse_commit(const struct fuse_group *group, struct stage_plan *work)
{
    struct plan_step *steps = group->plan->steps, *last = &steps[group->last];
    fuse_label(group, '+', last->label, sizeof last->label);
    for (size_t i = group->first; i <= group->last; i++) {
        const char *warning = steps[i].work.warning; /* it is about the step, not its kernels */
        steps[i].merged = i < group->last;
        plan_work_finish(&steps[i].work);
        steps[i].work.warning = warning;
    }
    work->warning = last->work.warning;
    last->work = *work;
    last->work.stage = last->label;
    for (unsigned i = 0; i < work->n_passes; i++)
        work->passes[i].stage = last->label;
    last->source = steps[group->first].in;
    *work = (struct stage_plan){0};
}

/* f64 is left out: kernels take its samples apart one by one. */
bool fuse_is_pixel(const struct plan_step *step)
{
    for (size_t i = 0; i < step->in->n_planes; i++)
        if (step->in->planes[i].type == SAMPLE_F64)
            return false;
    return stage_is_per_pixel(step->stage, step->config);
}

/* What a step can be in a group whose kernels are called in turn. */
enum role {
    ALONE,
    NOTHING, /* it has no passes: its input goes on unchanged */
    PIXEL,
    LINE,   /* it computes a row from the same row of its input */
    WINDOW, /* it computes a row from several rows */
};

static enum role role_of(const struct plan_step *step)
{
    if (step->work.n_passes == 0)
        return step->stage->view ? ALONE : NOTHING;
    if (fuse_is_pixel(step))
        return PIXEL;
    if (stage_is_per_pixel(step->stage, step->config))
        return ALONE;
    uint32_t rows = stage_find_reach(step->stage, step->config).rows;
    return rows == 0 ? ALONE : rows > 1 ? WINDOW : LINE;
}

/* Whether the step behind this one takes its output, and nobody else does. */
static bool goes_on(const struct plan *plan, size_t index)
{
    return index + 1 < plan->n_steps && plan->steps[index + 1].before == index + 1 &&
           plan->steps[index].n_readers == 1;
}

/* Counts the steps with passes, and cuts those without off the end: they pass on the group's
 * result. */
static size_t count_work(const struct plan *plan, size_t first, size_t *last)
{
    size_t count = 0;
    while (*last > first && plan->steps[*last].work.n_passes == 0)
        --*last;
    for (size_t i = first; i <= *last; i++)
        count += plan->steps[i].work.n_passes > 0;
    return count;
}

/* Finds the last step of a group whose kernels may be called in turn: one plane, which the first
 * step may make of several, and at most one stencil. */
static size_t end_of_lines(const struct plan *plan, size_t first)
{
    unsigned windows = 0;
    size_t i = first;
    for (; i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        enum role role = role_of(step);
        windows += role == WINDOW;
        bool joins = i == first && step->work.n_passes == 1 && step->out.n_planes == 1;
        if (role == ALONE || windows > 1 || (step->in->n_planes != 1 && !joins))
            break;
        if (!goes_on(plan, i))
            return i + 1;
    }
    return i;
}

/* The end of per-pixel steps behind the first one, of any kind. */
static size_t end_of_pixels(const struct plan *plan, size_t first)
{
    size_t i = first + 1;
    while (goes_on(plan, i - 1) &&
           (role_of(&plan->steps[i]) == PIXEL || role_of(&plan->steps[i]) == NOTHING))
        i++;
    return i;
}

/* Whether the step only makes f32 of integers, and the next one does so itself. */
static bool is_widening(const struct plan *plan, size_t index)
{
    const struct plan_step *step = &plan->steps[index], *next = step + 1;
    if (!goes_on(plan, index) || role_of(step) != PIXEL || !next->stage->widens ||
        next->work.n_passes == 0)
        return false;
    for (size_t i = 0; i < step->in->n_planes; i++) {
        struct pixel_function function = {0};
        if (step->stage->pixel(step->config, &step->in->planes[i], &function, NULL) != 0 ||
            !function.widens || plane_has_alpha(&step->in->planes[i]) ||
            next->out.planes[i].type != SAMPLE_F32)
            return false;
    }
    return true;
}

/* Finds what stands in front of a step that its kernel may take in: luminance, a conversion to f32,
 * or one and then the other. Returns that step; `first`: nothing does. */
static size_t end_of_front(const struct plan *plan, size_t first, struct fuse_front *front)
{
    const struct plan_step *step = &plan->steps[first];
    size_t at = first;
    *front = (struct fuse_front){step->in, NULL};
    if (step->work.n_passes == 1 && step->work.passes[0].gives_grey && goes_on(plan, first)) {
        *front = (struct fuse_front){&step->out, &step->work.passes[0]};
        at++;
    }
    return is_widening(plan, at) ? at + 1 : at;
}

/* Fuses a step with what stands in front of it and behind it. */
static int fuse_around(struct fuse_group *group, bool *done, struct fault *fault)
{
    struct fuse_front front;
    size_t at = end_of_front(group->plan, group->first, &front);
    if (at == group->first)
        return 0;
    group->last = end_of_pixels(group->plan, at) - 1;
    return fuse_with_front(group, at, &front, done, fault);
}

/* Fuses a step with the one behind it, if that one can do the work of both. */
static int fuse_taken(struct fuse_group *group, bool *done, struct fault *fault)
{
    struct plan *plan = group->plan;
    struct stage_plan work;
    if (!goes_on(plan, group->first) || !plan->steps[group->first + 1].stage->take_front)
        return 0;
    int result = plan_step_takes(&plan->steps[group->first], plan->profile, &work, done, fault);
    group->last = group->first + *done;
    if (result == 0 && *done)
        fuse_commit(group, &work);
    plan_work_finish(&work);
    return result;
}

/* Fuses steps from `first` on, if that is possible; *next becomes the first step after them. */
static int fuse_from(struct plan *plan, size_t first, size_t *next, struct fault *fault)
{
    struct fuse_group group = {plan, first, first};
    enum role role = role_of(&plan->steps[first]);
    bool done = false;
    int result = 0;
    result = fuse_taken(&group, &done, fault);
    *next = group.last + 1;
    if (result != 0 || done || role == ALONE || role == NOTHING)
        return 0;
    if (plan->profile->prebuilt) {
        size_t end = end_of_lines(plan, first);
        group.last = end - 1;
        if (end > first && count_work(plan, first, &group.last) > 1)
            result = fuse_lines(&group, &done, fault);
        if (done)
            *next = group.last + 1;
        return result;
    }
    result = fuse_around(&group, &done, fault);
    if (result == 0 && !done && role == PIXEL) {
        group.last = end_of_pixels(plan, first) - 1;
        if (count_work(plan, first, &group.last) > 1)
            result = fuse_pixels(&group, &done, fault);
    } else if (result == 0 && !done) {
        group.last = end_of_pixels(plan, first) - 1;
        if (group.last > first)
            result = fuse_then(&group, &done, fault);
    }
    if (done)
        *next = group.last + 1;
    return result;
}

int plan_fuse(struct plan *plan, struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < plan->n_steps && result == 0;)
        result = fuse_from(plan, i, &i, fault);
    return result;
}
