/* Shared by ledger.c and ledger_*.c alone. */
#ifndef SLUICE_DAEMON_SPOOL_LEDGER_INTERNAL_H
#define SLUICE_DAEMON_SPOOL_LEDGER_INTERNAL_H

#include "daemon/spool/ledger.h"
#include <pthread.h>
#include <sqlite3.h>

enum statement {
    KNOWS,
    PUT,
    BEGIN,
    COMMIT,
    ROLLBACK,
    DROP_OLD,
    DROP_MANY,
    LIST_REMEMBERED,
    FORGET,
    FIND_NAME,
    FIND_FILE,
    FIND_RESULT,
    FIND_PLANE,
    PAGE,
    FORGET_FILE,
    TIME_GET,
    TIME_PUT,
    KEPT_GET,
    KEPT_PUT,
    KEPT_DROP,
    STATEMENTS
};

struct ledger {
    char *path;
    pthread_mutex_t lock; /* of all below */
    sqlite3 *db;          /* NULL: it could not be opened again */
    sqlite3_stmt *statements[STATEMENTS];
    bool durable; /* how the database is set */
    unsigned generation;
};

/* Takes the lock, opening the database if need be; a fault: it is not taken. */
int ledger_enter(struct ledger *ledger, struct fault *fault);
void ledger_leave(struct ledger *ledger);

/* All of these under the lock. One step and a reset: SQLITE_DONE, SQLITE_ROW or what is wrong. */
int ledger_step(struct ledger *ledger, enum statement which);

/* What becomes of a statement that ended with `code`: 0 for SQLITE_DONE, else a fault, and a new
 * file in place of a damaged one. */
int ledger_end(struct ledger *ledger, int code, struct fault *fault);
void ledger_bind_identity(sqlite3_stmt *statement, int first, const struct identity *identity);

/* Today's date less an age in seconds, in a transaction; INT64_MIN: nothing is to go now. */
int64_t ledger_date_before(struct ledger *ledger, int64_t age);

/* synchronous=FULL makes each commit wait for the disk, NORMAL none. */
int ledger_set_durable(struct ledger *ledger, bool durable);

#endif
