#include "device/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "device/device_internal.h"

/* Buffers are allocated in sizes an eighth of a power of two apart, so that pictures of nearly one
 * size share them and little is wasted. */
static size_t size_class(size_t size)
{
    size_t step = 4096;
    while (step * 16 < size)
        step *= 2;
    return (size + step - 1) / step * step;
}

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
    cl.clReleaseMemObject(buffer->memory);
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

/* Cuts off the buffers that were idle longest until the others fit the limit; pool_lock is held. */
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

/* Pictures of other sizes leave buffers behind that no job asks for: they go before new ones come,
 * so that what is idle and what is in use stay below the limit together. */
static void make_room(struct device *device, size_t size)
{
    pthread_mutex_lock(&device->pool_lock);
    uint64_t taken = atomic_load(&device->counters.buffer_bytes) - device->idle_bytes + size;
    uint64_t room = device->idle_limit > taken ? device->idle_limit - taken : 0;
    struct device_buffer *excess = device->idle_bytes > room ? take_excess(device, room) : NULL;
    pthread_mutex_unlock(&device->pool_lock);
    destroy_all(device, excess);
}

static int allocate(struct device *device, size_t size, struct device_buffer **buffer,
                    struct fault *fault)
{
    struct device_buffer *made = calloc(1, sizeof *made);
    if (!made)
        return fault_set(fault, FAULT_MEMORY, "no memory for a buffer");
    make_room(device, size);
    cl_int error;
    cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
    made->memory = cl.clCreateBuffer(device->context, flags, size, NULL, &error);
    if (!made->memory) { /* what the pool holds idle may be what is missing */
        device_pool_drain(device);
        made->memory = cl.clCreateBuffer(device->context, flags, size, NULL, &error);
    }
    if (!made->memory) {
        free(made);
        return cl_fault(fault, "clCreateBuffer", error, device->info->name);
    }
    made->size = size;
    atomic_fetch_add(&device->counters.allocations, 1);
    atomic_fetch_add(&device->counters.buffer_bytes, size);
    *buffer = made;
    return 0;
}

int device_buffer_acquire(struct device *device, size_t size, struct device_buffer **buffer,
                          struct fault *fault)
{
    size_t wanted = size_class(size);
    if (wanted > device->info->max_allocation)
        return fault_set(
            fault, FAULT_LIMIT, "needs a buffer of %s, more than the %s that device %s allocates",
            number_size(wanted), number_size(device->info->max_allocation), device->info->name);
    *buffer = take_idle(device, wanted);
    return *buffer ? 0 : allocate(device, wanted, buffer, fault);
}

int device_buffer_wrap(struct device *device, const void *data, size_t size,
                       struct device_buffer **buffer, struct fault *fault)
{
    struct device_buffer *made = calloc(1, sizeof *made);
    if (!made)
        return fault_set(fault, FAULT_MEMORY, "no memory for a buffer");
    cl_int error;
    made->memory = cl.clCreateBuffer(device->context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, size,
                                     (void *)data, &error);
    if (!made->memory) {
        free(made);
        return cl_fault(fault, "clCreateBuffer", error, device->info->name);
    }
    made->size = size;
    made->is_hosts = true;
    atomic_fetch_add(&device->counters.buffer_bytes, size);
    *buffer = made;
    return 0;
}

static int wait_for(cl_event event, const char *call, struct fault *fault)
{
    cl_int error = cl.clWaitForEvents(1, &event);
    cl.clReleaseEvent(event);
    return error == CL_SUCCESS ? 0 : cl_fault(fault, "clWaitForEvents", error, call);
}

/* Maps, unless the driver has refused the first map of all: then buffer->mapped stays NULL. */
static int try_to_map(struct device *device, cl_command_queue queue, struct device_buffer *buffer,
                      cl_map_flags how, size_t size, cl_event *done, struct fault *fault)
{
    char name[CL_ERROR_NAME_MAX];
    cl_int error;
    if (atomic_load(&device->refuses))
        return 0;
    buffer->mapped =
        cl.clEnqueueMapBuffer(queue, buffer->memory, CL_FALSE, how, 0, size, 0, NULL, done, &error);
    if (error == CL_SUCCESS) {
        atomic_store(&device->maps, true);
        return 0;
    }
    bool refused = error == CL_MAP_FAILURE || error == CL_INVALID_OPERATION;
    if (!refused || atomic_load(&device->maps))
        return cl_fault(fault, "clEnqueueMapBuffer", error, device->info->name);
    if (!atomic_exchange(&device->refuses, true))
        log_warning("device %s does not map its memory (%s): pictures are copied there and back",
                    device->info->name, cl_error_name(error, name));
    return 0;
}

int device_buffer_to_host(struct device *device, cl_command_queue queue,
                          struct device_buffer *buffer, cl_map_flags how, size_t size,
                          struct device_traffic *traffic, cl_event *done, struct fault *fault)
{
    *done = NULL;
    buffer->mapped = NULL;
    int result = try_to_map(device, queue, buffer, how, size, done, fault);
    if (result != 0)
        return result;
    if (!buffer->mapped && !buffer->staging)
        buffer->staging = aligned_alloc(4096, buffer->size); /* which is a multiple of it */
    if (!buffer->mapped && !buffer->staging)
        return fault_set(fault, FAULT_MEMORY, "no memory for a copy");
    if (!buffer->mapped && how == CL_MAP_READ) {
        cl_int error = cl.clEnqueueReadBuffer(queue, buffer->memory, CL_FALSE, 0, size,
                                              buffer->staging, 0, NULL, done);
        if (error != CL_SUCCESS)
            return cl_fault(fault, "clEnqueueReadBuffer", error, device->info->name);
        traffic->bytes_copied += size;
    }
    if (!buffer->mapped)
        buffer->mapped = buffer->staging;
    buffer->mapped_size = size;
    traffic->crossings_out += how == CL_MAP_READ;
    return 0;
}

int device_buffer_to_device(struct device *device, cl_command_queue queue,
                            struct device_buffer *buffer, struct device_traffic *traffic,
                            cl_event *done, struct fault *fault)
{
    const char *call = buffer->staging ? "clEnqueueWriteBuffer" : "clEnqueueUnmapMemObject";
    cl_int error =
        buffer->staging
            ? cl.clEnqueueWriteBuffer(queue, buffer->memory, CL_FALSE, 0, buffer->mapped_size,
                                      buffer->staging, 0, NULL, done)
            : cl.clEnqueueUnmapMemObject(queue, buffer->memory, buffer->mapped, 0, NULL, done);
    if (error != CL_SUCCESS)
        return cl_fault(fault, call, error, device->info->name);
    buffer->mapped = NULL;
    traffic->crossings_in++;
    if (buffer->staging)
        traffic->bytes_copied += buffer->mapped_size;
    return 0;
}

/* Not for a job, whose buffers go to the device with its batch: nothing is counted. */
static int unmap(struct device *device, struct device_buffer *buffer, struct fault *fault)
{
    struct device_traffic nobodys = {0};
    cl_event done;
    int result = device_buffer_to_device(device, device->hand_over, buffer, &nobodys, &done, fault);
    return result ? result : wait_for(done, device->info->name, fault);
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
    if ((b->mapped && unmap(device, b, NULL) != 0) || b->is_hosts) {
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

/* Waiting for the map's own event, not in a blocking call: PoCL's blocking map waits for all that
 * is queued. */
int device_buffer_map(struct device *device, struct device_buffer *buffer, size_t size, void **data,
                      struct fault *fault)
{
    struct device_traffic nobodys = {0};
    cl_event done;
    int result =
        device_buffer_to_host(device, device->hand_over, buffer, CL_MAP_WRITE_INVALIDATE_REGION,
                              size, &nobodys, &done, fault);
    if (result != 0)
        return result;
    *data = buffer->mapped;
    return done ? wait_for(done, "clEnqueueMapBuffer", fault) : 0;
}

int device_buffer_fill(struct device *device, struct device_buffer *buffer, const void *data,
                       size_t size, struct fault *fault)
{
    void *at;
    int result = device_buffer_map(device, buffer, size, &at, fault);
    if (result != 0)
        return result;
    memcpy(at, data, size);
    return unmap(device, buffer, fault);
}

bool device_copies(const struct device *device)
{
    return atomic_load(&device->refuses);
}

size_t device_buffer_size(const struct device_buffer *buffer)
{
    return buffer->size;
}
