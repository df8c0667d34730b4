/* Contexts, queues and buffers. */
#include "device/opencl/opencl.h"

#include <stdlib.h>

#include "base/log.h"

/* Oclgrind gives NULL for `user`: what it was told comes as `data`. */
static void CL_CALLBACK report(const char *text, const void *data, size_t size, void *user)
{
    const struct device_info *info = user;
    log_warning("device %s: %s", info ? info->name : "(OpenCL)", text);
}

static int open_device(struct device *device, struct fault *fault)
{
    struct opencl *cl_device = device->own = calloc(1, sizeof *cl_device);
    if (!cl_device)
        return fault_set(fault, FAULT_MEMORY, "no memory for a device");
    cl_int error;
    cl_device->id = opencl_id(device->info);
    pthread_mutex_init(&cl_device->lock, NULL);
    pthread_mutex_init(&cl_device->program_lock, NULL);
    pthread_cond_init(&cl_device->program_made, NULL);

    const char *call = "clCreateContext";
    void *info = (void *)device->info; /* a driver's thread may report when the device has gone */
    cl_device->context = cl.clCreateContext(NULL, 1, &cl_device->id, report, info, &error);
    if (cl_device->context) {
        call = "clCreateCommandQueue";
        cl_device->queue = cl.clCreateCommandQueue(cl_device->context, cl_device->id,
                                                   CL_QUEUE_PROFILING_ENABLE, &error);
    }
    if (cl_device->queue)
        cl_device->hand_over =
            cl.clCreateCommandQueue(cl_device->context, cl_device->id, 0, &error);
    return cl_device->hand_over ? 0 : cl_fault(fault, call, error, device->info->name);
}

static void close_device(struct device *device)
{
    struct opencl *cl_device = device->own;
    if (!cl_device)
        return;
    if (cl_device->queue)
        cl.clFinish(cl_device->queue);
    if (cl_device->hand_over)
        cl.clFinish(cl_device->hand_over);
    opencl_programs_destroy(device);
    if (cl_device->hand_over)
        cl.clReleaseCommandQueue(cl_device->hand_over);
    if (cl_device->queue)
        cl.clReleaseCommandQueue(cl_device->queue);
    if (cl_device->context)
        cl.clReleaseContext(cl_device->context);
    pthread_cond_destroy(&cl_device->program_made);
    pthread_mutex_destroy(&cl_device->program_lock);
    pthread_mutex_destroy(&cl_device->lock);
    free(cl_device);
}

static int buffer_create(struct device *device, const void *wrapped, struct device_buffer *buffer,
                         struct fault *fault)
{
    const struct opencl *cl_device = device->own;
    cl_int error;
    cl_mem_flags flags = wrapped ? CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR
                                 : CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
    buffer->handle =
        cl.clCreateBuffer(cl_device->context, flags, buffer->size, (void *)wrapped, &error);
    return buffer->handle ? 0 : cl_fault(fault, "clCreateBuffer", error, device->info->name);
}

static void buffer_destroy(struct device_buffer *buffer)
{
    cl.clReleaseMemObject(buffer->handle);
}

static int wait_for(cl_event event, const char *call, struct fault *fault)
{
    cl_int error = cl.clWaitForEvents(1, &event);
    cl.clReleaseEvent(event);
    return error == CL_SUCCESS ? 0 : cl_fault(fault, "clWaitForEvents", error, call);
}

/* Tries to map. If the driver refuses its very first map, buffer->mapped stays NULL. Here and
 * below, a driver that says success and gives no event has failed. */
static int try_to_map(struct device *device, cl_command_queue queue, struct device_buffer *buffer,
                      cl_map_flags how, size_t size, cl_event *done, struct fault *fault)
{
    struct opencl *own = device->own;
    char name[CL_ERROR_NAME_MAX];
    cl_int error;
    if (atomic_load(&device->copies))
        return 0;
    buffer->mapped =
        cl.clEnqueueMapBuffer(queue, buffer->handle, CL_FALSE, how, 0, size, 0, NULL, done, &error);
    if (error == CL_SUCCESS && buffer->mapped && *done) {
        atomic_store(&own->maps, true);
        return 0;
    }
    bool refused = error == CL_MAP_FAILURE || error == CL_INVALID_OPERATION;
    if (!refused || atomic_load(&own->maps))
        return cl_fault(fault, "clEnqueueMapBuffer", error, device->info->name);
    if (!atomic_exchange(&device->copies, true))
        log_warning("device %s does not map its memory (%s): pictures are copied there and back",
                    device->info->name, cl_error_name(error, name));
    return 0; /* the caller copies */
}

int opencl_to_host(struct device *device, cl_command_queue queue, struct device_buffer *buffer,
                   cl_map_flags how, size_t size, struct device_traffic *traffic, cl_event *done,
                   struct fault *fault)
{
    *done = NULL;
    buffer->mapped = NULL;
    int result = try_to_map(device, queue, buffer, how, size, done, fault);
    if (result != 0)
        return result;
    if (!buffer->mapped && !buffer->staging)
        /* the size is a multiple of the alignment */
        buffer->staging = aligned_alloc(4096, buffer->size);
    if (!buffer->mapped && !buffer->staging)
        return fault_set(fault, FAULT_MEMORY, "no memory for a copy");
    if (!buffer->mapped && how == CL_MAP_READ) {
        cl_int error = cl.clEnqueueReadBuffer(queue, buffer->handle, CL_FALSE, 0, size,
                                              buffer->staging, 0, NULL, done);
        if (error != CL_SUCCESS || !*done)
            return cl_fault(fault, "clEnqueueReadBuffer", error, device->info->name);
        traffic->bytes_copied += size;
    }
    if (!buffer->mapped)
        buffer->mapped = buffer->staging;
    buffer->mapped_size = size;
    traffic->crossings_out += how == CL_MAP_READ;
    return 0;
}

int opencl_to_device(struct device *device, cl_command_queue queue, struct device_buffer *buffer,
                     struct device_traffic *traffic, cl_event *done, struct fault *fault)
{
    const char *call = buffer->staging ? "clEnqueueWriteBuffer" : "clEnqueueUnmapMemObject";
    *done = NULL;
    cl_int error =
        buffer->staging
            ? cl.clEnqueueWriteBuffer(queue, buffer->handle, CL_FALSE, 0, buffer->mapped_size,
                                      buffer->staging, 0, NULL, done)
            : cl.clEnqueueUnmapMemObject(queue, buffer->handle, buffer->mapped, 0, NULL, done);
    if (error != CL_SUCCESS || !*done)
        return cl_fault(fault, call, error, device->info->name);
    buffer->mapped = NULL;
    traffic->crossings_in++;
    if (buffer->staging)
        traffic->bytes_copied += buffer->mapped_size;
    return 0;
}

/* Maps a new buffer for writing. Nothing is counted here: traffic is counted when the job's batch
 * unmaps the buffer. Waits for the map's event, because PoCL's blocking map waits for everything in
 * the queue. */
static int buffer_map(struct device *device, struct device_buffer *buffer, size_t size,
                      struct fault *fault)
{
    struct device_traffic uncounted = {0};
    cl_event done;
    int result = opencl_to_host(device, opencl_of(device)->hand_over, buffer,
                                CL_MAP_WRITE_INVALIDATE_REGION, size, &uncounted, &done, fault);
    return result == 0 && done ? wait_for(done, "clEnqueueMapBuffer", fault) : result;
}

static int buffer_unmap(struct device *device, struct device_buffer *buffer, struct fault *fault)
{
    struct device_traffic uncounted = {0};
    cl_event done;
    int result =
        opencl_to_device(device, opencl_of(device)->hand_over, buffer, &uncounted, &done, fault);
    return result ? result : wait_for(done, device->info->name, fault);
}

const struct device_backend device_opencl = {
    .list = opencl_list,
    .open = open_device,
    .close = close_device,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .buffer_map = buffer_map,
    .buffer_unmap = buffer_unmap,
    .program_get_as = opencl_program_get_as,
    .program_put = opencl_program_put,
    .program_kernel = opencl_program_kernel,
    .program_store = opencl_program_store,
    .batch_begin = opencl_batch_begin,
    .batch_unmap = opencl_batch_unmap,
    .batch_launch = opencl_batch_launch,
    .batch_map = opencl_batch_map,
    .batch_submit = opencl_batch_submit,
    .batch_wait = opencl_batch_wait,
    .batch_timings = opencl_batch_timings,
    .batch_traffic = opencl_batch_traffic,
    .batch_finish = opencl_batch_finish,
};
