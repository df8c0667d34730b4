/* Shared by the files of device/ alone. */
#ifndef SLUICE_DEVICE_DEVICE_INTERNAL_H
#define SLUICE_DEVICE_DEVICE_INTERNAL_H

#include "device/api.h"
#include "device/device.h"
#include <pthread.h>
#include <stdatomic.h>

struct device_traffic;

struct device {
    const struct device_info *info;
    struct device_options options;
    struct device_profile profile, generic_profile;
    atomic_bool maps, refuses; /* it has mapped a buffer; it refused to map the first one */
    struct device_counters counters;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue; /* kernels, and the maps that follow them; in order */
    cl_command_queue
        hand_over;           /* maps of fresh buffers: must not wait behind other jobs' kernels */
    pthread_mutex_t lock;    /* recording: kernels' arguments belong to one job at a time */
    atomic_uint n_under_way; /* batches submitted and not waited for */
    atomic_uint n_submitted; /* batches ever; wraps round */
    atomic_uint n_sent;      /* and how many of them were there at a flush */
    pthread_mutex_t pool_lock;
    pthread_mutex_t program_lock; /* held while compiling: drivers compile one at a time anyway */
    struct device_program *programs;
    struct device_buffer *idle; /* pool: released buffers, the latest first */
    uint64_t idle_bytes, idle_limit;
};

struct device_buffer {
    cl_mem memory;
    size_t size;                /* bytes allocated */
    void *mapped;               /* address while mapped, else NULL */
    size_t mapped_size;         /* of it, from the beginning */
    void *staging;              /* our memory, `size` bytes, in place of the mapped; else NULL */
    bool is_hosts;              /* somebody else's memory: goes to no pool */
    struct device_buffer *next; /* in the pool's list of idle ones */
};

/* Lets the host see the buffer's first `size` bytes, at buffer->mapped once `done` has happened:
 * maps them, and where the driver refuses that reads them into memory of ours (nothing is read, and
 * `done` is NULL, when `how` is not CL_MAP_READ). */
int device_buffer_to_host(struct device *device, cl_command_queue queue,
                          struct device_buffer *buffer, cl_map_flags how, size_t size,
                          struct device_traffic *traffic, cl_event *done, struct fault *fault);

/* Gives them back to the device: unmaps them, or writes what is in our memory, which stays as it is
 * until `done` has happened. */
int device_buffer_to_device(struct device *device, cl_command_queue queue,
                            struct device_buffer *buffer, struct device_traffic *traffic,
                            cl_event *done, struct fault *fault);

/* The CL handle of an entry of device_list. */
cl_device_id device_info_id(const struct device_info *info);

/* The CL handle of a kernel. */
struct device_kernel;
cl_kernel device_kernel_handle(const struct device_kernel *kernel);

/* Frees all programs; none has a user. */
void device_programs_destroy(struct device *device);

/* Frees the pool's idle buffers. */
void device_pool_drain(struct device *device);

/* The binary cache (cache.c). A key is every byte that the binary depends on. */
struct text;
void device_cache_key(const struct device *device, const char *source, const char *flags,
                      struct text *key);
/* True and a binary that the caller owns when the cache has a whole entry for exactly this key. */
struct bytes;
bool device_cache_load(const struct text *key, struct bytes *binary);

/* A file of a key and a binary. Read: both lie in `file`, which stays the caller's. */
enum entry_state {
    ENTRY_WHOLE,
    ENTRY_FOREIGN, /* it does not begin like one of ours */
    ENTRY_DAMAGED,
};
enum entry_state device_entry_read(const struct bytes *file, struct bytes *key,
                                   struct bytes *binary);
int device_entry_write(const char *path, const struct text *key, const struct bytes *binary,
                       bool durable, struct fault *fault);

void device_cache_store(const struct text *key, const struct bytes *binary);

#endif
