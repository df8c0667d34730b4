/* Which programs a test has the device run, where compiling takes too long for the ordinary run:
 * under an emulator one takes seconds, and the tests of some stages know hundreds.
 *
 * Environment HARNESS_PROGRAMS=N: of the programs that a test meets one after the other, the first
 * 2N are run, then ever fewer: N of each time that their number doubles. Unset, or with
 * SLUICE_TEST_ALL=1: all. The references run for all of them. */
#ifndef SLUICE_TESTS_STAGE_PROGRAMS_H
#define SLUICE_TESTS_STAGE_PROGRAMS_H

#include <stdbool.h>

#include "chain/plan.h"

/* False: from here on none is left out, for what counts launches. True: some are again. */
void programs_leave_out(bool any);

/* The same for every plan with the same program. */
bool programs_leaves_out(const struct plan *plan);

/* Says how many were left out, if any were. */
void programs_report(void);

#endif
