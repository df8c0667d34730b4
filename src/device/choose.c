#include "device/device_internal.h"

#include <glob.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"

/* The devices of a back end, listed once, or the fault why there are none. */
struct offer {
    const struct device_backend *backend;
    struct device_info *infos;
    size_t count;
    struct fault fault;
    pthread_once_t once;
};

static struct offer native = {.once = PTHREAD_ONCE_INIT}, opencl = {.once = PTHREAD_ONCE_INIT};
static atomic_bool opencl_is_listed;

const char *device_kind_name(enum device_kind kind)
{
    static const char *const names[] = {"gpu", "accelerator", "native", "cpu"};
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
#ifdef SLUICE_OPENCL
    device_opencl.list(&opencl.infos, &opencl.count, &opencl.fault);
#else
    fault_set(&opencl.fault, FAULT_NO_DEVICE, "this sluice was built without OpenCL");
#endif
    atomic_store(&opencl_is_listed, true);
}

bool device_opencl_is_listed(void)
{
    return atomic_load(&opencl_is_listed);
}

static size_t add(const struct offer *offer, const struct device_info **list, size_t n)
{
    for (size_t i = 0; i < offer->count && n < DEVICES_MAX; i++)
        list[n++] = &offer->infos[i];
    return n;
}

size_t device_list(const struct device_info *list[DEVICES_MAX], bool with_opencl,
                   struct fault *fault)
{
    pthread_once(&native.once, find_native);
    size_t n = add(&native, list, 0);
    if (!with_opencl)
        return n;
    pthread_once(&opencl.once, find_opencl);
    if (opencl.fault.code != FAULT_NONE)
        fault_set(fault, opencl.fault.code, "%s", opencl.fault.text);
    return add(&opencl, list, n);
}

void device_tell_fp64(const struct device_profile *profile, struct fault *fault)
{
    const struct device_info *list[DEVICES_MAX];
    size_t used = strlen(fault->text);
    struct fault none = FAULT_INIT;
    const char *name = "reference"; /* where there is nothing else */
    if (fault->code != FAULT_NO_DEVICE || profile->has_fp64)
        return;
    for (size_t i = device_list(list, true, &none); i-- > 0;)
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
        return true;
    for (int kind = DEVICE_GPU; kind < DEVICE_KINDS; kind++)
        if (is_word(select, device_kind_name(kind)))
            return (int)info->kind == kind;
    return strcasestr(info->name, select) || strcasestr(info->platform, select);
}

/* Platform indices, device indices and program options are OpenCL's only. */
static bool has_program_options(const struct device_options *options)
{
    return options->flags || options->load_binary || options->dump_binary;
}

static bool says_opencl(const struct device_options *options)
{
    return options->platform_index >= 0 || options->device_index >= 0 ||
           has_program_options(options);
}

/* Whether there may be a GPU. Loading OpenCL loads every installed driver, and PoCL alone takes a
 * tenth of a second and 60 MB, which is of no use on a machine without a GPU. Drivers of GPUs need
 * one of these device nodes. A user who sets one of these variables wants OpenCL to be loaded. */
static bool may_have_gpu(void)
{
    static const char *const nodes[] = {"/dev/dri/renderD*", "/dev/mali*",   "/dev/nvidia[0-9]*",
                                        "/dev/kgsl-3d*",     "/dev/galcore", "/dev/pvr*",
                                        "/dev/dxg"};
    static const char *const variables[] = {"OPENCL_LAYERS", "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES",
                                            "OPENCL_VENDOR_PATH"};
    glob_t found = {0};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        glob(nodes[i], i > 0 ? GLOB_APPEND : 0, NULL, &found);
    bool may = found.gl_pathc > 0;
    globfree(&found);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        may |= getenv(variables[i]) != NULL;
#ifndef SLUICE_OPENCL
    may = false; /* whatever there is, it cannot be used */
#endif
    return may;
}

bool device_may_load(const struct device_options *options)
{
    if (is_word(options->select, "native"))
        return false;
    pthread_once(&native.once, find_native);
    return !is_word(options->select, "auto") || says_opencl(options) || native.count == 0 ||
           may_have_gpu();
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
    struct text asked = {0};
    text_printf(&asked, "--device %s", options->select ? options->select : "auto");
    if (options->platform_index >= 0)
        text_printf(&asked, " --platform-index %d", options->platform_index);
    if (options->device_index >= 0)
        text_printf(&asked, " --device-index %d", options->device_index);
    const struct fault *why = is_word(options->select, "native") ? &native.fault : &opencl.fault;
    bool is_without = why->code != FAULT_NONE;
    int result =
        fault_set(fault, is_without ? why->code : FAULT_NO_DEVICE,
                  "no device %s %s%s%s%s%s; --device reference needs none", count ? "fits" : "for",
                  text_string(&asked), is_without ? ": " : "", is_without ? why->text : "",
                  count ? "; there is " : "", text_string(&names));
    text_finish(&asked);
    text_finish(&names);
    return result;
}

int device_select(const struct device_options *options,
                  const struct device_info *order[DEVICES_MAX], size_t *count, struct fault *fault)
{
    const struct device_info *list[DEVICES_MAX];
    size_t n = 0;
    *count = 0;
    if (is_word(options->select, "native") && has_program_options(options))
        return fault_set(fault, FAULT_USAGE,
                         "compiler options and program binaries are for OpenCL's devices, and "
                         "device native is none");
    bool is_another = is_word(options->select, "gpu") || is_word(options->select, "cpu");
    if (is_word(options->select, "native") || (!is_another && !says_opencl(options))) {
        pthread_once(&native.once, find_native);
        n = add(&native, list, n);
    }
    if (device_may_load(options)) {
        pthread_once(&opencl.once, find_opencl);
        n = add(&opencl, list, n);
    }
    for (int kind = DEVICE_GPU; kind < DEVICE_KINDS; kind++)
        for (size_t i = 0; i < n; i++)
            if ((int)list[i]->kind == kind && matches(list[i], options))
                order[(*count)++] = list[i];
    return *count > 0 ? 0 : nothing_fits(options, list, n, fault);
}

int device_open_first(struct device **device, const struct device_info *order[DEVICES_MAX],
                      size_t *count, const struct device_options *options, struct fault *fault)
{
    *device = NULL;
    for (size_t i = 0; i < *count && !*device; i++) {
        struct fault why = FAULT_INIT;
        size_t left = *count - i - 1;
        if (device_open(device, order[i], options, &why) == 0) {
            memmove(order, order + i + 1, left * sizeof *order);
            *count = left;
        } else if (left > 0) {
            log_error("device %s is not used: %s", order[i]->name, why.text);
        } else {
            return fault_set(fault, why.code, "device %s: %s", order[i]->name, why.text);
        }
    }
    return *device ? 0 : fault_set(fault, FAULT_NO_DEVICE, "there is no other device");
}

int device_open_best(struct device **device, const struct device_options *options,
                     struct fault *fault)
{
    const struct device_info *order[DEVICES_MAX];
    size_t count;
    int result = device_select(options, order, &count, fault);
    return result ? result : device_open_first(device, order, &count, options, fault);
}
