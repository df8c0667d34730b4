/* Batches: each call goes to the device's back end. */
#include "device/batch.h"

#include "device/device_internal.h"

int device_batch_begin(struct device *device, struct device_batch **batch, struct fault *fault)
{
    return device->info->backend->batch_begin(device, batch, fault);
}

int device_batch_unmap(struct device_batch *batch, struct device_buffer *buffer,
                       struct fault *fault)
{
    return batch->device->info->backend->batch_unmap(batch, buffer, fault);
}

int device_batch_launch(struct device_batch *batch, const struct device_launch *launch,
                        struct fault *fault)
{
    return batch->device->info->backend->batch_launch(batch, launch, fault);
}

int device_batch_map(struct device_batch *batch, struct device_buffer *buffer, size_t size,
                     void **data, struct fault *fault)
{
    return batch->device->info->backend->batch_map(batch, buffer, size, data, fault);
}

int device_batch_submit(struct device_batch *batch, struct fault *fault)
{
    return batch->device->info->backend->batch_submit(batch, fault);
}

int device_batch_wait(struct device_batch *batch, struct fault *fault)
{
    return batch->device->info->backend->batch_wait(batch, fault);
}

const struct device_timing *device_batch_timings(struct device_batch *batch, size_t *count)
{
    return batch->device->info->backend->batch_timings(batch, count);
}

const struct device_traffic *device_batch_traffic(const struct device_batch *batch)
{
    return batch->device->info->backend->batch_traffic(batch);
}

void device_batch_finish(struct device_batch **batch)
{
    if (*batch)
        (*batch)->device->info->backend->batch_finish(*batch);
    *batch = NULL;
}
