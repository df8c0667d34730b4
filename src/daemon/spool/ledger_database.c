/* The ledger's database: its tables and statements, how it is opened, and what is done with a
 * damaged one. */
#include "daemon/spool/ledger_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/name.h"

#define FILE_NAME  "ledger.db"
#define BUSY_LIMIT 5000         /* milliseconds to wait while another daemon writes */
#define TRY_EVERY  (5 * SECOND) /* between attempts to open the database */

/* As ledger.c reads them. */
#define COLUMNS                                                                                    \
    "rowid,name,device,inode,size,mtime,state,attempts,reason,result,remembered,last,more"

static const char *const texts[STATEMENTS] = {
    [KNOWS] = "SELECT 1 FROM files WHERE folder=?1 AND inode=?2 AND size=?3 AND mtime=?4 AND "
              "remembered=1",
    [PUT] = "INSERT INTO files(folder,name,device,inode,size,mtime,state,attempts,reason,result,"
            "remembered,first,last,more) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?12,?13) "
            "ON CONFLICT(folder,inode,size,mtime,name) DO UPDATE SET device=?3,state=?7,"
            "attempts=?8,reason=?9,result=?10,remembered=?11,last=?12,more=?13",
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
    [FORGET_ENTRY] = "DELETE FROM files WHERE folder=?1 AND inode=?2 AND size=?3 AND mtime=?4 AND "
                     "name=?5 AND last=?6 AND remembered=1",
    [FIND_NAME] = "SELECT " COLUMNS " FROM files WHERE folder=?1 AND name=?2 ORDER BY last DESC,"
                  "rowid DESC LIMIT 1",
    [FIND_FILE] = "SELECT " COLUMNS " FROM files WHERE folder=?1 AND inode=?2 AND size=?3 AND "
                  "mtime=?4 ORDER BY last DESC,rowid DESC LIMIT 1",
    [FIND_RESULT] = "SELECT " COLUMNS " FROM files WHERE folder=?1 AND result=?2 ORDER BY "
                    "last DESC,rowid DESC",
    [FIND_PLANE] = "SELECT " COLUMNS " FROM files WHERE folder=?1 AND result>?2 AND result<?3 "
                   "ORDER BY last DESC,rowid DESC",
    /* one of those behind the first; few folders have any */
    [FIND_MORE] = "SELECT " COLUMNS " FROM files WHERE folder=?1 AND more IS NOT NULL AND "
                  "instr(more || '" LEDGER_NEXT "', '" LEDGER_NEXT "' || ?2 || '" LEDGER_NEXT "') "
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
static const char *const versions[] = {
    schema,
    /* the results of a file behind the first one, each behind LEDGER_NEXT */
    "ALTER TABLE files ADD COLUMN more TEXT;"
    "CREATE INDEX IF NOT EXISTS by_more ON files(folder) WHERE more IS NOT NULL;",
};

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

void ledger_close_database(struct ledger *ledger)
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
    ledger_close_database(ledger);
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
    ledger_close_database(ledger);
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
    ledger_close_database(ledger);
    return FAULT_IO;
}

int ledger_open_database(struct ledger *ledger, struct fault *fault)
{
    if (clock_now() >= ledger->next_try) {
        fault_clear(&ledger->trouble);
        open_or_replace(ledger, &ledger->trouble);
        ledger->next_try = clock_now() + TRY_EVERY;
    }
    return fault_set(fault, ledger->trouble.code, "%s", ledger->trouble.text);
}

int ledger_blame(struct ledger *ledger, int code, struct fault *fault)
{
    struct fault why = FAULT_INIT;
    code = tell_damage(ledger, code);
    /* the connection's own message is by now that of the rollback */
    int result = fault_set(&why, code == SQLITE_FULL ? FAULT_NO_SPACE : FAULT_IO, "%s: %s",
                           ledger->path, sqlite3_errstr(code));
    fault_set(fault, result, "%s", why.text);
    /* Its cache may hold what a failed sync kept from the disk: the disk is read anew. */
    if (code == SQLITE_CORRUPT ? replace(ledger) != SQLITE_OK : (code & 0xff) == SQLITE_IOERR) {
        ledger_close_database(ledger);
        ledger->trouble = why; /* until it is opened again */
    }
    return result;
}

/* ---- statements ---- */

sqlite3_stmt *ledger_bind(struct ledger *ledger, enum statement which, const char *kinds, ...)
{
    sqlite3_stmt *s = ledger->statements[which];
    va_list values;
    va_start(values, kinds);
    for (int i = 1; *kinds; kinds++) {
        const struct identity *file =
            *kinds == 'f' ? va_arg(values, const struct identity *) : NULL;
        if (file) {
            sqlite3_bind_int64(s, i++, (int64_t)file->inode);
            sqlite3_bind_int64(s, i++, file->size);
            sqlite3_bind_int64(s, i++, file->mtime);
        } else if (*kinds == 't') {
            sqlite3_bind_text(s, i++, va_arg(values, const char *), -1, SQLITE_STATIC);
        } else {
            sqlite3_bind_int64(s, i++, va_arg(values, int64_t));
        }
    }
    va_end(values);
    return s;
}

int ledger_step(sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code;
}

int ledger_begin(struct ledger *ledger, bool durable)
{
    int code = SQLITE_OK;
    if (ledger->durable != durable) /* FULL makes each commit wait for the disk */
        code = sqlite3_exec(ledger->db,
                            durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL", NULL,
                            NULL, NULL);
    if (code != SQLITE_OK)
        return code;
    ledger->durable = durable;
    return ledger_step(ledger->statements[BEGIN]);
}

int ledger_commit(struct ledger *ledger, int code)
{
    if (code == SQLITE_DONE)
        code = ledger_step(ledger->statements[COMMIT]);
    if (code != SQLITE_DONE && !sqlite3_get_autocommit(ledger->db))
        ledger_step(ledger->statements[ROLLBACK]); /* else no other could begin */
    return code;
}
