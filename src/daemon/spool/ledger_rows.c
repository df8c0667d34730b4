/* What the ledger says of files: their entries, for questions of people and for requeuing; how long
 * they have been where they are; which entries are old. */
#include "daemon/spool/ledger_internal.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/name.h"

/* A statement with its parameters: 't' a text, 'i' an int64_t. */
static sqlite3_stmt *bound(struct ledger *ledger, enum statement which, const char *kinds, ...)
{
    sqlite3_stmt *s = ledger->statements[which];
    va_list args;
    va_start(args, kinds);
    for (int i = 0; kinds[i]; i++)
        if (kinds[i] == 't')
            sqlite3_bind_text(s, i + 1, va_arg(args, const char *), -1, SQLITE_STATIC);
        else
            sqlite3_bind_int64(s, i + 1, va_arg(args, int64_t));
    va_end(args);
    return s;
}

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
    };
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

bool ledger_read_row(sqlite3_stmt *statement, struct ledger_row *row)
{
    struct ledger_row here = row_of(statement);
    *row = here;
    row->name = copy(here.name);
    row->state = copy(here.state);
    row->reason = copy(here.reason);
    row->result = copy(here.result);
    if (row->name && row->state && !row->reason == !here.reason && !row->result == !here.result)
        return true;
    ledger_row_finish(row);
    return false;
}

/* The statement's first row for which `is_wanted` (NULL: any) returns true. Parameters are bound by
 * the caller; the statement is reset here. */
static bool first_row(struct ledger *ledger, enum statement which,
                      bool (*is_wanted)(const void *context, const struct ledger_row *row),
                      const void *context, struct ledger_row *row)
{
    sqlite3_stmt *s = ledger->statements[which];
    bool found = false;
    while (!found && sqlite3_step(s) == SQLITE_ROW) {
        struct ledger_row here = row_of(s);
        if (is_wanted && !is_wanted(context, &here))
            continue;
        if (!ledger_read_row(s, row))
            break;
        found = true;
    }
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return found;
}

int ledger_knows(struct ledger *ledger, const char *folder, const struct identity *identity,
                 bool *known, struct fault *fault)
{
    *known = false;
    int result = ledger_enter(ledger, fault);
    if (result != 0)
        return result;
    bound(ledger, KNOWS, "tiii", folder, (int64_t)identity->inode, identity->size, identity->mtime);
    int code = ledger_step(ledger, KNOWS);
    *known = code == SQLITE_ROW;
    result = ledger_end(ledger, *known ? SQLITE_DONE : code, fault);
    ledger_leave(ledger);
    return result;
}

bool ledger_find(struct ledger *ledger, const char *folder, const char *name,
                 const struct identity *identity, struct ledger_row *row)
{
    *row = (struct ledger_row){0};
    if (ledger_enter(ledger, NULL) != 0)
        return false;
    enum statement which = identity ? FIND_FILE : FIND_NAME;
    if (identity)
        bound(ledger, which, "tiii", folder, (int64_t)identity->inode, identity->size,
              identity->mtime);
    else
        bound(ledger, which, "tt", folder, name);
    bool found = first_row(ledger, which, NULL, NULL, row);
    ledger_leave(ledger);
    return found;
}

struct wanted {
    const char *below;
    size_t stem; /* length of the result's name in front of the plane; 0: the result has no plane */
    const char *extension; /* begins with the dot */
};

static bool is_result(const void *context, const struct ledger_row *row)
{
    const struct wanted *wanted = context;
    size_t length = (size_t)(path_name(row->name) - row->name);
    if (length != strlen(wanted->below) || strncmp(row->name, wanted->below, length) != 0)
        return false;
    if (wanted->stem == 0)
        return true;
    const char *dot = strchr(row->result + wanted->stem + 1, '.'); /* the end of the other plane */
    return dot && strcmp(dot, wanted->extension) == 0;
}

/* For "a.dy.png": names from "a." up to "a/", since / follows the dot in ASCII. */
static bool find_plane(struct ledger *ledger, const char *folder, struct wanted *wanted,
                       const char *result, struct ledger_row *row)
{
    char from[300], to[300];
    const char *extension = strrchr(result, '.');
    const char *plane = extension ? memrchr(result, '.', (size_t)(extension - result)) : NULL;
    if (!plane || plane == result || plane - result > 280)
        return false;
    wanted->stem = (size_t)(plane - result);
    wanted->extension = extension;
    snprintf(from, sizeof from, "%.*s.", (int)wanted->stem, result);
    snprintf(to, sizeof to, "%.*s/", (int)wanted->stem, result);
    bound(ledger, FIND_PLANE, "ttt", folder, from, to);
    return first_row(ledger, FIND_PLANE, is_result, wanted, row);
}

bool ledger_find_result(struct ledger *ledger, const char *folder, const char *below,
                        const char *result, struct ledger_row *row)
{
    struct wanted wanted = {.below = below};
    *row = (struct ledger_row){0};
    if (ledger_enter(ledger, NULL) != 0)
        return false;
    bound(ledger, FIND_RESULT, "tt", folder, result);
    bool found = first_row(ledger, FIND_RESULT, is_result, &wanted, row) ||
                 find_plane(ledger, folder, &wanted, result, row);
    ledger_leave(ledger);
    return found;
}

size_t ledger_page(struct ledger *ledger, const char *folder, const char *state, int64_t after,
                   size_t limit, struct ledger_row *rows)
{
    size_t count = 0;
    if (ledger_enter(ledger, NULL) != 0)
        return 0;
    sqlite3_stmt *s = bound(ledger, PAGE, "ttii", folder, state, after, (int64_t)limit);
    while (count < limit && sqlite3_step(s) == SQLITE_ROW && ledger_read_row(s, &rows[count]))
        count++;
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    ledger_leave(ledger);
    return count;
}

int ledger_write(struct ledger *ledger, const struct ledger_entry *entries, size_t count,
                 bool durable, struct fault *fault)
{
    struct ledger_task *task = ledger_task_create();
    bool needed = false;
    for (size_t i = 0; i < count; i++) {
        const struct ledger_entry *e = &entries[i];
        const struct identity *id = &e->identity;
        needed |= e->remembered;
        ledger_task_add(task, PUT, "ttiiiitittii", e->folder, e->name, (int64_t)id->device,
                        (int64_t)id->inode, id->size, id->mtime, e->state, (int64_t)e->attempts,
                        e->reason, e->result, (int64_t)e->remembered, (int64_t)time(NULL));
    }
    return ledger_submit(ledger, task,
                         durable  ? LEDGER_LASTS
                         : needed ? LEDGER_ROOM
                                  : LEDGER_WHENEVER,
                         fault);
}

int ledger_forget(struct ledger *ledger, const char *folder, const struct identity *identities,
                  size_t count, bool durable, struct fault *fault)
{
    struct ledger_task *task;
    if (!ledger || count == 0)
        return 0;
    task = ledger_task_create();
    for (size_t i = 0; i < count; i++)
        ledger_task_add(task, FORGET_FILE, "tiii", folder, (int64_t)identities[i].inode,
                        identities[i].size, identities[i].mtime);
    return ledger_submit(ledger, task, durable ? LEDGER_LASTS : LEDGER_ROOM, fault);
}

/* ---- how long files have been where they are ---- */

/* By a clock that nobody can set: the boot clock, continued over restarts. The files' times and the
 * date do not count. */

#define AT_ONCE 256 /* files in one turn, so that others can use the ledger in between */
#define DAY     86400
#define QUIET   3600 /* seconds after a jump in which nothing is deleted */
#define JUMP    60   /* seconds between the date and the boot clock that count as a jump */

/* ---- the clock ---- */

/* What the ledger stores about the latest look at the clocks, in seconds. */
struct moment {
    char boot[40]; /* the boot's identifier; "": the kernel does not tell */
    int64_t seen;  /* time that the machine has seen since the ledger was begun */
    int64_t up;    /* the boot clock */
    int64_t today; /* since 1970 */
    int64_t quiet; /* nothing is deleted before this, in units of `seen` */
    int64_t ahead; /* sum of all jumps of the date */
};

static int64_t read_clock(clockid_t id)
{
    struct timespec now = {0};
    clock_gettime(id, &now);
    return now.tv_sec;
}

/* Time in which the machine was off does not count: it did not see its files grow old. */
static void go_on_from(struct moment *now, const struct moment *before)
{
    bool same_boot = strcmp(now->boot, before->boot) == 0 && now->up >= before->up;
    int64_t passed = same_boot ? now->up - before->up : now->up;
    int64_t apart = same_boot ? now->today - before->today - passed : 0;
    now->seen = before->seen + passed;
    now->quiet = before->quiet;
    now->ahead = before->ahead;
    if (llabs(apart) <= JUMP)
        return;
    now->ahead += apart;
    now->quiet = now->seen + QUIET;
}

/* Called in one's turn (ledger_enter). date_some writes what this returns. */
static int tell_time(struct ledger *ledger, struct moment *now)
{
    struct moment before = {0};
    sqlite3_stmt *get = ledger->statements[TIME_GET];
    *now = (struct moment){.up = read_clock(CLOCK_BOOTTIME), .today = read_clock(CLOCK_REALTIME)};
    file_read_text("/proc/sys/kernel/random/boot_id", now->boot, sizeof now->boot);
    int code = sqlite3_step(get);
    if (code == SQLITE_ROW) {
        const char *boot = (const char *)sqlite3_column_text(get, 0);
        snprintf(before.boot, sizeof before.boot, "%s", boot ? boot : "");
        before.seen = sqlite3_column_int64(get, 1);
        before.up = sqlite3_column_int64(get, 2);
        before.today = sqlite3_column_int64(get, 3);
        before.quiet = sqlite3_column_int64(get, 4);
        before.ahead = sqlite3_column_int64(get, 5);
        go_on_from(now, &before);
    }
    sqlite3_reset(get);
    return code == SQLITE_ROW ? SQLITE_DONE : code;
}

/* ---- files ---- */

/* Reads the date of one file, and enters it if it is new. Once a day each entry is marked as still
 * needed. */
static int date_file(struct ledger *ledger, const char *root, struct ledger_kept *file,
                     const struct moment *now, struct ledger_task *task)
{
    sqlite3_stmt *get = bound(ledger, KEPT_GET, "tti", root, file->path, file->changed);
    int64_t day = now->seen / DAY, marked = -1;
    file->since = now->seen;
    int code = sqlite3_step(get);
    if (code == SQLITE_ROW) {
        file->since = sqlite3_column_int64(get, 0);
        marked = sqlite3_column_int64(get, 1);
    }
    sqlite3_reset(get);
    sqlite3_clear_bindings(get);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return code;
    if (marked != day)
        ledger_task_add(task, KEPT_PUT, "ttiii", root, file->path, file->changed, file->since, day);
    return SQLITE_DONE;
}

/* Some files, in one turn. */
static int date_some(struct ledger *ledger, const char *root, struct ledger_kept *files,
                     size_t count, struct moment *now, struct fault *fault)
{
    struct ledger_task *task = ledger_task_create();
    int result = ledger_enter(ledger, fault);
    if (result == 0) {
        int code = tell_time(ledger, now);
        for (size_t i = 0; i < count && code == SQLITE_DONE; i++)
            code = date_file(ledger, root, &files[i], now, task);
        result = ledger_end(ledger, code, fault);
        ledger_leave(ledger);
    }
    if (result != 0) {
        ledger_task_destroy(task);
        return result;
    }
    ledger_task_add(task, TIME_PUT, "tiiiii", now->boot, now->seen, now->up, now->today, now->quiet,
                    now->ahead);
    return ledger_submit(ledger, task, LEDGER_ROOM, fault);
}

int ledger_date_files(struct ledger *ledger, const char *root, struct ledger_kept *files,
                      size_t count, struct ledger_now *now, struct fault *fault)
{
    struct moment moment = {0};
    size_t at = 0;
    int result;
    do {
        size_t n = count - at < AT_ONCE ? count - at : AT_ONCE;
        result = date_some(ledger, root, files + at, n, &moment, fault);
        at += n;
    } while (result == 0 && at < count);
    if (result == 0) { /* entries that were not marked for a day belong to files that are gone */
        struct ledger_task *task = ledger_task_create();
        ledger_task_add(task, KEPT_DROP, "ti", root, moment.seen / DAY - 1);
        result = ledger_submit(ledger, task, LEDGER_ROOM, fault);
    }
    *now = (struct ledger_now){moment.seen, moment.seen < moment.quiet};
    return result;
}

/* ---- old entries ---- */

/* Remembered files are looked for page by page, without holding the ledger in between: a hundred
 * thousand files on a slow card take minutes. */

#define KEEP_DAYS 30
#define KEEP_ROWS 200000
#define PAGE_ROWS 256

struct page {
    struct ledger_row rows[PAGE_ROWS]; /* remembered files; owned */
    size_t n_rows;
    struct identity after; /* the page begins after this file … */
    char *after_name;      /* … of this name; owned; NULL: none */
    unsigned generation;   /* of the ledger when the page was read */
};

static void read_page(struct ledger *ledger, const char *folder, struct page *page)
{
    sqlite3_stmt *list = bound(ledger, LIST_REMEMBERED, "tiiiti", folder,
                               (int64_t)page->after.inode, page->after.size, page->after.mtime,
                               page->after_name ? page->after_name : "", (int64_t)PAGE_ROWS);
    page->n_rows = 0;
    page->generation = ledger->generation;
    while (page->n_rows < PAGE_ROWS && sqlite3_step(list) == SQLITE_ROW)
        page->n_rows += ledger_read_row(list, &page->rows[page->n_rows]);
    sqlite3_reset(list);
    sqlite3_clear_bindings(list);
}

/* Keeps the rows whose files are gone, and sets the next page to begin after the last row. */
static void look(struct page *page, identity_visit *exists, void *context)
{
    size_t kept = 0;
    free(page->after_name);
    page->after = page->rows[page->n_rows - 1].identity;
    page->after_name = strdup(page->rows[page->n_rows - 1].name);
    for (size_t i = 0; i < page->n_rows; i++) {
        struct ledger_row *row = &page->rows[i];
        if (exists(context, row->name, &row->identity))
            ledger_row_finish(row);
        else
            page->rows[kept++] = *row;
    }
    page->n_rows = kept;
}

/* Returns false after the last page. */
static bool forget_missing(struct ledger *ledger, const char *folder, struct page *page,
                           identity_visit *exists, void *context)
{
    if (ledger_enter(ledger, NULL) != 0)
        return false;
    read_page(ledger, folder, page);
    ledger_leave(ledger);
    bool more = page->n_rows == PAGE_ROWS;
    if (page->n_rows > 0)
        look(page, exists, context);
    if (page->n_rows > 0) {
        struct ledger_task *task = ledger_task_create();
        for (size_t i = 0; i < page->n_rows; i++)
            ledger_task_add(task, FORGET, "ii", page->rows[i].id, page->rows[i].time);
        if (task)
            task->generation = page->generation + 1;
        ledger_submit(ledger, task, LEDGER_ROOM, NULL);
    }
    for (size_t i = 0; i < page->n_rows; i++)
        ledger_row_finish(&page->rows[i]);
    return more && page->after_name;
}

void ledger_prune(struct ledger *ledger, const char *folder, identity_visit *exists, void *context)
{
    struct moment now;
    int64_t before = INT64_MIN; /* nothing is that old */
    if (ledger_enter(ledger, NULL) != 0)
        return;
    if (tell_time(ledger, &now) == SQLITE_DONE && now.seen >= now.quiet)
        before = now.today - (now.ahead > 0 ? now.ahead : 0) - KEEP_DAYS * 86400;
    ledger_leave(ledger);
    struct ledger_task *task = ledger_task_create();
    ledger_task_add(task, DROP_OLD, "i", before);
    ledger_task_add(task, DROP_MANY, "i", (int64_t)KEEP_ROWS);
    ledger_submit(ledger, task, LEDGER_ROOM, NULL);
    struct page *page = exists ? calloc(1, sizeof *page) : NULL;
    if (!page)
        return;
    page->after.inode = (ino_t)INT64_MIN; /* the ledger's numbers are signed */
    while (forget_missing(ledger, folder, page, exists, context))
        ;
    free(page->after_name);
    free(page);
}
