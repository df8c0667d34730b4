#include "daemon/spool/draft.h"

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

/* The temporary name of a result. It is the same when it is made from the claim and, after a
 * restart, from its note. The plane is not part of it, since the first draft is opened before the
 * planes are known. */
static void temporary_name(name_buffer name, const struct claim *claim, const char *tag,
                           const char *extension, size_t index)
{
    char whole_tag[80];
    name_buffer final;
    name_of_result(final, claim_base(claim), 0, "", extension);
    snprintf(whole_tag, sizeof whole_tag, "%.47s-%zu", tag, index);
    name_of_temporary(name, final, whole_tag);
}

/* A result's second name, a hard link, from before the decision until the original has moved. It
 * shows later that the result was there even if somebody has taken it from OUT. It lies in the
 * claim's folder or, where OUT is on another file system, in OUT. There it is as long as the
 * temporary name, so that both are shortened at the same place. */
struct reservation {
    char kept[sizeof((struct claim *)0)->folder + sizeof NOTE_RESULT + 20]; /* below the instance */
    name_buffer in_out;
    name_buffer empty; /* in OUT, where there are no hard links: an empty file */
};

static void reservation_of(struct reservation *r, const struct claim *claim, size_t index,
                           const char *temporary)
{
    snprintf(r->kept, sizeof r->kept, "%s/" NOTE_RESULT, claim->folder, index);
    snprintf(r->in_out, sizeof r->in_out, "%s", temporary);
    snprintf(r->empty, sizeof r->empty, "%s", temporary);
    *strrchr(r->in_out, '-') = '+';
    *strrchr(r->empty, '-') = '=';
}

static void unreserve(const struct reservation *r, const struct claim *claim, int fd)
{
    unlinkat(claim->spool->instance_fd, r->kept, 0);
    unlinkat(fd, r->in_out, 0);
    unlinkat(fd, r->empty, 0);
}

static void remove_temporary(const struct claim *claim, size_t index, int fd, const char *temporary)
{
    struct reservation reservation;
    reservation_of(&reservation, claim, index, temporary);
    unlinkat(fd, temporary, 0);
    unreserve(&reservation, claim, fd);
}

/* FAULT_CREATE: OUT can never have a file of this name, in this folder. */
static int blame_out(const struct claim *claim, struct fault *fault)
{
    return fault_set_errno(fault, disk_refuses_name(errno) ? FAULT_CREATE : FAULT_IO,
                           claim->spool->out_path);
}

/* Its folder is the same one below OUT that its file had below IN. */
int draft_open(struct draft *draft, const struct claim *claim, size_t index, const char *extension,
               struct fault *fault)
{
    char tag[48], path[PATH_MAX];
    struct disk_place place;
    name_buffer name;
    *draft = (struct draft)DRAFT_INIT;
    snprintf(tag, sizeof tag, "%s-%s", claim->spool->instance, claim->folder);
    temporary_name(name, claim, tag, extension, index);
    snprintf(path, sizeof path, "%.*s%s", (int)(claim_base(claim) - claim->name), claim->name,
             name);
    if (disk_place(&place, claim->spool->out_fd, claim->name, 0777) != 0)
        return blame_out(claim, fault);
    draft->temporary = strdup(path);
    if (draft->temporary) {
        remove_temporary(claim, index, place.fd, name); /* left by an earlier try */
        draft->fd =
            openat(place.fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    disk_place_leave(&place);
    if (draft->fd >= 0)
        return 0;
    if (!draft->temporary)
        return fault_set(fault, FAULT_MEMORY, "no memory for a name");
    int result = blame_out(claim, fault);
    free(draft->temporary);
    draft->temporary = NULL;
    return result;
}

void draft_forget(struct draft *draft)
{
    file_close(&draft->fd);
    free(draft->temporary);
    *draft = (struct draft)DRAFT_INIT;
}

void draft_discard(struct draft *draft, const struct claim *claim, size_t index)
{
    struct disk_place place;
    if (draft->temporary && disk_place(&place, claim->spool->out_fd, draft->temporary, 0) == 0) {
        remove_temporary(claim, index, place.fd, place.name);
        disk_place_leave(&place);
    }
    draft_forget(draft);
}

/* Makes the reservation: a hard link, which the sync of the result covers, or an empty file where
 * there are no hard links, which is synced here. */
static int reserve(const struct draft *draft, const struct claim *claim, size_t index)
{
    struct disk_place place;
    struct reservation r;
    if (disk_place(&place, claim->spool->out_fd, draft->temporary, 0) != 0)
        return -1;
    reservation_of(&r, claim, index, place.name);
    int result = linkat(place.fd, place.name, claim->spool->instance_fd, r.kept, 0);
    if (result != 0)
        result = linkat(place.fd, place.name, place.fd, r.in_out, 0);
    if (result != 0) {
        int fd =
            openat(place.fd, r.empty, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        result = fd < 0 || (claim->spool->rules->sync != SYNC_OFF && fsync(fd) != 0) ? -1 : 0;
        file_close(&fd);
    }
    disk_place_leave(&place);
    return result;
}

static int describe(struct draft *draft, const struct claim *claim, size_t index,
                    struct note_result *result, struct fault *fault)
{
    struct stat status;
    /* before the sync, since what is synced is what is placed */
    if (disk_end_writing(&draft->fd) != 0)
        return errno == ETXTBSY ? fault_set(fault, FAULT_CRASHED,
                                            "the worker kept a result open after it had said that "
                                            "it was done")
                                : fault_set_errno(fault, FAULT_IO, claim->spool->out_path);
    if (reserve(draft, claim, index) != 0 || fstat(draft->fd, &status) != 0)
        return fault_set_errno(fault, FAULT_IO, claim->spool->out_path);
    struct identity identity = identity_of(&status);
    result->size = identity.size;
    result->mtime = identity.mtime;
    snprintf(result->plane, sizeof result->plane, "%s", draft->plane);
    return 0;
}

void draft_final_name(const struct claim *claim, size_t index, char name[256])
{
    const struct note *note = &claim->note;
    name_of_result(name, note->base, note->number, note->results[index].plane, note->extension);
}

struct results {
    const struct claim *claim;
    int out_fd;
};

/* A number is taken when any of the results would find its name taken, since all get the same
 * number. */
static bool is_taken(void *context, unsigned number)
{
    const struct results *results = context;
    const struct note *note = &results->claim->note;
    for (size_t i = 0; i < note->n_results; i++) {
        name_buffer name;
        name_of_result(name, note->base, number, note->results[i].plane, note->extension);
        if (disk_may_have(results->out_fd, name))
            return true;
    }
    return false;
}

/* Chooses the number by the folder's rule for existing names. */
static int choose_number(struct claim *claim, int place_fd, struct fault *fault)
{
    struct results results = {claim, place_fd};
    struct note *note = &claim->note;
    note->number = 0;
    if (note->on_exists == EXISTS_FAIL && is_taken(&results, 0)) {
        name_buffer name;
        draft_final_name(claim, 0, name);
        return fault_set(fault, FAULT_EXISTS, "%s is there already (on_exists: fail)", name);
    }
    if (note->on_exists == EXISTS_NUMBER)
        note->number = name_find_number(is_taken, &results);
    if (note->number != UINT_MAX)
        return 0;
    name_buffer name;
    draft_final_name(claim, 0, name);
    errno = 0;
    if (faccessat(place_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT)
        return blame_out(claim, fault);
    return fault_set(fault, FAULT_CREATE, "no free name in %s", claim->spool->out_path);
}

void draft_base(const struct spool *spool, const char *original, const char *extension,
                const char *day, char base[256])
{
    const struct watch_settings *rules = spool->rules;
    struct name_parts parts = {.original = path_name(original),
                               .chain = rules->chain_name ? rules->chain_name : rules->chain,
                               .extension = extension,
                               .day = day};
    name_expand(base, rules->name, &parts);
}

static int prepare(struct claim *claim, const char *extension, struct fault *fault)
{
    struct note *note = &claim->note;
    struct disk_place place;
    char day[NAME_DAY_MAX];
    note->verdict = NOTE_DONE;
    note->on_exists = claim->spool->rules->on_exists;
    snprintf(note->extension, sizeof note->extension, "%s", extension);
    name_today(day);
    draft_base(claim->spool, claim->name, extension, day, note->base);
    snprintf(note->tag, sizeof note->tag, "%s-%s", claim->spool->instance, claim->folder);
    if (disk_place(&place, claim->spool->out_fd, claim->name, 0777) != 0)
        return blame_out(claim, fault);
    int result = choose_number(claim, place.fd, fault);
    disk_place_leave(&place);
    return result == 0 ? claim_prepare_note(claim, fault) : result;
}

int drafts_prepare(struct draft *drafts, size_t count, struct claim *claim, const char *extension,
                   struct fault *fault)
{
    struct note *note = &claim->note;
    struct note_result *results = calloc(count + 1, sizeof *results);
    if (!results)
        return fault_set(fault, FAULT_MEMORY, "no memory for results");
    for (size_t i = 0; i < count; i++) {
        int result = describe(&drafts[i], claim, i, &results[i], fault);
        if (result != 0) {
            free(results);
            return result;
        }
    }
    free(note->results);
    note->results = results;
    note->n_results = count;
    int result = prepare(claim, extension, fault);
    if (result != 0)
        note->verdict = NOTE_OPEN;
    return result;
}

/* Whether the file is the result that the note describes, by size and time. File systems that keep
 * whole seconds lose the rest of a time when they are mounted again. Two results written in the
 * same tick of the kernel's clock cannot be told apart in this way, so callers look for the
 * temporary name first, which only one claim has. `inode` may be NULL.
 * When it is not, errno is 0 or ENOENT; another value means that nobody can tell. */
static bool is_result(int out_fd, const char *name, const struct note_result *result, ino_t *inode)
{
    struct stat status;
    if (fstatat(out_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    errno = 0;
    if (!S_ISREG(status.st_mode))
        return false;
    struct identity found = identity_of(&status);
    int64_t apart = llabs(found.mtime - result->mtime);
    bool coarse = found.mtime % 1000000000 == 0 && apart <= 2000000000;
    if (inode)
        *inode = status.st_ino;
    return found.size == result->size && (apart == 0 || coarse);
}

/* All names of one result of a verdict, without the folders on the way. */
struct names {
    name_buffer final, temporary;
    struct reservation reservation;
};

static void names_of(struct names *names, const struct claim *claim, size_t index)
{
    draft_final_name(claim, index, names->final);
    temporary_name(names->temporary, claim, claim->note.tag, claim->note.extension, index);
    reservation_of(&names->reservation, claim, index, names->temporary);
}

/* Whether the result's reservation is there. `inode` becomes the result's if the reservation is a
 * hard link, else 0. When it is not there, errno is ENOENT; another value means that nobody can
 * tell. A link to something of another size shows that the result was never whole on the disk. */
static bool is_reserved(const struct claim *claim, int fd, const struct reservation *r,
                        const struct note_result *result, ino_t *inode)
{
    struct stat status;
    *inode = 0;
    if (fstatat(claim->spool->instance_fd, r->kept, &status, AT_SYMLINK_NOFOLLOW) != 0 &&
        (errno != ENOENT || fstatat(fd, r->in_out, &status, AT_SYMLINK_NOFOLLOW) != 0))
        return errno == ENOENT && fstatat(fd, r->empty, &status, AT_SYMLINK_NOFOLLOW) == 0;
    *inode = status.st_ino;
    errno = ENOENT;
    return status.st_size == result->size;
}

/* Where there are no hard links, a run that ended within disk_rename_new left an empty file. */
static bool is_our_empty(const struct claim *claim, int fd, const struct names *names)
{
    struct stat status;
    return claim->recovered &&
           fstatat(fd, names->reservation.empty, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(fd, names->final, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode) && status.st_size == 0;
}

/* Gives one result its final name. Returns 0, or −1 and errno: EEXIST: another file has the name;
 * ENOENT: the result is gone without having had its name. A result that had its name and was taken
 * away by somebody has left its reservation, and counts as placed. */
static int place_one(const struct claim *claim, int fd, size_t index)
{
    const struct note_result *result = &claim->note.results[index];
    struct names names;
    ino_t placed = 0, waiting = 0, reserved;
    names_of(&names, claim, index);
    bool is_placed = is_result(fd, names.final, result, &placed);
    if (!is_placed && errno != 0 && errno != ENOENT)
        return -1;
    bool waits = is_result(fd, names.temporary, result, &waiting);
    if (!waits && errno != 0 && errno != ENOENT)
        return -1;
    if (waits && is_placed && placed == waiting) /* interrupted between link and unlink */
        return unlinkat(fd, names.temporary, 0);
    if (!waits)
        return is_placed || is_reserved(claim, fd, &names.reservation, result, &reserved) ? 0 : -1;
    return claim->note.on_exists == EXISTS_OVERWRITE || is_our_empty(claim, fd, &names)
               ? renameat(fd, names.temporary, fd, names.final)
               : disk_rename_new(fd, names.temporary, fd, names.final);
}

/* Takes away names that were given under a number that turned out to be taken. */
static void take_back(const struct claim *claim, int fd)
{
    const struct note *note = &claim->note;
    for (size_t i = 0; i < note->n_results; i++) {
        struct names names;
        names_of(&names, claim, i);
        if (!is_result(fd, names.temporary, &note->results[i], NULL) &&
            is_result(fd, names.final, &note->results[i], NULL) &&
            disk_rename_new(fd, names.final, fd, names.temporary) != 0)
            log_about(claim_subject(claim), LOG_LEVEL_WARNING,
                      "%s stays beside the result under another number", names.final);
    }
}

/* Removes the results under whichever name they have. */
static void remove_results(const struct claim *claim, int fd)
{
    for (size_t i = 0; i < claim->note.n_results; i++) {
        const struct note_result *result = &claim->note.results[i];
        struct names names;
        ino_t placed, reserved = 0;
        names_of(&names, claim, i);
        is_reserved(claim, fd, &names.reservation, result, &reserved);
        if (!is_result(fd, names.temporary, result, NULL) &&
            is_result(fd, names.final, result, &placed) && (reserved == 0 || placed == reserved))
            unlinkat(fd, names.final, 0);
        remove_temporary(claim, i, fd, names.temporary);
    }
}

static void take_verdict_back(struct claim *claim)
{
    struct fault fault = FAULT_INIT;
    claim->note.verdict = NOTE_OPEN;
    if (claim_write_note(claim, &fault) != 0)
        log_about(claim_subject(claim), LOG_LEVEL_WARNING, "its note could not be renewed: %s",
                  fault.text);
}

static int place_all(const struct claim *claim, int fd)
{
    for (size_t i = 0; i < claim->note.n_results; i++)
        if (place_one(claim, fd, i) != 0)
            return -1;
    return 0;
}

static int place_or_number(struct claim *claim, int fd, struct fault *fault)
{
    while (place_all(claim, fd) != 0) {
        if (errno == ENOENT)
            return fault_set(fault, FAULT_NO_INPUT, "the result is gone");
        if (errno != EEXIST)
            return blame_out(claim, fault);
        take_back(claim, fd);
        int result = choose_number(claim, fd, fault);
        if (result == 0)
            result = claim_write_note(claim, fault);
        if (result != 0 && result != FAULT_EXISTS) { /* it is unknown which number is on the disk */
            remove_results(claim, fd);
            take_verdict_back(claim);
        }
        if (result != 0)
            return result;
    }
    return 0;
}

int drafts_place(struct claim *claim, int out_fd, struct fault *fault)
{
    struct disk_place place;
    if (disk_place(&place, out_fd, claim->name, 0777) != 0)
        return blame_out(claim, fault);
    int result = place_or_number(claim, place.fd, fault);
    disk_place_leave(&place);
    return result;
}

void drafts_withdraw(const struct claim *claim, int out_fd)
{
    struct disk_place place;
    if (disk_place(&place, out_fd, claim->name, 0777) != 0)
        return;
    remove_results(claim, place.fd);
    disk_place_leave(&place);
}

void drafts_void(struct claim *claim, int out_fd)
{
    if (claim->spool->rules->sync != SYNC_OFF &&
        (disk_sync_directory(out_fd) != 0 || disk_sync_directory(claim->spool->instance_fd) != 0))
        return;
    if (claim->note.verdict == NOTE_DONE)
        drafts_withdraw(claim, out_fd);
    take_verdict_back(claim);
}

bool drafts_are_reserved_in(const struct claim *claim, int out_fd)
{
    struct disk_place place;
    struct stat status;
    bool found = false;
    if (disk_place(&place, out_fd, claim->name, 0) != 0)
        return false;
    for (size_t i = 0; i < claim->note.n_results && !found; i++) {
        struct names names;
        names_of(&names, claim, i);
        found = fstatat(place.fd, names.reservation.in_out, &status, AT_SYMLINK_NOFOLLOW) == 0 ||
                fstatat(place.fd, names.reservation.empty, &status, AT_SYMLINK_NOFOLLOW) == 0;
    }
    disk_place_leave(&place);
    return found;
}

void drafts_release(const struct claim *claim, int out_fd)
{
    struct disk_place place;
    if (disk_place(&place, out_fd, claim->name, 0777) != 0)
        return;
    for (size_t i = 0; i < claim->note.n_results; i++) {
        struct names names;
        names_of(&names, claim, i);
        unreserve(&names.reservation, claim, place.fd);
    }
    disk_place_leave(&place);
}

static int sync_result(const struct claim *claim, int fd, size_t index)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct names names;
    names_of(&names, claim, index);
    int result_fd = openat(fd, names.temporary, flags);
    if (result_fd < 0 && is_result(fd, names.final, &claim->note.results[index], NULL))
        result_fd = openat(fd, names.final, flags);
    int result = result_fd < 0 ? 0 : fsync(result_fd);
    file_close(&result_fd);
    return result;
}

int drafts_sync(const struct claim *claim, int out_fd)
{
    struct disk_place place;
    int result = 0;
    if (claim->spool->rules->sync == SYNC_OFF)
        return 0;
    if (disk_place(&place, out_fd, claim->name, 0777) != 0)
        return -1;
    for (size_t i = 0; i < claim->note.n_results && result == 0; i++)
        result = sync_result(claim, place.fd, i);
    disk_place_leave(&place);
    return result;
}

int drafts_sync_names(const struct claim *claim, int out_fd)
{
    if (claim->spool->rules->sync == SYNC_OFF)
        return 0;
    if (strchr(claim->name, '/')) /* folders on the way may be new: sync them, too */
        return syncfs(out_fd);
    return disk_sync_directory(out_fd);
}
