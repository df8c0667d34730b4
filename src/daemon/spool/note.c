#include "daemon/spool/note.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/file.h"
#include "base/name.h"

#define NOTE        ".note"
#define TEMPORARY   ".note.tmp"
#define BEGUN       ".begun"
#define BEGUN_ALONE ".begun-alone"
#define NOTE_MAX    (1 << 20)

void note_finish(struct note *note)
{
    free(note->results);
    free(note->reason);
    *note = (struct note){0};
}

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

static bool read_results(const json_t *done, struct note *note)
{
    const json_t *list = json_object_get(done, "results");
    size_t count = json_array_size(list);
    note->results = calloc(count + 1, sizeof *note->results);
    if (!note->results || count == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, i);
        struct note_result *result = &note->results[i];
        if (!read_text(entry, "plane", result->plane, sizeof result->plane))
            return false;
        result->size = json_integer_value(json_object_get(entry, "size"));
        result->mtime = json_integer_value(json_object_get(entry, "mtime"));
    }
    note->n_results = count;
    note->verdict = NOTE_DONE;
    note->on_exists = (int)json_integer_value(json_object_get(done, "exists"));
    if (!name_unescape(json_string_value(json_object_get(done, "base")), note->base,
                       sizeof note->base))
        note->base[0] = '\0'; /* written by an older daemon: use the original's name */
    return read_text(done, "extension", note->extension, sizeof note->extension) &&
           read_text(done, "tag", note->tag, sizeof note->tag) &&
           read_count(done, "number", &note->number);
}

static bool read_note(const json_t *object, struct note *note)
{
    const json_t *done = json_object_get(object, "done");
    const json_t *failed = json_object_get(object, "failed");
    const char *reason = json_string_value(json_object_get(failed, "reason"));
    if (failed) {
        note->reason = reason ? strdup(reason) : NULL;
        note->verdict = NOTE_FAILED;
    }
    return read_count(object, "attempts", &note->attempts) &&
           read_count(object, "crashes", &note->crashes) &&
           read_count(object, "interruptions", &note->interruptions) &&
           read_count(object, "alone", &note->alone) && (!done || read_results(done, note)) &&
           (!failed || (note->reason && read_count(failed, "number", &note->number)));
}

int note_read(int folder_fd, struct note *note, struct fault *fault)
{
    struct bytes bytes = {0};
    json_error_t error;
    *note = (struct note){0};
    int fd = openat(folder_fd, NOTE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0)
        return fault_set_errno(fault, FAULT_IO, "open the note");
    int result = file_read(fd, NOTE_MAX, &bytes, fault);
    close(fd);
    if (result != 0)
        return result;
    json_t *object = json_loadb((const char *)bytes.data, bytes.size, 0, &error);
    if (!object || !read_note(object, note)) {
        note_finish(note);
        result = fault_set(fault, FAULT_DATA, "the note is damaged");
    }
    json_decref(object);
    bytes_finish(&bytes);
    return result;
}

static json_t *make_results(const struct note *note)
{
    json_t *list = json_array();
    for (size_t i = 0; i < note->n_results; i++) {
        const struct note_result *r = &note->results[i];
        json_t *entry = json_pack("{s:s, s:I, s:I}", "plane", r->plane, "size", (json_int_t)r->size,
                                  "mtime", (json_int_t)r->mtime);
        if (json_array_append_new(list, entry) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    char base[3 * sizeof note->base];
    name_escape(note->base, base, sizeof base);
    return json_pack("{s:I, s:s, s:s, s:s, s:i, s:o}", "number", (json_int_t)note->number,
                     "extension", note->extension, "base", base, "tag", note->tag, "exists",
                     note->on_exists, "results", list);
}

static json_t *make_note(const struct note *note)
{
    json_t *object = json_pack("{s:I, s:I, s:I, s:I}", "attempts", (json_int_t)note->attempts,
                               "crashes", (json_int_t)note->crashes, "interruptions",
                               (json_int_t)note->interruptions, "alone", (json_int_t)note->alone);
    int failed = object ? 0 : -1;
    if (failed == 0 && note->verdict == NOTE_DONE)
        failed = json_object_set_new(object, "done", make_results(note));
    if (failed == 0 && note->verdict == NOTE_FAILED)
        failed = json_object_set_new(
            object, "failed",
            json_pack("{s:I, s:s}", "number", (json_int_t)note->number, "reason", note->reason));
    if (failed == 0)
        return object;
    json_decref(object);
    return NULL;
}

int note_write_aside(int folder_fd, const struct note *note, int *fd, struct fault *fault)
{
    json_t *object = make_note(note);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    *fd = -1;
    int result = text ? file_write_aside(folder_fd, TEMPORARY, text, strlen(text), fd, fault)
                      : fault_set(fault, FAULT_MEMORY, "no memory for a note");
    if (result == FAULT_CREATE) /* which would fail the file */
        result = fault->code = FAULT_IO;
    free(text);
    json_decref(object);
    return result;
}

int note_commit(int folder_fd, struct fault *fault)
{
    if (renameat(folder_fd, TEMPORARY, folder_fd, NOTE) != 0)
        return fault_set_errno(fault, FAULT_IO, NOTE);
    return 0;
}

int note_sync(int folder_fd)
{
    int fd = openat(folder_fd, NOTE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int result = fd < 0 || fsync(fd) != 0 ? -1 : disk_sync_directory(folder_fd);
    file_close(&fd);
    return result;
}

int note_write(int folder_fd, const struct note *note, bool durable, struct fault *fault)
{
    int fd, result = note_write_aside(folder_fd, note, &fd, fault);
    if (result == 0 && durable && fsync(fd) != 0)
        result = fault_set_errno(fault, FAULT_IO, "fsync of a note");
    if (fd >= 0 && close(fd) != 0 && result == 0)
        result = fault_set_errno(fault, FAULT_IO, "close");
    if (result == 0)
        result = note_commit(folder_fd, fault);
    if (result == 0 && durable && disk_sync_directory(folder_fd) != 0)
        result = fault_set_errno(fault, FAULT_IO, "fsync of a directory");
    return result;
}

int note_mark_begun(int folder_fd, bool alone, bool durable, struct fault *fault)
{
    int fd = openat(folder_fd, alone ? BEGUN_ALONE : BEGUN, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return fault_set_errno(fault, FAULT_CREATE, "mark a file as begun");
    int result = 0;
    if (durable && (fsync(fd) != 0 || disk_sync_directory(folder_fd) != 0))
        result = fault_set_errno(fault, FAULT_IO, "fsync of a mark");
    if (close(fd) != 0 && result == 0)
        result = fault_set_errno(fault, FAULT_IO, "close");
    return result;
}

bool note_has_begun(int folder_fd, bool *alone)
{
    *alone = faccessat(folder_fd, BEGUN_ALONE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    return *alone || faccessat(folder_fd, BEGUN, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void note_clear_begun(int folder_fd)
{
    unlinkat(folder_fd, BEGUN_ALONE, 0);
    unlinkat(folder_fd, BEGUN, 0);
}

void note_remove(int folder_fd)
{
    static const char *const names[] = {BEGUN, BEGUN_ALONE, TEMPORARY, NOTE, NOTE_FROM};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlinkat(folder_fd, names[i], 0); /* what remains is handled by the next start */
    char result[sizeof NOTE_RESULT + 20];
    size_t n = 0;
    do
        snprintf(result, sizeof result, NOTE_RESULT, n++);
    while (unlinkat(folder_fd, result, 0) == 0);
}
