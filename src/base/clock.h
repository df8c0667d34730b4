/* Clocks that never go backwards, in nanoseconds, and sleeping. */
#ifndef SLUICE_BASE_CLOCK_H
#define SLUICE_BASE_CLOCK_H

#include <stdint.h>

/* In nanoseconds. */
#define MILLISECOND UINT64_C(1000000)
#define SECOND      UINT64_C(1000000000)

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t clock_now(void);

/* Nanoseconds of processor time that this process has used, all threads together. */
uint64_t clock_cpu(void);

/* The same of the calling thread alone. */
uint64_t clock_thread(void);

/* Sleeps for so many nanoseconds, or until a signal. */
void clock_sleep(uint64_t nanoseconds);

#endif
