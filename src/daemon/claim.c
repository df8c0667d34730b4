#include "daemon/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "daemon/disk.h"
#include "daemon/name.h"

/* The file's path below the instance's folder. */
typedef char claim_path[sizeof((struct claim *)0)->folder + 1 + NAME_BYTES + 1];

static const char *path_of(const struct claim *claim, claim_path path)
{
    snprintf(path, sizeof(claim_path), "%s/%s", claim->folder, claim->name);
    return path;
}

void claim_destroy(struct claim **claim)
{
    if (!*claim)
        return;
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

/* Whoever swapped the file between look and claim gets the other one back. */
static bool is_expected(const struct claim *claim, const struct identity *expected)
{
    struct stat status;
    claim_path path;
    return fstatat(claim->spool->instance_fd, path_of(claim, path), &status, AT_SYMLINK_NOFOLLOW) ==
               0 &&
           S_ISREG(status.st_mode) && status.st_dev == expected->device &&
           status.st_ino == expected->inode;
}

static int take(struct claim *claim, const struct identity *expected, struct fault *fault)
{
    const struct spool *spool = claim->spool;
    claim_path path;
    if (mkdirat(spool->instance_fd, claim->folder, 0700) != 0)
        return fault_set_errno(fault, FAULT_CREATE, "a folder for a claimed file");
    if (renameat(spool->in_fd, claim->name, spool->instance_fd, path_of(claim, path)) != 0) {
        int error = errno;
        remove_folder(claim);
        errno = error;
        return error == ENOENT ? fault_set(fault, FAULT_BUSY, "gone")
                               : fault_set_errno(fault, FAULT_IO, "claim");
    }
    if (is_expected(claim, expected))
        return 0;
    if (claim_give_back(claim, NULL) != 0)
        log_warning("%s: another file was claimed in its place, and stays claimed", claim->name);
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
    (void)kind;
    if (name[0] == '.')
        return 0;
    snprintf(context, sizeof(name_buffer), "%s", name);
    return 1;
}

static void remove_empty(int other_fd, int folder_fd, const char *folder)
{
    note_remove(folder_fd);
    unlinkat(other_fd, folder, AT_REMOVEDIR);
}

/* Ten interruptions in a row with nothing else going on point at the file; any other one may have
 * had another cause. The count is written before the mark is taken away: better twice than never.
 */
static void count_interruption(struct claim *claim, int folder_fd)
{
    bool alone;
    struct fault fault = FAULT_INIT;
    if (!note_has_begun(folder_fd, &alone))
        return;
    claim->note.interruptions++;
    claim->note.alone = alone ? claim->note.alone + 1 : 0;
    if (note_write(folder_fd, &claim->note, &fault) == 0)
        note_clear_begun(folder_fd);
    else
        log_warning("%s: its interruption is not noted: %s", claim->name, fault.text);
}

static int move_in(struct claim *claim, int other_fd, int folder_fd, const char *folder,
                   struct fault *fault)
{
    struct fault damaged = FAULT_INIT;
    claim->recovered = true;
    if (renameat(other_fd, folder, claim->spool->instance_fd, claim->folder) != 0)
        return fault_set_errno(fault, FAULT_IO, "take over a claimed file");
    if (note_read(folder_fd, &claim->note, &damaged) != 0)
        log_warning("%s: %s: done again from the start", claim->name, damaged.text);
    count_interruption(claim, folder_fd);
    return 0;
}

int claim_adopt(struct claim **claim, struct spool *spool, int other_fd, const char *folder,
                struct fault *fault)
{
    name_buffer name = "";
    *claim = NULL;
    int folder_fd = disk_open_directory(other_fd, folder, 0);
    if (folder_fd < 0)
        return fault_set_errno(fault, FAULT_IO, "open a claim's folder");
    int result = 0;
    if (disk_list(folder_fd, keep_visible_name, name) < 0)
        result = fault_set_errno(fault, FAULT_IO, "read a claim's folder");
    else if (!name[0])
        remove_empty(other_fd, folder_fd, folder);
    else if ((*claim = create(spool, name)) == NULL)
        result = fault_set(fault, FAULT_MEMORY, "no memory for a claim");
    else
        result = move_in(*claim, other_fd, folder_fd, folder, fault);
    close(folder_fd);
    if (result != 0)
        claim_destroy(claim);
    return result;
}

int claim_open(struct claim *claim, int *fd, struct fault *fault)
{
    struct stat status;
    claim_path path;
    *fd = openat(claim->spool->instance_fd, path_of(claim, path),
                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*fd < 0)
        return fault_set_errno(fault, errno == ENOENT ? FAULT_NO_INPUT : FAULT_IO, "open");
    if (fstat(*fd, &status) == 0 && S_ISREG(status.st_mode)) {
        claim->identity = identity_of(&status);
        return 0;
    }
    close(*fd);
    *fd = -1;
    return fault_set(fault, FAULT_NO_INPUT, "no regular file");
}

bool claim_is_unchanged(const struct claim *claim, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return false;
    struct identity now = identity_of(&status);
    return identity_equal(&now, &claim->identity);
}

int claim_open_folder(const struct claim *claim)
{
    return disk_open_directory(claim->spool->instance_fd, claim->folder, 0);
}

int claim_mark_begun(struct claim *claim, bool alone, struct fault *fault)
{
    int folder = claim_open_folder(claim);
    if (folder < 0)
        return fault_set_errno(fault, FAULT_IO, "open a claim's folder");
    /* The mark of a file that went down with us before is made to last: it may be why. */
    int result = note_mark_begun(folder, alone, claim->recovered, fault);
    close(folder);
    return result;
}

void claim_clear_begun(struct claim *claim)
{
    int folder = claim_open_folder(claim);
    if (folder < 0)
        return;
    note_clear_begun(folder);
    close(folder);
}

int claim_write_note(struct claim *claim, struct fault *fault)
{
    int folder = claim_open_folder(claim);
    if (folder < 0)
        return fault_set_errno(fault, FAULT_IO, "open a claim's folder");
    int result = note_write(folder, &claim->note, fault);
    close(folder);
    return result;
}

/* Moves the file to `name` in another directory, then takes the folder away: in this order, so that
 * at every moment there is either a file with its note or no claim. EEXIST: there is such a file.
 */
static int move_out(struct claim *claim, int to_fd, const char *name)
{
    claim_path path;
    if (disk_rename_new(claim->spool->instance_fd, path_of(claim, path), to_fd, name) != 0)
        return -1;
    int folder = claim_open_folder(claim);
    if (folder >= 0) {
        note_remove(folder);
        close(folder);
    }
    remove_folder(claim);
    return 0;
}

/* Whether a number is taken in one directory: by the file, or by what belongs beside it. */
struct taken {
    const char *name;
    int directory_fd;
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
    name_of_original(name, taken->name, number);
    name_of_reason(reason, name);
    return exists(taken->directory_fd, name) ||
           (taken->with_reason && exists(taken->directory_fd, reason));
}

int claim_done(struct claim *claim, struct fault *fault)
{
    struct taken taken = {claim->name, claim->spool->done_fd, false};
    for (unsigned number = 0; number != UINT_MAX; number = name_find_number(is_taken, &taken)) {
        name_buffer name;
        name_of_original(name, claim->name, number);
        if (move_out(claim, claim->spool->done_fd, name) == 0)
            return 0;
        if (errno != EEXIST)
            return fault_set_errno(fault, FAULT_IO, "move the original to done");
    }
    return fault_set(fault, FAULT_CREATE, "no free name in done");
}

static int choose_failed_number(struct claim *claim, struct fault *fault)
{
    struct taken taken = {claim->name, claim->spool->failed_fd, true};
    claim->note.number = name_find_number(is_taken, &taken);
    if (claim->note.number == UINT_MAX)
        return fault_set(fault, FAULT_CREATE, "no free name in failed");
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
    return choose_failed_number(claim, fault);
}

/* The reason first, so that no file stands in failed without one. 0, or −1 and errno of the move;
 * EEXIST: there is a file of that name, which came after the number was chosen. */
static int place_failed(struct claim *claim, struct fault *fault)
{
    const struct spool *spool = claim->spool;
    name_buffer name, reason, temporary;
    char tag[SPOOL_INSTANCE_ID + 32];
    name_of_original(name, claim->name, claim->note.number);
    name_of_reason(reason, name);
    snprintf(tag, sizeof tag, "%s-%s", spool->instance, claim->folder);
    name_of_temporary(temporary, reason, tag);
    const char *text = claim->note.reason;
    if (disk_write_file(spool->failed_fd, reason, temporary, text, strlen(text), fault) != 0)
        return -1;
    if (move_out(claim, spool->failed_fd, name) == 0)
        return 0;
    int error = errno;
    if (error == EEXIST)
        unlinkat(spool->failed_fd, reason, 0);
    else
        fault_set_errno(fault, FAULT_IO, "move the original to failed");
    errno = error;
    return -1;
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
    if (move_out(claim, claim->spool->in_fd, claim->name) == 0)
        return 0;
    return fault_set_errno(fault, FAULT_CREATE, "give the file back");
}
