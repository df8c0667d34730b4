#include "daemon/spool/recovery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/log.h"
#include "base/name.h"
#include "base/walk.h"
#include "daemon/spool/draft.h"
#include "daemon/spool/requeue.h"

/* ---- entries in the ledger ---- */

bool recovery_rebuild(const struct spool *spool, const char *name, const struct identity *identity,
                      const char *extensions)
{
    const struct watch_settings *rules = spool->rules;
    struct text results = {0};
    bool all = !strstr(rules->name, "{date}"); /* else the day is not known */
    for (size_t of = 0; of < watch_count_results(rules) && all; of++) {
        char path[2 * PATH_MAX], extension[24], folder[256];
        struct stat status;
        name_buffer result;
        watch_part(extensions, of, extension, sizeof extension);
        watch_part(rules->folder, of, folder, sizeof folder);
        result_base(spool, of, name, extension, "", result);
        snprintf(path, sizeof path, "%s%s%.*s%s", folder, folder[0] ? "/" : "",
                 (int)(path_name(name) - name), name, result);
        text_printf(&results, "%s%s%s%s", of ? LEDGER_NEXT : "", folder,
                    folder[0] ? LEDGER_BELOW : "", result);
        all = !results.failed && disk_stat(spool->out_fd, path, &status) == 0 &&
              S_ISREG(status.st_mode) && identity_of(&status).mtime >= identity->mtime;
    }
    struct ledger_entry entry = {.folder = spool->folder,
                                 .name = name,
                                 .identity = *identity,
                                 .state = "done",
                                 .result = text_string(&results),
                                 .remembered = true};
    bool rebuilt = all && ledger_write(spool->world->ledger, &entry, 1, false, NULL) == 0;
    text_finish(&results);
    return rebuilt;
}

/* ---- what a verdict has decided ---- */

/* The steps after a decision, in the order in which the folder's thread takes them (docs/spool.md),
 * for a claim whose run ended in between, or met a fault. */
int recovery_resume(struct claim *claim, bool *ended, struct fault *fault)
{
    const struct spool *spool = claim->spool;
    bool done = claim->note.verdict == NOTE_DONE;
    struct fault why = FAULT_INIT;
    *ended = false;
    if (claim->note.verdict == NOTE_OPEN)
        return 0;

    /* The run that decided may have ended before its syncs, or made none (`sync: off`). */
    bool synced = (!done || results_sync(claim) == 0) && claim_sync_note(claim) == 0;
    if (!synced && !done)
        return fault_set_errno(fault, FAULT_IO, spool->hidden_path);

    /* Names. Where one is taken or refused, or a result is gone, the file is done again, and fails
     * then. The noted results match no files from here on, so the note does no harm. */
    int placed = done && synced ? results_place(claim, &why) : 0;
    if (placed == FAULT_NO_INPUT || placed == FAULT_EXISTS || placed == FAULT_CREATE) {
        results_withdraw(claim);
        claim->note.verdict = NOTE_OPEN;
        return 0;
    }
    if (placed != 0)
        return fault_set(fault, why.code, "%s", why.text);
    if (synced && done)
        synced = results_sync_names(claim) == 0;
    if (!synced) { /* it is done again or, on a dead disk, resumed later */
        int error = errno;
        results_void(claim);
        errno = error;
        if (claim->note.verdict != NOTE_OPEN)
            return fault_set_errno(fault, FAULT_IO, spool->out_path);
        log_about(claim_subject(claim), LOG_LEVEL_WARNING, "fsync: %s; it is done again",
                  strerror(error));
        return 0;
    }

    /* The ledger, of which only a folder that depends on it waits for the disk. It stores the
     * message of the reason that the note holds. */
    struct ledger_entry entry;
    const char *reason = claim->note.reason;
    json_t *told = reason ? json_loads(reason, 0, NULL) : NULL;
    const char *message = json_string_value(json_object_get(told, "message"));
    bool filled = claim_fill_entry(claim, &entry, message ? message : reason);
    bool needed = filled && entry.remembered;
    if (filled)
        ledger_write(spool->world->ledger, &entry, 1, needed, &why);
    json_decref(told);
    if (why.code != FAULT_NONE && needed)
        return fault_set(fault, why.code, "%s", why.text);
    if (why.code != FAULT_NONE)
        log_about(claim_subject(claim), LOG_LEVEL_WARNING, "%s", why.text);

    /* The original, and then what was kept for this. */
    int code = done ? claim_done(claim, fault) : claim_failed(claim, fault);
    if (code == 0 && done)
        results_release(claim, &(struct results_synced){0});
    *ended = code == 0;
    return code;
}

/* ---- work of daemons that are gone ---- */

/* The folder of an instance that is gone, while we hold its lock. */
struct remains {
    char id[SPOOL_INSTANCE_ID + 1];
    int fd, lock_fd;
    int out_fd;     /* its OUT; −1: unknown, or not to be opened */
    bool below;     /* its results may lie in folders below that */
    bool has_work;  /* some of its work could not be taken over */
    bool is_needed; /* results that it wrote are decided and not placed: its temporary files stay */
    struct remains *next;
};

struct recovery {
    struct spool *spool;
    struct remains *list, *at;
    struct claims *found, *ended;
    _Atomic uint64_t *moved;
    struct fault fault; /* the first fault; other instances are handled all the same */
};

static void close_remains(struct remains *remains)
{
    file_close(&remains->out_fd);
    file_close(&remains->lock_fd);
    file_close(&remains->fd);
    free(remains);
}

/* Opens the OUT whose path the lock file holds. An instance that died early has written none. What
 * lies in an OUT that is gone, or forbidden, stays there. One that fails for now may answer later,
 * so the instance is left alone until then: its folder alone knows of its temporary files. */
static int open_output(struct remains *remains, const struct spool *spool, struct fault *fault)
{
    char path[PATH_MAX + 2];
    ssize_t length = pread(remains->lock_fd, path, sizeof path - 1, 0);
    path[length > 0 ? length : 0] = '\0';
    remains->below = (ssize_t)strlen(path) < length; /* open_instance has written more */
    remains->out_fd = length > 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                 : fcntl(spool->out_fd, F_DUPFD_CLOEXEC, 3);
    if (remains->out_fd >= 0)
        return 0;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
        return fault_set_errno(fault, FAULT_IO, path);
    log_warning("%s: %s; what an earlier run left there stays", path, strerror(errno));
    return 0;
}

/* Returns true when we have the lock and the folder is still there: another daemon may have been
 * faster. */
static bool lock(struct remains *remains)
{
    struct stat status;
    remains->lock_fd =
        openat(remains->fd, SPOOL_LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    return remains->lock_fd >= 0 && flock(remains->lock_fd, LOCK_EX | LOCK_NB) == 0 &&
           fstat(remains->lock_fd, &status) == 0 && status.st_nlink > 0;
}

static int visit_instance(void *context, const char *name, unsigned char kind)
{
    struct recovery *r = context;
    if (strlen(name) != SPOOL_INSTANCE_ID || strcmp(name, r->spool->instance) == 0)
        return 0;
    struct remains *remains = malloc(sizeof *remains);
    if (!remains) {
        fault_set(&r->fault, FAULT_MEMORY, "no memory for recovery");
        return 1;
    }
    *remains = (struct remains){.lock_fd = -1, .out_fd = -1};
    memcpy(remains->id, name, SPOOL_INSTANCE_ID + 1);
    remains->fd = disk_open_directory(r->spool->work_fd, name, 0);
    if (remains->fd < 0 || !lock(remains) || open_output(remains, r->spool, &r->fault) != 0) {
        close_remains(remains);
        return 0;
    }
    remains->next = r->list;
    r->list = remains;
    return 0;
}

/* Keeps what the claim's note names: it may have been written by an earlier instance than the one
 * that had the claim. */
static void need_results(struct recovery *r, const struct claim *claim)
{
    for (struct remains *remains = r->list; remains; remains = remains->next)
        remains->is_needed |= strncmp(claim->note.tag, remains->id, SPOOL_INSTANCE_ID) == 0;
}

static int visit_claim(void *context, const char *folder, unsigned char kind)
{
    struct recovery *r = context;
    struct fault fault = FAULT_INIT;
    struct claim *claim;
    bool ended = false;
    if (strcmp(folder, SPOOL_LOCK) == 0)
        return 0;
    if (claim_adopt(&claim, r->spool, r->at->fd, folder, &fault) == 0 && claim) {
        claim->out_fd = r->at->out_fd >= 0 ? r->at->out_fd : r->spool->out_fd;
        recovery_resume(claim, &ended, &fault);
        claim->out_fd = r->spool->out_fd;
    }
    if (fault.code != FAULT_NONE) {
        log_warning("%s/%s: %s", claim ? r->spool->in_path : r->spool->hidden_path,
                    claim ? claim->name : folder, fault.text);
        fault_set(&r->fault, fault.code, "%s", fault.text);
        r->at->has_work |= !claim;
    }
    if (ended) {
        log_about(claim_subject(claim), LOG_LEVEL_INFO,
                  "%s, as an earlier run had decided; the last steps are done now",
                  claim->note.verdict == NOTE_DONE ? "done" : "failed");
        STAILQ_INSERT_TAIL(r->ended, claim, next);
    } else if (claim) {
        if (claim->note.verdict == NOTE_DONE)
            need_results(r, claim);
        STAILQ_INSERT_TAIL(r->found, claim, next);
    }
    *r->moved = clock_now();
    return 0;
}

struct sweep {
    const struct spool *spool;
    const char *instance;
    bool below; /* it goes through folders, too */
};

static enum walk_answer visit_temporary(void *context, const struct walk_entry *entry)
{
    const struct sweep *sweep = context;
    if (entry->kind == DT_DIR)
        return sweep->below ? WALK_ON : WALK_PAST;
    if (name_is_temporary_of(entry->name, sweep->instance))
        requeue_clear_up(sweep->spool, entry->directory_fd, entry->name);
    return WALK_ON;
}

static void tell_unreadable(void *context, const char *path, int error)
{
    log_warning("%s: %s", path, strerror(error));
}

/* Removes temporary files first and the folder last: while some are left, the folder tells of them.
 */
static void bury(struct recovery *r, struct remains *remains)
{
    struct sweep sweep = {r->spool, remains->id, remains->below || r->spool->rules->recursive};
    if (remains->is_needed && spool_hold(r->spool, remains->lock_fd))
        remains->lock_fd = -1; /* while we live nobody else clears up */
    if (remains->has_work || remains->is_needed)
        return;
    /* its claims are ours on the disk, too, before their reservations go */
    if (r->spool->syncs && disk_sync_directory(r->spool->instance_fd) != 0)
        return;
    if (remains->out_fd >= 0 && walk(remains->out_fd, visit_temporary, tell_unreadable, &sweep) < 0)
        return;
    if (walk(r->spool->failed_fd, visit_temporary, tell_unreadable, &sweep) < 0)
        return;
    spool_remove_instance(r->spool, remains->out_fd, remains->fd, remains->id);
}

int recovery_run(struct spool *spool, struct claims *found, struct claims *ended,
                 _Atomic uint64_t *moved, struct fault *fault)
{
    struct recovery r = {.spool = spool, .found = found, .ended = ended, .moved = moved};
    fault_clear(&r.fault);
    if (disk_list(spool->work_fd, visit_instance, &r) < 0)
        fault_set_errno(&r.fault, FAULT_IO, spool->hidden_path);
    /* Claims of all instances first, temporary files after them: a claim may have been taken over
     * before, and its drafts have the name of an earlier instance. */
    for (r.at = r.list; r.at; r.at = r.at->next)
        if (disk_list(r.at->fd, visit_claim, &r) < 0)
            fault_set_errno(&r.fault, FAULT_IO, spool->hidden_path);
    while (r.list) {
        struct remains *remains = r.list;
        r.list = remains->next;
        bury(&r, remains);
        close_remains(remains);
    }
    return fault_set(fault, r.fault.code, "%s", r.fault.text);
}
