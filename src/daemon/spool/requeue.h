/* Requeuing: moves originals back to where they were dropped, so that they are done again
 * (docs/spool.md has the order of steps). Waits for the disk: not on the loop. */
#ifndef SLUICE_DAEMON_SPOOL_REQUEUE_H
#define SLUICE_DAEMON_SPOOL_REQUEUE_H

#include "daemon/spool/fate.h"

/* Requeues the file that fate_find found. `name` becomes its name in IN. FAULT_NO_INPUT: there is
 * no original any more. */
int requeue_one(const struct spool *spool, const struct fate *fate, char name[PATH_MAX],
                struct fault *fault);

/* Files that were requeued, and those that could not be. */
struct requeued {
    unsigned n_done, n_failed;
    size_t n_names;
    char **names; /* in IN; owned */
    char after[PATH_MAX]; /* the last name of those so far: the next call goes on behind it */
    struct fault fault;   /* the first one */
};

/* Requeues the next files in failed in the order of their names, REQUEUE_SLICE at most, and adds
 * them to `requeued`. Returns true when there may be more. */
#define REQUEUE_SLICE 512
bool requeue_failed(const struct spool *spool, struct requeued *requeued);

/* Forgets the names and, at the end of a folder, how far it had come there. */
void requeued_forget(struct requeued *requeued, bool with_place);

/* Gives such a reason its name back if its file is still in failed; otherwise removes it. */
void requeue_clear_up(const struct spool *spool, int directory_fd, const char *name);

#endif
