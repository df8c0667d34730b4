#include "device/opencl/api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/process.h"

struct cl_api cl;

static char load_error[256];

static void load(void)
{
    process_prepare_drivers();
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(load_error, sizeof load_error,
                 "no OpenCL loader: %.120s (Debian: apt-get install ocl-icd-libopencl1 "
                 "pocl-opencl-icd)",
                 dlerror());
        return;
    }
#define X(name)                                                                                    \
    cl.name = (__typeof__(&name))dlsym(library, #name);                                            \
    if (!cl.name)                                                                                  \
        snprintf(load_error, sizeof load_error, "libOpenCL.so.1 lacks " #name);
    CL_FUNCTIONS(X)
#undef X
}

int cl_load(struct fault *fault)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return load_error[0] ? fault_set(fault, FAULT_NO_DEVICE, "%s", load_error) : 0;
}

const char *cl_error_name(cl_int error, char *buffer)
{
    static const struct {
        cl_int code;
        const char *name;
    } names[] = {
#define E(code) {code, #code}
        E(CL_SUCCESS),
        E(CL_DEVICE_NOT_FOUND),
        E(CL_DEVICE_NOT_AVAILABLE),
        E(CL_COMPILER_NOT_AVAILABLE),
        E(CL_MEM_OBJECT_ALLOCATION_FAILURE),
        E(CL_OUT_OF_RESOURCES),
        E(CL_OUT_OF_HOST_MEMORY),
        E(CL_PROFILING_INFO_NOT_AVAILABLE),
        E(CL_MEM_COPY_OVERLAP),
        E(CL_IMAGE_FORMAT_MISMATCH),
        E(CL_IMAGE_FORMAT_NOT_SUPPORTED),
        E(CL_BUILD_PROGRAM_FAILURE),
        E(CL_MAP_FAILURE),
        E(CL_MISALIGNED_SUB_BUFFER_OFFSET),
        E(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
        E(CL_COMPILE_PROGRAM_FAILURE),
        E(CL_LINKER_NOT_AVAILABLE),
        E(CL_LINK_PROGRAM_FAILURE),
        E(CL_DEVICE_PARTITION_FAILED),
        E(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
        E(CL_INVALID_VALUE),
        E(CL_INVALID_DEVICE_TYPE),
        E(CL_INVALID_PLATFORM),
        E(CL_INVALID_DEVICE),
        E(CL_INVALID_CONTEXT),
        E(CL_INVALID_QUEUE_PROPERTIES),
        E(CL_INVALID_COMMAND_QUEUE),
        E(CL_INVALID_HOST_PTR),
        E(CL_INVALID_MEM_OBJECT),
        E(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
        E(CL_INVALID_IMAGE_SIZE),
        E(CL_INVALID_SAMPLER),
        E(CL_INVALID_BINARY),
        E(CL_INVALID_BUILD_OPTIONS),
        E(CL_INVALID_PROGRAM),
        E(CL_INVALID_PROGRAM_EXECUTABLE),
        E(CL_INVALID_KERNEL_NAME),
        E(CL_INVALID_KERNEL_DEFINITION),
        E(CL_INVALID_KERNEL),
        E(CL_INVALID_ARG_INDEX),
        E(CL_INVALID_ARG_VALUE),
        E(CL_INVALID_ARG_SIZE),
        E(CL_INVALID_KERNEL_ARGS),
        E(CL_INVALID_WORK_DIMENSION),
        E(CL_INVALID_WORK_GROUP_SIZE),
        E(CL_INVALID_WORK_ITEM_SIZE),
        E(CL_INVALID_GLOBAL_OFFSET),
        E(CL_INVALID_EVENT_WAIT_LIST),
        E(CL_INVALID_EVENT),
        E(CL_INVALID_OPERATION),
        E(CL_INVALID_GL_OBJECT),
        E(CL_INVALID_BUFFER_SIZE),
        E(CL_INVALID_MIP_LEVEL),
        E(CL_INVALID_GLOBAL_WORK_SIZE),
        E(CL_INVALID_PROPERTY),
        E(CL_INVALID_IMAGE_DESCRIPTOR),
        E(CL_INVALID_COMPILER_OPTIONS),
        E(CL_INVALID_LINKER_OPTIONS),
        E(CL_INVALID_DEVICE_PARTITION_COUNT),
        {-1001, "CL_PLATFORM_NOT_FOUND_KHR"}, /* cl_khr_icd */
#undef E
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == error)
            return names[i].name;
    snprintf(buffer, CL_ERROR_NAME_MAX, "CL error %d", (int)error);
    return buffer;
}

int cl_fault(struct fault *fault, const char *call, cl_int error, const char *where)
{
    char buffer[CL_ERROR_NAME_MAX];
    return fault_set(fault, FAULT_DEVICE, where ? "%s: %s (%s)" : "%s: %s", call,
                     cl_error_name(error, buffer), where);
}
