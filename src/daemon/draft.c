#include "daemon/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/disk.h"
#include "daemon/name.h"

/* The same from the claim or, after a restart, from its note: no plane is in it, since the first
 * draft is opened before the planes are known. */
static void temporary_name(name_buffer name, const struct claim *claim, const char *tag,
                           const char *extension, size_t index)
{
    char whole_tag[80];
    name_buffer final;
    name_of_result(final, claim->name, 0, "", extension);
    snprintf(whole_tag, sizeof whole_tag, "%.47s-%zu", tag, index);
    name_of_temporary(name, final, whole_tag);
}

static void make_tag(char tag[48], const struct claim *claim)
{
    snprintf(tag, 48, "%s-%s", claim->spool->instance, claim->folder);
}

int draft_open(struct draft *draft, const struct claim *claim, size_t index, const char *extension,
               struct fault *fault)
{
    char tag[48];
    name_buffer name;
    *draft = (struct draft)DRAFT_INIT;
    make_tag(tag, claim);
    temporary_name(name, claim, tag, extension, index);
    draft->temporary = strdup(name);
    if (!draft->temporary)
        return fault_set(fault, FAULT_MEMORY, "no memory for a name");
    unlinkat(claim->spool->out_fd, name, 0); /* of an earlier try that could not be removed */
    draft->fd = openat(claim->spool->out_fd, name,
                       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (draft->fd >= 0)
        return 0;
    free(draft->temporary);
    draft->temporary = NULL;
    return fault_set_errno(fault, FAULT_CREATE, claim->spool->out_path);
}

void draft_forget(struct draft *draft)
{
    if (draft->fd >= 0)
        close(draft->fd);
    free(draft->temporary);
    *draft = (struct draft)DRAFT_INIT;
}

void draft_discard(struct draft *draft, const struct spool *spool)
{
    if (draft->temporary)
        unlinkat(spool->out_fd, draft->temporary, 0);
    draft_forget(draft);
}

static int sync_one(struct draft *draft, struct note_result *result, struct fault *fault)
{
    struct stat status;
    if (fsync(draft->fd) != 0)
        return fault_set_errno(fault, FAULT_IO, "fsync of the result");
    if (fstat(draft->fd, &status) != 0)
        return fault_set_errno(fault, FAULT_IO, "stat of the result");
    struct identity identity = identity_of(&status);
    result->size = identity.size;
    result->mtime = identity.mtime;
    snprintf(result->plane, sizeof result->plane, "%s", draft->plane);
    int closed = close(draft->fd);
    draft->fd = -1;
    return closed == 0 ? 0 : fault_set_errno(fault, FAULT_IO, "close of the result");
}

void draft_final_name(const struct claim *claim, size_t index, char name[256])
{
    const struct note *note = &claim->note;
    name_of_result(name, claim->name, note->number, note->results[index].plane, note->extension);
}

struct taken {
    const struct claim *claim;
    int out_fd;
};

/* A number is taken when any of the results would find its name taken: they keep together. */
static bool is_taken(void *context, unsigned number)
{
    const struct taken *taken = context;
    const struct note *note = &taken->claim->note;
    for (size_t i = 0; i < note->n_results; i++) {
        name_buffer name;
        name_of_result(name, taken->claim->name, number, note->results[i].plane, note->extension);
        if (faccessat(taken->out_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
            return true;
    }
    return false;
}

static int choose_number(struct claim *claim, int out_fd, struct fault *fault)
{
    struct taken taken = {claim, out_fd};
    claim->note.number = name_find_number(is_taken, &taken);
    if (claim->note.number == UINT_MAX)
        return fault_set(fault, FAULT_CREATE, "no free name in %s", claim->spool->out_path);
    return claim_write_note(claim, fault);
}

int drafts_commit(struct draft *drafts, size_t count, struct claim *claim, const char *extension,
                  struct fault *fault)
{
    struct note *note = &claim->note;
    struct note_result *results = calloc(count + 1, sizeof *results);
    if (!results)
        return fault_set(fault, FAULT_MEMORY, "no memory for results");
    for (size_t i = 0; i < count; i++) {
        int result = sync_one(&drafts[i], &results[i], fault);
        if (result != 0) {
            free(results);
            return result;
        }
    }
    free(note->results);
    note->results = results;
    note->n_results = count;
    note->verdict = NOTE_DONE;
    snprintf(note->extension, sizeof note->extension, "%s", extension);
    make_tag(note->tag, claim);
    int result = choose_number(claim, claim->spool->out_fd, fault);
    if (result != 0)
        note->verdict = NOTE_OPEN;
    for (size_t i = 0; i < count && result == 0; i++)
        draft_forget(&drafts[i]); /* from here on the note knows them */
    return result;
}

/* File systems with coarse times forget the rest of a time when they are mounted anew. */
static bool is_result(int out_fd, const char *name, const struct note_result *result)
{
    struct stat status;
    if (fstatat(out_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return false;
    struct identity found = identity_of(&status);
    int64_t apart = llabs(found.mtime - result->mtime);
    bool coarse = found.mtime % 1000000000 == 0 && apart <= 2000000000;
    return found.size == result->size && (apart == 0 || coarse);
}

/* 0, or −1 and errno: EEXIST: the name is another file's; ENOENT: the result is nowhere. */
static int place_one(const struct claim *claim, int out_fd, size_t index)
{
    const struct note *note = &claim->note;
    name_buffer final, temporary;
    draft_final_name(claim, index, final);
    temporary_name(temporary, claim, note->tag, note->extension, index);
    if (is_result(out_fd, final, &note->results[index]))
        return 0;
    if (!is_result(out_fd, temporary, &note->results[index])) {
        errno = ENOENT;
        return -1;
    }
    return disk_rename_new(out_fd, temporary, out_fd, final);
}

/* Takes the names back that were given under a number that will not do. */
static void take_back(const struct claim *claim, int out_fd)
{
    const struct note *note = &claim->note;
    for (size_t i = 0; i < note->n_results; i++) {
        name_buffer final, temporary;
        draft_final_name(claim, i, final);
        temporary_name(temporary, claim, note->tag, note->extension, i);
        if (is_result(out_fd, final, &note->results[i]) &&
            disk_rename_new(out_fd, final, out_fd, temporary) != 0)
            log_warning("%s: %s stays beside the result under another number", claim->name, final);
    }
}

static int place_all(const struct claim *claim, int out_fd)
{
    for (size_t i = 0; i < claim->note.n_results; i++)
        if (place_one(claim, out_fd, i) != 0)
            return -1;
    return 0;
}

int drafts_place(struct claim *claim, int out_fd, struct fault *fault)
{
    while (place_all(claim, out_fd) != 0) {
        if (errno == ENOENT)
            return fault_set(fault, FAULT_NO_INPUT, "the result is gone");
        if (errno != EEXIST)
            return fault_set_errno(fault, FAULT_CREATE, "give the result its name");
        take_back(claim, out_fd);
        int result = choose_number(claim, out_fd, fault);
        if (result != 0)
            return result;
    }
    return 0;
}
