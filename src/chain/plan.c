#include "chain/plan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "chain/plan_internal.h"
#include "stage/move/move.h"
#include "stage/move/only.h"
#include "stage/sink/mosaic.h"
#include "stage/sink/sink.h"
#include "stage/video.h"

static int no_memory(struct fault *fault)
{
    return fault_set(fault, FAULT_MEMORY, "no memory for a plan");
}

/* Kernels index samples with an int. */
static int check_size(const struct frame *frame, struct fault *fault)
{
    for (size_t i = 0; i < frame->n_planes; i++) {
        const struct plane *p = &frame->planes[i];
        uint64_t last = (p->offset + (uint64_t)p->stride * p->height) / sample_size(p->type);
        if (last > INT_MAX)
            return fault_set(fault, FAULT_LIMIT,
                             "a plane of %u×%u×%u %s has more than 2^31 samples", p->width,
                             p->height, p->channels, sample_name(p->type));
    }
    return 0;
}

/* `result`: of adding the work's passes */
static int check_work(const struct stage *stage, struct stage_plan *work, int result,
                      struct fault *fault)
{
    if (result == 0 && work->out_of_memory)
        result = no_memory(fault);
    if (result == 0 && work->too_large && work->n_tables == STAGE_TABLES_MAX)
        result = fault_set(fault, FAULT_LIMIT,
                           "%s: the picture has planes of more kinds than the stage may have "
                           "tables, which are %d; fewer levels in front, or fewer planes by only=",
                           stage->name, STAGE_TABLES_MAX);
    bool too_large = work->too_large;
    for (unsigned i = 0; i < work->n_passes; i++)
        too_large |= work->passes[i].too_large;
    if (result == 0 && too_large)
        result = fault_set(fault, FAULT_INTERNAL, "stage %s: a pass has no room for what it needs",
                           stage->name);
    if (result == 0 && work->too_many)
        result = fault_set(fault, FAULT_LIMIT,
                           "%s: what it keeps of this picture has more than 2^31 samples",
                           stage->name);
    for (unsigned i = 0; i < work->n_scratch && result == 0; i++)
        result = check_size(&work->scratch[i], fault);
    return result;
}

int plan_step_passes(const struct plan_step *step, const struct device_profile *profile,
                     struct stage_plan *work, struct fault *fault)
{
    const struct stage *stage = step->stage;
    *work = (struct stage_plan){
        .profile = profile, .in = step->in, .out = &step->out, .stage = stage->name};
    return check_work(stage, work, stage_add_passes(stage, step->config, work, fault), fault);
}

int plan_step_takes(const struct plan_step *front, const struct device_profile *profile,
                    struct stage_plan *work, bool *done, struct fault *fault)
{
    const struct plan_step *step = front + 1;
    const struct stage *stage = step->stage;
    *work = (struct stage_plan){
        .profile = profile, .in = front->in, .out = &step->out, .stage = stage->name};
    int result =
        stage->take_front(step->config, front->stage, front->config, work, done, fault);
    return *done || result != 0 ? check_work(stage, work, result, fault) : 0;
}

static void take_layout(struct frame *frame, const struct frame *like)
{
    for (size_t i = 0; i < frame->n_planes; i++) {
        frame->planes[i].offset = like->planes[i].offset;
        frame->planes[i].stride = like->planes[i].stride;
    }
    frame->size = like->size;
}

/* A step without passes passes its input on, so its planes lie where the input's do. */
static void adopt_layout(struct plan_step *step)
{
    take_layout(&step->out, step->in);
    if (step->stage->view)
        step->stage->view(step->config, step->in, &step->out);
}

static bool is_transformed(const struct plan_step *step)
{
    const struct frame *in = step->in, *out = &step->out;
    bool is = step->stage->inverse && out->n_planes == in->n_origins;
    for (size_t i = 0; is && i < out->n_planes; i++)
        is = out->planes[i].width == in->origins[i].plane.width &&
             out->planes[i].height == in->origins[i].plane.height;
    return is;
}

/* For inverse transforms later in the chain: a transform of transformed planes keeps where those
 * came from, its inverse brings that back, and a stage that changes neither the number nor the
 * sizes of planes keeps all. */
static int keep_origins(struct plan_step *step, struct fault *fault)
{
    const struct frame *in = step->in;
    struct frame *out = &step->out;
    bool good = true;
    if (out->n_origins > 0) {
        for (size_t i = 0; i < in->n_origins && good; i++)
            good = frame_add_outer(out, &in->origins[i], 1);
        for (size_t i = 0; i < in->n_outer && good; i++)
            good = frame_add_outer(out, &in->outer[i], in->outer[i].depth + 1);
    } else if (is_transformed(step)) {
        for (size_t i = 0; i < in->n_outer && good; i++)
            good = in->outer[i].depth == 1
                       ? frame_add_origin(out, &in->outer[i])
                       : frame_add_outer(out, &in->outer[i], in->outer[i].depth - 1);
    } else if (!step->stage->inverse && in->n_planes == out->n_planes) {
        for (size_t i = 0; i < in->n_planes; i++)
            if (in->planes[i].width != out->planes[i].width ||
                in->planes[i].height != out->planes[i].height)
                return 0;
        good = frame_copy_origins(out, in);
    }
    return good ? 0 : no_memory(fault);
}

/* A plane of floats inherits the white of the plane it was computed from; the result of an inverse
 * transform, that of the plane that had been transformed. */
static void settle_white(struct plan_step *step)
{
    const struct frame *in = step->in, *out = &step->out;
    for (size_t i = 0; i < out->n_planes; i++) {
        struct plane *plane = &out->planes[i];
        const struct plane *from = &in->planes[i < in->n_planes ? i : 0];
        if (step->stage->inverse && i < in->n_origins)
            from = &in->origins[i].plane;
        for (size_t o = out->n_origins; o-- > 0;)
            if (i - out->origins[o].first < out->origins[o].count)
                from = &out->origins[o].plane;
        if (sample_is_integer(plane->type))
            plane->white = plane_white(plane);
        else if (plane->white == 0)
            plane->white = plane_white(from);
    }
}

static const struct frame *frame_after(const struct plan *plan, size_t step)
{
    return step == 0 ? &plan->in : &plan->steps[step - 1].out;
}

/* Adds a step that takes the output of step *at, and becomes *at. */
static int add_step(struct plan *plan, size_t *at, const struct stage *stage, const void *config,
                    const struct plan_options *options, struct fault *fault)
{
    struct plan_step *step = &plan->steps[plan->n_steps];
    size_t alignment = options->alignment ? options->alignment : FRAME_ALIGNMENT;
    const struct frame *in = frame_after(plan, *at);
    *step = (struct plan_step){.stage = stage,
                               .config = config,
                               .name = stage->name,
                               .in = in,
                               .before = *at,
                               .source = in};
    snprintf(step->label, sizeof step->label, "%s", stage->name);
    plan->n_steps++; /* from here on plan_destroy frees it */
    step->out.size = options->guard;
    int result = stage_find_shape(stage, config, step->in, alignment, &step->out, fault);
    if (result == FAULT_MEMORY && step->out.n_planes == FRAME_PLANES_MAX) {
        fault_clear(fault);
        result = fault_set(fault, FAULT_LIMIT, "%s: results have at most %d planes", step->label,
                           FRAME_PLANES_MAX);
    }
    step->out.size += options->guard;
    if (result == 0)
        result = keep_origins(step, fault);
    settle_white(step);
    if (result == 0)
        result = check_size(&step->out, fault);
    if (result == 0 && options->profile)
        result = plan_step_passes(step, options->profile, &step->work, fault);
    if (result == 0 && options->profile && step->work.n_passes == 0)
        adopt_layout(step);
    *at = plan->n_steps;
    return result;
}

/* Adds a step whose config, `own`, the plan has made. */
static int add_own_step(struct plan *plan, size_t *at, const struct stage *stage, void *own,
                        const struct plan_options *options, struct fault *fault)
{
    if (!own)
        return no_memory(fault);
    struct plan_step *step = &plan->steps[plan->n_steps];
    int result = add_step(plan, at, stage, own, options, fault);
    step->own = own;
    return result;
}

/* Adds a step of the chain; one of some planes alone as one that has it work on these. */
static int add_chain_step(struct plan *plan, size_t *at, const struct chain_step *step,
                          const struct plan_options *options, struct fault *fault)
{
    if (!step->only[0])
        return add_step(plan, at, step->stage, step->config, options, fault);
    struct only_config *config = calloc(1, sizeof *config);
    if (config)
        *config = (struct only_config){step->stage, step->config, step->only};
    struct plan_step *added = &plan->steps[plan->n_steps];
    int result = add_own_step(plan, at, &stage_only, config, options, fault);
    snprintf(added->label, sizeof added->label, "%s", step->stage->name);
    added->name = step->stage->name;
    added->only = step->only;
    return result;
}

/* Adds a step that arranges the planes of a transform as one picture, if there are such planes. */
static int add_mosaic(struct plan *plan, struct plan_result *of, const struct plan_target *target,
                      const struct plan_options *options, struct fault *fault)
{
    if (!mosaic_applies(frame_after(plan, of->step)))
        return 0;
    struct mosaic_config *config = calloc(1, sizeof *config);
    if (config)
        config->gain = target->mosaic_gain;
    return add_own_step(plan, &of->step, &stage_mosaic, config, options, fault);
}

/* Adds a last step that converts each plane to what the output can hold. */
static int add_sink(struct plan *plan, struct plan_result *of, const struct plan_target *to,
                    const struct plan_options *options, struct fault *fault)
{
    bool changed = false;
    const struct frame *out = frame_after(plan, of->step);
    struct sink_config *config = malloc(sizeof *config + out->n_planes * sizeof *config->targets);
    int result = config ? 0 : no_memory(fault);
    if (config)
        config->n_planes = out->n_planes;
    for (size_t i = 0; i < out->n_planes && result == 0; i++) {
        struct plane *target = &config->targets[i];
        *target = out->planes[i];
        result = to->fit(to->context, target, fault);
        changed |=
            target->type != out->planes[i].type || target->channels != out->planes[i].channels;
    }
    if (result == 0 && changed)
        return add_own_step(plan, &of->step, &stage_sink, config, options, fault);
    free(config);
    return result;
}

/* Adds the step that makes the picture of a video frame, unless its plane is the picture. */
static int add_video(struct plan *plan, size_t *at, const struct chain *chain,
                     const struct plan_options *options, struct fault *fault)
{
    const struct video *video = &plan->in.video;
    if (video->format == VIDEO_NONE || video_is_picture(video->format))
        return 0;
    struct video_config *config = calloc(1, sizeof *config);
    if (config) {
        struct plane picture = video_picture(video);
        config->video = *video;
        config->luma = plan->stored_luma = video_is_ycbcr(video->format) &&
                                           chain_source(chain, &picture, video->matrix).luma;
    }
    return add_own_step(plan, at, &stage_video, config, options, fault);
}

/* Adds what the result is written as. */
static int add_result(struct plan *plan, size_t index, size_t step,
                      const struct plan_options *options, struct fault *fault)
{
    struct plan_result *of = &plan->results[index];
    const struct plan_target *target = options->targets ? &options->targets[index] : NULL;
    of->step = step;
    int result = 0;
    if (target && target->mosaic_gain > 0)
        result = add_mosaic(plan, of, target, options, fault);
    if (result == 0 && target && target->fit)
        result = add_sink(plan, of, target, options, fault);
    return result;
}

/* The first result on whose way a step of the chain lies. */
static size_t result_of_step(const struct chain *chain, size_t number)
{
    for (size_t r = 0; r < chain_count_results(chain); r++)
        for (size_t at = chain_end(chain, r); at > 0; at = chain_step_before(chain, at))
            if (at == number)
                return r;
    return 0;
}

/* Adds the steps of the chain, and behind each the results that it gives, so that what can become
 * one pass stands in a row. `places` has room for the number that each gets in the plan; that of
 * the picture is set. */
static int add_chain(struct plan *plan, const struct chain *chain, size_t *places,
                     const struct plan_options *options, struct fault *fault)
{
    int result = 0;
    size_t of = 0; /* the result that a fault is about */
    for (size_t number = 0; number <= chain->n_steps && result == 0; number++) {
        if (number > 0) {
            const struct chain_step *step = &chain->steps[number - 1];
            places[number] = places[chain_step_before(chain, number)];
            of = result_of_step(chain, number);
            result = add_chain_step(plan, &places[number], step, options, fault);
        }
        for (size_t r = 0; r < plan->n_results && result == 0; r++)
            if (chain_end(chain, r) == number)
                result = add_result(plan, of = r, places[number], options, fault);
    }
    if (result != 0 && plan->n_results > 1 && fault) {
        struct fault why = *fault;
        fault_clear(fault);
        fault_set(fault, why.code, "result %zu: %s", of + 1, why.text);
    }
    return result;
}

/* Once all steps are there. */
static void settle_results(struct plan *plan)
{
    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].before > 0)
            plan->steps[plan->steps[i].before - 1].n_readers++;
    for (size_t r = 0; r < plan->n_results; r++) {
        struct plan_result *of = &plan->results[r];
        of->frame = frame_after(plan, of->step);
        if (of->step > 0)
            plan->steps[of->step - 1].n_readers++;
    }
    plan->out = plan->results[0].frame;
}

/* The number of steps up to the one that writes the result; 0 where the result lies in the input's
 * memory, or within a frame that is larger. Those behind it pass it on. */
static size_t count_until_result(const struct plan *plan)
{
    size_t n = plan->n_steps;
    while (n > 0 && plan->steps[n - 1].work.n_passes == 0) {
        if (plan->steps[n - 1].stage->view)
            return 0;
        n--;
    }
    return n;
}

/* Has the result written where options->out says. The step that writes it is planned once more,
 * since passes may contain a layout. */
static int place_result(struct plan *plan, const struct plan_options *options, struct fault *fault)
{
    size_t n = count_until_result(plan);
    if (plan->n_results > 1 || !frame_same_shape(frame_after(plan, plan->n_steps), options->out))
        return fault_set(fault, FAULT_INTERNAL, "a place for other planes than come out");
    if (n == 0) {
        int result = add_step(plan, &plan->results[0].step, &stage_copy, NULL, options, fault);
        if (result != 0)
            return result;
        n = plan->n_steps;
    }
    struct plan_step *step = &plan->steps[n - 1];
    take_layout(&step->out, options->out);
    plan_work_finish(&step->work);
    int result = plan_step_passes(step, options->profile, &step->work, fault);
    for (; n < plan->n_steps; n++)
        adopt_layout(&plan->steps[n]);
    return result;
}

/* Chooses memory for a result: the smallest free slot that is large enough, else the largest free
 * one, which grows, else a new one. */
static unsigned take_slot(struct plan *plan, bool *busy, uint64_t size)
{
    unsigned best = plan->n_slots;
    for (unsigned i = 0; i < plan->n_slots; i++) {
        if (busy[i])
            continue;
        uint64_t have = plan->slot_size[i];
        uint64_t best_have = best < plan->n_slots ? plan->slot_size[best] : 0;
        if (best == plan->n_slots || (have >= size && (best_have < size || have < best_have)) ||
            (have < size && best_have < size && have > best_have))
            best = i;
    }
    if (best == plan->n_slots)
        plan->slot_size[plan->n_slots++] = 0;
    if (plan->slot_size[best] < size)
        plan->slot_size[best] = size;
    busy[best] = true;
    return best;
}

/* Where the frame after a step lies. */
static unsigned slot_after(const struct plan *plan, size_t step)
{
    return step == 0 ? plan->in_slot : plan->steps[step - 1].out_slot;
}

/* Bytes of a step's scratch frame: while rows pass through, what those at work need. */
static uint64_t scratch_bytes(const struct plan_step *step, unsigned index)
{
    uint64_t size = step->work.scratch[index].size, needed = 0;
    if (step->held_scratch[index].rows > 0)
        return window_bytes(&step->work.scratch[index], &step->held_scratch[index]);
    for (unsigned p = 0; p < step->work.n_passes; p++) {
        const struct pass *pass = &step->work.passes[p];
        if (pass->writes == OPERAND_SCRATCH + index)
            return size;
        needed = pass->at_once * pass->item > needed ? pass->at_once * pass->item : needed;
    }
    return plan_takes_rows(step) && needed < size ? needed : size;
}

/* Checks their sizes, too, which follow from the input's header alone, before anything is decoded.
 * `readers` counts for each slot the steps and results that have not read the frame in it yet; that
 * of a step whose input is passed on gets this step's readers, too. Frames of a group are there at
 * the same time: those that are `done` with are given up together. */
static int assign_slots(struct plan *plan, const struct plan_options *options, struct fault *fault)
{
    size_t most = 2 + plan->n_steps * (1 + STAGE_SCRATCH_MAX);
    bool *busy = calloc(most, sizeof *busy), *done = calloc(most, sizeof *done);
    unsigned *readers = calloc(most, sizeof *readers);
    plan->slot_size = calloc(most, sizeof *plan->slot_size);
    if (!busy || !done || !readers || !plan->slot_size) {
        free(busy);
        free(done);
        free(readers);
        return no_memory(fault);
    }
    plan->in_slot = take_slot(plan, busy, window_bytes(&plan->in, &plan->held));
    readers[plan->in_slot] = options->keep_input;
    for (size_t i = 0; i < plan->n_steps; i++)
        readers[plan->in_slot] += plan->steps[i].before == 0;
    for (size_t r = 0; r < plan->n_results; r++)
        readers[plan->in_slot] += plan->results[r].step == 0;
    size_t placed = options->out && plan->profile ? count_until_result(plan) : 0;
    for (size_t at = 0, n = (size_t)plan->n_groups * plan->n_steps; at < n; at++) {
        size_t i = at % plan->n_steps;
        struct plan_step *step = &plan->steps[i];
        for (unsigned s = 0; s < plan->n_slots && i == 0; s++) { /* the group before has ended */
            busy[s] &= !done[s];
            done[s] = false;
        }
        if (step->group != at / plan->n_steps)
            continue;
        unsigned slot = step->in_slot = step->out_slot = slot_after(plan, step->before);
        if (step->work.n_passes == 0) {
            readers[slot] += step->n_readers - 1;
            continue;
        }
        if (i + 1 == placed) { /* no other frame's, before or behind */
            busy[plan->n_slots] = true;
            plan->slot_size[plan->n_slots] = step->out.size;
            step->out_slot = plan->n_slots++;
        } else {
            step->out_slot = take_slot(plan, busy, window_bytes(&step->out, &step->held));
        }
        readers[step->out_slot] = step->n_readers;
        for (unsigned s = 0; s < step->work.n_scratch; s++)
            step->scratch_slot[s] = take_slot(plan, busy, scratch_bytes(step, s));
        for (unsigned s = 0; s < step->work.n_scratch; s++)
            done[step->scratch_slot[s]] = !options->keep_all;
        readers[slot]--;
        done[slot] = !options->keep_all && readers[slot] == 0;
    }
    for (size_t r = 0; r < plan->n_results; r++)
        plan->results[r].slot = slot_after(plan, plan->results[r].step);
    plan->out_slot = plan->results[0].slot;
    free(busy);
    free(done);
    free(readers);
    for (unsigned i = 0; plan->profile && i < plan->n_slots; i++)
        if (plan->slot_size[i] > plan->profile->max_allocation)
            return fault_set(fault, FAULT_LIMIT,
                             "needs a buffer of %s and up to %s of memory; the device's "
                             "largest buffer is %s (another --device may have larger ones)",
                             number_size(plan->slot_size[i]), number_size(plan_peak(plan)),
                             number_size(plan->profile->max_allocation));
    return 0;
}

int plan_create(struct plan **plan, const struct chain *chain, const struct frame *in,
                const struct plan_options *given, struct fault *fault)
{
    struct plan *p = calloc(1, sizeof *p);
    struct plan_options own = *given, *options = &own;
    if (!p)
        return no_memory(fault);
    p->band_bytes = plan_band_bytes(given, chain, in);
    if (given->profile && p->band_bytes > 0) {
        p->own_profile = *given->profile;
        p->own_profile.band_bytes = p->band_bytes;
        options->profile = &p->own_profile;
    }
    p->profile = options->profile;
    p->n_results = chain_count_results(chain);
    p->n_chain_steps = chain->n_steps;
    for (size_t r = 0; r < p->n_results; r++)
        for (size_t at = chain_end(chain, r); at > 0; at = chain_step_before(chain, at))
            p->n_asked++;
    /* besides the chain's: that of a video frame, a copy, and what a result is written as */
    p->steps = calloc(chain->n_steps + 2 + 2 * p->n_results, sizeof *p->steps);
    p->results = calloc(p->n_results, sizeof *p->results);
    size_t *places = calloc(chain->n_steps + 1, sizeof *places);
    int result = p->steps && p->results && places && frame_copy(&p->in, in) ? check_size(in, fault)
                                                                            : no_memory(fault);
    for (size_t i = 0; i < p->in.n_planes; i++)
        p->in.planes[i].white = plane_white(&p->in.planes[i]);
    if (result == 0)
        result = add_video(p, &places[0], chain, options, fault);
    if (result == 0)
        result = add_chain(p, chain, places, options, fault);
    free(places);
    if (result == 0 && options->out && options->profile)
        result = place_result(p, options, fault);
    if (result == 0)
        settle_results(p);
    if (result == 0 && options->profile && !options->no_fuse &&
        (!options->profile->generic || options->profile->prebuilt))
        result = plan_fuse(p, fault);
    if (result == 0)
        plan_hold_rows(p, options);
    if (result == 0)
        result = assign_slots(p, options, fault);
    if (result != 0)
        plan_destroy(&p);
    *plan = p;
    return result;
}

void plan_work_finish(struct stage_plan *work)
{
    for (unsigned i = 0; i < work->n_passes; i++)
        fused_destroy(&work->passes[i].fused);
    stage_plan_finish(work);
}

void plan_destroy(struct plan **plan)
{
    struct plan *p = *plan;
    if (!p)
        return;
    for (size_t i = 0; i < p->n_steps; i++) {
        plan_work_finish(&p->steps[i].work);
        frame_finish(&p->steps[i].out);
        free(p->steps[i].own);
    }
    free(p->results);
    free(p->steps);
    free(p->slot_size);
    frame_finish(&p->in);
    free(p);
    *plan = NULL;
}

const struct frame *plan_operand_frame(const struct plan_step *step, unsigned operand)
{
    if (operand == OPERAND_IN)
        return step->source;
    if (operand == OPERAND_OUT)
        return &step->out;
    return &step->work.scratch[operand - OPERAND_SCRATCH];
}

uint64_t plan_peak(const struct plan *plan)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < plan->n_slots; i++)
        bytes += plan->slot_size[i];
    for (size_t i = 0; i < plan->n_steps; i++)
        for (unsigned t = 0; t < plan->steps[i].work.n_tables; t++)
            if (!plan->steps[i].work.tables[t].is_held || !plan->profile ||
                !plan->profile->host_memory)
                bytes += plan->steps[i].work.tables[t].size;
    return bytes;
}

uint32_t plan_rows_per_launch(const struct pass *pass, const struct device_profile *profile)
{
    double row = pass->work * pass->grid_width / profile->work_per_second;
    double rows = row > 0 ? LAUNCH_SECONDS_MAX / row : pass->grid_height;
    if (rows > LAUNCH_ROWS_MAX)
        rows = LAUNCH_ROWS_MAX;
    if (rows >= pass->grid_height)
        return pass->grid_height;
    return rows < 1 ? 1 : (uint32_t)rows;
}

size_t plan_launches(const struct pass *pass, const struct device_profile *profile)
{
    uint32_t rows = plan_rows_per_launch(pass, profile);
    return (pass->grid_height + rows - 1) / rows;
}

size_t plan_total_launches(const struct plan *plan)
{
    size_t launches = 0;
    for (size_t i = 0; i < plan->n_steps; i++)
        for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++)
            launches += plan_launches(&plan->steps[i].work.passes[p], plan->profile);
    return launches;
}

uint64_t plan_bytes_moved(const struct plan *plan)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->n_steps; i++)
        for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++)
            bytes += plan->steps[i].work.passes[p].bytes_read +
                     plan->steps[i].work.passes[p].bytes_written;
    return bytes;
}
