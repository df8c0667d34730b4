/* A result's life on disk: drafted under a hidden name, described in the note, placed under its
 * final name, and released when the original has moved. */
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

/* ---- names ---- */

/* All names of one result, without the folders on the way. They are the same when they are made
 * from the claim and, after a restart, from its note. The plane is not part of the temporary one,
 * since the first draft is opened before the planes are known.
 *
 * A result has a reservation from before the decision until the original has moved: a second name,
 * a hard link. It shows later that the result was there even if somebody has taken it from OUT. It
 * lies in the claim's folder or, where OUT is on another file system, in OUT. There it is as long
 * as the temporary name, so that both are shortened at the same place. */
struct names {
    name_buffer temporary;
    name_buffer final; /* once there is a verdict */
    char
        kept[sizeof((struct claim *)0)->folder + sizeof CLAIM_RESULT + 20]; /* below the instance */
    name_buffer in_out;
    name_buffer empty; /* in OUT, where there are no hard links: an empty file */
};

static void names_of(struct names *names, const struct claim *claim, size_t index)
{
    const struct note *note = &claim->note;
    unsigned of = index < note->n_results ? note->results[index].of : claim->drafts[index].of;
    char tag[80];
    name_buffer plain;
    name_of_result(plain, claim->base, 0, "", note->names[of].extension);
    snprintf(tag, sizeof tag, "%.47s-%zu", note->tag, index);
    name_of_temporary(names->temporary, plain, tag);
    names->final[0] = '\0';
    if (index < note->n_results)
        claim_file_name(note, index, note->number, names->final);
    snprintf(names->kept, sizeof names->kept, "%s/" CLAIM_RESULT, claim->folder, index);
    snprintf(names->in_out, sizeof names->in_out, "%s", names->temporary);
    snprintf(names->empty, sizeof names->empty, "%s", names->temporary);
    *strrchr(names->in_out, '-') = '+';
    *strrchr(names->empty, '-') = '=';
}

static void unreserve(const struct names *names, const struct claim *claim, int fd)
{
    unlinkat(claim->spool->instance_fd, names->kept, 0);
    unlinkat(fd, names->in_out, 0);
    unlinkat(fd, names->empty, 0);
}

static int blame_out(const struct claim *claim, struct fault *fault)
{
    return fault_set_errno(fault, disk_refuses_name(errno) ? FAULT_CREATE : FAULT_IO,
                           claim->spool->out_path);
}

void result_base(const struct spool *spool, size_t of, const char *original, const char *extension,
                 const char *day, name_buffer base)
{
    const struct watch_settings *rules = spool->rules;
    char template[256], chain[512];
    struct name_parts parts = {.original = path_name(original),
                               .chain =
                                   watch_part(rules->chain_name ? rules->chain_name : rules->chain,
                                              of, chain, sizeof chain),
                               .extension = extension,
                               .day = day};
    name_expand(base, watch_part(rules->name, of, template, sizeof template), &parts);
}

/* ---- where results go ---- */

/* The directory of a result in OUT: its folder, and in that the one that its file had below IN. */
static int place_of(struct disk_place *place, const struct claim *claim, unsigned of, mode_t mode)
{
    const char *folder = claim->note.names[of].folder;
    char path[PATH_MAX + sizeof claim->note.names->folder + 1];
    snprintf(path, sizeof path, "%s%s%s", folder, folder[0] ? "/" : "", claim->name);
    int result = disk_place(place, claim->out_fd, path, mode);
    place->name = NULL; /* it would lie in `path` */
    return result;
}

/* Those of all results. Results that go to one folder share its descriptor. */
struct places {
    size_t n;
    unsigned same[WATCH_RESULTS_MAX]; /* the first result that goes there, too */
    struct disk_place list[WATCH_RESULTS_MAX];
};

/* errno stays as it was. */
static void leave_places(struct places *places)
{
    for (unsigned of = 0; of < places->n; of++)
        if (places->same[of] == of)
            disk_place_leave(&places->list[of]);
    places->n = 0;
}

static int open_places(struct places *places, const struct claim *claim, mode_t mode)
{
    const struct note *note = &claim->note;
    places->n = 0;
    for (unsigned of = 0; of < note->n_names && of < WATCH_RESULTS_MAX; of++) {
        unsigned same = 0;
        while (strcmp(note->names[same].folder, note->names[of].folder) != 0)
            same++;
        places->same[of] = same;
        if (same == of && place_of(&places->list[of], claim, of, mode) != 0) {
            leave_places(places);
            return -1;
        }
        places->list[of] = places->list[same];
        places->n++;
    }
    return 0;
}

/* ---- drafts ---- */

int drafts_add(struct claim *claim, unsigned of, const char *plane, const char *extensions,
               struct fault *fault)
{
    struct note *note = &claim->note;
    const struct watch_settings *rules = claim->spool->rules;
    struct disk_place place;
    struct names names;
    if (of >= watch_count_results(rules))
        return fault_set(fault, FAULT_INTERNAL, "the worker has a result that nobody asked for");
    struct draft *drafts = realloc(claim->drafts, (claim->n_drafts + 1) * sizeof *drafts);
    if (drafts)
        claim->drafts = drafts;
    if (!drafts || !note_add_name(note, of))
        return fault_set(fault, FAULT_MEMORY, "no memory for a result");
    struct note_name *name = &note->names[of];
    snprintf(note->tag, sizeof note->tag, "%s-%s", claim->spool->instance, claim->folder);
    watch_part(extensions, of, name->extension, sizeof name->extension);
    watch_part(rules->folder, of, name->folder, sizeof name->folder);
    if (place_of(&place, claim, of, 0777) != 0)
        return blame_out(claim, fault);
    struct draft *draft = &drafts[claim->n_drafts];
    *draft = (struct draft){.fd = -1, .of = of};
    snprintf(draft->plane, sizeof draft->plane, "%s", plane);
    note->n_results = 0; /* those of an earlier verdict, which was taken back */
    names_of(&names, claim, claim->n_drafts);
    if (note->attempts > 0 || claim->recovered) { /* left by an earlier try */
        unlinkat(place.fd, names.temporary, 0);
        unreserve(&names, claim, place.fd);
    }
    draft->fd =
        openat(place.fd, names.temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    disk_place_leave(&place);
    if (draft->fd < 0)
        return blame_out(claim, fault);
    claim->n_drafts++;
    return 0;
}

void drafts_forget(struct claim *claim)
{
    while (claim->n_drafts > 0)
        file_close(&claim->drafts[--claim->n_drafts].fd);
}

void drafts_discard(struct claim *claim)
{
    struct disk_place place;
    struct names names;
    for (size_t i = 0; i < claim->n_drafts; i++) {
        if (place_of(&place, claim, claim->drafts[i].of, 0) != 0)
            continue;
        names_of(&names, claim, i);
        unlinkat(place.fd, names.temporary, 0);
        unreserve(&names, claim, place.fd);
        disk_place_leave(&place);
    }
    drafts_forget(claim);
}

/* ---- the verdict ---- */

struct results {
    const struct claim *claim;
    const struct places *places;
};

/* A number is taken when any of the results would find its name taken, since all get the same
 * number. */
static bool is_taken(void *context, unsigned number)
{
    const struct results *results = context;
    const struct note *note = &results->claim->note;
    for (size_t i = 0; i < note->n_results; i++) {
        name_buffer name;
        claim_file_name(note, i, number, name);
        if (disk_may_have(results->places->list[note->results[i].of].fd, name))
            return true;
    }
    return false;
}

/* Chooses the number by the folder's rule for existing names. */
static int choose_number(struct claim *claim, const struct places *places, struct fault *fault)
{
    struct results results = {claim, places};
    struct note *note = &claim->note;
    name_buffer name;
    for (size_t k = 0; k < note->n_names; k++)
        for (size_t i = 0; i < k; i++)
            if (strcmp(note->names[i].base, note->names[k].base) == 0 &&
                strcmp(note->names[i].extension, note->names[k].extension) == 0 &&
                strcmp(note->names[i].folder, note->names[k].folder) == 0)
                return fault_set(fault, FAULT_EXISTS, "results %zu and %zu would both be %s", i + 1,
                                 k + 1, note->names[k].base);
    note->number = 0;
    if (note->on_exists == EXISTS_NUMBER)
        note->number = name_find_number(is_taken, &results);
    bool refused = note->on_exists == EXISTS_FAIL && is_taken(&results, 0);
    if (note->number != UINT_MAX && !refused)
        return 0;
    size_t taken = 0;
    while (refused && taken + 1 < note->n_results) {
        claim_file_name(note, taken, note->number, name);
        if (disk_may_have(places->list[note->results[taken].of].fd, name))
            break;
        taken++;
    }
    claim_file_name(note, taken, note->number, name);
    int fd = places->list[note->results[taken].of].fd;
    if (refused)
        return fault_set(fault, FAULT_EXISTS, "%s is there already (on_exists: fail)", name);
    errno = 0;
    if (faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT)
        return blame_out(claim, fault);
    return fault_set(fault, FAULT_CREATE, "no free name in %s", claim->spool->out_path);
}

int drafts_prepare(struct claim *claim, struct fault *fault)
{
    struct note *note = &claim->note;
    struct places places;
    struct stat status;
    struct note_result *results = calloc(claim->n_drafts + 1, sizeof *results);
    if (!results)
        return fault_set(fault, FAULT_MEMORY, "no memory for results");
    int result = 0;
    if (open_places(&places, claim, 0) != 0)
        result = fault_set_errno(fault, FAULT_IO, claim->spool->out_path);
    for (size_t i = 0; result == 0 && i < claim->n_drafts; i++) {
        struct draft *draft = &claim->drafts[i];
        struct names names;
        int out_fd = places.list[draft->of].fd;
        names_of(&names, claim, i);

        /* Nobody may write to it any more: what is synced later is what is placed. */
        if (disk_end_writing(&draft->fd) != 0) {
            result = errno == ETXTBSY
                         ? fault_set(fault, FAULT_CRASHED,
                                     "the worker kept a result open after it had said that it was "
                                     "done")
                         : fault_set_errno(fault, FAULT_IO, claim->spool->out_path);
            break;
        }

        /* Its reservation: a hard link, which the sync of the result covers, or an empty file where
         * there are no hard links, which is synced here. */
        bool reserved =
            linkat(out_fd, names.temporary, claim->spool->instance_fd, names.kept, 0) == 0;
        if (!reserved) {
            claim->keeps_in_out = true;
            reserved = linkat(out_fd, names.temporary, out_fd, names.in_out, 0) == 0;
        }
        if (!reserved) {
            int fd = openat(out_fd, names.empty,
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
            reserved = fd >= 0 && (!claim->spool->syncs || fsync(fd) == 0);
            file_close(&fd);
        }

        /* And by what it is recognised. */
        if (!reserved || fstat(draft->fd, &status) != 0) {
            result = fault_set_errno(fault, FAULT_IO, claim->spool->out_path);
            break;
        }
        struct identity identity = identity_of(&status);
        results[i] =
            (struct note_result){.of = draft->of, .size = identity.size, .mtime = identity.mtime};
        snprintf(results[i].plane, sizeof results[i].plane, "%s", draft->plane);
    }
    if (result == 0) {
        char day[NAME_DAY_MAX];
        free(note->results);
        note->results = results;
        note->n_results = claim->n_drafts;
        note->verdict = NOTE_DONE;
        note->on_exists = claim->spool->rules->on_exists;
        name_today(day);
        for (size_t of = 0; of < note->n_names; of++)
            result_base(claim->spool, of, claim->name, note->names[of].extension, day,
                        note->names[of].base);
        result = choose_number(claim, &places, fault);
        if (result == 0)
            result = claim_prepare_note(claim, fault);
        if (result != 0)
            note->verdict = NOTE_OPEN;
    } else {
        free(results);
    }
    leave_places(&places);
    return result;
}

/* ---- results that the note knows ---- */

/* Whether the file is the result that the note describes, by size and time. File systems that keep
 * whole seconds lose the rest of a time when they are mounted again. Two results written in the
 * same tick of the kernel's clock cannot be told apart in this way, so callers look for the
 * temporary name first, which only one claim has. `inode` may be NULL.
 * When it is not, errno is 0 or ENOENT; another value means that nobody can tell. */
static bool is_result(int fd, const char *name, const struct note_result *result, ino_t *inode)
{
    struct stat status;
    if (fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
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

/* Whether the result's reservation is there. `inode` becomes the result's if the reservation is a
 * hard link, else 0. When it is not there, errno is ENOENT; another value means that nobody can
 * tell. A link to something of another size shows that the result was never whole on the disk. */
static bool is_reserved(const struct claim *claim, int fd, const struct names *names,
                        const struct note_result *result, ino_t *inode)
{
    struct stat status;
    *inode = 0;
    if (fstatat(claim->spool->instance_fd, names->kept, &status, AT_SYMLINK_NOFOLLOW) != 0 &&
        (errno != ENOENT || fstatat(fd, names->in_out, &status, AT_SYMLINK_NOFOLLOW) != 0))
        return errno == ENOENT && fstatat(fd, names->empty, &status, AT_SYMLINK_NOFOLLOW) == 0;
    *inode = status.st_ino;
    errno = ENOENT;
    return status.st_size == result->size;
}

/* Removes the results under whichever name they have. */
static void remove_results(const struct claim *claim, const struct places *places)
{
    for (size_t i = 0; i < claim->note.n_results; i++) {
        const struct note_result *result = &claim->note.results[i];
        struct names names;
        int fd = places->list[claim->note.results[i].of].fd;
        ino_t placed, reserved = 0;
        names_of(&names, claim, i);
        is_reserved(claim, fd, &names, result, &reserved);
        if (!is_result(fd, names.temporary, result, NULL) &&
            is_result(fd, names.final, result, &placed) && (reserved == 0 || placed == reserved))
            unlinkat(fd, names.final, 0);
        unlinkat(fd, names.temporary, 0);
        unreserve(&names, claim, fd);
    }
}

static void take_verdict_back(struct claim *claim)
{
    struct fault fault = FAULT_INIT;
    claim->note.verdict = NOTE_OPEN;
    if (claim_write_note(claim, claim->spool->syncs, &fault) != 0)
        log_about(claim_subject(claim), LOG_LEVEL_WARNING, "its note could not be renewed: %s",
                  fault.text);
}

/* Gives one result its final name. Returns 0, or −1 and errno: EEXIST: another file has the name;
 * ENOENT: the result is gone without having had its name. */
static int place_one(const struct claim *claim, int fd, size_t index)
{
    const struct note_result *result = &claim->note.results[index];
    struct names names;
    struct stat status;
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
    if (!waits) /* one that had its name, and was taken away, has left its reservation */
        return is_placed || is_reserved(claim, fd, &names, result, &reserved) ? 0 : -1;
    /* where there are no hard links, a run that ended within disk_rename_new left an empty file */
    bool is_ours = claim->recovered &&
                   fstatat(fd, names.empty, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                   fstatat(fd, names.final, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                   S_ISREG(status.st_mode) && status.st_size == 0;
    return claim->note.on_exists == EXISTS_OVERWRITE || is_ours
               ? renameat(fd, names.temporary, fd, names.final)
               : disk_rename_new(fd, names.temporary, fd, names.final);
}

int results_place(struct claim *claim, struct fault *fault)
{
    const struct note *note = &claim->note;
    struct places places;
    int result = 0;
    if (open_places(&places, claim, 0777) != 0)
        return blame_out(claim, fault);
    for (size_t i = 0; i < note->n_results && result == 0;) {
        if (place_one(claim, places.list[note->results[i].of].fd, i) == 0) {
            i++;
            continue;
        }
        if (errno == ENOENT) {
            result = fault_set(fault, FAULT_NO_INPUT, "the result is gone");
            break;
        }
        if (errno != EEXIST) {
            result = blame_out(claim, fault);
            break;
        }
        /* Another file got the name since the number was chosen: those that have names lose them,
         * and all get another number, which the note must have before they do. */
        for (i = 0; i < note->n_results; i++) {
            struct names names;
            int fd = places.list[claim->note.results[i].of].fd;
            names_of(&names, claim, i);
            if (!is_result(fd, names.temporary, &note->results[i], NULL) &&
                is_result(fd, names.final, &note->results[i], NULL) &&
                disk_rename_new(fd, names.final, fd, names.temporary) != 0)
                log_about(claim_subject(claim), LOG_LEVEL_WARNING,
                          "%s stays beside the result under another number", names.final);
        }
        i = 0;
        result = choose_number(claim, &places, fault);
        if (result == 0)
            result = claim_write_note(claim, claim->spool->syncs, fault);
        if (result != 0 && result != FAULT_EXISTS) { /* it is unknown which number is on the disk */
            remove_results(claim, &places);
            take_verdict_back(claim);
        }
    }
    leave_places(&places);
    return result;
}

int results_sync_names(const struct claim *claim)
{
    const struct note *note = &claim->note;
    struct places places;
    int result = 0;
    bool below = claim->base > claim->name; /* folders on the way may be new: sync them, too */
    for (size_t of = 0; of < note->n_names; of++)
        below |= note->names[of].folder[0] != '\0';
    if (!claim->spool->syncs)
        return 0;
    if (!below)
        return disk_sync_directory(claim->out_fd);
    if (open_places(&places, claim, 0) != 0)
        return -1;
    dev_t done[WATCH_RESULTS_MAX]; /* a folder may be another file system */
    size_t n_done = 0;
    for (unsigned of = 0; of < places.n && result == 0; of++) {
        struct stat status;
        size_t k = 0;
        if (places.same[of] != of || fstat(places.list[of].fd, &status) != 0)
            continue;
        while (k < n_done && done[k] != status.st_dev)
            k++;
        if (k < n_done)
            continue;
        done[n_done++] = status.st_dev;
        result = syncfs(places.list[of].fd);
    }
    leave_places(&places);
    return result;
}

int results_sync(const struct claim *claim)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct places places;
    int result = 0;
    if (!claim->spool->syncs)
        return 0;
    if (open_places(&places, claim, 0777) != 0)
        return -1;
    for (size_t i = 0; i < claim->note.n_results && result == 0; i++) {
        struct names names;
        int out_fd = places.list[claim->note.results[i].of].fd;
        names_of(&names, claim, i);
        int fd = openat(out_fd, names.temporary, flags);
        if (fd < 0 && is_result(out_fd, names.final, &claim->note.results[i], NULL))
            fd = openat(out_fd, names.final, flags);
        result = fd < 0 ? 0 : fsync(fd);
        file_close(&fd);
    }
    leave_places(&places);
    return result;
}

void results_withdraw(const struct claim *claim)
{
    struct places places;
    if (open_places(&places, claim, 0777) != 0)
        return;
    remove_results(claim, &places);
    leave_places(&places);
}

void results_void(struct claim *claim)
{
    if (claim->spool->syncs && (disk_sync_directory(claim->out_fd) != 0 ||
                                disk_sync_directory(claim->spool->instance_fd) != 0))
        return;
    if (claim->note.verdict == NOTE_DONE)
        results_withdraw(claim);
    take_verdict_back(claim);
}

void results_release(const struct claim *claim, struct results_synced *synced)
{
    const struct spool *spool = claim->spool;
    struct places places;
    struct stat status;
    if (open_places(&places, claim, 0) != 0)
        return;
    for (size_t i = 0; i < claim->note.n_results; i++) {
        struct names names;
        int fd = places.list[claim->note.results[i].of].fd;
        names_of(&names, claim, i);
        bool in_out = fstatat(fd, names.in_out, &status, AT_SYMLINK_NOFOLLOW) == 0 ||
                      fstatat(fd, names.empty, &status, AT_SYMLINK_NOFOLLOW) == 0;
        if (in_out && claim->spool->syncs && synced->spool != spool)
            *synced = (struct results_synced){spool, disk_sync_directory(spool->instance_fd)};
        if (synced->spool != spool || synced->result == 0)
            unreserve(&names, claim, fd);
    }
    leave_places(&places);
}
