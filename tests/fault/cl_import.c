/* An OpenCL layer (CL/cl_layer.h) that plays a driver which imports dma-bufs, by PoCL, which then
 * says that it is a GPU; preloaded, too, it plays /dev/dma_heap/system, whose dma-bufs are memory
 * files. IMPORT_PLAYS says how the driver is:
 *
 *     accepts   a buffer is the dma-buf's memory
 *     refuses   there is none
 *     copies    a buffer is a copy of what is there at the import
 *     stale     the first dma-buf that is imported keeps what it has then, however often it is
 *               imported
 *
 * and IMPORT_BY whether it has Arm's extension ("arm") or Khronos' ("khr"). */
#undef _FILE_OFFSET_BITS /* `open` and `open64` are two functions here */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layer.h"

LAYER("cl_import")

/* ---- the heap ---- */

#define HEAP "/dev/dma_heap/system"

atomic_uint
    cl_import_allocations; /* dma-bufs made so far: the test looks whether a probe was made */
static atomic_int heap_fd = -1;

static int open_as(const char *name, const char *path, int flags, mode_t mode)
{
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
    if (strcmp(path, HEAP) != 0)
        return next(path, flags, mode);
    int fd = memfd_create("heap", MFD_CLOEXEC);
    heap_fd = fd;
    return fd;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;                    \
        va_end(args);                                                                              \
        return open_as(#name, path, flags, mode);                                                  \
    }
OPEN(open)
OPEN(open64)

int ioctl(int fd, unsigned long request, ...)
{
    int (*next)(int, unsigned long, ...) =
        (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    va_list args;
    va_start(args, request);
    void *argument = va_arg(args, void *);
    va_end(args);
    if (request == DMA_BUF_IOCTL_SYNC)
        return 0;
    if (request != DMA_HEAP_IOCTL_ALLOC || fd != heap_fd)
        return next(fd, request, argument);
    struct dma_heap_allocation_data *wanted = argument;
    int made = memfd_create("dma-buf", MFD_CLOEXEC);
    if (made < 0 || ftruncate(made, (off_t)wanted->len) != 0)
        return -1;
    wanted->fd = (uint32_t)made;
    cl_import_allocations++;
    return 0;
}

/* ---- the driver ---- */

static bool plays(const char *what)
{
    const char *how = getenv("IMPORT_PLAYS");
    return strcmp(how ? how : "accepts", what) == 0;
}

static bool is_khr(void)
{
    const char *by = getenv("IMPORT_BY");
    return by && strcmp(by, "khr") == 0;
}

/* What the first dma-buf held when it was imported first. */
static void *kept;
static ino_t kept_of;

static cl_mem import(cl_context context, int fd, size_t size, cl_int *error)
{
    struct stat status;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (plays("refuses") || memory == MAP_FAILED || fstat(fd, &status) != 0) {
        *error = CL_INVALID_OPERATION;
        return NULL;
    }
    if (plays("copies"))
        return target->clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size,
                                      memory, error);
    if (plays("stale") && !kept) {
        kept = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
        memcpy(kept, memory, size);
        kept_of = status.st_ino;
    }
    if (plays("stale") && status.st_ino == kept_of)
        memory = kept;
    return target->clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size, memory,
                                  error);
}

static cl_mem CL_API_CALL import_arm(cl_context context, cl_mem_flags flags,
                                     const intptr_t *properties, void *memory, size_t size,
                                     cl_int *error)
{
    if (properties[0] != CL_IMPORT_TYPE_ARM || properties[1] != CL_IMPORT_TYPE_DMA_BUF_ARM) {
        *error = CL_INVALID_PROPERTY;
        return NULL;
    }
    return import(context, *(int *)memory, size, error);
}

static cl_mem CL_API_CALL create_khr(cl_context context, const cl_ulong *properties,
                                     cl_mem_flags flags, size_t size, void *host, cl_int *error)
{
    if (properties[0] != CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR) {
        *error = CL_INVALID_PROPERTY;
        return NULL;
    }
    cl_mem made = import(context, (int)properties[1], size, error);
    if (made)
        close((int)properties[1]); /* it is the driver's from here on */
    return made;
}

static cl_int CL_API_CALL mark(cl_command_queue queue, cl_uint n, const cl_mem *objects,
                               cl_uint n_events, const cl_event *events, cl_event *event)
{
    return target->clEnqueueMarkerWithWaitList(queue, n_events, events, event);
}

static void *CL_API_CALL find(cl_platform_id platform, const char *name)
{
    if (!is_khr() && strcmp(name, "clImportMemoryARM") == 0)
        return (void *)import_arm;
    if (is_khr() && strcmp(name, "clCreateBufferWithProperties") == 0)
        return (void *)create_khr;
    if (is_khr() && (strcmp(name, "clEnqueueAcquireExternalMemObjectsKHR") == 0 ||
                     strcmp(name, "clEnqueueReleaseExternalMemObjectsKHR") == 0))
        return (void *)mark;
    return target->clGetExtensionFunctionAddressForPlatform(platform, name);
}

static cl_int CL_API_CALL tell(cl_device_id device, cl_device_info what, size_t size, void *value,
                               size_t *size_ret)
{
    static const char arm[] = "cl_arm_import_memory cl_arm_import_memory_dma_buf";
    static const char khr[] = "cl_khr_external_memory cl_khr_external_memory_dma_buf";
    if (what == CL_DEVICE_TYPE && value)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    if (what == CL_DEVICE_TYPE)
        return CL_SUCCESS;
    if (what != CL_DEVICE_EXTENSIONS)
        return target->clGetDeviceInfo(device, what, size, value, size_ret);
    const char *text = is_khr() ? khr : arm;
    if (value && size > strlen(text))
        strcpy(value, text);
    if (size_ret)
        *size_ret = strlen(text) + 1;
    return CL_SUCCESS;
}

static void install(void)
{
    layer.clGetDeviceInfo = tell;
    layer.clGetExtensionFunctionAddressForPlatform = find;
}
