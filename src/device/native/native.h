/* Shared by the files of device/native/ alone: the processor as a device of its own. Its kernels
 * are functions of the program, its buffers memory, and a launch is shared out among threads. */
#ifndef SLUICE_DEVICE_NATIVE_NATIVE_H
#define SLUICE_DEVICE_NATIVE_NATIVE_H

#include "device/batch.h"
#include "device/device_internal.h"
#include "device/native/kernels.h"

struct native_kernel {
    struct device_kernel base;
    native_function *function;      /* NULL: a kernel of several */
    const struct native_rows *rows; /* its parts */
};

/* Bands begin … end - 1 of a kernel of several (rows.c), `args` with NATIVE_ARGS in front. */
void native_rows_run(const struct native_rows *rows, const union native_arg *args, int begin,
                     int end);

/* device->own. Buffers' handles are their memory. */
struct native {
    struct native_kernel *kernels; /* as native_entries has them */
    pthread_mutex_t lock;          /* of all below, and of what batches have under way */
    pthread_cond_t work;           /* there is some, for the device's threads */
    pthread_cond_t progress;       /* a launch has ended, for those that wait for a batch */
    struct native_batch *first;    /* submitted and not ended, in that order */
    unsigned n_threads, n_wanted;  /* started with the first launch that can be shared */
    pthread_t *threads;
    bool closing;
};

/* The index of the best level that the processor has, or that SLUICE_NATIVE_LEVEL names; -1 with a
 * fault when there is none. */
int native_level(struct fault *fault);

/* Ends the threads; nothing is under way. */
void native_threads_stop(struct native *native);

/* The back end's functions that are not in native.c. */
int native_rows_create(struct device *device, const struct device_part *parts, unsigned n_parts,
                       const char *name, struct device_program **program, struct fault *fault);
void native_rows_put(struct device_program *program);
int native_rows_kernel(struct device_program *program, const char *name,
                       const struct device_kernel **kernel, struct fault *fault);
int native_rows_store(struct device_program *program, struct fault *fault);
int native_batch_begin(struct device *device, struct device_batch **batch, struct fault *fault);
int native_batch_unmap(struct device_batch *batch, struct device_buffer *buffer,
                       struct fault *fault);
int native_batch_launch(struct device_batch *batch, const struct device_launch *launch,
                        struct fault *fault);
int native_batch_map(struct device_batch *batch, struct device_buffer *buffer, size_t size,
                     void **data, struct fault *fault);
int native_batch_submit(struct device_batch *batch, struct fault *fault);
int native_batch_wait(struct device_batch *batch, struct fault *fault);
const struct device_timing *native_batch_timings(struct device_batch *batch, size_t *count);
const struct device_traffic *native_batch_traffic(const struct device_batch *batch);
void native_batch_finish(struct device_batch *batch);

#endif
