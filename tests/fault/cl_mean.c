/* An OpenCL layer (layer.h) that makes any driver a Mali as mean as the meanest: whatever some
 * driver for boards does, or OpenCL 1.2 allows, this one does.
 *
 *   - A map gives a fresh address, one byte behind a multiple of 64. It holds garbage where the
 *     program says that it writes all of it. From the unmap on, nothing can be read or written
 * there.
 *   - A new buffer holds garbage. A kernel that gets a buffer which is mapped is refused.
 *   - The device is a GPU without fp64, images, memory that the host shares, or local memory that
 * is faster. Work-groups have 64 work-items, of kernels with many arguments 32 or 16.
 *   - OpenCL 1.2 and no more. A program with a pragma that is not in the standard, with _Pragma,
 * with double, or with a builtin of Clang's that it did not ask for, does not compile; and the
 * compiler does not call itself Clang.
 *   - Banners are printed on stdout.
 *
 * and by the environment:
 *
 *     SLUICE_MEAN_LOSE=N      the device is lost at the process's Nth launch, or with N-M at one
 * from the Nth to the Mth, another one in each process SLUICE_MEAN_KILL=MS     it is lost when a
 * kernel has run for longer SLUICE_MEAN_UPDATED=1   no binary of a program is taken: the driver is
 * another one today
 *
 * A device that is lost stays so for this process: its commands fail, and no buffer, program or
 * kernel can be made. */
#include "layer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define GROUP_MAX   64
#define GARBAGE     0xE7
#define OFF_BY      1
#define KERNELS_MAX 4096
#define ARGS_MAX    64
#define BUFFERS_MAX 4096
#define RETIRED_MAX 512
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* ---- a device that is lost ---- */

static atomic_bool lost;
static atomic_uint launches, n_watched; /* kernels so far; those whose time is not known yet */
static unsigned lose_at, kill_ms;

static cl_int lose(const char *why)
{
    if (!atomic_exchange(&lost, true))
        fprintf(stderr, "mean driver: the device is lost: %s\n", why);
    return CL_OUT_OF_RESOURCES;
}

/* Fills in *error, where there is one, and tells whether the call is to fail. */
static bool is_lost(cl_int *error)
{
    if (error && atomic_load(&lost))
        *error = CL_OUT_OF_RESOURCES;
    return atomic_load(&lost);
}

static void CL_CALLBACK ran(cl_event event, cl_int status, void *unused)
{
    cl_ulong start = 0, end = 0;
    (void)status;
    (void)unused;
    target->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    target->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    if (end > start && end - start > kill_ms * UINT64_C(1000000))
        lose("a kernel ran for too long");
    target->clReleaseEvent(event);
    atomic_fetch_sub(&n_watched, 1);
}

/* ---- what the host sees of a buffer ---- */

struct map {
    cl_mem buffer;
    cl_map_flags flags;
    size_t offset, size, room;
    char *base; /* of the pages; the host has what begins OFF_BY bytes behind */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map maps[BUFFERS_MAX]; /* one with room 0 is free */
static struct {
    char *base;
    size_t room;
} retired[RETIRED_MAX];
static unsigned n_retired;

static struct map *find_map(cl_mem buffer, const void *at)
{
    for (size_t i = 0; i < COUNT(maps); i++)
        if (maps[i].room > 0 && (buffer ? maps[i].buffer == buffer : maps[i].base + OFF_BY == at))
            return &maps[i];
    return NULL;
}

static char *open_pages(size_t size, size_t *room)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *room = (size + OFF_BY + page - 1) / page * page;
    char *base = mmap(NULL, *room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    memset(base, GARBAGE, *room);
    return base;
}

/* The pages are no memory any more; for a while nobody else gets these addresses. */
static void retire_pages(char *base, size_t room)
{
    mmap(base, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    unsigned at = n_retired++ % RETIRED_MAX;
    if (retired[at].base)
        munmap(retired[at].base, retired[at].room);
    retired[at].base = base;
    retired[at].room = room;
}

static void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                    cl_map_flags flags, size_t offset, size_t size, cl_uint n,
                                    const cl_event *after, cl_event *done, cl_int *error)
{
    struct map map = {.buffer = buffer, .flags = flags, .offset = offset, .size = size};
    cl_event own;
    cl_int result;
    if (is_lost(error))
        return NULL;
    map.base = open_pages(size, &map.room);
    char *at = map.base + OFF_BY;
    if (!map.base)
        result = CL_MAP_FAILURE;
    else if (flags & CL_MAP_WRITE_INVALIDATE_REGION)
        result = target->clEnqueueMarkerWithWaitList(queue, n, after, &own);
    else
        result =
            target->clEnqueueReadBuffer(queue, buffer, CL_FALSE, offset, size, at, n, after, &own);
    if (result == CL_SUCCESS && blocking)
        result = target->clWaitForEvents(1, &own);
    if (error)
        *error = result;
    if (result != CL_SUCCESS)
        return NULL;
    if (done)
        *done = own;
    else
        target->clReleaseEvent(own);
    pthread_mutex_lock(&lock);
    struct map *slot = maps;
    while (slot->room > 0)
        if (++slot == maps + COUNT(maps))
            abort();
    *slot = map;
    pthread_mutex_unlock(&lock);
    return at;
}

static void CL_CALLBACK written(cl_event event, cl_int status, void *copy)
{
    (void)status;
    free(copy);
    target->clReleaseEvent(event);
}

/* What the host has written is on its way in memory of ours before its own is gone. */
static cl_int CL_API_CALL unmap_buffer(cl_command_queue queue, cl_mem buffer, void *at, cl_uint n,
                                       const cl_event *after, cl_event *done)
{
    cl_event own;
    cl_int result;
    void *copy = NULL;
    pthread_mutex_lock(&lock);
    struct map *slot = find_map(NULL, at);
    struct map map = slot ? *slot : (struct map){0};
    if (slot)
        slot->room = 0;
    pthread_mutex_unlock(&lock);
    if (map.buffer != buffer)
        return CL_INVALID_VALUE;
    bool writes = map.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION);
    if (writes && (copy = malloc(map.size)))
        memcpy(copy, at, map.size);
    pthread_mutex_lock(&lock);
    retire_pages(map.base, map.room);
    pthread_mutex_unlock(&lock);
    if (is_lost(NULL) || (writes && !copy)) {
        free(copy);
        return CL_OUT_OF_RESOURCES;
    }
    result = writes ? target->clEnqueueWriteBuffer(queue, buffer, CL_FALSE, map.offset, map.size,
                                                   copy, n, after, &own)
                    : target->clEnqueueMarkerWithWaitList(queue, n, after, &own);
    if (result != CL_SUCCESS) {
        free(copy);
        return result;
    }
    if (done) {
        target->clRetainEvent(own);
        *done = own;
    }
    return target->clSetEventCallback(own, CL_COMPLETE, written, copy);
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size,
                                        void *hosts, cl_int *error)
{
    if (is_lost(error))
        return NULL;
    if (hosts) { /* pages of the host's that it goes on using: no driver for boards makes sense of
                    it */
        if (error)
            *error = CL_INVALID_HOST_PTR;
        return NULL;
    }
    void *garbage = malloc(size);
    if (garbage)
        memset(garbage, GARBAGE, size);
    cl_mem made = target->clCreateBuffer(context, flags | (garbage ? CL_MEM_COPY_HOST_PTR : 0),
                                         size, garbage, error);
    free(garbage);
    return made;
}

/* ---- kernels ---- */

static struct kernel {
    cl_kernel handle;
    size_t group_max;
    cl_mem buffers[ARGS_MAX];
} kernels[KERNELS_MAX];

/* Of this handle, or a free one. The lock is held. */
static struct kernel *find_kernel(cl_kernel handle)
{
    struct kernel *free_one = NULL;
    for (size_t i = 0; i < KERNELS_MAX; i++) {
        if (kernels[i].handle == handle)
            return &kernels[i];
        if (!free_one && !kernels[i].handle)
            free_one = &kernels[i];
    }
    if (!free_one)
        abort();
    return free_one;
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *error)
{
    cl_kernel made = is_lost(error) ? NULL : target->clCreateKernel(program, name, error);
    cl_uint args = 0;
    if (!made)
        return NULL;
    target->clGetKernelInfo(made, CL_KERNEL_NUM_ARGS, sizeof args, &args, NULL);
    pthread_mutex_lock(&lock);
    *find_kernel(made) = (struct kernel){.handle = made,
                                         .group_max = args > 20   ? 16
                                                      : args > 12 ? 32
                                                                  : GROUP_MAX};
    pthread_mutex_unlock(&lock);
    return made;
}

static cl_int CL_API_CALL release_kernel(cl_kernel kernel)
{
    pthread_mutex_lock(&lock);
    find_kernel(kernel)->handle = NULL; /* we never retain one */
    pthread_mutex_unlock(&lock);
    return target->clReleaseKernel(kernel);
}

static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size,
                                       const void *value)
{
    cl_mem buffer = NULL;
    if (index >= ARGS_MAX)
        abort();
    if (size == sizeof buffer && value)
        memcpy(&buffer, value, sizeof buffer); /* or a number, which is no buffer's handle */
    pthread_mutex_lock(&lock);
    find_kernel(kernel)->buffers[index] = buffer;
    pthread_mutex_unlock(&lock);
    return target->clSetKernelArg(kernel, index, size, value);
}

static cl_int CL_API_CALL get_group_info(cl_kernel kernel, cl_device_id device,
                                         cl_kernel_work_group_info what, size_t size, void *value,
                                         size_t *size_ret)
{
    cl_int result = target->clGetKernelWorkGroupInfo(kernel, device, what, size, value, size_ret);
    if (what != CL_KERNEL_WORK_GROUP_SIZE || result != CL_SUCCESS || !value)
        return result;
    pthread_mutex_lock(&lock);
    size_t most = find_kernel(kernel)->group_max;
    pthread_mutex_unlock(&lock);
    memcpy(value, &most, sizeof most);
    return result;
}

/* CL_SUCCESS, or why this kernel cannot be launched so. */
static cl_int judge(cl_kernel handle, cl_uint dimensions, const size_t *global, const size_t *local)
{
    cl_int result = CL_SUCCESS;
    size_t items = 1;
    pthread_mutex_lock(&lock);
    const struct kernel *kernel = find_kernel(handle);
    for (cl_uint i = 0; i < dimensions; i++) {
        if (local && global[i] % local[i] != 0)
            result = CL_INVALID_WORK_GROUP_SIZE; /* before OpenCL 2.0 */
        items *= local ? local[i] : 1;
    }
    if (items > kernel->group_max)
        result = CL_INVALID_WORK_GROUP_SIZE;
    for (int i = 0; i < ARGS_MAX; i++)
        if (kernel->buffers[i] && find_map(kernel->buffers[i], NULL))
            result = CL_INVALID_OPERATION;
    pthread_mutex_unlock(&lock);
    return result;
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                 const size_t *offset, const size_t *global, const size_t *local,
                                 cl_uint n, const cl_event *after, cl_event *done)
{
    cl_event own;
    cl_int result = judge(kernel, dimensions, global, local);
    if (result == CL_SUCCESS && atomic_fetch_add(&launches, 1) + 1 == lose_at)
        lose("as it was told");
    if (is_lost(&result) || result != CL_SUCCESS)
        return result;
    result = target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, n,
                                            after, &own);
    if (result != CL_SUCCESS)
        return result;
    if (done) {
        target->clRetainEvent(own);
        *done = own;
    }
    if (kill_ms == 0)
        return target->clReleaseEvent(own);
    atomic_fetch_add(&n_watched, 1);
    return target->clSetEventCallback(own, CL_COMPLETE, ran, NULL);
}

/* ---- programs ---- */

/* A #pragma of another compiler. */
static bool has_strange_pragma(const char *source)
{
    for (const char *at = source; (at = strstr(at, "#pragma ")); at++)
        if (strncmp(at, "#pragma OPENCL ", 15) != 0)
            return true;
    return false;
}

static cl_program CL_API_CALL create_program(cl_context context, cl_uint n, const char **sources,
                                             const size_t *lengths, cl_int *error)
{
    static const char refused[] = "#error this compiler does not know that pragma\n";
    static const char poor[] = "#define _Pragma(text) this_compiler_has_no_such_operator\n"
                               "#define double this_device_has_no_double\n"
                               "#undef __has_builtin\n"
                               "#undef __clang__\n"
                               "#line 1\n";
    if (is_lost(error))
        return NULL;
    if (n != 1 || lengths)
        abort(); /* sluice hands over one text that ends with NUL */
    const char *texts[] = {has_strange_pragma(sources[0]) ? refused : poor, sources[0]};
    return target->clCreateProgramWithSource(context, 2, texts, NULL, error);
}

static cl_program CL_API_CALL create_from_binary(cl_context context, cl_uint n,
                                                 const cl_device_id *devices, const size_t *lengths,
                                                 const unsigned char **binaries, cl_int *status,
                                                 cl_int *error)
{
    if (is_lost(error))
        return NULL;
    if (!getenv("SLUICE_MEAN_UPDATED"))
        return target->clCreateProgramWithBinary(context, n, devices, lengths, binaries, status,
                                                 error);
    if (error)
        *error = CL_INVALID_BINARY;
    return NULL;
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint n, const cl_device_id *devices,
                                        const char *options,
                                        void(CL_CALLBACK *done)(cl_program, void *), void *data)
{
    printf("mean driver: arm_release_ver of this compiler is 'r18p0-01rel0'\n");
    fflush(stdout);
    return is_lost(NULL) ? CL_OUT_OF_RESOURCES
                         : target->clBuildProgram(program, n, devices, options, done, data);
}

/* ---- the device ---- */

#define TEXT(text)        text, sizeof text
#define NUMBER(type, ...) &(const type){__VA_ARGS__}, sizeof(type)

static cl_int answer(const void *from, size_t length, size_t size, void *value, size_t *size_ret)
{
    if (value && size < length)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, length);
    if (size_ret)
        *size_ret = length;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info what, size_t size,
                                          void *value, size_t *size_ret)
{
    static const size_t sides[3] = {GROUP_MAX, GROUP_MAX, GROUP_MAX};
    const struct {
        cl_device_info what;
        const void *value;
        size_t size;
    } answers[] = {
        {CL_DEVICE_TYPE, NUMBER(cl_device_type, CL_DEVICE_TYPE_GPU)},
        {CL_DEVICE_NAME, TEXT("Mali-MEAN r0p0")},
        {CL_DEVICE_VENDOR, TEXT("ARM")},
        {CL_DEVICE_PROFILE, TEXT("FULL_PROFILE")},
        {CL_DEVICE_VERSION, TEXT("OpenCL 1.2 v1.r18p0-01rel0")},
        {CL_DEVICE_OPENCL_C_VERSION, TEXT("OpenCL C 1.2 v1.r18p0-01rel0")},
        {CL_DRIVER_VERSION, TEXT("1.2")},
        {CL_DEVICE_EXTENSIONS, TEXT("")},
        {CL_DEVICE_DOUBLE_FP_CONFIG, NUMBER(cl_device_fp_config, 0)},
        {CL_DEVICE_SINGLE_FP_CONFIG,
         NUMBER(cl_device_fp_config, CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN)},
        {CL_DEVICE_IMAGE_SUPPORT, NUMBER(cl_bool, CL_FALSE)},
        {CL_DEVICE_HOST_UNIFIED_MEMORY, NUMBER(cl_bool, CL_FALSE)},
        {CL_DEVICE_LOCAL_MEM_TYPE, NUMBER(cl_device_local_mem_type, CL_GLOBAL)},
        {CL_DEVICE_MAX_WORK_GROUP_SIZE, NUMBER(size_t, GROUP_MAX)},
        {CL_DEVICE_MAX_WORK_ITEM_SIZES, sides, sizeof sides},
        {CL_DEVICE_MAX_CLOCK_FREQUENCY, NUMBER(cl_uint, 800)},
    };
    for (size_t i = 0; i < COUNT(answers); i++)
        if (answers[i].what == what)
            return answer(answers[i].value, answers[i].size, size, value, size_ret);
    return target->clGetDeviceInfo(device, what, size, value, size_ret);
}

static cl_int CL_API_CALL get_platform_info(cl_platform_id platform, cl_platform_info what,
                                            size_t size, void *value, size_t *size_ret)
{
    if (what == CL_PLATFORM_NAME)
        return answer(TEXT("ARM Platform"), size, value, size_ret);
    if (what == CL_PLATFORM_VERSION)
        return answer(TEXT("OpenCL 1.2 v1.r18p0-01rel0"), size, value, size_ret);
    return target->clGetPlatformInfo(platform, what, size, value, size_ret);
}

/* What was enqueued ends, so that memory may go; but with an error. */
static cl_int CL_API_CALL wait_for(cl_uint n, const cl_event *events)
{
    cl_int result = target->clWaitForEvents(n, events);
    while (atomic_load(&n_watched) > 0)
        usleep(500);
    return is_lost(NULL) ? CL_OUT_OF_RESOURCES : result;
}

static void install(void)
{
    unsigned lose_last = 0;
    if (sscanf(getenv("SLUICE_MEAN_LOSE") ?: "", "%u-%u", &lose_at, &lose_last) == 2)
        lose_at += (unsigned)getpid() * 2654435761u % (lose_last - lose_at + 1);
    kill_ms = (unsigned)atoi(getenv("SLUICE_MEAN_KILL") ?: "0");
    printf("mean driver: arm_release_ver of this libmali is 'r18p0-01rel0'\n");
    fflush(stdout);
    layer.clGetPlatformInfo = get_platform_info;
    layer.clGetDeviceInfo = get_device_info;
    layer.clCreateBuffer = create_buffer;
    layer.clEnqueueMapBuffer = map_buffer;
    layer.clEnqueueUnmapMemObject = unmap_buffer;
    layer.clCreateProgramWithSource = create_program;
    layer.clCreateProgramWithBinary = create_from_binary;
    layer.clBuildProgram = build_program;
    layer.clCreateKernel = create_kernel;
    layer.clReleaseKernel = release_kernel;
    layer.clSetKernelArg = set_argument;
    layer.clGetKernelWorkGroupInfo = get_group_info;
    layer.clEnqueueNDRangeKernel = launch;
    layer.clWaitForEvents = wait_for;
}
LAYER("sluice layer of a mean driver")
