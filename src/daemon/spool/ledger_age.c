/* How long files have been where they are, by the time that this machine has seen: the boot clock,
 * which nobody sets, carried over restarts. Neither the files' own times nor today's date count. */
#include "daemon/spool/ledger_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 256 /* files, while others wait */
#define DAY     86400
#define QUIET   3600 /* seconds after a jump */
#define JUMP    60   /* seconds by which today's date must run apart from the boot clock */

/* ---- the clock ---- */

/* The moment of the latest look, in seconds. */
struct moment {
    char boot[40]; /* which boot of the machine; "": the kernel does not tell */
    int64_t seen;  /* by the machine, since the ledger was begun */
    int64_t up;    /* the boot clock */
    int64_t today; /* since 1970 */
    int64_t quiet; /* nothing goes before this, by `seen` */
    int64_t ahead; /* by which today's date has jumped in all */
};

static int64_t read_clock(clockid_t id)
{
    struct timespec now = {0};
    clock_gettime(id, &now);
    return now.tv_sec;
}

static void look_at_clocks(struct moment *moment)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, moment->boot, sizeof moment->boot - 1);
    if (fd >= 0)
        close(fd);
    moment->boot[length > 0 ? length : 0] = '\0';
    moment->up = read_clock(CLOCK_BOOTTIME);
    moment->today = read_clock(CLOCK_REALTIME);
}

/* That a machine was off is no jump: it was not there to see its files grow old. */
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

/* Under the lock, within a transaction. */
static int tell_time(struct ledger *ledger, struct moment *now)
{
    struct moment before = {0};
    sqlite3_stmt *get = ledger->statements[TIME_GET], *put = ledger->statements[TIME_PUT];
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
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return code;
    sqlite3_bind_text(put, 1, now->boot, -1, SQLITE_STATIC);
    const int64_t numbers[] = {now->seen, now->up, now->today, now->quiet, now->ahead};
    for (int i = 0; i < 5; i++)
        sqlite3_bind_int64(put, 2 + i, numbers[i]);
    return ledger_step(ledger, TIME_PUT);
}

int64_t ledger_date_before(struct ledger *ledger, int64_t age)
{
    struct moment now;
    if (tell_time(ledger, &now) != SQLITE_DONE || now.seen < now.quiet)
        return INT64_MIN;
    return now.today - (now.ahead > 0 ? now.ahead : 0) - age;
}

/* ---- files ---- */

/* Asks for one, and enters it if it is new. Once a day each entry is marked as still needed. */
static int date_file(struct ledger *ledger, const char *root, struct ledger_kept *file,
                     const struct moment *now)
{
    sqlite3_stmt *get = ledger->statements[KEPT_GET], *put = ledger->statements[KEPT_PUT];
    int64_t day = now->seen / DAY, marked = -1;
    for (int i = 0; i < 2; i++) {
        sqlite3_stmt *s = i == 0 ? get : put;
        sqlite3_bind_text(s, 1, root, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 2, file->path, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 3, file->changed);
    }
    file->since = now->seen;
    int code = sqlite3_step(get);
    if (code == SQLITE_ROW) {
        file->since = sqlite3_column_int64(get, 0);
        marked = sqlite3_column_int64(get, 1);
    }
    sqlite3_reset(get);
    sqlite3_bind_int64(put, 4, file->since);
    sqlite3_bind_int64(put, 5, day);
    if (code == SQLITE_DONE || (code == SQLITE_ROW && marked != day))
        code = ledger_step(ledger, KEPT_PUT);
    sqlite3_clear_bindings(get);
    sqlite3_clear_bindings(put);
    return code == SQLITE_ROW ? SQLITE_DONE : code;
}

/* In one transaction some files, or at the end (no files) what is not needed any more. */
static int date_some(struct ledger *ledger, const char *root, struct ledger_kept *files,
                     size_t count, struct moment *now)
{
    sqlite3_stmt *drop = ledger->statements[KEPT_DROP];
    int code = ledger_set_durable(ledger, false);
    if (code != SQLITE_OK || (code = ledger_step(ledger, BEGIN)) != SQLITE_DONE)
        return code;
    code = tell_time(ledger, now);
    for (size_t i = 0; i < count && code == SQLITE_DONE; i++)
        code = date_file(ledger, root, &files[i], now);
    if (count == 0 && code == SQLITE_DONE) {
        sqlite3_bind_text(drop, 1, root, -1, SQLITE_STATIC);
        sqlite3_bind_int64(drop, 2, now->seen / DAY - 1);
        code = ledger_step(ledger, KEPT_DROP);
        sqlite3_clear_bindings(drop);
    }
    if (code == SQLITE_DONE)
        code = ledger_step(ledger, COMMIT);
    if (code != SQLITE_DONE)
        ledger_step(ledger, ROLLBACK);
    return code;
}

int ledger_date_files(struct ledger *ledger, const char *root, struct ledger_kept *files,
                      size_t count, struct ledger_now *now, struct fault *fault)
{
    struct moment moment = {0};
    int result = 0;
    bool last = false;
    for (size_t at = 0; !last && result == 0; at += AT_ONCE) {
        size_t n = at >= count ? 0 : count - at < AT_ONCE ? count - at : AT_ONCE;
        last = n == 0;
        result = ledger_enter(ledger, fault);
        if (result != 0)
            break;
        result =
            ledger_end(ledger, date_some(ledger, root, n ? files + at : NULL, n, &moment), fault);
        ledger_leave(ledger);
    }
    *now = (struct ledger_now){moment.seen, moment.seen < moment.quiet};
    return result;
}
