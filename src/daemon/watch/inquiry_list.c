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

/* ---- files under way ---- */

void inquiry_list_jobs(struct probe *probe, const struct folder *folder)
{
    struct page *page = &probe->page;
    struct folder_files *live = &probe->live;
    folder_files_finish(live);
    skip_parts(page);
    if (page->full || page->cursor.target >= page->n_targets || page->cursor.part != PART_LIVE)
        return;
    *live = (struct folder_files){.after = page->cursor.key, .limit = room(page)};
    live->files = calloc(live->limit, sizeof *live->files);
    if (live->files && folder)
        folder_list_jobs(folder, page->state, live);
}

void inquiry_list_live(struct probe *probe)
{
    struct page *page = &probe->page;
    if (!probe->live.files)
        return;
    for (size_t i = 0; i < probe->live.count && !page->full; i++) {
        const struct folder_file *file = &probe->live.files[i];
        struct fate fate;
        fate_init(&fate);
        fate_set(&fate, file->state, NULL, "%s", "");
        fate.attempts = file->attempts;
        snprintf(fate.name, sizeof fate.name, "%s", file->name);
        add(page, fate_json(&fate, probe->target->settings->input), file->name);
    }
    folder_files_finish(&probe->live);
    if (!page->full)
        next_part(page);
}

/* ---- failed, on a thread that reads ---- */

struct names {
    const struct spool *spool;
    struct folder_files list; /* owned, with the names */
};

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
        folder_files_offer(&n->list, (struct folder_file){.name = path});
    }
    return WALK_ON;
}

/* Files that have gone since are left out; the cursor moves past them. */
static void list_failed(struct page *page, const struct target *target, const struct spool *spool)
{
    char after[PATH_MAX];
    struct names n = {spool, {.after = after, .limit = room(page)}};
    struct folder_files *list = &n.list;
    snprintf(after, sizeof after, "%s", page->cursor.key);
    list->files = calloc(list->limit, sizeof *list->files);
    if (list->files)
        walk(spool->failed_fd, visit, NULL, &n);
    for (size_t i = 0; i < list->count; i++) {
        const char *name = list->files[i].name;
        struct fate fate;
        if (!page->full) {
            fate_find_failed(&fate, spool, name);
            bool still = strcmp(fate.state, "failed") == 0;
            add(page, still ? fate_json(&fate, target->settings->input) : NULL, name);
            fate_finish(&fate);
        }
    }
    bool all = list->count < list->limit;
    folder_files_finish(list);
    if (all && !page->full)
        next_part(page);
}

/* ---- done, on a thread that reads ---- */

static void list_done(struct page *page, const struct target *target, const struct spool *spool)
{
    size_t wanted = room(page), count = 0;
    struct ledger_row *rows = calloc(wanted, sizeof *rows);
    if (rows)
        count = ledger_page(spool->world->ledger, spool->folder, "done",
                            strtoll(page->cursor.key, NULL, 10), wanted, rows);
    for (size_t i = 0; i < count; i++) {
        char key[32];
        struct fate fate;
        fate_init(&fate);
        fate_of_row(&fate, spool, &rows[i]);
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

void inquiry_list_ended(struct page *page, const struct target *target, const struct spool *spool)
{
    size_t index = page->cursor.target; /* other targets are asked for themselves */
    for (enum part part; !page->full;) {
        skip_parts(page);
        part = page->cursor.part;
        if (page->cursor.target != index || part == PART_LIVE)
            return;
        if (!spool)
            next_part(page);
        else if (part == PART_FAILED)
            list_failed(page, target, spool);
        else
            list_done(page, target, spool);
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
