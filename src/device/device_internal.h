/* Shared by the files of device/ alone: what all kinds of devices have, and the table of what each
 * kind does in its own way: native/ and opencl/. */
#ifndef SLUICE_DEVICE_DEVICE_INTERNAL_H
#define SLUICE_DEVICE_DEVICE_INTERNAL_H

#include "device/device.h"
#include <pthread.h>

struct device_launch;
struct device_part;
struct device_timing;
struct device_traffic;

struct device {
    const struct device_info *info;
    struct device_options options;
    struct device_profile profile, generic_profile;
    atomic_bool copies; /* device_copies */
    struct device_counters counters;
    void *own; /* the back end's */
    pthread_mutex_t pool_lock;
    struct device_buffer *idle; /* pool: released buffers, the latest first */
    uint64_t idle_bytes, idle_limit;
};

struct device_buffer {
    void *handle;               /* the back end's */
    size_t size;                /* bytes allocated */
    void *mapped;               /* address while mapped, else NULL */
    size_t mapped_size;         /* of it, from the beginning */
    void *staging;              /* our memory, `size` bytes, in place of the mapped; else NULL */
    bool is_hosts;              /* somebody else's memory: goes to no pool */
    struct device_buffer *next; /* in the pool's list of idle ones */
};

/* What a back end makes begins with these. */
struct device_program {
    struct device *device;
};
struct device_kernel {
    const char *name;
};
struct device_batch {
    struct device *device;
};

/* One kind of devices: programs or kernels of its own, the rest all. Functions that a header of
 * device/ describes have its name without "device_". */
struct device_backend {
    /* Its devices, in an array that lives as long as the process. Called once. */
    int (*list)(struct device_info **list, size_t *count, struct fault *fault);
    /* Fills device->own; close also takes one that is half filled, and waits for what runs. */
    int (*open)(struct device *device, struct fault *fault);
    void (*close)(struct device *device);

    /* Memory of buffer->size bytes, which is at `hosts` unless that is NULL. */
    int (*buffer_create)(struct device *device, const void *hosts, struct device_buffer *buffer,
                         struct fault *fault);
    void (*buffer_destroy)(struct device_buffer *buffer);
    /* For writing, without waiting for other buffers' commands; sets buffer->mapped. */
    int (*buffer_map)(struct device *device, struct device_buffer *buffer, size_t size,
                      struct fault *fault);
    int (*buffer_unmap)(struct device *device, struct device_buffer *buffer, struct fault *fault);

    int (*program_get_as)(struct device *device, const char *source, enum program_use use,
                          struct device_program **program, struct fault *fault);
    void (*program_put)(struct device_program *program);
    int (*program_kernel)(struct device_program *program, const char *name,
                          const struct device_kernel **kernel, struct fault *fault);
    int (*program_store)(struct device_program *program, struct fault *fault);
    /* In place of programs, where kernels were compiled with sluice. */
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
                     void **data, struct fault *fault);
    int (*batch_submit)(struct device_batch *batch, struct fault *fault);
    int (*batch_wait)(struct device_batch *batch, struct fault *fault);
    const struct device_timing *(*batch_timings)(struct device_batch *batch, size_t *count);
    const struct device_traffic *(*batch_traffic)(const struct device_batch *batch);
    void (*batch_finish)(struct device_batch *batch);
};

extern const struct device_backend device_opencl;
extern const struct device_backend device_native; /* where SLUICE_NATIVE is defined */

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
