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

/* Moves the cursor to the next part that may hold files; there may be none left. */
static void next_part(struct page *page)
{
    struct cursor *cursor = &page->cursor;
    cursor->key[0] = '\0';
    if (++cursor->part == PARTS) {
        cursor->part = PART_LIVE;
        cursor->target++;
    }
}

static void skip_parts(struct page *page)
{
    const char *state = page->state;
    bool failed = state && strcmp(state, "failed") == 0, done = state && strcmp(state, "done") == 0;
    const bool wanted[PARTS] = {[PART_LIVE] = !failed && !done,
                                [PART_FAILED] = !state || failed,
                                [PART_DONE] = !state || done};
    while (page->cursor.target < page->n_targets && !wanted[page->cursor.part])
        next_part(page);
}

static size_t room(const struct page *page)
{
    return page->limit - json_array_size(page->files);
}

/* Adds a file to the page, and moves the cursor to it. A file that would make the page too large is
 * the first of the next one; a page has one file at least. NULL, for a file that has gone, moves
 * the cursor alone. */
static void add(struct page *page, json_t *file, const char *key)
{
    size_t bytes = file ? json_dumpb(file, NULL, 0, JSON_COMPACT) + 1 : 0;
    if (bytes > page->bytes_left && json_array_size(page->files) > 0) {
        page->full = true;
        json_decref(file);
        return;
    }
    page->bytes_left -= bytes < page->bytes_left ? bytes : page->bytes_left;
    snprintf(page->cursor.key, sizeof page->cursor.key, "%s", key);
    if (file)
        json_array_append_new(page->files, file);
    page->full = room(page) == 0;
}

/* ---- files under way, on the loop ---- */

void inquiry_list_live(struct inquiry *inquiry, struct page *page)
{
    skip_parts(page);
    if (page->full || page->cursor.target >= page->n_targets || page->cursor.part != PART_LIVE)
        return;
    const struct folder *folder = inquiry_folder(inquiry, page->cursor.target);
    char after[PATH_MAX];
    struct folder_files list = {.after = after, .limit = room(page)};
    snprintf(after, sizeof after, "%s", page->cursor.key);
    list.files = calloc(list.limit, sizeof *list.files);
    if (folder && list.files)
        folder_list(folder, page->state, &list);
    for (size_t i = 0; i < list.count && !page->full; i++) {
        const struct folder_file *file = &list.files[i];
        struct fate fate;
        fate_init(&fate);
        fate_set(&fate, file->state, NULL, "%s", "");
        fate.attempts = file->attempts;
        snprintf(fate.name, sizeof fate.name, "%s", file->name);
        add(page, fate_json(&fate, inquiry->targets[page->cursor.target].settings->input),
            file->name);
    }
    free(list.files);
    if (!page->full)
        next_part(page);
}

/* ---- failed, as an errand ---- */

struct names {
    const struct spool *spool;
    struct folder_files list; /* owned, with the names */
};

static void offer(struct folder_files *list, const char *name)
{
    char *copy = strdup(name);
    const char *last = list->count == list->limit ? list->files[list->count - 1].name : NULL;
    struct folder_file *place = copy ? folder_files_offer(list, name) : NULL;
    if (!place) {
        free(copy);
        return;
    }
    free((char *)(uintptr_t)last);
    place->name = copy;
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
        offer(&n->list, path);
    }
    return WALK_ON;
}

/* Files that have gone since are left out; the cursor moves past them. */
static void list_failed(struct page *page, const struct target *target)
{
    char after[PATH_MAX];
    struct names n = {target->spool, {.after = after, .limit = room(page)}};
    struct folder_files *list = &n.list;
    snprintf(after, sizeof after, "%s", page->cursor.key);
    list->files = calloc(list->limit, sizeof *list->files);
    if (list->files)
        walk(target->spool->failed_fd, visit, NULL, &n);
    for (size_t i = 0; i < list->count; i++) {
        const char *name = list->files[i].name;
        struct fate fate;
        if (!page->full) {
            fate_find_failed(&fate, target->spool, name);
            bool still = strcmp(fate.state, "failed") == 0;
            add(page, still ? fate_json(&fate, target->settings->input) : NULL, name);
            fate_finish(&fate);
        }
        free((char *)(uintptr_t)name);
    }
    free(list->files);
    if (list->count < list->limit && !page->full)
        next_part(page);
}

/* ---- done, as an errand ---- */

static void list_done(struct page *page, const struct target *target)
{
    size_t wanted = room(page), count = 0;
    struct ledger_row *rows = calloc(wanted, sizeof *rows);
    if (rows)
        count = ledger_page(target->spool->world->ledger, target->spool->folder, "done",
                            strtoll(page->cursor.key, NULL, 10), wanted, rows);
    for (size_t i = 0; i < count; i++) {
        char key[32];
        struct fate fate;
        fate_init(&fate);
        fate_of_row(&fate, target->spool, &rows[i]);
        snprintf(key, sizeof key, "%lld", (long long)rows[i].id);
        if (!page->full)
            add(page, fate_json(&fate, target->settings->input), key);
        fate_finish(&fate);
        ledger_row_finish(&rows[i]);
    }
    free(rows);
    if (count < wanted && !page->full)
        next_part(page);
}

void inquiry_list_ended(struct page *page, const struct target *target)
{
    size_t index = page->cursor.target; /* other targets have errands of their own */
    for (enum part part; !page->full;) {
        skip_parts(page);
        part = page->cursor.part;
        if (page->cursor.target != index || part == PART_LIVE)
            return;
        if (!target->spool)
            next_part(page);
        else if (part == PART_FAILED)
            list_failed(page, target);
        else
            list_done(page, target);
    }
}

json_t *inquiry_list_answer(const struct page *page)
{
    char key[3 * PATH_MAX], next[3 * PATH_MAX + 40];
    const struct cursor *cursor = &page->cursor;
    name_escape(cursor->key, key, sizeof key);
    snprintf(next, sizeof next, "%zu:%s:%s", cursor->target, parts[cursor->part], key);
    return json_pack("{s:O, s:o}", "files", page->files, "next",
                     page->full ? json_string(next) : json_null());
}
