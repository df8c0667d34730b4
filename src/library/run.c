/* Runs. On a device that computes in the caller's memory, the recording gets both memories; on
 * others rows are copied to the device before and back after it. A plan that computes nothing is a
 * copy of rows. */
#include <errno.h>
#include <linux/dma-buf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "chain/reference.h"
#include "library/internal.h"

struct sluice_run {
    struct sluice_plan *plan;
    struct sluice_memory *in, *out;
    struct recording_run run;
    struct sluice_times times;
    uint64_t begin;
};

/* Says that the processor begins or ends to read or write a dma-buf. */
static int sync_memory(const struct sluice_memory *memory, uint64_t flags,
                       struct sluice_error *error)
{
    struct dma_buf_sync sync = {.flags = flags};
    int result = 0;
    if (!memory->is_mapped)
        return 0;
    while ((result = ioctl(memory->fd, DMA_BUF_IOCTL_SYNC, &sync)) != 0 &&
           (errno == EINTR || errno == EAGAIN))
        ;
    if (result != 0 && errno != ENOTTY) /* a memory file, which needs none */
        return library_error(error, SLUICE_E_DEVICE, "a dma-buf was not handed over: %s",
                             strerror(errno));
    return 0;
}

static int begin_access(const struct sluice_run *run, struct sluice_error *error)
{
    int result = sync_memory(run->in, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ, error);
    return result ? result : sync_memory(run->out, DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE, error);
}

static int end_access(const struct sluice_run *run, struct sluice_error *error)
{
    int first = sync_memory(run->in, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ, error);
    int second = sync_memory(run->out, DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE, error);
    return first ? first : second;
}

/* Copies the samples of a frame that lies as `from` to where it lies as `to`. */
static uint64_t copy_rows(const struct frame *from, const uint8_t *source, const struct frame *to,
                          uint8_t *target)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < from->n_planes; i++) {
        const struct plane *a = &from->planes[i], *b = &to->planes[i];
        size_t row = plane_row_bytes(a);
        for (uint32_t y = 0; y < a->height; y++)
            memcpy(target + b->offset + y * b->stride, source + a->offset + y * a->stride, row);
        bytes += row * a->height;
    }
    return bytes;
}

static void copy_for(struct sluice_run *run, const struct frame *from, const uint8_t *source,
                     const struct frame *to, uint8_t *target)
{
    uint64_t before = clock_now();
    run->times.bytes_copied += copy_rows(from, source, to, target);
    run->times.copies += clock_now() - before;
}

/* Whether a plane of the one lies where one of the other does. A memory may span another one: that
 * of a frame whose planes were allocated one by one. */
static bool overlap(const struct sluice_memory *a, const struct frame *a_frame,
                    const struct sluice_memory *b, const struct frame *b_frame)
{
    for (size_t i = 0; i < a_frame->n_planes && a->data && b->data; i++)
        for (size_t k = 0; k < b_frame->n_planes; k++) {
            const struct plane *p = &a_frame->planes[i], *q = &b_frame->planes[k];
            uintptr_t x = (uintptr_t)a->data + p->offset, y = (uintptr_t)b->data + q->offset;
            if (x < y + q->stride * (q->height - 1) + plane_row_bytes(q) &&
                y < x + p->stride * (p->height - 1) + plane_row_bytes(p))
                return true;
        }
    return false;
}

static int check_memory(const struct sluice_plan *plan, const struct sluice_memory *memory,
                        const struct frame *frame, unsigned access, const char *what,
                        struct sluice_error *error)
{
    if (memory->device != plan->device)
        return library_error(error, SLUICE_E_USAGE, "the %s's memory is another device's", what);
    if (!(memory->access & access))
        return library_error(error, SLUICE_E_USAGE, "the %s's memory is not registered for that",
                             what);
    if (memory->bytes < frame->size)
        return library_error(error, SLUICE_E_USAGE, "the %s's memory has %zu bytes; %zu are needed",
                             what, memory->bytes, frame->size);
    if (memory->imported &&
        !(plan->flags & (access == SLUICE_READ ? SLUICE_IMPORT_IN : SLUICE_IMPORT_OUT)))
        return library_error(error, SLUICE_E_USAGE,
                             "the %s is a dma-buf, for which the plan was not made", what);
    for (size_t i = 0; i < frame->n_planes; i++)
        if ((uintptr_t)memory->data % sample_size(frame->planes[i].type) != 0)
            return library_error(error, SLUICE_E_USAGE,
                                 "the %s's memory does not begin at a multiple of a sample's size",
                                 what);
    return 0;
}

static int check(const struct sluice_plan *plan, const struct sluice_memory *in,
                 const struct sluice_memory *out, struct sluice_error *error)
{
    int result = check_memory(plan, in, &plan->in, SLUICE_READ, "input", error);
    if (result == 0)
        result = check_memory(plan, out, &plan->out, SLUICE_WRITE, "result", error);
    if (result == 0 && overlap(in, &plan->in, out, &plan->out))
        result = library_error(error, SLUICE_E_USAGE, "input and result overlap");
    return result;
}

/* Whether the device uses this memory itself. */
static bool is_in_place(const struct sluice_memory *memory)
{
    return memory->imported || device_profile(memory->device->device)->host_memory;
}

/* A buffer that is the caller's memory. */
static int take_memory(const struct sluice_memory *memory, size_t bytes, bool writes,
                       struct device_buffer **buffer, struct fault *fault)
{
    struct device *device = memory->device->device;
    return memory->imported
               ? device_buffer_share(device, memory->imported, buffer, fault)
               : device_buffer_wrap(device, memory->data, bytes, writes, buffer, fault);
}

/* A buffer of the device's own with a copy of the input. */
static int copy_input(struct sluice_run *run, struct device_buffer **buffer, struct fault *fault)
{
    const struct sluice_plan *plan = run->plan;
    struct device *device = plan->device->device;
    void *data;
    int result =
        device_buffer_acquire(device, plan->plan->slot_size[plan->plan->in_slot], buffer, fault);
    if (result == 0)
        result = device_buffer_map(device, *buffer, plan->plan->in.size, &data, fault);
    if (result == 0)
        copy_for(run, &plan->in, run->in->data, &plan->plan->in, data);
    else
        device_buffer_release(device, buffer);
    return result;
}

static int start_on_device(struct sluice_run *run, struct fault *fault)
{
    const struct sluice_plan *plan = run->plan;
    struct device *device = plan->device->device;
    struct device_buffer *in = NULL, *out = NULL;
    int result = is_in_place(run->in) ? take_memory(run->in, plan->in_bytes, false, &in, fault)
                                      : copy_input(run, &in, fault);
    if (result == 0 && is_in_place(run->out))
        result = take_memory(run->out, plan->out_bytes, true, &out, fault);
    if (result == 0)
        return recording_start(plan->recording, &in, out ? &out : NULL, 1, &run->run, fault);
    device_buffer_release(device, &in);
    return result;
}

static int run_references(struct sluice_run *run, struct fault *fault)
{
    const struct sluice_plan *plan = run->plan;
    struct picture in = {.frame = plan->in, .data = run->in->data}, out = {0};
    int result = reference_run(plan->plan, &in, &out, fault);
    if (result == 0)
        copy_for(run, &out.frame, out.data, &plan->out, run->out->data);
    picture_destroy(&out);
    return result;
}

static int begin(struct sluice_run *run, struct sluice_error *error)
{
    const struct sluice_plan *plan = run->plan;
    struct fault fault = FAULT_INIT;
    int result = check(plan, run->in, run->out, error);
    if (result == 0)
        result = begin_access(run, error);
    if (result != 0)
        return result;
    run->begin = clock_now();
    library_log_for(plan->device);
    if (plan->recording)
        result = start_on_device(run, &fault);
    else if (!plan->device->device)
        result = run_references(run, &fault);
    else
        copy_for(run, &plan->view, run->in->data, &plan->out, run->out->data);
    library_log_for(NULL);
    if (result != 0) {
        end_access(run, NULL);
        return library_fail(error, &fault);
    }
    return 0;
}

/* Adds up what the run's launches took. */
static void count(struct sluice_run *run)
{
    const struct recording_run *inner = &run->run;
    run->times.n_launches = (unsigned)inner->n_launches;
    for (size_t i = 0; i < inner->n_launches; i++)
        run->times.kernels += inner->launches[i].run;
    if (inner->n_launches > 0)
        run->times.queue = inner->launches[0].queued + inner->launches[0].wait;
    run->times.bytes_copied += inner->traffic.bytes_copied;
}

static int end(struct sluice_run *run, struct sluice_times *times, struct sluice_error *error)
{
    struct sluice_plan *plan = run->plan;
    struct fault fault = FAULT_INIT;
    int result = 0;
    library_log_for(plan->device);
    if (plan->recording)
        result = recording_wait(plan->recording, &run->run, &fault);
    if (plan->recording && result == 0) {
        count(run);
        if (!is_in_place(run->out))
            copy_for(run, plan->plan->out, run->run.data, &plan->out, run->out->data);
        if (!atomic_exchange(&plan->stored, true))
            recording_store(plan->recording, NULL);
        recording_run_finish(plan->recording, &run->run);
    }
    library_log_for(NULL);
    int ended = end_access(run, result == 0 ? error : NULL);
    run->times.total = clock_now() - run->begin;
    if (times && result == 0)
        library_give(times, &run->times, sizeof run->times);
    return result ? library_fail(error, &fault) : ended;
}

int sluice_process(struct sluice_plan *plan, struct sluice_memory *in, struct sluice_memory *out,
                   struct sluice_times *times, struct sluice_error *error)
{
    struct sluice_run run = {.plan = plan, .in = in, .out = out};
    int result = begin(&run, error);
    return result ? result : end(&run, times, error);
}

static void destroy(struct sluice_run *run)
{
    sluice_plan_unref(&run->plan);
    sluice_memory_unref(&run->in);
    sluice_memory_unref(&run->out);
    free(run);
}

int sluice_start(struct sluice_run **run, struct sluice_plan *plan, struct sluice_memory *in,
                 struct sluice_memory *out, struct sluice_error *error)
{
    struct sluice_run *made = calloc(1, sizeof *made);
    *run = NULL;
    if (!made)
        return library_error(error, SLUICE_E_MEMORY, "no memory for a run");
    made->plan = sluice_plan_ref(plan);
    made->in = sluice_memory_ref(in);
    made->out = sluice_memory_ref(out);
    int result = begin(made, error);
    if (result == 0)
        *run = made;
    else
        destroy(made);
    return result;
}

int sluice_wait(struct sluice_run **run, struct sluice_times *times, struct sluice_error *error)
{
    struct sluice_run *r = *run;
    *run = NULL;
    if (!r)
        return library_error(error, SLUICE_E_USAGE, "there is no run to wait for");
    int result = end(r, times, error);
    destroy(r);
    return result;
}
