/* Which programs a test has the device run, where compiling all takes too long for the ordinary run:
 * the tests of some stages have hundreds.
 *
 * Environment HARNESS_PROGRAMS=pairs: as few as hold every two choices that meet in any. The choices
 * are what makes one program another: the kernel's template, its definitions (types of samples,
 * channels, a stage's choices), the class of device, generic or not. A second process of the test
 * lists the programs first, and runs none. Unset, or with SLUICE_TEST_ALL=1: all. The references run
 * for all. */
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
