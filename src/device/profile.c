#include "device/profile.h"

#include <stddef.h>
#include <string.h>

/* Shapes of work-groups: PoCL compiles a kernel again for each new shape, so cpu has 1×1 except
 * where single samples would be too little work for a group. Groups of GPUs are wide, because
 * neighbours along a row share cache lines; the Mali guide (Arm 101574, 9.2) asks for multiples of
 * 4 and for 64 to 128 items in kernels without barriers. work_per_second is what a small machine of
 * the class does; device_open computes it for a device. */
static const struct device_profile profiles[] = {
    {
        .name = "native",
        .form = FORM_ROWS,
        .vector_bytes = 16,
        .segment = 16384,
        .local = {[FORM_ROWS] = {1, 1}, [FORM_VECTOR] = {1, 1}, [FORM_SCALAR] = {1, 1}},
        .units = 4,
        .packs_shorts = true,
        .has_fp64 = true,
        .generic = true,
        .prebuilt = true,
        .host_memory = true,
        .exact_divide = true,
        .work_per_second = 1e15,
        .max_allocation = UINT64_C(4) << 30,
        .memory = UINT64_C(4) << 30,
    },
    {
        .name = "cpu",
        .form = FORM_ROWS,
        .vector_bytes = 16,
        .segment = 16384,
        .local = {[FORM_ROWS] = {1, 1}, [FORM_VECTOR] = {1, 1}, [FORM_SCALAR] = {64, 1}},
        .units = 4,
        .packs_shorts = true,
        .has_fp64 = true,
        .host_memory = true,
        .exact_divide = true,
        .work_per_second = 4e9,
        .max_allocation = UINT64_C(4) << 30,
        .memory = UINT64_C(4) << 30,
    },
    {
        .name = "gpu",
        .form = FORM_VECTOR,
        .vector_bytes = 16,
        .segment = 1024,
        .local = {[FORM_ROWS] = {64, 1}, [FORM_VECTOR] = {32, 4}, [FORM_SCALAR] = {64, 4}},
        .units = 32,
        .packs_bytes = true,
        .multiplies_bytes = true,
        .local_memory = 32768,
        .has_fp64 = true,
        .exact_divide = true,
        .has_watchdog = true,
        .work_per_second = 1e11,
        .max_allocation = UINT64_C(4) << 30,
        .memory = UINT64_C(16) << 30,
    },
    {
        .name = "mali",
        .form = FORM_VECTOR,
        .vector_bytes = 4,
        .segment = 1024,
        .local = {[FORM_ROWS] = {64, 1}, [FORM_VECTOR] = {32, 4}, [FORM_SCALAR] = {32, 4}},
        .units = 4,
        .packs_shorts = true,
        .takes_columns = true,
        .has_fp64 = false,
        .exact_divide = false,
        .has_watchdog = true,
        .work_per_second = 4e9,
        .max_allocation = UINT64_C(512) << 20,
        .memory = UINT64_C(2) << 30,
    },
};

const struct device_profile *device_profile_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        if (strcmp(name, profiles[i].name) == 0)
            return &profiles[i];
    return NULL;
}

const char *kernel_form_name(enum kernel_form form)
{
    static const char *const names[] = {"rows", "vector", "scalar"};
    return names[form];
}
