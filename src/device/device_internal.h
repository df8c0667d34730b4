/* Shared by the files of device/ alone: what all kinds of devices have in common, and the table of
 * functions that each back end (native/, opencl/) implements. */
#ifndef SLUICE_DEVICE_DEVICE_INTERNAL_H
#define SLUICE_DEVICE_DEVICE_INTERNAL_H

#include "device/device.h"
#include <pthread.h>

struct device_launch;
struct device_part;
struct device_timing;

struct device {
    const struct device_info *info;
    struct device_options options;
    struct device_profile profile, generic_profile;
    atomic_bool copies; /* device_copies */
    struct device_counters counters;
    void *own; /* of the back end: struct opencl or struct native */
    pthread_mutex_t pool_lock;
    struct device_buffer *idle; /* the pool: buffers without a user, the latest first */
    uint64_t idle_bytes, idle_limit;
    pthread_mutex_t constants_lock;
    struct device_constant *constants; /* device_constant_get (memory.c) */
};

struct device_buffer {
    void *handle;       /* of the back end */
    size_t size;        /* bytes allocated */
    void *mapped;       /* address while mapped, else NULL */
    size_t mapped_size; /* bytes mapped, from the beginning */
    void *staging; /* our own memory of `size` bytes, for drivers that do not map; NULL otherwise */
    bool is_wrapped;  /* memory of the caller (device_buffer_wrap), which goes to no pool */
    bool is_written;  /* the device may write it */
    bool is_imported; /* the same, of a dma-buf, which the host never maps */
    bool is_shared;   /* another buffer's memory (device_buffer_share) */
    struct device_buffer *next; /* in the pool's list of idle ones */
};

/* The first members of a program, a kernel and a batch of any back end. */
struct device_program {
    struct device *device;
};
struct device_kernel {
    const char *name;
};
struct device_batch {
    struct device *device;
    struct device_traffic traffic;
};

/* The functions of a back end. A function is described at the function of device/ with the same
 * name and "device_" in front. OpenCL has no kernel_find and rows_create, which are for kernels
 * that were compiled with sluice; native has no batch_copy. */
struct device_backend {
    /* Lists its devices in an array that stays valid as long as the process. Called once. */
    int (*list)(struct device_info **list, size_t *count, struct fault *fault);
    /* `open` sets device->own. `close` accepts one that is half set, and waits for running
     * commands. */
    int (*open)(struct device *device, struct fault *fault);
    void (*close)(struct device *device);

    /* Allocates buffer->size bytes, or uses the memory at `wrapped` if that is not NULL. */
    int (*buffer_create)(struct device *device, const void *wrapped, struct device_buffer *buffer,
                         struct fault *fault);
    void (*buffer_destroy)(struct device_buffer *buffer);
    /* Makes buffer->size bytes of a dma-buf the device's; NULL: it takes none. */
    int (*buffer_import)(struct device *device, int fd, struct device_buffer *buffer,
                         struct fault *fault);
    /* Maps for writing, without waiting for commands of other buffers; sets buffer->mapped. */
    int (*buffer_map)(struct device *device, struct device_buffer *buffer, size_t size,
                      struct fault *fault);
    int (*buffer_unmap)(struct device *device, struct device_buffer *buffer, struct fault *fault);

    int (*program_get_as)(struct device *device, const char *source, enum program_use use,
                          struct device_program **program, struct fault *fault);
    void (*program_put)(struct device_program *program);
    int (*program_kernel)(struct device_program *program, const char *name,
                          const struct device_kernel **kernel, struct fault *fault);
    int (*program_store)(struct device_program *program, struct fault *fault);

    int (*kernel_find)(struct device *device, uint64_t hash, const char *name,
                       const struct device_kernel **kernel, struct fault *fault);
    int (*rows_create)(struct device *device, const struct device_part *parts, unsigned n_parts,
                       const char *name, struct device_program **program, struct fault *fault);

    int (*batch_begin)(struct device *device, struct device_batch **batch, struct fault *fault);
    int (*batch_unmap)(struct device_batch *batch, struct device_buffer *buffer,
                       struct fault *fault);
    int (*batch_launch)(struct device_batch *batch, const struct device_launch *launch,
                        struct fault *fault);
    int (*batch_map)(struct device_batch *batch, struct device_buffer *buffer, size_t size,
                     bool writes, void **data, struct fault *fault);
    int (*batch_copy)(struct device_batch *batch, struct device_buffer *buffer, size_t from,
                      size_t to, size_t size, struct fault *fault);
    int (*batch_submit)(struct device_batch *batch, struct fault *fault);
    int (*batch_wait)(struct device_batch *batch, struct fault *fault);
    const struct device_timing *(*batch_timings)(struct device_batch *batch, size_t *count);
    void (*batch_finish)(struct device_batch *batch);
};

extern const struct device_backend device_opencl; /* where SLUICE_OPENCL is defined */
extern const struct device_backend device_native; /* where SLUICE_NATIVE is defined */

/* Frees the pool's idle buffers. */
void device_pool_drain(struct device *device);

/* The binary cache (cache.c). A key is every byte that the binary depends on. */
struct text;
void device_cache_key(const struct device_info *info, const char *source, const char *flags,
                      struct text *key);
/* Returns true, and a binary that the caller owns, when the cache has an intact entry for exactly
 * this key. */
struct bytes;
bool device_cache_load(const struct text *key, struct bytes *binary);

/* A file with a key and a binary. After reading, both point into `file`, which the caller owns. */
enum entry_state {
    ENTRY_WHOLE,
    ENTRY_FOREIGN, /* it does not begin like one of our files */
    ENTRY_DAMAGED,
};
enum entry_state device_entry_read(const struct bytes *file, struct bytes *key,
                                   struct bytes *binary);
int device_entry_write(const char *path, const struct text *key, const struct bytes *binary,
                       bool durable, struct fault *fault);

bool device_cache_store(const struct text *key, const struct bytes *binary);

#endif
