/* A batch: all commands of one job, recorded in one go and waited for once.
 *
 *     begin → unmap the input → launches → map the output → submit → wait
 *
 * Recording holds the device's lock (kernels keep their arguments), waiting does not, so that one
 * job's pictures are decoded and encoded while another's kernels run. Every batch that has begun
 * is ended with device_batch_finish, which also waits when that was not done. */
#ifndef SLUICE_DEVICE_BATCH_H
#define SLUICE_DEVICE_BATCH_H

#include "device/memory.h"
#include "device/program.h"

/* A kernel argument: a value of 4 or 8 bytes, or a buffer. */
struct device_arg {
    enum {
        ARG_VALUE_4,
        ARG_VALUE_8,
        ARG_MEMORY,
    } kind;
    union {
        int32_t i;
        uint32_t u;
        float f;
        int64_t l;
        uint64_t ul;
        double d;
        const struct device_buffer *buffer;
    };
};

struct device_launch {
    const char *stage; /* whose work it is, for errors; outlives the batch */
    const struct device_kernel *kernel;
    const struct device_arg *args;
    unsigned n_args;
    size_t global[2], local[2]; /* work-items; local divides global */
    double work;                /* scalar operations, an estimate */
};

/* How long a launch took, in nanoseconds by the device's own clock. */
struct device_timing {
    const char *kernel; /* lives as long as the kernel */
    uint64_t queued;    /* in the queue, until submitted to the device */
    uint64_t wait;      /* submitted, until started */
    uint64_t run;       /* started, until ended */
};

struct device_batch;

int device_batch_begin(struct device *device, struct device_batch **batch, struct fault *fault);

/* Hands a mapped or wrapped buffer over to the device. This and device_batch_map are what
 * device_batch_traffic counts. */
int device_batch_unmap(struct device_batch *batch, struct device_buffer *buffer,
                       struct fault *fault);

int device_batch_launch(struct device_batch *batch, const struct device_launch *launch,
                        struct fault *fault);

/* Maps the first `size` bytes for reading, once all before is done; `*data` is valid after the
 * wait, until the buffer is released. */
int device_batch_map(struct device_batch *batch, struct device_buffer *buffer, size_t size,
                     void **data, struct fault *fault);

/* Lets other jobs record, and sends the commands off where the device has nothing else to do.
 * Where it has, they go with the next ones, or when one that was submitted is waited for: sending
 * is a call into the kernel, which for small pictures costs as much as they do. */
int device_batch_submit(struct device_batch *batch, struct fault *fault);

/* Waits for the last command; a command that failed is named with its error. */
int device_batch_wait(struct device_batch *batch, struct fault *fault);

/* After the wait: the launches' times, in order. Valid until device_batch_finish. */
const struct device_timing *device_batch_timings(struct device_batch *batch, size_t *count);

/* What the batch has moved so far. Valid until device_batch_finish. */
const struct device_traffic *device_batch_traffic(const struct device_batch *batch);

/* Takes NULL; clears the pointer. */
void device_batch_finish(struct device_batch **batch);

#endif
