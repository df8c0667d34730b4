/* By when the calling thread has to end what it is doing. Whoever works in pieces (steps of a
 * chain, rows, blocks of a file) asks between two of them, and gives up as with any other fault. */
#ifndef SLUICE_BASE_DEADLINE_H
#define SLUICE_BASE_DEADLINE_H

#include "base/fault.h"
#include <stdint.h>

/* Monotonic nanoseconds (clock_now); 0: whenever it likes. For the calling thread alone. */
void deadline_set(uint64_t when);

/* What was set. */
uint64_t deadline_get(void);

/* 0, or FAULT_TIME when it has passed. */
int deadline_check(struct fault *fault);

#endif
