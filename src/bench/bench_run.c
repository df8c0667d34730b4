#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "chain/recording.h"
#include "chain/reference.h"

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct bench_time bench_summarise(double *seconds, size_t n)
{
    qsort(seconds, n, sizeof *seconds, by_size);
    double middle = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
    return (struct bench_time){middle, seconds[0]};
}

void bench_result_finish(struct bench_result *result)
{
    picture_destroy(&result->out);
    free(result->parts);
    *result = (struct bench_result){0};
}

/* Seconds of one run. */
struct times {
    double kernels, queued, wait, job;
    size_t n_launches; /* of `launches`, owned */
    struct launch_report *launches;
};

/* One run as a program with memory of its own would do it: samples in, kernels, samples out. `out`
 * NULL: the samples stay where they are. */
static int run_once(const struct plan *plan, struct recording *recording, struct device *device,
                    const struct picture *in, struct picture *out, struct times *times,
                    struct fault *fault)
{
    struct device_buffer *buffer = NULL;
    struct recording_run run = {0};
    void *data;
    uint64_t begin = clock_now(), ran = 0, queued = 0, waited = 0;
    int result = device_buffer_acquire(device, plan->slot_size[plan->in_slot], &buffer, fault);
    if (result == 0)
        result = device_buffer_map(device, buffer, plan->in.size, &data, fault);
    if (result == 0) {
        memcpy(data, in->data, in->frame.size);
        result = recording_run(recording, &buffer, 1, &run, fault);
    }
    device_buffer_release(device, &buffer);
    if (result != 0)
        return result;
    if (out)
        memcpy(out->data, run.data, plan->out->size);
    for (size_t i = 0; i < run.n_launches; i++)
        ran += run.launches[i].run;
    if (run.n_launches > 0) { /* later launches also wait for those before them */
        queued = run.launches[0].queued;
        waited = run.launches[0].wait;
    }
    *times = (struct times){(double)ran * 1e-9,    (double)queued * 1e-9,
                            (double)waited * 1e-9, (double)(clock_now() - begin) * 1e-9,
                            run.n_launches,        run.launches};
    run.launches = NULL;
    recording_run_finish(recording, &run);
    return 0;
}

struct bench_copy {
    struct device *device;
    struct chain chain;
    struct picture in;
    struct plan *plan;
    struct recording *recording;
};

/* Rows as wide as in large pictures; a small number of bytes is one row. */
#define COPY_WIDTH 4096

/* Inverting costs nothing beside moving the bytes, and uses the same kernel path as other stages.
 */
static int create_copy(struct bench_copy *c, uint64_t bytes, struct fault *fault)
{
    struct plan_options options = {.profile = device_profile(c->device)};
    uint64_t half = bytes / 2 ? bytes / 2 : 1;
    struct plane shape = {.width = half < COPY_WIDTH ? (uint32_t)half : COPY_WIDTH,
                          .height = (uint32_t)((half + COPY_WIDTH - 1) / COPY_WIDTH),
                          .channels = 1,
                          .type = SAMPLE_U8};
    struct frame frame = {0};
    bool made = frame_add_plane(&frame, &shape, FRAME_ALIGNMENT) && picture_create(&c->in, &frame);
    frame_finish(&frame);
    if (!made)
        return fault_set(fault, FAULT_MEMORY, "no memory for a picture");
    int result = chain_parse(&c->chain, "invert", fault);
    if (result == 0)
        result = plan_create(&c->plan, &c->chain, &c->in.frame, &options, fault);
    if (result == 0)
        result = recording_create(&c->recording, c->plan, c->device, fault);
    return result;
}

int bench_copy_create(struct bench_copy **copy, struct device *device, uint64_t bytes,
                      struct fault *fault)
{
    struct bench_copy *c = calloc(1, sizeof *c);
    if (!c)
        return fault_set(fault, FAULT_MEMORY, "no memory for a copy");
    c->device = device;
    int result = create_copy(c, bytes, fault);
    if (result != 0)
        bench_copy_destroy(&c);
    *copy = c;
    return result;
}

int bench_copy_run(struct bench_copy *copy, double *seconds, uint64_t *bytes, struct fault *fault)
{
    struct times times = {0};
    int result =
        run_once(copy->plan, copy->recording, copy->device, &copy->in, NULL, &times, fault);
    free(times.launches);
    *seconds = times.kernels;
    *bytes = 2 * frame_bytes(&copy->plan->in);
    return result;
}

void bench_copy_destroy(struct bench_copy **copy)
{
    struct bench_copy *c = *copy;
    if (!c)
        return;
    recording_destroy(&c->recording);
    plan_destroy(&c->plan);
    chain_finish(&c->chain);
    picture_destroy(&c->in);
    free(c);
    *copy = NULL;
}

static void name_forms(const struct plan *plan, char forms[32])
{
    size_t used = 0;
    for (int form = 0; form < KERNEL_FORMS; form++) {
        bool there = false;
        for (size_t i = 0; i < plan->n_steps; i++)
            for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++)
                there |= (int)plan->steps[i].work.passes[p].form == form;
        if (there)
            used += (size_t)snprintf(forms + used, 32 - used, "%s%s", used ? "+" : "",
                                     kernel_form_name((enum kernel_form)form));
    }
    if (used == 0)
        snprintf(forms, 32, "none");
}

/* Each launch's median; `seconds` has those of all runs, one launch after the other. */
static void note_parts(const struct plan *plan, const struct times *times, double *seconds,
                       size_t n, struct bench_result *result)
{
    result->parts = calloc(times->n_launches + 1, sizeof *result->parts);
    for (size_t k = 0; result->parts && k < times->n_launches; k++) {
        const struct launch_report *launch = &times->launches[k];
        struct bench_launch *part = &result->parts[result->n_parts++];
        snprintf(part->stage, sizeof part->stage, "%s", plan->steps[launch->step].name);
        snprintf(part->place, sizeof part->place, "%s", launch->place);
        part->seconds = bench_summarise(seconds + k * n, n).median;
    }
}

void bench_add_parts(json_t *row, const struct bench_result *result)
{
    json_t *parts = json_array();
    for (size_t i = 0; i < result->n_parts; i++)
        json_array_append_new(parts, json_pack("{s:s, s:s, s:f}", "stage", result->parts[i].stage,
                                               "place", result->parts[i].place, "median_s",
                                               result->parts[i].seconds));
    json_object_set_new(row, "parts", parts);
}

/* The copy runs between the runs of the chain, so that other load on the machine affects both. */
static int measure(const struct bench_context *context, const struct plan *plan,
                   struct recording *recording, const struct picture *in, struct bench_copy *copy,
                   double *all, struct bench_result *result, struct fault *fault)
{
    uint64_t copied = 0;
    size_t n = context->iterations;
    double *seconds[5] = {all, all + n, all + 2 * n, all + 3 * n, all + 4 * n};
    struct times times = {0};
    double *parts = NULL;
    size_t n_parts = 0;
    /* the first run warms caches and allocates memory */
    for (size_t i = 0; i <= n; i++) {
        size_t at = i ? i - 1 : 0;
        int code = run_once(plan, recording, context->device, in, &result->out, &times, fault);
        if (code == 0 && i == 0) {
            n_parts = times.n_launches;
            parts = calloc(n * n_parts + 1, sizeof *parts);
        }
        if (times.n_launches != n_parts) { /* a long launch may be split in another way */
            free(parts);
            parts = NULL;
        }
        for (size_t k = 0; code == 0 && parts && k < n_parts; k++)
            parts[k * n + at] = (double)times.launches[k].run * 1e-9;
        if (code == 0 && i == n && parts)
            note_parts(plan, &times, parts, n, result);
        free(times.launches);
        times.launches = NULL;
        if (code == 0 && copy)
            code = bench_copy_run(copy, &seconds[4][at], &copied, fault);
        if (code != 0 || i == n)
            free(parts);
        if (code != 0)
            return code;
        seconds[0][at] = times.kernels;
        seconds[1][at] = times.queued;
        seconds[2][at] = times.wait;
        seconds[3][at] = times.job;
    }
    result->kernels = bench_summarise(seconds[0], n);
    result->queued = bench_summarise(seconds[1], n).median;
    result->wait = bench_summarise(seconds[2], n).median;
    result->job = bench_summarise(seconds[3], n);
    if (copy) {
        struct bench_time time = bench_summarise(seconds[4], n);
        result->copy_per_second = (double)copied / time.median;
        result->copy_best = (double)copied / time.min;
    }
    return 0;
}

static int run_times(const struct bench_context *context, const struct plan *plan,
                     struct recording *recording, const struct picture *in,
                     const struct bench_way *way, struct bench_result *result, struct fault *fault)
{
    size_t n = context->iterations;
    double *all = calloc(5 * n, sizeof *all);
    struct bench_copy *copy = NULL;
    result->bytes = frame_bytes(&plan->in) + frame_bytes(plan->out);
    result->moved = plan_bytes_moved(plan);
    result->launches = plan_total_launches(plan);
    name_forms(plan, result->forms);
    result->bound = context->board ? board_seconds(context->board, plan) : -1;
    int code = 0;
    if (!all || !picture_create(&result->out, plan->out))
        code = fault_set(fault, FAULT_MEMORY, "no memory for a result");
    if (code == 0 && way->copy)
        code = bench_copy_create(&copy, context->device, result->bytes, fault);
    if (code == 0)
        code = measure(context, plan, recording, in, copy, all, result, fault);
    bench_copy_destroy(&copy);
    free(all);
    return code;
}

struct plan_options bench_plan_options(const struct bench_context *context,
                                       const struct bench_way *way)
{
    return (struct plan_options){.profile =
                                     way->profile ? way->profile : device_profile(context->device),
                                 .no_fuse = way->no_fuse || context->options->common.no_fuse};
}

int bench_run_device(const struct bench_context *all, const struct chain *chain,
                     const struct picture *in, const struct bench_way *way,
                     struct bench_result *result, struct fault *fault)
{
    struct bench_context own = *all, *context = &own;
    struct tuned_choice choice;
    struct plan *plan = NULL;
    struct recording *recording = NULL;
    if (all->native && tuned_choose(all->tuned, chain, &in->frame, &choice) && choice.native)
        own.device = all->native;
    struct plan_options options = bench_plan_options(context, way);
    *result = (struct bench_result){.ran_on = device_info(own.device)};
    int code = plan_create(&plan, chain, &in->frame, &options, fault);
    if (code != 0)
        device_tell_fp64(device_profile(context->device), fault);
    if (code == 0)
        code = recording_create(&recording, plan, context->device, fault);
    if (code == 0)
        code = run_times(context, plan, recording, in, way, result, fault);
    if (code == 0)
        code = recording_store(recording, fault);
    recording_destroy(&recording);
    plan_destroy(&plan);
    if (code != 0)
        bench_result_finish(result);
    return code;
}

int bench_run_reference(const struct chain *chain, const struct picture *in,
                        struct bench_result *result, struct fault *fault)
{
    static const struct plan_options options = {0};
    struct plan *plan = NULL;
    *result = (struct bench_result){0};
    int code = plan_create(&plan, chain, &in->frame, &options, fault);
    if (code == 0) {
        uint64_t begin = clock_now();
        code = reference_run(plan, in, &result->out, fault);
        double seconds = (double)(clock_now() - begin) * 1e-9;
        result->job = (struct bench_time){seconds, seconds};
        result->bytes = frame_bytes(&plan->in) + frame_bytes(plan->out);
    }
    plan_destroy(&plan);
    return code;
}

/* Computes sin(x + y) from sines and cosines of x and y, which saves computing them for each pixel.
 */
static void fill_row(const struct plane *plane, uint8_t *row, uint32_t y, const double *sines,
                     uint32_t *random)
{
    double s = sin(y * 0.007), c = cos(y * 0.007), height = 90 * cos(y * 0.013);
    size_t size = sample_size(plane->type), at = 0;
    bool is_signed =
        plane->type == SAMPLE_I8 || plane->type == SAMPLE_I16 || plane->type == SAMPLE_I32;
    double offset = is_signed ? -128 : 0, factor = plane->type == SAMPLE_U16 ? 257 : 1;
    for (uint32_t x = 0; x < plane->width; x++) {
        double smooth = 127.5 + height * (sines[2 * x] * c + sines[2 * x + 1] * s);
        for (uint32_t i = 0; i < plane->channels; i++, at += size) {
            *random = *random * 1664525 + 1013904223;
            double v = rint(smooth + (*random >> 24) * 0.25 - 32);
            v = v < 0 ? 0 : v > 255 ? 255 : v;
            if (plane->type == SAMPLE_U8)
                row[at] = (uint8_t)v;
            else
                sample_store(plane->type, row + at, (v + offset) * factor);
        }
    }
}

int bench_picture(struct picture *picture, const struct plane *shape, struct fault *fault)
{
    struct frame frame = {0};
    uint32_t random = 1;
    double *sines = calloc(2 * (size_t)shape->width, sizeof *sines);
    bool made =
        sines && frame_add_plane(&frame, shape, FRAME_ALIGNMENT) && picture_create(picture, &frame);
    frame_finish(&frame);
    for (uint32_t x = 0; x < shape->width && made; x++) {
        sines[2 * x] = sin(x * 0.011);
        sines[2 * x + 1] = cos(x * 0.011);
    }
    for (uint32_t y = 0; y < shape->height && made; y++)
        fill_row(&picture->frame.planes[0], picture_row(picture, 0, y), y, sines, &random);
    free(sines);
    return made ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for a picture");
}
