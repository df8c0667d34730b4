/* Shared by the files of device/native/ alone: the processor as a device without OpenCL. Its
 * kernels are functions that were compiled with sluice, its buffers are memory of the process, and
 * a launch is divided among threads. */
#ifndef SLUICE_DEVICE_NATIVE_NATIVE_H
#define SLUICE_DEVICE_NATIVE_NATIVE_H

#include "device/batch.h"
#include "device/device_internal.h"
#include "device/native/kernels.h"

struct native_kernel {
    struct device_kernel base;
    struct native_function function;
    const struct native_rows *rows; /* NULL, or its parts: it was made by native_rows_create */
};

/* Computes bands begin … end - 1 with a kernel of native_rows_create (rows.c). `args` begin with
 * NATIVE_ARGS, which it does not use. */
void native_rows_run(const struct native_rows *rows, const union native_arg *args, int begin,
                     int end);

/* What threads wait for, who look out for it a while before they sleep (batch.c). */
struct native_signal {
    atomic_uint count;
    pthread_cond_t sleepers;
};

/* An open device: device->own. A buffer's handle is the address of its memory. */
struct native {
    struct native_kernel *kernels; /* one for each of native_entries, of the processor's level */
    pthread_mutex_t lock;          /* protects all below, and the progress of batches (batch.c) */
    struct native_signal work;     /* for the device's threads: there are pieces to compute */
    struct native_signal progress; /* for threads that wait for a batch: a launch has ended */
    struct native_batch *first;    /* batches that are submitted and have not ended, oldest first */
    unsigned n_threads,
        n_wanted; /* started, at the first launch of several pieces; to be started */
    pthread_t *threads;
    bool closing;   /* threads are to end */
    bool looks_out; /* each thread has a processor */
};

/* Ends the threads. No batch may be under way. */
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
                     bool writes, void **data, struct fault *fault);
int native_batch_submit(struct device_batch *batch, struct fault *fault);
int native_batch_wait(struct device_batch *batch, struct fault *fault);
const struct device_timing *native_batch_timings(struct device_batch *batch, size_t *count);
void native_batch_finish(struct device_batch *batch);

#endif
