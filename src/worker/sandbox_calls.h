/* Which system calls the worker may make, by seccomp. */
#ifndef SLUICE_WORKER_SANDBOX_CALLS_H
#define SLUICE_WORKER_SANDBOX_CALLS_H

#include "base/fault.h"
#include <stdbool.h>

/* From now on, for all threads of the process and what they start: only the calls of a list. With
 * `driver` the list has what OpenCL drivers do besides (open by path, start a linker), without it
 * nothing that names a path or makes a process. `log_refused` has the kernel log what it refused.
 */
int sandbox_limit_calls(bool driver, bool log_refused, struct fault *fault);

#endif
