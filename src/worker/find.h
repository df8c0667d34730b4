/* Finds the programs that are not started by hand. */
#ifndef SLUICE_WORKER_FIND_H
#define SLUICE_WORKER_FIND_H

#include "base/fault.h"
#include <stddef.h>

/* The path of sluice-NAME: from the environment variable, beside this program, or where it was
 * installed. Returns 0 when there is one. */
int find_program(const char *name, const char *variable, char *path, size_t size,
                 struct fault *fault);

#endif
