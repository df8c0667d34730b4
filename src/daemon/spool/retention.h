/* Removes old files from done and failed. Waits for the disk and for the ledger: not on the loop.
 */
#ifndef SLUICE_DAEMON_SPOOL_RETENTION_H
#define SLUICE_DAEMON_SPOOL_RETENTION_H

#include "config/settings.h"
#include "daemon/spool/ledger.h"

/* Removes files below the directory that are older than the rule's age, then the oldest until the
 * rest takes no more than the rule's size on disk (in blocks). A reason (NAME.error.json) is
 * removed with its file, and its size counts with the file's. A file's age is the machine's running
 * time since the file was first seen there, which the ledger stores; without a ledger nothing is
 * removed. `label` names the directory in the ledger and in log lines. */
void retention_apply(int directory_fd, const struct retention *rule, struct ledger *ledger,
                     const char *label);

#endif
