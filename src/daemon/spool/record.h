/* What the ledger is told of a claim that has a verdict. */
#ifndef SLUICE_DAEMON_SPOOL_RECORD_H
#define SLUICE_DAEMON_SPOOL_RECORD_H

#include "daemon/spool/claim.h"
#include "daemon/spool/ledger.h"

/* An entry and the texts that it points to. */
struct record {
    struct ledger_entry entry;
    char result[256];
};

/* For a claim with a verdict. The claim and `reason` (NULL: none) must outlive the record. False
 * when its file is gone: nothing can be told about it. */
bool record_fill(struct record *record, struct claim *claim, const char *reason);

/* Fills in and writes one: durably where the folder depends on it. */
int record_write(struct claim *claim, struct fault *fault);

/* Makes up for what a ledger that was set aside knew: a file whose result stands in OUT and is not
 * older than the file counts as done. True when it does; then it has been entered. */
bool record_rebuild(const struct spool *spool, const char *name, const struct identity *identity,
                    const char *extension);

#endif
