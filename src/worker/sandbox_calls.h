/* Limits which system calls the worker may make, by seccomp. */
#ifndef SLUICE_WORKER_SANDBOX_CALLS_H
#define SLUICE_WORKER_SANDBOX_CALLS_H

#include "base/fault.h"
#include <stdbool.h>

/* From now on all threads of the process, and programs they start, may make only listed calls. With
 * `driver` the list contains what OpenCL drivers need (opening by path, starting a linker); without
 * it no call that takes a path or makes a process. `log_refused` has the kernel log refused calls.
 */
int sandbox_limit_calls(bool driver, bool log_refused, struct fault *fault);

#endif
