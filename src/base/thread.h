/* Threads beside a program's own, which handle no signals. */
#ifndef SLUICE_BASE_THREAD_H
#define SLUICE_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that blocks all signals; false if there can be no more.
 * (pthread_attr_setsigmask_np, by which the caller's mask need not be changed for so long, came
 * with glibc 2.32.) */
bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

#endif
