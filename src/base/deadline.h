/* A thread's deadline: when it has to finish what it is doing. Code that works in pieces (steps of
 * a chain, rows, blocks of a file) checks it between two pieces, and gives up with FAULT_TIME. */
#ifndef SLUICE_BASE_DEADLINE_H
#define SLUICE_BASE_DEADLINE_H

#include "base/fault.h"
#include <stdint.h>

/* Sets the calling thread's deadline, in monotonic nanoseconds (clock_now); 0: none. */
void deadline_set(uint64_t when);

/* The calling thread's deadline. */
uint64_t deadline_get(void);

/* Returns FAULT_TIME when the deadline has passed. */
int deadline_check(struct fault *fault);

#endif
