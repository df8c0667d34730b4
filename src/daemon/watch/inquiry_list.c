/* Lists files page by page. Memory holds one page at most, however many files there are. */
#include "daemon/watch/inquiry_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "base/walk.h"
#include "daemon/spool/ledger.h"

static const char *const parts[PARTS] = {"live", "failed", "done"};

/* A cursor is text such as "2:failed:sub/a.jpg", with the name as name_escape writes it, so that
 * clients give back the same bytes. */
bool inquiry_read_cursor(const char *text, struct cursor *cursor)
{
    char *end;
    unsigned long target = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != ':' || target > 100000)
        return false;
    cursor->target = target;
    text = end + 1;
    for (int part = 0; part < PARTS; part++) {
        size_t length = strlen(parts[part]);
        if (strncmp(text, parts[part], length) != 0 || text[length] != ':')
            continue;
        cursor->part = (enum part)part;
        return name_unescape(text + length + 1, cursor->key, sizeof cursor->key);
    }
    return false;
}

static bool is_wanted(const struct inquiry *inquiry, enum part part)
{
    const char *state = inquiry->state;
    if (!state)
        return true;
    bool failed = strcmp(state, "failed") == 0, done = strcmp(state, "done") == 0;
    return part == PART_FAILED ? failed : part == PART_DONE ? done : !failed && !done;
}

/* Moves the cursor to the next part that may hold files; there may be none left. */
static void next_part(struct inquiry *inquiry)
{
    struct cursor *cursor = &inquiry->cursor;
    cursor->key[0] = '\0';
    if (++cursor->part == PARTS) {
        cursor->part = PART_LIVE;
        cursor->target++;
    }
}

static void skip_parts(struct inquiry *inquiry)
{
    while (inquiry->cursor.target < inquiry->n_targets && !is_wanted(inquiry, inquiry->cursor.part))
        next_part(inquiry);
}

static size_t room(const struct inquiry *inquiry)
{
    return inquiry->limit - json_array_size(inquiry->files);
}

/* Adds a file to the page, and moves the cursor to it. */
static void add(struct inquiry *inquiry, json_t *file, const char *key)
{
    if (!file)
        return;
    json_array_append_new(inquiry->files, file);
    snprintf(inquiry->cursor.key, sizeof inquiry->cursor.key, "%s", key);
    inquiry->full = room(inquiry) == 0;
}

static const struct target *target_of(const struct inquiry *inquiry)
{
    return &inquiry->targets[inquiry->cursor.target];
}

/* ---- files under way, on the loop ---- */

void inquiry_list_live(struct inquiry *inquiry)
{
    skip_parts(inquiry);
    if (inquiry->full || inquiry->cursor.target >= inquiry->n_targets ||
        inquiry->cursor.part != PART_LIVE)
        return;
    size_t wanted = room(inquiry);
    struct folder_file *files = calloc(wanted, sizeof *files);
    const struct folder *folder = inquiry_folder(inquiry, inquiry->cursor.target);
    char after[PATH_MAX];
    snprintf(after, sizeof after, "%s", inquiry->cursor.key);
    size_t count = folder && files ? folder_list(folder, inquiry->state, after, wanted, files) : 0;
    for (size_t i = 0; i < count; i++) {
        struct fate fate;
        fate_init(&fate);
        fate_set(&fate, files[i].state, NULL, "%s", "");
        fate.attempts = files[i].attempts;
        snprintf(fate.name, sizeof fate.name, "%s", files[i].name);
        add(inquiry, fate_json(&fate, target_of(inquiry)->settings->input), files[i].name);
    }
    free(files);
    if (!inquiry->full)
        next_part(inquiry);
}

/* ---- failed, as an errand ---- */

/* The first names after `after`, in order. */
struct names {
    const struct spool *spool;
    const char *after;
    size_t limit, count;
    char **names; /* owned */
};

static void offer(struct names *n, const char *name)
{
    if (strcmp(name, n->after) <= 0 ||
        (n->count == n->limit && strcmp(name, n->names[n->count - 1]) >= 0))
        return;
    char *copy = strdup(name);
    size_t low = 0, high = n->count;
    if (!copy)
        return;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(n->names[middle], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (n->count == n->limit)
        free(n->names[--n->count]);
    memmove(&n->names[low + 1], &n->names[low], (n->count - low) * sizeof *n->names);
    n->names[low] = copy;
    n->count++;
}

static enum walk_answer visit(void *context, const struct walk_entry *entry)
{
    struct names *n = context;
    bool in_place = n->spool->in_place;
    char path[PATH_MAX];
    if (entry->name[0] == '.')
        return WALK_PAST;
    if (entry->kind != DT_DIR && name_is_reason(entry->name) == in_place) {
        size_t length = in_place ? name_reason_stem(entry->path) : strlen(entry->path);
        snprintf(path, sizeof path, "%.*s", (int)length, entry->path);
        offer(n, path);
    }
    return WALK_ON;
}

/* Files that have gone since are left out; the cursor moves past them. */
static void list_failed(struct inquiry *inquiry)
{
    const struct target *target = target_of(inquiry);
    struct names n = {0};
    char after[PATH_MAX];
    size_t wanted = room(inquiry);
    snprintf(after, sizeof after, "%s", inquiry->cursor.key);
    char **names = calloc(wanted + 1, sizeof *names);
    if (names) {
        n = (struct names){.spool = target->spool, .after = after, .limit = wanted, .names = names};
        walk(target->spool->failed_fd, visit, NULL, &n);
    }
    for (size_t i = 0; i < n.count; i++) {
        struct fate fate;
        fate_find_failed(&fate, target->spool, names[i]);
        snprintf(inquiry->cursor.key, sizeof inquiry->cursor.key, "%s", names[i]);
        if (strcmp(fate.state, "failed") == 0)
            add(inquiry, fate_json(&fate, target->settings->input), names[i]);
        fate_finish(&fate);
        free(names[i]);
    }
    bool last = !names || n.count < wanted;
    free(names);
    if (last && !inquiry->full)
        next_part(inquiry);
}

/* ---- done, as an errand ---- */

static void list_done(struct inquiry *inquiry)
{
    const struct target *target = target_of(inquiry);
    size_t wanted = room(inquiry), count = 0;
    struct ledger_row *rows = calloc(wanted, sizeof *rows);
    if (rows)
        count = ledger_page(target->spool->world->ledger, target->spool->folder, "done",
                            strtoll(inquiry->cursor.key, NULL, 10), wanted, rows);
    for (size_t i = 0; i < count; i++) {
        char key[32];
        struct fate fate;
        fate_init(&fate);
        fate_of_row(&fate, target->spool, &rows[i]);
        snprintf(key, sizeof key, "%lld", (long long)rows[i].id);
        add(inquiry, fate_json(&fate, target->settings->input), key);
        fate_finish(&fate);
        ledger_row_finish(&rows[i]);
    }
    free(rows);
    if (count < wanted)
        next_part(inquiry);
}

void inquiry_list_ended(struct inquiry *inquiry)
{
    size_t target = inquiry->cursor.target; /* other targets have errands of their own */
    for (enum part part; !inquiry->full;) {
        skip_parts(inquiry);
        part = inquiry->cursor.part;
        if (inquiry->cursor.target != target || part == PART_LIVE)
            return;
        if (!target_of(inquiry)->spool)
            next_part(inquiry);
        else if (part == PART_FAILED)
            list_failed(inquiry);
        else
            list_done(inquiry);
    }
}

json_t *inquiry_list_answer(struct inquiry *inquiry)
{
    char key[3 * PATH_MAX], next[3 * PATH_MAX + 40];
    const struct cursor *cursor = &inquiry->cursor;
    name_escape(cursor->key, key, sizeof key);
    snprintf(next, sizeof next, "%zu:%s:%s", cursor->target, parts[cursor->part], key);
    return json_pack("{s:O, s:o}", "files", inquiry->files, "next",
                     inquiry->full ? json_string(next) : json_null());
}
