/* Landlock, by its system calls: once enforced, this thread, the threads that it starts, and their
 * children can use only the paths that were allowed before. Threads that exist already are not
 * limited. Documented in landlock(7) and in the kernel's Documentation/userspace-api/landlock.rst.
 */
#ifndef SLUICE_WORKER_LANDLOCK_H
#define SLUICE_WORKER_LANDLOCK_H

#include "base/fault.h"
#include <stdbool.h>
#include <stdint.h>

/* What is allowed with a path and, if it is a directory, with everything below it. */
enum landlock_access {
    LANDLOCK_READ,    /* reading files, listing directories */
    LANDLOCK_RUN,     /* the same, and executing */
    LANDLOCK_DEVICE,  /* device nodes: reading, writing, ioctl */
    LANDLOCK_CONTENT, /* reading, writing, making, renaming, removing; no device nodes, no executing
                       */
};

/* The kernel's version of Landlock; 0: it has none, or it is switched off. */
int landlock_version(void);

/* Begins an empty set of rules: everything that this version handles is refused. */
struct landlock {
    int version;
    int rules;
    int pinned[32]; /* descriptors that keep nodes alive for their rules */
    unsigned n_pinned;
};

int landlock_begin(struct landlock *landlock, int version, struct fault *fault);

/* Allows access to a path. A path that does not exist is left out. */
void landlock_allow(struct landlock *landlock, const char *path, enum landlock_access access);

/* Enforces the rules; `landlock` is finished in any case. No_new_privs must be set. */
int landlock_enforce(struct landlock *landlock, struct fault *fault);

#endif
