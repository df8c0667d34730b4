/* The ledger's thread and its database. Shared by ledger*.c alone. */
#ifndef SLUICE_DAEMON_SPOOL_LEDGER_INTERNAL_H
#define SLUICE_DAEMON_SPOOL_LEDGER_INTERNAL_H

#include "daemon/spool/ledger.h"
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/queue.h>

enum statement {
    KNOWS,
    PUT,
    BEGIN,
    COMMIT,
    ROLLBACK,
    DROP_OLD,
    DROP_MANY,
    LIST_REMEMBERED,
    FORGET_ENTRY,
    FIND_NAME,
    FIND_FILE,
    FIND_RESULT,
    FIND_PLANE,
    FIND_MORE,
    PAGE,
    FORGET_FILE,
    TIME_GET,
    TIME_PUT,
    KEPT_GET,
    KEPT_PUT,
    KEPT_DROP,
    STATEMENTS
};

/* One thing that is to be done, with what it needs for it and what it gives back. */
struct ledger_request {
    enum statement what; /* the statement that it is about */
    const char *folder, *name, *state;
    const struct identity *identities;  /* of `count` files */
    const struct ledger_entry *entries; /* or these */
    const struct ledger_row *missing;   /* or these */
    size_t count;
    int64_t after, now;
    bool lasts; /* what it writes is safe against a power cut when it has ended */
    const char *below, *result, *extension; /* of a result, as in ledger_find_result … */
    size_t stem; /* … and, for another plane, its length in front of the plane; else 0 */
    struct ledger_dating *dating;

    struct ledger_row *rows; /* found: up to `limit` */
    size_t n_rows, limit;

    bool left; /* nobody waits for it: the thread frees it */
    struct ledger_request *also; /* the next one of that kind, which is done with it */
    bool begun, ended;
    struct fault fault;
    TAILQ_ENTRY(ledger_request) next;
};

struct ledger {
    char *path;
    atomic_uint generation;
    _Atomic uint64_t since; /* when the present request was begun, monotonic nanoseconds; 0: none */

    pthread_mutex_t lock; /* protects what follows; nobody holds it while using the disk */
    pthread_cond_t asked, moved_on;
    pthread_t thread;
    TAILQ_HEAD(, ledger_request) requests; /* that are not begun */
    unsigned n_asking;                     /* of these, those that somebody waits for */
    size_t n_waiting;                      /* entries of the others */
    unsigned n_lost;                       /* entries that were dropped */
    uint64_t moved;                        /* when a request was last begun or ended */
    bool closing, closed;

    sqlite3 *db; /* this and the rest belong to whoever does a request; NULL: not open */
    sqlite3_stmt *statements[STATEMENTS];
    int version;          /* the database's, before it was migrated */
    bool durable;         /* the database's present setting */
    uint64_t next_try;    /* when to try to open it again */
    struct fault trouble; /* of the latest attempt */
};

/* ledger.c: has the thread do something, after all that was asked for before, and waits for its
 * end. FAULT_IO when it has not begun and nothing has moved for 5 s, unless it `lasts`: then only
 * its end tells what became of it. */
int ledger_ask(struct ledger *ledger, struct ledger_request *request, struct fault *fault);

/* ledger_database.c: all within a request. Opens the database where it is not open; a damaged one is
 * set aside, and a new one begun. */
int ledger_open_database(struct ledger *ledger, struct fault *fault);
void ledger_close_database(struct ledger *ledger);

/* The fault for a code that is not SQLITE_DONE. A damaged database is replaced here. */
int ledger_blame(struct ledger *ledger, int code, struct fault *fault);

/* A statement with its values: 't' a text, which must stay until the statement is reset, 'i' an
 * int64_t, 'f' a file's identity, which are three of its numbers. */
sqlite3_stmt *ledger_bind(struct ledger *ledger, enum statement which, const char *kinds, ...);
/* One step, then a reset. Returns SQLITE_DONE, SQLITE_ROW or an error. */
int ledger_step(sqlite3_stmt *statement);

/* Begins a transaction: SQLITE_DONE, or an error, and there is none. `durable`: when it has ended,
 * it is safe against a power cut. */
int ledger_begin(struct ledger *ledger, bool durable);
/* Ends it, well if `code`, of what was done in it, is SQLITE_DONE. Returns the code of all. */
int ledger_commit(struct ledger *ledger, int code);

/* ledger_ages.c, within a request: dates files. */
int ledger_date(struct ledger *ledger, struct ledger_dating *dating);
/* Before when an entry has to have been written last to be an old one (Unix time); INT64_MIN: none
 * is old in the hour after the date has jumped. */
int ledger_old_before(struct ledger *ledger, int64_t days, int64_t *before);

#endif
