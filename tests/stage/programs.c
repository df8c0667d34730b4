#include "programs.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "chain/source.h"

#define PROGRAMS_MAX 8192
#define CHOICES_MAX  128        /* of one pass */
#define PAIRS_MAX    (1u << 20) /* more than any stage has; a power of two */

/* Programs in the order in which they were met; what comes after the last is run. */
static struct {
    uint64_t text;
    bool left_out;
} met[PROGRAMS_MAX];
static size_t n_met;
static uint64_t pairs[PAIRS_MAX]; /* that programs which are run have; 0: a free place */
static size_t n_pairs;
static bool none_left_out;

static bool wants_all(void)
{
    const char *told = getenv("HARNESS_PROGRAMS"), *all = getenv("SLUICE_TEST_ALL");
    if (told && strcmp(told, "pairs") != 0) {
        fprintf(stderr, "HARNESS_PROGRAMS=%s: expected pairs\n", told);
        abort();
    }
    return !told || (all && all[0] == '1');
}

static bool pair_is_new(uint64_t pair)
{
    size_t at = pair % PAIRS_MAX;
    while (pairs[at] && pairs[at] != pair)
        at = (at + 1) % PAIRS_MAX;
    if (pairs[at] || n_pairs > PAIRS_MAX / 2)
        return false;
    pairs[at] = pair;
    n_pairs++;
    return true;
}

/* Large numbers are a stage's coefficients and limits: that there are some is the choice, not which
 * ones. */
static size_t choice_length(const char *define, size_t length)
{
    const char *value = memchr(define, ' ', length);
    size_t name = value ? (size_t)(value - define) : length;
    bool is_number = value && (isdigit((unsigned char)value[1]) || strchr("-(.", value[1]));
    return is_number && length - name > 3 ? name : length;
}

/* The pass's definitions, what it is an instance of, and for which class of device. */
static size_t choices_of(const struct pass *pass, const struct device_profile *profile,
                         uint64_t choices[CHOICES_MAX])
{
    size_t n = 0;
    choices[n++] = hash_bytes(HASH_INIT, pass->source, strlen(pass->source));
    choices[n++] = hash_bytes(HASH_INIT + profile->generic, profile->name, strlen(profile->name));
    for (const char *at = pass->defines; *at && n < CHOICES_MAX; n++) {
        size_t length = strcspn(at, "\n");
        choices[n] = hash_bytes(HASH_INIT, at, choice_length(at, length));
        at += length + (at[length] == '\n');
    }
    return n;
}

/* Whether two of its choices have not been met together. */
static bool pass_is_new(const struct pass *pass, const struct device_profile *profile)
{
    uint64_t choices[CHOICES_MAX];
    size_t n = choices_of(pass, profile, choices);
    bool is_new = false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            is_new |= pair_is_new(hash_bytes(choices[i], &choices[k], sizeof choices[k]));
    return is_new;
}

static bool plan_is_new(const struct plan *plan)
{
    bool is_new = false;
    for (size_t i = 0; i < plan->n_steps; i++)
        for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++)
            is_new |= pass_is_new(&plan->steps[i].work.passes[p], plan->profile);
    return is_new;
}

void programs_leave_out(bool any)
{
    none_left_out = !any;
}

bool programs_leaves_out(const struct plan *plan)
{
    struct program_source source = {0};
    struct fault fault = FAULT_INIT;
    size_t index = 0;
    if (wants_all() || none_left_out || program_source_create(&source, plan, &fault) != 0)
        return false;
    uint64_t hash = hash_bytes(HASH_INIT, source.text.data, source.text.length);
    program_source_finish(&source);
    while (index < n_met && met[index].text != hash)
        index++;
    if (index == PROGRAMS_MAX)
        return false;
    if (index == n_met) {
        met[index].text = hash;
        met[index].left_out = !plan_is_new(plan);
        n_met++;
    }
    return met[index].left_out;
}

void programs_report(void)
{
    size_t left_out = 0;
    for (size_t i = 0; i < n_met; i++)
        left_out += met[i].left_out;
    if (left_out > 0)
        printf("%zu of %zu programs were not run on the device (SLUICE_TEST_ALL=1 runs all)\n",
               left_out, n_met);
}
