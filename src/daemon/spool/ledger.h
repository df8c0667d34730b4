/* The ledger: an SQLite database in the state directory that remembers what became of files. The
 * file system has the truth (docs/spool.md); the ledger alone knows only which files of a folder
 * with `originals: keep` are done. The rest is there for people's questions.
 *
 * A damaged ledger is set aside as ledger.damaged-N, with a log line, and begun anew; folders that
 * depend on it then enter again what stands in their directories.
 *
 * One queue of requests leads to the database; a thread of its own opens it, and does what nobody
 * waits for. The functions may be called from any thread except, where nothing else is said, the
 * loop's: writing leaves the entries to that thread; reading waits until earlier requests are done,
 * and gives up after 5 s in which none was begun or ended. Several daemons may share one ledger. */
#ifndef SLUICE_DAEMON_SPOOL_LEDGER_H
#define SLUICE_DAEMON_SPOOL_LEDGER_H

#include "base/disk.h"
#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef bool identity_visit(void *context, const char *name, const struct identity *identity);

struct ledger;

/* The thread opens or makes DIRECTORY/ledger.db soon. While that fails it tries again, and calls
 * that need the database return the fault. FAULT_MEMORY. */
int ledger_open(struct ledger **ledger, const char *directory, struct fault *fault);

/* Returns when all is written, or after 5 s without progress. Takes NULL; clears the pointer. */
void ledger_close(struct ledger **ledger);

/* The results of a file, in one text. Names have no / in them: between two results there are three,
 * and a result in a folder below OUT has that and two in front of its name. */
#define LEDGER_NEXT  "///"
#define LEDGER_BELOW "//"

struct ledger_entry {
    const char *folder; /* path of the watched folder */
    const char *name;
    struct identity identity;
    const char *state; /* "done", "failed", "retried" */
    unsigned attempts;
    const char *reason; /* NULL: none */
    const char *result; /* names of all: see LEDGER_NEXT; NULL: none */
    bool remembered;    /* the file stays in its folder, and must not be done again */
};

/* Whether the ledger says that a file is done, by its identity. The device number does not count,
 * since it changes when a removable disk is plugged in again; the folder's path stays the same. On
 * a fault nobody knows: the file must neither be done now nor be taken for done. */
int ledger_knows(struct ledger *ledger, const char *folder, const struct identity *identity,
                 bool *known, struct fault *fault);

/* Writes entries in one transaction; an entry replaces an older one of the same file. `durable`:
 * returns 0 when they are safe against a power cut, however long that takes. Otherwise the thread
 * writes them later and logs faults; entries that are not `remembered` may be dropped when too many
 * wait. */
int ledger_write(struct ledger *ledger, const struct ledger_entry *entries, size_t count,
                 bool durable, struct fault *fault);

/* An entry as it is read. */
struct ledger_row {
    int64_t id; /* grows with each entry */
    char *name, *state;
    char *reason, *result; /* as in an entry; NULL: none; owned, as those above */
    char *more;            /* of the results, while the row is read */
    struct identity identity;
    unsigned attempts;
    bool remembered;
    int64_t time; /* of the latest entry, Unix time */
};
void ledger_row_finish(struct ledger_row *row);

/* Finds the latest entry of a file by its identity, else by its name. Returns false when there is
 * none. The caller frees the row. */
bool ledger_find(struct ledger *ledger, const char *folder, const char *name,
                 const struct identity *identity, struct ledger_row *row);

/* Finds the latest entry whose result has this name, or whose result is another plane of it:
 * "a.dy.png" of "a.dx.png". `below` is the folder of both below IN and OUT: "" or "sub/". */
bool ledger_find_result(struct ledger *ledger, const char *folder, const char *below,
                        const char *result, struct ledger_row *row);

/* Reads up to `limit` entries of a state, after `after`, into rows that the caller frees. Returns
 * how many. */
size_t ledger_page(struct ledger *ledger, const char *folder, const char *state, int64_t after,
                   size_t limit, struct ledger_row *rows);

/* Removes files in one transaction, as ledger_write does. Unknown files are no fault. */
int ledger_forget(struct ledger *ledger, const char *folder, const struct identity *identities,
                  size_t count, bool durable, struct fault *fault);

/* Removes old entries: those not `remembered` after 30 days (but not in the hour after the date
 * jumped), or beyond 200 000 of them; and remembered ones of this folder for which `exists` (may be
 * NULL) returns false. `exists` is called without the ledger's lock, so it may wait for a disk. */
void ledger_prune(struct ledger *ledger, const char *folder, identity_visit *exists, void *context);

/* A file in done or failed, and since when it is known to be there. */
struct ledger_kept {
    const char *path; /* below the root */
    int64_t size;     /* set by the caller */
    int64_t changed;  /* tells a new file of the same name from the old one; any unit */
    int64_t since;    /* by the clock of ledger_now */
};

/* The time for which this machine has been running, in seconds. It continues over restarts of
 * daemon and machine, and cannot be set. */
struct ledger_now {
    int64_t seen;
    bool quiet; /* the date has jumped within the last hour: delete nothing */
};

/* Sets `since` of each file; for one that is new below `root` (any text) that is now. */
int ledger_date_files(struct ledger *ledger, const char *root, struct ledger_kept *files,
                      size_t count, struct ledger_now *now, struct fault *fault);

/* Any thread. Since when somebody has been using the database, monotonic nanoseconds; 0: nobody is.
 */
uint64_t ledger_since(const struct ledger *ledger);

/* Any thread. How often the ledger was set aside. A folder that sees a new number enters again what
 * has to be remembered. */
unsigned ledger_generation(struct ledger *ledger);

#endif
