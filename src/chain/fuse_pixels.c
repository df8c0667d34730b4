/* Fuses per-pixel steps into one function, which gets a kernel of its own, or is called where
 * another stage's kernel stores its result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/plan_internal.h"

/* A run of per-pixel steps: the function of those taken so far, and the types between them. */
struct run {
    struct pixel_function function;
    enum sample_type types[CHAIN_STEPS_MAX + 3];
    const struct plan_step *steps[CHAIN_STEPS_MAX + 2];
    struct pixel_function functions[CHAIN_STEPS_MAX + 2];
    size_t n;
};

/* Appends the function NAME_pixel of a step to the run. Returns false when the run must end before
 * that step. `index` is the plane's. */
static bool extend(struct run *run, const struct plan_step *step, unsigned index)
{
    const struct plane *plane = &step->in->planes[index];
    struct pixel_function *whole = &run->function, next = {.needs.work = 4, .plan = whole->plan};
    char call[sizeof whole->call], arguments[PIXEL_TEXT_MAX];
    if (step->stage->pixel(step->config, plane, &next, NULL) != 0 || next.scalar ||
        whole->needs.n_args + next.needs.n_args > PIXEL_ARGS_MAX)
        return false;
    /* the run and the step have to treat alpha alike: both copy it, or both compute it */
    bool copies = next.keep_alpha && next.type == run->types[run->n];
    bool copied = whole->keep_alpha && run->types[run->n] == run->types[0];
    if (plane_has_alpha(plane) && run->n > 0 && copies != copied)
        return false;
    pixel_arguments(&next, whole->needs.n_args, arguments);
    int length = snprintf(call, sizeof call, "FN(f%zu_%s_pixel)(%s%s)", run->n, step->stage->name,
                          run->n == 0 ? "(v)" : whole->call, arguments);
    if (length < 0 || (size_t)length >= sizeof call)
        return false;
    memcpy(whole->call, call, sizeof call);
    memcpy(&whole->needs.args[whole->needs.n_args], next.needs.args,
           next.needs.n_args * sizeof *next.needs.args);
    whole->needs.n_args += next.needs.n_args;
    whole->needs.work += next.needs.work;
    whole->type = next.type;
    whole->keep_alpha = next.keep_alpha;
    run->steps[run->n] = step;
    run->functions[run->n] = next;
    run->types[++run->n] = next.type;
    return true;
}

/* The functions' source, for the vector length of the pass that calls them. */
static struct fused *function_parts(const struct run *run, const struct pass *pass)
{
    struct fused *fused = calloc(1, sizeof *fused);
    for (size_t i = 0; fused && i < run->n; i++) {
        struct pass *part = fused_add_part(fused);
        if (!part) {
            fused_destroy(&fused);
            break;
        }
        part->stage = part->source = run->steps[i]->stage->name;
        part->form = pass->form;
        part->lanes = pass->lanes;
        pass_define_type_bits(part, "SRC", run->types[i]);
        pass_define_type_bits(part, "DST", run->types[i + 1]);
        pass_define_words(part, run->types[i], run->types[i + 1]);
        pass_define_lines(part, run->functions[i].needs.defines);
    }
    return fused;
}

/* Makes in `work` the one pass for plane `plane` of as many of the group's steps as fit, and
 * returns how many these are. Without memory work->out_of_memory is set. */
static size_t fuse_run(const struct fuse_group *group, unsigned plane, struct stage_plan *work)
{
    const struct plan_step *steps = group->plan->steps;
    const struct plane *in = &steps[group->first].in->planes[plane];
    struct run *run = calloc(1, sizeof *run);
    if (!run) {
        work->out_of_memory = true;
        return 0;
    }
    run->types[0] = in->type;
    run->function.plan = work;
    size_t end = group->first;
    while (end <= group->last && (steps[end].work.n_passes == 0 || extend(run, &steps[end], plane)))
        end++;
    size_t held = end - group->first;
    if (run->n > 0) {
        work->out = &steps[end - 1].out;
        pass_pixel(work, plane, &run->function);
        struct pass *pass = &work->passes[work->n_passes - 1];
        if (!work->out_of_memory)
            pass->fused = function_parts(run, pass);
        work->out_of_memory |= !pass->fused;
    }
    free(run);
    return held;
}

/* Makes runs for each plane, from group->first on. All planes' runs have the same number of steps.
 */
int fuse_pixels(struct fuse_group *group, bool *done, struct fault *fault)
{
    struct plan_step *steps = group->plan->steps;
    struct fuse_group tried = *group;
    size_t n_planes = steps[group->first].in->n_planes;
    char name[64];
    *done = false;
    while (tried.last > tried.first) {
        fuse_label(&tried, '_', name, sizeof name);
        struct stage_plan work = {.profile = group->plan->profile,
                                  .in = steps[tried.first].in,
                                  .out = &steps[tried.last].out,
                                  .stage = name};
        size_t held = tried.last - tried.first + 1;
        for (unsigned i = 0; i < n_planes && held == tried.last - tried.first + 1; i++)
            held = fuse_run(&tried, i, &work);
        bool failed = work.out_of_memory;
        if (!failed && held == tried.last - tried.first + 1) {
            fuse_commit(&tried, &work);
            *group = tried;
            *done = true;
            return 0;
        }
        plan_work_finish(&work);
        if (failed)
            return fault_set(fault, FAULT_MEMORY, "no memory for a plan");
        if (held == 0)
            break; /* the first step has no function that others can call */
        tried.last = tried.first + held - 1;
    }
    return 0;
}

/* Defines OUT, THEN and THEN_PARAMETERS, by which a template stores its result (cl/prelude.cl). */
static void define_then(struct pass *pass, const struct run *run)
{
    char parameters[PIXEL_TEXT_MAX];
    pixel_parameters(&run->function, parameters);
    text_printf(&pass->fused->defines,
                "OUT %s\nTHEN(v) %s\nTHEN_WORD(w) as_uint(THEN(CAT3(as_, DST, 4)(w)))\n"
                "THEN_PARAMETERS %s\n",
                pass_type_bits_name(run->function.type), run->function.call, parameters);
    for (unsigned i = 0; i < run->function.needs.n_args; i++)
        pass->args[pass->n_args++] = run->function.needs.args[i];
    pass->fused->has_then = true;
    for (size_t i = 0; i < run->n; i++)
        pass_name(pass, run->steps[i]->stage->name);
}

/* Collects the steps after the group's first one that its kernel can take in. */
static size_t collect(struct run *run, const struct fuse_group *group, enum kernel_form form)
{
    const struct plan_step *steps = group->plan->steps, *first = &steps[group->first];
    size_t last = group->first, in = sample_size(first->in->planes[0].type);
    size_t out = sample_size(first->out.planes[0].type), widest = in > out ? in : out;
    run->types[0] = first->out.planes[0].type;
    for (size_t i = group->first + 1; i <= group->last; i++) {
        const struct plan_step *step = &steps[i];
        if (step->work.n_passes > 0 &&
            (!fuse_is_pixel(step) ||
             (form == FORM_VECTOR && sample_size(step->out.planes[0].type) > widest) ||
             !extend(run, step, 0)))
            break;
        if (step->work.n_passes > 0)
            last = i;
    }
    return last;
}

/* Adds the per-pixel steps after step `at` to its pass in `work`. group->last becomes the last step
 * taken in, and work->out what comes out of it. */
static int fuse_attach(struct fuse_group *group, size_t at, struct stage_plan *work,
                       struct fault *fault)
{
    const struct plan *plan = group->plan;
    const struct plan_step *first = &plan->steps[at];
    struct pass *pass = &work->passes[0];
    struct fuse_group tried = {group->plan, at, group->last};
    struct run *run = calloc(1, sizeof *run);
    group->last = at;
    if (!run)
        return fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    run->function.plan = work;
    /* one plane, no alpha, a template that uses THEN */
    if (work->n_passes == 1 && pass->goes_on && first->out.n_planes == 1 &&
        !plane_has_alpha(&first->out.planes[0]))
        tried.last = collect(run, &tried, pass->form);
    const struct frame *out = &plan->steps[tried.last].out;
    bool fits = run->n > 0 && pass->n_args + run->function.needs.n_args <= PASS_ARGS_MAX &&
                (pass->form != FORM_VECTOR || pass_form_for(plan->profile, &first->in->planes[0],
                                                            &out->planes[0]) == FORM_VECTOR);
    if (fits) {
        group->last = tried.last;
        work->out = out;
        pass->fused = function_parts(run, pass);
        if (pass->fused)
            define_then(pass, run);
        plan_set_rows(first, pass);
        pass->bytes_written = plane_bytes(&out->planes[0]);
        pass->work += run->function.needs.work;
    }
    int result = fits && (!pass->fused || pass->fused->defines.failed)
                     ? fault_set(fault, FAULT_MEMORY, "no memory for a plan")
                     : 0;
    free(run);
    return result;
}

int fuse_then(struct fuse_group *group, bool *done, struct fault *fault)
{
    struct stage_plan work;
    int result =
        plan_step_passes(&group->plan->steps[group->first], group->plan->profile, &work, fault);
    if (result == 0)
        result = fuse_attach(group, group->first, &work, fault);
    *done = result == 0 && group->last > group->first;
    if (*done)
        fuse_commit(group, &work);
    plan_work_finish(&work);
    return result;
}

/* Has the pass compute its source from colours, as `grey` does. */
static bool take_colours(const struct pass *grey, const struct plane *colours,
                         struct stage_plan *work)
{
    struct pass *pass = &work->passes[0];
    const unsigned planes = 2; /* in front of the weights */
    char name[32];
    if (work->n_passes != 1 || !pass->takes_colours ||
        pass->n_args + grey->n_args - planes > PASS_ARGS_MAX)
        return false;
    if (pass->args[0].kind == PASS_BUFFER) { /* a view: its offset and stride follow, in bytes */
        pass->args[1].i = (int32_t)colours->offset;
        pass->args[2].i = (int32_t)colours->stride;
    }
    snprintf(name, sizeof name, "%s_c%u", grey->stage, colours->channels);
    pass_name(pass, name);
    pass_define(pass, "COLOURS", "%u", colours->channels);
    for (unsigned i = planes; i < grey->n_args; i++)
        pass->args[pass->n_args++] = grey->args[i];
    pass->bytes_read = grey->bytes_read;
    /* work-items that are neighbours compute some pixels twice */
    pass->work += 2 * grey->work * grey->grid_height / pass->grid_height;
    return true;
}

int fuse_with_front(struct fuse_group *group, size_t at, const struct fuse_front *front, bool *done,
                    struct fault *fault)
{
    struct plan_step *steps = group->plan->steps, alone = steps[at];
    struct stage_plan work;
    alone.in = front->in;
    int result = plan_step_passes(&alone, group->plan->profile, &work, fault);
    work.in = steps[group->first].in;
    work.out = &steps[at].out;
    if (result == 0 && front->grey && !take_colours(front->grey, &work.in->planes[0], &work)) {
        /* then luminance stays alone, so that a conversion behind it can go into the next pass */
        *done = at > group->first + 1;
        group->last = group->first;
    } else if (result == 0) {
        result = fuse_attach(group, at, &work, fault);
        *done = result == 0;
        if (*done)
            fuse_commit(group, &work);
    }
    plan_work_finish(&work);
    return result;
}
