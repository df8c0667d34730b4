/* What OpenCL drivers need of the file system once the worker has its sandbox: their libraries,
 * device nodes and caches, and what PoCL links with. */
#ifndef SLUICE_WORKER_SANDBOX_PATHS_H
#define SLUICE_WORKER_SANDBOX_PATHS_H

#include "worker/landlock.h"

/* Gives drivers a place below our own cache directory for what they keep: those that are told by
 * the environment, and were told nothing else. Before any driver is loaded. */
void sandbox_place_caches(void);

/* Rules for all drivers that may be there, and for our cache directory. */
void sandbox_allow_paths(struct landlock *landlock);

#endif
