/* The paths that OpenCL drivers need inside the sandbox: libraries, device nodes, caches, and the
 * linker for PoCL. */
#ifndef SLUICE_WORKER_SANDBOX_PATHS_H
#define SLUICE_WORKER_SANDBOX_PATHS_H

#include "worker/landlock.h"

/* Sets variables of the environment so that drivers keep their caches below ours, unless they are
 * set already. To be called before any driver is loaded. */
void sandbox_place_caches(void);

/* Adds rules for all drivers that may be installed, and for our cache directory. */
void sandbox_allow_paths(struct landlock *landlock);

#endif
