/* The front: one loop that owns the folders, the queue and the worker, from the first check of the
 * chains to the last job's end. */
#ifndef SLUICE_DAEMON_FRONT_H
#define SLUICE_DAEMON_FRONT_H

#include "daemon/front/options.h"

struct spool_world;

/* Runs until it is told to stop (SIGTERM, SIGINT) or cannot start; returns the exit status. The
 * options are read again at SIGHUP. There may be no ledger where no folder depends on one. */
int front_run(const struct daemon_options *options, struct rulebook *book,
              const struct spool_world *spools);

#endif
