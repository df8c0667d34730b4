/* Takes over work in a watched directory whose daemon is gone: instances whose lock nobody holds.
 * Part of every scan; after the start it is another daemon's work. Waits for the disk: not on the
 * loop. */
#ifndef SLUICE_DAEMON_SPOOL_RECOVERY_H
#define SLUICE_DAEMON_SPOOL_RECOVERY_H

#include "daemon/spool/claim.h"

/* Completes a claim whose note has a verdict: results get their names in OUT, the original goes to
 * done or failed. `ended`: the claim is gone from the disk; otherwise, with 0, the file has to be
 * done again. After a fault the claim is as it was, and this may be called again. */
int recovery_resume(struct claim *claim, bool *ended, struct fault *fault);

/* Takes over the work of all instances that are gone, completes what has a verdict, removes their
 * temporary files, and calls `found` with each claim that has to be done again, which the callee
 * then owns. */
int recovery_run(struct spool *spool, void (*found)(void *context, struct claim *claim),
                 void *context, struct fault *fault);

/* After a ledger was set aside: enters a file as done whose result is in OUT and not older than the
 * file. Returns true when it has entered it. */
bool recovery_rebuild(const struct spool *spool, const char *name, const struct identity *identity,
                      const char *extension);

#endif
