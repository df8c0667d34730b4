/* The list of OpenCL's devices, of all platforms, made once and valid as long as the process; and
 * contexts, queues and buffers. */
#include "device/opencl/opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "device/process.h"

static struct {
    struct device_info *infos;
    cl_device_id *ids;
    size_t count;
} devices;

static void query_text(cl_device_id id, cl_device_info what, char *text, size_t size)
{
    char whole[4096] = "";
    cl.clGetDeviceInfo(id, what, sizeof whole - 1, whole, NULL);
    snprintf(text, size, "%s", whole);
}

#define QUERY(id, what, type, target)                                                              \
    do {                                                                                           \
        type value = 0;                                                                            \
        cl.clGetDeviceInfo(id, what, sizeof value, &value, NULL);                                  \
        (target) = value;                                                                          \
    } while (0)

/* Whether NVIDIA's compiler has products of matrices of bytes for the device: from compute
 * capability 8 on. */
static bool multiplies_bytes(const struct device_info *info, cl_device_id id)
{
    cl_uint major = 0;
    if (strcmp(info->platform, "NVIDIA CUDA") == 0)
        QUERY(id, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, cl_uint, major);
    return major >= 8;
}

static void describe(struct device_info *info, cl_platform_id platform, cl_device_id id)
{
    cl_device_type type = 0;
    cl_device_fp_config fp32 = 0, fp64 = 0;
    cl_device_local_mem_type local = CL_GLOBAL;
    cl.clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    info->kind = type & CL_DEVICE_TYPE_GPU           ? DEVICE_GPU
                 : type & CL_DEVICE_TYPE_ACCELERATOR ? DEVICE_ACCELERATOR
                                                     : DEVICE_CPU;
    cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof info->platform - 1, info->platform,
                         NULL);
    query_text(id, CL_DEVICE_NAME, info->name, sizeof info->name);
    query_text(id, CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor);
    query_text(id, CL_DEVICE_VERSION, info->version, sizeof info->version);
    query_text(id, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
    QUERY(id, CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint, info->compute_units);
    QUERY(id, CL_DEVICE_MAX_CLOCK_FREQUENCY, cl_uint, info->clock_mhz);
    QUERY(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, size_t, info->work_group_size);
    QUERY(id, CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong, info->memory);
    QUERY(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, cl_ulong, info->max_allocation);
    QUERY(id, CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool, info->unified_memory);
    QUERY(id, CL_DEVICE_SINGLE_FP_CONFIG, cl_device_fp_config, fp32);
    QUERY(id, CL_DEVICE_DOUBLE_FP_CONFIG, cl_device_fp_config, fp64);
    QUERY(id, CL_DEVICE_LOCAL_MEM_TYPE, cl_device_local_mem_type, local);
    if (local == CL_LOCAL)
        QUERY(id, CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong, info->local_memory);
    info->has_fp64 = fp64 != 0;
    info->exact_divide = (fp32 & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    info->multiplies_bytes = multiplies_bytes(info, id);
    bool is_mali = strcasestr(info->name, "mali") || strcasestr(info->vendor, "arm") ||
                   strcasestr(info->platform, "arm platform");
    /* Kernels for CPUs use vectors of Clang's own, at which Mesa's translator to SPIR-V aborts. */
    bool is_cpu = info->kind == DEVICE_CPU && strcmp(info->platform, "rusticl") != 0;
    info->profile = is_cpu ? "cpu" : is_mali ? "mali" : "gpu";
}

static bool add_platform(cl_platform_id platform, unsigned platform_index)
{
    cl_uint count = 0;
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count) != CL_SUCCESS)
        return true; /* having no devices is not an error of a platform */
    struct device_info *infos = realloc(devices.infos, (devices.count + count + 1) * sizeof *infos);
    if (infos)
        devices.infos = infos;
    cl_device_id *ids = realloc(devices.ids, (devices.count + count + 1) * sizeof *ids);
    if (ids)
        devices.ids = ids;
    if (!infos || !ids)
        return false;
    const cl_device_id *found = ids + devices.count;
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids + devices.count, NULL) !=
        CL_SUCCESS)
        return true;
    for (cl_uint i = 0; i < count; i++) {
        struct device_info *info = &infos[devices.count];
        *info = (struct device_info){.backend = &device_opencl,
                                     .platform_index = (int)platform_index,
                                     .device_index = (int)i};
        ids[devices.count] = found[i]; /* some before it may have been left out */
        describe(info, platform, found[i]);
        if (info->max_allocation > 0 && info->work_group_size > 0)
            devices.count++;
        else /* pictures would be blamed for having no room on it */
            log_warning("device '%s' of platform '%s' does not tell its limits and is left out",
                        info->name, info->platform);
    }
    return true;
}

static int list(struct device_info **list, size_t *n, struct fault *fault)
{
    cl_platform_id platforms[32] = {NULL};
    cl_uint count = 0;
    int result = cl_load(fault);
    if (result != 0)
        return result;
    const char *directory = device_cache_directory();
    if (directory)
        process_keep_kernels(directory);
    cl_int error = cl.clGetPlatformIDs(32, platforms, &count);
    if (error != CL_SUCCESS || count == 0)
        return fault_set(
            fault, FAULT_NO_DEVICE,
            "the OpenCL loader found no platform: no driver is installed, or its .icd file "
            "in /etc/OpenCL/vendors is missing (Debian: apt-get install pocl-opencl-icd)");
    for (cl_uint i = 0; i < count && i < 32; i++)
        if (!add_platform(platforms[i], i))
            result = fault_set(fault, FAULT_MEMORY, "no memory for the list of devices");
    *list = devices.infos;
    *n = devices.count;
    return result;
}

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
    cl_device->id = devices.ids[device->info - devices.infos];
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
    opencl_import_init(cl_device);
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
    free(cl_device->import);
    free(cl_device);
}

static int buffer_create(struct device *device, const void *wrapped, struct device_buffer *buffer,
                         struct fault *fault)
{
    const struct opencl *cl_device = device->own;
    cl_int error;
    cl_mem_flags flags = (buffer->is_written ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY) |
                         (wrapped ? CL_MEM_USE_HOST_PTR : CL_MEM_ALLOC_HOST_PTR);
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
    if (!buffer->mapped && how & CL_MAP_READ) {
        cl_int error = cl.clEnqueueReadBuffer(queue, buffer->handle, CL_FALSE, 0, size,
                                              buffer->staging, 0, NULL, done);
        if (error != CL_SUCCESS || !*done)
            return cl_fault(fault, "clEnqueueReadBuffer", error, device->info->name);
        traffic->bytes_copied += size;
    }
    if (!buffer->mapped)
        buffer->mapped = buffer->staging;
    buffer->mapped_size = size;
    traffic->crossings_out += (how & CL_MAP_READ) != 0;
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
    .list = list,
    .open = open_device,
    .close = close_device,
    .buffer_create = buffer_create,
    .buffer_import = opencl_buffer_import,
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
    .batch_copy = opencl_batch_copy,
    .batch_submit = opencl_batch_submit,
    .batch_wait = opencl_batch_wait,
    .batch_timings = opencl_batch_timings,
    .batch_finish = opencl_batch_finish,
};
