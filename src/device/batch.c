/* Programs, kernels and batches: each call goes to the device's back end. */
#include "device/batch.h"

#include "device/device_internal.h"

int device_program_get_as(struct device *device, const char *source, enum program_use use,
                          struct device_program **program, struct fault *fault)
{
    return device->info->backend->program_get_as(device, source, use, program, fault);
}

void device_program_put(struct device *device, struct device_program **program)
{
    if (*program)
        device->info->backend->program_put(*program);
    *program = NULL;
}

int device_program_kernel(struct device_program *program, const char *name,
                          const struct device_kernel **kernel, struct fault *fault)
{
    return program->device->info->backend->program_kernel(program, name, kernel, fault);
}

int device_kernel_find(struct device *device, uint64_t hash, const char *name,
                       const struct device_kernel **kernel, struct fault *fault)
{
    return device->info->backend->kernel_find(device, hash, name, kernel, fault);
}

int device_rows_create(struct device *device, const struct device_part *parts, unsigned n_parts,
                       const char *name, struct device_program **program, struct fault *fault)
{
    return device->info->backend->rows_create(device, parts, n_parts, name, program, fault);
}

int device_program_store(struct device *device, struct device_program *program, struct fault *fault)
{
    return device->info->backend->program_store(program, fault);
}

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
                     bool writes, void **data, struct fault *fault)
{
    return batch->device->info->backend->batch_map(batch, buffer, size, writes, data, fault);
}

int device_batch_copy(struct device_batch *batch, struct device_buffer *buffer, size_t from,
                      size_t to, size_t size, struct fault *fault)
{
    return batch->device->info->backend->batch_copy(batch, buffer, from, to, size, fault);
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
    return &batch->traffic;
}

void device_batch_finish(struct device_batch **batch)
{
    if (*batch)
        (*batch)->device->info->backend->batch_finish(*batch);
    *batch = NULL;
}
