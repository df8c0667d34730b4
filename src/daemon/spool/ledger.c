#include "daemon/spool/ledger_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/name.h"

#define FILE_NAME  "ledger.db"
#define BUSY_LIMIT 5000         /* milliseconds to wait while another daemon writes */
#define TRY_EVERY  (5 * SECOND) /* between attempts to open the database */

/* As ledger_ask.c reads them. */
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
    "marked INT, PRIMARY KEY(root,path)) WITHOUT ROWID;"
    "PRAGMA user_version=1;";

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
    (void)names;
    *(bool *)context = count == 1 && values[0] && strcmp(values[0], "ok") == 0;
    return 0;
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
        code = sqlite3_exec(ledger->db,
                            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                            "PRAGMA cache_size=-512;",
                            NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(ledger->db, "PRAGMA quick_check(1)", is_whole, &whole, NULL);
    if (code == SQLITE_OK && !whole)
        code = SQLITE_CORRUPT;
    if (code == SQLITE_OK)
        code = sqlite3_exec(ledger->db, schema, NULL, NULL, NULL);
    for (int i = 0; i < STATEMENTS && code == SQLITE_OK; i++)
        code = sqlite3_prepare_v3(ledger->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                  &ledger->statements[i], NULL);
    ledger->durable = false;
    return code;
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
    ledger->generation++;
}

/* Opens the database. A damaged one is set aside, and a new one begun. */
static int open_or_replace(struct ledger *ledger, struct fault *fault)
{
    char *directory = strndup(ledger->path, (size_t)(path_name(ledger->path) - ledger->path));
    if (directory)
        path_make_directories(directory, 0700, NULL); /* if it fails, so does the opening */
    free(directory);
    int code = tell_damage(ledger, open_database(ledger));
    if (code == SQLITE_CORRUPT) {
        set_aside(ledger);
        code = open_database(ledger);
    }
    if (code == SQLITE_OK)
        return 0;
    fault_set(fault, FAULT_IO, "%s: %s", ledger->path, sqlite3_errstr(code));
    ledger_close_database(ledger);
    return FAULT_IO;
}

int ledger_open(struct ledger **ledger, const char *directory, struct fault *fault)
{
    struct ledger *l = calloc(1, sizeof *l);
    size_t size = strlen(directory) + sizeof "/" FILE_NAME;
    *ledger = NULL;
    if (!l || (l->path = malloc(size)) == NULL) {
        free(l);
        return fault_set(fault, FAULT_MEMORY, "no memory for the ledger");
    }
    snprintf(l->path, size, "%s/" FILE_NAME, directory);
    int result = ledger_thread_start(l, fault);
    if (result == 0) {
        *ledger = l;
        return 0;
    }
    free(l->path);
    free(l);
    return result;
}

void ledger_close(struct ledger **ledger)
{
    struct ledger *l = *ledger;
    *ledger = NULL;
    if (!l || !ledger_thread_end(l))
        return;
    free(l->path);
    free(l);
}

int ledger_step(struct ledger *ledger, enum statement which)
{
    sqlite3_stmt *statement = ledger->statements[which];
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code;
}

int ledger_open_again(struct ledger *ledger, struct fault *fault)
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
        set_aside(ledger);
        open_or_replace(ledger, NULL);
    } else if ((code & 0xff) == SQLITE_IOERR) {
        /* Its cache may hold what a failed sync kept from the disk: read the disk anew. */
        ledger_close_database(ledger);
    }
    return result;
}

void ledger_bind_identity(sqlite3_stmt *statement, int first, const struct identity *identity)
{
    sqlite3_bind_int64(statement, first, (sqlite3_int64)identity->inode);
    sqlite3_bind_int64(statement, first + 1, identity->size);
    sqlite3_bind_int64(statement, first + 2, identity->mtime);
}

int ledger_knows(struct ledger *ledger, const char *folder, const struct identity *identity,
                 bool *known, struct fault *fault)
{
    *known = false;
    int result = ledger_enter(ledger, fault);
    if (result != 0)
        return result;
    sqlite3_stmt *statement = ledger->statements[KNOWS];
    sqlite3_bind_text(statement, 1, folder, -1, SQLITE_STATIC);
    ledger_bind_identity(statement, 2, identity);
    int code = ledger_step(ledger, KNOWS);
    *known = code == SQLITE_ROW;
    result = ledger_end(ledger, *known ? SQLITE_DONE : code, fault);
    ledger_leave(ledger);
    return result;
}

int ledger_set_durable(struct ledger *ledger, bool durable)
{
    if (ledger->durable == durable)
        return SQLITE_OK;
    int code =
        sqlite3_exec(ledger->db, durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
                     NULL, NULL, NULL);
    if (code == SQLITE_OK)
        ledger->durable = durable;
    return code;
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

unsigned ledger_generation(struct ledger *ledger)
{
    return ledger ? ledger->generation : 0;
}
