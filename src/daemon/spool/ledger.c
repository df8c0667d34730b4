/* The ledger's thread: who asks it, and what it does about entries. */
#include "daemon/spool/ledger_internal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/name.h"
#include "base/number.h"

#define FILE_NAME "ledger.db"

#define BACKLOG 20000 /* entries that may wait: some 10 MB */

#define KEEP_DAYS 30
#define KEEP_ROWS 200000
#define PAGE_ROWS 256 /* remembered files that are looked for between two requests */

/* What nobody waits for is gathered for so long, and written in one transaction. */
#define GATHER (50 * MILLISECOND)

/* So long without progress, and whoever asks gives up, as does the end of the daemon. */
#define PATIENCE (5 * SECOND)

/* ---- what the thread does ---- */

void ledger_row_finish(struct ledger_row *row)
{
    free(row->name);
    free(row->state);
    free(row->reason);
    free(row->result);
    *row = (struct ledger_row){0};
}

/* The statement's current row; SQLite owns its texts. */
static struct ledger_row row_of(sqlite3_stmt *s)
{
    return (struct ledger_row){
        .id = sqlite3_column_int64(s, 0),
        .name = (char *)(uintptr_t)sqlite3_column_text(s, 1),
        .identity = {.device = (dev_t)sqlite3_column_int64(s, 2),
                     .inode = (ino_t)sqlite3_column_int64(s, 3),
                     .size = sqlite3_column_int64(s, 4),
                     .mtime = sqlite3_column_int64(s, 5)},
        .state = (char *)(uintptr_t)sqlite3_column_text(s, 6),
        .attempts = (unsigned)sqlite3_column_int64(s, 7),
        .reason = (char *)(uintptr_t)sqlite3_column_text(s, 8),
        .result = (char *)(uintptr_t)sqlite3_column_text(s, 9),
        .remembered = sqlite3_column_int64(s, 10) != 0,
        .time = sqlite3_column_int64(s, 11),
        .more = (char *)(uintptr_t)sqlite3_column_text(s, 12),
    };
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

/* A row with copies of its texts. SQLITE_ROW, or SQLITE_NOMEM. */
static int read_row(const struct ledger_row *here, struct ledger_row *row)
{
    *row = *here;
    row->name = copy(here->name);
    row->state = copy(here->state);
    row->reason = copy(here->reason);
    row->result = copy(here->result);
    row->more = NULL;
    if (here->more && row->result) {
        char *all;
        free(row->result);
        row->result = asprintf(&all, "%s%s", here->result, here->more) < 0 ? NULL : all;
    }
    if (row->name && row->state && !row->reason == !here->reason && !row->result == !here->result)
        return SQLITE_ROW;
    ledger_row_finish(row);
    return SQLITE_NOMEM;
}

/* Whether the row is of a file in this folder below IN, and its result is asked for, or another
 * plane of that. */
static bool is_result(const struct ledger_request *r, const struct ledger_row *row)
{
    size_t length = (size_t)(path_name(row->name) - row->name);
    if (length != strlen(r->below) || strncmp(row->name, r->below, length) != 0)
        return false;
    const char *dot = r->stem > 0 ? strchr(row->result + r->stem + 1, '.') : NULL;
    return r->stem == 0 || (dot && strcmp(dot, r->extension) == 0);
}

/* Adds the statement's rows to those that are found, up to the limit, and resets it. */
static int read_rows(sqlite3_stmt *statement, struct ledger_request *r)
{
    int code = SQLITE_ROW;
    while (code == SQLITE_ROW && r->n_rows < r->limit &&
           (code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct ledger_row here = row_of(statement);
        if (r->below && !is_result(r, &here))
            continue;
        code = read_row(&here, &r->rows[r->n_rows]);
        r->n_rows += code == SQLITE_ROW;
    }
    sqlite3_reset(statement);
    return code == SQLITE_ROW ? SQLITE_DONE : code;
}

/* For another plane of the file than "a.dy.png": names from "a." up to "a/", since / follows the
 * dot in ASCII. */
static int find_plane(struct ledger *ledger, struct ledger_request *r)
{
    char from[300], to[300];
    r->extension = strrchr(r->result, '.');
    const char *plane =
        r->extension ? memrchr(r->result, '.', (size_t)(r->extension - r->result)) : NULL;
    if (!plane || plane == r->result || plane - r->result > 280)
        return SQLITE_DONE;
    r->stem = (size_t)(plane - r->result);
    snprintf(from, sizeof from, "%.*s.", (int)r->stem, r->result);
    snprintf(to, sizeof to, "%.*s/", (int)r->stem, r->result);
    return read_rows(ledger_bind(ledger, FIND_PLANE, "ttt", r->folder, from, to), r);
}

static int serve(struct ledger *ledger, struct ledger_request *r)
{
    int64_t before;
    int code = SQLITE_DONE;
    switch (r->what) {
    case KNOWS:
        code = ledger_step(ledger_bind(ledger, KNOWS, "tf", r->folder, r->identities));
        r->n_rows = code == SQLITE_ROW;
        return code == SQLITE_ROW ? SQLITE_DONE : code;
    case FIND_FILE:
        return read_rows(ledger_bind(ledger, FIND_FILE, "tf", r->folder, r->identities), r);
    case FIND_NAME:
        return read_rows(ledger_bind(ledger, FIND_NAME, "tt", r->folder, r->name), r);
    case FIND_RESULT:
        code = read_rows(ledger_bind(ledger, FIND_RESULT, "tt", r->folder, r->result), r);
        if (code == SQLITE_DONE && r->n_rows == 0)
            code = read_rows(ledger_bind(ledger, FIND_MORE, "tt", r->folder, r->result), r);
        return code == SQLITE_DONE && r->n_rows == 0 ? find_plane(ledger, r) : code;
    case PAGE:
        return read_rows(
            ledger_bind(ledger, PAGE, "ttii", r->folder, r->state, r->after, (int64_t)r->limit), r);
    case LIST_REMEMBERED:
        return read_rows(ledger_bind(ledger, LIST_REMEMBERED, "tfti", r->folder, r->identities,
                                     r->name, (int64_t)r->limit),
                         r);
    case KEPT_GET:
        return ledger_date(ledger, r->dating);
    case DROP_OLD:
        code = ledger_old_before(ledger, KEEP_DAYS, &before);
        if (code == SQLITE_DONE && (code = ledger_begin(ledger, false)) != SQLITE_DONE)
            return code;
        if (code == SQLITE_DONE)
            code = ledger_step(ledger_bind(ledger, DROP_OLD, "i", before));
        if (code == SQLITE_DONE)
            code = ledger_step(ledger_bind(ledger, DROP_MANY, "i", (int64_t)KEEP_ROWS));
        return ledger_commit(ledger, code);
    default: /* PUT, FORGET_FILE, FORGET_ENTRY */
        if ((code = ledger_begin(ledger, r->lasts)) != SQLITE_DONE)
            return code;
        for (size_t i = 0; code == SQLITE_DONE; i++) {
            for (; r && i == r->count; i = 0)
                r = r->also;
            if (!r)
                break;
            const struct ledger_entry *e = r->what == PUT ? &r->entries[i] : NULL;
            const char *more = e && e->result ? strstr(e->result, LEDGER_NEXT) : NULL;
            char *first = more ? strndup(e->result, (size_t)(more - e->result)) : NULL;
            if (e)
                ledger_bind(ledger, PUT, "ttiftittiit", e->folder, e->name,
                            (int64_t)e->identity.device, &e->identity, e->state,
                            (int64_t)e->attempts, e->reason, first ? first : e->result,
                            (int64_t)e->remembered, r->now, more);
            else if (r->what == FORGET_ENTRY) /* what was entered again meanwhile stays */
                ledger_bind(ledger, FORGET_ENTRY, "tfti", r->folder, &r->missing[i].identity,
                            r->missing[i].name, r->missing[i].time);
            else
                ledger_bind(ledger, FORGET_FILE, "tf", r->folder, &r->identities[i]);
            code = more && !first ? SQLITE_NOMEM : ledger_step(ledger->statements[r->what]);
            free(first);
        }
        return ledger_commit(ledger, code);
    }
}

/* ---- requests: one queue ---- */

/* Requests are done one after the other, each whole, so a reader sees what was written before he
 * asked. The thread does them; only where nothing waits and none is being done, whoever asks and
 * waits does his own at once, in its place, which saves two changes of threads for each file of a
 * scan. A request that is waited for lies on the stack of whoever waits: he takes it back when he
 * gives up, which he can until it is begun. From then on only the disk knows when it ends. */

/* Called with the lock held. */
static void note_move(struct ledger *ledger, uint64_t since)
{
    ledger->since = since;
    ledger->moved = clock_now();
    pthread_cond_broadcast(&ledger->moved_on);
    if (since == 0 && (ledger->closing || !TAILQ_EMPTY(&ledger->requests)))
        pthread_cond_signal(&ledger->asked);
}

/* Waits for a move. Called with the lock held. Returns false after too long without one. */
static bool wait_a_little(struct ledger *ledger)
{
    uint64_t until = ledger->moved + PATIENCE;
    struct timespec at = {.tv_sec = (time_t)(until / SECOND), .tv_nsec = (long)(until % SECOND)};
    pthread_cond_timedwait(&ledger->moved_on, &ledger->lock, &at);
    return clock_now() < ledger->moved + PATIENCE;
}

static int tell_silence(const struct ledger *ledger, struct fault *fault)
{
    return fault_set(fault, FAULT_IO, "%s: no answer for %s", ledger->path,
                     number_duration(PATIENCE));
}

/* Does a request, which is in the queue no more, and with one that nobody waits for all of these
 * that follow. Called with the lock held, which it gives up meanwhile. */
static void do_request(struct ledger *ledger, struct ledger_request *request)
{
    unsigned n_lost = ledger->n_lost;
    struct ledger_request *last = request, *next;
    bool left = request->left;
    size_t count = left ? request->count : 0;
    ledger->n_lost = 0;
    request->begun = true;
    while (left && (next = TAILQ_FIRST(&ledger->requests)) != NULL && next->left) {
        TAILQ_REMOVE(&ledger->requests, next, next);
        count += next->count;
        last = last->also = next;
    }
    note_move(ledger, clock_now());
    pthread_mutex_unlock(&ledger->lock);
    if (ledger->db || ledger_open_database(ledger, &request->fault) == 0) {
        int code = serve(ledger, request);
        if (code != SQLITE_DONE)
            ledger_blame(ledger, code, &request->fault);
    }
    if (left && request->fault.code != FAULT_NONE)
        log_warning("%s: what became of %zu files will not be known later", request->fault.text,
                    count);
    if (n_lost > 0)
        log_warning("%s: it was slow: what became of %u files will not be known later",
                    ledger->path, n_lost);
    pthread_mutex_lock(&ledger->lock);
    ledger->n_waiting -= count;
    request->ended = true;
    for (; left && request; request = next) {
        next = request->also;
        free(request);
    }
    note_move(ledger, 0);
}

/* Called with the lock held. */
static void enqueue(struct ledger *ledger, struct ledger_request *request)
{
    bool first = TAILQ_EMPTY(&ledger->requests);
    if (first && ledger->since == 0)
        ledger->moved = clock_now(); /* until now there was nothing to do */
    TAILQ_INSERT_TAIL(&ledger->requests, request, next);
    ledger->n_asking += !request->left;
    if (first || !request->left || ledger->n_waiting >= BACKLOG / 2)
        pthread_cond_signal(&ledger->asked); /* others are gathered */
}

int ledger_ask(struct ledger *ledger, struct ledger_request *request, struct fault *fault)
{
    bool patient = true;
    if (!ledger)
        return fault_set(fault, FAULT_IO, "there is no ledger");
    fault_clear(&request->fault);
    pthread_mutex_lock(&ledger->lock);
    if (ledger->since == 0 && TAILQ_EMPTY(&ledger->requests))
        do_request(ledger, request);
    else
        enqueue(ledger, request);
    while (!request->ended && (request->begun || patient)) {
        if (request->begun || request->lasts)
            pthread_cond_wait(&ledger->moved_on, &ledger->lock);
        else
            patient = wait_a_little(ledger);
    }
    if (!request->ended) {
        TAILQ_REMOVE(&ledger->requests, request, next);
        ledger->n_asking--;
    }
    pthread_mutex_unlock(&ledger->lock);
    if (!request->ended)
        return tell_silence(ledger, fault);
    if (request->fault.code != FAULT_NONE)
        fault_set(fault, request->fault.code, "%s", request->fault.text);
    return request->fault.code; /* `fault` may hold an earlier one */
}

/* The thread also opens and closes the database: checking a large one takes long. */
static void *work(void *context)
{
    struct ledger *ledger = context;
    struct fault fault = FAULT_INIT;
    if (ledger_open_database(ledger, &fault) != 0)
        log_error("%s: it is tried again when it is needed", fault.text);
    pthread_mutex_lock(&ledger->lock);
    note_move(ledger, 0);
    for (;;) {
        while (ledger->since != 0 || (TAILQ_EMPTY(&ledger->requests) && !ledger->closing))
            pthread_cond_wait(&ledger->asked, &ledger->lock);
        struct ledger_request *request = TAILQ_FIRST(&ledger->requests);
        if (!request)
            break;
        uint64_t until = ledger->moved + GATHER;
        struct timespec at = {.tv_sec = (time_t)(until / SECOND),
                              .tv_nsec = (long)(until % SECOND)};
        if (ledger->n_asking == 0 && !ledger->closing && ledger->n_waiting < BACKLOG / 2 &&
            pthread_cond_timedwait(&ledger->asked, &ledger->lock, &at) == 0)
            continue; /* asked for more meanwhile */
        TAILQ_REMOVE(&ledger->requests, request, next);
        ledger->n_asking -= !request->left;
        do_request(ledger, request);
    }
    note_move(ledger, clock_now());
    pthread_mutex_unlock(&ledger->lock);
    ledger_close_database(ledger);
    pthread_mutex_lock(&ledger->lock);
    ledger->closed = true;
    note_move(ledger, 0);
    pthread_mutex_unlock(&ledger->lock);
    return NULL;
}

uint64_t ledger_since(const struct ledger *ledger)
{
    return ledger ? ledger->since : 0;
}

unsigned ledger_generation(struct ledger *ledger)
{
    return ledger ? ledger->generation : 0;
}

static void destroy(struct ledger *ledger)
{
    pthread_cond_destroy(&ledger->asked);
    pthread_cond_destroy(&ledger->moved_on);
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
    pthread_cond_init(&l->asked, &monotonic);
    pthread_cond_init(&l->moved_on, &monotonic);
    pthread_condattr_destroy(&monotonic);
    TAILQ_INIT(&l->requests);
    l->since = l->moved = clock_now(); /* the thread opens the database */
    sigfillset(&all);                  /* signals go to the loop's thread */
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
    pthread_cond_signal(&l->asked);
    while (!l->closed && patient)
        patient = wait_a_little(l);
    size_t n_lost = l->n_waiting;
    bool closed = l->closed;
    pthread_mutex_unlock(&l->lock);
    if (!closed) { /* the thread hangs, and is left alone */
        log_error("%s: no answer for %s: %zu changes are lost", l->path, number_duration(PATIENCE),
                  n_lost);
        pthread_detach(l->thread);
        return;
    }
    pthread_join(l->thread, NULL);
    destroy(l);
}

/* ---- what is asked ---- */

/* A request with entries that nobody waits for, and their texts behind it, in one piece. */
struct left {
    struct ledger_request request;
    struct ledger_entry entries[];
};

/* Has an entry point to copies of its texts at `at`, unless that is NULL; returns their size. */
static size_t copy_texts(struct ledger_entry *e, char *at)
{
    const char **const texts[] = {&e->folder, &e->name, &e->state, &e->reason, &e->result};
    size_t used = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t size = *texts[i] ? strlen(*texts[i]) + 1 : 0;
        if (at && size > 0)
            *texts[i] = memcpy(at + used, *texts[i], size);
        used += size;
    }
    return used;
}

int ledger_write(struct ledger *ledger, const struct ledger_entry *entries, size_t count,
                 bool durable, struct fault *fault)
{
    struct ledger_request request = {.what = PUT,
                                     .entries = entries,
                                     .count = count,
                                     .now = time(NULL),
                                     .lasts = durable,
                                     .fault = FAULT_INIT};
    bool needed = false;
    if (durable || !ledger)
        return ledger_ask(ledger, &request, fault);
    size_t texts = sizeof(struct left) + count * sizeof *entries, size = texts;
    for (size_t i = 0; i < count; i++) {
        struct ledger_entry entry = entries[i];
        size += copy_texts(&entry, NULL);
    }
    struct left *left = malloc(size);
    if (!left)
        return fault_set(fault, FAULT_MEMORY, "no memory for the ledger");
    left->request = request;
    left->request.entries = left->entries;
    left->request.left = true;
    char *at = (char *)left + texts;
    for (size_t i = 0; i < count; i++) {
        left->entries[i] = entries[i];
        at += copy_texts(&left->entries[i], at);
        needed |= entries[i].remembered;
    }

    /* Those that are not needed do not wait for room: they are lost, and a log line tells. */
    bool patient = true;
    pthread_mutex_lock(&ledger->lock);
    while (needed && patient && ledger->n_waiting > 0 && ledger->n_waiting + count > BACKLOG)
        patient = wait_a_little(ledger);
    bool full = ledger->n_waiting > 0 && ledger->n_waiting + count > BACKLOG;
    if (full) {
        ledger->n_lost += (unsigned)count;
        free(left);
    } else {
        ledger->n_waiting += count;
        enqueue(ledger, &left->request);
    }
    pthread_mutex_unlock(&ledger->lock);
    return full && needed ? tell_silence(ledger, fault) : 0;
}

int ledger_forget(struct ledger *ledger, const char *folder, const struct identity *identities,
                  size_t count, bool durable, struct fault *fault)
{
    struct ledger_request request = {.what = FORGET_FILE,
                                     .folder = folder,
                                     .identities = identities,
                                     .count = count,
                                     .lasts = durable};
    return !ledger || count == 0 ? 0 : ledger_ask(ledger, &request, fault);
}

int ledger_knows(struct ledger *ledger, const char *folder, const struct identity *identity,
                 bool *known, struct fault *fault)
{
    struct ledger_request request = {.what = KNOWS, .folder = folder, .identities = identity};
    int result = ledger_ask(ledger, &request, fault);
    *known = request.n_rows > 0;
    return result;
}

bool ledger_find(struct ledger *ledger, const char *folder, const char *name,
                 const struct identity *identity, struct ledger_row *row)
{
    struct ledger_request request = {.what = identity ? FIND_FILE : FIND_NAME,
                                     .folder = folder,
                                     .name = name,
                                     .identities = identity,
                                     .rows = row,
                                     .limit = 1};
    *row = (struct ledger_row){0};
    return ledger_ask(ledger, &request, NULL) == 0 && request.n_rows > 0;
}

bool ledger_find_result(struct ledger *ledger, const char *folder, const char *below,
                        const char *result, struct ledger_row *row)
{
    struct ledger_request request = {.what = FIND_RESULT,
                                     .folder = folder,
                                     .below = below,
                                     .result = result,
                                     .rows = row,
                                     .limit = 1};
    *row = (struct ledger_row){0};
    return ledger_ask(ledger, &request, NULL) == 0 && request.n_rows > 0;
}

size_t ledger_page(struct ledger *ledger, const char *folder, const char *state, int64_t after,
                   size_t limit, struct ledger_row *rows)
{
    struct ledger_request request = {.what = PAGE,
                                     .folder = folder,
                                     .state = state,
                                     .after = after,
                                     .rows = rows,
                                     .limit = limit};
    ledger_ask(ledger, &request, NULL);
    return request.n_rows;
}

/* Remembered files are looked for page by page, without keeping the thread in between: a hundred
 * thousand files on a slow card take minutes. Returns false after the last page. `after`: the last
 * file of the page before, whose name is owned; the name is NULL for the first page. */
static bool forget_missing(struct ledger *ledger, const char *folder, identity_visit *exists,
                           void *context, struct identity *after, char **name, struct fault *fault)
{
    struct ledger_row *rows = calloc(PAGE_ROWS, sizeof *rows);
    struct ledger_request list = {.what = LIST_REMEMBERED,
                                  .folder = folder,
                                  .identities = after,
                                  .name = *name ? *name : "",
                                  .rows = rows,
                                  .limit = PAGE_ROWS};
    struct ledger_request forget = {.what = FORGET_ENTRY, .folder = folder, .missing = rows};
    if (!rows)
        return false;
    bool more = ledger_ask(ledger, &list, fault) == 0 && list.n_rows == PAGE_ROWS;
    if (more) {
        free(*name);
        *after = rows[PAGE_ROWS - 1].identity;
        *name = strdup(rows[PAGE_ROWS - 1].name);
    }
    for (size_t i = 0; i < list.n_rows; i++)
        if (exists(context, rows[i].name, &rows[i].identity))
            ledger_row_finish(&rows[i]);
        else
            rows[forget.count++] = rows[i];
    if (forget.count > 0)
        more &= ledger_ask(ledger, &forget, fault) == 0;
    for (size_t i = 0; i < forget.count; i++)
        ledger_row_finish(&rows[i]);
    free(rows);
    return more && *name;
}

void ledger_prune(struct ledger *ledger, const char *folder, identity_visit *exists, void *context)
{
    struct ledger_request drop = {.what = DROP_OLD};
    struct identity after = {.inode = (ino_t)INT64_MIN}; /* the ledger's numbers are signed */
    char *name = NULL;
    struct fault fault = FAULT_INIT;
    if (ledger_ask(ledger, &drop, &fault) == 0 && exists)
        while (forget_missing(ledger, folder, exists, context, &after, &name, &fault))
            ;
    free(name);
    if (ledger && fault.code != FAULT_NONE)
        log_warning("%s: old entries stay", fault.text);
}
