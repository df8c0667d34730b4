/* An OpenCL layer (CL/cl_layer.h; loaded by the ICD loader through OPENCL_LAYERS) that makes the
 * n-th call of one function fail, any of those that sluice uses:
 *
 *     SLUICE_FAULT_CL=clEnqueueNDRangeKernel:2:-5     the second call returns CL_OUT_OF_RESOURCES
 *     SLUICE_FAULT_CL=clCreateBuffer:1+:-4            the first and every later one
 *     SLUICE_FAULT_CL=clFlush:50~:-5                  each with a chance of one in 50
 *
 * or several of these with commas between them. In place of an error's number: "delayMS", the call
 * takes so many milliseconds longer; "hang", it never returns; "lost", from then on all functions
 * fail, as when a device has gone; "garbage", what comes back is nonsense: success without a
 * handle, an event or anything done, an error that does not exist, 0xA5 in what was asked for.
 * What fails is told to the context's callback, too, as Oclgrind does it: its own pointer in the
 * place of the data, and NULL in the place of the program's pointer.
 *
 * With SLUICE_FAULT_CL_WAIT=FILE clBuildProgram waits as long as the file is there, and with
 * SLUICE_FAULT_CL_SLOW=SECONDS that long each time: a slow compiler. With SLUICE_FAULT_CL_GPU=1 all
 * devices say that they are GPUs, with SLUICE_FAULT_CL_BUFFER=BYTES that no buffer may be larger.
 * With SLUICE_FAULT_COUNT=FILE the number of calls of each function is written there at exit, so
 * that a test knows how many there are to fail. */
#include "layer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Functions that return an error, with their arguments … */
#define STATUS_FUNCTIONS(X)                                                                        \
    X(clSetKernelArg, (cl_kernel k, cl_uint i, size_t s, const void *v), (k, i, s, v))             \
    X(clFlush, (cl_command_queue q), (q))                                                          \
    X(clFinish, (cl_command_queue q), (q))                                                         \
    X(clWaitForEvents, (cl_uint n, const cl_event *e), (n, e))                                     \
    X(clBuildProgram,                                                                              \
      (cl_program p, cl_uint n, const cl_device_id *d, const char *o,                              \
       void(CL_CALLBACK * f)(cl_program, void *), void *u),                                        \
      (p, n, d, o, f, u))                                                                          \
    X(clReleaseContext, (cl_context c), (c))                                                       \
    X(clReleaseCommandQueue, (cl_command_queue q), (q))                                            \
    X(clReleaseMemObject, (cl_mem m), (m))                                                         \
    X(clReleaseProgram, (cl_program p), (p))                                                       \
    X(clReleaseKernel, (cl_kernel k), (k))                                                         \
    X(clReleaseEvent, (cl_event e), (e))

/* … of these, those that give an event … */
#define COMMAND_FUNCTIONS(X)                                                                       \
    X(clEnqueueNDRangeKernel,                                                                      \
      (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g,               \
       const size_t *l, cl_uint n, const cl_event *w, cl_event *e),                                \
      (q, k, d, o, g, l, n, w, e))                                                                 \
    X(clEnqueueUnmapMemObject,                                                                     \
      (cl_command_queue q, cl_mem m, void *p, cl_uint n, const cl_event *w, cl_event *e),          \
      (q, m, p, n, w, e))                                                                          \
    X(clEnqueueReadBuffer,                                                                         \
      (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, void *p, cl_uint n,            \
       const cl_event *w, cl_event *e),                                                            \
      (q, m, b, o, s, p, n, w, e))                                                                 \
    X(clEnqueueWriteBuffer,                                                                        \
      (cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s, const void *p, cl_uint n,      \
       const cl_event *w, cl_event *e),                                                            \
      (q, m, b, o, s, p, n, w, e))                                                                 \
    X(clEnqueueCopyBuffer,                                                                         \
      (cl_command_queue q, cl_mem m, cl_mem t, size_t o, size_t d, size_t s, cl_uint n,            \
       const cl_event *w, cl_event *e),                                                            \
      (q, m, t, o, d, s, n, w, e))

/* … that say how many things there are … */
#define LIST_FUNCTIONS(X)                                                                          \
    X(clGetPlatformIDs, (cl_uint n, cl_platform_id * ids, cl_uint * count), (n, ids, count))       \
    X(clGetDeviceIDs,                                                                              \
      (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id * ids, cl_uint * count),        \
      (p, t, n, ids, count))

/* … and that tell a property `i`. */
#define GETTER_FUNCTIONS(X)                                                                        \
    X(clGetPlatformInfo, (cl_platform_id p, cl_platform_info i, size_t s, void *v, size_t *r),     \
      (p, i, s, v, r))                                                                             \
    X(clGetDeviceInfo, (cl_device_id d, cl_device_info i, size_t s, void *v, size_t *r),           \
      (d, i, s, v, r))                                                                             \
    X(clGetProgramInfo, (cl_program p, cl_program_info i, size_t s, void *v, size_t *r),           \
      (p, i, s, v, r))                                                                             \
    X(clGetProgramBuildInfo,                                                                       \
      (cl_program p, cl_device_id d, cl_program_build_info i, size_t s, void *v, size_t *r),       \
      (p, d, i, s, v, r))                                                                          \
    X(clGetKernelWorkGroupInfo,                                                                    \
      (cl_kernel k, cl_device_id d, cl_kernel_work_group_info i, size_t s, void *v, size_t *r),    \
      (k, d, i, s, v, r))                                                                          \
    X(clGetEventInfo, (cl_event e, cl_event_info i, size_t s, void *v, size_t *r),                 \
      (e, i, s, v, r))                                                                             \
    X(clGetEventProfilingInfo, (cl_event e, cl_profiling_info i, size_t s, void *v, size_t *r),    \
      (e, i, s, v, r))

/* Those that return a handle, or a pointer, and the error through their last argument. */
#define HANDLE_FUNCTIONS(X)                                                                        \
    X(cl_context, clCreateContext,                                                                 \
      (const cl_context_properties *p, cl_uint n, const cl_device_id *d,                           \
       void(CL_CALLBACK * f)(const char *, const void *, size_t, void *), void *u, cl_int *error), \
      (p, n, d, f, u, error))                                                                      \
    X(cl_command_queue, clCreateCommandQueue,                                                      \
      (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int * error),               \
      (c, d, p, error))                                                                            \
    X(cl_mem, clCreateBuffer, (cl_context c, cl_mem_flags f, size_t s, void *h, cl_int *error),    \
      (c, f, s, h, error))                                                                         \
    X(cl_program, clCreateProgramWithSource,                                                       \
      (cl_context c, cl_uint n, const char **s, const size_t *l, cl_int *error),                   \
      (c, n, s, l, error))                                                                         \
    X(cl_program, clCreateProgramWithBinary,                                                       \
      (cl_context c, cl_uint n, const cl_device_id *d, const size_t *l, const unsigned char **b,   \
       cl_int *s, cl_int *error),                                                                  \
      (c, n, d, l, b, s, error))                                                                   \
    X(cl_kernel, clCreateKernel, (cl_program p, const char *n, cl_int *error), (p, n, error))      \
    X(void *, clEnqueueMapBuffer,                                                                  \
      (cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t o, size_t s, cl_uint n,     \
       const cl_event *w, cl_event *e, cl_int *error),                                             \
      (q, m, b, f, o, s, n, w, e, error))

#define ALL_WITH_STATUS(X)                                                                         \
    STATUS_FUNCTIONS(X) COMMAND_FUNCTIONS(X) LIST_FUNCTIONS(X) GETTER_FUNCTIONS(X)

enum function {
#define X(name, parameters, arguments) F_##name,
    ALL_WITH_STATUS(X)
#undef X
#define X(type, name, parameters, arguments) F_##name,
    HANDLE_FUNCTIONS(X)
#undef X
        FUNCTIONS
};

static const char *const names[FUNCTIONS] = {
#define X(name, parameters, arguments) #name,
    ALL_WITH_STATUS(X)
#undef X
#define X(type, name, parameters, arguments) #name,
        HANDLE_FUNCTIONS(X)
#undef X
};

#define FAULTS_MAX 4

static struct fault {
    int function; /* enum function */
    unsigned first;
    char mode; /* '+', '~', or '\0' */
    cl_int failure;
    unsigned delay; /* milliseconds */
    bool hangs;
    bool loses; /* the device goes with that call … */
} faults[FAULTS_MAX];
static unsigned n_faults;
static atomic_bool lost;
static atomic_uint counts[FUNCTIONS];
static void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *); /* the context's */

/* Errors that no driver gives: what they stand for is above. */
#define GARBAGE (-1000001)

static cl_int suffer(const struct fault *fault)
{
    while (fault->hangs)
        sleep(3600);
    if (fault->loses)
        lost = true;
    usleep(fault->delay * 1000);
    if (fault->failure != CL_SUCCESS && notify)
        notify(names[fault->function], fault, 0, NULL);
    return fault->failure;
}

/* The error that this call must give, or CL_SUCCESS, or GARBAGE. */
static cl_int due(enum function function)
{
    unsigned n = atomic_fetch_add(&counts[function], 1) + 1;
    const char *wait = function == F_clBuildProgram ? getenv("SLUICE_FAULT_CL_WAIT") : NULL;
    const char *slow = function == F_clBuildProgram ? getenv("SLUICE_FAULT_CL_SLOW") : NULL;
    while (wait && access(wait, F_OK) == 0)
        usleep(20000);
    if (slow)
        usleep((useconds_t)(atof(slow) * 1e6));
    if (lost)
        return CL_DEVICE_NOT_AVAILABLE;
    for (const struct fault *f = faults; f < faults + n_faults; f++)
        if ((int)function == f->function &&
            (f->mode == '~' ? (unsigned)random() % f->first == 0
                            : n == f->first || (n > f->first && f->mode)))
            return suffer(f);
    return CL_SUCCESS;
}

#define X(name, parameters, arguments)                                                             \
    static cl_int CL_API_CALL my_##name parameters                                                 \
    {                                                                                              \
        cl_int error = due(F_##name);                                                              \
        return error != CL_SUCCESS ? error : target->name arguments;                               \
    }
STATUS_FUNCTIONS(X)
#undef X

#define X(name, parameters, arguments)                                                             \
    static cl_int CL_API_CALL my_##name parameters                                                 \
    {                                                                                              \
        cl_int error = due(F_##name);                                                              \
        if (error == GARBAGE)                                                                      \
            return CL_SUCCESS;                                                                     \
        return error != CL_SUCCESS ? error : target->name arguments;                               \
    }
COMMAND_FUNCTIONS(X)
#undef X

#define X(name, parameters, arguments)                                                             \
    static cl_int CL_API_CALL my_##name parameters                                                 \
    {                                                                                              \
        cl_int error = due(F_##name);                                                              \
        if (error != CL_SUCCESS && error != GARBAGE)                                               \
            return error;                                                                          \
        if (error == GARBAGE && count)                                                             \
            *count = 0xA5A5A5A5;                                                                   \
        return error == GARBAGE ? CL_SUCCESS : target->name arguments;                             \
    }
LIST_FUNCTIONS(X)
#undef X

/* A program's binaries go to where `v` points to. */
#define X(name, parameters, arguments)                                                             \
    static cl_int CL_API_CALL my_##name parameters                                                 \
    {                                                                                              \
        cl_int error = due(F_##name);                                                              \
        if (error != CL_SUCCESS && error != GARBAGE)                                               \
            return error;                                                                          \
        if (error == GARBAGE && v &&                                                               \
            !(F_##name == F_clGetProgramInfo && i == CL_PROGRAM_BINARIES))                         \
            memset(v, 0xA5, s);                                                                    \
        if (error == GARBAGE && r)                                                                 \
            memset(r, 0xA5, sizeof *r);                                                            \
        return error == GARBAGE ? CL_SUCCESS : target->name arguments;                             \
    }
GETTER_FUNCTIONS(X)
#undef X

#define X(type, name, parameters, arguments)                                                       \
    static type CL_API_CALL my_##name parameters                                                   \
    {                                                                                              \
        cl_int why = due(F_##name);                                                                \
        if (why == CL_SUCCESS)                                                                     \
            return target->name arguments;                                                         \
        if (error)                                                                                 \
            *error = why == GARBAGE ? CL_SUCCESS : why;                                            \
        return NULL;                                                                               \
    }
HANDLE_FUNCTIONS(X)
#undef X

static cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info what, size_t size,
                                          void *value, size_t *size_ret)
{
    const char *largest = getenv("SLUICE_FAULT_CL_BUFFER");
    cl_int error = my_clGetDeviceInfo(device, what, size, value, size_ret);
    if (error == CL_SUCCESS && what == CL_DEVICE_TYPE && value && getenv("SLUICE_FAULT_CL_GPU"))
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    if (error == CL_SUCCESS && what == CL_DEVICE_MAX_MEM_ALLOC_SIZE && value && largest)
        *(cl_ulong *)value = strtoull(largest, NULL, 10);
    return error;
}

static cl_context CL_API_CALL create_context(
    const cl_context_properties *p, cl_uint n, const cl_device_id *d,
    void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *u, cl_int *error)
{
    cl_context context = my_clCreateContext(p, n, d, f, u, error);
    if (context)
        notify = f;
    return context;
}

static void write_counts(void)
{
    FILE *file = fopen(getenv("SLUICE_FAULT_COUNT"), "w");
    for (int i = 0; file && i < FUNCTIONS; i++)
        fprintf(file, "%s %u\n", names[i], atomic_load(&counts[i]));
    if (file)
        fclose(file);
}

/* FUNCTION:N[+|~]:WHAT */
static bool read_fault(const char *setting, struct fault *fault)
{
    char name[64], what[24], which[2] = "";
    if (sscanf(setting, "%63[^:]:%u:%23[^,]", name, &fault->first, what) != 3 &&
        sscanf(setting, "%63[^:]:%u%1[+~]:%23[^,]", name, &fault->first, which, what) != 4)
        return false;
    fault->mode = which[0];
    fault->loses = strcmp(what, "lost") == 0;
    fault->hangs = strcmp(what, "hang") == 0;
    if (sscanf(what, "delay%u", &fault->delay) != 1)
        fault->failure = fault->loses                   ? CL_DEVICE_NOT_AVAILABLE
                         : strcmp(what, "garbage") == 0 ? GARBAGE
                                                        : atoi(what);
    for (fault->function = 0; fault->function < FUNCTIONS; fault->function++)
        if (strcmp(name, names[fault->function]) == 0)
            return true;
    return false;
}

static void read_settings(void)
{
    const char *setting = getenv("SLUICE_FAULT_CL");
    if (getenv("SLUICE_FAULT_COUNT"))
        atexit(write_counts);
    srandom((unsigned)getpid());
    for (const char *at = setting; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (n_faults == FAULTS_MAX || !read_fault(at, &faults[n_faults++])) {
            fprintf(stderr, "SLUICE_FAULT_CL=%s: expected FUNCTION:N[+|~]:WHAT[,...]\n", setting);
            abort();
        }
    }
}

static void install(void)
{
#define X(name, parameters, arguments) layer.name = my_##name;
    ALL_WITH_STATUS(X)
#undef X
#define X(type, name, parameters, arguments) layer.name = my_##name;
    HANDLE_FUNCTIONS(X)
#undef X
    layer.clCreateContext = create_context;
    layer.clGetDeviceInfo = get_device_info;
    read_settings();
}
LAYER("sluice fault layer")
