/* Programs and kernels: calls go to the device's back end. */
#include "device/program.h"

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
