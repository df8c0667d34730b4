/* Landlock, by its system calls: from when it is enforced on, this thread, the threads that it
 * starts and their children reach no path but those that were allowed before. Documented in
 * landlock(7) and Documentation/userspace-api/landlock.rst of the kernel.
 *
 * It holds for the calling thread and what comes of it, never for threads that exist already. */
#ifndef SLUICE_WORKER_LANDLOCK_H
#define SLUICE_WORKER_LANDLOCK_H

#include "base/fault.h"
#include <stdbool.h>
#include <stdint.h>

/* What may be done with a path and, where it is a directory, with all below it. */
enum landlock_access {
    LANDLOCK_READ,    /* files are read, directories listed */
    LANDLOCK_RUN,     /* also executed */
    LANDLOCK_DEVICE,  /* device nodes: read, written, ioctl */
    LANDLOCK_CONTENT, /* read, written, made, renamed, removed; no device nodes, nothing executed */
};

/* The kernel's version of Landlock; 0: it has none, or it is switched off. */
int landlock_version(void);

/* An empty set of rules: everything that this version knows of is refused. */
struct landlock {
    int version;
    int rules;
    int pinned[32]; /* what must stay open so that its rule goes on to hold */
    unsigned n_pinned;
};

int landlock_begin(struct landlock *landlock, int version, struct fault *fault);

/* A path that is not there needs no rule. */
void landlock_allow(struct landlock *landlock, const char *path, enum landlock_access access);

/* Ends it in any case. No_new_privs must be set. */
int landlock_enforce(struct landlock *landlock, struct fault *fault);

#endif
