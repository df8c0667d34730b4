/* A batch: all commands of one job, recorded together and waited for once.
 *
 *     begin → unmap the input → launches → map the output → submit → wait
 *
 * Recording an OpenCL batch holds the device's lock, because a kernel keeps the arguments that were
 * set last. Waiting does not, so that other jobs are decoded and encoded while kernels run.
 * device_batch_finish must end every batch; it waits if nobody has. */
#ifndef SLUICE_DEVICE_BATCH_H
#define SLUICE_DEVICE_BATCH_H

#include "device/memory.h"
#include "device/program.h"

struct device_batch;

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
        double d;
        const struct device_buffer *buffer;
    };
    int64_t shift; /* bytes from the buffer's beginning to where the kernel shall take it to begin,
                      so that rows by their numbers in a picture are where some of them are held; 0
                      except on native, where a pointer may be any */
};

struct device_launch {
    const char *stage; /* whose work it is, for errors; must outlive the batch */
    const struct device_kernel *kernel;
    const struct device_arg *args;
    unsigned n_args;
    size_t global[2], local[2]; /* work-items; local divides global */
    double work;                /* scalar operations, estimated */
};

/* How long a launch took, in nanoseconds by the device's own clock. */
struct device_timing {
    const char *kernel; /* valid as long as the kernel */
    uint64_t queued;    /* in the queue, until it was submitted to the device */
    uint64_t wait;      /* from then until it started */
    uint64_t run;       /* from its start to its end */
};

int device_batch_begin(struct device *device, struct device_batch **batch, struct fault *fault);

/* Hands a mapped or wrapped buffer to the device. device_batch_traffic counts this and
 * device_batch_map. */
int device_batch_unmap(struct device_batch *batch, struct device_buffer *buffer,
                       struct fault *fault);

int device_batch_launch(struct device_batch *batch, const struct device_launch *launch,
                        struct fault *fault);

/* Maps the first `size` bytes for reading, after all earlier commands, or for both with `writes`.
 * `*data` is valid from the wait until the buffer is unmapped or released. */
int device_batch_map(struct device_batch *batch, struct device_buffer *buffer, size_t size,
                     bool writes, void **data, struct fault *fault);

/* Copies bytes within a buffer that is not mapped, to where they do not overlap. Not on native. */
int device_batch_copy(struct device_batch *batch, struct device_buffer *buffer, size_t from,
                      size_t to, size_t size, struct fault *fault);

/* Lets other jobs record. Submits the commands if the device has nothing else to do; otherwise they
 * go with the next batch, or when a submitted batch is waited for. Submitting is a call into the
 * kernel that takes as long as a small picture does. */
int device_batch_submit(struct device_batch *batch, struct fault *fault);

/* Waits for the last command. A fault names the command that failed. */
int device_batch_wait(struct device_batch *batch, struct fault *fault);

/* After the wait: times of the launches in their order; NULL without memory, or where nothing was
 * launched. Valid until device_batch_finish. */
const struct device_timing *device_batch_timings(struct device_batch *batch, size_t *count);

/* What the batch has moved so far. Valid until device_batch_finish. */
const struct device_traffic *device_batch_traffic(const struct device_batch *batch);

/* Takes NULL; clears the pointer. */
void device_batch_finish(struct device_batch **batch);

#endif
