/* How claims end: the file is moved or removed, then the claim's folder is removed. */
#include "daemon/spool/claim_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/file.h"
#include "base/log.h"

/* A fault from errno about one of the folders: "PATH: REASON". */
static int blame(const struct claim *claim, const char *folder, struct fault *fault)
{
    char path[PATH_MAX];
    int error = errno;
    snprintf(path, sizeof path, "%s/%s", claim->spool->hidden_path, folder);
    errno = error;
    return fault_set_errno(fault, FAULT_IO, path);
}

/* Removes the claim's folder, once the file has left it: in this order there is at every moment
 * either a file with its note, or no claim. */
static void forget(const struct claim *claim)
{
    int folder = claim_open_folder(claim);
    if (folder >= 0) {
        note_remove(folder);
        close(folder);
    }
    claim_remove_folder(claim);
}

/* Moves the file below another directory, and makes folders on the way. EEXIST: there is such a
 * file. */
static int move_out(struct claim *claim, int root_fd, const char *name)
{
    struct disk_place place;
    claim_path path;
    if (disk_place(&place, root_fd, name, 0777) != 0)
        return -1;
    int result = disk_rename_new(claim->spool->instance_fd, claim_path_of(claim, path), place.fd,
                                 place.name);
    int error = errno;
    disk_place_leave(&place);
    errno = error;
    if (result == 0)
        forget(claim);
    return result;
}

/* Removes the file, or the empty file that stands for it. */
static int remove_file(struct claim *claim)
{
    claim_path path;
    if (unlinkat(claim->spool->instance_fd, claim_path_of(claim, path), 0) != 0 && errno != ENOENT)
        return -1;
    forget(claim);
    return 0;
}

/* For finding a free number: the directory, and what else has to be free beside the file's name. */
struct taken {
    const struct claim *claim;
    int fd;
    bool with_reason;
};

static bool exists(int directory_fd, const char *name)
{
    return faccessat(directory_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

static bool is_taken(void *context, unsigned number)
{
    const struct taken *taken = context;
    name_buffer name, reason;
    name_of_original(name, claim_base(taken->claim), number);
    name_of_reason(reason, name);
    return exists(taken->fd, name) || (taken->with_reason && exists(taken->fd, reason));
}

/* The first free number; UINT_MAX: none is free. */
static unsigned find_number(const struct claim *claim, int root_fd, bool with_reason)
{
    struct disk_place place;
    if (disk_place(&place, root_fd, claim->name, 0777) != 0)
        return UINT_MAX;
    struct taken taken = {claim, place.fd, with_reason};
    unsigned number = name_find_number(is_taken, &taken);
    disk_place_leave(&place);
    return number;
}

static int move_to_done(struct claim *claim, struct fault *fault)
{
    int done_fd = claim->spool->done_fd;
    for (unsigned number = 0; number != UINT_MAX; number = find_number(claim, done_fd, false)) {
        char name[PATH_MAX];
        name_number_path(name, claim->name, number);
        if (move_out(claim, done_fd, name) == 0)
            return 0;
        if (errno != EEXIST)
            return blame(claim, "done", fault);
    }
    return fault_set(fault, FAULT_CREATE, "%s/done: no name is free", claim->spool->hidden_path);
}

int claim_done(struct claim *claim, struct fault *fault)
{
    int rule = claim->spool->rules->originals;
    if (claim->spool->in_place || rule == ORIGINALS_DELETE) {
        if (remove_file(claim) == 0)
            return 0;
        return blame(claim, "work", fault);
    }
    if (rule == ORIGINALS_KEEP) {
        if (move_out(claim, claim->spool->in_fd, claim->name) == 0)
            return 0;
        if (errno != EEXIST && errno != ENOENT)
            return fault_set_errno(fault, FAULT_IO, claim->spool->in_path);
        log_warning("%s: there is another file of this name by now: the original goes to done",
                    claim->name);
    }
    return move_to_done(claim, fault);
}

static int choose_failed_number(struct claim *claim, struct fault *fault)
{
    claim->note.number = find_number(claim, claim->spool->failed_fd, true);
    if (claim->note.number == UINT_MAX)
        return fault_set(fault, FAULT_CREATE, "%s/failed: no name is free",
                         claim->spool->hidden_path);
    return claim_write_note(claim, fault);
}

int claim_note_failure(struct claim *claim, const char *reason, struct fault *fault)
{
    char *copy = strdup(reason);
    if (!copy)
        return fault_set(fault, FAULT_MEMORY, "no memory for a note");
    free(claim->note.reason);
    claim->note.reason = copy;
    claim->note.verdict = NOTE_FAILED;
    int result = choose_failed_number(claim, fault);
    if (result != 0)
        claim->note.verdict = NOTE_OPEN;
    return result;
}

/* Writes the reason under its final name. */
static int write_reason(const struct claim *claim, int failed_fd, name_buffer reason,
                        struct fault *fault)
{
    const struct spool *spool = claim->spool;
    name_buffer name, temporary;
    char tag[SPOOL_INSTANCE_ID + 32];
    name_of_original(name, claim_base(claim), claim->note.number);
    name_of_reason(reason, name);
    snprintf(tag, sizeof tag, "%s-%s", spool->instance, claim->folder);
    name_of_temporary(temporary, reason, tag);
    const char *text = claim->note.reason;
    return file_write_whole(failed_fd, reason, temporary, text, strlen(text),
                            spool->rules->sync != SYNC_OFF, fault);
}

/* Writes the reason before the file is moved, so that no file is in failed without one. Returns 0,
 * or −1 and errno of the move; EEXIST: another file got the name after the number was chosen. */
static int place_failed(struct claim *claim, struct fault *fault)
{
    const struct spool *spool = claim->spool;
    struct disk_place place;
    name_buffer reason;
    char name[PATH_MAX];
    if (disk_place(&place, spool->failed_fd, claim->name, 0777) != 0) {
        blame(claim, "failed", fault);
        return -1;
    }
    int result = write_reason(claim, place.fd, reason, fault);
    int error = 0;
    if (result == 0) {
        name_number_path(name, claim->name, claim->note.number);
        result = spool->in_place ? remove_file(claim) : move_out(claim, spool->failed_fd, name);
        error = errno;
        if (result != 0 && error == EEXIST)
            unlinkat(place.fd, reason, 0);
        else if (result != 0)
            blame(claim, "failed", fault);
    }
    disk_place_leave(&place);
    errno = error;
    return result == 0 ? 0 : -1;
}

int claim_failed(struct claim *claim, struct fault *fault)
{
    struct fault why = FAULT_INIT;
    while (place_failed(claim, &why) != 0)
        if (why.code != FAULT_NONE || choose_failed_number(claim, &why) != 0)
            return fault_set(fault, why.code, "%s", why.text);
    return 0;
}

int claim_give_back(struct claim *claim, struct fault *fault)
{
    int result = claim->spool->in_place ? remove_file(claim)
                                        : move_out(claim, claim->spool->in_fd, claim->name);
    return result == 0 ? 0 : fault_set_errno(fault, FAULT_CREATE, claim->spool->in_path);
}
