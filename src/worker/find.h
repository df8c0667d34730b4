/* Where the worker program is. */
#ifndef SLUICE_WORKER_FIND_H
#define SLUICE_WORKER_FIND_H

#include "base/fault.h"
#include <stddef.h>

/* The path of sluice-worker: SLUICE_WORKER, or beside this program, or where it was installed to.
 * 0 when there is one. */
int worker_find_program(char *path, size_t size, struct fault *fault);

#endif
