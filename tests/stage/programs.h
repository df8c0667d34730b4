/* Which programs a test has the device run, where compiling takes too long for the ordinary run:
 * under an emulator one takes seconds, and the tests of some stages know hundreds.
 *
 * With N programs asked for, by the environment (HARNESS_PROGRAMS=N) or else by the test
 * (programs_sample), the device runs the first 2N programs that the test meets, then fewer and
 * fewer: N of those by which their number doubles. With neither, or with SLUICE_TEST_ALL=1, it runs
 * all. The references run for every program. */
#ifndef SLUICE_TESTS_STAGE_PROGRAMS_H
#define SLUICE_TESTS_STAGE_PROGRAMS_H

#include <stdbool.h>

#include "chain/plan.h"

/* For a test with so many programs that compiling them takes minutes: N of the above. Called before
 * the first check. */
void programs_sample(size_t n);

/* False: from here on none is left out, for what counts launches. True: some are again. */
void programs_leave_out(bool any);

/* The same for every plan with the same program. */
bool programs_leaves_out(const struct plan *plan);

/* Says how many were left out, if any were. */
void programs_report(void);

#endif
