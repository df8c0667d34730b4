/* dma-bufs as buffers, where the driver has an extension for that: cl_khr_external_memory_dma_buf
 * (with cl_khr_external_memory, whose objects are acquired before kernels use them and released
 * after), or Arm's cl_arm_import_memory, whose objects need neither. What a driver makes of an
 * import is found out by a probe (library/probe.c), not by the extension's name. */
#include "device/opencl/opencl.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef intptr_t import_property;
typedef cl_ulong buffer_property;

struct opencl_import {
    cl_mem(CL_API_CALL *import_arm)(cl_context, cl_mem_flags, const import_property *, void *,
                                    size_t, cl_int *);
    cl_mem(CL_API_CALL *create)(cl_context, const buffer_property *, cl_mem_flags, size_t, void *,
                                cl_int *);
    clEnqueueAcquireExternalMemObjectsKHR_fn acquire;
    clEnqueueReleaseExternalMemObjectsKHR_fn release;
};

/* A word of the device's extensions, which are joined by blanks. */
static bool has_extension(const char *extensions, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = extensions; (at = strstr(at, name)) != NULL; at += length)
        if ((at == extensions || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static char *read_extensions(cl_device_id id)
{
    size_t size = 0;
    cl.clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size);
    char *text = size < 1 << 20 ? calloc(1, size + 1) : NULL;
    if (text)
        cl.clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, text, NULL);
    return text;
}

/* Functions of extensions are the platform's own. */
static void find_functions(cl_platform_id platform, const char *extensions,
                           struct opencl_import *import)
{
    if (has_extension(extensions, "cl_arm_import_memory_dma_buf"))
        import->import_arm =
            (__typeof__(import->import_arm))cl.clGetExtensionFunctionAddressForPlatform(
                platform, "clImportMemoryARM");
    if (!has_extension(extensions, "cl_khr_external_memory_dma_buf"))
        return;
    import->create = (__typeof__(import->create))cl.clGetExtensionFunctionAddressForPlatform(
        platform, "clCreateBufferWithProperties");
    import->acquire = (__typeof__(import->acquire))cl.clGetExtensionFunctionAddressForPlatform(
        platform, "clEnqueueAcquireExternalMemObjectsKHR");
    import->release = (__typeof__(import->release))cl.clGetExtensionFunctionAddressForPlatform(
        platform, "clEnqueueReleaseExternalMemObjectsKHR");
    if (!import->create || !import->acquire || !import->release)
        import->create = NULL;
}

void opencl_import_init(struct opencl *own)
{
    cl_platform_id platform = NULL;
    struct opencl_import import = {0};
    char *extensions = read_extensions(own->id);
    cl.clGetDeviceInfo(own->id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    if (extensions && platform)
        find_functions(platform, extensions, &import);
    free(extensions);
    if (!import.import_arm && !import.create)
        return;
    own->import = malloc(sizeof import);
    if (own->import)
        *own->import = import;
}

/* Arm's function takes the address of a descriptor, which stays the caller's; Khronos' takes the
 * descriptor itself, which is the driver's from then on. */
int opencl_buffer_import(struct device *device, int fd, struct device_buffer *buffer,
                         struct fault *fault)
{
    const struct opencl *own = opencl_of(device);
    cl_int error = CL_SUCCESS;
    if (!own->import)
        return fault_set(fault, FAULT_DEVICE, "the driver has no extension for it");
    if (own->import->create) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        const buffer_property properties[] = {CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR,
                                              (buffer_property)copy, 0};
        buffer->handle = copy < 0 ? NULL
                                  : own->import->create(own->context, properties, CL_MEM_READ_WRITE,
                                                        buffer->size, NULL, &error);
        if (!buffer->handle && copy >= 0)
            close(copy);
        return buffer->handle
                   ? 0
                   : cl_fault(fault, "clCreateBufferWithProperties", error, device->info->name);
    }
    const import_property properties[] = {CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_DMA_BUF_ARM, 0};
    buffer->handle = own->import->import_arm(own->context, CL_MEM_READ_WRITE, properties, &fd,
                                             buffer->size, &error);
    return buffer->handle ? 0 : cl_fault(fault, "clImportMemoryARM", error, device->info->name);
}

int opencl_import_hand_over(struct device *device, struct device_buffer *buffer, bool to_device,
                            cl_event *done, struct fault *fault)
{
    const struct opencl *own = opencl_of(device);
    cl_mem handle = buffer->handle;
    *done = NULL;
    if (!own->import->create)
        return 0;
    cl_int error = to_device ? own->import->acquire(own->queue, 1, &handle, 0, NULL, done)
                             : own->import->release(own->queue, 1, &handle, 0, NULL, done);
    if (error == CL_SUCCESS && *done)
        return 0;
    return cl_fault(fault,
                    to_device ? "clEnqueueAcquireExternalMemObjectsKHR"
                              : "clEnqueueReleaseExternalMemObjectsKHR",
                    error, device->info->name);
}
