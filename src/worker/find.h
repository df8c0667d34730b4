/* Where the programs are that nobody starts by hand. */
#ifndef SLUICE_WORKER_FIND_H
#define SLUICE_WORKER_FIND_H

#include "base/fault.h"
#include <stddef.h>

/* The path of sluice-NAME: what the variable of the environment says, or beside this program, or
 * where it was installed to. 0 when there is one. */
int find_program(const char *name, const char *variable, char *path, size_t size,
                 struct fault *fault);

/* The same of sluice-worker, with SLUICE_WORKER. */
int worker_find_program(char *path, size_t size, struct fault *fault);

#endif
