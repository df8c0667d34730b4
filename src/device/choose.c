#include "device/device_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/text.h"

static struct {
    struct device_info *infos;
    cl_device_id *ids;
    size_t count;
    struct fault fault;
} devices;

cl_device_id device_info_id(const struct device_info *info)
{
    return devices.ids[info - devices.infos];
}

const char *device_kind_name(enum device_kind kind)
{
    static const char *const names[] = {"gpu", "accelerator", "cpu"};
    return names[kind];
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
    if (info->kind == DEVICE_CPU)
        return "cpu";
    bool mali = strcasestr(info->name, "mali") || strcasestr(info->vendor, "arm") ||
                strcasestr(info->platform, "arm platform");
    return mali ? "mali" : "gpu";
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
    info->profile = profile_class(info);
}

static bool add_platform(cl_platform_id platform, unsigned platform_index)
{
    cl_uint count = 0;
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count) != CL_SUCCESS)
        return true; /* a platform without devices is no fault */
    struct device_info *infos = realloc(devices.infos, (devices.count + count + 1) * sizeof *infos);
    if (infos)
        devices.infos = infos;
    cl_device_id *ids = realloc(devices.ids, (devices.count + count + 1) * sizeof *ids);
    if (ids)
        devices.ids = ids;
    if (!infos || !ids)
        return false;
    if (cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids + devices.count, NULL) !=
        CL_SUCCESS)
        return true;
    for (cl_uint i = 0; i < count; i++) {
        struct device_info *info = &infos[devices.count];
        *info = (struct device_info){.platform_index = platform_index, .device_index = i};
        describe(info, platform, ids[devices.count]);
        devices.count++;
    }
    return true;
}

/* PoCL keeps its compiled kernels where we keep ours, never in its predictable /tmp default. */
static void place_pocl_cache(void)
{
    const char *directory = device_cache_directory();
    char path[4096];
    if (!directory || getenv("POCL_CACHE_DIR"))
        return;
    snprintf(path, sizeof path, "%s/pocl", directory);
    setenv("POCL_CACHE_DIR", path, 0);
}

static void find_devices(void)
{
    cl_platform_id platforms[32];
    cl_uint count = 0;
    if (cl_load(&devices.fault) != 0)
        return;
    place_pocl_cache();
    cl_int error = cl.clGetPlatformIDs(32, platforms, &count);
    if (error != CL_SUCCESS || count == 0) {
        fault_set(&devices.fault, FAULT_NO_DEVICE,
                  "the OpenCL loader found no platform: no driver is installed, or its .icd file "
                  "in /etc/OpenCL/vendors is missing (Debian: apt-get install pocl-opencl-icd)");
        return;
    }
    for (cl_uint i = 0; i < count && i < 32; i++)
        if (!add_platform(platforms[i], i))
            fault_set(&devices.fault, FAULT_MEMORY, "no memory for the list of devices");
}

int device_list(const struct device_info **list, size_t *count, struct fault *fault)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_devices);
    if (devices.fault.code != FAULT_NONE)
        return fault_set(fault, devices.fault.code, "%s", devices.fault.text);
    *list = devices.infos;
    *count = devices.count;
    return 0;
}

void device_tell_fp64(const struct device_profile *profile, struct fault *fault)
{
    const struct device_info *list;
    size_t count, used = strlen(fault->text);
    struct fault none = FAULT_INIT;
    const char *name = "reference"; /* the plain C ones do */
    if (fault->code != FAULT_NO_DEVICE || profile->has_fp64)
        return;
    if (device_list(&list, &count, &none) == 0)
        for (size_t i = count; i-- > 0;)
            if (list[i].has_fp64)
                name = list[i].name;
    snprintf(fault->text + used, sizeof fault->text - used, "; --device '%s' has it", name);
}

static bool matches(const struct device_info *info, const struct device_options *options)
{
    const char *select = options->select;
    if (options->platform_index >= 0 && (unsigned)options->platform_index != info->platform_index)
        return false;
    if (options->device_index >= 0 && (unsigned)options->device_index != info->device_index)
        return false;
    if (!select || strcmp(select, "auto") == 0)
        return true;
    if (strcmp(select, "gpu") == 0)
        return info->kind == DEVICE_GPU;
    if (strcmp(select, "cpu") == 0)
        return info->kind == DEVICE_CPU;
    return strcasestr(info->name, select) || strcasestr(info->platform, select);
}

static int nothing_fits(const struct device_options *options, struct fault *fault)
{
    struct text names = {0};
    for (size_t i = 0; i < devices.count; i++)
        text_printf(&names, "%s%s (%s, platform %u device %u)", i ? "; " : "",
                    devices.infos[i].name, device_kind_name(devices.infos[i].kind),
                    devices.infos[i].platform_index, devices.infos[i].device_index);
    struct text asked = {0};
    text_printf(&asked, "--device %s", options->select ? options->select : "auto");
    if (options->platform_index >= 0)
        text_printf(&asked, " --platform-index %d", options->platform_index);
    if (options->device_index >= 0)
        text_printf(&asked, " --device-index %d", options->device_index);
    int result = fault_set(fault, FAULT_NO_DEVICE,
                           "no OpenCL device %s %s%s%s; --device reference needs none",
                           devices.count ? "fits" : "for", text_string(&asked),
                           devices.count ? "; there is " : "", text_string(&names));
    text_finish(&asked);
    text_finish(&names);
    return result;
}

int device_select(const struct device_options *options, size_t *order, size_t *count,
                  struct fault *fault)
{
    const struct device_info *list;
    size_t n, found = 0;
    int result = device_list(&list, &n, fault);
    if (result != 0)
        return result;
    for (int kind = DEVICE_GPU; kind <= DEVICE_CPU; kind++)
        for (size_t i = 0; i < n; i++)
            if ((int)list[i].kind == kind && matches(&list[i], options))
                order[found++] = i;
    *count = found;
    return found ? 0 : nothing_fits(options, fault);
}
