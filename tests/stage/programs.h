/* Which programs a test has the device run, where compiling all takes too long for the ordinary
 * run: the tests of some stages have hundreds.
 *
 * Environment HARNESS_PROGRAMS=pairs: as few as hold every two choices that meet in a template, and
 * every choice of the stage. The choices are what makes one program another: definitions (types of
 * samples, channels, a stage's choices), the class of device, generic or not; a number is one only
 * where the template asks for its value. A second process of the test lists the programs first, and
 * runs none. HARNESS_PROGRAMS=few: the same programs, but each runs its 1st, 3rd, 6th, 10th, …
 * picture alone, for a device that is very slow. HARNESS_PROGRAMS=choices: as few as hold every
 * choice of a template, not every two, and every stage in every class: the ordinary run has no time for more. Behind any, :TEST:… leaves out what
 * the samples of these other tests hold, each of which leaves out those before it.
 * HARNESS_PROGRAMS=thin: all programs, with these pictures alone; sanitizers' share of the ordinary run.
 * Unset, or with SLUICE_TEST_ALL=1: all programs. References run for what the device runs. */
#ifndef SLUICE_TESTS_STAGE_PROGRAMS_H
#define SLUICE_TESTS_STAGE_PROGRAMS_H

#include <stdbool.h>

#include "chain/plan.h"

/* False: from here on none is left out, for what counts launches. True: some are again. */
void programs_leave_out(bool any);

/* This process lists programs and runs none. */
bool programs_lists(void);

/* Whether this run of the plan's program is left out. */
bool programs_leaves_out(const struct plan *plan);

/* Says how many were left out, if any were. */
void programs_report(void);

#endif
