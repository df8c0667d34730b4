/* The worker's sandbox. It is put on before any driver is loaded and any thread is started, so that
 * it limits all later threads: ours, the drivers', and those of programs that they start.
 *
 *     Landlock   only paths that drivers need; no TCP; no signals to others
 *     seccomp    only listed system calls: no sockets, no other processes
 *     limits     no core dumps, no file larger than a result can be
 *
 * ioctl on the GPU's device node is not filtered: it reaches the kernel's driver. */
#ifndef SLUICE_WORKER_SANDBOX_H
#define SLUICE_WORKER_SANDBOX_H

#include "base/fault.h"
#include <stdbool.h>
#include <stdint.h>

struct sandbox_needs {
    bool driver; /* OpenCL will be loaded; without it no path and no executable memory is needed */
    bool log_refused; /* have the kernel log what it refuses (auditd, or dmesg) */
    uint64_t memory;  /* bytes that pictures may take, which bounds the size of results */
};

/* What the sandbox consists of on this kernel. */
struct sandbox {
    bool whole;      /* nothing is missing */
    char level[128]; /* "whole: landlock 7, seccomp, limits"; otherwise what is missing, and why */
};

/* Puts on as much as the kernel has. Once, while the process has one thread. */
void sandbox_put_on(struct sandbox *sandbox, const struct sandbox_needs *needs);

#endif
