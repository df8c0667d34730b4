/* The ledger's thread, the only one that writes to the database. Others leave their changes here
 * and go on, unless they need to know that a change is durable. Readers take turns with the thread.
 */
#include "daemon/spool/ledger_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"

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
    int code = ledger_set_durable(ledger, task->wait == LEDGER_LASTS);
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
    int result = ledger_open_again(ledger, fault);
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

/* ---- the thread ---- */

/* Runs a task in the thread's turn, without the lock. A task for an earlier generation is dropped:
 * its row numbers belong to the ledger that was set aside. */
static void run(struct ledger *ledger, struct ledger_task *task)
{
    fault_clear(&task->fault);
    if (ledger_open_again(ledger, &task->fault) == 0 &&
        (task->generation == 0 || task->generation == ledger->generation + 1))
        ledger_end(ledger, write_all(ledger, task), &task->fault);
    if (task->fault.code != FAULT_NONE && task->wait != LEDGER_LASTS)
        log_warning("%s: what became of %zu files will not be known later", task->fault.text,
                    task->count);
}

/* Called with the lock held. */
static void take_one(struct ledger *ledger)
{
    struct ledger_task *task = STAILQ_FIRST(&ledger->tasks);
    unsigned n_lost = ledger->n_lost;
    STAILQ_REMOVE_HEAD(&ledger->tasks, next);
    ledger->n_lost = 0;
    pass_on(ledger, clock_now());
    pthread_mutex_unlock(&ledger->lock);
    run(ledger, task);
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
    if (ledger_open_again(ledger, &fault) != 0)
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
    ledger_close_database(ledger);
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

int ledger_thread_start(struct ledger *ledger, struct fault *fault)
{
    pthread_condattr_t monotonic;
    sigset_t all, before;
    pthread_mutex_init(&ledger->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&ledger->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    STAILQ_INIT(&ledger->tasks);
    pass_on(ledger, clock_now()); /* the first turn is the thread's: it opens the database */
    sigfillset(&all);             /* signals go to the loop's thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&ledger->thread, NULL, work, ledger);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        return 0;
    pthread_cond_destroy(&ledger->changed);
    pthread_mutex_destroy(&ledger->lock);
    return fault_set(fault, FAULT_MEMORY, "no thread can be started for the ledger");
}

bool ledger_thread_end(struct ledger *ledger)
{
    bool patient = true;
    pthread_mutex_lock(&ledger->lock);
    ledger->closing = true;
    if (ledger->since == 0)
        ledger->moved = clock_now();
    pthread_cond_broadcast(&ledger->changed);
    while (!ledger->closed && patient)
        patient = wait_a_little(ledger);
    size_t n_lost = ledger->n_waiting;
    pthread_mutex_unlock(&ledger->lock);
    if (!patient) {
        log_error("%s: no answer for %s: %zu changes are lost", ledger->path,
                  number_duration(PATIENCE), n_lost);
        pthread_detach(ledger->thread);
        return false;
    }
    pthread_join(ledger->thread, NULL);
    pthread_cond_destroy(&ledger->changed);
    pthread_mutex_destroy(&ledger->lock);
    return true;
}
