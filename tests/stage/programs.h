/* Which programs a test has the device run, where compiling all takes too long for the ordinary run:
 * the tests of some stages have thousands.
 *
 * Environment HARNESS_PROGRAMS=pairs: of the programs that a test meets one after the other those in
 * which two choices meet that have not met before. The choices are what makes one program another:
 * the kernel's template, its definitions (types of samples, channels, a stage's choices), the class
 * of device, generic or not. Unset, or with SLUICE_TEST_ALL=1: all. The references run for all. */
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
