/* How long files have been where they are, by a clock that nobody can set: the boot clock,
 * continued over restarts. The files' times and the date do not count. */
#include "daemon/spool/ledger_internal.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/log.h"

#define AT_ONCE 256 /* files in one request, so that others are served in between */
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

/* ledger_date writes what this returns. */
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

int ledger_old_before(struct ledger *ledger, int64_t days, int64_t *before)
{
    struct moment now;
    int code = tell_time(ledger, &now);
    *before =
        now.seen < now.quiet ? INT64_MIN : now.today - (now.ahead > 0 ? now.ahead : 0) - days * DAY;
    return code;
}

/* ---- files ---- */

struct ledger_dating {
    const char *root;
    struct ledger_kept *files;
    size_t count;
    bool last; /* no further files of this root follow */
    struct moment now;
};

/* Reads the date of one file; for one that is new it is now. `marked`: the day on which its entry
 * was last marked as still needed; −1: it has none. */
static int date_file(struct ledger *ledger, struct ledger_dating *d, struct ledger_kept *file,
                     int64_t *marked)
{
    sqlite3_stmt *get = ledger_bind(ledger, KEPT_GET, "tti", d->root, file->path, file->changed);
    int code = sqlite3_step(get);
    file->since = code == SQLITE_ROW ? sqlite3_column_int64(get, 0) : d->now.seen;
    *marked = code == SQLITE_ROW ? sqlite3_column_int64(get, 1) : -1;
    sqlite3_reset(get);
    return code == SQLITE_ROW ? SQLITE_DONE : code;
}

/* Notes the time, and once a day of each file that its entry is needed. Entries that were not
 * marked for a day belong to files that are gone. */
static int note_dates(struct ledger *ledger, const struct ledger_dating *d, const int64_t marked[])
{
    const struct moment *now = &d->now;
    int64_t day = now->seen / DAY;
    int code = ledger_begin(ledger, false);
    if (code != SQLITE_DONE)
        return code;
    for (size_t i = 0; i < d->count && code == SQLITE_DONE; i++)
        if (marked[i] != day)
            code = ledger_step(ledger_bind(ledger, KEPT_PUT, "ttiii", d->root, d->files[i].path,
                                           d->files[i].changed, d->files[i].since, day));
    if (code == SQLITE_DONE)
        code = ledger_step(ledger_bind(ledger, TIME_PUT, "tiiiii", now->boot, now->seen, now->up,
                                       now->today, now->quiet, now->ahead));
    if (code == SQLITE_DONE && d->last)
        code = ledger_step(ledger_bind(ledger, KEPT_DROP, "ti", d->root, day - 1));
    return ledger_commit(ledger, code);
}

/* Dates that are read count even if none can be noted: on a full disk old files are to go. */
int ledger_date(struct ledger *ledger, struct ledger_dating *d)
{
    struct fault fault = FAULT_INIT;
    int64_t marked[AT_ONCE];
    int code = tell_time(ledger, &d->now);
    for (size_t i = 0; i < d->count && code == SQLITE_DONE; i++)
        code = date_file(ledger, d, &d->files[i], &marked[i]);
    int noted = code == SQLITE_DONE ? note_dates(ledger, d, marked) : SQLITE_DONE;
    if (noted != SQLITE_DONE && ledger_blame(ledger, noted, &fault) != 0)
        log_warning("%s: how old %zu files are will not be known later", fault.text, d->count);
    return code;
}

int ledger_date_files(struct ledger *ledger, const char *root, struct ledger_kept *files,
                      size_t count, struct ledger_now *now, struct fault *fault)
{
    struct ledger_dating dating = {.root = root, .files = files};
    int result;
    do {
        dating.count = count < AT_ONCE ? count : AT_ONCE;
        dating.last = dating.count == count;
        struct ledger_request request = {.what = KEPT_GET, .dating = &dating};
        result = ledger_ask(ledger, &request, fault);
        dating.files += dating.count;
        count -= dating.count;
    } while (result == 0 && !dating.last);
    *now = (struct ledger_now){dating.now.seen, dating.now.seen < dating.now.quiet};
    return result;
}
