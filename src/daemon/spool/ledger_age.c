/* How long files have been where they are, by a clock that nobody can set: the boot clock,
 * continued over restarts. The files' times and the date do not count. */
#include "daemon/spool/ledger_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"

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

static void look_at_clocks(struct moment *moment)
{
    file_read_text("/proc/sys/kernel/random/boot_id", moment->boot, sizeof moment->boot);
    moment->up = read_clock(CLOCK_BOOTTIME);
    moment->today = read_clock(CLOCK_REALTIME);
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

/* Called in one's turn (ledger_enter). enter_time writes what this returns. */
static int tell_time(struct ledger *ledger, struct moment *now)
{
    struct moment before = {0};
    sqlite3_stmt *get = ledger->statements[TIME_GET];
    *now = (struct moment){0};
    look_at_clocks(now);
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

static void enter_time(struct ledger_task *task, const struct moment *now)
{
    ledger_task_add(task, TIME_PUT, "tiiiii", now->boot, now->seen, now->up, now->today, now->quiet,
                    now->ahead);
}

int64_t ledger_date_before(struct ledger *ledger, int64_t age)
{
    struct moment now;
    if (tell_time(ledger, &now) != SQLITE_DONE || now.seen < now.quiet)
        return INT64_MIN;
    return now.today - (now.ahead > 0 ? now.ahead : 0) - age;
}

/* ---- files ---- */

/* Reads the date of one file, and enters it if it is new. Once a day each entry is marked as still
 * needed. */
static int date_file(struct ledger *ledger, const char *root, struct ledger_kept *file,
                     const struct moment *now, struct ledger_task *task)
{
    sqlite3_stmt *get = ledger->statements[KEPT_GET];
    int64_t day = now->seen / DAY, marked = -1;
    sqlite3_bind_text(get, 1, root, -1, SQLITE_STATIC);
    sqlite3_bind_text(get, 2, file->path, -1, SQLITE_STATIC);
    sqlite3_bind_int64(get, 3, file->changed);
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
    enter_time(task, now);
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
