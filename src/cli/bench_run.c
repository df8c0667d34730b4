#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "chain/recording.h"
#include "chain/reference.h"
#include "cli/bench.h"

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static struct bench_time summarise(double *seconds, size_t n)
{
    qsort(seconds, n, sizeof *seconds, by_size);
    double middle = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
    return (struct bench_time){middle, seconds[0]};
}

void bench_result_finish(struct bench_result *result)
{
    picture_destroy(&result->out);
    *result = (struct bench_result){0};
}

/* One run as a program with its own memory would have it: samples in, kernels, samples out. */
static int run_once(const struct plan *plan, struct recording *recording, struct device *device,
                    const struct picture *in, struct picture *out, double *kernels, double *job,
                    struct fault *fault)
{
    struct device_buffer *buffer = NULL;
    struct recording_run run = {0};
    void *data;
    uint64_t begin = clock_now(), nanoseconds = 0;
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
    memcpy(out->data, run.data, plan->out->size);
    *job = (double)(clock_now() - begin) * 1e-9;
    for (size_t i = 0; i < run.n_launches; i++)
        nanoseconds += run.launches[i].run;
    *kernels = (double)nanoseconds * 1e-9;
    recording_run_finish(recording, &run);
    return 0;
}

static int run_times(const struct bench_context *context, const struct plan *plan,
                     struct recording *recording, const struct picture *in,
                     struct bench_result *result, struct fault *fault)
{
    size_t n = (size_t)context->options->iterations;
    double *seconds = calloc(2 * n, sizeof *seconds), unused[2];
    if (!seconds || !picture_create(&result->out, plan->out)) {
        free(seconds);
        return fault_set(fault, FAULT_MEMORY, "no memory for a result");
    }
    int code = run_once(plan, recording, context->device, in, &result->out, &unused[0], &unused[1],
                        fault); /* the first one warms caches and takes memory */
    for (size_t i = 0; i < n && code == 0; i++)
        code = run_once(plan, recording, context->device, in, &result->out, &seconds[i],
                        &seconds[n + i], fault);
    if (code == 0) {
        result->kernels = summarise(seconds, n);
        result->job = summarise(seconds + n, n);
        result->bytes = plan_bytes_moved(plan);
    }
    free(seconds);
    return code;
}

int bench_run_device(const struct bench_context *context, const struct chain *chain,
                     const struct picture *in, struct bench_result *result, struct fault *fault)
{
    struct plan_options options = {.profile = device_profile(context->device),
                                   .no_fuse = context->options->common.no_fuse};
    struct plan *plan = NULL;
    struct recording *recording = NULL;
    *result = (struct bench_result){0};
    int code = plan_create(&plan, chain, &in->frame, &options, fault);
    if (code == 0)
        code = recording_create(&recording, plan, context->device, fault);
    if (code == 0)
        code = run_times(context, plan, recording, in, result, fault);
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
    }
    plan_destroy(&plan);
    return code;
}

int bench_picture(struct picture *picture, uint32_t width, uint32_t height, enum sample_type type,
                  struct fault *fault)
{
    struct frame frame = {0};
    struct plane plane = {.width = width, .height = height, .channels = 1, .type = type};
    uint32_t random = 1;
    bool made = frame_add_plane(&frame, &plane, FRAME_ALIGNMENT) && picture_create(picture, &frame);
    frame_finish(&frame);
    if (!made)
        return fault_set(fault, FAULT_MEMORY, "no memory for a picture");
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *row = picture_row(picture, 0, y);
        for (uint32_t x = 0; x < width; x++) {
            random = random * 1664525 + 1013904223;
            double smooth = 127.5 + 90 * sin(x * 0.011 + y * 0.007) * cos(y * 0.013);
            double v = rint(smooth + (random >> 24) * 0.25 - 32);
            sample_store(type, row + x * sample_size(type), v < 0 ? 0 : v > 255 ? 255 : v);
        }
    }
    return 0;
}

struct bench_difference bench_compare(const struct picture *a, const struct picture *b)
{
    const struct plane *p = &a->frame.planes[0], *q = &b->frame.planes[0];
    double largest = 0, sum = 0;
    for (uint32_t y = 0; y < p->height; y++) {
        const uint8_t *r = picture_row(a, 0, y), *s = picture_row(b, 0, y);
        for (uint32_t x = 0; x < p->width; x++) {
            double d = sample_load(p->type, r + x * sample_size(p->type)) -
                       sample_load(q->type, s + x * sample_size(q->type));
            largest = fmax(largest, fabs(d));
            sum += d * d;
        }
    }
    double mse = sum / ((double)p->width * p->height);
    return (struct bench_difference){largest,
                                     mse > 0 ? 10 * log10(255 * 255 / mse) : (double)INFINITY};
}
