/* The number of generic kernels is small. Random chains of every stage are planned for random
 * pictures and every class of device: if a number got into a kernel's text there would be thousands
 * of kernels. Needs no device. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_chain.h"

#define SEEN_SLOTS 65536
#define PICTURES   8 /* for each chain */

/* Random chains of each stage: where a number gets into kernels' texts, even 40 make hundreds. Under
 * sanitizers and emulators they take 25 times as long. */
static unsigned n_chains(void)
{
#ifdef __SANITIZE_ADDRESS__
    return 40;
#else
    return getenv("SLUICE_EMULATED") ? 40 : getenv("SLUICE_LONG") ? 600 : 150;
#endif
}

/* Kernels seen, by a hash of all that their text depends on. */
static uint64_t seen[SEEN_SLOTS];
static bool note(const struct pass *pass)
{
    uint64_t hash = pass_hash(pass);
    hash += hash == 0;
    size_t at = hash % SEEN_SLOTS;
    while (seen[at] != 0 && seen[at] != hash)
        at = (at + 1) % SEEN_SLOTS;
    bool found = seen[at] == hash;
    seen[at] = hash;
    return !found;
}

/* New kernels that a random picture needs; 0 where the chain cannot take it. */
static unsigned plan_one(const struct chain *chain, const struct device_profile *profile)
{
    struct plane plane = random_plane();
    const struct plan_target target = {.mosaic_gain = random_below(4) ? 0 : random_between(0.1, 9)};
    struct plan_options options = {.profile = profile, .targets = &target};
    struct frame frame = {0};
    struct plan *plan = NULL;
    struct fault fault = FAULT_INIT;
    unsigned count = 0;
    assert_true(frame_add_plane(&frame, &plane,
                                random_below(2) ? FRAME_ALIGNMENT : sample_size(plane.type)));
    if (plan_create(&plan, chain, &frame, &options, &fault) == 0)
        for (size_t i = 0; i < plan->n_steps; i++)
            for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++)
                count += note(&plan->steps[i].work.passes[p]);
    if (fault.code == FAULT_INTERNAL)
        fail_msg("%s", fault.text);
    plan_destroy(&plan);
    frame_finish(&frame);
    return count;
}

static unsigned plan_many(const struct stage *stage, const struct device_profile *profile,
                          unsigned chains, unsigned *parsed)
{
    unsigned count = 0;
    for (unsigned i = 0; i < chains; i++) {
        struct text text = {0};
        struct chain chain = {0};
        struct fault fault = FAULT_INIT;
        random_chain(stage, &text);
        if (chain_parse_with(&chain, text_string(&text), random_definitions(), &fault) == 0) {
            ++*parsed;
            for (int k = 0; k < PICTURES; k++) {
                count += plan_one(&chain, profile);
            }
        }
        chain_finish(&chain);
        text_finish(&text);
    }
    return count;
}

/* 924, 1280 and 1111 kernels are found among 600 random plans of each of 22 stages (x86-64): 42, 58
 * and 51 a stage, which may become `bound`. */
static void test_class(const char *name, unsigned bound)
{
    struct device_profile profile = *device_profile_by_name(name);
    unsigned total = 0, n_stages = 0;
    profile.generic = true;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; stage_registry[i]; i++) {
        const struct stage *stage = stage_registry[i];
        unsigned parsed = 0;
        if (stage->internal)
            continue;
        unsigned count = plan_many(stage, &profile, n_chains(), &parsed);
        assert_in_range(parsed, n_chains() / 20, n_chains());
        print_message("%s: %s: %u kernels\n", name, stage->name, count);
        total += count;
        n_stages++;
    }
    print_message("%s: %u kernels\n", name, total);
    assert_in_range(total, 100, bound * n_stages);
}

static void test_cpu(void **state)
{
    (void)state;
    test_class("cpu", 50);
}

static void test_gpu(void **state)
{
    (void)state;
    test_class("gpu", 68);
}

static void test_mali(void **state)
{
    (void)state;
    test_class("mali", 57);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_gpu),
        cmocka_unit_test(test_mali),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
