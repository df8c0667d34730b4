/* What goes wrong while rows pass through (engine/rows.c): an input that is cut or damaged
 * anywhere, a result that cannot be written any further, a deadline that comes at any look at the
 * time. The job ends as one that holds the picture as a whole: the same fault, warnings and bytes,
 * and what is not complete is not called good. Every eighth row, byte and look; all of them with
 * the argument `all`. */
#include "test.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "chain/plan.h"
#include "codec/output.h"
#include "engine/engine.h"

#define WIDTH  5504 /* with 64 rows of RGB a little more than what is held as a whole */
#define HEIGHT 64

static unsigned step = 8;
static struct engine *engine;
static struct chain chain;

/* ---- looks at the time: from number `late` on it is too late; 0: never ---- */

static atomic_uint looks, late;

int __wrap_deadline_check(struct fault *fault);
int __wrap_deadline_check(struct fault *fault)
{
    unsigned look = atomic_fetch_add(&looks, 1) + 1, from = atomic_load(&late);
    return from == 0 || look < from ? 0 : fault_set(fault, FAULT_TIME, "too late");
}

/* ---- jobs ---- */

struct file {
    uint8_t *data;
    size_t size;
};

/* Bytes that a result may have; SIZE_MAX: any number. */
static size_t room = SIZE_MAX;

static void limit_files(size_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes == SIZE_MAX ? limit.rlim_max : bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A job's result, and how it was closed. */
struct result {
    struct fault fault;
    struct text warnings;
    bool opened, good;
    size_t size;
    uint8_t *data; /* of a good one */
    int fd;
};

static int open_result(void *result_, size_t index, const char *plane, int *fd, struct fault *fault)
{
    struct result *result = result_;
    (void)index, (void)plane, (void)fault;
    result->opened = true;
    *fd = result->fd = memfd_create("result", MFD_CLOEXEC);
    assert_true(*fd >= 0);
    limit_files(room);
    return 0;
}

static int close_result(void *result_, int fd, bool good, struct fault *fault)
{
    struct result *result = result_;
    (void)fault;
    limit_files(SIZE_MAX);
    result->good = good;
    result->size = (size_t)lseek(fd, 0, SEEK_END);
    result->data = malloc(result->size + 1);
    assert_int_equal(pread(fd, result->data, result->size, 0), result->size);
    close(fd);
    return 0;
}

static struct result run(const struct file *file, const char *format_text, const char *input,
                         bool whole)
{
    struct result result = {.fault = FAULT_INIT};
    struct fault fault = FAULT_INIT;
    struct format format;
    struct decode_options decode;
    int fd = memfd_create("input", MFD_CLOEXEC);
    assert_int_equal(pwrite(fd, file->data, file->size, 0), file->size);
    assert_int_equal(format_parse(&format, format_text, &fault), 0);
    assert_int_equal(decode_options_parse(&decode, input, "--input", &fault), 0);
    struct engine_result of = {.format = &format};
    struct engine_job job = {.in_fd = fd,
                             .chain = &chain,
                             .results = &of,
                             .decode = decode,
                             .output = {open_result, close_result, &result, false},
                             .iterations = whole ? 2 : 1};
    atomic_store(&looks, 0);
    engine_run(engine, &job);
    result.fault = job.fault;
    result.warnings = job.report.warnings;
    job.report.warnings = (struct text){0};
    engine_report_finish(&job.report);
    format_finish(&format);
    close(fd);
    assert_int_equal(result.fault.code == 0, result.opened && result.good);
    return result;
}

static void result_finish(struct result *result)
{
    text_finish(&result->warnings);
    free(result->data);
}

/* By rows and as a whole. */
static void compare(const struct file *file, const char *format, const char *input,
                    const char *what, unsigned row)
{
    struct result rows = run(file, format, input, false), whole = run(file, format, input, true);
    if (rows.fault.code != whole.fault.code || strcmp(rows.fault.text, whole.fault.text) != 0)
        fail_msg("%s, row %u, %s: by rows '%s', as a whole '%s'", what, row, input ? input : "",
                 rows.fault.text, whole.fault.text);
    if (strcmp(text_string(&rows.warnings), text_string(&whole.warnings)) != 0)
        fail_msg("%s, row %u: by rows the warnings are '%s', as a whole '%s'", what, row,
                 text_string(&rows.warnings), text_string(&whole.warnings));
    if (rows.good && (rows.size != whole.size || memcmp(rows.data, whole.data, rows.size) != 0))
        fail_msg("%s, row %u: other bytes", what, row);
    result_finish(&rows);
    result_finish(&whole);
}

/* ---- pictures ---- */

static struct file picture_as(const char *format_text)
{
    struct plane plane = {.width = WIDTH, .height = HEIGHT, .channels = 3};
    struct frame frame = {0};
    struct picture picture;
    struct format format;
    struct fault fault = FAULT_INIT;
    assert_true(frame_add_plane(&frame, &plane, 1) && picture_create(&picture, &frame));
    for (uint32_t y = 0; y < HEIGHT; y++) {
        uint8_t *row = picture_row(&picture, 0, y);
        for (uint32_t x = 0; x < WIDTH * 3; x++)
            row[x] = (uint8_t)((x * 7 + y * 13) / 16 + (x * y % 5));
    }
    struct file file = {0};
    if (strcmp(format_text, "raw") == 0) { /* packed already */
        file.size = (size_t)WIDTH * HEIGHT * 3;
        file.data = malloc(file.size);
        for (uint32_t y = 0; y < HEIGHT; y++)
            memcpy(file.data + (size_t)y * WIDTH * 3, picture_row(&picture, 0, y), WIDTH * 3);
    } else {
        int fd = memfd_create("file", MFD_CLOEXEC);
        struct output *output = output_create(fd);
        assert_int_equal(format_parse(&format, format_text, &fault), 0);
        assert_int_equal(format_encode(&format, &picture, 0, output, &fault), 0);
        assert_int_equal(output_flush(output, &fault), 0);
        output_destroy(&output);
        format_finish(&format);
        file.size = (size_t)lseek(fd, 0, SEEK_END);
        file.data = malloc(file.size);
        assert_int_equal(pread(fd, file.data, file.size, 0), file.size);
        close(fd);
    }
    picture_destroy(&picture);
    frame_finish(&frame);
    return file;
}

static const char *const formats[] = {
    "jpg",  "png", "bmp", "pnm", "npy", "raw",
#ifdef SLUICE_TIFF
    "tiff",
#endif
};

#define RAW_INPUT "raw=rgb24:w=5504:h=64"

/* Otherwise nothing here is by rows. */
static void test_goes_by_rows(void **state)
{
    struct plane plane = {.width = WIDTH, .height = HEIGHT, .channels = 3};
    struct frame frame = {0};
    struct plan *plan;
    struct fault fault = FAULT_INIT;
    (void)state;
    assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    struct plan_options options = {
        .profile = device_profile_by_name("native"), .rows_in = true, .rows_out = true};
    assert_int_equal(plan_create(&plan, &chain, &frame, &options, &fault), 0);
    assert_true(plan->by_rows && plan->held.rows > 0 && plan->steps[0].held.rows > 0);
    plan_destroy(&plan);
    frame_finish(&frame);
}

static void test_damaged_inputs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        bool raw = strcmp(formats[i], "raw") == 0;
        struct file file = picture_as(formats[i]);
        const char *usual = raw ? RAW_INPUT : NULL;
        const char *partial = raw ? RAW_INPUT ":partial=1" : "partial=1";
        compare(&file, "png", usual, formats[i], HEIGHT);
        for (unsigned row = i % step; row < HEIGHT; row += step) {
            size_t at = file.size * row / HEIGHT + 1;
            struct file cut = {file.data, at};
            compare(&cut, "pnm", usual, formats[i], row);
            compare(&cut, "pnm", partial, formats[i], row);
            file.data[at] ^= 0x55;
            compare(&file, "pnm", usual, formats[i], row);
            if (step == 1)
                compare(&file, "jpg", partial, formats[i], row);
            file.data[at] ^= 0x55;
        }
        free(file.data);
    }
}

static void test_full_disks(void **state)
{
    static const char *const to[] = {"pnm", "png", "jpg", "bmp", "npy"};
    struct file file = picture_as("pnm");
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        struct result all = run(&file, to[i], NULL, false);
        assert_true(all.good);
        for (size_t size = 0; size < all.size; size += all.size / HEIGHT * step + 1) {
            room = size;
            struct result rows = run(&file, to[i], NULL, false);
            struct result whole = run(&file, to[i], NULL, true);
            room = SIZE_MAX;
            if (rows.good || rows.fault.code != whole.fault.code ||
                strcmp(rows.fault.text, whole.fault.text) != 0)
                fail_msg("%s, room for %zu bytes: by rows '%s', as a whole '%s'", to[i], size,
                         rows.fault.text, whole.fault.text);
            assert_in_range(rows.size, 0, size);
            result_finish(&rows);
            result_finish(&whole);
        }
        result_finish(&all);
    }
    free(file.data);
}

static void test_deadlines(void **state)
{
    static const char *const from[] = {"pnm", "png", "jpg"};
    (void)state;
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        struct file file = picture_as(from[i]);
        struct result all = run(&file, "png", NULL, false);
        unsigned most = atomic_load(&looks);
        assert_true(all.good && most > HEIGHT / 8);
        for (unsigned look = 1; look <= most; look += step / 2 + 1) {
            atomic_store(&late, look);
            struct result result = run(&file, "png", NULL, false);
            atomic_store(&late, 0);
            /* how often threads look differs */
            if (result.good
                    ? result.size != all.size || memcmp(result.data, all.data, all.size) != 0
                    : result.fault.code != FAULT_TIME)
                fail_msg("%s, look %u of %u: '%s'", from[i], look, most, result.fault.text);
            result_finish(&result);
        }
        result_finish(&all);
        free(file.data);
    }
}

static int open_engine(void **state)
{
    const struct engine_options options = {
        .device = {.select = "native", .platform_index = -1, .device_index = -1},
        .max_pixels = 1 << 22,
        .max_file = 16 << 20,
        .memory = 256 << 20,
        .threads = 1};
    struct fault fault = FAULT_INIT;
    (void)state;
    if (engine_open(&engine, &options, &fault) != 0)
        fail_msg("%s", fault.text);
    return chain_parse(&chain, "invert", &fault);
}

static int close_engine(void **state)
{
    (void)state;
    engine_close(&engine);
    chain_finish(&chain);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_by_rows),
        cmocka_unit_test(test_damaged_inputs),
        cmocka_unit_test(test_full_disks),
        cmocka_unit_test(test_deadlines),
    };
    if (argc > 1 && strcmp(argv[1], "all") == 0)
        step = 1;
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
