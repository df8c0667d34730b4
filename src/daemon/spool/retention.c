/* Removes old files from done and failed. */
#include "daemon/spool/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/log.h"
#include "base/name.h"
#include "base/number.h"
#include "base/walk.h"

struct tidying {
    int root_fd;
    bool has_reasons; /* it is failed */
    size_t count, capacity;
    struct ledger_kept *files; /* owned paths; sizes in blocks */
    uint64_t total;
};

static int64_t blocks(const struct stat *status)
{
    return (int64_t)status->st_blocks * 512;
}

static bool keep(struct tidying *t, const char *path, const struct stat *status, int64_t size)
{
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 64;
        struct ledger_kept *files = realloc(t->files, capacity * sizeof *files);
        if (!files)
            return false;
        t->files = files;
        t->capacity = capacity;
    }
    char *copy = strdup(path);
    if (!copy)
        return false;
    t->files[t->count++] = (struct ledger_kept){
        .path = copy,
        .size = size,
        .changed = status->st_ctim.tv_sec * INT64_C(1000000000) + status->st_ctim.tv_nsec};
    t->total += (uint64_t)size;
    return true;
}

/* Without memory the remaining files are left to a later call. */
static enum walk_answer visit(void *context, const struct walk_entry *entry)
{
    struct tidying *t = context;
    struct stat status, reason;
    name_buffer reason_name, file;
    int fd = entry->directory_fd;
    if (entry->name[0] == '.')
        return WALK_PAST;
    if (fstatat(fd, entry->name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return WALK_ON;
    if (t->has_reasons &&
        name_is_reason(entry->name)) { /* one beside its file is removed with it */
        snprintf(file, sizeof file, "%.*s", (int)name_reason_stem(entry->name), entry->name);
        if (faccessat(fd, file, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            return WALK_ON;
    }
    int64_t size = blocks(&status);
    name_of_reason(reason_name, entry->name);
    if (t->has_reasons && fstatat(fd, reason_name, &reason, AT_SYMLINK_NOFOLLOW) == 0)
        size += blocks(&reason);
    return keep(t, entry->path, &status, size) ? WALK_ON : WALK_STOP;
}

static int compare(const void *a, const void *b)
{
    const struct ledger_kept *first = a, *second = b;
    if (first->since != second->since)
        return first->since < second->since ? -1 : 1;
    return (first->changed > second->changed) - (first->changed < second->changed);
}

/* The file goes before its reason: a reason that is left alone is found and removed later. */
static bool remove_one(const struct tidying *t, const struct ledger_kept *file, const char *label)
{
    char reason[PATH_MAX];
    if (disk_unlink(t->root_fd, file->path) != 0 && errno != ENOENT) {
        log_warning("%s: %s: cannot be removed: %s", label, file->path, strerror(errno));
        return false;
    }
    name_reason_path(reason, file->path);
    if (t->has_reasons)
        disk_unlink(t->root_fd, reason);
    return true;
}

static void remove_oldest(struct tidying *t, const struct retention *rule, int64_t now,
                          const char *label)
{
    uint64_t bytes = 0;
    size_t removed = 0;
    if (t->count > 0) /* without files there is no array */
        qsort(t->files, t->count, sizeof *t->files, compare);
    for (size_t i = 0; i < t->count; i++) {
        const struct ledger_kept *file = &t->files[i];
        bool old = (uint64_t)(now - file->since) > rule->age / SECOND;
        if (!old && t->total <= rule->keep)
            break;
        if (!remove_one(t, file, label))
            continue;
        t->total -= (uint64_t)file->size;
        bytes += (uint64_t)file->size;
        removed++;
    }
    if (removed > 0)
        log_info("%s: %zu of the oldest files are removed (%s)", label, removed,
                 number_size(bytes));
}

/* Removes files below the directory that are older than the rule's age, then the oldest until the
 * rest takes no more than the rule's size on disk (in blocks). A reason (NAME.error.json) is
 * removed with its file, and its size counts with the file's. `label` names the directory in the
 * ledger and in log lines. */
static void apply(int directory_fd, bool has_reasons, const struct retention *rule,
                  struct ledger *ledger, const char *label)
{
    struct ledger_now now;
    struct fault fault = FAULT_INIT;
    if (rule->keep == RETENTION_ALL && rule->age == RETENTION_ALL)
        return;
    struct tidying *t = calloc(1, sizeof *t);
    if (!t)
        return;
    t->root_fd = directory_fd;
    t->has_reasons = has_reasons;
    if (walk(directory_fd, visit, NULL, t) < 0)
        log_warning("%s: %s", label, strerror(errno));
    if (ledger_date_files(ledger, label, t->files, t->count, &now, &fault) != 0)
        log_warning("%s: nothing is removed while ages are not known: %s", label, fault.text);
    else if (!now.quiet)
        remove_oldest(t, rule, now.seen, label);
    for (size_t i = 0; i < t->count; i++)
        free((char *)(uintptr_t)t->files[i].path);
    free(t->files);
    free(t);
}

void spool_tidy(const struct spool *spool)
{
    struct ledger *ledger = spool->world->ledger;
    char label[PATH_MAX + 20];
    snprintf(label, sizeof label, "%s: done", spool->folder);
    apply(spool->done_fd, false, &spool->rules->done, ledger, label);
    snprintf(label, sizeof label, "%s: failed", spool->folder);
    apply(spool->failed_fd, true, &spool->rules->failed, ledger, label);
}
