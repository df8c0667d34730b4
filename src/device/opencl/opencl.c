/* Contexts, queues and buffers. */
#include "device/opencl/opencl.h"

#include <stdlib.h>

#include "base/log.h"

static void CL_CALLBACK report(const char *text, const void *data, size_t size, void *device)
{
    (void)data;
    (void)size;
    log_warning("device %s: %s", ((struct device *)device)->info->name, text);
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

    const char *call = "clCreateContext";
    cl_device->context = cl.clCreateContext(NULL, 1, &cl_device->id, report, device, &error);
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
    pthread_mutex_destroy(&cl_device->program_lock);
    pthread_mutex_destroy(&cl_device->lock);
    free(cl_device);
}

static int buffer_create(struct device *device, const void *hosts, struct device_buffer *buffer,
                         struct fault *fault)
{
    const struct opencl *cl_device = device->own;
    cl_int error;
    cl_mem_flags flags =
        hosts ? CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR : CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
    buffer->handle =
        cl.clCreateBuffer(cl_device->context, flags, buffer->size, (void *)hosts, &error);
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

/* Waiting for the map's own event, not in a blocking call: PoCL's blocking map waits for all that
 * is queued. */
static int buffer_map(struct device *device, struct device_buffer *buffer, size_t size,
                      struct fault *fault)
{
    const struct opencl *cl_device = device->own;
    cl_int error;
    cl_event done;
    buffer->mapped =
        cl.clEnqueueMapBuffer(cl_device->hand_over, buffer->handle, CL_FALSE,
                              CL_MAP_WRITE_INVALIDATE_REGION, 0, size, 0, NULL, &done, &error);
    if (error != CL_SUCCESS)
        return cl_fault(fault, "clEnqueueMapBuffer", error, device->info->name);
    return wait_for(done, "clEnqueueMapBuffer", fault);
}

static int buffer_unmap(struct device *device, struct device_buffer *buffer, struct fault *fault)
{
    const struct opencl *cl_device = device->own;
    cl_event done;
    cl_int error = cl.clEnqueueUnmapMemObject(cl_device->hand_over, buffer->handle, buffer->mapped,
                                              0, NULL, &done);
    if (error != CL_SUCCESS)
        return cl_fault(fault, "clEnqueueUnmapMemObject", error, device->info->name);
    buffer->mapped = NULL;
    return wait_for(done, "clEnqueueUnmapMemObject", fault);
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
    .batch_finish = opencl_batch_finish,
};
