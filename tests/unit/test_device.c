/* The device layer on a real OpenCL device; skipped, with the reason, where there is none. */
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "device/batch.h"
#include "device/device_internal.h"

static char cache[64];
static const struct device_info *info;
static char reason[512];

static int setup(void **state)
{
    const struct device_info *order[DEVICES_MAX];
    size_t count;
    struct fault fault = FAULT_INIT;
    struct device_options options = {
        .select = getenv("SLUICE_DEVICE"), .platform_index = -1, .device_index = 0};
    (void)state;
    snprintf(cache, sizeof cache, "/tmp/sluice-test-XXXXXX");
    if (!mkdtemp(cache))
        return -1;
    setenv("SLUICE_CACHE_DIR", cache, 1);
    if (device_select(&options, order, &count, &fault) == 0)
        info = order[0];
    snprintf(reason, sizeof reason, "%s", fault.text);
    return 0;
}

static int teardown(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", cache);
    return system(command);
}

static struct device *open_device(const struct device_options *options)
{
    static const struct device_options defaults = {.platform_index = -1, .device_index = -1};
    struct device *device;
    struct fault fault = FAULT_INIT;
    if (!info) {
        print_message("skipped: no device: %s\n", reason);
        skip();
    }
    if (device_open(&device, info, options ? options : &defaults, &fault) != 0)
        fail_msg("%s", fault.text);
    return device;
}

static const char source[] = "#line 1 \"doubler.cl\"\n"
                             "__kernel void doubler(int n, __global int *v)\n"
                             "{ int i = get_global_id(0); if (i < n) v[i] *= 2; }\n";

static void run_doubler(struct device *device)
{
    struct fault fault = FAULT_INIT;
    struct device_program *program = NULL;
    const struct device_kernel *kernel;
    struct device_buffer *buffer;
    struct device_batch *batch;
    int32_t *in;
    void *out;
    size_t n;
    assert_int_equal(device_program_get_as(device, source, PROGRAM_ANY, &program, &fault), 0);
    assert_int_equal(device_program_kernel(program, "doubler", &kernel, &fault), 0);
    assert_int_equal(device_buffer_acquire(device, 400, &buffer, &fault), 0);
    assert_int_equal(device_buffer_map(device, buffer, 400, (void **)&in, &fault), 0);
    for (int i = 0; i < 100; i++)
        in[i] = i;
    struct device_arg args[2] = {{ARG_VALUE_4, .i = 100}, {ARG_MEMORY, .buffer = buffer}};
    struct device_launch launch = {"stage", kernel, args, 2, {128, 1}, {64, 1}};
    assert_int_equal(device_batch_begin(device, &batch, &fault), 0);
    assert_int_equal(device_batch_unmap(batch, buffer, &fault), 0);
    assert_int_equal(device_batch_launch(batch, &launch, &fault), 0);
    assert_int_equal(device_batch_map(batch, buffer, 400, false, &out, &fault), 0);
    assert_int_equal(device_batch_submit(batch, &fault), 0);
    assert_int_equal(device_batch_wait(batch, &fault), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(((int32_t *)out)[i], 2 * i);
    const struct device_timing *timings = device_batch_timings(batch, &n);
    assert_int_equal(n, 1);
    assert_string_equal(timings[0].kernel, "doubler");
    const struct device_traffic *traffic = device_batch_traffic(batch);
    assert_int_equal(traffic->crossings_in, 1);
    assert_int_equal(traffic->crossings_out, 1);
    assert_int_equal(traffic->bytes_copied, device_copies(device) ? 800 : 0);
    device_batch_finish(&batch);
    device_buffer_release(device, &buffer);
    assert_int_equal(device_program_store(device, program, &fault), 0);
    device_program_put(device, &program);
}

static void test_run(void **state)
{
    (void)state;
    struct device *device = open_device(NULL);
    struct device_counters *c = device_counters(device);
    run_doubler(device);
    assert_int_equal(c->builds, 1);
    assert_int_equal(c->allocations, 1);
    assert_int_equal(c->launches, 1);
    run_doubler(device);
    assert_int_equal(c->builds, 1); /* the same program */
    assert_int_equal(c->allocations, 1);
    device_close(&device);
    assert_null(device);
}

/* The one cache entry that the tests' program has. */
static void entry_path(char *path, size_t size)
{
    DIR *dir = opendir(cache);
    struct dirent *entry;
    path[0] = '\0';
    while ((entry = readdir(dir)) != NULL)
        if (strstr(entry->d_name, ".bin"))
            snprintf(path, size, "%s/%.200s", cache, entry->d_name);
    closedir(dir);
    assert_true(path[0]);
}

static void expect_builds(unsigned builds, unsigned hits)
{
    struct device *device = open_device(NULL);
    run_doubler(device);
    assert_int_equal(device_counters(device)->builds, builds);
    assert_int_equal(device_counters(device)->cache_hits, hits);
    device_close(&device);
}

static void flip_byte(const char *path, long offset)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, offset, offset < 0 ? SEEK_END : SEEK_SET);
    int byte = fgetc(file);
    fseek(file, -1, SEEK_CUR);
    fputc(byte ^ 0x40, file);
    fclose(file);
}

static void test_cache(void **state)
{
    char path[512];
    struct stat status;
    (void)state;
    expect_builds(0, 1); /* test_run stored it */
    entry_path(path, sizeof path);
    assert_int_equal(stat(path, &status), 0);
    long offsets[] = {0, 20, 45, 60, status.st_size / 2, -1};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        flip_byte(path, offsets[i]);
        expect_builds(1, 0); /* damaged: built anew … */
        expect_builds(0, 1); /* … and written anew */
    }
    assert_int_equal(truncate(path, status.st_size / 2), 0);
    expect_builds(1, 0);
    assert_int_equal(truncate(path, 0), 0);
    expect_builds(1, 0);
    expect_builds(0, 1);
    static const struct device_options other = {
        .platform_index = -1, .device_index = -1, .flags = "-DOTHER=1"};
    struct device *device = open_device(&other);
    run_doubler(device);
    assert_int_equal(device_counters(device)->builds, 1); /* options are part of the key */
    device_close(&device);
}

/* A dumped program one part of whose key is another. */
static void expect_no_fit(const char *path, const char *part, const char *other, const char *says)
{
    static const char *const parts[] = {"sluice", "platform", "device",   "version",
                                        "driver", "options",  "pointers", "source"};
    char changed[160];
    struct bytes file = {0}, key, binary;
    struct text text = {0};
    struct fault fault = FAULT_INIT;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(file_read(fd, 1 << 28, &file, &fault), 0);
    close(fd);
    assert_int_equal(device_entry_read(&file, &key, &binary), ENTRY_WHOLE);
    const char *at = (const char *)key.data;
    for (size_t i = 0; i < 8; i++) {
        size_t left = key.size - (size_t)(at - (const char *)key.data);
        size_t length = i < 7 ? strcspn(at, "\n") + 1 : left;
        if (strcmp(parts[i], part) == 0)
            text_printf(&text, "%s%s", other, i < 7 ? "\n" : "");
        else
            text_append_bytes(&text, at, length);
        at += length;
    }
    snprintf(changed, sizeof changed, "%s.changed", path);
    assert_int_equal(device_entry_write(changed, &text, &binary, false, &fault), 0);
    struct device_options options = {
        .platform_index = -1, .device_index = -1, .load_binary = changed};
    struct device *device = open_device(&options);
    struct device_program *program = NULL;
    int result = device_program_get_as(device, source, PROGRAM_ANY, &program, &fault);
    assert_int_equal(result, says[0] ? FAULT_DEVICE : 0);
    if (says[0] && !strstr(fault.text, says))
        fail_msg("%s", fault.text);
    device_program_put(device, &program);
    device_close(&device);
    text_finish(&text);
    bytes_finish(&file);
}

static void test_dump_and_load(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/dumped", cache);
    struct device_options options = {.platform_index = -1, .device_index = -1, .dump_binary = path};
    struct device *device = open_device(&options);
    run_doubler(device);
    device_close(&device);
    options.dump_binary = NULL;
    options.load_binary = path;
    device = open_device(&options);
    run_doubler(device);
    assert_int_equal(device_counters(device)->builds, 0);
    device_close(&device);
    expect_no_fit(path, "sluice", "0.0.0", "");
    expect_no_fit(path, "device", "a toaster", "for device 'a toaster' (here '");
    expect_no_fit(path, "driver", "0.1", "for driver '0.1' (here '");
    expect_no_fit(path, "source", "kernel void other() {}", "for another chain");
    options.load_binary = "/nonexistent";
    device = open_device(&options);
    struct device_program *program = NULL;
    struct fault fault = FAULT_INIT;
    assert_int_equal(device_program_get_as(device, source, PROGRAM_ANY, &program, &fault),
                     FAULT_NO_INPUT);
    device_close(&device);
}

static void test_errors_are_named(void **state)
{
    struct fault fault = FAULT_INIT;
    struct device_program *program = NULL;
    const struct device_kernel *kernel;
    struct device_buffer *buffer;
    (void)state;
    struct device *device = open_device(NULL);
    assert_int_equal(device_program_get_as(device, "#line 7 \"broken.cl\"\n__kernel void k( {}\n",
                                           PROGRAM_ANY, &program, &fault),
                     FAULT_DEVICE);
    assert_non_null(strstr(fault.text, "clBuildProgram: CL_BUILD_PROGRAM_FAILURE"));
    assert_non_null(strstr(fault.text, "broken.cl:7"));
    fault_clear(&fault);
    assert_int_equal(device_program_get_as(device, source, PROGRAM_ANY, &program, &fault), 0);
    assert_int_equal(device_program_kernel(program, "tripler", &kernel, &fault), FAULT_DEVICE);
    assert_string_equal(fault.text, "clCreateKernel: CL_INVALID_KERNEL_NAME (tripler)");
    fault_clear(&fault);
    assert_int_equal(device_buffer_acquire(device, info->max_allocation + 1, &buffer, &fault),
                     FAULT_LIMIT);
    device_program_put(device, &program);
    device_close(&device);
}

static int get_as(struct device *device, const char *text, enum program_use use,
                  struct device_program **program)
{
    struct fault fault = FAULT_INIT;
    int result = device_program_get_as(device, text, use, program, &fault);
    if (result == FAULT_KERNELS)
        assert_non_null(strstr(fault.text, "which is the limit"));
    return result;
}

/* What strangers may have compiled is bounded, also what does not compile; what is kept is found,
 * and may be made, whatever they did. */
static void test_counted(void **state)
{
    static const char *const texts[] = {"__kernel void a(__global int *v) { v[0] = 1; }",
                                        "__kernel void b( {}",
                                        "__kernel void c(__global int *v) { v[0] = 3; }",
                                        "__kernel void d(__global int *v) { v[0] = 4; }"};
    struct device_program *program = NULL;
    (void)state;
    struct device *device = open_device(NULL);
    atomic_uint_fast64_t *counted = &device_counters(device)->counted;
    assert_int_equal(get_as(device, texts[0], PROGRAM_FOUND, &program), 0);
    assert_null(program);
    atomic_store(counted, PROGRAM_COUNTED_MAX - 2);
    assert_int_equal(get_as(device, texts[0], PROGRAM_COUNTED, &program), 0);
    device_program_put(device, &program);
    assert_int_equal(get_as(device, texts[1], PROGRAM_COUNTED, &program), FAULT_DEVICE);
    assert_int_equal(atomic_load(counted), PROGRAM_COUNTED_MAX);
    assert_int_equal(get_as(device, texts[2], PROGRAM_COUNTED, &program), FAULT_KERNELS);
    assert_null(program);
    assert_int_equal(get_as(device, texts[0], PROGRAM_COUNTED, &program), 0);
    device_program_put(device, &program);
    assert_int_equal(get_as(device, texts[3], PROGRAM_KEPT, &program), 0);
    device_program_put(device, &program);
    assert_int_equal(get_as(device, texts[3], PROGRAM_FOUND, &program), 0);
    assert_non_null(program);
    device_program_put(device, &program);
    device_close(&device);
}

/* A work-group that does not divide the grid is refused by the driver: the fault names the kernel.
 */
static void test_launch_errors(void **state)
{
    struct fault fault = FAULT_INIT;
    struct device_program *program = NULL;
    const struct device_kernel *kernel;
    struct device_buffer *buffer;
    struct device_batch *batch;
    (void)state;
    struct device *device = open_device(NULL);
    assert_int_equal(device_program_get_as(device, source, PROGRAM_ANY, &program, &fault), 0);
    assert_int_equal(device_program_kernel(program, "doubler", &kernel, &fault), 0);
    assert_int_equal(device_buffer_acquire(device, 400, &buffer, &fault), 0);
    struct device_arg args[2] = {{ARG_VALUE_4, .i = 100}, {ARG_MEMORY, .buffer = buffer}};
    struct device_launch launch = {"stage", kernel, args, 2, {64, 1}, {1u << 30, 1}};
    assert_int_equal(device_batch_begin(device, &batch, &fault), 0);
    assert_int_equal(device_batch_launch(batch, &launch, &fault), FAULT_DEVICE);
    assert_non_null(strstr(fault.text, "clEnqueueNDRangeKernel: CL_INVALID_WORK_"));
    assert_non_null(strstr(fault.text, "(stage stage, kernel doubler)"));
    device_batch_finish(&batch);
    device_buffer_release(device, &buffer);
    device_program_put(device, &program);
    device_close(&device);
}

static void test_pool(void **state)
{
    struct fault fault = FAULT_INIT;
    struct device_buffer *buffers[8];
    (void)state;
    struct device *device = open_device(NULL);
    struct device_counters *c = device_counters(device);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++)
            assert_int_equal(device_buffer_acquire(device, 1000000 + i, &buffers[i], &fault), 0);
        for (int i = 0; i < 8; i++)
            device_buffer_release(device, &buffers[i]);
        assert_int_equal(c->allocations, 8); /* sizes alike share */
    }
    uint64_t held = c->buffer_bytes;
    assert_true(held >= 8000000);
    device_pool_limit(device, 2500000);
    assert_int_equal(device_buffer_acquire(device, 1000000, &buffers[0], &fault), 0);
    device_buffer_release(device, &buffers[0]);
    assert_true(c->buffer_bytes <= 2500000); /* those idle longest went */
    device_close(&device);
}

static void test_select(void **state)
{
    struct fault fault = FAULT_INIT;
    const struct device_info *order[DEVICES_MAX];
    size_t count;
    struct device_options options = {
        .select = "no such device", .platform_index = -1, .device_index = -1};
    (void)state;
    if (!info)
        skip();
    assert_int_equal(device_select(&options, order, &count, &fault), FAULT_NO_DEVICE);
    assert_non_null(strstr(fault.text, info->name));
    fault_clear(&fault);
    options.select = device_kind_name(info->kind);
    assert_int_equal(device_select(&options, order, &count, &fault), 0);
    options.platform_index = 999;
    assert_int_equal(device_select(&options, order, &count, &fault), FAULT_NO_DEVICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run),           cmocka_unit_test(test_cache),
        cmocka_unit_test(test_dump_and_load), cmocka_unit_test(test_errors_are_named),
        cmocka_unit_test(test_launch_errors), cmocka_unit_test(test_pool),
        cmocka_unit_test(test_select),        cmocka_unit_test(test_counted),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
