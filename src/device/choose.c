#include "device/internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

static struct {
    struct device_info *infos;
    size_t count;
    struct fault fault;
} devices;

const char *device_kind_name(enum device_kind kind)
{
    static const char *const names[] = {"gpu", "accelerator", "cpu"};
    return names[kind];
}

static void find_devices(void)
{
    device_opencl.list(&devices.infos, &devices.count, &devices.fault);
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
    const char *select = options->select ? options->select : "auto";
    int result = fault_set(fault, FAULT_NO_DEVICE,
                           devices.count ? "no OpenCL device fits --device %s; there is %s"
                                         : "no OpenCL device for --device %s%s",
                           select, text_string(&names));
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
