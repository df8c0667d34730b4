/* test_import HOW: dma-bufs on a driver that fault/cl_import.c plays. It must be found out what the
 * driver is, once, and frames of one that is good must be computed where they lie. */
#include <sluice/sluice.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    WIDTH = 100,
    HEIGHT = 60,
    STRIDE = 131,
    OFFSET = 7,
    BYTES = OFFSET + STRIDE * HEIGHT
};

static const char *how;

static struct sluice_device *open_device(const char *select)
{
    struct sluice_device_options options = SLUICE_INIT(options);
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_device *device;
    options.select = select;
    if (sluice_device_open(&device, &options, &error) != 0)
        fail_msg("%s: %s", select, error.message);
    return device;
}

static unsigned probes(void)
{
    atomic_uint *made = dlsym(RTLD_DEFAULT, "cl_import_allocations");
    assert_non_null(made);
    return *made / 2;
}

static int new_file(void)
{
    int fd = memfd_create("frame", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, BYTES), 0);
    return fd;
}

/* What the probe finds is said, and not looked for a second time. */
static void test_found(void **state)
{
    const char *says = strcmp(how, "refuses") == 0  ? "refuses"
                       : strcmp(how, "copies") == 0 ? "copies"
                       : strcmp(how, "stale") == 0  ? "stale"
                                                    : NULL;
    int fd = new_file();
    for (int i = 0; i < 3; i++) {
        struct sluice_device *device = open_device("gpu");
        struct sluice_error error = SLUICE_INIT(error);
        struct sluice_memory *memory;
        int result = sluice_memory_import(&memory, device, fd, BYTES, SLUICE_READ, &error);
        if (result != (says ? SLUICE_E_IMPORT : 0))
            fail_msg("%s: %d, %s", how, result, error.message);
        if (says && !strstr(error.message, says))
            fail_msg("%s: %s", how, error.message);
        sluice_memory_unref(&memory);
        sluice_device_unref(&device);
        assert_int_equal(probes(), 1);
    }
    close(fd);
}

static struct sluice_layout layout_of(struct sluice_plane *plane)
{
    struct sluice_layout layout = SLUICE_INIT(layout);
    *plane = (struct sluice_plane){.width = WIDTH,
                                   .height = HEIGHT,
                                   .channels = 1,
                                   .type = SLUICE_U8,
                                   .offset = OFFSET,
                                   .stride = STRIDE};
    layout.planes = plane;
    layout.n_planes = 1;
    return layout;
}

static void process(struct sluice_device *device, const char *text, struct sluice_memory *in,
                    struct sluice_memory *out, unsigned flags, uint64_t copied)
{
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_times times = SLUICE_INIT(times);
    struct sluice_plane planes[2];
    struct sluice_layout from = layout_of(&planes[0]), to = layout_of(&planes[1]);
    struct sluice_chain *chain;
    struct sluice_plan *plan;
    assert_int_equal(sluice_chain_parse(&chain, text, NULL, &error, 1), 0);
    if (sluice_plan_create(&plan, chain, device, &from, &to, flags, &error) != 0)
        fail_msg("%s: %s", text, error.message);
    for (int i = 0; i < 2; i++)
        if (sluice_process(plan, in, out, &times, &error) != 0)
            fail_msg("%s: %s", text, error.message);
    assert_int_equal(times.bytes_copied, copied);
    sluice_plan_unref(&plan);
    sluice_chain_unref(&chain);
}

/* Every mixture of dma-bufs and the process's memory gives what native gives. */
static void test_frames(void **state)
{
    static const char *const chains[] = {"sobel", "invert,sobel,threshold:t=30", "median", ""};
    if (strcmp(how, "accepts") != 0)
        skip();
    struct sluice_device *gpu = open_device("gpu"), *native = open_device("native");
    struct sluice_error error = SLUICE_INIT(error);
    int in_fd = new_file(), out_fd = new_file();
    uint8_t *in = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, in_fd, 0);
    uint8_t *out = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, out_fd, 0);
    uint8_t plain[BYTES], wanted[BYTES];
    struct sluice_memory *from[2], *to[2], *native_in, *native_out;
    for (int i = 0; i < BYTES; i++)
        in[i] = (uint8_t)(i * 2654435761u >> 17);
    assert_int_equal(sluice_memory_import(&from[0], gpu, in_fd, BYTES, SLUICE_READ, &error), 0);
    assert_int_equal(sluice_memory_import(&to[0], gpu, out_fd, BYTES, SLUICE_WRITE, &error), 0);
    assert_int_equal(sluice_memory_wrap(&from[1], gpu, in, BYTES, SLUICE_READ, &error), 0);
    assert_int_equal(sluice_memory_wrap(&to[1], gpu, plain, BYTES, SLUICE_WRITE, &error), 0);
    assert_int_equal(sluice_memory_wrap(&native_in, native, in, BYTES, SLUICE_READ, &error), 0);
    assert_int_equal(sluice_memory_wrap(&native_out, native, wanted, BYTES, SLUICE_WRITE, &error),
                     0);
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        memset(wanted, 0x5a, BYTES);
        process(native, chains[c], native_in, native_out, 0, 0);
        for (unsigned flags = 0; flags < 4; flags++) {
            bool imports_in = flags & SLUICE_IMPORT_IN, imports_out = flags & SLUICE_IMPORT_OUT;
            uint8_t *result = imports_out ? out : plain;
            memset(result, 0x5a, BYTES);
            process(gpu, chains[c], from[!imports_in], to[!imports_out], flags,
                    chains[c][0] || flags ? (!imports_in + !imports_out) * WIDTH * HEIGHT
                                          : WIDTH * HEIGHT);
            for (int i = 0; i < BYTES; i++)
                if (result[i] != wanted[i])
                    fail_msg("'%s', flags %u: byte %d is %d, not %d", chains[c], flags, i,
                             result[i], wanted[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        sluice_memory_unref(&from[i]);
        sluice_memory_unref(&to[i]);
    }
    sluice_memory_unref(&native_in);
    sluice_memory_unref(&native_out);
    sluice_device_unref(&gpu);
    sluice_device_unref(&native);
    munmap(in, BYTES);
    munmap(out, BYTES);
    close(in_fd);
    close(out_fd);
}

/* Frames of every video format give on a GPU, whose kernels these are, what the references give. */
static void test_video(void **state)
{
    static const char *const chains[] = {"", "luminance,invert"};
    struct sluice_error error = SLUICE_INIT(error);
    if (strcmp(how, "accepts") != 0)
        skip();
    struct sluice_device *devices[] = {open_device("gpu"), open_device("reference")};
    for (int format = SLUICE_NV12; format <= SLUICE_RAW12; format++)
        for (int c = 0; c < 2; c++) {
            struct sluice_layout layout = SLUICE_INIT(layout), result = SLUICE_INIT(result);
            struct sluice_plane plane;
            struct sluice_chain *chain;
            static uint8_t frame[1 << 16], results[2][1 << 16];
            layout.format = format;
            layout.width = 37;
            layout.height = 21;
            result.planes = &plane;
            result.n_planes = 1;
            assert_in_range(sluice_layout_fill(&layout, 1), 1, sizeof frame);
            for (size_t i = 0; i < sizeof frame; i++)
                frame[i] = (uint8_t)(i * 2654435761u >> 19);
            assert_int_equal(sluice_chain_parse(&chain, chains[c], NULL, &error, 1), 0);
            assert_int_equal(sluice_chain_result(chain, &layout, &result, &error), 0);
            assert_in_range(sluice_layout_fill(&result, 1), 1, sizeof frame);
            for (int d = 0; d < 2; d++) {
                struct sluice_plan *plan;
                struct sluice_memory *in, *out;
                assert_int_equal(
                    sluice_memory_wrap(&in, devices[d], frame, sizeof frame, SLUICE_READ, NULL), 0);
                assert_int_equal(sluice_memory_wrap(&out, devices[d], results[d], sizeof results[d],
                                                    SLUICE_WRITE, NULL),
                                 0);
                if (sluice_plan_create(&plan, chain, devices[d], &layout, &result, 0, &error) !=
                        0 ||
                    sluice_process(plan, in, out, NULL, &error) != 0)
                    fail_msg("format %d: %s", format, error.message);
                sluice_plan_unref(&plan);
                sluice_memory_unref(&in);
                sluice_memory_unref(&out);
            }
            if (memcmp(results[0], results[1], sluice_layout_bytes(&result)) != 0)
                fail_msg("format %d, '%s': the GPU gives another picture", format, chains[c]);
            sluice_chain_unref(&chain);
        }
    sluice_device_unref(&devices[0]);
    sluice_device_unref(&devices[1]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found), cmocka_unit_test(test_frames),
                                       cmocka_unit_test(test_video)};
    char folder[] = "/tmp/sluice-import-XXXXXX", command[64];
    how = argc > 1 ? argv[1] : "accepts";
    if (!mkdtemp(folder))
        return 1;
    setenv("IMPORT_PLAYS", how, 1);
    setenv("SLUICE_CACHE_DIR", folder, 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return failed || system(command);
}
