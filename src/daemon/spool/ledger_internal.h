/* The database's statements, transactions and turns. Shared by ledger.c and ledger_rows.c alone. */
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

/* One statement and its values: 't' a text, which is copied, 'i' an int64_t. */
struct ledger_change {
    enum statement which;
    const char *kinds; /* a constant */
    union {
        char *text; /* owned; NULL for none */
        int64_t number;
    } values[12];
};

/* For what the caller of ledger_submit waits. */
enum ledger_wait {
    LEDGER_WHENEVER, /* for nothing; when too many changes wait, this one is dropped, and a log line
                        tells */
    LEDGER_ROOM,     /* until it is among the changes that wait */
    LEDGER_LASTS,    /* until it is safe against a power cut, however long that takes */
};

/* A transaction. */
struct ledger_task {
    size_t count, capacity;
    struct ledger_change *changes; /* owned */
    bool incomplete;               /* memory ran out */
    unsigned generation;           /* the task is for this generation (plus one); 0: for any */
    enum ledger_wait wait;
    bool ended;
    struct fault fault;
    STAILQ_ENTRY(ledger_task) next;
};

struct ledger {
    char *path;
    atomic_uint generation;

    pthread_mutex_t lock; /* protects what follows; nobody holds it while using the disk */
    pthread_cond_t changed;
    pthread_t thread;
    STAILQ_HEAD(, ledger_task) tasks;
    size_t n_waiting;          /* changes that wait or are being written */
    uint64_t n_asked, n_ended; /* tasks */
    unsigned n_lost;           /* changes that were dropped */
    _Atomic uint64_t since;    /* when the present turn began, monotonic nanoseconds; 0: none */
    uint64_t moved;            /* when a turn last began or ended */
    bool closing, closed;

    sqlite3 *db; /* this and the rest belong to whoever has the turn; NULL: not open */
    sqlite3_stmt *statements[STATEMENTS];
    int version;          /* the database's, before it was migrated */
    bool durable;         /* the database's present setting */
    uint64_t next_try;    /* when to try to open it again */
    struct fault trouble; /* of the latest attempt */
};

/* NULL without memory; the other functions accept that. */
struct ledger_task *ledger_task_create(void);
void ledger_task_destroy(struct ledger_task *task);
void ledger_task_add(struct ledger_task *task, enum statement which, const char *kinds, ...);

/* Takes the task over, and waits as told. */
int ledger_submit(struct ledger *ledger, struct ledger_task *task, enum ledger_wait wait,
                  struct fault *fault);

/* Begins a turn for reading, when all earlier changes are written and nobody else has the turn.
 * Returns a fault, and no turn, when nothing has moved for too long. */
int ledger_enter(struct ledger *ledger, struct fault *fault);
void ledger_leave(struct ledger *ledger);

/* The following are called in one's turn. */

/* One step of a statement, then a reset. Returns SQLITE_DONE, SQLITE_ROW or an error. */
int ledger_step(struct ledger *ledger, enum statement which);

/* Handles the end of a statement: 0 for SQLITE_DONE, else a fault. A damaged database is replaced
 * here. */
int ledger_end(struct ledger *ledger, int code, struct fault *fault);

/* The statement's current row, if there is one, with copies of its texts. False without memory. */
bool ledger_read_row(sqlite3_stmt *statement, struct ledger_row *row);

#endif
