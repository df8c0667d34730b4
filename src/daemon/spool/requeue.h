/* Puts originals back to where they were dropped, so that they are done again (docs/spool.md has
 * the order of steps). Waits for the disk: not on the loop. */
#ifndef SLUICE_DAEMON_SPOOL_REQUEUE_H
#define SLUICE_DAEMON_SPOOL_REQUEUE_H

#include "daemon/spool/fate.h"

/* One that fate_find has found. On success `name` is what it is called in IN now. FAULT_NO_INPUT:
 * there is no original any more. */
int requeue_one(const struct spool *spool, const struct fate *fate, char name[PATH_MAX],
                struct fault *fault);

/* Files that were put back, and what could not be. */
struct requeued {
    unsigned n_done, n_failed;
    size_t n_names;
    char **names; /* in IN; owned, as those below */
    size_t n_skipped;
    char **skipped;     /* below failed: not to be tried again */
    struct fault fault; /* the first */
};

/* Puts back at most REQUEUE_SLICE of those in failed that are not among `skipped`, and adds to what
 * `requeued` holds. True: there may be more. */
#define REQUEUE_SLICE 128
bool requeue_failed(const struct spool *spool, struct requeued *requeued);

void requeued_finish(struct requeued *requeued);

/* The hidden name of a reason while its file is put back: true for one, and the reason's own name.
 * A run that is gone may have left it. */
bool requeue_is_aside(const char *name, char reason[NAME_MAX + 1]);

/* Puts it back, if its file is still in failed, or removes it. */
void requeue_clear_up(const struct spool *spool, int directory_fd, const char *name);

#endif
