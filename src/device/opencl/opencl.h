/* Shared by the files of device/opencl/ alone: an open OpenCL device and its functions. */
#ifndef SLUICE_DEVICE_OPENCL_OPENCL_H
#define SLUICE_DEVICE_OPENCL_OPENCL_H

#include "device/batch.h"
#include "device/device_internal.h"
#include "device/opencl/api.h"
#include <stdatomic.h>

/* Is device->own. */
struct opencl {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue; /* for kernels and the maps after them; in order */
    cl_command_queue
        hand_over;        /* for maps of new buffers, which must not wait for other jobs' kernels */
    pthread_mutex_t lock; /* for recording: a kernel's arguments belong to one job at a time */
    atomic_uint n_under_way;      /* batches submitted and not waited for */
    atomic_uint n_submitted;      /* batches submitted so far; wraps round */
    atomic_uint n_sent;           /* n_submitted at the last flush */
    pthread_mutex_t program_lock; /* for the list below; never held while something compiles */
    pthread_cond_t program_made;
    struct opencl_program *programs;
    atomic_bool maps;             /* it has mapped a buffer at least once */
    struct opencl_import *import; /* the driver's functions for dma-bufs; NULL: it has none */
};

static inline struct opencl *opencl_of(const struct device *device)
{
    return device->own;
}

struct opencl_kernel {
    struct device_kernel base;
    cl_kernel handle;
    size_t group_max; /* work-items; SIZE_MAX if it has local memory, which fixes the shape */
    char name[128];
    struct opencl_kernel *next;
};

/* The back end's functions that are not in opencl.c alone. A buffer's handle is a cl_mem. */

/* Gives the host access to the buffer's first `size` bytes, at buffer->mapped once the event `done`
 * has happened, by mapping or, where the driver refuses that, by reading into our own memory.
 * Without CL_MAP_READ in `how` nothing is read, and `done` is NULL. */
int opencl_to_host(struct device *device, cl_command_queue queue, struct device_buffer *buffer,
                   cl_map_flags how, size_t size, struct device_traffic *traffic, cl_event *done,
                   struct fault *fault);

/* Gives those bytes back to the device, by unmapping or by writing our memory, which must not
 * change until `done` has happened. */
int opencl_to_device(struct device *device, cl_command_queue queue, struct device_buffer *buffer,
                     struct device_traffic *traffic, cl_event *done, struct fault *fault);

/* import.c: finds the driver's functions; imports buffer->size bytes of a dma-buf; and enqueues
 * that an imported buffer goes to the device or leaves it, where the driver wants to be told (else
 * *done is NULL). */
void opencl_import_init(struct opencl *own);
int opencl_buffer_import(struct device *device, int fd, struct device_buffer *buffer,
                         struct fault *fault);
int opencl_import_hand_over(struct device *device, struct device_buffer *buffer, bool to_device,
                            cl_event *done, struct fault *fault);

int opencl_program_get_as(struct device *device, const char *source, enum program_use use,
                          struct device_program **program, struct fault *fault);
void opencl_program_put(struct device_program *program);
int opencl_program_kernel(struct device_program *program, const char *name,
                          const struct device_kernel **kernel, struct fault *fault);
int opencl_program_store(struct device_program *program, struct fault *fault);
void opencl_programs_destroy(struct device *device); /* none may have a user */

int opencl_batch_begin(struct device *device, struct device_batch **batch, struct fault *fault);
int opencl_batch_unmap(struct device_batch *batch, struct device_buffer *buffer,
                       struct fault *fault);
int opencl_batch_launch(struct device_batch *batch, const struct device_launch *launch,
                        struct fault *fault);
int opencl_batch_map(struct device_batch *batch, struct device_buffer *buffer, size_t size,
                     bool writes, void **data, struct fault *fault);
int opencl_batch_copy(struct device_batch *batch, struct device_buffer *buffer, size_t from,
                      size_t to, size_t size, struct fault *fault);
int opencl_batch_submit(struct device_batch *batch, struct fault *fault);
int opencl_batch_wait(struct device_batch *batch, struct fault *fault);
const struct device_timing *opencl_batch_timings(struct device_batch *batch, size_t *count);
void opencl_batch_finish(struct device_batch *batch);

#endif
