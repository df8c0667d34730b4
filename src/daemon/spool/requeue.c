#include "daemon/spool/requeue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/log.h"
#include "base/name.h"
#include "daemon/spool/ledger.h"

#define MARK "-requeue"

/* ---- reasons, which leave with their files ---- */

/* A reason that was renamed to a hidden name of our instance. If the file is in failed at the end,
 * the reason gets its name back, from us or, when we are gone, from whoever finds it; otherwise it
 * is removed. */
struct aside {
    struct disk_place place; /* the folder in failed; fd −1: there is no reason */
    name_buffer reason, hidden;
};

static void set_aside(struct aside *aside, const struct spool *spool, const char *name)
{
    char tag[SPOOL_INSTANCE_ID + sizeof MARK];
    if (disk_place(&aside->place, spool->failed_fd, name, 0) != 0) {
        aside->place.fd = -1;
        return;
    }
    name_of_reason(aside->reason, aside->place.name);
    snprintf(tag, sizeof tag, "%s" MARK, spool->instance);
    name_of_temporary(aside->hidden, aside->reason, tag);
    if (renameat(aside->place.fd, aside->reason, aside->place.fd, aside->hidden) == 0)
        return;
    disk_place_leave(&aside->place);
    aside->place.fd = -1;
}

static void end_aside(struct aside *aside, bool put_back)
{
    if (aside->place.fd < 0)
        return;
    if (!put_back)
        unlinkat(aside->place.fd, aside->hidden, 0);
    else if (renameat(aside->place.fd, aside->hidden, aside->place.fd, aside->reason) != 0)
        log_warning("%s: %s", aside->reason, strerror(errno));
    disk_place_leave(&aside->place);
}

/* Whether the file still counts as failed: by its place or, with claims in place, by the ledger. */
static bool is_still_failed(const struct spool *spool, int directory_fd, const char *name,
                            const char *reason)
{
    struct stat status;
    struct identity identity;
    char whose[PATH_MAX];
    if (!spool->in_place) {
        name_buffer file;
        snprintf(file, sizeof file, "%.*s", (int)name_reason_stem(reason), reason);
        return fstatat(directory_fd, file, &status, AT_SYMLINK_NOFOLLOW) == 0;
    }
    json_t *told = fate_read_told(directory_fd, name);
    fate_name_of(told, NULL, whose);
    json_decref(told);
    if (!whose[0] || spool_look(spool, whose, &identity) != SPOOL_FILE)
        return false;
    bool known; /* on a fault the reason stays */
    return ledger_knows(spool->world->ledger, spool->folder, &identity, &known, NULL) != 0 || known;
}

void requeue_clear_up(const struct spool *spool, int directory_fd, const char *name)
{
    static const char tail[] = MARK ".tmp";
    size_t length = strlen(name), most = sizeof tail - 1 + SPOOL_INSTANCE_ID + 1;
    char reason[NAME_MAX + 1] = "";
    /* a reason whose file was being requeued has a hidden name, made from the reason's own */
    if (name[0] == '.' && length > most && strcmp(name + length - sizeof tail + 1, tail) == 0)
        snprintf(reason, sizeof reason, "%.*s", (int)(length - most - 1), name + 1);
    if (name_is_reason(reason) && is_still_failed(spool, directory_fd, name, reason) &&
        disk_rename_new(directory_fd, name, directory_fd, reason) == 0)
        return;
    if (unlinkat(directory_fd, name, 0) != 0 && errno != ENOENT)
        log_warning("%s/failed: %s: cannot be removed: %s", spool->hidden_path, name,
                    strerror(errno));
}

/* ---- one file ---- */

static bool is_taken(void *context, unsigned number)
{
    const struct disk_place *to = context;
    name_buffer name;
    name_of_original(name, to->name, number);
    return disk_may_have(to->fd, name);
}

/* Moves a file from done or failed into IN, under its name or, if a new file has that, with a
 * number. */
static int move_into(const struct spool *spool, int from_root, const struct fate *fate,
                     char name[PATH_MAX], struct fault *fault)
{
    struct disk_place from, to;
    unsigned number = 0;
    int result = -1;
    if (disk_place(&from, from_root, fate->original, 0) != 0)
        return fault_set_errno(fault, FAULT_NO_INPUT, fate->original);
    if (disk_place(&to, spool->in_fd, fate->name, 0777) != 0) {
        disk_place_leave(&from);
        return fault_set_errno(fault, FAULT_CREATE, fate->name);
    }
    for (; result != 0 && number != UINT_MAX; number = name_find_number(is_taken, &to)) {
        name_number_path(name, fate->name, number);
        result = disk_rename_new(from.fd, from.name, to.fd, path_name(name));
        if (result == 0 || errno != EEXIST)
            break;
    }
    if (result != 0)
        fault_set_errno(fault, errno == ENOENT ? FAULT_NO_INPUT : FAULT_IO, fate->original);
    disk_place_leave(&to);
    disk_place_leave(&from);
    return result == 0 ? 0 : fault ? fault->code : FAULT_IO;
}

/* The file stays where it is; its reason and its entry in the ledger are removed. */
static int forget_kept(const struct spool *spool, const struct fate *fate, char name[PATH_MAX],
                       struct fault *fault)
{
    struct aside aside = {.place.fd = -1};
    char reason[PATH_MAX];
    snprintf(name, PATH_MAX, "%s", fate->name);
    if (spool->in_place && strcmp(fate->state, "failed") == 0 &&
        fate_find_reason(spool, fate->name, reason))
        set_aside(&aside, spool, reason);
    int result =
        ledger_forget(spool->world->ledger, spool->folder, &fate->identity, 1, true, fault);
    end_aside(&aside, result != 0);
    return result;
}

static int put_back_one(const struct spool *spool, const struct fate *fate, char name[PATH_MAX],
                        struct fault *fault)
{
    struct ledger *ledger = spool->world->ledger;
    struct aside aside;
    int result;
    switch (fate->where) {
    case FATE_IN_FAILED:
        set_aside(&aside, spool, fate->original);
        result = move_into(spool, spool->failed_fd, fate, name, fault);
        end_aside(&aside, result != 0);
        if (result == 0)
            ledger_forget(ledger, spool->folder, &fate->identity, 1, false, NULL);
        return result;
    case FATE_IN_DONE:
        /* the ledger first: a file that it knows as done would not be taken from IN */
        result = ledger_forget(ledger, spool->folder, &fate->identity, 1, true, fault);
        return result ? result : move_into(spool, spool->done_fd, fate, name, fault);
    case FATE_KEPT:
        return forget_kept(spool, fate, name, fault);
    case FATE_IN_PLACE:
    case FATE_NOWHERE:
        break;
    }
    return fault_set(fault, FAULT_NO_INPUT, "%s",
                     strcmp(fate->state, "unknown") == 0 ? fate->message
                                                         : "the original is not there any more");
}

/* Syncs IN, so that requeued files stay there after a power cut. Folders below IN are not synced:
 * there a power cut may leave a file where it was. */
static void sync_names(const struct spool *spool)
{
    if (spool->syncs && disk_sync_directory(spool->in_fd) != 0)
        log_warning("%s: fsync: %s", spool->in_path, strerror(errno));
}

int requeue_one(const struct spool *spool, const struct fate *fate, char name[PATH_MAX],
                struct fault *fault)
{
    int result = put_back_one(spool, fate, name, fault);
    if (result == 0)
        sync_names(spool);
    return result;
}

/* ---- all files in failed ---- */

static void requeue_named(const struct spool *spool, struct requeued *requeued, const char *failed)
{
    struct fate fate;
    struct fault fault = FAULT_INIT;
    char name[PATH_MAX], **names = requeued->names;
    fate_find_failed(&fate, spool, failed);
    bool good = strcmp(fate.state, "failed") == 0 && put_back_one(spool, &fate, name, &fault) == 0;
    fate_finish(&fate);
    if (good) {
        requeued->n_done++;
        if ((names = realloc(names, (requeued->n_names + 1) * sizeof *names)) != NULL) {
            requeued->names = names;
            requeued->n_names += (names[requeued->n_names] = strdup(name)) != NULL;
        }
    } else if (fault.code != FAULT_NONE && fault.code != FAULT_NO_INPUT) {
        requeued->n_failed++;
        fault_set(&requeued->fault, fault.code, "%s", fault.text);
    }
}

bool requeue_failed(const struct spool *spool, struct requeued *requeued)
{
    struct spool_files page = {.after = requeued->after, .limit = REQUEUE_SLICE};
    spool_list(spool, true, &page);
    bool more = page.count == page.limit;
    for (size_t i = 0; i < page.count; i++)
        requeue_named(spool, requeued, page.files[i].name);
    if (page.count > 0) {
        sync_names(spool);
        snprintf(requeued->after, sizeof requeued->after, "%s", page.files[page.count - 1].name);
    }
    spool_files_finish(&page);
    return more;
}

void requeued_forget(struct requeued *requeued, bool with_place)
{
    for (size_t i = 0; i < requeued->n_names; i++)
        free(requeued->names[i]);
    free(requeued->names);
    requeued->names = NULL;
    requeued->n_names = 0;
    if (with_place)
        requeued->after[0] = '\0';
}
