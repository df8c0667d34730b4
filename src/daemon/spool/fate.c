#include "daemon/spool/fate.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/file.h"
#include "base/name.h"
#include "base/text.h"
#include "base/walk.h"
#include "daemon/spool/ledger.h"
#include "worker/json_text.h"

#define REASON_MAX  65536
#define NUMBERS_MAX 1000 /* names like a-7.jpg that are compared with one inode */

void fate_init(struct fate *fate)
{
    *fate = (struct fate){.age = -1, .next = -1};
}

void fate_set(struct fate *fate, const char *state, const char *reason, const char *format, ...)
{
    va_list arguments;
    fate->state = state;
    fate->reason = reason;
    va_start(arguments, format);
    vsnprintf(fate->message, sizeof fate->message, format, arguments);
    va_end(arguments);
}

void fate_finish(struct fate *fate)
{
    json_decref(fate->told);
    json_decref(fate->results);
    fate->told = fate->results = NULL;
}

/* ---- files on disk ---- */

static bool look_for_file(int root_fd, const char *name, struct identity *identity)
{
    struct stat status;
    if (disk_stat(root_fd, name, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    *identity = identity_of(&status);
    return true;
}

json_t *fate_read_told(int directory_fd, const char *name)
{
    struct bytes bytes = {0};
    json_t *told = NULL;
    int fd = openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && file_read(fd, REASON_MAX, &bytes, NULL) == 0)
        told = json_loadb((const char *)bytes.data, bytes.size, 0, NULL);
    bytes_finish(&bytes);
    file_close(&fd);
    if (json_is_object(told))
        return told;
    json_decref(told);
    return NULL;
}

/* Reads NAME.error.json, the reason of a file below failed. NULL: there is none that can be read.
 */
static json_t *read_reason(int failed_fd, const char *name)
{
    struct disk_place place;
    name_buffer reason;
    if (disk_place(&place, failed_fd, name, 0) != 0)
        return NULL;
    name_of_reason(reason, place.name);
    json_t *told = fate_read_told(place.fd, reason);
    disk_place_leave(&place);
    return told;
}

void fate_name_of(const json_t *told, const char *like, char name[PATH_MAX])
{
    const char *file = json_string_value(json_object_get(told, "file"));
    bool good = file && file[0] && file[0] != '/' && strlen(file) < PATH_MAX &&
                strncmp(file, "../", 3) != 0 && !strstr(file, "/../") && strcmp(file, "..") != 0;
    struct text valid = {0};
    text_append_utf8(&valid, like ? like : "");
    if (good && like && !valid.failed && strcmp(text_string(&valid), file) == 0)
        file = like;
    text_finish(&valid);
    snprintf(name, PATH_MAX, "%s", good ? file : "");
}

/* Finds the original among name, name-1, … in done or failed: the file that the ledger describes,
 * else one of that inode that was changed since, else the first. */
static bool find_numbered(int root_fd, const char *name, const struct identity *identity,
                          char found[PATH_MAX], struct identity *there)
{
    enum likeness {
        ANY,
        SAME_INODE,
        SAME
    };
    for (int like = identity ? SAME : ANY; like >= ANY; like--) {
        const struct identity *wanted = like == ANY ? NULL : identity;
        for (unsigned number = 0, missing = 0; number < NUMBERS_MAX && missing < 3; number++) {
            name_number_path(found, name, number);
            if (!look_for_file(root_fd, found, there))
                missing++;
            else if (!wanted || (there->inode == wanted->inode &&
                                 (like == SAME_INODE ||
                                  (there->size == wanted->size && there->mtime == wanted->mtime))))
                return true;
        }
    }
    return false;
}

/* With claims in place, failed holds only reasons; each names its file. */
static json_t *find_reason_in_place(const struct spool *spool, const char *name,
                                    char found[PATH_MAX])
{
    char whose[PATH_MAX];
    for (unsigned number = 0, missing = 0; number < NUMBERS_MAX && missing < 3; number++) {
        name_number_path(found, name, number);
        json_t *told = read_reason(spool->failed_fd, found);
        fate_name_of(told, name, whose);
        if (told && strcmp(whose, name) == 0)
            return told;
        missing += told == NULL;
        json_decref(told);
    }
    return NULL;
}

bool fate_find_reason(const struct spool *spool, const char *name, char found[PATH_MAX])
{
    json_t *told = find_reason_in_place(spool, name, found);
    json_decref(told);
    return told != NULL;
}

/* ---- what has ended ---- */

/* What the ledger says of its end. */
static void note_row(struct fate *fate, const struct spool *spool, const struct ledger_row *row)
{
    fate->attempts = row->attempts;
    fate->time = row->time;
    json_decref(fate->results);
    fate->results = row->result ? json_array() : NULL;
    for (const char *at = row->result, *next; at; at = next ? next + strlen(LEDGER_NEXT) : NULL) {
        char below[2 * PATH_MAX], path[3 * PATH_MAX];
        struct stat status;
        next = strstr(at, LEDGER_NEXT);
        size_t length = next ? (size_t)(next - at) : strlen(at);
        const char *name = memmem(at, length, LEDGER_BELOW, strlen(LEDGER_BELOW));
        size_t folder = name ? (size_t)(name - at) : 0, skip = name ? folder + 2 : 0;
        snprintf(below, sizeof below, "%.*s%s%.*s%.*s", (int)folder, at, folder ? "/" : "",
                 (int)(path_name(row->name) - row->name), row->name, (int)(length - skip),
                 at + skip);
        snprintf(path, sizeof path, "%s/%s", spool->out_path, below);
        bool exists = disk_stat(spool->out_fd, below, &status) == 0;
        json_array_append_new(
            fate->results, json_pack("{s:o, s:b}", "path", json_text(path), "exists", (int)exists));
    }
}

/* How many results are no longer where they were put. */
static size_t count_gone(const struct fate *fate)
{
    size_t i, gone = 0;
    json_t *result;
    json_array_foreach (fate->results, i, result)
        gone += !json_is_true(json_object_get(result, "exists"));
    return gone;
}

/* `text`: why it failed, where no reason that can be read says so; NULL: not known. */
static void set_ended(struct fate *fate, bool failed, const char *text)
{
    const char *code = json_string_value(json_object_get(fate->told, "code"));
    const char *message = json_string_value(json_object_get(fate->told, "message"));
    json_int_t attempts = json_integer_value(json_object_get(fate->told, "attempts"));
    if (failed && attempts > 0)
        fate->attempts = (unsigned)attempts;
    if (failed)
        fate_set(fate, "failed", code, "%s", message ? message : text ? text : "why is not known");
    else if (count_gone(fate) > 0 && json_array_size(fate->results) > 1)
        fate_set(fate, "done", "result-gone", "done; %zu of its %zu results %s not where %s put",
                 count_gone(fate), json_array_size(fate->results),
                 count_gone(fate) == 1 ? "is" : "are",
                 count_gone(fate) == 1 ? "it was" : "they were");
    else if (count_gone(fate) > 0)
        fate_set(fate, "done", "result-gone", "done; its result is not where it was put");
    else
        fate_set(fate, "done", NULL, "done");
}

/* Finds the original in done or failed. */
static bool find_original(struct fate *fate, const struct spool *spool, bool failed,
                          const char *name, const struct identity *identity)
{
    int root_fd = failed ? spool->failed_fd : spool->done_fd;
    if (!find_numbered(root_fd, name, identity, fate->original, &fate->identity))
        return false;
    fate->where = failed ? FATE_IN_FAILED : FATE_IN_DONE;
    if (failed)
        fate->told = read_reason(root_fd, fate->original);
    return true;
}

void fate_of_row(struct fate *fate, const struct spool *spool, const struct ledger_row *row)
{
    struct identity identity;
    char found[PATH_MAX];
    bool failed = strcmp(row->state, "failed") == 0;
    bool kept = row->remembered && look_for_file(spool->in_fd, row->name, &identity) &&
                identity.inode == row->identity.inode && identity.mtime == row->identity.mtime;
    note_row(fate, spool, row);
    snprintf(fate->name, sizeof fate->name, "%s", row->name);
    if (kept) {
        snprintf(fate->original, sizeof fate->original, "%s", row->name);
        fate->identity = identity;
        fate->where = FATE_KEPT;
        if (failed)
            fate->told = find_reason_in_place(spool, row->name, found);
    } else {
        find_original(fate, spool, failed, row->name, &row->identity);
    }
    set_ended(fate, failed, row->reason);
}

/* ---- by the place of the path ---- */

/* Whether the file is never taken, and why. */
static bool is_left_alone(struct fate *fate, const struct spool *spool, mode_t mode)
{
    const char *name = fate->name;
    char part[NAME_BYTES + 1];
    if (strchr(name, '/') && !spool->rules->recursive) {
        fate_set(fate, "ignored", "below",
                 "it is in a folder below the watched one, and recursive is off");
        return true;
    }
    for (const char *at = name; *at; at += at[0] == '/') {
        size_t length = strcspn(at, "/");
        snprintf(part, sizeof part, "%.*s", (int)length, at);
        at += length;
        if (part[0] == '.') {
            fate_set(fate, "ignored", "hidden", "names that begin with a dot are left alone");
            return true;
        }
        for (const char *const *pattern = spool->rules->ignore; *pattern; pattern++) {
            if (fnmatch(*pattern, part, 0) == 0) {
                fate_set(fate, "ignored", "pattern", "names like %s are left alone (ignore)",
                         *pattern);
                return true;
            }
        }
    }
    if (S_ISLNK(mode))
        fate_set(fate, "ignored", "link", "links are left alone");
    else if (S_ISDIR(mode))
        fate_set(fate, "ignored", "folder", "it is a folder");
    else if (!S_ISREG(mode))
        fate_set(fate, "ignored", "special",
                 "it is no file: pipes, sockets and devices are left alone");
    return !S_ISREG(mode);
}

/* Whether a claim, INSTANCE/SERIAL in work, has the file of this name. */
static enum walk_answer visit_work(void *name, const struct walk_entry *entry)
{
    char path[NAME_BYTES * 2];
    struct stat status;
    if (!strchr(entry->path, '/'))
        return WALK_ON;
    snprintf(path, sizeof path, "%.30s/%s", entry->name, (const char *)name);
    return fstatat(entry->directory_fd, path, &status, AT_SYMLINK_NOFOLLOW) == 0 ? WALK_STOP
                                                                                : WALK_PAST;
}

static void set_claimed(struct fate *fate)
{
    fate_set(fate, "queued", "claimed", "it is claimed, by this daemon or another one");
}

/* Answers for a path in IN. */
static void find_input(struct fate *fate, const struct spool *spool)
{
    struct ledger *ledger = spool->world->ledger;
    struct stat status;
    struct ledger_row row;
    struct fault fault = FAULT_INIT;
    enum spool_writer writer;
    bool known = false;

    /* It is not there: claimed, or ended, or never seen. */
    if (disk_stat(spool->in_fd, fate->name, &status) != 0) {
        void *base = (void *)(uintptr_t)path_name(fate->name);
        if (!spool->in_place && walk(spool->work_fd, visit_work, NULL, base) == 1) {
            set_claimed(fate);
        } else if (ledger_find(ledger, spool->folder, fate->name, NULL, &row)) {
            bool failed = strcmp(row.state, "failed") == 0;
            note_row(fate, spool, &row);
            find_original(fate, spool, failed, row.name, &row.identity);
            set_ended(fate, failed, row.reason);
            ledger_row_finish(&row);
        } else if (find_original(fate, spool, true, fate->name, NULL)) {
            set_ended(fate, true, NULL);
        } else if (find_original(fate, spool, false, fate->name, NULL)) {
            set_ended(fate, false, NULL);
        } else {
            fate->original[0] = '\0';
            fate_set(fate, "unknown", "never-seen",
                     "no such file is there, and none was seen before");
        }
        return;
    }

    /* It is there, and known as ended. The name stays that of the path: the file may have been
     * renamed since. */
    snprintf(fate->original, sizeof fate->original, "%s", fate->name);
    if (is_left_alone(fate, spool, status.st_mode))
        return;
    fate->where = FATE_IN_PLACE;
    fate->identity = identity_of(&status);
    if (spool->remembers &&
        ledger_knows(ledger, spool->folder, &fate->identity, &known, &fault) != 0) {
        fate_set(fate, "waiting", "folder-unreadable", "%s", fault.text);
        return;
    }
    if (known && ledger_find(ledger, spool->folder, NULL, &fate->identity, &row)) {
        bool failed = strcmp(row.state, "failed") == 0;
        char found[PATH_MAX];
        note_row(fate, spool, &row);
        fate->where = FATE_KEPT;
        if (failed)
            fate->told = find_reason_in_place(spool, row.name, found);
        set_ended(fate, failed, row.reason);
        ledger_row_finish(&row);
        return;
    }

    /* It waits; folder_ask.c says more where its name is known. */
    if (fate->identity.size == 0)
        fate_set(fate, "waiting", "empty", "it is empty: it waits until something is written");
    else if (spool_probe(spool, fate->name, &writer) == SPOOL_UNREADABLE)
        fate_set(fate, "waiting", "unreadable", "it may not be read (yet)");
    else if (writer == SPOOL_WRITTEN)
        fate_set(fate, "waiting", "being-written",
                 "somebody has it open for writing: it waits until it is closed");
    else
        fate_set(fate, "waiting", "not-seen", "it is there, and will be found");
}

/* Answers for a path in done or in failed. */
static void find_set_aside(struct fate *fate, const struct spool *spool, bool failed)
{
    int root_fd = failed ? spool->failed_fd : spool->done_fd;
    struct ledger_row row;
    char named[PATH_MAX];
    if (failed)
        fate->told = read_reason(root_fd, fate->name);
    snprintf(fate->original, sizeof fate->original, "%s", fate->name);
    if (!look_for_file(root_fd, fate->original, &fate->identity)) {
        fate_set(fate, "unknown", "never-seen", "there is no such file in %s",
                 failed ? "failed" : "done");
        return;
    }
    fate->where = failed ? FATE_IN_FAILED : FATE_IN_DONE;
    bool known = ledger_find(spool->world->ledger, spool->folder, NULL, &fate->identity, &row);
    if (known)
        note_row(fate, spool, &row);
    fate_name_of(fate->told, known ? row.name : fate->original, named);
    if (named[0] || known)
        snprintf(fate->name, sizeof fate->name, "%s", named[0] ? named : row.name);
    set_ended(fate, failed, known ? row.reason : NULL);
    if (known)
        ledger_row_finish(&row);
}

/* Finds the file of which this is a result, in OUT itself or in a folder for results below. */
static bool find_result(const struct spool *spool, const char *name, struct ledger_row *row)
{
    const struct watch_settings *rules = spool->rules;
    for (size_t of = 0; of <= watch_count_results(rules); of++) {
        char folder[256] = "", below[PATH_MAX], result[sizeof folder + sizeof(name_buffer) + 2];
        const char *rest = name;
        if (of > 0)
            watch_part(rules->folder, of - 1, folder, sizeof folder);
        size_t length = strlen(folder);
        if (of > 0 && (length == 0 || strncmp(name, folder, length) != 0 || name[length] != '/'))
            continue;
        rest += length + (length > 0);
        snprintf(below, sizeof below, "%.*s", (int)(path_name(rest) - rest), rest);
        snprintf(result, sizeof result, "%s%s%s", folder, length ? LEDGER_BELOW : "",
                 path_name(rest));
        if (ledger_find_result(spool->world->ledger, spool->folder, below, result, row))
            return true;
    }
    return false;
}

void fate_find(struct fate *fate, const struct spool *spool, const struct spot *place)
{
    struct ledger_row row;
    struct fault fault = FAULT_INIT;
    bool known;
    fate_init(fate);
    snprintf(fate->name, sizeof fate->name, "%s", place->name);
    switch (place->kind) {
    case SPOT_INPUT:
        find_input(fate, spool);
        break;
    case SPOT_DONE:
    case SPOT_FAILED:
        find_set_aside(fate, spool, place->kind == SPOT_FAILED);
        break;
    case SPOT_WORK:
        set_claimed(fate);
        break;
    case SPOT_RESULT:
        if (find_result(spool, place->name, &row)) {
            fate_of_row(fate, spool, &row);
            ledger_row_finish(&row);
        } else {
            fate_set(fate, "unknown", "never-seen",
                     "no result of this folder is known by that name");
        }
        break;
    case SPOT_NONE:
        fate_set(fate, "unknown", "not-watched",
                 "it is no file of a watched folder, which sluice status lists");
        break;
    }
    if (fate->reason && strcmp(fate->reason, "never-seen") == 0 &&
        ledger_knows(spool->world->ledger, spool->folder, &fate->identity, &known, &fault) != 0)
        fate_set(fate, "unknown", "ledger-silent", "what became of it cannot be told: %s",
                 fault.text);
}

void fate_find_failed(struct fate *fate, const struct spool *spool, const char *name)
{
    struct spot place = {.kind = spool->in_place ? SPOT_INPUT : SPOT_FAILED};
    json_t *told = spool->in_place ? read_reason(spool->failed_fd, name) : NULL;
    if (spool->in_place)
        fate_name_of(told, name, place.name);
    else
        snprintf(place.name, sizeof place.name, "%s", name);
    json_decref(told);
    fate_find(fate, spool, &place);
}

/* ---- as JSON, and NAME.error.json ---- */

static void add_text(json_t *json, const char *key, const char *text)
{
    if (text && text[0])
        json_object_set_new(json, key, json_text(text));
}

static void add_path(json_t *json, const char *key, const char *folder, const char *between,
                     const char *name)
{
    char path[2 * PATH_MAX + 40];
    snprintf(path, sizeof path, "%s/%s%s", strcmp(folder, "/") == 0 ? "" : folder, between, name);
    add_text(json, key, path);
}

json_t *fate_json(const struct fate *fate, const char *folder)
{
    json_t *json = json_pack("{s:s}", "state", fate->state);
    static const char *const copied[] = {"stage", "chain", "format", "time"};
    static const char *const places[] = {[FATE_IN_PLACE] = "",
                                         [FATE_KEPT] = "",
                                         [FATE_IN_DONE] = SPOOL_HIDDEN "/done/",
                                         [FATE_IN_FAILED] = SPOOL_HIDDEN "/failed/"};
    if (!json)
        return NULL;
    add_text(json, "reason", fate->reason);
    add_text(json, "message", fate->message);
    add_text(json, "folder", folder);
    add_text(json, "name", fate->name);
    if (folder && fate->name[0])
        add_path(json, "file", folder, "", fate->name);
    if (fate->where != FATE_NOWHERE)
        add_path(json, "original", folder ? folder : "", places[fate->where], fate->original);
    const json_t *first = json_array_get(fate->results, 0);
    if (first) {
        json_object_set(json, "result_path", json_object_get(first, "path"));
        json_object_set(json, "result_exists", json_object_get(first, "exists"));
        json_object_set(json, "results", fate->results);
    }
    if (fate->attempts > 0)
        json_object_set_new(json, "attempts", json_integer(fate->attempts));
    if (fate->age >= 0)
        json_object_set_new(json, "for_s", json_real(fate->age));
    if (fate->next >= 0)
        json_object_set_new(json, "next_try_s", json_real(fate->next));
    if (fate->time > 0)
        json_object_set_new(json, "time", json_time(fate->time));
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        json_t *value = json_object_get(fate->told, copied[i]);
        if (json_is_string(value))
            json_object_set(json, copied[i], value);
    }
    return json;
}

char *fate_print_reason(const char *file, const struct fault *fault, const char *step,
                        unsigned attempts, const char *chain, const char *format)
{
    json_t *json =
        json_pack("{s:o, s:s, s:o, s:s, s:I, s:o, s:o, s:o}", "file", json_text(file), "code",
                  fault_name(fault->code), "message", json_text(fault->text), "stage", step,
                  "attempts", (json_int_t)attempts, "chain", json_text(chain), "format",
                  json_text(format), "time", json_time(time(NULL)));
    char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
    struct text line = {0};
    if (text)
        text_printf(&line, "%s\n", text);
    free(text);
    json_decref(json);
    return line.data;
}
