/* The native device: its description, kernels and buffers. */
#include "device/native/native.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#if defined(__x86_64__) && defined(__clang__) && __clang_major__ < 16
/* It knows no levels by name. Processors that have these features have the others of their level,
 * unless a hypervisor hides some; packages are compiled by GCC. */
static bool has_level(const char *name)
{
    __builtin_cpu_init();
    bool has_2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    bool has_3 = has_2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                 __builtin_cpu_supports("fma");
    bool has_4 = has_3 && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return strcmp(name, "x86_64_v2") == 0   ? has_2
           : strcmp(name, "x86_64_v3") == 0 ? has_3
                                            : strcmp(name, "x86_64_v4") == 0 && has_4;
}
#elif defined(__x86_64__)
static bool has_level(const char *name)
{
    __builtin_cpu_init();
    return (strcmp(name, "x86_64_v2") == 0 && __builtin_cpu_supports("x86-64-v2")) ||
           (strcmp(name, "x86_64_v3") == 0 && __builtin_cpu_supports("x86-64-v3")) ||
           (strcmp(name, "x86_64_v4") == 0 && __builtin_cpu_supports("x86-64-v4"));
}
#elif defined(__aarch64__)
static bool has_level(const char *name)
{
    const unsigned long needed = HWCAP_ATOMICS | HWCAP_CRC32 | HWCAP_ASIMDRDM;
    return strcmp(name, "armv8_a") == 0 ||
           (strcmp(name, "armv8_2_a") == 0 && (getauxval(AT_HWCAP) & needed) == needed);
}
#endif

/* The index in native_levels of the best level that the processor has, or of the one that
 * SLUICE_NATIVE_LEVEL names; -1 with FAULT_NO_DEVICE when there is none. */
static int choose_level(struct fault *fault)
{
    const char *wanted = getenv("SLUICE_NATIVE_LEVEL");
    int best = -1;
    for (int i = 0; native_levels[i]; i++)
        if (has_level(native_levels[i]) && (!wanted || strcmp(wanted, native_levels[i]) == 0))
            best = i;
    if (best < 0 && wanted)
        fault_set(fault, FAULT_NO_DEVICE,
                  "SLUICE_NATIVE_LEVEL=%.40s: this processor or this sluice has no such level",
                  wanted);
    else if (best < 0)
        fault_set(fault, FAULT_NO_DEVICE,
                  "native kernels need a later processor, at least one of %s", native_levels[0]);
    return best;
}

/* On x86 /proc/cpuinfo has lines "model name : …". On ARM there are only part numbers. */
static void read_processor(char *name, size_t size)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(name, size, "processor");
    while (file && fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        snprintf(name, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        break;
    }
    if (file)
        fclose(file);
}

static int list(struct device_info **infos, size_t *count, struct fault *fault)
{
    static struct device_info info;
    cpu_set_t set;
    int level = choose_level(fault);
    if (level < 0)
        return FAULT_NO_DEVICE;
    info = (struct device_info){
        .backend = &device_native,
        .platform_index = -1,
        .device_index = -1,
        .kind = DEVICE_NATIVE,
        .platform = "native",
        .name = "native",
        .compute_units =
            sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1,
        .work_group_size = 1,
        .memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
        .has_fp64 = true,
        .exact_divide = true,
        .unified_memory = true,
        .profile = "native",
    };
    info.max_allocation = info.memory;
    snprintf(info.version, sizeof info.version, "%s", native_levels[level]);
    snprintf(info.driver, sizeof info.driver, SLUICE_NATIVE);
    read_processor(info.vendor, sizeof info.vendor);
    *infos = &info;
    *count = 1;
    return 0;
}

static int open_device(struct device *device, struct fault *fault)
{
    int level = choose_level(fault);
    if (level < 0)
        return FAULT_NO_DEVICE;
    struct native *native = device->own = calloc(1, sizeof *native);
    if (native)
        native->kernels = calloc(native_n_entries, sizeof *native->kernels);
    if (!native || !native->kernels)
        return fault_set(fault, FAULT_MEMORY, "no memory for a device");
    pthread_mutex_init(&native->lock, NULL);
    pthread_cond_init(&native->work.sleepers, NULL);
    pthread_cond_init(&native->progress.sleepers, NULL);
    native->n_wanted = device->profile.units - 1; /* the thread that waits computes, too */
    native->looks_out = device->profile.units <= device->info->compute_units;
    for (size_t i = 0; i < native_n_entries; i++)
        native->kernels[i] =
            (struct native_kernel){.base = {.name = native_entries[i].name},
                                   .function = {native_entries[i].call, native_entries[i].at[level],
                                                native_entries[i].span}};
    return 0;
}

static void close_device(struct device *device)
{
    struct native *native = device->own;
    if (!native)
        return;
    if (native->kernels) {
        native_threads_stop(native);
        pthread_cond_destroy(&native->progress.sleepers);
        pthread_cond_destroy(&native->work.sleepers);
        pthread_mutex_destroy(&native->lock);
    }
    free(native->kernels);
    free(native);
}

static int kernel_find(struct device *device, uint64_t hash, const char *name,
                       const struct device_kernel **kernel, struct fault *fault)
{
    const struct native *native = device->own;
    size_t low = 0, high = native_n_entries;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (native_entries[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == native_n_entries || native_entries[low].hash != hash)
        return fault_set(fault, FAULT_INTERNAL, "kernel %s was not compiled with sluice", name);
    *kernel = &native->kernels[low].base;
    return 0;
}

static int program_get_as(struct device *device, const char *source, enum program_use use,
                          struct device_program **program, struct fault *fault)
{
    return fault_set(fault, FAULT_DEVICE, "device %s compiles no programs: its plans are native's",
                     device->info->name);
}

/* Large buffers lie in pages of 2 MiB where the system gives such pages on request: with pages of
 * 4 KiB a processor spends up to a seventh of a kernel's time on translating addresses, and new
 * memory takes a fault for each page, a tenth of a thumbnail's time. Only pages that lie wholly
 * within a buffer are asked for, so it takes no more memory for them. */
#define LARGE_PAGE ((size_t)2 << 20)

static int buffer_create(struct device *device, const void *wrapped, struct device_buffer *buffer,
                         struct fault *fault)
{
    size_t large = buffer->size / LARGE_PAGE * LARGE_PAGE;
    buffer->handle = (void *)wrapped;
    if (wrapped)
        return 0;
    if (posix_memalign(&buffer->handle, large > 0 ? LARGE_PAGE : 4096, buffer->size) != 0)
        return fault_set(fault, FAULT_MEMORY, "no memory for a buffer of %zu bytes", buffer->size);
    if (large > 0)
        madvise(buffer->handle, large, MADV_HUGEPAGE); /* fails where there are none */
    return 0;
}

static void buffer_destroy(struct device_buffer *buffer)
{
    if (!buffer->is_wrapped)
        free(buffer->handle);
}

static int buffer_map(struct device *device, struct device_buffer *buffer, size_t size,
                      struct fault *fault)
{
    buffer->mapped = buffer->handle;
    return 0;
}

static int buffer_unmap(struct device *device, struct device_buffer *buffer, struct fault *fault)
{
    buffer->mapped = NULL;
    return 0;
}

const struct device_backend device_native = {
    .list = list,
    .open = open_device,
    .close = close_device,
    .program_get_as = program_get_as,
    .program_put = native_rows_put,
    .program_kernel = native_rows_kernel,
    .program_store = native_rows_store,
    .kernel_find = kernel_find,
    .rows_create = native_rows_create,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .buffer_map = buffer_map,
    .buffer_unmap = buffer_unmap,
    .batch_begin = native_batch_begin,
    .batch_unmap = native_batch_unmap,
    .batch_launch = native_batch_launch,
    .batch_map = native_batch_map,
    .batch_submit = native_batch_submit,
    .batch_wait = native_batch_wait,
    .batch_timings = native_batch_timings,
    .batch_finish = native_batch_finish,
};
