#include "device/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "device/device_internal.h"

static struct device_buffer *take_idle(struct device *device, size_t size)
{
    pthread_mutex_lock(&device->pool_lock);
    struct device_buffer **link = &device->idle;
    while (*link && (*link)->size != size)
        link = &(*link)->next;
    struct device_buffer *buffer = *link;
    if (buffer) {
        *link = buffer->next;
        device->idle_bytes -= buffer->size;
    }
    pthread_mutex_unlock(&device->pool_lock);
    return buffer;
}

static void destroy(struct device *device, struct device_buffer *buffer)
{
    if (buffer->is_shared) {
        free(buffer);
        return;
    }
    device->info->backend->buffer_destroy(buffer);
    free(buffer->staging);
    atomic_fetch_sub(&device->counters.buffer_bytes, buffer->size);
    free(buffer);
}

static void destroy_all(struct device *device, struct device_buffer *buffer)
{
    while (buffer) {
        struct device_buffer *next = buffer->next;
        destroy(device, buffer);
        buffer = next;
    }
}

void device_pool_drain(struct device *device)
{
    pthread_mutex_lock(&device->pool_lock);
    struct device_buffer *buffers = device->idle;
    device->idle = NULL;
    device->idle_bytes = 0;
    pthread_mutex_unlock(&device->pool_lock);
    destroy_all(device, buffers);
}

/* Takes those buffers out of the pool that have been idle longest, until the rest fits the limit.
 * Called with pool_lock held. */
static struct device_buffer *take_excess(struct device *device, uint64_t limit)
{
    struct device_buffer **link = &device->idle;
    uint64_t kept = 0;
    while (*link && kept + (*link)->size <= limit) {
        kept += (*link)->size;
        link = &(*link)->next;
    }
    struct device_buffer *excess = *link;
    *link = NULL;
    device->idle_bytes = kept;
    return excess;
}

void device_pool_limit(struct device *device, uint64_t bytes)
{
    pthread_mutex_lock(&device->pool_lock);
    device->idle_limit = bytes;
    pthread_mutex_unlock(&device->pool_lock);
}

static int create(struct device *device, size_t size, const void *wrapped, bool writes,
                  struct device_buffer **buffer, struct fault *fault)
{
    struct device_buffer *made = calloc(1, sizeof *made);
    if (!made)
        return fault_set(fault, FAULT_MEMORY, "no memory for a buffer");
    made->size = size;
    made->is_wrapped = wrapped != NULL;
    made->is_written = writes;
    int result = device->info->backend->buffer_create(device, wrapped, made, fault);
    if (result != 0) {
        free(made);
        return result;
    }
    atomic_fetch_add(&device->counters.buffer_bytes, size);
    *buffer = made;
    return 0;
}

/* Frees idle buffers, which pictures of other sizes have left, before it allocates a new one, so
 * that idle and used buffers together stay below the limit. */
static int allocate(struct device *device, size_t size, struct device_buffer **buffer,
                    struct fault *fault)
{
    pthread_mutex_lock(&device->pool_lock);
    uint64_t taken = atomic_load(&device->counters.buffer_bytes) - device->idle_bytes + size;
    uint64_t room = device->idle_limit > taken ? device->idle_limit - taken : 0;
    struct device_buffer *excess = device->idle_bytes > room ? take_excess(device, room) : NULL;
    pthread_mutex_unlock(&device->pool_lock);
    destroy_all(device, excess);
    int result = create(device, size, NULL, true, buffer, NULL);
    if (result != 0) { /* memory is out: free the pool's idle buffers and try again */
        device_pool_drain(device);
        result = create(device, size, NULL, true, buffer, fault);
    }
    if (result == 0)
        atomic_fetch_add(&device->counters.allocations, 1);
    return result;
}

int device_buffer_acquire(struct device *device, size_t size, struct device_buffer **buffer,
                          struct fault *fault)
{
    /* Sizes are rounded up to an eighth of a power of two, so that pictures of nearly one size can
     * use the same buffers. */
    size_t step = 4096;
    while (step * 16 < size)
        step *= 2;
    size_t wanted = (size + step - 1) / step * step;
    if (wanted > device->info->max_allocation)
        return fault_set(
            fault, FAULT_LIMIT, "needs a buffer of %s, more than the %s that device %s allocates",
            number_size(wanted), number_size(device->info->max_allocation), device->info->name);
    *buffer = take_idle(device, wanted);
    return *buffer ? 0 : allocate(device, wanted, buffer, fault);
}

int device_buffer_wrap(struct device *device, const void *data, size_t size, bool writes,
                       struct device_buffer **buffer, struct fault *fault)
{
    return create(device, size, data, writes, buffer, fault);
}

int device_buffer_import(struct device *device, int fd, size_t size, struct device_buffer **buffer,
                         struct fault *fault)
{
    const struct device_backend *backend = device->info->backend;
    struct device_buffer *made = calloc(1, sizeof *made);
    *buffer = NULL;
    if (!made)
        return fault_set(fault, FAULT_MEMORY, "no memory for a buffer");
    made->size = size;
    made->is_wrapped = made->is_imported = true;
    int result = backend->buffer_import
                     ? backend->buffer_import(device, fd, made, fault)
                     : fault_set(fault, FAULT_DEVICE, "device %s imports none", device->info->name);
    if (result != 0) {
        free(made);
        return result;
    }
    atomic_fetch_add(&device->counters.buffer_bytes, size);
    *buffer = made;
    return 0;
}

int device_buffer_share(struct device *device, const struct device_buffer *of,
                        struct device_buffer **buffer, struct fault *fault)
{
    *buffer = malloc(sizeof **buffer);
    if (!*buffer)
        return fault_set(fault, FAULT_MEMORY, "no memory for a buffer");
    **buffer = *of;
    (*buffer)->is_shared = true;
    return 0;
}

bool device_buffer_is_imported(const struct device_buffer *buffer)
{
    return buffer->is_imported;
}

void device_buffer_release(struct device *device, struct device_buffer **buffer)
{
    struct device_buffer *b = *buffer;
    *buffer = NULL;
    if (!b)
        return;
    if (b->staging)
        b->mapped = NULL;
    free(b->staging);
    b->staging = NULL;
    if ((b->mapped && device->info->backend->buffer_unmap(device, b, NULL) != 0) || b->is_wrapped) {
        destroy(device, b);
        return;
    }
    pthread_mutex_lock(&device->pool_lock);
    b->next = device->idle;
    device->idle = b;
    device->idle_bytes += b->size;
    struct device_buffer *excess =
        device->idle_bytes > device->idle_limit ? take_excess(device, device->idle_limit) : NULL;
    pthread_mutex_unlock(&device->pool_lock);
    destroy_all(device, excess);
}

int device_buffer_map(struct device *device, struct device_buffer *buffer, size_t size, void **data,
                      struct fault *fault)
{
    int result = device->info->backend->buffer_map(device, buffer, size, fault);
    *data = buffer->mapped;
    return result;
}

int device_buffer_fill(struct device *device, struct device_buffer *buffer, const void *data,
                       size_t size, struct fault *fault)
{
    void *at;
    int result = device_buffer_map(device, buffer, size, &at, fault);
    if (result != 0)
        return result;
    memcpy(at, data, size);
    return device->info->backend->buffer_unmap(device, buffer, fault);
}

/* ---- constants that plans share ---- */

struct device_constant {
    const void *data;
    size_t size;
    struct device_buffer *buffer;
    unsigned users;
    struct device_constant *next;
};

static int make_constant(struct device *device, const void *data, size_t size,
                         struct device_buffer **buffer, struct fault *fault)
{
    if (device_profile(device)->host_memory)
        return device_buffer_wrap(device, data, size, false, buffer, fault);
    int result = device_buffer_acquire(device, size, buffer, fault);
    if (result == 0)
        result = device_buffer_fill(device, *buffer, data, size, fault);
    if (result != 0)
        device_buffer_release(device, buffer);
    return result;
}

/* Under the lock the samples are copied, so whoever comes second waits for them. */
int device_constant_get(struct device *device, const void *data, size_t size,
                        struct device_buffer **buffer, struct fault *fault)
{
    int result = 0;
    pthread_mutex_lock(&device->constants_lock);
    struct device_constant *at = device->constants;
    while (at && (at->data != data || at->size != size))
        at = at->next;
    if (!at) {
        at = calloc(1, sizeof *at);
        result = at ? make_constant(device, data, size, &at->buffer, fault)
                    : fault_set(fault, FAULT_MEMORY, "no memory for a constant");
        if (result == 0) {
            at->data = data;
            at->size = size;
            at->next = device->constants;
            device->constants = at;
        } else {
            free(at);
        }
    }
    if (result == 0) {
        at->users++;
        *buffer = at->buffer;
    }
    pthread_mutex_unlock(&device->constants_lock);
    return result;
}

void device_constant_put(struct device *device, struct device_buffer **buffer)
{
    pthread_mutex_lock(&device->constants_lock);
    struct device_constant **link = &device->constants, *at;
    while (*buffer && (*link)->buffer != *buffer)
        link = &(*link)->next;
    at = *buffer ? *link : NULL;
    if (at && --at->users == 0) {
        *link = at->next;
        device_buffer_release(device, &at->buffer);
        free(at);
    }
    pthread_mutex_unlock(&device->constants_lock);
    *buffer = NULL;
}

bool device_copies(const struct device *device)
{
    return atomic_load(&device->copies);
}

size_t device_buffer_size(const struct device_buffer *buffer)
{
    return buffer->size;
}
