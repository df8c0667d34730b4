#include "device/device_internal.h"

#include <stdlib.h>

static void fill_profile(struct device *device)
{
    const struct device_info *info = device->info;
    struct device_profile *profile = &device->profile;
    *profile = *device_profile_by_name(info->profile);
    if (profile->local_memory > info->local_memory || info->work_group_size < 256)
        /* kernels that use local memory need this much, and work-groups of 256 */
        profile->local_memory = 0;
    profile->multiplies_bytes &= info->multiplies_bytes;
    profile->has_fp64 = info->has_fp64;
    profile->exact_divide = info->exact_divide;
    profile->max_allocation = info->max_allocation;
    profile->memory = info->memory;
    /* A quarter of what the cores' clock allows: drivers report the highest clock, boards often run
     * at a lower one, and kernels do not reach the peak. */
    double lanes = info->kind == DEVICE_CPU ? 2 : 4;
    double clock = info->clock_mhz ? info->clock_mhz : 400;
    profile->units = info->compute_units ? info->compute_units : 1;
    if (info->kind == DEVICE_NATIVE && device->options.threads > 0)
        profile->units = device->options.threads;
    if (!profile->prebuilt) /* native kernels have no launches that a driver could kill */
        profile->work_per_second = profile->units * clock * 1e6 * lanes;
    device->generic_profile = *profile;
    device->generic_profile.generic = true;
}

int device_open(struct device **device, const struct device_info *info,
                const struct device_options *options, struct fault *fault)
{
    struct device *d = calloc(1, sizeof *d);
    if (!d)
        return fault_set(fault, FAULT_MEMORY, "no memory for a device");
    d->info = info;
    d->options = *options;
    pthread_mutex_init(&d->pool_lock, NULL);
    pthread_mutex_init(&d->constants_lock, NULL);
    d->idle_limit = UINT64_C(256) << 20;
    fill_profile(d);
    int result = info->backend->open(d, fault);
    if (result != 0)
        device_close(&d);
    *device = d;
    return result;
}

void device_close(struct device **device)
{
    struct device *d = *device;
    if (!d)
        return;
    device_pool_drain(d);
    d->info->backend->close(d);
    pthread_mutex_destroy(&d->pool_lock);
    pthread_mutex_destroy(&d->constants_lock);
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
