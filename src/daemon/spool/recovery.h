/* What daemons that are gone have left behind in a watched directory: work of instances whose lock
 * nobody holds. Part of every scan, at the start and later: then it is another daemon's. Waits for
 * the disk: not on the loop. */
#ifndef SLUICE_DAEMON_SPOOL_RECOVERY_H
#define SLUICE_DAEMON_SPOOL_RECOVERY_H

#include "daemon/spool/claim.h"

/* Puts things in their places for a claim whose verdict is noted: results to their names in OUT
 * (`out_fd`), the original to done or failed. `ended`: the claim is no more on disk. Otherwise,
 * with 0, its file has to be run. On a fault the claim is as it was; to be tried again. */
int recovery_resume(struct claim *claim, int out_fd, bool *ended, struct fault *fault);

/* Takes over the work of every instance that is gone, ends what can be ended, removes their
 * temporary files, and calls `found` with each claim that has to be run (owned by the callee). */
int recovery_run(struct spool *spool, void (*found)(void *context, struct claim *claim),
                 void *context, struct fault *fault);

#endif
