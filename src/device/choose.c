#include "device/internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* What a back end offers, asked once. */
struct offer {
    const struct device_backend *backend;
    struct device_info *infos;
    size_t count;
    struct fault fault;
    pthread_once_t once;
};

static struct offer native = {.once = PTHREAD_ONCE_INIT}, opencl = {.once = PTHREAD_ONCE_INIT};

const char *device_kind_name(enum device_kind kind)
{
    static const char *const names[] = {"gpu", "accelerator", "cpu", "native"};
    return names[kind];
}

static void find_native(void)
{
#ifdef SLUICE_NATIVE
    device_native.list(&native.infos, &native.count, &native.fault);
#else
    fault_set(&native.fault, FAULT_NO_DEVICE, "this sluice was built without native kernels");
#endif
}

static void find_opencl(void)
{
    device_opencl.list(&opencl.infos, &opencl.count, &opencl.fault);
}

static size_t add(const struct offer *offer, const struct device_info **list, size_t n)
{
    for (size_t i = 0; i < offer->count && n < DEVICES_MAX; i++)
        list[n++] = &offer->infos[i];
    return n;
}

size_t device_list(const struct device_info *list[DEVICES_MAX], struct fault *fault)
{
    pthread_once(&native.once, find_native);
    pthread_once(&opencl.once, find_opencl);
    if (opencl.fault.code != FAULT_NONE)
        fault_set(fault, opencl.fault.code, "%s", opencl.fault.text);
    return add(&opencl, list, add(&native, list, 0));
}

void device_tell_fp64(const struct device_profile *profile, struct fault *fault)
{
    const struct device_info *list[DEVICES_MAX];
    size_t used = strlen(fault->text);
    struct fault none = FAULT_INIT;
    const char *name = "reference"; /* the plain C ones do */
    if (fault->code != FAULT_NO_DEVICE || profile->has_fp64)
        return;
    for (size_t i = device_list(list, &none); i-- > 0;)
        if (list[i]->has_fp64)
            name = list[i]->name;
    snprintf(fault->text + used, sizeof fault->text - used, "; --device '%s' has it", name);
}

static bool is_word(const char *select, const char *word)
{
    return strcmp(select ? select : "auto", word) == 0;
}

static bool matches(const struct device_info *info, const struct device_options *options)
{
    const char *select = options->select;
    if (options->platform_index >= 0 && options->platform_index != info->platform_index)
        return false;
    if (options->device_index >= 0 && options->device_index != info->device_index)
        return false;
    if (is_word(select, "auto"))
        return info->kind != DEVICE_NATIVE; /* not yet */
    for (int kind = DEVICE_GPU; kind < DEVICE_KINDS; kind++)
        if (is_word(select, device_kind_name(kind)))
            return (int)info->kind == kind;
    return strcasestr(info->name, select) || strcasestr(info->platform, select);
}

/* Which back ends there is a reason to ask. Indices are those of OpenCL's platforms. */
static bool wants_native(const struct device_options *options)
{
    return options->platform_index < 0 && options->device_index < 0 &&
           !is_word(options->select, "gpu") && !is_word(options->select, "cpu");
}

static bool wants_opencl(const struct device_options *options)
{
    return !is_word(options->select, "native");
}

static int nothing_fits(const struct device_options *options, const struct device_info **list,
                        size_t count, struct fault *fault)
{
    struct text names = {0};
    for (size_t i = 0; i < count; i++) {
        text_printf(&names, "%s%s (%s", i ? "; " : "", list[i]->name,
                    device_kind_name(list[i]->kind));
        if (list[i]->platform_index >= 0)
            text_printf(&names, ", platform %d device %d", list[i]->platform_index,
                        list[i]->device_index);
        text_append(&names, ")");
    }
    const struct fault *why = is_word(options->select, "native") ? &native.fault : &opencl.fault;
    const char *select = options->select ? options->select : "auto";
    int result = why->code != FAULT_NONE
                     ? fault_set(fault, why->code, "%s", why->text)
                     : fault_set(fault, FAULT_NO_DEVICE,
                                 count ? "no device fits --device %s; there is %s"
                                       : "no device for --device %s%s",
                                 select, text_string(&names));
    text_finish(&names);
    return result;
}

int device_select(const struct device_options *options,
                  const struct device_info *order[DEVICES_MAX], size_t *count, struct fault *fault)
{
    const struct device_info *list[DEVICES_MAX];
    size_t n = 0;
    *count = 0;
    if (wants_native(options)) {
        pthread_once(&native.once, find_native);
        n = add(&native, list, n);
    }
    if (wants_opencl(options)) {
        pthread_once(&opencl.once, find_opencl);
        n = add(&opencl, list, n);
    }
    for (int kind = DEVICE_GPU; kind < DEVICE_KINDS; kind++)
        for (size_t i = 0; i < n; i++)
            if ((int)list[i]->kind == kind && matches(list[i], options))
                order[(*count)++] = list[i];
    return *count > 0 ? 0 : nothing_fits(options, list, n, fault);
}
