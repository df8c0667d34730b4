#include "daemon/front/front.h"

#ifdef SLUICE_SYSTEMD
#include <inttypes.h>
#include <stdio.h>
#include <sys/uio.h>

#define SD_JOURNAL_SUPPRESS_LOCATION /* the place in this file would say nothing */
#include <systemd/sd-journal.h>

#include "base/log.h"

enum {
    FIELDS_MAX = 7,
    FIELD_SIZE = 4700 /* room for a path and a field name */
};

struct entry {
    char text[FIELDS_MAX][FIELD_SIZE];
    struct iovec fields[FIELDS_MAX];
    int count;
};

/* Adds a field; one that does not fit is left out. */
static void add(struct entry *entry, const char *field, const char *value)
{
    char *text = entry->text[entry->count];
    int printed = snprintf(text, FIELD_SIZE, "%s=%s", field, value);
    if (printed > 0 && printed < FIELD_SIZE)
        entry->fields[entry->count++] = (struct iovec){text, (size_t)printed};
}

static void add_subject(struct entry *entry, const struct log_subject *about)
{
    char text[FIELD_SIZE];
    if (about->job > 0) {
        snprintf(text, sizeof text, "%" PRId64, about->job);
        add(entry, "SLUICE_JOB", text);
    }
    if (about->request)
        add(entry, "SLUICE_REQUEST", about->request);
    if (about->chain)
        add(entry, "SLUICE_CHAIN", about->chain);
    if (about->folder && about->file) {
        snprintf(text, sizeof text, "%s/%s", about->folder, about->file);
        add(entry, "SLUICE_FILE", text);
    }
}

static bool send_line(enum log_level level, const char *program, const char *line,
                      const struct log_subject *about)
{
    static const char *const priorities[] = {"3", "4", "6", "7"};
    struct entry entry = {.count = 0};
    add(&entry, "MESSAGE", line);
    add(&entry, "PRIORITY", priorities[level]);
    add(&entry, "SYSLOG_IDENTIFIER", program);
    if (about)
        add_subject(&entry, about);
    return sd_journal_sendv(entry.fields, entry.count) == 0; /* otherwise the line goes to stderr */
}

void journal_attach(void)
{
    if (log_stderr_is_journal())
        log_set_sink(send_line);
}
#else /* log lines go to stderr */

void journal_attach(void)
{
}
#endif
