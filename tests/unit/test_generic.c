/* Of generic kernels there are few: random chains of every stage, over random pictures, are planned
 * for every class of device. Any number that got into a kernel's text would make thousands of them.
 * No device is needed. */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/plan.h"

#define SEEN_SLOTS 65536
#define PICTURES   8 /* for each chain */

/* Random chains of each stage. Sanitizers and emulators (HARNESS_PROGRAMS) take 25 times as long.
 */
static unsigned n_chains(void)
{
#ifdef __SANITIZE_ADDRESS__
    return 40;
#else
    return getenv("HARNESS_PROGRAMS") ? 40 : 600;
#endif
}

/* Kernels seen, by a hash of all that their text depends on. */
static uint64_t seen[SEEN_SLOTS];
static uint64_t random_state = 88172645463325252u;

/* Marsaglia's xorshift. */
static uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 16) % n);
}

static double random_between(double low, double high)
{
    return low + (high - low) * random_below(1000001) / 1e6;
}

static void hash_bytes(uint64_t *hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
}

static bool note(const struct pass *pass)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    hash_bytes(&hash, pass->source, strlen(pass->source) + 1);
    hash_bytes(&hash, pass->name, strlen(pass->name) + 1);
    hash_bytes(&hash, pass->defines, strlen(pass->defines) + 1);
    hash_bytes(&hash, &pass->lanes, sizeof pass->lanes);
    hash += hash == 0;
    size_t at = hash % SEEN_SLOTS;
    while (seen[at] != 0 && seen[at] != hash)
        at = (at + 1) % SEEN_SLOTS;
    bool found = seen[at] == hash;
    seen[at] = hash;
    return !found;
}

/* Numbers of every size, most of them small. */
static double random_number(const struct param *p)
{
    bool bounded = p->min != 0 || p->max != 0;
    double low = bounded ? p->min : -1e6, high = bounded ? p->max : 1e6;
    double size = pow(10, random_between(-3, 9)), v = random_between(-size, size);
    return v < low ? low : v > high ? high : v;
}

static const char *random_choice(const struct param_choice *choices)
{
    unsigned count = 0;
    while (choices[count].name)
        count++;
    return choices[random_below(count)].name;
}

static void add_number(struct text *text, const struct param *p)
{
    double v = random_number(p);
    text_printf(text, "%.*f", (int)random_below(4) * (v > -1e6 && v < 1e6), v);
}

static void add_matrix(struct text *text, const struct param *p, unsigned columns, unsigned rows)
{
    for (unsigned i = 0; i < columns * rows; i++) {
        text_append(text, i == 0 ? "" : i % columns ? "_" : "/");
        add_number(text, p);
    }
}

static void add_value(struct text *text, const struct param *p)
{
    static const char *const banks[] = {"haar", "legall53", "cdf97"};
    bool chosen = p->choices && random_below(2);
    switch (p->type) {
    case PARAM_FLAG:
        text_printf(text, "%u", random_below(2));
        break;
    case PARAM_INTEGER:
        text_printf(text, "%d", (int)fmin(p->max, p->min + random_below(1u << random_below(12))));
        break;
    case PARAM_INTEGERS:
        for (unsigned i = 0, n = 1 + random_below(3); i < n; i++)
            text_printf(text, "%s%u", i ? "_" : "", 1 + random_below(1u << random_below(9)));
        break;
    case PARAM_CHOICE:
        text_append(text, random_choice(p->choices));
        break;
    case PARAM_WORD:
        text_append(text, p->choices ? random_choice(p->choices) : banks[random_below(3)]);
        break;
    case PARAM_WORDS:
        text_printf(text, "%s_%s", banks[random_below(3)], banks[random_below(3)]);
        break;
    default:
        if (chosen)
            text_append(text, random_choice(p->choices));
        else if (p->type == PARAM_MATRIX)
            add_matrix(text, p, 1 + 2 * random_below(5), 1 + 2 * random_below(4));
        else if (p->type == PARAM_REALS)
            add_matrix(text, p, 3, 1);
        else
            add_number(text, p);
    }
}

static void random_chain(const struct stage *stage, struct text *text)
{
    if (strcmp(stage->name, "idwt") == 0 || strcmp(stage->name, "shrink") == 0) {
        text_printf(text, "dwt:%s:levels=%u", random_below(2) ? "cdf53" : "db3",
                    1 + random_below(4));
        text_append(text, random_below(3) ? "," : ":precision=double,");
    }
    if (strcmp(stage->name, "synthesis") == 0)
        text_printf(text, "analysis:%s:levels=%u%s,", random_below(2) ? "haar" : "cdf97",
                    1 + random_below(3), random_below(2) ? ":precision=double" : "");
    text_append(text, stage->name);
    for (const struct param *p = stage->params; p && p->name; p++) {
        if (!p->required && random_below(2))
            continue;
        text_printf(text, ":%s=", p->name);
        add_value(text, p);
    }
}

static uint32_t random_side(void)
{
    return 1 + random_below(1u << (1 + random_below(12)));
}

/* New kernels that a random picture needs; 0 where the chain cannot take it. */
static unsigned plan_one(const struct chain *chain, const struct device_profile *profile)
{
    struct plane plane = {.width = random_side(),
                          .height = random_side(),
                          .channels = 1 + random_below(4),
                          .type = (enum sample_type)random_below(SAMPLE_TYPES)};
    struct plan_options options = {.profile = profile,
                                   .mosaic_gain = random_below(4) ? 0 : random_between(0.1, 9)};
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
        if (chain_parse(&chain, text_string(&text), &fault) == 0) {
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

/* 924, 1280 and 1111 kernels are found among 600 random plans of each stage (x86-64). */
static void test_class(const char *name, unsigned bound)
{
    struct device_profile profile = *device_profile_by_name(name);
    unsigned total = 0;
    profile.generic = true;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; stage_registry[i]; i++) {
        const struct stage *stage = stage_registry[i];
        unsigned parsed = 0;
        if (stage->internal)
            continue;
        unsigned count = plan_many(stage, &profile, n_chains(), &parsed);
        assert_in_range(parsed, n_chains() / 10, n_chains());
        print_message("%s: %s: %u kernels\n", name, stage->name, count);
        total += count;
    }
    print_message("%s: %u kernels\n", name, total);
    assert_in_range(total, 100, bound);
}

static void test_cpu(void **state)
{
    (void)state;
    test_class("cpu", 1100);
}

static void test_gpu(void **state)
{
    (void)state;
    test_class("gpu", 1500);
}

static void test_mali(void **state)
{
    (void)state;
    test_class("mali", 1250);
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
