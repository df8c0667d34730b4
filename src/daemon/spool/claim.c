#include "daemon/spool/claim.h"

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
#include "base/name.h"
#include "daemon/spool/ledger.h"

/* The file's path below the instance's folder. */
typedef char claim_path[sizeof((struct claim *)0)->folder + 1 + NAME_BYTES + 1];

const char *claim_base(const struct claim *claim)
{
    return path_name(claim->name);
}

static const char *path_of(const struct claim *claim, claim_path path)
{
    snprintf(path, sizeof(claim_path), "%s/%s", claim->folder, claim_base(claim));
    return path;
}

void claim_destroy(struct claim **claim)
{
    if (!*claim)
        return;
    claim_close_note(*claim);
    note_finish(&(*claim)->note);
    free((*claim)->name);
    free(*claim);
    *claim = NULL;
}

static struct claim *create(struct spool *spool, const char *name)
{
    struct claim *claim = calloc(1, sizeof *claim);
    if (!claim)
        return NULL;
    claim->spool = spool;
    claim->folder_fd = claim->note_fd = -1;
    claim->name = strdup(name);
    snprintf(claim->folder, sizeof claim->folder, "%08x", atomic_fetch_add(&spool->serial, 1));
    if (!claim->name)
        claim_destroy(&claim);
    return claim;
}

static void remove_folder(const struct claim *claim)
{
    unlinkat(claim->spool->instance_fd, claim->folder, AT_REMOVEDIR);
}

/* Writes down from which folder below IN the file comes, as the target of a symbolic link that
 * leads nowhere. A link is made in one step, and is as durable as the directory it is in. */
static int note_origin(const struct claim *claim, int folder_fd)
{
    size_t length = (size_t)(claim_base(claim) - claim->name);
    char from[PATH_MAX];
    if (length == 0)
        return 0;
    if (length > sizeof from) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(from, claim->name, length - 1);
    from[length - 1] = '\0';
    return symlinkat(from, folder_fd, NOTE_FROM);
}

/* Returns a descriptor of the claim's folder, which the caller closes, or −1 and errno. */
static int open_folder(const struct claim *claim)
{
    return disk_open_directory(claim->spool->instance_fd, claim->folder, 0);
}

/* Returns 0, or −1 and errno. */
static int fill_folder(const struct claim *claim)
{
    const struct spool *spool = claim->spool;
    struct disk_place place;
    claim_path path;
    int folder = open_folder(claim);
    if (folder < 0)
        return -1;
    int result = note_origin(claim, folder);
    if (result == 0 && spool->in_place) {
        /* an empty file stands for the one that stays where it is */
        int fd = openat(folder, claim_base(claim), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        result = fd < 0 ? -1 : close(fd);
    } else if (result == 0) {
        result = disk_place(&place, spool->in_fd, claim->name, 0);
        if (result == 0) {
            result = renameat(place.fd, place.name, spool->instance_fd, path_of(claim, path));
            disk_place_leave(&place);
        }
    }
    int error = errno;
    if (result != 0)
        note_remove(folder);
    close(folder);
    errno = error;
    return result;
}

static int take(struct claim *claim, const struct identity *expected, struct fault *fault)
{
    const struct spool *spool = claim->spool;
    if (mkdirat(spool->instance_fd, claim->folder, 0700) != 0)
        return fault_set_errno(fault, FAULT_CREATE, spool->hidden_path);
    if (fill_folder(claim) != 0) {
        int error = errno;
        remove_folder(claim);
        errno = error;
        return error == ENOENT ? fault_set(fault, FAULT_BUSY, "gone")
                               : fault_set_errno(fault, FAULT_IO, spool->hidden_path);
    }
    struct stat status;
    claim_path path;
    bool same =
        !spool->in_place &&
        fstatat(spool->instance_fd, path_of(claim, path), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode) && status.st_dev == expected->device &&
        status.st_ino == expected->inode;
    if (spool->in_place || same)
        return 0;
    /* another file took the name between the look and the claim */
    if (claim_give_back(claim, NULL) != 0)
        log_about(claim_subject(claim), LOG_LEVEL_WARNING,
                  "another file was claimed in its place, and stays claimed");
    return fault_set(fault, FAULT_BUSY, "another file by now");
}

int claim_take(struct claim **claim, struct spool *spool, const char *name,
               const struct identity *expected, struct fault *fault)
{
    struct claim *c = create(spool, name);
    *claim = NULL;
    if (!c)
        return fault_set(fault, FAULT_MEMORY, "no memory for a claim");
    int result = take(c, expected, fault);
    if (result != 0)
        claim_destroy(&c);
    *claim = c;
    return result;
}

/* The file of a claim's folder is the one entry that is not hidden. */
static int keep_visible_name(void *context, const char *name, unsigned char kind)
{
    if (name[0] == '.')
        return 0;
    snprintf(context, sizeof(name_buffer), "%s", name);
    return 1;
}

/* The file's name as a path below IN. A link that leads upwards, which only a stranger can have
 * made, is refused; later each component is opened and has to be a directory. */
static void whole_name(int folder_fd, const char *base, char whole[PATH_MAX])
{
    char from[PATH_MAX];
    ssize_t length = readlinkat(folder_fd, NOTE_FROM, from, sizeof from - 1);
    from[length > 0 ? length : 0] = '\0';
    bool good = length > 0 && from[0] != '/' && (size_t)length + NAME_BYTES + 2 < PATH_MAX &&
                strncmp(from, "..", 2) != 0 && !strstr(from, "/..");
    snprintf(whole, PATH_MAX, "%.*s%s%.*s", good ? (int)length : 0, from, good ? "/" : "",
             NAME_BYTES, base);
}

static int remove_hidden(void *context, const char *name, unsigned char kind)
{
    if (name[0] == '.')
        unlinkat(*(const int *)context, name, 0);
    return 0;
}

/* Counts an interruption. Ten in a row, each while the file was the only job, fail the file; a
 * single one may have had any cause. The count is written before the mark is removed, so that it
 * may be counted twice but never lost. */
static void count_interruption(struct claim *claim, int folder_fd)
{
    bool alone;
    struct fault fault = FAULT_INIT;
    if (!note_has_begun(folder_fd, &alone))
        return;
    claim->note.interruptions++;
    claim->note.alone = alone ? claim->note.alone + 1 : 0;
    if (note_write(folder_fd, &claim->note, true, &fault) == 0)
        note_clear_begun(folder_fd);
    else
        log_about(claim_subject(claim), LOG_LEVEL_WARNING,
                  "that it was interrupted could not be noted: %s", fault.text);
}

static int take_over(struct claim *claim, int other_fd, int folder_fd, const char *folder,
                     struct fault *fault)
{
    struct fault damaged = FAULT_INIT;
    claim->recovered = true;
    if (renameat(other_fd, folder, claim->spool->instance_fd, claim->folder) != 0)
        return fault_set_errno(fault, FAULT_IO, "take over a claimed file");
    if (note_read(folder_fd, &claim->note, &damaged) != 0)
        log_about(claim_subject(claim), LOG_LEVEL_WARNING, "%s: done again from the start",
                  damaged.text);
    count_interruption(claim, folder_fd);
    if (claim->note.verdict == NOTE_DONE && !claim->note.base[0])
        snprintf(claim->note.base, sizeof claim->note.base, "%s", claim_base(claim));
    return 0;
}

/* False when a file that was claimed in place is gone by now, or known to be done. */
static int check_left(const struct spool *spool, const char *name, bool *left, struct fault *fault)
{
    struct identity identity;
    bool done = false;
    int result = 0;
    enum spool_sight sight = spool->in_place ? spool_look(spool, name, &identity) : SPOOL_FILE;
    *left = sight == SPOOL_FILE;
    if (sight == SPOOL_UNREADABLE)
        result = fault_set(fault, FAULT_IO, "%s: cannot be looked at", name);
    if (spool->in_place && *left)
        result = ledger_knows(spool->world->ledger, spool->folder, &identity, &done, fault);
    *left &= !done;
    return result;
}

int claim_adopt(struct claim **claim, struct spool *spool, int other_fd, const char *folder,
                struct fault *fault)
{
    name_buffer name = "";
    char whole[PATH_MAX];
    *claim = NULL;
    int folder_fd = disk_open_directory(other_fd, folder, 0);
    if (folder_fd < 0)
        return fault_set_errno(fault, FAULT_IO, "open a claim's folder");
    int result = 0;
    bool left = false;
    if (disk_list(folder_fd, keep_visible_name, name) < 0)
        result = fault_set_errno(fault, FAULT_IO, "read a claim's folder");
    else if (name[0]) {
        whole_name(folder_fd, name, whole);
        result = check_left(spool, whole, &left, fault);
    }
    if (result == 0 && !left) {
        if (spool->in_place && name[0])
            unlinkat(folder_fd, name, 0);
        disk_list(folder_fd, remove_hidden, &folder_fd);
        unlinkat(other_fd, folder, AT_REMOVEDIR);
    } else if (result == 0 && (*claim = create(spool, whole)) == NULL)
        result = fault_set(fault, FAULT_MEMORY, "no memory for a claim");
    else if (result == 0)
        result = take_over(*claim, other_fd, folder_fd, folder, fault);
    close(folder_fd);
    if (result != 0)
        claim_destroy(claim);
    return result;
}

static int open_file(const struct claim *claim)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    claim_path path;
    return claim->spool->in_place ? disk_open(claim->spool->in_fd, claim->name, flags)
                                  : openat(claim->spool->instance_fd, path_of(claim, path), flags);
}

bool claim_identify(struct claim *claim)
{
    struct stat status;
    int fd = claim->identity.inode ? -1 : open_file(claim);
    if (fd >= 0 && fstat(fd, &status) == 0)
        claim->identity = identity_of(&status);
    file_close(&fd);
    return claim->identity.inode != 0;
}

int claim_open(struct claim *claim, int *fd, struct fault *fault)
{
    struct stat status;
    *fd = open_file(claim);
    if (*fd < 0)
        return fault_set_errno(fault, errno == ENOENT ? FAULT_NO_INPUT : FAULT_IO, "open");
    if (fstat(*fd, &status) != 0)
        fault_set_errno(fault, FAULT_IO, "fstat");
    else if (!S_ISREG(status.st_mode))
        fault_set(fault, FAULT_NO_INPUT, "no regular file");
    if (fault->code == FAULT_NONE) {
        claim->identity = identity_of(&status);
        return 0;
    }
    close(*fd);
    *fd = -1;
    return fault->code;
}

bool claim_is_unchanged(const struct claim *claim, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return false;
    struct identity now = identity_of(&status);
    return identity_equal(&now, &claim->identity);
}

int claim_mark_begun(struct claim *claim, bool alone, struct fault *fault)
{
    int folder = open_folder(claim);
    if (folder < 0)
        return fault_set_errno(fault, FAULT_IO, "open a claim's folder");
    /* For a file that was interrupted before, the mark is synced: the file may be the cause. */
    int result = note_mark_begun(folder, alone, claim->recovered, fault);
    close(folder);
    return result;
}

void claim_clear_begun(struct claim *claim)
{
    int folder = open_folder(claim);
    if (folder < 0)
        return;
    note_clear_begun(folder);
    close(folder);
}

int claim_write_note(struct claim *claim, struct fault *fault)
{
    int folder = open_folder(claim);
    if (folder < 0)
        return fault_set_errno(fault, FAULT_IO, "open a claim's folder");
    int result = note_write(folder, &claim->note, claim->spool->rules->sync != SYNC_OFF, fault);
    close(folder);
    return result;
}

int claim_prepare_note(struct claim *claim, struct fault *fault)
{
    claim_close_note(claim);
    claim->folder_fd = open_folder(claim);
    if (claim->folder_fd < 0)
        return fault_set_errno(fault, FAULT_IO, "open a claim's folder");
    return note_write_aside(claim->folder_fd, &claim->note, &claim->note_fd, fault);
}

int claim_decide(struct claim *claim, struct fault *fault)
{
    return note_commit(claim->folder_fd, fault);
}

void claim_close_note(struct claim *claim)
{
    file_close(&claim->note_fd);
    file_close(&claim->folder_fd);
}

int claim_sync_note(struct claim *claim)
{
    if (claim->spool->rules->sync == SYNC_OFF)
        return 0;
    int folder = open_folder(claim), result = folder < 0 ? -1 : note_sync(folder);
    file_close(&folder);
    return result;
}

/* ---- the three ends: the file is moved or removed, then the claim's folder is removed ---- */

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
    int folder = open_folder(claim);
    if (folder >= 0) {
        note_remove(folder);
        close(folder);
    }
    remove_folder(claim);
}

/* Moves the file below another directory, and makes folders on the way. EEXIST: there is such a
 * file. */
static int move_out(struct claim *claim, int root_fd, const char *name)
{
    struct disk_place place;
    claim_path path;
    if (disk_place(&place, root_fd, name, 0777) != 0)
        return -1;
    int result =
        disk_rename_new(claim->spool->instance_fd, path_of(claim, path), place.fd, place.name);
    disk_place_leave(&place);
    if (result == 0)
        forget(claim);
    return result;
}

/* Removes the file, or the empty file that stands for it. */
static int remove_file(struct claim *claim)
{
    claim_path path;
    if (unlinkat(claim->spool->instance_fd, path_of(claim, path), 0) != 0 && errno != ENOENT)
        return -1;
    forget(claim);
    return 0;
}

/* The file's name in done or failed: its own or, if a file is where its folder would have to be, a
 * flat one, "sub_a.pgm". */
static const char *name_in(const struct claim *claim, int root_fd, char flat[PATH_MAX])
{
    struct disk_place place;
    if (!strchr(claim->name, '/'))
        return claim->name;
    if (disk_place(&place, root_fd, claim->name, 0777) == 0) {
        disk_place_leave(&place);
        return claim->name;
    }
    if (!disk_refuses_name(errno))
        return claim->name;
    size_t length = strlen(claim->name);
    snprintf(flat, PATH_MAX, "%s", claim->name + (length > NAME_BYTES ? length - NAME_BYTES : 0));
    for (char *slash; (slash = strchr(flat, '/')) != NULL;)
        *slash = '_';
    return flat;
}

/* For finding a free number: the directory, and what else has to be free beside the file's name. */
struct original {
    const char *name;
    int fd;
    bool with_reason;
};

static bool is_taken(void *context, unsigned number)
{
    const struct original *original = context;
    name_buffer name, reason;
    name_of_original(name, original->name, number);
    name_of_reason(reason, name);
    return disk_may_have(original->fd, name) ||
           (original->with_reason && disk_may_have(original->fd, reason));
}

/* The first free number; UINT_MAX: none is free. */
static unsigned find_number(const struct claim *claim, int root_fd, bool with_reason)
{
    struct disk_place place;
    char flat[PATH_MAX];
    if (disk_place(&place, root_fd, name_in(claim, root_fd, flat), 0777) != 0)
        return UINT_MAX;
    struct original original = {place.name, place.fd, with_reason};
    unsigned number = name_find_number(is_taken, &original);
    disk_place_leave(&place);
    return number;
}

static int move_to_done(struct claim *claim, struct fault *fault)
{
    int done_fd = claim->spool->done_fd;
    for (unsigned number = 0; number != UINT_MAX; number = find_number(claim, done_fd, false)) {
        char name[PATH_MAX], flat[PATH_MAX];
        name_number_path(name, name_in(claim, done_fd, flat), number);
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
        log_about(claim_subject(claim), LOG_LEVEL_WARNING,
                  "there is another file of this name by now: the original goes to done");
    }
    return move_to_done(claim, fault);
}

static int choose_failed_number(struct claim *claim, struct fault *fault)
{
    claim->note.number = find_number(claim, claim->spool->failed_fd, true);
    if (claim->note.number == UINT_MAX)
        return fault_set(fault, FAULT_CREATE, "%s/failed: no name is free",
                         claim->spool->hidden_path);
    return 0;
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
static int write_reason(const struct claim *claim, const char *original, int failed_fd,
                        name_buffer reason, struct fault *fault)
{
    const struct spool *spool = claim->spool;
    name_buffer name, temporary;
    char tag[SPOOL_INSTANCE_ID + 32];
    name_of_original(name, original, claim->note.number);
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
    char name[PATH_MAX], flat[PATH_MAX];
    const char *original = name_in(claim, spool->failed_fd, flat);
    if (disk_place(&place, spool->failed_fd, original, 0777) != 0) {
        blame(claim, "failed", fault);
        return -1;
    }
    int result = write_reason(claim, place.name, place.fd, reason, fault);
    int error = 0;
    if (result == 0) {
        name_number_path(name, original, claim->note.number);
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
        if (why.code != FAULT_NONE || choose_failed_number(claim, &why) != 0 ||
            claim_write_note(claim, &why) != 0)
            return fault_set(fault, why.code, "%s", why.text);
    return 0;
}

int claim_give_back(struct claim *claim, struct fault *fault)
{
    int result = claim->spool->in_place ? remove_file(claim)
                                        : move_out(claim, claim->spool->in_fd, claim->name);
    return result == 0 ? 0 : fault_set_errno(fault, FAULT_CREATE, claim->spool->in_path);
}
