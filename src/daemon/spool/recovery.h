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

/* Takes over the work of all instances that are gone, completes what has a verdict, and removes
 * their temporary files. `found` gets the claims that have to be done again, `ended` those that are
 * complete now; the caller then owns them. `moved` is set to the present time with each one
 * (monotonic nanoseconds). */
int recovery_run(struct spool *spool, struct claims *found, struct claims *ended,
                 _Atomic uint64_t *moved, struct fault *fault);

/* After a ledger was set aside: enters a file as done whose result is in OUT and not older than the
 * file. Returns true when it has entered it. */
bool recovery_rebuild(const struct spool *spool, const char *name, const struct identity *identity,
                      const char *extensions);

#endif
