/* Reading the ledger: for questions of people, and for requeuing. */
#include "daemon/spool/ledger_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"

void ledger_row_finish(struct ledger_row *row)
{
    free(row->name);
    free(row->state);
    free(row->reason);
    free(row->result);
    *row = (struct ledger_row){0};
}

/* The statement's current row; SQLite owns its texts. */
static struct ledger_row row_of(sqlite3_stmt *s)
{
    return (struct ledger_row){
        .id = sqlite3_column_int64(s, 0),
        .name = (char *)(uintptr_t)sqlite3_column_text(s, 1),
        .identity = {.device = (dev_t)sqlite3_column_int64(s, 2),
                     .inode = (ino_t)sqlite3_column_int64(s, 3),
                     .size = sqlite3_column_int64(s, 4),
                     .mtime = sqlite3_column_int64(s, 5)},
        .state = (char *)(uintptr_t)sqlite3_column_text(s, 6),
        .attempts = (unsigned)sqlite3_column_int64(s, 7),
        .reason = (char *)(uintptr_t)sqlite3_column_text(s, 8),
        .result = (char *)(uintptr_t)sqlite3_column_text(s, 9),
        .remembered = sqlite3_column_int64(s, 10) != 0,
        .time = sqlite3_column_int64(s, 11),
    };
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

bool ledger_read_row(sqlite3_stmt *statement, struct ledger_row *row)
{
    struct ledger_row here = row_of(statement);
    *row = here;
    row->name = copy(here.name);
    row->state = copy(here.state);
    row->reason = copy(here.reason);
    row->result = copy(here.result);
    if (row->name && row->state && !row->reason == !here.reason && !row->result == !here.result)
        return true;
    ledger_row_finish(row);
    return false;
}

/* The statement's first row for which `is_wanted` (NULL: any) returns true. Parameters are bound by
 * the caller; the statement is reset here. */
static bool first_row(struct ledger *ledger, enum statement which,
                      bool (*is_wanted)(const void *context, const struct ledger_row *row),
                      const void *context, struct ledger_row *row)
{
    sqlite3_stmt *s = ledger->statements[which];
    bool found = false;
    while (!found && sqlite3_step(s) == SQLITE_ROW) {
        struct ledger_row here = row_of(s);
        if (is_wanted && !is_wanted(context, &here))
            continue;
        if (!ledger_read_row(s, row))
            break;
        found = true;
    }
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return found;
}

bool ledger_find(struct ledger *ledger, const char *folder, const char *name,
                 const struct identity *identity, struct ledger_row *row)
{
    *row = (struct ledger_row){0};
    if (ledger_enter(ledger, NULL) != 0)
        return false;
    enum statement which = identity ? FIND_FILE : FIND_NAME;
    sqlite3_stmt *s = ledger->statements[which];
    sqlite3_bind_text(s, 1, folder, -1, SQLITE_STATIC);
    if (identity)
        ledger_bind_identity(s, 2, identity);
    else
        sqlite3_bind_text(s, 2, name, -1, SQLITE_STATIC);
    bool found = first_row(ledger, which, NULL, NULL, row);
    ledger_leave(ledger);
    return found;
}

struct wanted {
    const char *below;
    size_t stem; /* length of the result's name in front of the plane; 0: the result has no plane */
    const char *extension; /* begins with the dot */
};

static bool is_result(const void *context, const struct ledger_row *row)
{
    const struct wanted *wanted = context;
    size_t length = (size_t)(path_name(row->name) - row->name);
    if (length != strlen(wanted->below) || strncmp(row->name, wanted->below, length) != 0)
        return false;
    if (wanted->stem == 0)
        return true;
    const char *dot = strchr(row->result + wanted->stem + 1, '.'); /* the end of the other plane */
    return dot && strcmp(dot, wanted->extension) == 0;
}

/* For "a.dy.png": names from "a." up to "a/", since / follows the dot in ASCII. */
static bool find_plane(struct ledger *ledger, const char *folder, struct wanted *wanted,
                       const char *result, struct ledger_row *row)
{
    char from[300], to[300];
    const char *extension = strrchr(result, '.');
    const char *plane = extension ? memrchr(result, '.', (size_t)(extension - result)) : NULL;
    if (!plane || plane == result || plane - result > 280)
        return false;
    wanted->stem = (size_t)(plane - result);
    wanted->extension = extension;
    snprintf(from, sizeof from, "%.*s.", (int)wanted->stem, result);
    snprintf(to, sizeof to, "%.*s/", (int)wanted->stem, result);
    sqlite3_stmt *s = ledger->statements[FIND_PLANE];
    sqlite3_bind_text(s, 1, folder, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, from, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, to, -1, SQLITE_STATIC);
    return first_row(ledger, FIND_PLANE, is_result, wanted, row);
}

bool ledger_find_result(struct ledger *ledger, const char *folder, const char *below,
                        const char *result, struct ledger_row *row)
{
    struct wanted wanted = {.below = below};
    *row = (struct ledger_row){0};
    if (ledger_enter(ledger, NULL) != 0)
        return false;
    sqlite3_stmt *s = ledger->statements[FIND_RESULT];
    sqlite3_bind_text(s, 1, folder, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, result, -1, SQLITE_STATIC);
    bool found = first_row(ledger, FIND_RESULT, is_result, &wanted, row) ||
                 find_plane(ledger, folder, &wanted, result, row);
    ledger_leave(ledger);
    return found;
}

size_t ledger_page(struct ledger *ledger, const char *folder, const char *state, int64_t after,
                   size_t limit, struct ledger_row *rows)
{
    size_t count = 0;
    if (ledger_enter(ledger, NULL) != 0)
        return 0;
    sqlite3_stmt *s = ledger->statements[PAGE];
    sqlite3_bind_text(s, 1, folder, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, state, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 3, after);
    sqlite3_bind_int64(s, 4, (sqlite3_int64)limit);
    while (count < limit && sqlite3_step(s) == SQLITE_ROW && ledger_read_row(s, &rows[count]))
        count++;
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    ledger_leave(ledger);
    return count;
}

int ledger_forget(struct ledger *ledger, const char *folder, const struct identity *identities,
                  size_t count, bool durable, struct fault *fault)
{
    struct ledger_task *task;
    if (!ledger || count == 0)
        return 0;
    task = ledger_task_create();
    for (size_t i = 0; i < count; i++)
        ledger_task_add(task, FORGET_FILE, "tiii", folder, (int64_t)identities[i].inode,
                        identities[i].size, identities[i].mtime);
    return ledger_submit(ledger, task, durable ? LEDGER_LASTS : LEDGER_ROOM, fault);
}
