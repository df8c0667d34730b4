/* The front: the loop's owner, which wires folders, queue, sockets and workers together, from the
 * check of the chains to the end of the last job. */
#ifndef SLUICE_DAEMON_FRONT_H
#define SLUICE_DAEMON_FRONT_H

#include "daemon/front/options.h"

struct spool_world;

/* Runs until it is told to stop (SIGTERM, SIGINT), or cannot start; returns the exit status. SIGHUP
 * has the options' configuration read again. There may be no ledger where no folder depends on one.
 */
int front_run(const struct daemon_options *options, struct rulebook *book,
              const struct spool_world *spools);

#endif
