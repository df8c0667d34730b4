/* What of done and failed stays: the oldest go first. Waits for the disk: not on the loop. */
#ifndef SLUICE_DAEMON_SPOOL_RETENTION_H
#define SLUICE_DAEMON_SPOOL_RETENTION_H

#include "config/settings.h"

/* Removes files below the directory that are older than the rule's age, then the oldest until no
 * more than its size is left. A reason (NAME.error.json) goes with its file and counts with it. A
 * file's age is the time since it was put there, by the change time, which a rename sets; one from
 * the future has none, so that a clock that is behind removes nothing. `label` names the directory
 * in log lines. */
void retention_apply(int directory_fd, const struct retention *rule, const char *label);

#endif
