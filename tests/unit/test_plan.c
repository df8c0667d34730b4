#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chain/board.h"
#include "chain/plan.h"
#include "chain/source.h"
#include "stage/window.h"

static struct chain chain;

static struct plan *plan_for(const char *text, uint32_t width, uint32_t height, uint32_t channels,
                             enum sample_type type, const struct plan_options *options)
{
    struct plane plane = {.width = width, .height = height, .channels = channels, .type = type};
    struct frame frame = {0};
    struct fault fault = FAULT_INIT;
    struct plan *plan;
    chain_finish(&chain);
    assert_int_equal(chain_parse(&chain, text, &fault), 0);
    assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    if (plan_create(&plan, &chain, &frame, options, &fault) != 0)
        fail_msg("plan of %s: %s", text, fault.text);
    frame_finish(&frame);
    return plan;
}

static void test_memory_is_reused(void **state)
{
    struct plan_options options = {.profile = device_profile_by_name("cpu")};
    (void)state;
    struct plan *plan = plan_for("sobel,sobel,sobel,sobel", 256, 100, 1, SAMPLE_U8, &options);
    assert_int_equal(plan->n_slots, 2); /* from one to the other and back */
    assert_int_equal(plan_peak(plan), 2 * 25600);
    assert_int_equal(plan->out_slot, plan->in_slot);
    plan_destroy(&plan);
    options.keep_input = true;
    plan = plan_for("sobel,sobel,sobel,sobel", 256, 100, 1, SAMPLE_U8, &options);
    assert_int_equal(plan->n_slots, 3);
    for (size_t i = 0; i < plan->n_steps; i++)
        assert_int_not_equal(plan->steps[i].out_slot, plan->in_slot);
    plan_destroy(&plan);
}

static void test_nothing_to_do(void **state)
{
    struct plan_options options = {.profile = device_profile_by_name("cpu")};
    (void)state;
    struct plan *plan = plan_for("luminance", 10, 10, 1, SAMPLE_U8, &options);
    assert_int_equal(plan_total_launches(plan), 0);
    assert_int_equal(plan->n_slots, 1);
    assert_int_equal(plan->out_slot, plan->in_slot);
    plan_destroy(&plan);
}

/* On GPUs with local memory each level of a bank of two filters is one pass, and thresholds are one for
 * all planes. (With sanitizers: scratch planes move while passes are added.) */
static void test_levels_at_once(void **state)
{
    struct device_profile profile = *device_profile_by_name("gpu");
    struct plan_options options = {.profile = &profile};
    (void)state;
    profile.local_memory = 49152;
    struct plan *plan =
        plan_for("analysis:cdf97:levels=6:precision=double", 653, 871, 1, SAMPLE_U8, &options);
    const struct stage_plan *work = &plan->steps[0].work;
    assert_int_equal(work->n_passes, 6);
    assert_int_equal(work->passes[0].bytes_read, 653 * 871);
    for (unsigned i = 1; i < 6; i++) /* a level reads the first band of the one before */
        assert_true(work->passes[i].bytes_read * 3 < work->passes[i - 1].bytes_written &&
                    work->passes[i].bytes_read * 5 > work->passes[i - 1].bytes_written);
    assert_string_equal(work->passes[5].place, "level 6, both");
    plan_destroy(&plan);
    plan = plan_for("dwt:db4:levels=3,shrink,idwt", 653, 871, 1, SAMPLE_U8, &options);
    assert_int_equal(plan_total_launches(plan), 3 + 7 + 3); /* idwt applies the thresholds */
    plan_destroy(&plan);
    /* all transforms in the same launches of shrink */
    plan = plan_for(
        "dwt:db8:levels=4,shrink:threshold=bayes,dwt:db8:levels=4,shrink:threshold=bayes,"
        "dwt:db8:levels=4,shrink:threshold=bayes",
        64, 64, 1, SAMPLE_U8, &(struct plan_options){.profile = device_profile_by_name("native")});
    assert_int_equal(plan_total_launches(plan), 4 * (1 + 13 + 169) + 3 * 12);
    plan_destroy(&plan);
}

/* Each plane of a transform may need a table of its own. */
static void test_tables_of_many_planes(void **state)
{
    struct plan_options options = {.profile = device_profile_by_name("gpu")};
    struct fault fault = FAULT_INIT;
    struct frame frame = {0};
    struct plane plane = {.width = 640, .height = 480, .channels = 1};
    struct plan *plan = plan_for("dwt:haar:levels=6,convert:type=u16,statistics:across=1:down=2",
                                 640, 480, 1, SAMPLE_U8, &options);
    (void)state;
    assert_int_equal(plan->steps[plan->n_steps - 1].work.n_tables, 3 * 6 + 1);
    plan_destroy(&plan);
    assert_int_equal(chain_parse(&chain,
                                 "dwt:haar:levels=4,dwt:haar:levels=4,convert:type=u16,"
                                 "statistics:across=1:down=2",
                                 &fault),
                     0);
    assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    assert_int_equal(plan_create(&plan, &chain, &frame, &options, &fault), FAULT_LIMIT);
    assert_non_null(strstr(fault.text, "statistics: the picture has planes of more kinds than"));
    frame_finish(&frame);
}

/* A short chain may ask for any number of planes: ten of each with every dwt. */
static void test_too_many_planes(void **state)
{
    struct plane plane = {.width = 6000, .height = 4000, .channels = 1};
    struct frame frame = {0};
    struct fault fault = FAULT_INIT;
    struct plan_options options = {.profile = device_profile_by_name("cpu")};
    struct plan *plan;
    (void)state;
    chain_finish(&chain);
    assert_int_equal(chain_parse(&chain, "dwt,dwt,dwt,dwt,dwt,dwt,dwt,dwt", &fault), 0);
    assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    assert_int_equal(plan_create(&plan, &chain, &frame, &options, &fault), FAULT_LIMIT);
    assert_string_equal(fault.text, "dwt: results have at most 4096 planes");
    frame_finish(&frame);
}

/* A launch that would take more than 100 ms by the profile's figure is split by rows. */
static void test_launches_are_split(void **state)
{
    struct device_profile profile = *device_profile_by_name("mali");
    struct plan_options options = {.profile = &profile};
    (void)state;
    struct plan *plan = plan_for("sobel", 4000, 3000, 1, SAMPLE_U8, &options);
    const struct pass *pass = &plan->steps[0].work.passes[0];
    double row = pass->work * pass->grid_width;
    double seconds = row * pass->grid_height / profile.work_per_second;
    size_t launches = plan_launches(pass, &profile);
    assert_true(launches >= (size_t)(seconds / LAUNCH_SECONDS_MAX));
    profile.work_per_second = row * 30 / LAUNCH_SECONDS_MAX * 1.001;
    assert_int_equal(plan_rows_per_launch(pass, &profile), 30);
    assert_int_equal(plan_launches(pass, &profile), (pass->grid_height + 29) / 30);
    profile.work_per_second = 1;
    assert_int_equal(plan_rows_per_launch(pass, &profile), 1);
    plan_destroy(&plan);
}

/* A wide fir on a large picture: no launch is estimated above the limit. */
static void test_wide_fir_is_split(void **state)
{
    static const char *const classes[] = {"cpu", "gpu", "mali"};
    char text[2048] = "fir:";
    (void)state;
    for (int i = 0; i < 31 * 31; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d",
                 i == 0        ? ""
                 : i % 31 == 0 ? "/"
                               : "_",
                 i * i % 7 + 1); /* no product of a column and a row */
    for (size_t i = 0; i < 3; i++) {
        struct plan_options options = {.profile = device_profile_by_name(classes[i])};
        struct plan *plan = plan_for(text, 8000, 6000, 1, SAMPLE_U8, &options);
        const struct pass *pass = &plan->steps[0].work.passes[0];
        uint32_t rows = plan_rows_per_launch(pass, options.profile);
        assert_true(pass->work >= 31 * 31);
        assert_true(rows < 6000);
        assert_true(pass->work * 8000 * rows / options.profile->work_per_second <=
                    LAUNCH_SECONDS_MAX);
        assert_int_equal(plan_total_launches(plan), (6000 + rows - 1) / rows);
        plan_destroy(&plan);
    }
}

/* A picture whose planes the device cannot hold is refused before it is decoded. */
static void test_largest_buffer(void **state)
{
    struct device_profile profile = *device_profile_by_name("gpu");
    struct plan_options options = {.profile = &profile};
    struct plane plane = {.width = 1024, .height = 100, .channels = 1, .type = SAMPLE_U8};
    struct frame frame = {0};
    struct plan *plan;
    struct fault fault = FAULT_INIT;
    (void)state;
    chain_finish(&chain);
    assert_int_equal(chain_parse(&chain, "sobel", &fault), 0);
    assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    profile.max_allocation = 1024 * 100;
    assert_int_equal(plan_create(&plan, &chain, &frame, &options, &fault), 0);
    plan_destroy(&plan);
    profile.max_allocation = 1024 * 100 - 1;
    assert_int_equal(plan_create(&plan, &chain, &frame, &options, &fault), FAULT_LIMIT);
    assert_non_null(strstr(fault.text, "100KiB"));
    assert_non_null(strstr(fault.text, "200KiB"));
    assert_non_null(strstr(fault.text, "--device"));
    frame_finish(&frame);
}

static int fit_to_u8(void *context, struct plane *plane, struct fault *fault)
{
    (void)context;
    (void)fault;
    plane->type = SAMPLE_U8;
    plane->channels -= plane_has_alpha(plane);
    return 0;
}

static void test_sink(void **state)
{
    const struct plan_target target = {.fit = fit_to_u8};
    struct plan_options options = {.profile = device_profile_by_name("cpu"), .targets = &target};
    (void)state;
    struct plan *plan = plan_for("sobel:both", 16, 16, 4, SAMPLE_U16, &options);
    assert_int_equal(plan->n_steps, 2);
    assert_string_equal(plan->steps[1].stage->name, "sink");
    assert_int_equal(plan->out->n_planes, 2);
    assert_string_equal(plan->out->planes[1].name, "dy");
    assert_int_equal(plan->out->planes[1].type, SAMPLE_U8);
    plan_destroy(&plan);
    plan = plan_for("sobel", 16, 16, 1, SAMPLE_U8, &options);
    assert_int_equal(plan->n_steps, 1); /* it fits as it is */
    plan_destroy(&plan);
}

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        n++;
    return n;
}

static void test_source(void **state)
{
    struct plan_options options = {.profile = device_profile_by_name("gpu"), .no_fuse = true};
    struct program_source source;
    struct fault fault = FAULT_INIT;
    (void)state;
    struct plan *plan =
        plan_for("luminance,sobel,sobel,sobel:scale=0.3", 64, 64, 3, SAMPLE_U8, &options);
    assert_int_equal(program_source_create(&source, plan, &fault), 0);
    assert_int_equal(source.n_kernels, 4);
    assert_string_equal(source.names[1], source.names[2]); /* alike: one kernel */
    assert_string_not_equal(source.names[1], source.names[3]);
    assert_int_equal(count(source.text.data, "#define KERNEL "), 3);
    assert_int_equal(count(source.text.data, "#line 1 \"packed.cl\""), 1);
    assert_int_equal(count(source.text.data, "#line 1 \"sobel.cl\""), 1); /* of scale=0.3 */
    assert_int_equal(count(source.text.data, "#line 1 \"prelude.cl\""), 1);
    program_source_finish(&source);
    plan_destroy(&plan);
}

/* What a board allows is the longer of what its memory takes and its busiest unit. */
static void test_board(void **state)
{
    struct fault fault = FAULT_INIT;
    const struct board *wide = board_find("rock5b", &fault), *narrow = board_find("rock3a", &fault);
    struct device_profile profile = board_profile(wide);
    struct plan_options options = {.profile = &profile};
    (void)state;
    assert_int_equal(profile.units, 4);
    struct plan *plan = plan_for("invert", 4096, 3072, 1, SAMPLE_U8, &options);
    struct pass pass = plan->steps[0].work.passes[0];
    struct board_bound bound = board_bound(wide, &pass), other = board_bound(narrow, &pass);
    assert_true(fabs(bound.memory - 2.0 * 4096 * 3072 / wide->bandwidth) < 1e-9);
    assert_string_equal(bound.by, "memory");
    assert_non_null(bound.unit);
    assert_true(bound.cycles > 0 && bound.cycles < bound.memory);
    assert_true(bound.seconds == bound.memory);
    assert_true(board_seconds(wide, plan) == bound.seconds);
    assert_true(other.cycles > 3 * bound.cycles); /* a quarter of the cores, a slower clock */
    snprintf(pass.name, sizeof pass.name, "nobody_counted_this");
    bound = board_bound(wide, &pass);
    assert_null(bound.unit);
    assert_true(bound.seconds == bound.memory);
    snprintf(plan->steps[0].work.passes[0].name, sizeof pass.name, "nobody_counted_this");
    assert_true(board_seconds(wide, plan) == -1);
    plan_destroy(&plan);
    /* Counted at one amount of work: less takes less in proportion, more takes no less. */
    plan = plan_for("invert", 4096, 3072, 1, SAMPLE_U8, &options);
    pass = plan->steps[0].work.passes[0];
    bound = board_bound(wide, &pass);
    pass.work /= 2;
    other = board_bound(wide, &pass);
    assert_true(fabs(other.cycles * 2 / bound.cycles - 1) < 1e-6);
    pass.work *= 4;
    other = board_bound(wide, &pass);
    assert_true(other.cycles == bound.cycles);
    plan_destroy(&plan);
    /* Counted alone, it is what it takes at least with another stage's work. */
    plan = plan_for("invert,threshold:100", 4096, 3072, 1, SAMPLE_U8, &options);
    other = board_bound(wide, &plan->steps[1].work.passes[0]);
    assert_non_null(other.unit);
    assert_true(board_seconds(wide, plan) == other.seconds);
    plan_destroy(&plan);
    assert_null(board_find("rock5", &fault));
    assert_int_equal(fault.code, FAULT_USAGE);
    assert_non_null(strstr(fault.text, "did you mean 'rock5b'"));
    assert_non_null(strstr(fault.text, "odroid-n2"));
}

/* Plays a plan: what lies in each slot, and whether each step and result finds there what it is to
 * read. Frames have the numbers of their steps. */
static void play(const struct plan *plan)
{
    size_t slots[64];
    assert_true(plan->n_slots <= 64);
    for (unsigned i = 0; i < plan->n_slots; i++)
        slots[i] = SIZE_MAX;
    slots[plan->in_slot] = 0;
    size_t meaning[65] = {0}; /* of a step that passes its input on: that one's number */
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        assert_true(step->before <= i);
        meaning[i + 1] = meaning[step->before];
        if (slots[step->in_slot] != meaning[step->before])
            fail_msg("step %zu (%s) finds frame %zu", i + 1, step->stage->name,
                     slots[step->in_slot]);
        if (step->work.n_passes == 0)
            continue;
        for (unsigned s = 0; s < step->work.n_scratch; s++)
            slots[step->scratch_slot[s]] = SIZE_MAX;
        slots[step->out_slot] = meaning[i + 1] = i + 1;
        assert_int_not_equal(step->out_slot, step->in_slot);
    }
    for (size_t r = 0; r < plan->n_results; r++)
        if (slots[plan->results[r].slot] != meaning[plan->results[r].step])
            fail_msg("result %zu is frame %zu", r + 1, slots[plan->results[r].slot]);
}

/* Several results: common beginnings once, each result in memory of its own until the end, and what
 * only leads to others gone. */
static void test_tree(void **state)
{
    static const char *const texts[] = {"luminance,box:radius=4,invert,sobel",
                                        "luminance,box:radius=4,invert,threshold:t=9",
                                        "luminance,box:radius=4",
                                        "resize:w=40",
                                        "",
                                        "luminance,invert,sobel,sobel,sobel",
                                        "crop:w=20:h=20",
                                        "crop:w=20:h=20,invert"};
    static const char *const profiles[] = {"native", "cpu", "gpu", "mali"};
    enum {
        COUNT = sizeof texts / sizeof *texts
    };
    struct chain chains[COUNT], tree;
    struct plane plane = {.width = 200, .height = 100, .channels = 3};
    struct frame frame = {0};
    struct fault fault = FAULT_INIT;
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(chain_parse(&chains[i], texts[i], &fault), 0);
    assert_int_equal(chain_join(&tree, chains, COUNT, &fault), 0);
    assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    for (size_t i = 0; i < 4 * 8; i++) {
        const struct plan_target target = {.fit = fit_to_u8};
        struct plan_target targets[COUNT];
        struct plan *plan;
        for (size_t r = 0; r < COUNT; r++)
            targets[r] = target;
        struct plan_options options = {.profile = device_profile_by_name(profiles[i % 4]),
                                       .no_fuse = i / 4 % 2,
                                       .keep_input = i / 8 % 2,
                                       .targets = i / 16 ? targets : NULL};
        if (plan_create(&plan, &tree, &frame, &options, &fault) != 0)
            fail_msg("%s", fault.text);
        assert_int_equal(plan->n_results, COUNT);
        assert_int_equal(plan->n_chain_steps, 12);
        assert_int_equal(plan->n_asked, 4 + 4 + 2 + 1 + 0 + 5 + 1 + 2);
        play(plan);
        for (size_t r = 0; r < COUNT; r++) {
            struct plan *alone;
            struct plan_options own = options;
            own.targets = options.targets ? &targets[r] : NULL;
            assert_int_equal(plan_create(&alone, &chains[r], &frame, &own, &fault), 0);
            play(alone);
            assert_true(frame_same_shape(alone->out, plan->results[r].frame));
            plan_destroy(&alone);
        }
        plan_destroy(&plan);
    }

    /* a fault names the result that it is about */
    chain_finish(&tree);
    chain_finish(&chains[1]);
    assert_int_equal(chain_parse(&chains[1], "crop:w=300:h=20", &fault), 0);
    assert_int_equal(chain_join(&tree, chains, 2, &fault), 0);
    struct plan_options options = {0};
    struct plan *plan;
    assert_int_equal(plan_create(&plan, &tree, &frame, &options, &fault), FAULT_SHAPE);
    assert_int_equal(strncmp(fault.text, "result 2: crop", 14), 0);
    for (size_t i = 0; i < COUNT; i++)
        chain_finish(&chains[i]);
    chain_finish(&tree);
    frame_finish(&frame);
}

static float last_of_217(const float *samples)
{
    return samples[216];
}

/* A definition has all samples of its window, however many; a window with more rows than kernels
 * are written for is refused by name. */
static void test_small_window(void **state)
{
    static const struct small_window wide = {
        .window = {15, 15, 3, 3}, .text = {.most = 1, .work = 1}, .value = last_of_217};
    static const struct small_window high = {
        .window = {0, 0, 4, 4}, .text = {.most = 1, .work = 1}, .value = last_of_217};
    struct stage stage = {.name = "wide", .small_window = &wide};
    struct plane plane = {.width = 40, .height = 9, .channels = 1, .type = SAMPLE_U16};
    struct frame frame = {0};
    struct picture in = {0}, out = {0};
    struct fault fault = FAULT_INIT;
    (void)state;
    assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
    assert_true(picture_create(&in, &frame));
    for (struct sample_at s = {0}; plane_each(&frame.planes[0], &s);)
        picture_set(&in, 0, &s, 100 * s.y + s.x);
    assert_int_equal(stage_compute_new(&stage, NULL, &in, &out, &fault), 0);
    for (struct sample_at s = {0}; plane_each(&frame.planes[0], &s);)
        assert_true(picture_at(&out, 0, &s) ==
                    100 * (s.y + 3 < 9 ? s.y + 3 : 8) + (s.x + 15 < 40 ? s.x + 15 : 39));
    stage.name = "high", stage.small_window = &high;
    struct stage_plan plan = {
        .profile = device_profile_by_name("cpu"), .in = &frame, .out = &frame};
    assert_int_equal(stage_add_passes(&stage, NULL, &plan, &fault), FAULT_INTERNAL);
    assert_string_equal(fault.text, "high: its window has 9 rows; small ones have up to 7");
    picture_destroy(&in);
    picture_destroy(&out);
    frame_finish(&frame);
}

static int teardown(void **state)
{
    (void)state;
    chain_finish(&chain);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_reused),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_launches_are_split),
        cmocka_unit_test(test_wide_fir_is_split),
        cmocka_unit_test(test_tables_of_many_planes),
        cmocka_unit_test(test_too_many_planes),
        cmocka_unit_test(test_levels_at_once),
        cmocka_unit_test(test_sink),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_largest_buffer),
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_board),
        cmocka_unit_test(test_small_window),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
