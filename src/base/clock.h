/* Clocks that never go backwards. */
#ifndef SLUICE_BASE_CLOCK_H
#define SLUICE_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t clock_now(void);

/* Nanoseconds of processor time that this process has used, all threads together. */
uint64_t clock_cpu(void);

#endif
