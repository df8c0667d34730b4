/* The native device: every kernel that plans for it ask for was compiled with sluice; its launches,
 * threads and levels. */
#include "test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "device/native/kernels.h"
#include "random_chain.h"

#define FRAMES 8 /* for each chain */

#define CHAINS 600

/* Random chains of each stage; with SLUICE_LONG=1 many more. */
static unsigned n_chains(void)
{
#ifdef __SANITIZE_ADDRESS__
    return 40;
#else
    return getenv("SLUICE_LONG") ? 20000 : getenv("SLUICE_EMULATED") ? 40 : CHAINS;
#endif
}

static bool is_there(uint64_t hash)
{
    for (size_t i = 0; i < native_n_entries; i++)
        if (native_entries[i].hash == hash)
            return true;
    return false;
}

static unsigned check_passes(const struct plan *plan, const char *chain)
{
    unsigned count = 0;
    for (size_t i = 0; i < plan->n_steps; i++)
        for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++, count++) {
            const struct pass *pass = &plan->steps[i].work.passes[p];
            if (!is_there(pass_hash(pass)))
                fail_msg("%.300s: kernel %s was not compiled:\n%s", chain, pass->name,
                         pass->defines);
        }
    return count;
}

/* One plane as a rule, or several of different types; or the planes that a chain leaves, some of
 * them missing. */
static void random_frame(struct frame *frame, const struct frame *from)
{
    for (size_t i = 0; from && i < from->n_planes; i++)
        if (random_below(4))
            assert_true(frame_add_plane(frame, &from->planes[i], FRAME_ALIGNMENT));
    for (uint32_t n = random_below(4) ? 1 : 3; n > 0 && frame->n_planes < n;) {
        struct plane plane = random_plane();
        snprintf(plane.name, sizeof plane.name, "plane%zu", frame->n_planes);
        assert_true(frame_add_plane(frame, &plane,
                                    random_below(2) ? FRAME_ALIGNMENT : sample_size(plane.type)));
    }
}

static unsigned plan_one(const struct chain *chain, const char *text, const struct frame *from)
{
    static const char *const formats[] = {"png", "jpg", "bmp", "pnm", "npy", "npz", "raw"};
    struct format format = {0};
    struct frame frame = {0};
    struct plan *plan = NULL;
    struct fault fault = FAULT_INIT;
    struct plan_options options = {.profile = device_profile_by_name("native"), .no_fuse = true};
    struct plan_target target;
    unsigned count = 0;
    if (random_below(2)) {
        assert_int_equal(format_parse(&format, formats[random_below(7)], &fault), 0);
        target = (struct plan_target){format_fit, &format, format_mosaic_gain(&format)};
        options.targets = &target;
    }
    random_frame(&frame, from);
    if (plan_create(&plan, chain, &frame, &options, &fault) == 0)
        count = check_passes(plan, text);
    else if (fault.code == FAULT_INTERNAL)
        fail_msg("%.300s: %s", text, fault.text);
    plan_destroy(&plan);
    frame_finish(&frame);
    format_finish(&format);
    return count;
}

/* The chain on frames, and each of its steps on what those before it leave. */
static unsigned plan_many(const struct chain *chain, const char *text)
{
    static const struct plan_options plain = {0};
    unsigned count = 0;
    for (int i = 0; i < FRAMES; i++) {
        struct plane plane = random_plane();
        struct frame frame = {0};
        struct plan *plan = NULL;
        struct chain first = {chain->n_steps - 1, chain->steps, chain->definitions};
        struct chain last = {1, chain->steps + first.n_steps, chain->definitions};
        count += plan_one(chain, text, NULL);
        assert_true(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT));
        if (first.n_steps > 0 && plan_create(&plan, &first, &frame, &plain, NULL) == 0)
            count += plan_one(&last, text, plan->out);
        plan_destroy(&plan);
        frame_finish(&frame);
    }
    return count;
}

/* Where chains are few, it may happen that hardly any of a stage parses, or that none has a pass:
 * then there are more of them. */
static void test_kernels_are_there(void **state)
{
    const unsigned few = n_chains() / 10;
    (void)state;
    for (size_t s = 0; stage_registry[s]; s++) {
        unsigned parsed = 0, passes = 0;
        if (stage_registry[s]->internal)
            continue;
        for (unsigned i = 0; i < n_chains() || (i < CHAINS && (parsed < few || passes == 0)); i++) {
            struct text text = {0};
            struct chain chain = {0};
            random_chain(stage_registry[s], &text);
            if (chain_parse_with(&chain, text_string(&text), random_definitions(), NULL) == 0) {
                parsed++;
                passes += plan_many(&chain, text_string(&text));
            }
            chain_finish(&chain);
            text_finish(&text);
        }
        print_message("%s: %u chains, %u passes\n", stage_registry[s]->name, parsed, passes);
        assert_in_range(parsed, few, UINT_MAX);
        assert_in_range(passes, 1, 10000 * parsed); /* crop is a view, mostly */
    }
}

/* A table in order, no kernel twice, each in all levels. */
static void test_table(void **state)
{
    size_t n_levels = 0;
    (void)state;
    while (native_levels[n_levels])
        n_levels++;
    assert_in_range(n_levels, 1, NATIVE_LEVELS_MAX);
    assert_in_range(native_n_entries, 500, 10000);
    for (size_t i = 0; i < native_n_entries; i++) {
        assert_true(i == 0 || native_entries[i].hash > native_entries[i - 1].hash);
        for (size_t l = 0; l < n_levels; l++)
            assert_non_null(native_entries[i].at[l]);
    }
}

/* The last one that a processor has is taken. */
static void test_levels_rise(void **state)
{
    static const char *const rising[] = {"x86_64_v2", "x86_64_v3", "x86_64_v4", "armv8_a",
                                         "armv8_2_a"};
    size_t at = 0;
    (void)state;
    for (size_t i = 0; native_levels[i]; i++, at++) {
        while (at < sizeof rising / sizeof *rising && strcmp(native_levels[i], rising[at]) != 0)
            at++;
        assert_true(at < sizeof rising / sizeof *rising);
    }
    assert_true(at > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_levels_rise),
        cmocka_unit_test(test_kernels_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
