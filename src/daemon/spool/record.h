/* Ledger entries made from claims with a verdict. */
#ifndef SLUICE_DAEMON_SPOOL_RECORD_H
#define SLUICE_DAEMON_SPOOL_RECORD_H

#include "daemon/spool/claim.h"
#include "daemon/spool/ledger.h"

/* An entry, and the texts to which it points. */
struct record {
    struct ledger_entry entry;
    char result[256];
};

/* Fills an entry from a claim with a verdict. The claim and `reason` (NULL: none) must outlive the
 * record. False when the file is gone, so that nothing can be said about it. */
bool record_fill(struct record *record, struct claim *claim, const char *reason);

/* Makes an entry and writes it: durably where the folder depends on the ledger. */
int record_write(struct claim *claim, struct fault *fault);

/* After a ledger was set aside: enters a file as done whose result is in OUT and not older than the
 * file. Returns true when it has entered it. */
bool record_rebuild(const struct spool *spool, const char *name, const struct identity *identity,
                    const char *extension);

#endif
