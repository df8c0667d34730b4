/* Removes old entries of the ledger. Remembered files are looked for page by page, without holding
 * the ledger in between: a hundred thousand files on a slow card take minutes. */
#include "daemon/spool/ledger_internal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEP_DAYS 30
#define KEEP_ROWS 200000
#define PAGE_ROWS 256

struct page {
    struct ledger_row rows[PAGE_ROWS]; /* remembered files; owned */
    size_t n_rows;
    struct identity after; /* the page begins after this file … */
    char *after_name;      /* … of this name; owned; NULL: none */
    unsigned generation;   /* of the ledger when the page was read */
};

static void read_page(struct ledger *ledger, const char *folder, struct page *page)
{
    sqlite3_stmt *list = ledger->statements[LIST_REMEMBERED];
    sqlite3_bind_text(list, 1, folder, -1, SQLITE_STATIC);
    ledger_bind_identity(list, 2, &page->after);
    sqlite3_bind_text(list, 5, page->after_name ? page->after_name : "", -1, SQLITE_STATIC);
    sqlite3_bind_int64(list, 6, PAGE_ROWS);
    page->n_rows = 0;
    page->generation = ledger->generation;
    while (page->n_rows < PAGE_ROWS && sqlite3_step(list) == SQLITE_ROW)
        page->n_rows += ledger_read_row(list, &page->rows[page->n_rows]);
    sqlite3_reset(list);
    sqlite3_clear_bindings(list);
}

/* Keeps the rows whose files are gone, and sets the next page to begin after the last row. */
static void look(struct page *page,
                 bool (*exists)(void *context, const char *name, const struct identity *identity),
                 void *context)
{
    size_t kept = 0;
    free(page->after_name);
    page->after = page->rows[page->n_rows - 1].identity;
    page->after_name = strdup(page->rows[page->n_rows - 1].name);
    for (size_t i = 0; i < page->n_rows; i++) {
        struct ledger_row *row = &page->rows[i];
        if (exists(context, row->name, &row->identity))
            ledger_row_finish(row);
        else
            page->rows[kept++] = *row;
    }
    page->n_rows = kept;
}

/* Returns false after the last page. */
static bool forget_missing(struct ledger *ledger, const char *folder, struct page *page,
                           bool (*exists)(void *context, const char *name,
                                          const struct identity *identity),
                           void *context)
{
    if (ledger_enter(ledger, NULL) != 0)
        return false;
    read_page(ledger, folder, page);
    ledger_leave(ledger);
    bool more = page->n_rows == PAGE_ROWS;
    if (page->n_rows > 0)
        look(page, exists, context);
    if (page->n_rows > 0) {
        struct ledger_task *task = ledger_task_create();
        for (size_t i = 0; i < page->n_rows; i++)
            ledger_task_add(task, FORGET, "ii", page->rows[i].id, page->rows[i].time);
        if (task)
            task->generation = page->generation + 1;
        ledger_submit(ledger, task, LEDGER_ROOM, NULL);
    }
    for (size_t i = 0; i < page->n_rows; i++)
        ledger_row_finish(&page->rows[i]);
    return more && page->after_name;
}

void ledger_prune(struct ledger *ledger, const char *folder,
                  bool (*exists)(void *context, const char *name, const struct identity *identity),
                  void *context)
{
    if (ledger_enter(ledger, NULL) != 0)
        return;
    int64_t before = ledger_date_before(ledger, KEEP_DAYS * 86400);
    ledger_leave(ledger);
    struct ledger_task *task = ledger_task_create();
    ledger_task_add(task, DROP_OLD, "i", before);
    ledger_task_add(task, DROP_MANY, "i", (int64_t)KEEP_ROWS);
    ledger_submit(ledger, task, LEDGER_ROOM, NULL);
    struct page *page = exists ? calloc(1, sizeof *page) : NULL;
    if (!page)
        return;
    page->after.inode = (ino_t)INT64_MIN; /* the ledger's numbers are signed */
    while (forget_missing(ledger, folder, page, exists, context))
        ;
    free(page->after_name);
    free(page);
}
