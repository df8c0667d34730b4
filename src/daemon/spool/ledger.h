/* The memory of what became of files: an SQLite database in the state directory. The file system is
 * the truth (docs/spool.md); the ledger alone knows only one thing, which files of a folder whose
 * originals are kept have been done. The rest is for people who ask.
 *
 * A ledger that is damaged is set aside as ledger.damaged-N, loudly, and begun anew; folders that
 * depend on it are to be rebuilt from what stands in their directories.
 *
 * It has a thread of its own, which opens it and writes to it. Any thread may call what follows,
 * but not the loop's, unless it says so: entries are left to the thread, questions wait for what
 * was left before, up to 5 s without any progress. Several daemons may share one. */
#ifndef SLUICE_DAEMON_SPOOL_LEDGER_H
#define SLUICE_DAEMON_SPOOL_LEDGER_H

#include "base/fault.h"
#include "daemon/spool/identity.h"
#include <stddef.h>

struct ledger;

/* DIRECTORY/ledger.db is opened or made soon; while that fails it is tried again, and what needs it
 * gets the fault. FAULT_MEMORY. */
int ledger_open(struct ledger **ledger, const char *directory, struct fault *fault);

/* When all is written; one that hangs is abandoned after 5 s. Takes NULL; clears the pointer. */
void ledger_close(struct ledger **ledger);

struct ledger_entry {
    const char *folder; /* path of the watched folder */
    const char *name;
    struct identity identity;
    const char *state; /* "done", "failed", "retried" */
    unsigned attempts;
    const char *reason; /* NULL: none */
    const char *result; /* name of the first; NULL: none */
    bool remembered;    /* the file stays in its folder, and must not be done again */
};

/* Whether the ledger has been told to remember a file, by its identity. The device's number does
 * not count: it changes when a stick is put in again, the folder's path does not. A fault means
 * that nobody knows: such a file must neither be done nor be taken for done. */
int ledger_knows(struct ledger *ledger, const char *folder, const struct identity *identity,
                 bool *known, struct fault *fault);

/* Writes entries in one transaction, new or in the place of older ones of the same file. `durable`:
 * when this returns 0 they outlive a power cut, however long that takes. Else they are written
 * later, and what goes wrong then is logged; of files not remembered they may be lost, if it lags.
 */
int ledger_write(struct ledger *ledger, const struct ledger_entry *entries, size_t count,
                 bool durable, struct fault *fault);

/* What the ledger remembers of one file. */
struct ledger_row {
    int64_t id; /* in the order of entering */
    char *name, *state;
    char *reason, *result; /* NULL: none; owned, as those above */
    struct identity identity;
    unsigned attempts;
    bool remembered;
    int64_t time; /* Unix, of the latest entry */
};
void ledger_row_finish(struct ledger_row *row);

/* The latest entry of a file: by its identity, else by its name. False: there is none. The row is
 * the caller's then. */
bool ledger_find(struct ledger *ledger, const char *folder, const char *name,
                 const struct identity *identity, struct ledger_row *row);

/* The latest entry whose result has this name, or is another plane of it: "a.dy.png" of
 * "a.dx.png". `below` is where both are below IN and OUT: "" or "sub/". */
bool ledger_find_result(struct ledger *ledger, const char *folder, const char *below,
                        const char *result, struct ledger_row *row);

/* The entries of a state after `after`, at most `limit` of them, into rows that are the caller's
 * then. Returns how many. */
size_t ledger_page(struct ledger *ledger, const char *folder, const char *state, int64_t after,
                   size_t limit, struct ledger_row *rows);

/* Forgets files, in one transaction, as ledger_write; those that it does not know are no fault. */
int ledger_forget(struct ledger *ledger, const char *folder, const struct identity *identities,
                  size_t count, bool durable, struct fault *fault);

/* Old entries are dropped: of files not remembered after 30 days, not in the hour after a jump of
 * the date, or beyond 200 000 of them; of
 * remembered ones of this folder when `exists` (may be NULL) says that the file is not there any
 * more. It is asked without the ledger's lock, so it may take its time. */
void ledger_prune(struct ledger *ledger, const char *folder,
                  bool (*exists)(void *context, const char *name, const struct identity *identity),
                  void *context);

/* A file that is kept for a time, and since when it is known to be where it is. */
struct ledger_kept {
    const char *path; /* below the root */
    int64_t size;     /* the caller's */
    int64_t changed;  /* by which another file of its name is told; any unit */
    int64_t since;    /* by the clock of ledger_now */
};

/* The time that this machine has seen, in seconds: it goes on over restarts of daemon and machine
 * and is never set. */
struct ledger_now {
    int64_t seen;
    bool quiet; /* today's date has jumped within the last hour: nothing is to be deleted */
};

/* Fills in `since`: for a file that is new below `root` (any text) now. */
int ledger_date_files(struct ledger *ledger, const char *root, struct ledger_kept *files,
                      size_t count, struct ledger_now *now, struct fault *fault);

/* Any thread. Since when somebody has been at it, monotonic nanoseconds; 0: nobody is. */
uint64_t ledger_since(const struct ledger *ledger);

/* Any thread. How often it was set aside. A folder that has seen another number before rebuilds
 * what it needs to have remembered. */
unsigned ledger_generation(struct ledger *ledger);

#endif
