/* The worker's sandbox: put on in one go before any driver is loaded and before any thread is
 * started, so that it holds for all threads there will be: ours, the drivers', and what they start.
 *
 *     Landlock   no path but what drivers need (sandbox_paths.h); no TCP; no signals to others
 *     seccomp    no system call but a list (sandbox_calls.h): no sockets, no other processes
 *     limits     no core dumps, no file larger than a result can be
 *
 * What it does not do: ioctl on the GPU's device node goes to the kernel's driver unfiltered. */
#ifndef SLUICE_WORKER_SANDBOX_H
#define SLUICE_WORKER_SANDBOX_H

#include "base/fault.h"
#include <stdbool.h>
#include <stdint.h>

struct sandbox_needs {
    bool driver;      /* OpenCL will be loaded; without it no path is needed at all, nor memory
                         that is run */
    bool log_refused; /* have the kernel log what was refused (auditd, or dmesg) */
    uint64_t memory;  /* bytes that pictures may take: no result is much larger */
};

/* How much of it this kernel gives. */
struct sandbox {
    bool whole;      /* nothing is missing */
    char level[120]; /* "whole: landlock 7, seccomp, limits"; what is missing and why */
};

/* Puts on what there is. On the only thread of the process; once. */
void sandbox_put_on(struct sandbox *sandbox, const struct sandbox_needs *needs);

#endif
