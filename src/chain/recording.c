#include "chain/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "chain/plan_internal.h"
#include "chain/source.h"

/* ---- programs and kernels ---- */

/* The programs and kernels of a plan. A device whose kernels were compiled with sluice has no
 * programs.
 *
 * A plan has one program with all its kernels, which is faster to load than several and has nothing
 * else. A generic plan (profile->generic) has a program for each kernel: chains of different users
 * then share kernels, however the chains are put together. */
struct plan_programs {
    size_t n_programs;
    struct device_program **programs;     /* NULL without programs */
    const struct device_kernel **kernels; /* one for each pass, in the order of steps and passes */
};

/* Makes one program of all the plan's kernels, or of one pass. */
static int add_program(struct plan_programs *programs, const struct plan *plan,
                       struct device *device, enum program_use use, bool *found,
                       const struct device_kernel **kernels, struct fault *fault)
{
    struct program_source source;
    struct device_program *program = NULL;
    int result = program_source_create(&source, plan, fault);
    if (result != 0)
        return result;
    result = device_program_get_as(device, text_string(&source.text), use, &program, fault);
    *found = program != NULL;
    if (program)
        programs->programs[programs->n_programs++] = program;
    for (size_t i = 0; i < source.n_kernels && program && result == 0; i++)
        result = device_program_kernel(program, source.names[i], &kernels[i], fault);
    program_source_finish(&source);
    return result;
}

static bool same_kernel(const struct pass *a, const struct pass *b)
{
    return strcmp(a->source, b->source) == 0 && strcmp(a->name, b->name) == 0 &&
           a->lanes == b->lanes && strcmp(a->defines, b->defines) == 0;
}

/* Makes a program for each kernel, with the kernel named as its pass is. */
static int add_each(struct plan_programs *programs, const struct pass **passes, size_t count,
                    struct device *device, enum program_use use, bool *found, struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < count && result == 0 && *found; i++) {
        size_t same = 0;
        while (!same_kernel(passes[same], passes[i]))
            same++;
        if (same < i) {
            programs->kernels[i] = programs->kernels[same];
            continue;
        }
        struct pass copy = *passes[i];
        struct plan_step step = {.work = {.n_passes = 1, .passes = &copy}};
        struct plan single = {.n_steps = 1, .steps = &step};
        result = add_program(programs, &single, device, use, found, &programs->kernels[i], fault);
    }
    return result;
}

/* Describes a part of a fused pass for the device; fuse_lines.c has added the arguments. */
static struct device_part describe_part(const struct fused *fused, unsigned index)
{
    const struct pass *pass = &fused->parts[index];
    struct device_part part = {.hash = pass_hash(pass),
                               .name = pass->name,
                               .line_in = -1,
                               .line_out = -1,
                               .ring = pass->ring};
    for (unsigned i = 0; i < pass->n_args; i++) {
        bool is_plane = pass->args[i].kind == PASS_PLANE;
        if (is_plane && pass->args[i].operand == OPERAND_IN && index > 0)
            part.line_in = (int)part.n_args;
        if (is_plane && pass->args[i].operand == OPERAND_OUT)
            part.line_out = (int)part.n_args;
        part.n_args += is_plane ? 3 : 1;
    }
    return part;
}

static int join_rows(struct plan_programs *programs, const struct pass *pass, struct device *device,
                     const struct device_kernel **kernel, struct fault *fault)
{
    const struct fused *fused = pass->fused;
    struct device_program *program = NULL;
    struct device_part *parts = calloc(fused->n_parts, sizeof *parts);
    if (!parts)
        return fault_set(fault, FAULT_MEMORY, "no memory for a plan's programs");
    for (unsigned i = 0; i < fused->n_parts; i++)
        parts[i] = describe_part(fused, i);
    int result = device_rows_create(device, parts, fused->n_parts, pass->name, &program, fault);
    if (result == 0) {
        programs->programs[programs->n_programs++] = program;
        result = device_program_kernel(program, pass->name, kernel, fault);
    }
    free(parts);
    return result;
}

static int find_each(struct plan_programs *programs, const struct pass **passes, size_t count,
                     struct device *device, struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = passes[i]->fused
                     ? join_rows(programs, passes[i], device, &programs->kernels[i], fault)
                     : device_kernel_find(device, pass_hash(passes[i]), passes[i]->name,
                                          &programs->kernels[i], fault);
    return result;
}

/* Finds or makes the programs, as `use` says. `*found`: with PROGRAM_FOUND, whether all of them
 * exist; otherwise true on success. put_programs must follow, also after a fault. */
static int get_programs(struct plan_programs *programs, const struct plan *plan,
                        struct device *device, enum program_use use, bool *found,
                        struct fault *fault)
{
    size_t count = plan_count_passes(plan), n = 0;
    *found = true;
    *programs = (struct plan_programs){
        .programs = calloc(count + 1, sizeof *programs->programs),
        .kernels = calloc(count + 1, sizeof *programs->kernels),
    };
    const struct pass **passes = calloc(count + 1, sizeof *passes);
    int result = programs->programs && programs->kernels && passes
                     ? 0
                     : fault_set(fault, FAULT_MEMORY, "no memory for a plan's programs");
    for (size_t i = 0; i < plan->n_steps && result == 0; i++)
        for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++)
            passes[n++] = &plan->steps[i].work.passes[p];
    if (result == 0 && plan->profile->prebuilt)
        result = find_each(programs, passes, count, device, fault);
    else if (result == 0 && plan->profile->generic)
        result = add_each(programs, passes, count, device, use, found, fault);
    else if (result == 0 && count > 0)
        result = add_program(programs, plan, device, use, found, programs->kernels, fault);
    free(passes);
    return result;
}

static void put_programs(struct plan_programs *programs, struct device *device)
{
    for (size_t i = 0; i < programs->n_programs; i++)
        device_program_put(device, &programs->programs[i]);
    free(programs->programs);
    free(programs->kernels);
    *programs = (struct plan_programs){0};
}

/* ---- recordings ---- */

struct recording {
    const struct plan *plan;
    struct device *device;
    struct plan_programs programs;
    struct device_buffer **tables; /* STAGE_TABLES_MAX for each step; NULL where there is none */
};

static int upload_tables(struct recording *r, struct fault *fault)
{
    r->tables = calloc(r->plan->n_steps * STAGE_TABLES_MAX + 1, sizeof *r->tables);
    if (!r->tables)
        return fault_set(fault, FAULT_MEMORY, "no memory for tables");
    int result = 0;
    for (size_t i = 0; i < r->plan->n_steps; i++) {
        const struct stage_plan *work = &r->plan->steps[i].work;
        for (unsigned t = 0; t < work->n_tables && result == 0; t++) {
            struct device_buffer **buffer = &r->tables[i * STAGE_TABLES_MAX + t];
            if (work->tables[t].is_lent) {
                result = device_constant_get(r->device, work->tables[t].data,
                                             work->tables[t].size, buffer, fault);
                continue;
            }
            result = device_buffer_acquire(r->device, work->tables[t].size, buffer, fault);
            if (result == 0)
                result = device_buffer_fill(r->device, *buffer, work->tables[t].data,
                                            work->tables[t].size, fault);
        }
    }
    return result;
}

int recording_create(struct recording **recording, const struct plan *plan, struct device *device,
                     struct fault *fault)
{
    return recording_create_as(recording, plan, device, PROGRAM_ANY, fault);
}

int recording_create_as(struct recording **recording, const struct plan *plan,
                        struct device *device, enum program_use use, struct fault *fault)
{
    bool found;
    struct recording *r = calloc(1, sizeof *r);
    *recording = NULL;
    if (!r)
        return fault_set(fault, FAULT_MEMORY, "no memory for a recording");
    r->plan = plan;
    r->device = device;
    int result = get_programs(&r->programs, plan, device, use, &found, fault);
    if (result == 0 && found)
        result = upload_tables(r, fault);
    if (result != 0 || !found)
        recording_destroy(&r);
    *recording = r;
    return result;
}

void recording_destroy(struct recording **recording)
{
    struct recording *r = *recording;
    if (!r)
        return;
    for (size_t i = 0; r->tables && i < r->plan->n_steps * STAGE_TABLES_MAX; i++) {
        const struct stage_plan *work = &r->plan->steps[i / STAGE_TABLES_MAX].work;
        if (work->tables[i % STAGE_TABLES_MAX].is_lent)
            device_constant_put(r->device, &r->tables[i]);
        else
            device_buffer_release(r->device, &r->tables[i]);
    }
    free(r->tables);
    put_programs(&r->programs, r->device);
    free(r);
    *recording = NULL;
}

static unsigned slot_of(const struct plan_step *step, unsigned operand)
{
    return operand == OPERAND_IN    ? step->in_slot
           : operand == OPERAND_OUT ? step->out_slot
                                    : step->scratch_slot[operand - OPERAND_SCRATCH];
}

static struct device_arg operand_memory(const struct recording *r, unsigned operand,
                                        const struct recording_run *run)
{
    const struct plan_step *step = &r->plan->steps[run->step];
    struct device_arg arg = {ARG_MEMORY};
    if (operand >= OPERAND_TABLE)
        arg.buffer = r->tables[run->step * STAGE_TABLES_MAX + operand - OPERAND_TABLE];
    else
        arg.buffer = run->slots[slot_of(step, operand)];
    if (operand < OPERAND_TABLE && r->plan->profile->prebuilt)
        arg.shift = run->shifts[operand];
    return arg;
}

/* How far a plane is shifted, in units of so many bytes, where pointers cannot be. */
static int32_t offset_of(const struct recording *r, const struct recording_run *run,
                         unsigned operand, size_t unit)
{
    return r->plan->profile->prebuilt || operand >= OPERAND_TABLE
               ? 0
               : (int32_t)(run->shifts[operand] / (int64_t)unit);
}

/* Of a pass's arguments `args` one. */
static unsigned bind_argument(const struct recording *r, const struct pass_arg *args,
                              const struct pass_arg *arg, const struct recording_run *run,
                              struct device_arg *to)
{
    switch (arg->kind) {
    case PASS_PLANE: {
        const struct frame *frame = plan_operand_frame(&r->plan->steps[run->step], arg->operand);
        const struct plane *plane = &frame->planes[arg->plane];
        size_t size = sample_size(plane->type);
        to[0] = operand_memory(r, arg->operand, run);
        to[1] = (struct device_arg){ARG_VALUE_4, .i = (int32_t)(plane->offset / size) +
                                                      offset_of(r, run, arg->operand, size)};
        to[2] = (struct device_arg){ARG_VALUE_4, .i = (int32_t)(plane->stride / size)};
        return 3;
    }
    case PASS_BUFFER:
    case PASS_TABLE:
        to[0] = operand_memory(r, arg->operand, run);
        return 1;
    case PASS_LONG:
    case PASS_DOUBLE:
        to[0] = (struct device_arg){ARG_VALUE_8, .l = arg->l};
        return 1;
    default:
        to[0] = (struct device_arg){ARG_VALUE_4, .i = arg->i};
        if (arg > args && arg[-1].unit > 0)
            to[0].i += offset_of(r, run, arg[-1].operand, arg[-1].unit);
        return 1;
    }
}

static size_t round_up(size_t value, size_t to)
{
    return (value + to - 1) / to * to;
}

/* The entry for a launch of a pass: where all launches of a pass are one, that of the kernel. */
static struct launch_report *find_launch(const struct recording *r, struct recording_run *run,
                                         const struct device_timing *timing,
                                         const struct pass *pass)
{
    size_t step = 0;
    while (pass < r->plan->steps[step].work.passes ||
           pass >= r->plan->steps[step].work.passes + r->plan->steps[step].work.n_passes)
        step++;
    for (size_t i = 0; i < run->n_launches && r->plan->by_rows; i++)
        if (run->launches[i].step == step && run->launches[i].kernel == timing->kernel)
            return &run->launches[i];
    struct launch_report *made = &run->launches[run->n_launches++];
    *made = (struct launch_report){.step = step, .kernel = timing->kernel, .place = pass->place};
    return made;
}

/* Waits for the batch, and adds its launches and traffic to the run's. */
static int end_batch(const struct recording *r, struct recording_run *run, struct fault *fault)
{
    size_t count;
    int result = device_batch_wait(run->batch, fault);
    const struct device_timing *timings =
        result == 0 ? device_batch_timings(run->batch, &count) : NULL;
    if (result != 0)
        return result;
    struct launch_report *all =
        realloc(run->launches, (run->n_launches + count + 1) * sizeof *run->launches);
    if (all)
        run->launches = all;
    if (!all || (!timings && count > 0))
        return fault_set(fault, FAULT_MEMORY, "no memory for timings");
    for (size_t i = 0; i < count; i++) {
        struct launch_report *launch = find_launch(r, run, &timings[i], run->marks[i]);
        launch->queued += timings[i].queued;
        launch->wait += timings[i].wait;
        launch->run += timings[i].run;
    }
    run->n_marks = 0;
    const struct device_traffic *traffic = device_batch_traffic(run->batch);
    run->traffic.crossings_in += traffic->crossings_in;
    run->traffic.crossings_out += traffic->crossings_out;
    run->traffic.bytes_copied += traffic->bytes_copied;
    device_batch_finish(&run->batch);
    return 0;
}

/* With a deadline, a long run is submitted in pieces, waiting for each, since nothing can be
 * stopped once it is in the device's queue. A piece is long enough that the waiting costs little.
 */
#define PIECE_SECONDS 0.2

static int record_piece(const struct recording *r, struct recording_run *run, struct fault *fault)
{
    int result = device_batch_submit(run->batch, fault);
    run->recorded = 0;
    if (result == 0)
        result = end_batch(r, run, fault);
    if (result == 0)
        result = deadline_check(fault);
    return result ? result : device_batch_begin(r->device, &run->batch, fault);
}

/* Remembers whose launch the batch has got. */
static int mark_launch(struct recording_run *run, const struct pass *pass, struct fault *fault)
{
    size_t n = run->n_marks;
    const struct pass **marks =
        (n & (n - 1)) == 0 ? realloc(run->marks, (n ? 2 * n : 1) * sizeof *marks) : run->marks;
    if (!marks)
        return fault_set(fault, FAULT_MEMORY, "no memory for %zu launches", n);
    run->marks = marks;
    run->marks[run->n_marks++] = pass;
    return 0;
}

/* Records rows first … behind - 1 of a pass's grid: as many launches as their duration requires,
 * each for a band of rows. */
static int record_pass(const struct recording *r, const struct pass *pass,
                       const struct device_kernel *kernel, uint32_t first, uint32_t behind,
                       struct recording_run *run, struct fault *fault)
{
    enum {
        GRID_ARGS = 3
    };
    const struct device_profile *profile = device_profile(r->device);
    struct device_arg args[GRID_ARGS + 3 * PASS_ARGS_MAX];
    unsigned n = GRID_ARGS;
    args[0] = (struct device_arg){ARG_VALUE_4, .i = (int32_t)pass->grid_width};
    for (unsigned i = 0; i < pass->n_args; i++)
        n += bind_argument(r, pass->args, &pass->args[i], run, &args[n]);

    struct device_launch launch = {
        .stage = pass->stage, .kernel = kernel, .args = args, .n_args = n};
    unsigned group[2];
    pass_group(pass, profile, group);
    launch.local[0] = group[0];
    launch.local[1] = group[1];
    size_t items = (pass->grid_width + pass->span - 1) / pass->span;
    launch.global[0] = round_up(items, launch.local[0]);
    uint32_t rows = plan_rows_per_launch(pass, r->plan->profile);
    for (uint32_t y = first; y < behind; y += rows) {
        uint32_t end = behind - y < rows ? behind : y + rows;
        args[1] = (struct device_arg){ARG_VALUE_4, .i = (int32_t)y};
        args[2] = (struct device_arg){ARG_VALUE_4, .i = (int32_t)end};
        launch.global[1] = round_up(end - y, launch.local[1]);
        launch.work = pass->work * pass->grid_width * (end - y);
        int result = device_batch_launch(run->batch, &launch, fault);
        if (result == 0)
            result = mark_launch(run, pass, fault);
        run->recorded += (double)pass->work * pass->grid_width * (end - y);
        if (result == 0 && deadline_get() != 0 &&
            run->recorded > PIECE_SECONDS * profile->work_per_second)
            result = record_piece(r, run, fault);
        if (result != 0)
            return result;
    }
    return 0;
}

/* The window of the frame behind a step, or of the one that it passes on. */
static struct window *window_after(const struct plan *plan, const struct recording_run *run,
                                   size_t step)
{
    return &run->windows[plan_writer(plan, step)];
}

/* That of an operand of the step that is recorded. */
static struct window *window_of(const struct recording *r, const struct recording_run *run,
                                unsigned operand)
{
    if (operand == OPERAND_IN)
        return window_after(r->plan, run, r->plan->steps[run->step].before);
    if (operand == OPERAND_OUT)
        return &run->windows[run->step + 1];
    return &run->scratch[run->step * STAGE_SCRATCH_MAX + operand - OPERAND_SCRATCH];
}

/* Whether the rows of what a pass reads that it needs for rows first … end - 1 of its grid lie
 * together; `*there`: and have been written. */
static bool sees(const struct recording *r, const struct recording_run *run,
                 const struct pass *pass, uint32_t first, uint32_t end, bool *there)
{
    const struct plan_step *step = &r->plan->steps[run->step];
    bool together = true;
    *there = true;
    for (unsigned o = 0; o < OPERAND_TABLE; o++) {
        if (!(pass->reads & 1u << o))
            continue;
        struct window *in = window_of(r, run, o);
        uint32_t from, to, written = atomic_load(&in->written), turn;
        plan_rows_needed(step, pass, o, first, end, &from, &to);
        turn = window_turn(in, from);
        together &= turn - from <= in->size.tail || to <= turn;
        *there &= to <= written;
    }
    return together;
}

/* Has the rows seen, which lie on both sides of a turn where they do not lie together. On native
 * the copy is made at once, when nothing is under way. */
static int look(const struct recording *r, const struct pass *pass, uint32_t first, uint32_t end,
                struct recording_run *run, struct fault *fault)
{
    const struct plan_step *step = &r->plan->steps[run->step];
    int result = 0;
    for (unsigned o = 0; o < OPERAND_TABLE && result == 0; o++) {
        if (!(pass->reads & 1u << o))
            continue;
        struct window *in = window_of(r, run, o);
        struct window_copy copy;
        uint32_t from, to;
        plan_rows_needed(step, pass, o, first, end, &from, &to);
        run->shifts[o] = window_see(in, from, to, &copy);
        if (copy.size == 0)
            continue;
        if (!r->plan->profile->prebuilt) {
            result = device_batch_copy(run->batch, run->slots[slot_of(step, o)], copy.from, copy.to,
                                       copy.size, fault);
            continue;
        }
        if (run->n_marks > 0)
            result = record_piece(r, run, fault);
        if (result == 0)
            memcpy(in->memory + copy.to, in->memory + copy.from, copy.size);
    }
    return result;
}

/* The first row of an operand that a pass of the step still needs, whose first pass is number
 * `first` of all. */
static uint32_t first_needed(const struct recording *r, const struct recording_run *run,
                             const struct plan_step *step, size_t first, unsigned operand,
                             uint32_t height)
{
    uint32_t least = height, from, to;
    for (unsigned p = 0; p < step->work.n_passes; p++) {
        const struct pass *pass = &step->work.passes[p];
        uint32_t at = run->progress[first + p];
        if (at >= pass->grid_height || !(pass->reads & 1u << operand))
            continue;
        plan_rows_needed(step, pass, operand, at, at + 1, &from, &to);
        least = from < least ? from : least;
    }
    return least;
}

/* The first row of a frame that somebody still needs. */
static uint32_t still_needed(const struct recording *r, const struct recording_run *run,
                             const struct window *window)
{
    const struct plan *plan = r->plan;
    uint32_t height = window_height(window), least = height;
    size_t first = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        if (step->work.n_passes > 0 && window_after(plan, run, step->before) == window) {
            uint32_t needed = plan_takes_rows(step)
                                  ? first_needed(r, run, step, first, OPERAND_IN, height)
                              : run->progress[first] > 0 ? height
                                                         : 0;
            least = needed < least ? needed : least;
        }
        first += step->work.n_passes;
    }
    for (size_t k = 0; k < plan->n_results; k++) {
        uint32_t taken =
            run->sinks[k].window == window ? atomic_load(&run->sinks[k].taken) : height;
        least = taken < least ? taken : least;
    }
    return least;
}

/* Frees rows of these operands that nobody needs any more; those of the run's input once the batch
 * has ended (publish). */
static void free_rows(const struct recording *r, struct recording_run *run, size_t first,
                      uint32_t operands)
{
    const struct plan_step *step = &r->plan->steps[run->step];
    for (unsigned o = 0; o < OPERAND_TABLE; o++) {
        struct window *in = operands & 1u << o ? window_of(r, run, o) : run->in;
        if (in != run->in)
            atomic_store(&in->freed, o == OPERAND_IN
                                         ? still_needed(r, run, in)
                                         : first_needed(r, run, step, first, o, window_height(in)));
    }
}

/* Records pass `number` of all, of a step that takes rows as they come and whose first is number
 * `first`, as far as rows are there and its own have room.
 *
 * Several bands are launched at a time, for as many threads, unless memory turns in between: so a
 * band waits for the next ones. */
static int record_rows(const struct recording *r, size_t first, size_t number,
                       struct recording_run *run, struct fault *fault)
{
    const struct plan_step *step = &r->plan->steps[run->step];
    const struct pass *pass = &step->work.passes[number - first];
    struct window *out = window_of(r, run, pass->writes);
    uint32_t *at = &run->progress[number];
    bool is_native = r->plan->profile->prebuilt;
    for (unsigned o = 0; o < OPERAND_TABLE; o++)
        run->shifts[o] = 0;
    while (*at < pass->grid_height) {
        uint32_t begin = *at, end = begin + pass->at_once;
        uint32_t row = begin * pass->band, room = window_room(out, row);
        uint32_t most = room == window_height(out) ? pass->grid_height : room / pass->band;
        bool there;
        if (end > pass->grid_height)
            end = pass->grid_height;
        if (end > most && pass->band > 1 && room < window_turn(out, row))
            break;
        end = end < most ? end : most;
        if (end <= begin)
            break;
        for (uint32_t least = begin + 1, middle = end; least < end;) {
            bool together = sees(r, run, pass, begin, middle, &there);
            if (together && (there || pass->band > 1))
                least = middle;
            else
                end = middle - 1;
            middle = end - (end - least) / 2;
        }
        sees(r, run, pass, begin, end, &there);
        if (!there)
            break;
        for (unsigned o = OPERAND_SCRATCH; o < OPERAND_TABLE && is_native; o++)
            run->shifts[o] = -(int64_t)(begin * pass->item);
        int result = look(r, pass, begin, end, run, fault);
        run->shifts[pass->writes] = window_shift(out, row);
        if (result == 0)
            result = record_pass(r, pass, r->programs.kernels[number], begin, end, run, fault);
        if (result != 0)
            return result;
        *at = end;
        free_rows(r, run, first, pass->reads);
        atomic_store(&out->written,
                     end < pass->grid_height ? end * pass->band : window_height(out));
    }
    return 0;
}

/* Records a step for which all of its input is there, whose first pass is number `first`. */
static int record_whole(const struct recording *r, size_t first, struct window *out,
                        struct recording_run *run, struct fault *fault)
{
    const struct stage_plan *work = &r->plan->steps[run->step].work;
    int result = 0;
    memset(run->shifts, 0, sizeof run->shifts);
    for (unsigned p = 0; p < work->n_passes && result == 0; p++) {
        result = record_pass(r, &work->passes[p], r->programs.kernels[first + p], 0,
                             work->passes[p].grid_height, run, fault);
        run->progress[first + p] = UINT32_MAX;
    }
    atomic_store(&out->written, window_height(out));
    return result;
}

static bool has_ended(const struct recording *r, const struct recording_run *run)
{
    size_t number = 0;
    for (size_t i = 0; i < r->plan->n_steps; i++) {
        const struct stage_plan *work = &r->plan->steps[i].work;
        for (unsigned p = 0; p < work->n_passes; p++)
            if (run->progress[number++] < work->passes[p].grid_height)
                return false;
    }
    return atomic_load(&run->in->written) == window_height(run->in);
}

/* Records all steps of the group that can be computed; says whether all of it has been. */
static int record_group(const struct recording *r, struct recording_run *run, bool *ended,
                        struct fault *fault)
{
    size_t first = 0;
    int result = 0;
    *ended = true;
    for (size_t i = 0; i < r->plan->n_steps && result == 0; i++) {
        const struct plan_step *step = &r->plan->steps[i];
        struct window *in = window_after(r->plan, run, step->before), *out = &run->windows[i + 1];
        unsigned n = step->group == run->group ? step->work.n_passes : 0;
        run->step = i;
        for (unsigned p = 0; p < n && plan_takes_rows(step) && result == 0; p++)
            result = record_rows(r, first, first + p, run, fault);
        if (n > 0 && !plan_takes_rows(step) && run->progress[first] == 0 &&
            atomic_load(&in->written) == window_height(in))
            result = record_whole(r, first, out, run, fault);
        for (unsigned p = 0; p < n; p++)
            *ended &= run->progress[first + p] >= step->work.passes[p].grid_height;
        first += step->work.n_passes;
    }
    return result;
}

/* Records all that can be computed. */
static int record_steps(const struct recording *r, struct recording_run *run, struct fault *fault)
{
    bool ended = true;
    int result = 0;
    for (size_t i = 1; i <= r->plan->n_steps; i++) /* what sinks have taken meanwhile is free */
        if (r->plan->by_rows && r->plan->steps[i - 1].work.n_passes > 0)
            atomic_store(&run->windows[i].freed, still_needed(r, run, &run->windows[i]));
    while (run->group < r->plan->n_groups && ended && result == 0) {
        result = record_group(r, run, &ended, fault);
        /* Rows that nobody needs still come into the input's memory, which the next group may have
         * as its own. */
        if (run->group + 1 < r->plan->n_groups)
            ended &= atomic_load(&run->in->written) == window_height(run->in);
        run->group += ended && result == 0;
    }
    run->ended = has_ended(r, run);
    return result;
}

/* Rows pass through a device whose memory is the host's only while it is mapped. */
static bool by_strips(const struct recording *r)
{
    return r->plan->by_rows && !r->plan->profile->prebuilt && plan_count_passes(r->plan) > 0;
}

static int map_window(const struct recording *r, const struct recording_run *run, unsigned slot,
                      struct window *window, struct fault *fault)
{
    void *data = NULL;
    int result =
        device_buffer_map(r->device, run->slots[slot], r->plan->slot_size[slot], &data, fault);
    window->memory = data;
    return result;
}

/* Where rows pass through on native, windows have memory that is the host's, too. */
static int map_windows(const struct recording *r, struct recording_run *run, struct fault *fault)
{
    const struct plan *plan = r->plan;
    int result = 0;
    if (!plan->by_rows || by_strips(r))
        return 0;
    for (size_t i = 0; i < plan->n_steps && result == 0; i++) {
        const struct plan_step *step = &plan->steps[i];
        result = map_window(r, run, step->out_slot, &run->windows[i + 1], fault);
        for (unsigned s = 0; s < step->work.n_scratch && result == 0; s++)
            result = map_window(r, run, step->scratch_slot[s],
                                &run->scratch[i * STAGE_SCRATCH_MAX + s], fault);
    }
    return result;
}

/* Acquires buffers that the run has not, and sets up windows. */
static int acquire_slots(const struct recording *r, struct device_buffer **in,
                         struct device_buffer **out, struct recording_run *run, struct fault *fault)
{
    const struct plan *plan = r->plan;
    run->slots = calloc(plan->n_slots, sizeof *run->slots);
    run->mapped = calloc(plan->n_slots, sizeof *run->mapped);
    run->windows = calloc(1 + plan->n_steps * (1 + STAGE_SCRATCH_MAX), sizeof *run->windows);
    run->progress = calloc(plan_count_passes(plan) + 1, sizeof *run->progress);
    run->sinks = calloc(plan->n_results, sizeof *run->sinks);
    if (!run->slots || !run->mapped || !run->windows || !run->progress || !run->sinks) {
        device_buffer_release(r->device, in);
        if (out)
            device_buffer_release(r->device, out);
        return fault_set(fault, FAULT_MEMORY, "no memory for a run");
    }
    run->slots[plan->in_slot] = *in;
    *in = NULL;
    if (out) {
        run->slots[plan->out_slot] = *out;
        *out = NULL;
    }
    int result = 0;
    for (unsigned i = 0; i < plan->n_slots && result == 0; i++)
        if (!run->slots[i])
            result = device_buffer_acquire(r->device, plan->slot_size[i], &run->slots[i], fault);
    window_init(&run->windows[0], &plan->in, &plan->held, NULL);
    run->scratch = run->windows + 1 + plan->n_steps;
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        window_init(&run->windows[i + 1], &step->out, &step->held, NULL);
        for (unsigned s = 0; s < step->work.n_scratch; s++)
            window_init(&run->scratch[i * STAGE_SCRATCH_MAX + s], &step->work.scratch[s],
                        &step->held_scratch[s], NULL);
    }
    run->in = &run->windows[0];
    for (size_t k = 0; k < plan->n_results; k++) {
        struct window_sink *sink = &run->sinks[k];
        sink->window = window_after(plan, run, plan->results[k].step);
        if (plan->by_rows) /* rows above the result, if it is a part, are not taken */
            atomic_store(&sink->taken, plane_first_row(&plan->results[k].frame->planes[0]));
    }
    return result ? result : map_windows(r, run, fault);
}

/* Without `all` those with results are kept. */
static void release_slots(const struct recording *r, struct recording_run *run, bool all)
{
    for (unsigned i = 0; run->slots && i < r->plan->n_slots; i++)
        if (all || !run->mapped[i])
            device_buffer_release(r->device, &run->slots[i]);
}

int recording_open(struct recording *recording, struct recording_run *run, struct fault *fault)
{
    const struct recording *r = recording;
    uint64_t size = window_bytes(&r->plan->in, &r->plan->held);
    struct device_buffer *none = NULL;
    void *data = NULL;
    *run = (struct recording_run){0};
    int result = acquire_slots(r, &none, NULL, run, fault);
    if (result == 0)
        result = device_buffer_map(r->device, run->slots[r->plan->in_slot], size, &data, fault);
    if (result == 0)
        run->in->memory = data;
    else
        recording_run_finish(recording, run);
    return result;
}

static uint64_t sum_of_progress(const struct recording *r, const struct recording_run *run)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < plan_count_passes(r->plan); i++)
        sum += run->progress[i];
    return sum;
}

/* Whether the host may see a result, or rows of it, whose memory may have been another frame's. */
static bool has_result(const struct recording *r, const struct recording_run *run, size_t result)
{
    const struct window *window = run->sinks[result].window;
    bool is_part = window->size.rows < window_height(window);
    size_t writer = plan_writer(r->plan, r->plan->results[result].step), passes = 0;
    for (size_t i = 0; i < writer; i++)
        passes += r->plan->steps[i].work.n_passes;
    return run->ended || (by_strips(r) && is_part && run->progress[passes - 1] > 0);
}

/* Gives the host's views of results back to the device. */
static int unmap_results(const struct recording *r, struct recording_run *run, struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < r->plan->n_results && result == 0; i++) {
        unsigned slot = r->plan->results[i].slot;
        if (run->mapped[slot])
            result = device_batch_unmap(run->batch, run->slots[slot], fault);
        run->mapped[slot] = NULL;
    }
    return result;
}

int recording_submit(struct recording *recording, unsigned iterations, struct recording_run *run,
                     struct fault *fault)
{
    const struct recording *r = recording;
    const struct plan *plan = r->plan;
    struct device_buffer *in = run->slots[plan->in_slot], *out = run->slots[plan->out_slot];
    bool is_first = !run->begun;
    void *data = NULL;
    int result = device_batch_begin(r->device, &run->batch, fault);
    run->begun = true;
    if (result == 0 && plan->by_rows && plan_count_passes(plan) == 0) { /* what comes goes on */
        run->ended = has_ended(r, run);
        run->data = run->mapped[plan->out_slot] = run->in->memory;
        return device_batch_submit(run->batch, fault);
    }
    if (result == 0 && by_strips(r) && !is_first && run->in->memory)
        result = device_batch_unmap(run->batch, in, fault);
    if (result == 0 && by_strips(r))
        result = unmap_results(r, run, fault);
    if (result == 0 && is_first)
        result = device_batch_unmap(run->batch, in, fault);
    if (result == 0 && is_first && device_buffer_is_imported(out))
        result = device_batch_unmap(run->batch, out, fault);
    for (run->iterations = 0; run->iterations < iterations && result == 0; run->iterations++) {
        if (run->iterations > 0)
            memset(run->progress, 0, plan_count_passes(plan) * sizeof *run->progress);
        run->group = run->iterations > 0 ? 0 : run->group;
        uint64_t before = sum_of_progress(r, run), after = before, last;
        do {
            last = after;
            result = record_steps(r, run, fault);
            after = sum_of_progress(r, run);
        } while (by_strips(r) && after != last && result == 0);
        run->moved = after != before;
    }
    if (result == 0 && run->ended && device_buffer_is_imported(in))
        result = device_batch_map(run->batch, in, plan->in.size, false, &data, fault);
    bool more = by_strips(r) && atomic_load(&run->in->written) < window_height(run->in);
    if (result == 0 && more)
        result =
            device_batch_map(run->batch, in, plan->slot_size[plan->in_slot], true, &data, fault);
    if (by_strips(r))
        run->in->memory = more ? data : NULL;
    for (size_t i = 0; i < plan->n_results && result == 0; i++) {
        unsigned slot = plan->results[i].slot;
        /* a slot may have two results, or one that is a part of another */
        if (run->mapped[slot] || !has_result(r, run, i))
            continue;
        result =
            device_batch_map(run->batch, run->slots[slot],
                             plan->by_rows ? plan->slot_size[slot] : plan->results[i].frame->size,
                             false, &data, fault);
        run->mapped[slot] = data;
    }
    for (size_t i = 0; i < plan->n_results && by_strips(r); i++)
        run->sinks[i].window->memory = run->mapped[plan->results[i].slot];
    if (result == 0)
        result = device_batch_submit(run->batch, fault);
    run->data = run->mapped[plan->out_slot];
    return result;
}

int recording_start(struct recording *recording, struct device_buffer **in,
                    struct device_buffer **out, unsigned iterations, struct recording_run *run,
                    struct fault *fault)
{
    *run = (struct recording_run){0};
    int result = acquire_slots(recording, in, out, run, fault);
    if (result == 0) {
        atomic_store(&run->in->written, window_height(run->in));
        result = recording_submit(recording, iterations, run, fault);
    }
    if (result != 0)
        recording_run_finish(recording, run);
    return result;
}

/* Lets others see what has been computed: rows of results, and of the input that are free. */
static void publish(const struct recording *r, struct recording_run *run)
{
    for (size_t k = 0; k < r->plan->n_results; k++)
        if (has_result(r, run, k) || !by_strips(r))
            atomic_store(&run->sinks[k].ready, atomic_load(&run->sinks[k].window->written));
    atomic_store(&run->in->freed, still_needed(r, run, run->in));
}

int recording_wait(struct recording *recording, struct recording_run *run, struct fault *fault)
{
    const struct recording *r = recording;
    int result = end_batch(r, run, fault);
    if (result != 0) {
        if (!r->plan->by_rows) /* otherwise others may be at work in the windows */
            recording_run_finish(recording, run);
        return result;
    }
    if (r->plan->by_rows)
        publish(r, run);
    if (!run->ended)
        return 0;
    if (run->iterations > 1) { /* those of the last one are kept */
        size_t count = run->n_launches / run->iterations;
        memmove(run->launches, run->launches + run->n_launches - count,
                count * sizeof *run->launches);
        run->n_launches = count;
    }
    release_slots(r, run, false);
    return 0;
}

const uint8_t *recording_result(const struct recording *recording, const struct recording_run *run,
                                size_t result)
{
    return run->mapped[recording->plan->results[result].slot];
}

int recording_run(struct recording *recording, struct device_buffer **in, unsigned iterations,
                  struct recording_run *run, struct fault *fault)
{
    int result = recording_start(recording, in, NULL, iterations, run, fault);
    return result ? result : recording_wait(recording, run, fault);
}

void recording_run_finish(struct recording *recording, struct recording_run *run)
{
    device_batch_finish(&run->batch);
    release_slots(recording, run, true);
    free(run->slots);
    free(run->mapped);
    free(run->launches);
    free(run->windows);
    free(run->progress);
    free(run->sinks);
    free(run->marks);
    *run = (struct recording_run){0};
}

int recording_store(struct recording *recording, struct fault *fault)
{
    const struct plan_programs *programs = &recording->programs;
    int result = 0;
    for (size_t i = 0; i < programs->n_programs && result == 0; i++)
        result = device_program_store(recording->device, programs->programs[i], fault);
    return result;
}
