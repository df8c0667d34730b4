#include "device/device_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static void CL_CALLBACK report(const char *text, const void *data, size_t size, void *device)
{
    (void)data;
    (void)size;
    log_warning("device %s: %s", ((struct device *)device)->info->name, text);
}

static void fill_profile(struct device *device)
{
    const struct device_info *info = device->info;
    struct device_profile *profile = &device->profile;
    *profile = *device_profile_by_name(info->profile);
    if (profile->local_memory > info->local_memory || info->work_group_size < 256)
        profile->local_memory = 0; /* kernels that use it ask for that much, and groups of 256 */
    profile->has_fp64 = info->has_fp64;
    profile->exact_divide = info->exact_divide;
    profile->max_allocation = info->max_allocation;
    profile->memory = info->memory;
    /* A quarter of what the cores' clock allows: drivers report the highest clock, boards run at
     * the lowest, and no kernel is perfect. */
    double lanes = info->kind == DEVICE_CPU ? 2 : 4;
    double clock = info->clock_mhz ? info->clock_mhz : 400;
    profile->units = info->compute_units ? info->compute_units : 1;
    profile->work_per_second = profile->units * clock * 1e6 * lanes;
    for (int form = 0; form < KERNEL_FORMS; form++)
        while (profile->local[form][0] * profile->local[form][1] > info->work_group_size &&
               profile->local[form][1] > 1)
            profile->local[form][1] /= 2;
    device->generic_profile = *profile;
    device->generic_profile.generic = true;
}

int device_open(struct device **device, const struct device_info *info,
                const struct device_options *options, struct fault *fault)
{
    struct device *d = calloc(1, sizeof *d);
    if (!d)
        return fault_set(fault, FAULT_MEMORY, "no memory for a device");
    cl_int error;
    d->info = info;
    d->options = *options;
    d->id = device_info_id(info);
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->pool_lock, NULL);
    pthread_mutex_init(&d->program_lock, NULL);
    d->idle_limit = UINT64_C(256) << 20;
    fill_profile(d);

    const char *call = "clCreateContext";
    d->context = cl.clCreateContext(NULL, 1, &d->id, report, d, &error);
    if (d->context) {
        call = "clCreateCommandQueue";
        d->queue = cl.clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &error);
    }
    if (d->queue)
        d->hand_over = cl.clCreateCommandQueue(d->context, d->id, 0, &error);
    if (!d->hand_over) {
        int result = cl_fault(fault, call, error, info->name);
        device_close(&d);
        return result;
    }
    *device = d;
    return 0;
}

void device_close(struct device **device)
{
    struct device *d = *device;
    if (!d)
        return;
    if (d->queue)
        cl.clFinish(d->queue);
    if (d->hand_over)
        cl.clFinish(d->hand_over);
    device_programs_destroy(d);
    device_pool_drain(d);
    if (d->hand_over)
        cl.clReleaseCommandQueue(d->hand_over);
    if (d->queue)
        cl.clReleaseCommandQueue(d->queue);
    if (d->context)
        cl.clReleaseContext(d->context);
    pthread_mutex_destroy(&d->program_lock);
    pthread_mutex_destroy(&d->pool_lock);
    pthread_mutex_destroy(&d->lock);
    free(d);
    *device = NULL;
}

const struct device_info *device_info(const struct device *device)
{
    return device->info;
}

const struct device_profile *device_profile(const struct device *device)
{
    return &device->profile;
}

const struct device_profile *device_generic_profile(const struct device *device)
{
    return &device->generic_profile;
}

struct device_counters *device_counters(struct device *device)
{
    return &device->counters;
}
