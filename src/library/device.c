/* Devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/internal.h"

static struct sluice_device_info describe(const struct device_info *info)
{
    struct sluice_device_info own = {.threads = 1, .in_flight = 1, .in_place = 1};
    if (!info) {
        snprintf(own.kind, sizeof own.kind, "reference");
        snprintf(own.name, sizeof own.name, "reference");
        own.largest = own.memory = INT64_MAX;
        return own;
    }
    snprintf(own.kind, sizeof own.kind, "%s", device_kind_name(info->kind));
    memcpy(own.name, info->name, sizeof own.name);
    memcpy(own.platform, info->platform, sizeof own.platform);
    memcpy(own.driver, info->driver, sizeof own.driver);
    own.threads = info->compute_units;
    own.in_place = info->kind == DEVICE_NATIVE;
    own.in_flight = own.in_place ? 1 : 2;
    own.memory = info->memory;
    own.largest = info->max_allocation;
    return own;
}

/* Where the list is: choosing among devices allows any of them. */
static const struct device_options any = {.platform_index = -1, .device_index = -1};

int sluice_device_list(struct sluice_device_info *list, size_t room, size_t *count,
                       struct sluice_error *error)
{
    const struct device_info *order[DEVICES_MAX];
    struct fault fault = FAULT_INIT;
    size_t size = room > 0 ? list[0].size : 0, n = device_list(order, true, &fault);
    for (size_t i = 0; i < n && i < room; i++) {
        struct sluice_device_info own = describe(order[i]);
        struct sluice_device_info *to = (struct sluice_device_info *)((char *)list + i * size);
        to->size = size;
        library_give(to, &own, sizeof own);
    }
    *count = n;
    return n > 0 ? 0 : library_fail(error, &fault);
}

int sluice_device_open(struct sluice_device **device, const struct sluice_device_options *options,
                       struct sluice_error *error)
{
    struct sluice_device_options own = {0};
    struct fault fault = FAULT_INIT;
    if (options)
        library_take(&own, sizeof own, options);
    struct sluice_device *made = calloc(1, sizeof *made);
    *device = NULL;
    if (made)
        made->select = strdup(own.select ? own.select : "auto");
    if (!made || !made->select) {
        free(made);
        return library_error(error, SLUICE_E_MEMORY, "no memory for a device");
    }
    atomic_init(&made->users, 1);
    made->log = own.log;
    made->log_context = own.log_context;
    struct device_options inner = any;
    inner.select = made->select;
    inner.threads = own.threads;
    inner.no_cache = own.cache && own.cache[0] == '\0';
    if (strcmp(made->select, "reference") != 0) {
        library_log_for(made);
        if (own.cache && own.cache[0] != '\0')
            device_cache_use(own.cache);
        device_open_best(&made->device, &inner, &fault);
        library_log_for(NULL);
    }
    if (made->device && own.pool > 0)
        device_pool_limit(made->device, own.pool);
    if (fault.code != FAULT_NONE)
        sluice_device_unref(&made);
    *device = made;
    return library_fail(error, &fault);
}

struct sluice_device *sluice_device_ref(struct sluice_device *device)
{
    atomic_fetch_add(&device->users, 1);
    return device;
}

void sluice_device_unref(struct sluice_device **device)
{
    struct sluice_device *d = *device;
    *device = NULL;
    if (!d || atomic_fetch_sub(&d->users, 1) > 1)
        return;
    library_log_for(d);
    device_close(&d->device);
    library_log_for(NULL);
    free(d->select);
    free(d);
}

void sluice_device_get_info(const struct sluice_device *device, struct sluice_device_info *info)
{
    struct sluice_device_info own = describe(device->device ? device_info(device->device) : NULL);
    if (device->device)
        own.threads = device_profile(device->device)->units;
    library_give(info, &own, sizeof own);
}
