#include "stage/move/only.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage/common.h"
#include "stage/move/move.h"

static bool is_taken(const struct only_config *config, const struct plane *plane)
{
    char one[PARAM_WORD_MAX];
    const char *at = config->pattern;
    for (bool more = true; more; at++) {
        int length = (int)strcspn(at, "/");
        snprintf(one, sizeof one, "%.*s", length, at);
        if (fnmatch(one, plane->name, 0) == 0)
            return true;
        at += length;
        more = *at == '/';
    }
    return false;
}

/* Which planes of a frame the stage gets, and those planes as a frame in the same memory. */
struct part {
    struct frame frame;
    unsigned *places; /* their indices in the whole frame */
};

static void finish_part(struct part *part)
{
    frame_finish(&part->frame);
    free(part->places);
}

/* Takes from `frame` those planes that the stage gets of `in`, which has as many: all that are to
 * be changed, or where the stage needs it the whole frame. */
static int take_part(const struct only_config *config, const struct frame *in,
                     const struct frame *frame, struct part *part, struct fault *fault)
{
    bool whole = config->stage->whole;
    *part = (struct part){.places = calloc(in->n_planes + 1, sizeof *part->places)};
    bool good = part->places && (!whole || frame_copy(&part->frame, frame));
    for (size_t i = 0, n = 0; i < in->n_planes && good; i++) {
        if (!whole && !is_taken(config, &in->planes[i]))
            continue;
        part->places[n++] = (unsigned)i;
        good = whole || frame_add_plane(&part->frame, &frame->planes[i], FRAME_ALIGNMENT);
        if (good)
            part->frame.planes[n - 1] = frame->planes[i];
    }
    part->frame.size = frame->size;
    return good ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for a frame");
}

/* A pattern that no name fits. */
static int refuse_pattern(const struct only_config *config, const struct frame *in,
                          struct fault *fault)
{
    struct text names = {0};
    for (size_t i = 0; i < in->n_planes && names.length < 160; i++)
        text_printf(&names, "%s%s", i ? ", " : "", in->planes[i].name);
    int result =
        names.length > 0
            ? fault_set(fault, FAULT_SHAPE, "%s:only=%s: no plane has such a name: there %s %s%s",
                        config->stage->name, config->pattern, in->n_planes > 1 ? "are" : "is",
                        text_string(&names), names.length < 160 ? "" : " …")
            : fault_set(fault, FAULT_SHAPE,
                        "%s:only=%s: the picture is one plane without a name; only= is "
                        "for planes such as dwt makes",
                        config->stage->name, config->pattern);
    text_finish(&names);
    return result;
}

/* FAULT_SHAPE unless the stage makes of these planes such as can lie in their places. */
static int check_result(const struct only_config *config, const struct frame *in,
                        const struct frame *made, struct fault *fault)
{
    bool same = in->n_planes == made->n_planes && !config->stage->inverse;
    for (size_t i = 0; i < in->n_planes && same; i++) {
        const struct plane *a = &in->planes[i], *b = &made->planes[i];
        same = a->width == b->width && a->height == b->height && a->channels == b->channels &&
               a->layers == b->layers;
    }
    if (same)
        return 0;
    return fault_set(
        fault, FAULT_SHAPE,
        "%s:only=%s: %s changes the number, the sizes or the channels of planes; only= "
        "is for stages that keep them",
        config->stage->name, config->pattern, config->stage->name);
}

/* A stage that asks for another type knows nothing of the pattern; without it, convert would change
 * all planes. */
static void advise_pattern(const struct only_config *config, struct fault *fault)
{
    char rest[sizeof fault->text];
    char *advice = fault ? strstr(fault->text, "put convert:type=") : NULL;
    if (!advice)
        return;
    char *end = advice + strlen("put ");
    end += strcspn(end, " ,;");
    snprintf(rest, sizeof rest, "%s", end);
    snprintf(end, (size_t)(fault->text + sizeof fault->text - end), ":only=%s%s", config->pattern,
             rest);
}

static int shape(const void *config_, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    const struct only_config *config = config_;
    struct part part;
    struct frame made = {0};
    bool any = false;
    for (size_t i = 0; i < in->n_planes; i++)
        any |= is_taken(config, &in->planes[i]);
    if (!any)
        return refuse_pattern(config, in, fault);
    if (config->stage->inverse)
        return check_result(config, in, in, fault);
    int result = take_part(config, in, in, &part, fault);
    if (result == 0)
        result =
            stage_find_shape(config->stage, config->config, &part.frame, alignment, &made, fault);
    if (result == FAULT_SHAPE)
        advise_pattern(config, fault);
    if (result == 0)
        result = check_result(config, &part.frame, &made, fault);
    for (size_t i = 0, n = 0; i < in->n_planes && result == 0; i++) {
        bool is_part = n < made.n_planes && part.places[n] == i;
        const struct plane *from = is_part ? &made.planes[n] : &in->planes[i];
        n += is_part;
        result = stage_add_plane(out, is_taken(config, &in->planes[i]) ? from : &in->planes[i],
                                 alignment, fault);
    }
    frame_finish(&made);
    finish_part(&part);
    return result;
}

/* Whether a pass writes nothing but planes that are not to be changed. */
static bool is_needless(const struct only_config *config, const struct stage_plan *plan,
                        const struct pass *pass)
{
    bool writes = false;
    for (unsigned i = 0; i < pass->n_args; i++) {
        const struct pass_arg *arg = &pass->args[i];
        bool is_out =
            (arg->kind == PASS_PLANE || arg->kind == PASS_BUFFER) && arg->operand == OPERAND_OUT;
        if (is_out && (arg->kind == PASS_BUFFER || is_taken(config, &plan->in->planes[arg->plane])))
            return false;
        writes |= is_out;
    }
    return writes;
}

/* The stage's passes, with the planes as the whole frames count them. */
static int add_passes_of_stage(const struct only_config *config, struct stage_plan *plan,
                               struct fault *fault)
{
    const struct frame *in = plan->in, *out = plan->out;
    struct part of_in, of_out;
    int result = take_part(config, in, in, &of_in, fault);
    result = take_part(config, in, out, &of_out, fault) ? FAULT_MEMORY : result;
    if (result == 0) {
        plan->in = &of_in.frame;
        plan->out = &of_out.frame;
        result = stage_add_passes(config->stage, config->config, plan, fault);
        plan->in = in;
        plan->out = out;
    }
    unsigned n = 0;
    for (unsigned p = 0; p < plan->n_passes && result == 0; p++) {
        struct pass *pass = &plan->passes[p];
        for (unsigned i = 0; i < pass->n_args; i++)
            if (pass->args[i].kind == PASS_PLANE && pass->args[i].operand <= OPERAND_OUT)
                pass->args[i].plane = of_in.places[pass->args[i].plane];
        if (!is_needless(config, plan, pass))
            memmove(&plan->passes[n++], pass, sizeof *pass);
    }
    plan->n_passes = result == 0 ? n : plan->n_passes;
    finish_part(&of_in);
    finish_part(&of_out);
    return result;
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct only_config *config = config_;
    plan->stage = config->stage->name;
    int result = add_passes_of_stage(config, plan, fault);
    bool changes = plan->n_passes > 0;
    for (unsigned i = 0; i < plan->in->n_planes && changes && result == 0; i++)
        if (!is_taken(config, &plan->in->planes[i]))
            move_add(plan, i, &(struct move){0});
    return result;
}

static int reference(const void *config_, const struct picture *in, struct picture *out,
                     struct fault *fault)
{
    const struct only_config *config = config_;
    struct part of_in, of_out;
    int result = take_part(config, &in->frame, &in->frame, &of_in, fault);
    result = take_part(config, &in->frame, &out->frame, &of_out, fault) ? FAULT_MEMORY : result;
    if (result == 0) {
        struct picture from = {of_in.frame, in->data}, to = {of_out.frame, out->data};
        result = stage_compute(config->stage, config->config, &from, &to, fault);
    }
    for (size_t i = 0; i < in->frame.n_planes && result == 0; i++) {
        const struct plane *plane = &in->frame.planes[i];
        for (uint32_t y = 0; y < plane->height && !is_taken(config, plane); y++)
            memcpy(picture_row(out, i, y), picture_row(in, i, y), plane_row_bytes(plane));
    }
    finish_part(&of_in);
    finish_part(&of_out);
    return result;
}

static struct tolerance tolerance(const void *config_, enum sample_type in, enum sample_type out)
{
    const struct only_config *config = config_;
    return stage_tolerance(config->stage, config->config, in, out);
}

const struct stage stage_only = {
    .name = "only",
    .summary = "some planes as another stage makes them, the others as they are",
    .internal = true,
    .types = STAGE_TYPES_ALL,
    .shape = shape,
    .passes = passes,
    .reference = reference,
    .tolerance = tolerance,
};
