/* The front: one loop that owns the folders, the queue and the worker, from the first check of the
 * chain to the last job's end. */
#ifndef SLUICE_DAEMON_FRONT_H
#define SLUICE_DAEMON_FRONT_H

#include "daemon/settings.h"

/* Runs until it is told to stop (SIGTERM, SIGINT) or cannot start; returns the exit status. */
int front_run(const struct settings *settings);

#endif
