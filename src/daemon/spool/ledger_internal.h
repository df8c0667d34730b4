/* Shared by ledger.c and ledger_*.c alone. */
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

/* What whoever leaves a task waits for. */
enum ledger_wait {
    LEDGER_WHENEVER, /* nothing; it is lost, and that is told, while too many others wait */
    LEDGER_ROOM,     /* that it is among those that wait */
    LEDGER_LASTS,    /* that it outlives a power cut, as long as that takes */
};

/* A transaction. */
struct ledger_task {
    size_t count, capacity;
    struct ledger_change *changes; /* owned */
    bool incomplete;               /* memory ran out */
    unsigned generation;           /* 0: for any; else one more than that of the ledger it is for */
    enum ledger_wait wait;
    bool ended;
    struct fault fault;
    STAILQ_ENTRY(ledger_task) next;
};

struct ledger {
    char *path;
    atomic_uint generation;

    pthread_mutex_t lock; /* of what is below; nobody is at the disk with it */
    pthread_cond_t changed;
    pthread_t thread;
    STAILQ_HEAD(, ledger_task) tasks;
    size_t n_waiting;          /* changes in them, and in the one at hand */
    uint64_t n_asked, n_ended; /* tasks */
    unsigned n_lost;           /* changes */
    _Atomic uint64_t since;    /* somebody's turn; 0: nobody's; monotonic nanoseconds, as … */
    uint64_t moved;            /* … when somebody got on */
    bool closing, closed;

    sqlite3 *db; /* belongs, like the rest, to whose turn it is; NULL: not open */
    sqlite3_stmt *statements[STATEMENTS];
    bool durable;         /* how the database is set */
    uint64_t next_try;    /* to open it */
    struct fault trouble; /* of the latest try */
};

/* NULL without memory, which the others take. */
struct ledger_task *ledger_task_create(void);
void ledger_task_destroy(struct ledger_task *task);
void ledger_task_add(struct ledger_task *task, enum statement which, const char *kinds, ...);

/* Takes the task over. */
int ledger_submit(struct ledger *ledger, struct ledger_task *task, enum ledger_wait wait,
                  struct fault *fault);

/* To read: waits until all that was left before is written and nobody else is at it, but not for
 * long. A fault: it is not our turn. */
int ledger_enter(struct ledger *ledger, struct fault *fault);
void ledger_leave(struct ledger *ledger);

int ledger_thread_start(struct ledger *ledger, struct fault *fault);

/* When all is written. False: it hangs, and must be left alone. */
bool ledger_thread_end(struct ledger *ledger);

/* All of these in one's turn. */
int ledger_open_again(struct ledger *ledger, struct fault *fault);

void ledger_close_database(struct ledger *ledger);

/* One step and a reset: SQLITE_DONE, SQLITE_ROW or what is wrong. */
int ledger_step(struct ledger *ledger, enum statement which);

/* What becomes of a statement that ended with `code`: 0 for SQLITE_DONE, else a fault, and a new
 * file in place of a damaged one. */
int ledger_end(struct ledger *ledger, int code, struct fault *fault);
void ledger_bind_identity(sqlite3_stmt *statement, int first, const struct identity *identity);

/* Today's date less an age in seconds; INT64_MIN: nothing is to go now. */
int64_t ledger_date_before(struct ledger *ledger, int64_t age);

/* synchronous=FULL makes each commit wait for the disk, NORMAL none. */
int ledger_set_durable(struct ledger *ledger, bool durable);

#endif
