/* The list of OpenCL's devices, of all platforms. Made once; valid as long as the process. */
#include "device/opencl/opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"

static struct {
    struct device_info *infos;
    cl_device_id *ids;
    size_t count;
} devices;

cl_device_id opencl_id(const struct device_info *info)
{
    return devices.ids[info - devices.infos];
}

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

static const char *profile_class(const struct device_info *info)
{
    /* Kernels for CPUs use vectors of Clang's own, at which Mesa's translator to SPIR-V aborts. */
    if (info->kind == DEVICE_CPU && strcmp(info->platform, "rusticl") != 0)
        return "cpu";
    bool mali = strcasestr(info->name, "mali") || strcasestr(info->vendor, "arm") ||
                strcasestr(info->platform, "arm platform");
    return mali ? "mali" : "gpu";
}

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
    info->profile = profile_class(info);
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

/* PoCL keeps compiled kernels in our cache directory; its default is a predictable path in /tmp. */
static void place_pocl_cache(void)
{
    const char *directory = device_cache_directory();
    char path[4096];
    if (!directory || getenv("POCL_CACHE_DIR"))
        return;
    snprintf(path, sizeof path, "%s/pocl", directory);
    setenv("POCL_CACHE_DIR", path, 0);
}

int opencl_list(struct device_info **list, size_t *n, struct fault *fault)
{
    cl_platform_id platforms[32] = {NULL};
    cl_uint count = 0;
    int result = cl_load(fault);
    if (result != 0)
        return result;
    place_pocl_cache();
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
