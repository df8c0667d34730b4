/* What `sluice tune` remembers, and what is chosen by it. With arguments this program remembers
 * times for the devices that are there, for tests of the programs that choose:
 *
 *     unit_tuned CHAIN TYPE CHANNELS DEVICE_SECONDS NATIVE_SECONDS     six of each, joined by
 * commas */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain/tuned.h"

static char cache[] = "/tmp/sluice-test-XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(cache) ? setenv("SLUICE_CACHE_DIR", cache, 1) : -1;
}

static int teardown(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", cache);
    return system(command);
}

static struct device_info device = {
    .kind = DEVICE_GPU, .name = "a GPU", .platform = "p", .version = "v", .driver = "1"};
static struct device_info native = {
    .kind = DEVICE_NATIVE, .name = "native", .vendor = "x", .version = "l3", .compute_units = 4};

/* The GPU takes 1 ms and 1 ns a pixel, native 10 ns a pixel: they meet at 111,111 pixels. */
static struct tuned_times usual(void)
{
    struct tuned_times times;
    for (unsigned i = 0; i < TUNED_SIZES; i++) {
        double pixels = (double)tuned_widths[i] * TUNED_HEIGHT_OF(tuned_widths[i]);
        times.device[i] = 1e-3 + 1e-9 * pixels;
        times.native[i] = 10e-9 * pixels;
    }
    return times;
}

static struct chain parse(const char *text)
{
    struct chain chain = {0};
    struct fault fault = FAULT_INIT;
    if (chain_parse(&chain, text, &fault) != 0)
        fail_msg("%s", fault.text);
    return chain;
}

static struct tuned *read_back(void)
{
    struct tuned *tuned = NULL;
    struct fault fault = FAULT_INIT;
    assert_int_equal(tuned_create(&tuned, &device, &native, &fault), 0);
    return tuned;
}

static void set(struct tuned *tuned, const char *text, struct plane kind,
                const struct tuned_times *times)
{
    struct fault fault = FAULT_INIT;
    struct chain chain = parse(text);
    assert_int_equal(tuned_set(tuned, &chain, &kind, times, &fault), 0);
    chain_finish(&chain);
}

static bool choose(const struct tuned *tuned, const char *text, struct plane plane,
                   struct tuned_choice *choice)
{
    struct frame frame = {0};
    struct chain chain = parse(text);
    assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    bool known = tuned_choose(tuned, &chain, &frame, choice);
    frame_finish(&frame);
    chain_finish(&chain);
    return known;
}

static const struct plane grey = {.type = SAMPLE_U8, .channels = 1},
                          rgb = {.type = SAMPLE_U8, .channels = 3};

static struct plane sized(struct plane kind, uint32_t width, uint32_t height)
{
    kind.width = width;
    kind.height = height;
    return kind;
}

static void test_choice_by_size(void **state)
{
    struct tuned *tuned = read_back();
    struct tuned_times times = usual();
    struct tuned_choice choice;
    (void)state;
    assert_int_equal(tuned_count(tuned), 0);
    assert_false(choose(tuned, "sobel", sized(grey, 640, 480), &choice));
    set(tuned, "sobel", grey, &times);
    /* The times themselves at the sizes that were measured; the pixels count, not the sides. */
    for (unsigned i = 0; i < TUNED_SIZES; i++) {
        uint32_t width = tuned_widths[i], height = TUNED_HEIGHT_OF(width);
        assert_true(choose(tuned, "sobel", sized(grey, width / 2, 2 * height), &choice));
        assert_true(fabs(choice.device_s / times.device[i] - 1) < 1e-6);
        assert_true(fabs(choice.native_s / times.native[i] - 1) < 1e-6);
        assert_int_equal(choice.native, i < 2);
        assert_false(choice.by_stages);
    }
    /* Between, below and above them. */
    assert_true(choose(tuned, "sobel", sized(grey, 300, 300), &choice) && choice.native);
    assert_true(fabs(choice.native_s / 900e-6 - 1) < 0.01);
    assert_true(choose(tuned, "sobel", sized(grey, 400, 400), &choice) && !choice.native);
    assert_true(choose(tuned, "sobel", sized(grey, 1, 1), &choice) && choice.native);
    assert_true(choose(tuned, "sobel", sized(grey, 8192, 8192), &choice) && !choice.native);
    assert_true(fabs(choice.native_s / (10e-9 * 8192 * 8192) - 1) < 1e-6);
    /* Another kind of picture, and another parameter, are not known. */
    assert_false(choose(tuned, "sobel", sized(rgb, 300, 300), &choice));
    assert_false(choose(tuned, "sobel:out=dx", sized(grey, 300, 300), &choice));
    assert_int_equal(tuned_crossover(&times), 2);
    tuned_destroy(&tuned);
}

static void test_sum_of_stages(void **state)
{
    struct tuned *tuned = read_back();
    struct tuned_times times = usual();
    struct tuned_choice choice;
    (void)state;
    set(tuned, "luminance", rgb, &times);
    assert_false(choose(tuned, "luminance,sobel", sized(rgb, 640, 480), &choice));
    set(tuned, "sobel", grey, &times);
    assert_true(choose(tuned, "luminance,sobel", sized(rgb, 640, 480), &choice));
    assert_true(choice.by_stages && !choice.native);
    /* What the smallest picture takes counts once. */
    assert_true(fabs(choice.device_s / (2 * times.device[2] - times.device[0]) - 1) < 1e-6);
    /* A stage behind one that makes a quarter of the picture. */
    set(tuned, "resize:by=0.5", grey, &times);
    assert_true(choose(tuned, "resize:by=0.5,sobel", sized(grey, 640, 480), &choice));
    assert_true(fabs(choice.native_s / (times.native[2] + times.native[1] - times.native[0]) - 1) <
                1e-6);
    /* The chain as a whole is known better. */
    struct tuned_times other = usual();
    for (unsigned i = 0; i < TUNED_SIZES; i++)
        other.native[i] = 1e-6;
    set(tuned, "luminance,sobel", rgb, &other);
    assert_true(choose(tuned, "luminance,sobel", sized(rgb, 640, 480), &choice));
    assert_true(choice.native && !choice.by_stages);
    tuned_destroy(&tuned);
}

static void test_sizes_that_are_not_known(void **state)
{
    struct tuned *tuned = read_back();
    struct tuned_times times = usual(), none = {{0}, {0}};
    struct tuned_choice choice;
    (void)state;
    times.device[0] = times.native[0] = 0; /* a window larger than the picture */
    times.device[5] = times.native[5] = 0; /* not enough memory */
    set(tuned, "sobel", grey, &times);
    set(tuned, "invert", grey, &none);
    assert_true(choose(tuned, "sobel", sized(grey, 4096, 4096), &choice) && !choice.native);
    assert_true(fabs(choice.native_s / (10e-9 * 4096 * 4096) - 1) < 1e-6);
    assert_true(choose(tuned, "sobel", sized(grey, 10, 10), &choice) && choice.native);
    assert_false(choose(tuned, "invert", sized(grey, 640, 480), &choice));
    assert_int_equal(tuned_crossover(&times), 2);
    assert_int_equal(tuned_crossover(&none), TUNED_SIZES);
    tuned_destroy(&tuned);
}

/* Another driver, processor or number of processors has measured nothing; a damaged entry is none.
 */
static void test_what_is_remembered(void **state)
{
    struct tuned *tuned = read_back();
    struct tuned_times times = usual();
    struct tuned_choice choice;
    (void)state;
    set(tuned, "sobel", grey, &times);
    set(tuned, "luminance,sobel:scale=1", rgb, &times);
    assert_true(tuned_store(tuned));
    tuned_destroy(&tuned);
    tuned = read_back();
    assert_int_equal(tuned_count(tuned), 2);
    assert_true(choose(tuned, "luminance,sobel:scale=1", sized(rgb, 640, 480), &choice));
    assert_true(fabs(choice.native_s / times.native[2] - 1) < 1e-3);
    tuned_destroy(&tuned);
    const struct device_info was = native;
    strcpy(device.driver, "2");
    tuned = read_back();
    assert_int_equal(tuned_count(tuned), 0);
    tuned_destroy(&tuned);
    strcpy(device.driver, "1");
    native.compute_units = 2;
    tuned = read_back();
    assert_int_equal(tuned_count(tuned), 0);
    tuned_destroy(&tuned);
    native = was;
    char command[160];
    snprintf(command, sizeof command,
             "for f in '%s'/*.bin; do printf x | dd of=$f bs=1 seek=90 "
             "conv=notrunc 2>/dev/null; done",
             cache);
    assert_int_equal(system(command), 0);
    tuned = read_back();
    assert_int_equal(tuned_count(tuned), 0);
    tuned_destroy(&tuned);
}

static void read_list(const char *text, double seconds[TUNED_SIZES])
{
    char *at = (char *)text;
    for (unsigned i = 0; i < TUNED_SIZES; i++, at += *at == ',')
        seconds[i] = strtod(at, &at);
}

static int remember(char **argv)
{
    static const struct device_options any = {.platform_index = -1, .device_index = -1};
    const struct device_info *there, *processor;
    struct fault fault = FAULT_INIT;
    struct tuned *tuned = NULL;
    struct tuned_times times;
    struct chain chain = {0};
    struct plane kind = {.channels = (uint32_t)atoi(argv[3])};
    read_list(argv[4], times.device);
    read_list(argv[5], times.native);
    if (chain_parse(&chain, argv[1], &fault) == 0 && sample_find(argv[2], &kind.type) &&
        tuned_pair(&any, &there, &processor, &fault) == 0 &&
        tuned_create(&tuned, there, processor, &fault) == 0 &&
        tuned_set(tuned, &chain, &kind, &times, &fault) == 0 && !tuned_store(tuned))
        fault_set(&fault, FAULT_IO, "not stored");
    if (fault.code)
        fprintf(stderr, "%s\n", fault.text);
    tuned_destroy(&tuned);
    chain_finish(&chain);
    return fault.code != FAULT_NONE;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice_by_size), cmocka_unit_test(test_sum_of_stages),
        cmocka_unit_test(test_sizes_that_are_not_known), cmocka_unit_test(test_what_is_remembered)};
    return argc == 6 ? remember(argv) : cmocka_run_group_tests(tests, setup, teardown);
}
