/* Batches of OpenCL: all commands go to the device's one in-order queue; each has an event for its
 * times and its status. */
#include "device/opencl/opencl.h"

#include <stdio.h>
#include <stdlib.h>

struct command {
    cl_event event;
    const char *stage, *kernel; /* NULL for maps and unmaps */
};

struct opencl_batch {
    struct device_batch base;
    struct opencl *own; /* of the device */
    bool recording, waited;
    bool under_way;  /* submitted, and not waited for yet */
    unsigned number; /* serial number among the device's submitted batches, from 1; wraps round */
    size_t n_commands, capacity;
    struct command *commands;
    struct device_timing *timings;
    size_t n_timings;
};

/* Commands between flushes. Mali drivers start no launch before a flush, and fail with
 * CL_OUT_OF_HOST_MEMORY when thousands are queued. */
#define FLUSH_EVERY 16

static struct opencl_batch *own_batch(struct device_batch *batch)
{
    return (struct opencl_batch *)batch;
}

int opencl_batch_begin(struct device *device, struct device_batch **batch, struct fault *fault)
{
    struct opencl_batch *made = calloc(1, sizeof *made);
    if (!made)
        return fault_set(fault, FAULT_MEMORY, "no memory for a batch");
    made->base.device = device;
    made->own = device->own;
    made->recording = true;
    pthread_mutex_lock(&made->own->lock);
    *batch = &made->base;
    return 0;
}

/* Makes room for a command before it is enqueued, so that its event cannot get lost. */
static struct command *next_command(struct opencl_batch *batch, struct fault *fault)
{
    if (batch->n_commands == batch->capacity) {
        size_t capacity = batch->capacity ? batch->capacity * 2 : 16;
        struct command *commands = realloc(batch->commands, capacity * sizeof *commands);
        if (!commands) {
            fault_set(fault, FAULT_MEMORY, "no memory for %zu commands", capacity);
            return NULL;
        }
        batch->commands = commands;
        batch->capacity = capacity;
    }
    struct command *command = &batch->commands[batch->n_commands];
    *command = (struct command){0};
    return command;
}

static int launch_fault(const char *stage, const char *kernel, const char *call, cl_int error,
                        struct fault *fault)
{
    char where[256];
    snprintf(where, sizeof where, "stage %s, kernel %s", stage, kernel);
    return cl_fault(fault, call, error, where);
}

static void added(struct opencl_batch *batch)
{
    batch->n_commands++;
    if (batch->n_commands % FLUSH_EVERY == 0)
        cl.clFlush(batch->own->queue);
}

/* An imported buffer is never mapped; some drivers want to know when it changes hands. */
static int hand_over(struct opencl_batch *batch, struct device_buffer *buffer, bool to_device,
                     struct fault *fault)
{
    struct command *command = next_command(batch, fault);
    if (!command)
        return FAULT_MEMORY;
    int result =
        opencl_import_hand_over(batch->base.device, buffer, to_device, &command->event, fault);
    if (result == 0 && command->event)
        added(batch);
    *(to_device ? &batch->base.traffic.crossings_in : &batch->base.traffic.crossings_out) += 1;
    return result;
}

int opencl_batch_unmap(struct device_batch *base, struct device_buffer *buffer, struct fault *fault)
{
    struct opencl_batch *batch = own_batch(base);
    if (buffer->is_imported)
        return hand_over(batch, buffer, true, fault);
    if (buffer->is_wrapped) { /* it was never mapped */
        base->traffic.crossings_in++;
        return 0;
    }
    struct command *command = next_command(batch, fault);
    if (!command)
        return FAULT_MEMORY;
    int result = opencl_to_device(base->device, batch->own->queue, buffer, &base->traffic,
                                  &command->event, fault);
    if (result == 0)
        added(batch);
    return result;
}

/* The work-group has the wanted shape, halved until the kernel supports it. Rows are halved first,
 * because neighbours along a row read the same cache lines. Halves still divide the grid. */
int opencl_batch_launch(struct device_batch *base, const struct device_launch *launch,
                        struct fault *fault)
{
    struct opencl_batch *batch = own_batch(base);
    const struct opencl_kernel *own = (const struct opencl_kernel *)launch->kernel;
    const char *name = own->name;
    cl_kernel kernel = own->handle;
    size_t group[2] = {launch->local[0], launch->local[1]};
    for (unsigned i = 0; i < launch->n_args; i++) {
        const struct device_arg *arg = &launch->args[i];
        bool is_4 = arg->kind == ARG_VALUE_4, is_8 = arg->kind == ARG_VALUE_8;
        const void *value = is_4   ? (const void *)&arg->i
                            : is_8 ? (const void *)&arg->l
                                   : &arg->buffer->handle;
        cl_int error = cl.clSetKernelArg(kernel, i, is_4 ? 4 : is_8 ? 8 : sizeof(cl_mem), value);
        if (error != CL_SUCCESS)
            return launch_fault(launch->stage, name, "clSetKernelArg", error, fault);
    }
    struct command *command = next_command(batch, fault);
    if (!command)
        return FAULT_MEMORY;
    command->stage = launch->stage;
    command->kernel = name;
    while (group[0] * group[1] > own->group_max && group[0] * group[1] > 1)
        group[group[1] > 1] /= 2;
    cl_int error = cl.clEnqueueNDRangeKernel(batch->own->queue, kernel, 2, NULL, launch->global,
                                             group, 0, NULL, &command->event);
    if (error != CL_SUCCESS || !command->event)
        return launch_fault(launch->stage, name, "clEnqueueNDRangeKernel", error, fault);
    atomic_fetch_add(&base->device->counters.launches, 1);
    added(batch);
    return 0;
}

int opencl_batch_copy(struct device_batch *base, struct device_buffer *buffer, size_t from,
                      size_t to, size_t size, struct fault *fault)
{
    struct opencl_batch *batch = own_batch(base);
    struct command *command = next_command(batch, fault);
    if (!command)
        return FAULT_MEMORY;
    cl_int error = cl.clEnqueueCopyBuffer(batch->own->queue, buffer->handle, buffer->handle, from,
                                          to, size, 0, NULL, &command->event);
    if (error != CL_SUCCESS || !command->event)
        return cl_fault(fault, "clEnqueueCopyBuffer", error, base->device->info->name);
    added(batch);
    return 0;
}

int opencl_batch_map(struct device_batch *base, struct device_buffer *buffer, size_t size,
                     bool writes, void **data, struct fault *fault)
{
    struct opencl_batch *batch = own_batch(base);
    *data = NULL;
    if (buffer->is_imported)
        return hand_over(batch, buffer, false, fault);
    struct command *command = next_command(batch, fault);
    if (!command)
        return FAULT_MEMORY;
    int result = opencl_to_host(base->device, batch->own->queue, buffer,
                                CL_MAP_READ | (writes ? CL_MAP_WRITE : 0), size, &base->traffic,
                                &command->event, fault);
    if (result == 0)
        added(batch);
    *data = buffer->mapped;
    return result;
}

/* Flushes the queue. */
static int send_off(struct opencl_batch *batch, struct fault *fault)
{
    unsigned submitted = atomic_load(&batch->own->n_submitted);
    cl_int error = cl.clFlush(batch->own->queue);
    atomic_store(&batch->own->n_sent, submitted);
    return error == CL_SUCCESS ? 0
                               : cl_fault(fault, "clFlush", error, batch->base.device->info->name);
}

int opencl_batch_submit(struct device_batch *base, struct fault *fault)
{
    struct opencl_batch *batch = own_batch(base);
    struct opencl *own = batch->own;
    int result = 0;
    batch->under_way = true;
    batch->number = atomic_fetch_add(&own->n_submitted, 1) + 1;
    if (atomic_fetch_add(&own->n_under_way, 1) == 0)
        result = send_off(batch, fault);
    if (batch->recording)
        pthread_mutex_unlock(&own->lock);
    batch->recording = false;
    return result;
}

static int command_fault(const struct opencl_batch *batch, struct fault *fault)
{
    for (size_t i = 0; i < batch->n_commands; i++) {
        cl_int status = CL_COMPLETE;
        const struct command *command = &batch->commands[i];
        cl_int error = cl.clGetEventInfo(command->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                         sizeof status, &status, NULL);
        if (error != CL_SUCCESS)
            return cl_fault(fault, "clGetEventInfo", error, batch->base.device->info->name);
        if (status < 0 && command->kernel)
            return launch_fault(command->stage, command->kernel, "running", status, fault);
        if (status < 0)
            return cl_fault(fault, "mapping", status, batch->base.device->info->name);
    }
    return 0;
}

int opencl_batch_wait(struct device_batch *base, struct fault *fault)
{
    struct opencl_batch *batch = own_batch(base);
    int result = 0;
    if (batch->n_commands == 0)
        return 0;
    bool is_sent = (int)(atomic_load(&batch->own->n_sent) - batch->number) >= 0;
    if (!is_sent && (result = send_off(batch, fault)) != 0)
        return result;
    cl_int error = cl.clWaitForEvents(1, &batch->commands[batch->n_commands - 1].event);
    batch->waited = error == CL_SUCCESS;
    if (batch->under_way)
        atomic_fetch_sub(&batch->own->n_under_way, 1);
    batch->under_way = false;
    result = command_fault(batch, fault);
    if (result == 0 && error != CL_SUCCESS)
        result = cl_fault(fault, "clWaitForEvents", error, base->device->info->name);
    return result;
}

static void read_timing(const struct command *command, struct device_timing *timing)
{
    static const cl_profiling_info marks[] = {CL_PROFILING_COMMAND_QUEUED,
                                              CL_PROFILING_COMMAND_SUBMIT,
                                              CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    cl_ulong at[4] = {0};
    for (int i = 0; i < 4; i++) {
        cl.clGetEventProfilingInfo(command->event, marks[i], sizeof at[i], &at[i], NULL);
        if (i > 0 && at[i] < at[i - 1]) /* some drivers leave a time out */
            at[i] = at[i - 1];
    }
    *timing = (struct device_timing){command->kernel, at[1] - at[0], at[2] - at[1], at[3] - at[2]};
}

const struct device_timing *opencl_batch_timings(struct device_batch *base, size_t *count)
{
    struct opencl_batch *batch = own_batch(base);
    if (!batch->timings && batch->n_commands > 0) {
        batch->timings = calloc(batch->n_commands, sizeof *batch->timings);
        batch->n_timings = 0;
        for (size_t i = 0; i < batch->n_commands; i++) {
            if (!batch->commands[i].kernel)
                continue;
            if (batch->timings)
                read_timing(&batch->commands[i], &batch->timings[batch->n_timings]);
            batch->n_timings++;
        }
    }
    *count = batch->n_timings;
    return batch->timings;
}

void opencl_batch_finish(struct device_batch *batch)
{
    struct opencl_batch *b = own_batch(batch);
    /* After a fault commands may still run: wait before the caller frees the memory. */
    if (!b->waited && b->n_commands > 0)
        cl.clFinish(b->own->queue);
    if (b->under_way)
        atomic_fetch_sub(&b->own->n_under_way, 1);
    if (b->recording)
        pthread_mutex_unlock(&b->own->lock);
    for (size_t i = 0; i < b->n_commands; i++)
        cl.clReleaseEvent(b->commands[i].event);
    free(b->timings);
    free(b->commands);
    free(b);
}
