/* What of done and failed stays: the oldest go first. Waits for the disk and for the ledger: not on
 * the loop. */
#ifndef SLUICE_DAEMON_SPOOL_RETENTION_H
#define SLUICE_DAEMON_SPOOL_RETENTION_H

#include "config/settings.h"
#include "daemon/spool/ledger.h"

/* Removes files below the directory that are older than the rule's age, then the oldest until they
 * take no more than its size on the disk (blocks, not lengths). A reason (NAME.error.json) goes
 * with its file and counts with it. A file's age is the time that the machine has seen since the
 * file was first found there, as the ledger remembers it; without a ledger nothing is removed.
 * `label` names the directory to the ledger and in log lines. */
void retention_apply(int directory_fd, const struct retention *rule, struct ledger *ledger,
                     const char *label);

#endif
