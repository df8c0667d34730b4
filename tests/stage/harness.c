#include "harness.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "chain/recording.h"
#include "chain/reference.h"
#include "programs.h"

#define LEFT_OUT   (-1) /* in place of a fault's code: the device is not to run this */
#define GUARD      256
#define GUARD_BYTE 0xA5

static struct device *device;
/* The same for the forms of other classes: a CPU's compiler takes a third of the time for them when
 * it does not optimise, and what they compute is the same. NULL where the device is none of the
 * CPUs that they are for. */
static struct device *hasty;
static char skip_reason[512];
static unsigned n_vectors;
static const struct definitions *definitions;
static const char *input_name = "";
static double input_white;

/* The device's own profile, and the GPU classes' forms on the device's compiler. */
static struct device_profile profiles[3];
static size_t n_profiles;
static bool only_own; /* of round trips */

/* --seed, on which every input's samples depend; --bench, the part of chains that it times, and how
 * many it has timed; whether --device is given. */
static uint32_t base_seed;
static bool benches;
static const char *benched = "";
static size_t n_benched;
static bool device_given;

static struct device *device_for(const struct device_profile *profile)
{
    return hasty && strcmp(profile->name, profiles[0].name) != 0 ? hasty : device;
}

static bool is_wanted(const char *class)
{
    const char *wanted = getenv("HARNESS_PROFILES");
    return !wanted || strcmp(wanted, class) == 0;
}

/* Environment HARNESS_PROFILES=own leaves the GPU forms out, for runs where compiling is slow; gpu
 * or mali leaves all but that class's out, for devices that are slow themselves (Oclgrind). The
 * native device has its own alone. */
static void choose_profiles(void)
{
    static const char *const classes[] = {"gpu", "mali"};
    const struct device_profile *own = device_profile(device);
    if (is_wanted("own"))
        profiles[n_profiles++] = *own;
    if (own->prebuilt && n_profiles == 0)
        fail_msg("HARNESS_PROFILES=%s: native has only its own kernels; others take --device cpu",
                 getenv("HARNESS_PROFILES"));
    if (own->prebuilt)
        return;
    for (size_t i = 0; i < 2; i++) {
        struct device_profile p = *device_profile_by_name(classes[i]);
        p.has_fp64 &= own->has_fp64; /* a class that lacks them does without */
        p.exact_divide &= own->exact_divide;
        p.work_per_second = 1e12;
        if (is_wanted(classes[i]) &&
            (n_profiles == 0 || p.form != own->form || p.vector_bytes != own->vector_bytes))
            profiles[n_profiles++] = p;
    }
    if (n_profiles == 0)
        fail_msg("HARNESS_PROFILES=%s: expected own, gpu or mali", getenv("HARNESS_PROFILES"));
}

static void open_hasty(const struct device_info *info, const struct device_options *like)
{
    static struct device_options options; /* as long as the device */
    if (benches)                          /* what is timed is optimised */
        return;
    options = *like;
    options.flags = "-cl-opt-disable";
    if (n_profiles > 1 && profiles[0].form == FORM_ROWS)
        device_open(&hasty, info, &options, NULL);
}

int harness_setup(void **state)
{
    static struct device_options options = {.platform_index = -1, .device_index = -1};
    const struct device_info *order[DEVICES_MAX];
    size_t fitting = 0;
    struct fault fault = FAULT_INIT;
    (void)state;
    (void)!nice(10); /* it only computes: beside it tests of the daemon wait, and measure how long */
    options.select = getenv("SLUICE_DEVICE");
    print_message("seed %u\n", base_seed);
    if (device_select(&options, order, &fitting, &fault) == 0)
        device_open(&device, order[0], &options, &fault);
    if (device) {
        choose_profiles();
        open_hasty(order[0], &options);
    } else if (device_given) {
        fprintf(stderr, "%s\n", fault.text);
        exit(2);
    } else
        snprintf(skip_reason, sizeof skip_reason, "no device: %s", fault.text);
    return 0;
}

int harness_teardown(void **state)
{
    (void)state;
    programs_report();
    device_close(&hasty);
    device_close(&device);
    if (benches && n_benched == 0) {
        fprintf(stderr, "--bench=%s: no chain's line (\"sobel u8 x1\") has that part\n", benched);
        exit(2);
    }
    return 0;
}

static void need_device(void)
{
    if (device)
        return;
    print_message("skipped: %s\n", skip_reason);
    skip();
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static double range_of(enum sample_type type, double *least)
{
    *least = sample_is_integer(type) ? sample_min(type) : -1000;
    return (sample_is_integer(type) ? sample_max(type) : 1000) - *least;
}

static double pattern_value(enum harness_pattern pattern, enum sample_type type, uint32_t x,
                            uint32_t y, uint32_t *random)
{
    double least, range = range_of(type, &least);
    double r = (next_random(random) & 0xffff) / 65535.0;
    double v;
    switch (pattern) {
    case HARNESS_EXTREMES:
        v = least + range * ((x / 3 + y / 2 + (next_random(random) % 7 == 0)) % 2);
        break;
    case HARNESS_RAMP:
        v = least + range * (fmod(x * 0.013 + y * 0.021, 1) * 0.98 + r * 0.02);
        break;
    default:
        v = least + range * r;
    }
    return sample_is_integer(type) ? rint(v) : (float)v;
}

static void fill(struct picture *picture, enum harness_pattern pattern, uint32_t seed)
{
    uint32_t random = seed ^ base_seed;
    memset(picture->data, GUARD_BYTE, picture->frame.size);
    for (size_t i = 0; i < picture->frame.n_planes; i++) {
        const struct plane *p = &picture->frame.planes[i];
        for (uint32_t y = 0; y < p->height; y++)
            for (uint32_t x = 0; x < p->width * p->channels; x++)
                sample_store(p->type,
                             (uint8_t *)picture_row(picture, i, y) + x * sample_size(p->type),
                             pattern_value(pattern, p->type, x / p->channels, y, &random));
    }
}

/* An input picture with guards; `alignment` of rows as the case wants it. */
static void make_input(struct picture *picture, const struct plane *plane, size_t alignment)
{
    struct frame frame = {.size = GUARD};
    assert_true(frame_add_plane(&frame, plane, alignment));
    snprintf(frame.planes[0].name, sizeof frame.planes[0].name, "%s", input_name);
    frame.planes[0].white = input_white;
    frame.size += GUARD;
    assert_true(picture_create(picture, &frame));
    frame_finish(&frame);
}

/* Fills what the run will take from the pool with guard bytes: a buffer of each slot's size. */
static void poison_pool(struct device *on, const struct plan *plan)
{
    struct device_buffer *buffers[64] = {0};
    struct fault fault = FAULT_INIT;
    assert_true(plan->n_slots <= 64);
    for (unsigned i = 0; i < plan->n_slots; i++) {
        void *data;
        assert_int_equal(device_buffer_acquire(on, plan->slot_size[i], &buffers[i], &fault), 0);
        size_t size = device_buffer_size(buffers[i]); /* the pool may swap those of one size */
        assert_int_equal(device_buffer_map(on, buffers[i], size, &data, &fault), 0);
        memset(data, GUARD_BYTE, size);
    }
    for (unsigned i = 0; i < plan->n_slots; i++)
        device_buffer_release(on, &buffers[i]);
}

/* Everything of the frame's memory that is no sample still holds the guard byte. */
static void check_guards(const struct frame *frame, const uint8_t *data, const char *what)
{
    uint8_t *mask = calloc(1, frame->size);
    assert_non_null(mask);
    for (size_t i = 0; i < frame->n_planes; i++) {
        const struct plane *p = &frame->planes[i];
        size_t row = (size_t)p->width * p->channels * sample_size(p->type);
        for (uint32_t y = 0; y < p->height; y++)
            memset(mask + p->offset + y * p->stride, 1, row);
    }
    for (size_t i = 0; i < frame->size; i++) {
        if (mask[i] || data[i] == GUARD_BYTE)
            continue;
        const struct plane *p = &frame->planes[0];
        fail_msg("%s: byte %zu outside the samples was written (plane 0 at %zu, stride %zu, %ux%u)",
                 what, i, p->offset, p->stride, p->width, p->height);
    }
    free(mask);
}

/* The frame whose samples were written where the result lies: the result, or what it is a view of. */
static const struct frame *written_frame(const struct plan *plan)
{
    const struct frame *written = &plan->in;
    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].work.n_passes > 0)
            written = &plan->steps[i].out;
    return written;
}

/* One run on the device; the result is copied into `out`. May be LEFT_OUT. */
static int run_device(const struct chain *chain, const struct picture *in,
                      const struct device_profile *profile, size_t alignment, const char *what,
                      struct picture *out, struct fault *fault)
{
    /* Memory that was another frame's is no output's: its guards would not be there. */
    struct plan_options options = {
        .profile = profile, .alignment = alignment, .guard = GUARD, .keep_all = true};
    struct device *on = device_for(profile);
    struct plan *plan = NULL;
    struct recording *recording = NULL;
    struct recording_run run = {0};
    struct device_buffer *buffer = NULL;
    void *data;
    int result = plan_create(&plan, chain, &in->frame, &options, fault);
    if (result != 0)
        return result;
    if (programs_leaves_out(plan)) {
        plan_destroy(&plan);
        return LEFT_OUT;
    }
    result = recording_create(&recording, plan, on, fault);
    if (result == 0) {
        poison_pool(on, plan);
        assert_int_equal(device_buffer_acquire(on, plan->slot_size[plan->in_slot], &buffer, fault),
                         0);
        assert_int_equal(device_buffer_map(on, buffer, in->frame.size, &data, fault), 0);
        memcpy(data, in->data, in->frame.size);
        result = recording_run(recording, &buffer, 1, &run, fault);
    }
    if (result == 0) {
        check_guards(written_frame(plan), run.data, what);
        assert_true(picture_create(out, plan->out));
        memcpy(out->data, run.data, plan->out->size);
        recording_run_finish(recording, &run);
    }
    recording_destroy(&recording);
    plan_destroy(&plan);
    return result;
}

/* The device did not run it, and need not: it says that it cannot, or it is left out. */
static bool is_excused(int result, const struct device_profile *profile)
{
    return result == LEFT_OUT || (result == FAULT_NO_DEVICE && !profile->has_fp64);
}

static int run_reference(const struct chain *chain, const struct picture *in, struct plan **plan,
                         struct picture *out, struct fault *fault)
{
    static const struct plan_options options = {0};
    int result = plan_create(plan, chain, &in->frame, &options, fault);
    if (result == 0)
        result = reference_run(*plan, in, out, fault);
    return result;
}

static void parse(const char *text, struct chain *chain)
{
    struct fault fault = FAULT_INIT;
    if (chain_parse_with(chain, text, definitions, &fault) != 0)
        fail_msg("chain %s: %s", text, fault.text);
}

/* What the references make of one input: only for what the device runs, as some take long. */
struct reference {
    const struct chain *chain;
    const struct picture *in;
    bool done;
    int code;
    struct plan *plan;
    struct picture picture;
};

static void run_reference_once(struct reference *expected)
{
    struct fault fault = FAULT_INIT;
    if (expected->done)
        return;
    expected->code = run_reference(expected->chain, expected->in, &expected->plan,
                                   &expected->picture, &fault);
    expected->done = true;
}

static void compare_profile(struct reference *expected, const struct device_profile *profile,
                            size_t alignment, const char *what)
{
    struct fault fault = FAULT_INIT;
    struct picture got = {0};
    int result =
        run_device(expected->chain, expected->in, profile, alignment, what, &got, &fault);
    if (is_excused(result, profile))
        return;
    run_reference_once(expected);
    if (result != expected->code)
        fail_msg("%s: device says %s (%s), reference %s", what, fault_name(result), fault.text,
                 fault_name(expected->code));
    if (result == 0) {
        if (!frame_same_shape(&got.frame, &expected->picture.frame))
            fail_msg("%s: device and reference disagree on the shape", what);
        if (reference_compare(expected->plan, &expected->picture, &got, &(double){0}, &fault) != 0)
            fail_msg("%s: %s", what, fault.text);
    }
    picture_destroy(&got);
}

/* Whether a plan for another profile has other kernels; else there is nothing more to see. */
static bool plan_differs(const struct chain *chain, const struct frame *in,
                         const struct device_profile *profile,
                         const struct device_profile *other_profile)
{
    struct plan_options options = {.profile = profile}, other_options = {.profile = other_profile};
    struct plan *plan = NULL, *other = NULL;
    struct fault fault = FAULT_INIT;
    bool differs = false;
    if (plan_create(&plan, chain, in, &options, &fault) == 0 &&
        plan_create(&other, chain, in, &other_options, &fault) == 0) {
        for (size_t i = 0; i < plan->n_steps && !differs; i++) {
            const struct stage_plan *a = &plan->steps[i].work, *b = &other->steps[i].work;
            differs = a->n_passes != b->n_passes;
            for (unsigned p = 0; p < a->n_passes && !differs; p++)
                differs = strcmp(a->passes[p].defines, b->passes[p].defines) != 0;
        }
    }
    plan_destroy(&plan);
    plan_destroy(&other);
    return differs;
}

/* ---- --bench ---- */

#define BENCH_WIDTH   1920
#define BENCH_HEIGHT  1080
#define BENCH_SECONDS 0.05 /* of runs, of which the fastest counts; at least three */

/* Nanoseconds of all kernels of the plan; 0: the device does not run it. */
static double time_kernels(const struct chain *chain, const struct picture *in,
                           const struct device_profile *profile, char *kernels, size_t size)
{
    struct plan_options options = {.profile = profile, .keep_all = true};
    struct plan *plan = NULL;
    struct recording *recording = NULL;
    struct fault fault = FAULT_INIT;
    double best = 0;
    void *data;
    int result = plan_create(&plan, chain, &in->frame, &options, &fault);
    if (result == 0)
        result = recording_create(&recording, plan, device, &fault);
    uint64_t begin = clock_now();
    for (int i = 0; result == 0 && (i < 3 || (double)(clock_now() - begin) < BENCH_SECONDS * 1e9);
         i++) {
        struct device_buffer *buffer = NULL;
        struct recording_run run = {0};
        double sum = 0, longest = 0;
        result = device_buffer_acquire(device, plan->slot_size[plan->in_slot], &buffer, &fault);
        if (result == 0)
            result = device_buffer_map(device, buffer, in->frame.size, &data, &fault);
        if (result == 0) {
            memcpy(data, in->data, in->frame.size);
            result = recording_run(recording, &buffer, 1, &run, &fault);
        }
        for (size_t k = 0; k < run.n_launches; k++) {
            sum += (double)run.launches[k].run;
            if ((double)run.launches[k].run < longest)
                continue;
            longest = (double)run.launches[k].run;
            snprintf(kernels, size, "%s, of %zu", run.launches[k].kernel, run.n_launches);
        }
        if (i == 0 || sum < best)
            best = sum;
        recording_run_finish(recording, &run);
    }
    recording_destroy(&recording);
    plan_destroy(&plan);
    return result == 0 ? best : 0;
}

/* Nanoseconds of the plain C for a picture that is so small that it takes no seconds. */
static double time_reference(const struct chain *chain, const struct picture *in)
{
    struct plan *plan = NULL;
    struct picture out = {0};
    struct fault fault = FAULT_INIT;
    uint64_t begin = clock_now();
    int result = run_reference(chain, in, &plan, &out, &fault);
    double time = (double)(clock_now() - begin);
    picture_destroy(&out);
    plan_destroy(&plan);
    return result == 0 ? time : 0;
}

static void make_bench_input(struct picture *picture, enum sample_type type, uint32_t channels,
                             uint32_t part)
{
    struct plane plane = {.width = BENCH_WIDTH / part,
                          .height = BENCH_HEIGHT / part,
                          .channels = channels,
                          .type = type};
    make_input(picture, &plane, FRAME_ALIGNMENT);
    fill(picture, HARNESS_RAMP, 1);
}

/* Times what a check compares: each profile's kernels, and the plain C, once for each chain, type
 * and number of channels. */
static void bench(const char *text, const struct chain *chain, enum sample_type type,
                  uint32_t channels)
{
    static char(*seen)[160];
    char name[160];
    snprintf(name, sizeof name, "%.120s %s x%u", text, sample_name(type), channels);
    if (!strstr(name, benched))
        return;
    for (size_t i = 0; i < n_benched; i++)
        if (strcmp(seen[i], name) == 0)
            return;
    seen = realloc(seen, (n_benched + 1) * sizeof *seen);
    assert_non_null(seen);
    memcpy(seen[n_benched++], name, sizeof name);
    if (n_benched == 1)
        printf("%-40s %-8s %11s %11s %8s  %s\n", "chain", "profile", "ns/sample", "C ns/sample",
               "times", "longest kernel, of how many launches");
    struct picture in = {0}, small = {0};
    make_bench_input(&in, type, channels, 1);
    make_bench_input(&small, type, channels, 8);
    const double samples = BENCH_WIDTH * BENCH_HEIGHT * (double)channels;
    double plain = time_reference(chain, &small) / (samples / 64);
    for (size_t i = 0; i < n_profiles; i++) {
        char kernels[PASS_NAME_MAX + 24] = "";
        double time = time_kernels(chain, &in, &profiles[i], kernels, sizeof kernels) / samples;
        if (time > 0)
            printf("%-40s %-8s %11.3f %11.2f %7.1fx  %s\n", name, profiles[i].name, time, plain,
                   plain / time, kernels);
    }
    fflush(stdout);
    picture_destroy(&in);
    picture_destroy(&small);
}

/* ---- checks ---- */

void harness_check(const char *text, enum sample_type type, uint32_t width, uint32_t height,
                   uint32_t channels, enum harness_pattern pattern)
{
    struct chain chain;
    struct plane plane = {.width = width, .height = height, .channels = channels, .type = type};
    need_device();
    parse(text, &chain);
    struct reference expected = {.chain = &chain};
    for (int odd = 0; odd < 2; odd++) {
        /* Rows as we lay them out, or packed: odd strides wherever the width is odd. The samples
         * are the same, and so is what the references make of them. */
        size_t alignment = odd ? sample_size(type) : FRAME_ALIGNMENT;
        struct picture in = {0};
        uint32_t seed = width * 7919 + height * 104729 + channels * 31 + type * 7 + pattern;
        make_input(&in, &plane, alignment);
        fill(&in, pattern, seed);
        expected.in = &in;
        for (size_t i = 0; i < n_profiles; i++) {
            char what[400];
            snprintf(what, sizeof what, "%.200s on %ux%ux%u %s, %s strides, pattern %d, profile %s",
                     text, width, height, channels, sample_name(type), odd ? "packed" : "aligned",
                     pattern, profiles[i].name);
            compare_profile(&expected, &profiles[i], odd ? 8 : FRAME_ALIGNMENT, what);
            struct device_profile other = profiles[i];
            size_t end = strlen(what);
            other.generic = true;
            if (plan_differs(&chain, &in.frame, &profiles[i], &other)) {
                snprintf(what + end, sizeof what - end, ", generic");
                compare_profile(&expected, &other, odd ? 8 : FRAME_ALIGNMENT, what);
            }
            other = profiles[i];
            other.multiplies_bytes = false;
            if (plan_differs(&chain, &in.frame, &profiles[i], &other)) {
                snprintf(what + end, sizeof what - end, ", without products of matrices");
                compare_profile(&expected, &other, odd ? 8 : FRAME_ALIGNMENT, what);
            }
        }
        picture_destroy(&in);
    }
    picture_destroy(&expected.picture);
    plan_destroy(&expected.plan);
    if (benches)
        bench(text, &chain, type, channels);
    chain_finish(&chain);
}

static size_t count_launches(void)
{
    size_t count = atomic_load(&device_counters(device)->launches);
    return hasty ? count + atomic_load(&device_counters(hasty)->launches) : count;
}

void harness_split(const char *text, enum sample_type type, uint32_t width, uint32_t height,
                   uint32_t channels, uint32_t rows)
{
    struct device_profile own[3];
    struct chain chain;
    struct plane plane = {.width = width, .height = height, .channels = channels, .type = type};
    struct frame frame = {0};
    struct fault fault = FAULT_INIT;
    need_device();
    parse(text, &chain);
    assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    size_t least = 0;
    memcpy(own, profiles, sizeof own);
    for (size_t i = 0; i < n_profiles; i++) {
        struct plan_options options = {.profile = &profiles[i]};
        struct plan *plan = NULL;
        assert_int_equal(plan_create(&plan, &chain, &frame, &options, &fault), 0);
        const struct pass *pass = &plan->steps[0].work.passes[0];
        double row = pass->work * pass->grid_width;
        profiles[i].work_per_second = row * rows * 1.001 / LAUNCH_SECONDS_MAX;
        assert_int_equal(plan_launches(pass, &profiles[i]), (pass->grid_height + rows - 1) / rows);
        least += 2 * plan_launches(pass, &profiles[i]); /* both strides */
        plan_destroy(&plan);
    }
    size_t before = count_launches();
    programs_leave_out(false);
    harness_check(text, type, width, height, channels, HARNESS_RANDOM);
    programs_leave_out(true);
    size_t launches = count_launches() - before;
    if (launches < least && !programs_lists())
        fail_msg("%.200s: only %zu launches", text, launches);
    memcpy(profiles, own, sizeof own);
    frame_finish(&frame);
    chain_finish(&chain);
}

void harness_sweep(const char *chain, enum sample_type type, uint32_t channels)
{
    static const uint32_t sizes[][2] = {{1, 1},   {2, 1},   {1, 2},   {3, 3},    {1, 40},
                                        {61, 1},  {4, 4},   {5, 7},   {15, 6},   {16, 5},
                                        {17, 4},  {31, 3},  {32, 9},  {33, 17},  {7, 64},
                                        {255, 3}, {256, 4}, {257, 5}, {1025, 2}, {120, 31}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        harness_check(chain, type, sizes[i][0], sizes[i][1], channels,
                      (enum harness_pattern)(i % HARNESS_PATTERNS));
    harness_check(chain, type, 64, 33, channels, HARNESS_EXTREMES);
    harness_check(chain, type, 130, 21, channels, HARNESS_RANDOM);
}

void harness_few(const char *chain, enum sample_type type, uint32_t channels)
{
    harness_check(chain, type, 1, 1, channels, HARNESS_RANDOM);
    harness_check(chain, type, 2, 5, channels, HARNESS_EXTREMES);
    harness_check(chain, type, 37, 3, channels, HARNESS_RANDOM);
    harness_check(chain, type, 65, 34, channels, HARNESS_RAMP);
}

void harness_window(const char *stage)
{
    static const char *const borders[] = {"edge", "reflect", "symmetric", "wrap", "zero", "crop"};
    static const enum sample_type types[] = {SAMPLE_U8, SAMPLE_I8, SAMPLE_U16, SAMPLE_I16,
                                             SAMPLE_F32};
    char chain[200];
    for (unsigned t = 0, k = 0; t < sizeof types / sizeof *types; t++)
        for (uint32_t channels = 1; channels <= 4; channels++) {
            /* every border for the bytes that have walkers, one after the other for others */
            unsigned n = t == 0 ? 6 : 2;
            for (unsigned i = 0; i < n; i++) {
                snprintf(chain, sizeof chain, "%s:border=%s", stage, borders[k++ % 6]);
                harness_few(chain, types[t], channels);
            }
        }
    snprintf(chain, sizeof chain, "invert,%s,threshold:100", stage);
    harness_few(chain, SAMPLE_U8, 1);
    snprintf(chain, sizeof chain, "luminance,%s:border=zero,invert", stage);
    harness_few(chain, SAMPLE_U8, 3);
    snprintf(chain, sizeof chain, "%s:border=crop", stage);
    harness_refuses(chain, SAMPLE_U8, 1, 1, 1, FAULT_SHAPE, "leaves nothing");
    harness_refuses(stage, SAMPLE_F64, 9, 9, 1, FAULT_SHAPE, "convert");
}

static void check_samples(const char *what, const struct picture *got, size_t index,
                          enum sample_type type, uint32_t width, uint32_t height, uint32_t channels,
                          const double *expected, double tolerance)
{
    const struct plane *p = &got->frame.planes[index];
    if (p->type != type || p->width != width || p->height != height || p->channels != channels)
        fail_msg("%s: gives %ux%ux%u %s, expected %ux%ux%u %s", what, p->width, p->height,
                 p->channels, sample_name(p->type), width, height, channels, sample_name(type));
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width * channels; x++) {
            const uint8_t *row = picture_row(got, index, y);
            double v = sample_load(type, row + x * sample_size(type));
            double e = expected[(size_t)y * width * channels + x];
            if (v != e && !(fabs(v - e) <= tolerance)) /* equal infinities are */
                fail_msg("%s: plane '%s': sample %u of row %u is %.9g, expected %.9g", what,
                         p->name, x, y, v, e);
        }
    }
}

/* What harness_planes expects; without a name, harness_vector's one plane, whatever it is called.
 */
struct expectation {
    enum sample_type type;
    uint32_t channels;
    const struct harness_plane *planes;
    bool all;
    double tolerance;
};

static void check_planes(const char *what, const struct picture *got, const struct expectation *e)
{
    size_t n = 0;
    if (!e->planes[0].name) {
        check_samples(what, got, 0, e->type, e->planes[0].width, e->planes[0].height, e->channels,
                      e->planes[0].samples, e->tolerance);
        return;
    }
    for (const struct harness_plane *want = e->planes; want->name; want++, n++) {
        size_t i = 0;
        while (i < got->frame.n_planes && strcmp(got->frame.planes[i].name, want->name) != 0)
            i++;
        if (i == got->frame.n_planes)
            fail_msg("%s: no plane '%s'", what, want->name);
        const struct plane *p = &got->frame.planes[i];
        if (p->zero_x != want->zero_x || p->zero_y != want->zero_y)
            fail_msg("%s: plane '%s' has its zero at (%d, %d), expected (%d, %d)", what, p->name,
                     p->zero_x, p->zero_y, want->zero_x, want->zero_y);
        check_samples(what, got, i, e->type, want->width, want->height, e->channels, want->samples,
                      e->tolerance);
    }
    if (e->all && got->frame.n_planes != n)
        fail_msg("%s: gives %zu planes, expected %zu", what, got->frame.n_planes, n);
}

static void run_vector(const char *text, const struct plane *plane, const double *in_samples,
                       const struct expectation *expected)
{
    struct chain chain;
    struct picture in = {0}, got = {0};
    struct plan *plan = NULL;
    struct fault fault = FAULT_INIT;
    char input[64], what[400];
    parse(text, &chain);
    make_input(&in, plane, FRAME_ALIGNMENT);
    memset(in.data, GUARD_BYTE, in.frame.size);
    for (uint32_t y = 0; y < plane->height; y++)
        for (uint32_t x = 0; x < plane->width * plane->channels; x++)
            sample_store(plane->type,
                         (uint8_t *)picture_row(&in, 0, y) + x * sample_size(plane->type),
                         in_samples[(size_t)y * plane->width * plane->channels + x]);
    snprintf(input, sizeof input, "%ux%ux%u %s", plane->width, plane->height, plane->channels,
             sample_name(plane->type));
    snprintf(what, sizeof what, "%.200s on %s by the reference", text, input);
    if (run_reference(&chain, &in, &plan, &got, &fault) != 0)
        fail_msg("%s: %s", what, fault.text);
    check_planes(what, &got, expected);
    picture_destroy(&got);
    for (size_t i = 0; i < n_profiles; i++) {
        snprintf(what, sizeof what, "%.200s on %s by the device, profile %s", text, input,
                 profiles[i].name);
        int result = run_device(&chain, &in, &profiles[i], FRAME_ALIGNMENT, what, &got, &fault);
        if (is_excused(result, &profiles[i])) {
            fault_clear(&fault);
            continue;
        }
        if (result != 0)
            fail_msg("%s: %s", what, fault.text);
        check_planes(what, &got, expected);
        picture_destroy(&got);
    }
    picture_destroy(&in);
    plan_destroy(&plan);
    chain_finish(&chain);
    need_device();
}

void harness_vector(const char *text, enum sample_type type, uint32_t width, uint32_t height,
                    uint32_t channels, const double *in, enum sample_type out_type,
                    uint32_t out_width, uint32_t out_height, uint32_t out_channels,
                    const double *expected, double tolerance)
{
    const struct plane plane = {
        .width = width, .height = height, .channels = channels, .type = type};
    const struct harness_plane one = {
        .width = out_width, .height = out_height, .samples = expected};
    const struct expectation e = {out_type, out_channels, &one, false, tolerance};
    n_vectors++;
    run_vector(text, &plane, in, &e);
}

void harness_planes(const char *text, enum sample_type type, uint32_t width, uint32_t height,
                    uint32_t channels, const double *in, enum sample_type out_type, bool all,
                    const struct harness_plane *expected, double tolerance)
{
    const struct plane plane = {
        .width = width, .height = height, .channels = channels, .type = type};
    const struct expectation e = {out_type, channels, expected, all, tolerance};
    for (const struct harness_plane *p = expected; p->name; p++)
        n_vectors++;
    run_vector(text, &plane, in, &e);
}

void harness_define(const struct definitions *to)
{
    definitions = to;
}

void harness_name_input(const char *name)
{
    input_name = name;
}

void harness_white(double white)
{
    input_white = white;
}

static void compare_with_input(const char *what, const struct picture *in,
                               const struct picture *got)
{
    const struct plane *p = &in->frame.planes[0], *q = &got->frame.planes[0];
    size_t size = sample_size(p->type);
    if (got->frame.n_planes != 1 || q->type != p->type || q->width != p->width ||
        q->height != p->height || q->channels != p->channels - plane_has_alpha(p))
        fail_msg("%s: gives %ux%ux%u %s", what, q->width, q->height, q->channels,
                 sample_name(q->type));
    for (uint32_t y = 0; y < p->height; y++) {
        const uint8_t *a = picture_row(in, 0, y), *b = picture_row(got, 0, y);
        for (uint32_t x = 0; x < p->width; x++, a += p->channels * size, b += q->channels * size)
            if (memcmp(a, b, q->channels * size) != 0)
                fail_msg("%s: pixel (%u, %u) is %g, not %g", what, x, y, sample_load(p->type, b),
                         sample_load(p->type, a));
    }
}

void harness_round_trip_own(bool only)
{
    only_own = only;
}

void harness_round_trip(const char *text, enum sample_type type, uint32_t width, uint32_t height,
                        uint32_t channels, enum harness_pattern pattern)
{
    struct chain chain;
    struct plane plane = {.width = width, .height = height, .channels = channels, .type = type};
    struct picture in = {0};
    need_device();
    parse(text, &chain);
    make_input(&in, &plane, FRAME_ALIGNMENT);
    fill(&in, pattern, width * 31 + height * 7 + channels);
    for (size_t i = 0; i < (only_own ? 1 : n_profiles); i++) {
        char what[400];
        struct picture got = {0};
        struct fault fault = FAULT_INIT;
        snprintf(what, sizeof what, "%.200s on %ux%ux%u %s, pattern %d, profile %s", text, width,
                 height, channels, sample_name(type), pattern, profiles[i].name);
        int result = run_device(&chain, &in, &profiles[i], FRAME_ALIGNMENT, what, &got, &fault);
        if (is_excused(result, &profiles[i]))
            continue;
        if (result != 0)
            fail_msg("%s: %s", what, fault.text);
        compare_with_input(what, &in, &got);
        picture_destroy(&got);
    }
    picture_destroy(&in);
    chain_finish(&chain);
}

void harness_refuses(const char *text, enum sample_type type, uint32_t width, uint32_t height,
                     uint32_t channels, int code, const char *says)
{
    struct chain chain = {0};
    struct plane plane = {.width = width, .height = height, .channels = channels, .type = type};
    struct frame frame = {0};
    struct plan *plan = NULL;
    struct plan_options options = {.profile = device_profile_by_name("cpu")};
    struct fault fault = FAULT_INIT;
    assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    int result = chain_parse_with(&chain, text, definitions, &fault);
    if (result == 0)
        result = plan_create(&plan, &chain, &frame, &options, &fault);
    if (result != code || !strstr(fault.text, says))
        fail_msg("%s: gives %s (%s), expected %s with '%s'", text, fault_name(result), fault.text,
                 fault_name(code), says);
    plan_destroy(&plan);
    chain_finish(&chain);
    frame_finish(&frame);
}

unsigned harness_vectors(void)
{
    return n_vectors;
}

void harness_enough_vectors(void **state)
{
    (void)state;
    need_device(); /* those before were skipped, too */
    if (n_vectors < 30)
        fail_msg("%u vectors: a stage has 30 or more", n_vectors);
}

static const char help[] =
    "usage: test_NAME [--bench[=PART]] [--seed N] [--device SEL]\n\n"
    "Compares the stage's kernels with its plain C.\n\n"
    "  --bench[=PART]  time, too, each chain whose line has PART in it: each profile's kernels "
    "and\n"
    "                  the plain C\n"
    "  --seed N        other samples: a number, or random; it is printed [0]\n"
    "  --device SEL    as of sluice run; else SLUICE_DEVICE, else auto\n"
    "Environment HARNESS_TEST: that test alone. HARNESS_PROFILES: own, gpu or mali alone.\n"
    "HARNESS_PROGRAMS=choices: only pictures that lead to different kernels.\n";

/* cmocka runs none, and succeeds, where no test has the name. */
static void choose_test(const char *name, const struct CMUnitTest *tests, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(tests[i].name, name) == 0) {
            cmocka_set_test_filter(name);
            return;
        }
    fprintf(stderr, "HARNESS_TEST=%s: there is no such test; expected", name);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "%s %s", i ? "," : "", tests[i].name);
    fputc('\n', stderr);
    exit(2);
}

void harness_options(int argc, char **argv, const struct CMUnitTest *tests, size_t n)
{
    static const struct option options[] = {{"bench", optional_argument, NULL, 'b'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"device", required_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    char *end;
    for (int given; (given = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        switch (given) {
        case 'b':
            benches = true;
            benched = optarg ? optarg : "";
            break;
        case 's':
            base_seed = (uint32_t)strtoul(optarg, &end, 10);
            if (strcmp(optarg, "random") == 0)
                base_seed = (uint32_t)clock_now();
            else if (*end || end == optarg) {
                fprintf(stderr, "--seed %s: give a number, or random\n", optarg);
                exit(2);
            }
            break;
        case 'd':
            setenv("SLUICE_DEVICE", optarg, 1);
            device_given = true;
            break;
        default:
            fputs(help, given == 'h' ? stdout : stderr);
            exit(given == 'h' ? 0 : 2);
        }
    }
    if (optind < argc) {
        fprintf(stderr, "%s: there is no such argument\n%s", argv[optind], help);
        exit(2);
    }
    if (getenv("HARNESS_TEST"))
        choose_test(getenv("HARNESS_TEST"), tests, n);
}
