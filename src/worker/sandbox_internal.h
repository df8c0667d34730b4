/* The parts of the sandbox: system calls by seccomp, and the paths that drivers need. */
#ifndef SLUICE_WORKER_SANDBOX_INTERNAL_H
#define SLUICE_WORKER_SANDBOX_INTERNAL_H

#include "worker/landlock.h"
#include "worker/sandbox.h"
#include <stdbool.h>

/* From now on all threads of the process, and programs they start, may make only listed calls. With
 * `driver` the list contains what OpenCL drivers need (opening by path, starting a linker); without
 * it no call that takes a path or makes a process. `log_refused` has the kernel log refused calls.
 */
int sandbox_limit_calls(bool driver, bool log_refused, struct fault *fault);

/* Sets variables of the environment so that drivers keep their caches below ours, unless they are
 * set already. To be called before any driver is loaded. */
void sandbox_place_caches(void);

/* Adds rules for the paths that drivers need, whichever are installed: libraries, device nodes,
 * the linker for PoCL, and our cache directory. */
void sandbox_allow_paths(struct landlock *landlock);

#endif
