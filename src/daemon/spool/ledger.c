/* The ledger's database: its statements; what is to be written, and the thread that writes it;
 * whose turn it is. */
#include "daemon/spool/ledger_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/name.h"
#include "base/number.h"

#define FILE_NAME  "ledger.db"
#define BUSY_LIMIT 5000         /* milliseconds to wait while another daemon writes */
#define TRY_EVERY  (5 * SECOND) /* between attempts to open the database */

/* As ledger_rows.c reads them. */
#define COLUMNS "rowid,name,device,inode,size,mtime,state,attempts,reason,result,remembered,last"

static const char *const texts[STATEMENTS] = {
    [KNOWS] = "SELECT 1 FROM files WHERE folder=?1 AND inode=?2 AND size=?3 AND mtime=?4 AND "
              "remembered=1",
    [PUT] = "INSERT INTO files(folder,name,device,inode,size,mtime,state,attempts,reason,result,"
            "remembered,first,last) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?12) "
            "ON CONFLICT(folder,inode,size,mtime,name) DO UPDATE SET device=?3,state=?7,"
            "attempts=?8,reason=?9,result=?10,remembered=?11,last=?12",
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [DROP_OLD] = "DELETE FROM files WHERE remembered=0 AND last<?1",
    [DROP_MANY] = "DELETE FROM files WHERE rowid IN (SELECT rowid FROM files WHERE remembered=0 "
                  "ORDER BY last DESC LIMIT -1 OFFSET ?1)",
    /* In the order of an index, which on many disks is also the order of the files. */
    [LIST_REMEMBERED] = "SELECT " COLUMNS " FROM files WHERE folder=?1 AND "
                        "(inode,size,mtime,name)>(?2,?3,?4,?5) AND remembered=1 "
                        "ORDER BY inode,size,mtime,name LIMIT ?6",
    [FORGET] = "DELETE FROM files WHERE rowid=?1 AND last=?2 AND remembered=1",
    [FIND_NAME] = "SELECT " COLUMNS " FROM files WHERE folder=?1 AND name=?2 ORDER BY last DESC,"
                  "rowid DESC LIMIT 1",
    [FIND_FILE] = "SELECT " COLUMNS " FROM files WHERE folder=?1 AND inode=?2 AND size=?3 AND "
                  "mtime=?4 ORDER BY last DESC,rowid DESC LIMIT 1",
    [FIND_RESULT] = "SELECT " COLUMNS " FROM files WHERE folder=?1 AND result=?2 ORDER BY "
                    "last DESC,rowid DESC",
    [FIND_PLANE] = "SELECT " COLUMNS " FROM files WHERE folder=?1 AND result>?2 AND result<?3 "
                   "ORDER BY last DESC,rowid DESC",
    [PAGE] = "SELECT " COLUMNS " FROM files WHERE folder=?1 AND state=?2 AND rowid>?3 "
             "ORDER BY rowid LIMIT ?4",
    [TIME_GET] = "SELECT boot,seen,up,today,quiet,ahead FROM clock WHERE one=1",
    [TIME_PUT] = "INSERT OR REPLACE INTO clock VALUES(1,?1,?2,?3,?4,?5,?6)",
    [KEPT_GET] = "SELECT since,marked FROM kept WHERE root=?1 AND path=?2 AND changed=?3",
    [KEPT_PUT] = "INSERT OR REPLACE INTO kept VALUES(?1,?2,?3,?4,?5)",
    [KEPT_DROP] = "DELETE FROM kept WHERE root=?1 AND marked<?2",
    [FORGET_FILE] = "DELETE FROM files WHERE folder=?1 AND inode=?2 AND size=?3 AND mtime=?4",
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS files(folder TEXT NOT NULL, name TEXT NOT NULL, device INT, "
    "inode INT NOT NULL, size INT NOT NULL, mtime INT NOT NULL, state TEXT NOT NULL, "
    "attempts INT, reason TEXT, result TEXT, remembered INT NOT NULL, first INT, last INT);"
    "CREATE UNIQUE INDEX IF NOT EXISTS by_identity ON files(folder,inode,size,mtime,name);"
    "CREATE INDEX IF NOT EXISTS by_age ON files(remembered,last);"
    "CREATE INDEX IF NOT EXISTS by_name ON files(folder,name);"
    "CREATE INDEX IF NOT EXISTS by_result ON files(folder,result);"
    "CREATE INDEX IF NOT EXISTS by_state ON files(folder,state);"
    "CREATE TABLE IF NOT EXISTS clock(one INTEGER PRIMARY KEY, boot TEXT, seen INT, up INT, "
    "today INT, quiet INT, ahead INT);"
    "CREATE TABLE IF NOT EXISTS kept(root TEXT, path TEXT, changed INT, since INT, "
    "marked INT, PRIMARY KEY(root,path)) WITHOUT ROWID;";

/* What makes each version of the database from the one before; its own version is `user_version`.
 * A change of tables is a further entry. */
static const char *const versions[] = {schema};

#define VERSION (int)(sizeof versions / sizeof *versions)

static bool can_be_read(const char *path)
{
    char buffer[1 << 16];
    ssize_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (off_t at = 0; fd >= 0 && (got = pread(fd, buffer, sizeof buffer, at)) > 0; at += got)
        ;
    if (fd < 0)
        return errno == ENOENT;
    close(fd);
    return got == 0;
}

/* SQLite also says "malformed" when the disk fails to read, which may pass. Only a
 * file that can be read counts as damaged. */
static int tell_damage(const struct ledger *ledger, int code)
{
    char log[4200];
    snprintf(log, sizeof log, "%s-wal", ledger->path);
    if ((code & 0xff) != SQLITE_CORRUPT && (code & 0xff) != SQLITE_NOTADB)
        return code;
    return can_be_read(ledger->path) && can_be_read(log) ? SQLITE_CORRUPT : SQLITE_IOERR;
}

static void close_database(struct ledger *ledger)
{
    for (int i = 0; i < STATEMENTS; i++) {
        sqlite3_finalize(ledger->statements[i]);
        ledger->statements[i] = NULL;
    }
    sqlite3_close(ledger->db);
    ledger->db = NULL;
}

static int is_whole(void *context, int count, char **values, char **names)
{
    *(bool *)context = count == 1 && values[0] && strcmp(values[0], "ok") == 0;
    return 0;
}

static int read_version(void *context, int count, char **values, char **names)
{
    *(int *)context = count == 1 && values[0] ? atoi(values[0]) : 0;
    return 0;
}

/* Brings the database to our version. One of a later daemon is left as it is: SQLITE_MISMATCH. */
static int migrate(struct ledger *ledger)
{
    char pragma[40];
    if (ledger->version == VERSION)
        return SQLITE_OK;
    int code = sqlite3_exec(ledger->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code == SQLITE_OK) /* another daemon may have done it meanwhile */
        code =
            sqlite3_exec(ledger->db, "PRAGMA user_version", read_version, &ledger->version, NULL);
    for (int at = ledger->version; at < VERSION && code == SQLITE_OK; at++)
        code = sqlite3_exec(ledger->db, versions[at], NULL, NULL, NULL);
    snprintf(pragma, sizeof pragma, "PRAGMA user_version=%d; COMMIT", VERSION);
    if (code == SQLITE_OK && ledger->version <= VERSION)
        code = sqlite3_exec(ledger->db, pragma, NULL, NULL, NULL);
    if (code != SQLITE_OK || ledger->version > VERSION)
        sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
    return ledger->version > VERSION ? SQLITE_MISMATCH : code;
}

/* Returns 0 or SQLite's code. */
static int open_database(struct ledger *ledger)
{
    bool whole = false;
    int code =
        sqlite3_open_v2(ledger->path, &ledger->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(ledger->db, BUSY_LIMIT);
    if (code == SQLITE_OK)
        code =
            sqlite3_exec(ledger->db, "PRAGMA user_version", read_version, &ledger->version, NULL);
    if (code == SQLITE_OK && ledger->version > VERSION)
        return SQLITE_MISMATCH;
    if (code == SQLITE_OK)
        code = sqlite3_exec(ledger->db,
                            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                            "PRAGMA cache_size=-512;",
                            NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(ledger->db, "PRAGMA quick_check(1)", is_whole, &whole, NULL);
    if (code == SQLITE_OK && !whole)
        code = SQLITE_CORRUPT;
    if (code == SQLITE_OK)
        code = migrate(ledger);
    for (int i = 0; i < STATEMENTS && code == SQLITE_OK; i++)
        code = sqlite3_prepare_v3(ledger->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                  &ledger->statements[i], NULL);
    ledger->durable = false;
    /* of our version, and not its tables: nobody can say what it is */
    return code == SQLITE_ERROR && ledger->version <= VERSION ? SQLITE_CORRUPT : code;
}

static void set_aside(struct ledger *ledger)
{
    static const char *const tails[] = {"", "-wal", "-shm"};
    char from[4200], to[4200];
    unsigned number = 1;
    close_database(ledger);
    do
        snprintf(to, sizeof to, "%.*sdamaged-%u", (int)(strlen(ledger->path) - 2), ledger->path,
                 number);
    while (access(to, F_OK) == 0 && ++number < 1000);
    log_error("the ledger %s is damaged: it is set aside as %s and begun anew; what was done is "
              "told from the directories",
              ledger->path, to);
    for (int i = 0; i < 3; i++) {
        snprintf(from, sizeof from, "%s%s", ledger->path, tails[i]);
        snprintf(to, sizeof to, "%.*sdamaged-%u%s", (int)(strlen(ledger->path) - 2), ledger->path,
                 number, tails[i]);
        if (rename(from, to) != 0 && errno != ENOENT)
            log_warning("%s: %s", from, strerror(errno));
    }
}

/* Sets a damaged database aside, and begins a new one, unless another daemon has done so. */
static int replace(struct ledger *ledger)
{
    char path[4200];
    snprintf(path, sizeof path, "%s.lock", ledger->path);
    int lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) {
        log_error("%s: %s: the ledger is damaged, and stays", path, strerror(errno));
        file_close(&lock);
        return SQLITE_IOERR;
    }
    close_database(ledger);
    int code = tell_damage(ledger, open_database(ledger));
    if (code == SQLITE_CORRUPT) {
        set_aside(ledger);
        code = open_database(ledger);
    }
    ledger->generation++;
    file_close(&lock);
    return code;
}

/* Opens the database. A damaged one is set aside, and a new one begun. */
static int open_or_replace(struct ledger *ledger, struct fault *fault)
{
    char *directory = strndup(ledger->path, (size_t)(path_name(ledger->path) - ledger->path));
    if (directory)
        path_make_directories(directory, 0700, NULL); /* if it fails, so does the opening */
    free(directory);
    int code = tell_damage(ledger, open_database(ledger));
    if (code == SQLITE_CORRUPT)
        code = replace(ledger);
    if (code == SQLITE_OK)
        return 0;
    if (code == SQLITE_MISMATCH)
        fault_set(fault, FAULT_IO,
                  "%s: a later sluiced wrote it (version %d, and this one knows %d): it is left "
                  "alone; run that one, or move the file away",
                  ledger->path, ledger->version, VERSION);
    else
        fault_set(fault, FAULT_IO, "%s: %s", ledger->path, sqlite3_errstr(code));
    close_database(ledger);
    return FAULT_IO;
}

int ledger_step(struct ledger *ledger, enum statement which)
{
    sqlite3_stmt *statement = ledger->statements[which];
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code;
}

static int open_again(struct ledger *ledger, struct fault *fault)
{
    if (ledger->db)
        return 0;
    if (clock_now() >= ledger->next_try) {
        fault_clear(&ledger->trouble);
        open_or_replace(ledger, &ledger->trouble);
        ledger->next_try = clock_now() + TRY_EVERY;
    }
    return fault_set(fault, ledger->trouble.code, "%s", ledger->trouble.text);
}

int ledger_end(struct ledger *ledger, int code, struct fault *fault)
{
    if (code == SQLITE_DONE)
        return 0;
    code = tell_damage(ledger, code);
    /* the connection's own message is by now that of the rollback */
    int result = fault_set(fault, code == SQLITE_FULL ? FAULT_NO_SPACE : FAULT_IO, "%s: %s",
                           ledger->path, sqlite3_errstr(code));
    if (code == SQLITE_CORRUPT) {
        if (replace(ledger) != SQLITE_OK)
            close_database(ledger);
    } else if ((code & 0xff) == SQLITE_IOERR) {
        /* Its cache may hold what a failed sync kept from the disk: read the disk anew. */
        close_database(ledger);
    }
    return result;
}

unsigned ledger_generation(struct ledger *ledger)
{
    return ledger ? ledger->generation : 0;
}

#define BACKLOG 20000 /* changes that may wait: some 10 MB */

/* A reader gives up after so long without progress, and so does the end of the daemon. */
#define PATIENCE (5 * SECOND)

/* ---- tasks: what is to be written ---- */

struct ledger_task *ledger_task_create(void)
{
    return calloc(1, sizeof(struct ledger_task));
}

void ledger_task_destroy(struct ledger_task *task)
{
    for (size_t i = 0; task && i < task->count; i++)
        for (size_t v = 0; task->changes[i].kinds[v]; v++)
            if (task->changes[i].kinds[v] == 't')
                free(task->changes[i].values[v].text);
    if (task)
        free(task->changes);
    free(task);
}

void ledger_task_add(struct ledger_task *task, enum statement which, const char *kinds, ...)
{
    if (!task || task->incomplete)
        return;
    if (task->count == task->capacity) {
        size_t capacity = task->capacity ? 2 * task->capacity : 4;
        struct ledger_change *changes = realloc(task->changes, capacity * sizeof *changes);
        task->incomplete = !changes;
        if (!changes)
            return;
        task->changes = changes;
        task->capacity = capacity;
    }
    struct ledger_change *change = &task->changes[task->count++];
    va_list args;
    *change = (struct ledger_change){.which = which, .kinds = kinds};
    va_start(args, kinds);
    for (size_t i = 0; kinds[i]; i++) {
        if (kinds[i] == 'i') {
            change->values[i].number = va_arg(args, int64_t);
            continue;
        }
        const char *text = va_arg(args, const char *);
        change->values[i].text = text ? strdup(text) : NULL;
        task->incomplete |= text && !change->values[i].text;
    }
    va_end(args);
}

static int step(struct ledger *ledger, const struct ledger_change *change)
{
    sqlite3_stmt *s = ledger->statements[change->which];
    for (int i = 0; change->kinds[i]; i++)
        if (change->kinds[i] == 't')
            sqlite3_bind_text(s, i + 1, change->values[i].text, -1, SQLITE_STATIC);
        else
            sqlite3_bind_int64(s, i + 1, change->values[i].number);
    int code = ledger_step(ledger, change->which);
    sqlite3_clear_bindings(s);
    return code;
}

/* One transaction. */
static int write_all(struct ledger *ledger, const struct ledger_task *task)
{
    bool durable = task->wait == LEDGER_LASTS;
    int code = SQLITE_OK;
    if (ledger->durable != durable) /* FULL makes each commit wait for the disk */
        code = sqlite3_exec(ledger->db,
                            durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL", NULL,
                            NULL, NULL);
    if (code == SQLITE_OK)
        ledger->durable = durable;
    if (code != SQLITE_OK || (code = ledger_step(ledger, BEGIN)) != SQLITE_DONE)
        return code;
    for (size_t i = 0; i < task->count && code == SQLITE_DONE; i++)
        code = step(ledger, &task->changes[i]);
    if (code == SQLITE_DONE)
        code = ledger_step(ledger, COMMIT);
    if (code != SQLITE_DONE)
        ledger_step(ledger, ROLLBACK); /* else no other could begin */
    return code;
}

/* ---- turns ---- */

/* Ends a turn, or begins one at the time `since`. Called with the lock held. */
static void pass_on(struct ledger *ledger, uint64_t since)
{
    ledger->since = since;
    ledger->moved = clock_now();
    pthread_cond_broadcast(&ledger->changed);
}

/* Waits for a change. Called with the lock held. Returns false after too long without progress. */
static bool wait_a_little(struct ledger *ledger)
{
    uint64_t until = ledger->moved + PATIENCE;
    struct timespec at = {.tv_sec = (time_t)(until / SECOND), .tv_nsec = (long)(until % SECOND)};
    return pthread_cond_timedwait(&ledger->changed, &ledger->lock, &at) != ETIMEDOUT ||
           clock_now() < ledger->moved + PATIENCE;
}

static int tell_silence(const struct ledger *ledger, struct fault *fault)
{
    return fault_set(fault, FAULT_IO, "%s: no answer for %s", ledger->path,
                     number_duration(PATIENCE));
}

/* Waits until earlier changes are written, so that a reader sees them. */
int ledger_enter(struct ledger *ledger, struct fault *fault)
{
    if (!ledger)
        return fault_set(fault, FAULT_IO, "there is no ledger");
    pthread_mutex_lock(&ledger->lock);
    uint64_t before_us = ledger->n_asked;
    bool patient = true;
    while (patient && (ledger->since != 0 || ledger->n_ended < before_us))
        patient = wait_a_little(ledger);
    if (patient)
        pass_on(ledger, clock_now());
    pthread_mutex_unlock(&ledger->lock);
    if (!patient)
        return tell_silence(ledger, fault);
    int result = open_again(ledger, fault);
    if (result != 0)
        ledger_leave(ledger);
    return result;
}

void ledger_leave(struct ledger *ledger)
{
    pthread_mutex_lock(&ledger->lock);
    pass_on(ledger, 0);
    pthread_mutex_unlock(&ledger->lock);
}

uint64_t ledger_since(const struct ledger *ledger)
{
    return ledger ? ledger->since : 0;
}

/* ---- the thread, the only one that writes to the database ---- */

/* Others leave their changes to the thread and go on, unless they need to know that a change is
 * durable. Readers take turns with it. */

/* Takes one task and runs it in the thread's turn. Called with the lock held, which it gives up
 * meanwhile. A task for an earlier generation is dropped: its row numbers belong to the ledger that
 * was set aside. */
static void take_one(struct ledger *ledger)
{
    struct ledger_task *task = STAILQ_FIRST(&ledger->tasks);
    unsigned n_lost = ledger->n_lost;
    STAILQ_REMOVE_HEAD(&ledger->tasks, next);
    ledger->n_lost = 0;
    pass_on(ledger, clock_now());
    pthread_mutex_unlock(&ledger->lock);
    fault_clear(&task->fault);
    if (open_again(ledger, &task->fault) == 0 &&
        (task->generation == 0 || task->generation == ledger->generation + 1))
        ledger_end(ledger, write_all(ledger, task), &task->fault);
    if (task->fault.code != FAULT_NONE && task->wait != LEDGER_LASTS)
        log_warning("%s: what became of %zu files will not be known later", task->fault.text,
                    task->count);
    if (n_lost > 0)
        log_warning("%s: it was slow: what became of %u files will not be known later",
                    ledger->path, n_lost);
    pthread_mutex_lock(&ledger->lock);
    ledger->n_waiting -= task->count;
    ledger->n_ended++;
    task->ended = true;
    if (task->wait != LEDGER_LASTS)
        ledger_task_destroy(task);
    pass_on(ledger, 0);
}

/* The thread also opens and closes the database: checking a large one takes long. */
static void *work(void *context)
{
    struct ledger *ledger = context;
    struct fault fault = FAULT_INIT;
    if (open_again(ledger, &fault) != 0)
        log_error("%s: it is tried again when it is needed", fault.text);
    pthread_mutex_lock(&ledger->lock);
    pass_on(ledger, 0);
    for (;;) {
        while (ledger->since != 0 || (STAILQ_EMPTY(&ledger->tasks) && !ledger->closing))
            pthread_cond_wait(&ledger->changed, &ledger->lock);
        if (STAILQ_EMPTY(&ledger->tasks))
            break;
        take_one(ledger);
    }
    pass_on(ledger, clock_now());
    pthread_mutex_unlock(&ledger->lock);
    close_database(ledger);
    pthread_mutex_lock(&ledger->lock);
    ledger->closed = true;
    pass_on(ledger, 0);
    pthread_mutex_unlock(&ledger->lock);
    return NULL;
}

/* Waits until there is room, or until the task has ended, as the task wants. Called with the lock
 * held. Only the thread knows when a task has ended, so that wait has no limit. */
static int wait_for(struct ledger *ledger, struct ledger_task *task, struct fault *fault)
{
    size_t count = task->count;
    bool lasts = task->wait == LEDGER_LASTS, patient = true;
    while (patient && ledger->n_waiting > 0 && ledger->n_waiting + count > BACKLOG &&
           task->wait != LEDGER_WHENEVER)
        patient = wait_a_little(ledger) || lasts;
    if (!patient || (ledger->n_waiting > 0 && ledger->n_waiting + count > BACKLOG)) {
        ledger->n_lost += (unsigned)count;
        ledger_task_destroy(task);
        return patient ? 0 : tell_silence(ledger, fault);
    }
    STAILQ_INSERT_TAIL(&ledger->tasks, task, next);
    ledger->n_waiting += count;
    ledger->n_asked++;
    if (ledger->n_ended + 1 == ledger->n_asked && ledger->since == 0)
        ledger->moved = clock_now();
    pthread_cond_broadcast(&ledger->changed);
    if (!lasts)
        return 0;
    while (!task->ended)
        pthread_cond_wait(&ledger->changed, &ledger->lock);
    int result = fault_set(fault, task->fault.code, "%s", task->fault.text);
    ledger_task_destroy(task);
    return result;
}

int ledger_submit(struct ledger *ledger, struct ledger_task *task, enum ledger_wait wait,
                  struct fault *fault)
{
    if (!ledger || !task || task->incomplete) {
        ledger_task_destroy(task);
        return ledger ? fault_set(fault, FAULT_MEMORY, "no memory for the ledger")
                      : fault_set(fault, FAULT_IO, "there is no ledger");
    }
    task->wait = wait;
    pthread_mutex_lock(&ledger->lock);
    int result = wait_for(ledger, task, fault);
    pthread_mutex_unlock(&ledger->lock);
    return result;
}

/* ---- life ---- */

static void destroy(struct ledger *ledger)
{
    pthread_cond_destroy(&ledger->changed);
    pthread_mutex_destroy(&ledger->lock);
    free(ledger->path);
    free(ledger);
}

int ledger_open(struct ledger **ledger, const char *directory, struct fault *fault)
{
    struct ledger *l = calloc(1, sizeof *l);
    size_t size = strlen(directory) + sizeof "/" FILE_NAME;
    pthread_condattr_t monotonic;
    sigset_t all, before;
    *ledger = NULL;
    if (!l || (l->path = malloc(size)) == NULL) {
        free(l);
        return fault_set(fault, FAULT_MEMORY, "no memory for the ledger");
    }
    snprintf(l->path, size, "%s/" FILE_NAME, directory);
    pthread_mutex_init(&l->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&l->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    STAILQ_INIT(&l->tasks);
    pass_on(l, clock_now()); /* the first turn is the thread's: it opens the database */
    sigfillset(&all);        /* signals go to the loop's thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&l->thread, NULL, work, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        *ledger = l;
        return 0;
    }
    destroy(l);
    return fault_set(fault, FAULT_MEMORY, "no thread can be started for the ledger");
}

void ledger_close(struct ledger **ledger)
{
    struct ledger *l = *ledger;
    bool patient = true;
    *ledger = NULL;
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->closing = true;
    if (l->since == 0)
        l->moved = clock_now();
    pthread_cond_broadcast(&l->changed);
    while (!l->closed && patient)
        patient = wait_a_little(l);
    size_t n_lost = l->n_waiting;
    pthread_mutex_unlock(&l->lock);
    if (!patient) { /* the thread hangs, and is left alone */
        log_error("%s: no answer for %s: %zu changes are lost", l->path, number_duration(PATIENCE),
                  n_lost);
        pthread_detach(l->thread);
        return;
    }
    pthread_join(l->thread, NULL);
    destroy(l);
}
