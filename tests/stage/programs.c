#include "programs.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "chain/source.h"

#define PROGRAMS_MAX 4096

/* In the order in which they were met; what comes after the last is run. */
static uint64_t met[PROGRAMS_MAX];
static size_t n_met;
static size_t of_test;
static bool none_left_out;

/* N, or 0 for all. */
static size_t wanted_programs(void)
{
    const char *told = getenv("HARNESS_PROGRAMS"), *all = getenv("SLUICE_TEST_ALL");
    if (all && all[0] == '1')
        return 0;
    return told ? strtoul(told, NULL, 10) : of_test;
}

void programs_sample(size_t n)
{
    of_test = n;
}

static bool is_left_out(size_t index, size_t wanted)
{
    size_t step = 1;
    while (index >= 2 * wanted * step)
        step *= 2;
    return index % step != 0;
}

void programs_leave_out(bool any)
{
    none_left_out = !any;
}

bool programs_leaves_out(const struct plan *plan)
{
    size_t wanted = wanted_programs(), index = 0;
    struct program_source source = {0};
    struct fault fault = FAULT_INIT;
    if (wanted == 0 || none_left_out || program_source_create(&source, plan, &fault) != 0)
        return false;
    uint64_t hash = hash_bytes(HASH_INIT, source.text.data, source.text.length);
    program_source_finish(&source);
    while (index < n_met && met[index] != hash)
        index++;
    if (index == n_met && n_met < PROGRAMS_MAX)
        met[n_met++] = hash;
    return index < n_met && is_left_out(index, wanted);
}

void programs_report(void)
{
    size_t left_out = 0;
    for (size_t i = 0; i < n_met; i++)
        left_out += is_left_out(i, wanted_programs());
    if (left_out > 0)
        printf("%zu of %zu programs were not run on the device (SLUICE_TEST_ALL=1 runs all)\n",
               left_out, n_met);
}
