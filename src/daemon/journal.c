/* The journal's own protocol: one datagram a line, "FIELD=value\n" for each field. Values are
 * single lines, as log.c has made them, so the form for binary ones is not needed. */
#include "daemon/journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"
#define DATAGRAM_MAX   8192

static int journal_fd = -1;

struct datagram {
    char text[DATAGRAM_MAX];
    size_t length;
};

/* A field that does not fit is left out whole. */
static void add(struct datagram *datagram, const char *field, const char *value)
{
    size_t start = datagram->length, room = sizeof datagram->text - start;
    int printed = snprintf(datagram->text + start, room, "%s=%s\n", field, value);
    if (printed < 0 || (size_t)printed >= room)
        return;
    datagram->length += (size_t)printed;
    for (char *c = datagram->text + start; *c; c++) /* a name may hold a newline */
        if ((unsigned char)*c < ' ' && c[1])
            *c = '?';
}

static void add_subject(struct datagram *datagram, const struct log_subject *about)
{
    char text[4600];
    if (about->job > 0) {
        snprintf(text, sizeof text, "%" PRId64, about->job);
        add(datagram, "SLUICE_JOB", text);
    }
    if (about->chain)
        add(datagram, "SLUICE_CHAIN", about->chain);
    if (about->folder && about->file) {
        snprintf(text, sizeof text, "%s/%s", about->folder, about->file);
        add(datagram, "SLUICE_FILE", text);
    }
}

static bool send_line(enum log_level level, const char *program, const char *line,
                      const struct log_subject *about)
{
    static const char *const priorities[] = {"3", "4", "6", "7"};
    struct datagram datagram = {.length = 0};
    add(&datagram, "MESSAGE", line);
    add(&datagram, "PRIORITY", priorities[level]);
    add(&datagram, "SYSLOG_IDENTIFIER", program);
    if (about)
        add_subject(&datagram, about);
    /* Not waited for: the journal may be at its limit, and stderr is another way. */
    return send(journal_fd, datagram.text, datagram.length, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           (ssize_t)datagram.length;
}

void journal_attach(void)
{
    static const struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET};
    if (!log_stderr_is_journal())
        return;
    journal_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (journal_fd >= 0 &&
        connect(journal_fd, (const struct sockaddr *)&address, sizeof address) == 0)
        log_set_sink(send_line);
}
