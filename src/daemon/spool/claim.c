/* A claim's life on disk: it is taken, or taken over from a daemon that is gone; it is opened and
 * begun; its note is written; it ends. */
#include "daemon/spool/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

#define NOTE        ".note"
#define TEMPORARY   ".note.tmp"
#define BEGUN       ".begun"
#define BEGUN_ALONE ".begun-alone"
#define NOTE_MAX    (1 << 20)

/* ---- its folder ---- */

void claim_destroy(struct claim **claim)
{
    struct claim *c = *claim;
    *claim = NULL;
    if (!c)
        return;
    claim_close_note(c);
    for (size_t i = 0; i < c->n_drafts; i++)
        file_close(&c->drafts[i].fd);
    free(c->drafts);
    free(c->results);
    free(c->note.names);
    free(c->note.results);
    free(c->note.reason);
    free(c->name);
    free(c);
}

static struct claim *create(struct spool *spool, const char *name)
{
    struct claim *claim = calloc(1, sizeof *claim);
    if (!claim)
        return NULL;
    claim->spool = spool;
    claim->folder_fd = claim->note_fd = -1;
    claim->out_fd = spool->out_fd;
    claim->name = strdup(name);
    if (!claim->name) {
        claim_destroy(&claim);
        return NULL;
    }
    claim->base = path_name(claim->name);
    snprintf(claim->folder, sizeof claim->folder, "%08x", atomic_fetch_add(&spool->serial, 1));
    snprintf(claim->path, sizeof claim->path, "%s/%.*s", claim->folder, NAME_BYTES, claim->base);
    return claim;
}

/* Returns a descriptor of the claim's folder, which the caller closes, or −1 and errno. */
static int open_folder(const struct claim *claim)
{
    return disk_open_directory(claim->spool->instance_fd, claim->folder, 0);
}

static int remove_hidden(void *context, const char *name, unsigned char kind)
{
    if (name[0] == '.')
        unlinkat(*(const int *)context, name, 0);
    return 0;
}

/* Removes the claim's folder with all that is ours in it. The file has left it before: in this
 * order there is at every moment either a file with its note, or no claim. Mostly nothing else is in
 * it, so other names are looked for only where the folder stays. What cannot be removed is handled
 * by the next start. */
static void remove_folder(const struct claim *claim)
{
    int error = errno, instance = claim->spool->instance_fd;
    int folder = claim->folder_fd >= 0 ? claim->folder_fd : open_folder(claim);
    char result[sizeof CLAIM_RESULT + 20];
    unlinkat(folder, NOTE, 0);
    if (claim->base > claim->name)
        unlinkat(folder, CLAIM_FROM, 0);
    for (size_t i = 0; i < claim->note.n_results; i++) {
        snprintf(result, sizeof result, CLAIM_RESULT, i);
        unlinkat(folder, result, 0);
    }
    if (unlinkat(instance, claim->folder, AT_REMOVEDIR) != 0 && folder >= 0) {
        disk_list(folder, remove_hidden, &folder);
        unlinkat(instance, claim->folder, AT_REMOVEDIR);
    }
    if (folder != claim->folder_fd)
        file_close(&folder);
    errno = error;
}

/* ---- it is taken ---- */

int claim_take(struct claim **claim, struct spool *spool, const char *name,
               const struct identity *expected, struct fault *fault)
{
    struct claim *c = create(spool, name);
    *claim = NULL;
    if (!c)
        return fault_set(fault, FAULT_MEMORY, "no memory for a claim");
    int result = mkdirat(spool->instance_fd, c->folder, 0700);
    if (result != 0) {
        result = fault_set_errno(fault, FAULT_CREATE, spool->hidden_path);
        claim_destroy(&c);
        return result;
    }

    /* Where the file comes from, if that is a folder below IN, is the target of a symbolic link
     * that leads nowhere. A link is made in one step, and is as durable as the directory it is in.
     */
    int folder = open_folder(c);
    result = folder < 0 ? -1 : 0;
    size_t length = (size_t)(c->base - c->name);
    if (result == 0 && length > 0) {
        char from[PATH_MAX];
        snprintf(from, sizeof from, "%.*s", (int)length - 1, c->name);
        if (length > sizeof from)
            errno = ENAMETOOLONG;
        result = length > sizeof from ? -1 : symlinkat(from, folder, CLAIM_FROM);
    }

    /* The file moves here under its own name; in place, an empty one stands for it. */
    struct disk_place place;
    if (result == 0 && spool->in_place) {
        int fd = openat(folder, c->base, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        result = fd < 0 ? -1 : close(fd);
    } else if (result == 0 && (result = disk_place(&place, spool->in_fd, name, 0)) == 0) {
        result = renameat(place.fd, place.name, spool->instance_fd, c->path);
        disk_place_leave(&place);
    }
    int error = errno;
    file_close(&folder);
    if (result != 0) {
        remove_folder(c);
        claim_destroy(&c);
        errno = error;
        return error == ENOENT ? fault_set(fault, FAULT_BUSY, "gone")
                               : fault_set_errno(fault, FAULT_IO, spool->hidden_path);
    }

    /* Another file may have taken the name between the look and the claim. */
    struct stat status;
    if (spool->in_place ||
        (fstatat(spool->instance_fd, c->path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(status.st_mode) && status.st_dev == expected->device &&
         status.st_ino == expected->inode)) {
        *claim = c;
        return 0;
    }
    if (claim_give_back(c, NULL) != 0)
        log_about(claim_subject(c), LOG_LEVEL_WARNING,
                  "another file was claimed in its place, and stays claimed");
    claim_destroy(&c);
    return fault_set(fault, FAULT_BUSY, "another file by now");
}

/* ---- it is taken over ---- */

static bool read_count(const json_t *object, const char *key, unsigned *count)
{
    const json_t *value = json_object_get(object, key);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || number > UINT32_MAX)
        return false;
    *count = (unsigned)number;
    return true;
}

static bool read_text(const json_t *object, const char *key, char *text, size_t size)
{
    const char *value = json_string_value(json_object_get(object, key));
    if (!value || strlen(value) >= size)
        return false;
    memcpy(text, value, strlen(value) + 1);
    return true;
}

bool note_add_name(struct note *note, size_t of)
{
    if (of < note->n_names)
        return true;
    struct note_name *names = realloc(note->names, (of + 1) * sizeof *names);
    if (!names)
        return false;
    note->names = names;
    memset(names + note->n_names, 0, (of + 1 - note->n_names) * sizeof *names);
    note->n_names = of + 1;
    return true;
}

static bool parse_note(const json_t *object, struct note *note)
{
    const json_t *done = json_object_get(object, "done");
    const json_t *failed = json_object_get(object, "failed");
    const char *reason = json_string_value(json_object_get(failed, "reason"));
    bool good = read_count(object, "attempts", &note->attempts) &&
                read_count(object, "crashes", &note->crashes) &&
                read_count(object, "interruptions", &note->interruptions) &&
                read_count(object, "alone", &note->alone);
    if (good && failed) {
        note->verdict = NOTE_FAILED;
        note->reason = reason ? strdup(reason) : NULL;
        good = note->reason && read_count(failed, "number", &note->number);
    }
    if (!good || !done)
        return good;
    const json_t *list = json_object_get(done, "results");
    const json_t *names = json_object_get(done, "names");
    note->verdict = NOTE_DONE;
    note->n_results = json_array_size(list);
    note->results = calloc(note->n_results + 1, sizeof *note->results);
    note->on_exists = (int)json_integer_value(json_object_get(done, "exists"));
    good = note->results && note->n_results > 0 && json_array_size(names) <= WATCH_RESULTS_MAX &&
           read_text(done, "tag", note->tag, sizeof note->tag) &&
           read_count(done, "number", &note->number);
    /* an older daemon has written one name, which is a part of `done` itself */
    for (size_t i = 0; good && (i == 0 || i < json_array_size(names)); i++) {
        const json_t *from = names ? json_array_get(names, i) : done;
        good = note_add_name(note, i);
        if (!good)
            break;
        struct note_name *name = &note->names[i];
        if (!name_unescape(json_string_value(json_object_get(from, "base")), name->base,
                           sizeof name->base))
            name->base[0] = '\0'; /* by one that is older still: use the original's name */
        good = read_text(from, "extension", name->extension, sizeof name->extension) &&
               (!names || name_unescape(json_string_value(json_object_get(from, "folder")),
                                        name->folder, sizeof name->folder));
    }
    for (size_t i = 0; good && i < note->n_results; i++) {
        const json_t *entry = json_array_get(list, i);
        struct note_result *result = &note->results[i];
        good = read_text(entry, "plane", result->plane, sizeof result->plane) &&
               (!names || (read_count(entry, "of", &result->of) && result->of < note->n_names));
        result->size = json_integer_value(json_object_get(entry, "size"));
        result->mtime = json_integer_value(json_object_get(entry, "mtime"));
    }
    return good;
}

/* Reads the note in a claim's folder. Without a note the result is an empty one, as with a damaged
 * one: FAULT_DATA. */
static int read_note(int folder_fd, struct note *note, struct fault *fault)
{
    struct bytes bytes = {0};
    int fd = openat(folder_fd, NOTE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0)
        return fault_set_errno(fault, FAULT_IO, "open the note");
    int result = file_read(fd, NOTE_MAX, &bytes, fault);
    close(fd);
    if (result != 0)
        return result;
    json_t *object = json_loadb((const char *)bytes.data, bytes.size, 0, NULL);
    if (!object || !parse_note(object, note)) {
        free(note->names);
        free(note->results);
        free(note->reason);
        *note = (struct note){0};
        result = fault_set(fault, FAULT_DATA, "the note is damaged");
    }
    json_decref(object);
    bytes_finish(&bytes);
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

int claim_adopt(struct claim **claim, struct spool *spool, int other_fd, const char *folder,
                struct fault *fault)
{
    name_buffer name = "";
    char whole[PATH_MAX] = "", from[PATH_MAX];
    struct claim *c = NULL;
    *claim = NULL;
    int folder_fd = disk_open_directory(other_fd, folder, 0);
    if (folder_fd < 0)
        return fault_set_errno(fault, FAULT_IO, "open a claim's folder");
    int result = 0;
    if (disk_list(folder_fd, keep_visible_name, name) < 0)
        result = fault_set_errno(fault, FAULT_IO, "read a claim's folder");

    /* The file's name as a path below IN. A link that leads upwards, which only a stranger can have
     * made, is refused; later each component is opened and has to be a directory. */
    ssize_t length = readlinkat(folder_fd, CLAIM_FROM, from, sizeof from - 1);
    from[length > 0 ? length : 0] = '\0';
    bool below = length > 0 && from[0] != '/' && (size_t)length + NAME_BYTES + 2 < PATH_MAX &&
                 strncmp(from, "..", 2) != 0 && !strstr(from, "/..");
    snprintf(whole, sizeof whole, "%.*s%s%.*s", below ? (int)length : 0, from, below ? "/" : "",
             NAME_BYTES, name);

    /* A file that was claimed in place may be gone by now, or known to be done. */
    bool left = name[0] != '\0', done = false;
    if (result == 0 && left && spool->in_place) {
        struct identity identity;
        enum spool_sight sight = spool_look(spool, whole, &identity);
        if (sight == SPOOL_UNREADABLE)
            result = fault_set(fault, FAULT_IO, "%s: cannot be looked at", whole);
        else if (sight == SPOOL_FILE)
            result = ledger_knows(spool->world->ledger, spool->folder, &identity, &done, fault);
        left = sight == SPOOL_FILE && !done;
    }
    if (result == 0 && !left) {
        if (spool->in_place && name[0])
            unlinkat(folder_fd, name, 0);
        disk_list(folder_fd, remove_hidden, &folder_fd);
        unlinkat(other_fd, folder, AT_REMOVEDIR);
    } else if (result == 0 && (c = create(spool, whole)) == NULL) {
        result = fault_set(fault, FAULT_MEMORY, "no memory for a claim");
    } else if (result == 0 && renameat(other_fd, folder, spool->instance_fd, c->folder) != 0) {
        result = fault_set_errno(fault, FAULT_IO, "take over a claimed file");
    }
    if (result != 0 || !left) {
        close(folder_fd);
        claim_destroy(&c);
        return result;
    }

    /* It is ours. Ten interruptions in a row, each while the file was the only job, fail the file;
     * a single one may have had any cause. The count is written before the mark is removed, so that
     * it may be counted twice but never lost. */
    struct fault why = FAULT_INIT;
    struct note *note = &c->note;
    c->recovered = c->keeps_in_out = true;
    if (read_note(folder_fd, note, &why) != 0)
        log_about(claim_subject(c), LOG_LEVEL_WARNING, "%s: done again from the start", why.text);
    fault_clear(&why);
    bool alone = faccessat(folder_fd, BEGUN_ALONE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (alone || faccessat(folder_fd, BEGUN, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        note->interruptions++;
        note->alone = alone ? note->alone + 1 : 0;
        if (claim_write_note(c, true, &why) == 0)
            claim_clear_begun(c);
        else
            log_about(claim_subject(c), LOG_LEVEL_WARNING,
                      "that it was interrupted could not be noted: %s", why.text);
    }
    if (note->verdict == NOTE_DONE && !note->names[0].base[0])
        snprintf(note->names[0].base, sizeof note->names[0].base, "%s", c->base);
    close(folder_fd);
    *claim = c;
    return 0;
}

/* ---- it is opened, and begun ---- */

int claim_open(struct claim *claim, int *fd, struct fault *fault)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const struct spool *spool = claim->spool;
    struct stat status;
    *fd = spool->in_place ? disk_open(spool->in_fd, claim->name, flags)
                          : openat(spool->instance_fd, claim->path, flags);
    if (*fd < 0)
        return fault_set_errno(fault, errno == ENOENT ? FAULT_NO_INPUT : FAULT_IO, "open");
    int result = 0;
    if (fstat(*fd, &status) != 0)
        result = fault_set_errno(fault, FAULT_IO, "fstat");
    else if (!S_ISREG(status.st_mode))
        result = fault_set(fault, FAULT_NO_INPUT, "no regular file");
    else
        claim->identity = identity_of(&status);
    if (result != 0)
        file_close(fd);
    return result;
}

/* For a file that was interrupted before, the mark is synced: the file may be the cause. */
int claim_mark_begun(struct claim *claim, bool alone, struct fault *fault)
{
    const char *mark = alone ? BEGUN_ALONE : BEGUN;
    claim_close_note(claim);
    claim->folder_fd = open_folder(claim);
    if (claim->folder_fd < 0)
        return fault_set_errno(fault, FAULT_IO, "open a claim's folder");
    claim->note_fd =
        openat(claim->folder_fd, mark, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (claim->note_fd < 0)
        return fault_set_errno(fault, FAULT_CREATE, "mark a file as begun");
    claim->mark = mark;
    if (claim->recovered &&
        (fsync(claim->note_fd) != 0 || disk_sync_directory(claim->folder_fd) != 0))
        return fault_set_errno(fault, FAULT_IO, "fsync of a mark");
    return 0;
}

void claim_clear_begun(struct claim *claim)
{
    claim_close_note(claim);
    int folder = open_folder(claim);
    if (folder < 0)
        return;
    unlinkat(folder, BEGUN_ALONE, 0);
    unlinkat(folder, BEGUN, 0);
    close(folder);
}

/* ---- its note ---- */

/* NULL without memory. */
static char *print_note(const struct note *note)
{
    char base[3 * sizeof note->names->base], folder[3 * sizeof note->names->folder];
    json_t *object = json_pack("{s:I, s:I, s:I, s:I}", "attempts", (json_int_t)note->attempts,
                               "crashes", (json_int_t)note->crashes, "interruptions",
                               (json_int_t)note->interruptions, "alone", (json_int_t)note->alone);
    int failed = object ? 0 : -1;
    if (failed == 0 && note->verdict == NOTE_DONE) {
        json_t *list = json_array(), *names = json_array();
        for (size_t i = 0; i < note->n_results && failed == 0; i++) {
            const struct note_result *r = &note->results[i];
            failed = json_array_append_new(
                list, json_pack("{s:i, s:s, s:I, s:I}", "of", (int)r->of, "plane", r->plane, "size",
                                (json_int_t)r->size, "mtime", (json_int_t)r->mtime));
        }
        for (size_t i = 0; i < note->n_names && failed == 0; i++) {
            name_escape(note->names[i].base, base, sizeof base);
            name_escape(note->names[i].folder, folder, sizeof folder);
            failed =
                json_array_append_new(names, json_pack("{s:s, s:s, s:s}", "base", base, "extension",
                                                       note->names[i].extension, "folder", folder));
        }
        failed |= json_object_set_new(
            object, "done",
            json_pack("{s:I, s:o, s:s, s:i, s:o}", "number", (json_int_t)note->number, "names",
                      names, "tag", note->tag, "exists", note->on_exists, "results", list));
    }
    if (failed == 0 && note->verdict == NOTE_FAILED)
        failed = json_object_set_new(
            object, "failed",
            json_pack("{s:I, s:s}", "number", (json_int_t)note->number, "reason", note->reason));
    char *text = failed == 0 ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

/* The mark becomes the note, where there is one: that makes one file fewer, and ext4 looks long for
 * room for a new one where many have been removed a short while ago. */
int claim_prepare_note(struct claim *claim, struct fault *fault)
{
    struct fault why = FAULT_INIT;
    int folder = claim->folder_fd;
    bool marked = claim->mark && renameat(folder, claim->mark, folder, TEMPORARY) == 0;
    claim->mark = NULL;
    if (!marked) {
        claim_close_note(claim);
        folder = claim->folder_fd = open_folder(claim);
    }
    if (folder < 0)
        return fault_set_errno(fault, FAULT_IO, "open a claim's folder");
    char *text = print_note(&claim->note);
    if (!text)
        fault_set(&why, FAULT_MEMORY, "no memory for a note");
    else if (marked)
        file_write(claim->note_fd, text, strlen(text), &why);
    else
        file_write_aside(folder, TEMPORARY, text, strlen(text), &claim->note_fd, &why);
    free(text);
    if (why.code == FAULT_CREATE) /* which would fail the file */
        why.code = FAULT_IO;
    return why.code ? fault_set(fault, why.code, "%s", why.text) : 0;
}

int claim_decide(struct claim *claim, struct fault *fault)
{
    if (renameat(claim->folder_fd, TEMPORARY, claim->folder_fd, NOTE) != 0)
        return fault_set_errno(fault, FAULT_IO, NOTE);
    return 0;
}

void claim_close_note(struct claim *claim)
{
    file_close(&claim->note_fd);
    file_close(&claim->folder_fd);
    claim->mark = NULL;
}

int claim_write_note(struct claim *claim, bool durable, struct fault *fault)
{
    int result = claim_prepare_note(claim, fault), fd = claim->note_fd;
    if (result == 0 && durable && fsync(fd) != 0)
        result = fault_set_errno(fault, FAULT_IO, "fsync of a note");
    claim->note_fd = -1;
    if (fd >= 0 && close(fd) != 0 && result == 0)
        result = fault_set_errno(fault, FAULT_IO, "close");
    if (result == 0)
        result = claim_decide(claim, fault);
    if (result == 0 && durable && disk_sync_directory(claim->folder_fd) != 0)
        result = fault_set_errno(fault, FAULT_IO, "fsync of a directory");
    claim_close_note(claim);
    return result;
}

int claim_sync_note(struct claim *claim)
{
    if (!claim->spool->syncs)
        return 0;
    int fd = -1, result = -1, folder = open_folder(claim);
    if (folder >= 0)
        fd = openat(folder, NOTE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fsync(fd) == 0)
        result = disk_sync_directory(folder);
    file_close(&fd);
    file_close(&folder);
    return result;
}

void claim_file_name(const struct note *note, size_t index, unsigned number, name_buffer name)
{
    const struct note_result *result = &note->results[index];
    const struct note_name *of = &note->names[result->of];
    bool report = strcmp(result->plane, CLAIM_REPORT) == 0;
    name_of_result(name, of->base, number, report ? CLAIM_REPORT + 1 : result->plane,
                   report ? "json" : of->extension);
}

char *claim_print_results(const struct claim *claim, bool paths)
{
    const struct note *note = &claim->note;
    struct text list = {0};
    for (size_t i = 0; i < note->n_results; i++) {
        const char *folder = note->names[note->results[i].of].folder;
        name_buffer name;
        bool further = false; /* a plane of a result that has a file already */
        for (size_t k = 0; k < i; k++)
            further |= note->results[k].of == note->results[i].of;
        claim_file_name(note, i, note->number, name);
        if (paths) {
            text_printf(&list, "%s%s%.*s%s", folder, folder[0] ? "/" : "",
                        (int)(claim->base - claim->name), claim->name, name);
            text_append_bytes(&list, "", 1);
        } else if (!further && strcmp(note->results[i].plane, CLAIM_REPORT) != 0) {
            text_printf(&list, "%s%s%s%s", i ? LEDGER_NEXT : "", folder,
                        folder[0] ? LEDGER_BELOW : "", name);
        }
    }
    if (paths)
        text_append_bytes(&list, "", 1);
    if (list.failed)
        text_finish(&list);
    return list.data;
}

bool claim_fill_entry(struct claim *claim, struct ledger_entry *entry, const char *reason)
{
    const struct spool *spool = claim->spool;
    const struct note *note = &claim->note;
    bool done = note->verdict == NOTE_DONE;
    int fd = -1;
    free(claim->results);
    claim->results = done ? claim_print_results(claim, false) : NULL;
    if (claim->identity.inode == 0) /* it was never opened */
        claim_open(claim, &fd, NULL);
    file_close(&fd);
    *entry = (struct ledger_entry){
        .folder = spool->folder,
        .name = claim->name,
        .identity = claim->identity,
        .state = done ? "done" : "failed",
        .attempts = note->attempts,
        .reason = reason,
        .result = claim->results,
        .remembered = done ? spool->remembers : spool->in_place,
    };
    return claim->identity.inode != 0;
}

/* ---- the three ends: the file is moved or removed, then the claim's folder is removed ---- */

/* Moves the file into a directory, or removes it where `to_fd` is −1, and then its folder. Returns
 * 0, or −1 and errno; EEXIST: there is such a file. */
static int leave(const struct claim *claim, int to_fd, const char *to)
{
    int from_fd = claim->spool->instance_fd;
    int result = to_fd >= 0 ? disk_rename_new(from_fd, claim->path, to_fd, to)
                            : unlinkat(from_fd, claim->path, 0);
    if (result != 0 && (to_fd >= 0 || errno != ENOENT))
        return -1;
    remove_folder(claim);
    return 0;
}

/* Moves the file back to where it was taken. */
static int leave_to_input(const struct claim *claim)
{
    struct disk_place place;
    if (disk_place(&place, claim->spool->in_fd, claim->name, 0777) != 0)
        return -1;
    int result = leave(claim, place.fd, place.name);
    disk_place_leave(&place);
    return result;
}

/* A fault from errno about one of the folders: "PATH: REASON". */
static int blame(const struct claim *claim, const char *folder, struct fault *fault)
{
    char path[PATH_MAX];
    int error = errno;
    snprintf(path, sizeof path, "%s/%s", claim->spool->hidden_path, folder);
    errno = error;
    return fault_set_errno(fault, FAULT_IO, path);
}

/* The file's place in done or failed, with its own name or, if a file is where its folder would
 * have to be, a flat one, "sub_a.pgm". */
static int place_aside(const struct claim *claim, int root_fd, struct disk_place *place,
                       name_buffer flat)
{
    if (disk_place(place, root_fd, claim->name, 0777) == 0)
        return 0;
    if (!disk_refuses_name(errno) || claim->base == claim->name)
        return -1;
    size_t length = strlen(claim->name);
    snprintf(flat, sizeof(name_buffer), "%s",
             claim->name + (length > NAME_BYTES ? length - NAME_BYTES : 0));
    for (char *slash; (slash = strchr(flat, '/')) != NULL;)
        *slash = '_';
    return disk_place(place, root_fd, flat, 0);
}

/* For finding a free number: where, and what else has to be free beside the file's name. */
struct original {
    const struct disk_place *place;
    bool with_reason;
};

static bool is_taken(void *context, unsigned number)
{
    const struct original *original = context;
    name_buffer name, reason;
    name_of_original(name, original->place->name, number);
    name_of_reason(reason, name);
    return disk_may_have(original->place->fd, name) ||
           (original->with_reason && disk_may_have(original->place->fd, reason));
}

int claim_done(struct claim *claim, struct fault *fault)
{
    const struct spool *spool = claim->spool;
    int rule = spool->rules->originals;
    if (spool->in_place || rule == ORIGINALS_DELETE)
        return leave(claim, -1, NULL) == 0 ? 0 : blame(claim, "work", fault);
    if (rule == ORIGINALS_KEEP) {
        if (leave_to_input(claim) == 0)
            return 0;
        if (errno != EEXIST && errno != ENOENT)
            return fault_set_errno(fault, FAULT_IO, spool->in_path);
        log_about(claim_subject(claim), LOG_LEVEL_WARNING,
                  "there is another file of this name by now: the original goes to done");
    }
    struct disk_place place;
    name_buffer flat, name;
    if (place_aside(claim, spool->done_fd, &place, flat) != 0)
        return blame(claim, "done", fault);
    struct original original = {&place, false};
    unsigned number = 0;
    int result, error;
    do {
        name_of_original(name, place.name, number);
        result = leave(claim, place.fd, name);
        error = errno;
        if (result != 0 && error == EEXIST)
            number = name_find_number(is_taken, &original);
    } while (result != 0 && error == EEXIST && number != UINT_MAX);
    disk_place_leave(&place);
    if (result != 0 && error == EEXIST)
        return fault_set(fault, FAULT_CREATE, "%s/done: no name is free", spool->hidden_path);
    errno = error;
    return result == 0 ? 0 : blame(claim, "done", fault);
}

static int choose_failed_number(struct claim *claim, const struct disk_place *place,
                                struct fault *fault)
{
    struct original original = {place, true};
    claim->note.number = name_find_number(is_taken, &original);
    if (claim->note.number == UINT_MAX)
        return fault_set(fault, FAULT_CREATE, "%s/failed: no name is free",
                         claim->spool->hidden_path);
    return 0;
}

int claim_note_failure(struct claim *claim, const char *reason, struct fault *fault)
{
    struct disk_place place;
    name_buffer flat;
    char *copy = strdup(reason);
    if (!copy)
        return fault_set(fault, FAULT_MEMORY, "no memory for a note");
    free(claim->note.reason);
    claim->note.reason = copy;
    if (place_aside(claim, claim->spool->failed_fd, &place, flat) != 0)
        return fault_set(fault, FAULT_CREATE, "%s/failed: no name is free",
                         claim->spool->hidden_path);
    int result = choose_failed_number(claim, &place, fault);
    disk_place_leave(&place);
    if (result == 0)
        claim->note.verdict = NOTE_FAILED;
    return result;
}

/* The reason is written before the file is moved, so that no file is in failed without one. If
 * another file got the name after the number was chosen, it is chosen and noted anew. */
int claim_failed(struct claim *claim, struct fault *fault)
{
    const struct spool *spool = claim->spool;
    const char *text = claim->note.reason;
    struct disk_place place;
    struct fault why = FAULT_INIT;
    name_buffer flat, name, reason, temporary;
    char tag[SPOOL_INSTANCE_ID + 32];
    bool moved = false;
    if (place_aside(claim, spool->failed_fd, &place, flat) != 0)
        return blame(claim, "failed", fault);
    snprintf(tag, sizeof tag, "%s-%s", spool->instance, claim->folder);
    while (!moved && why.code == FAULT_NONE) {
        name_of_original(name, place.name, claim->note.number);
        name_of_reason(reason, name);
        name_of_temporary(temporary, reason, tag);
        if (file_write_whole(place.fd, reason, temporary, text, strlen(text), claim->spool->syncs,
                             &why) != 0)
            break;
        moved = leave(claim, spool->in_place ? -1 : place.fd, name) == 0;
        if (!moved && errno != EEXIST) {
            blame(claim, "failed", &why);
        } else if (!moved) {
            unlinkat(place.fd, reason, 0);
            if (choose_failed_number(claim, &place, &why) == 0)
                claim_write_note(claim, claim->spool->syncs, &why);
        }
    }
    disk_place_leave(&place);
    return moved ? 0 : fault_set(fault, why.code, "%s", why.text);
}

int claim_give_back(struct claim *claim, struct fault *fault)
{
    int result = claim->spool->in_place ? leave(claim, -1, NULL) : leave_to_input(claim);
    return result == 0 ? 0 : fault_set_errno(fault, FAULT_CREATE, claim->spool->in_path);
}
