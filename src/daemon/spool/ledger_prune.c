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

/* A remembered file, as the ledger had it when the page was read. */
struct remembered {
    struct identity identity;
    char *name; /* owned */
    sqlite3_int64 row, last;
};

struct page {
    struct remembered rows[PAGE_ROWS];
    size_t n_rows;
    struct remembered after; /* the page begins after this row; owned */
    unsigned generation;     /* of the ledger when the page was read */
};

static void take_row(struct page *page, sqlite3_stmt *list)
{
    struct remembered *row = &page->rows[page->n_rows];
    const char *name = (const char *)sqlite3_column_text(list, 3);
    *row = (struct remembered){.identity = {.inode = (ino_t)sqlite3_column_int64(list, 0),
                                            .size = sqlite3_column_int64(list, 1),
                                            .mtime = sqlite3_column_int64(list, 2),
                                            .device = (dev_t)sqlite3_column_int64(list, 4)},
                               .name = name ? strdup(name) : NULL,
                               .row = sqlite3_column_int64(list, 5),
                               .last = sqlite3_column_int64(list, 6)};
    page->n_rows += row->name != NULL;
}

static void read_page(struct ledger *ledger, const char *folder, struct page *page)
{
    sqlite3_stmt *list = ledger->statements[LIST_REMEMBERED];
    sqlite3_bind_text(list, 1, folder, -1, SQLITE_STATIC);
    ledger_bind_identity(list, 2, &page->after.identity);
    sqlite3_bind_text(list, 5, page->after.name ? page->after.name : "", -1, SQLITE_STATIC);
    sqlite3_bind_int64(list, 6, PAGE_ROWS);
    page->n_rows = 0;
    page->generation = ledger->generation;
    while (page->n_rows < PAGE_ROWS && sqlite3_step(list) == SQLITE_ROW)
        take_row(page, list);
    sqlite3_reset(list);
    sqlite3_clear_bindings(list);
}

/* Keeps the rows whose files are gone, and sets the next page to begin after the last row. */
static void look(struct page *page,
                 bool (*exists)(void *context, const char *name, const struct identity *identity),
                 void *context)
{
    size_t kept = 0;
    free(page->after.name);
    page->after = page->rows[page->n_rows - 1];
    page->after.name = strdup(page->after.name);
    for (size_t i = 0; i < page->n_rows; i++) {
        struct remembered *row = &page->rows[i];
        if (exists(context, row->name, &row->identity))
            free(row->name);
        else
            page->rows[kept++] = *row;
    }
    page->n_rows = kept;
}

static void finish_rows(struct page *page)
{
    for (size_t i = 0; i < page->n_rows; i++)
        free(page->rows[i].name);
    page->n_rows = 0;
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
            ledger_task_add(task, FORGET, "ii", (int64_t)page->rows[i].row,
                            (int64_t)page->rows[i].last);
        if (task)
            task->generation = page->generation + 1;
        ledger_submit(ledger, task, LEDGER_ROOM, NULL);
    }
    finish_rows(page);
    return more && page->after.name;
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
    page->after.identity.inode = (ino_t)INT64_MIN; /* the ledger's numbers are signed */
    while (forget_missing(ledger, folder, page, exists, context))
        ;
    free(page->after.name);
    free(page);
}
