#include "base/log.h"

#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 300 /* milliseconds */

static const char *log_program = "sluice";
static enum log_level log_threshold = LOG_LEVEL_WARNING;
static bool log_to_journal;
static bool log_time;
static log_sink *log_other;
static bool log_hurries;
static atomic_uint log_lost; /* lines that were dropped */

static const char *const level_names[] = {"error", "warning", "info", "debug"};
static const char *const journal_prefixes[] = {"<3>", "<4>", "<6>", "<7>"}; /* sd-daemon(3) */

void log_init(const char *program, enum log_level level)
{
    log_program = program;
    log_threshold = level;
    log_to_journal = log_stderr_is_journal();
}

void log_show_time(void)
{
    tzset(); /* reads the time zone now: a sandbox may hide that file later */
    log_time = isatty(STDERR_FILENO) == 1;
}

void log_never_wait(void)
{
    log_hurries = true;
}

void log_set_sink(log_sink *sink)
{
    log_other = sink;
}

/* Compares device and inode with JOURNAL_STREAM, as systemd.exec(5) asks, since the variable is
 * inherited by programs whose stderr is another. */
bool log_stderr_is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat status;
    unsigned long long device, inode;
    char end;
    return stream && sscanf(stream, "%llu:%llu%c", &device, &inode, &end) == 2 &&
           fstat(STDERR_FILENO, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

bool log_level_parse(const char *name, enum log_level *level)
{
    for (int i = 0; i <= LOG_LEVEL_DEBUG; i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *level = i;
            return true;
        }
    }
    return false;
}

bool log_enabled(enum log_level level)
{
    return level <= log_threshold;
}

/* One write(2) for a line, so that lines of several processes do not mix. Returns false if the
 * reader of stderr does not read for longer than a busy one would. */
static bool write_line(enum log_level level, const char *text)
{
    char line[1300], prefix[16] = "";
    time_t now = time(NULL);
    struct tm local;
    if (log_to_journal)
        strcpy(prefix, journal_prefixes[level]);
    else if (log_time && localtime_r(&now, &local))
        strftime(prefix, sizeof prefix, "%H:%M:%S ", &local);
    int used = snprintf(line, sizeof line, "%s%s: %s\n", prefix, log_program, text);
    size_t length = used > 0 && (size_t)used < sizeof line ? (size_t)used : sizeof line - 1;
    struct iovec bytes = {line, length};
    struct pollfd stream = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (log_hurries && pwritev2(STDERR_FILENO, &bytes, 1, -1, RWF_NOWAIT) >= 0)
        return true;
    if (log_hurries && poll(&stream, 1, log_lost == 0 ? PATIENCE : 0) == 0)
        return false;
    (void)!write(STDERR_FILENO, line, length); /* nothing is left to report this to */
    return true;
}

static void emit(const struct log_subject *about, enum log_level level, const char *format,
                 va_list args)
{
    char text[1100];
    if (!log_enabled(level))
        return;
    vsnprintf(text, sizeof text, format, args);
    for (char *c = text; *c; c++) /* file names may contain control characters */
        if ((unsigned char)*c < ' ' && *c != '\t')
            *c = '?';
    if (log_other && log_other(level, log_program, text, about))
        return;
    /* When there is room again, the log says how many lines were dropped. */
    char missing[100];
    unsigned lost = log_lost;
    snprintf(missing, sizeof missing, "%u lines of the log are lost: nobody read stderr", lost);
    if (lost > 0 && write_line(LOG_LEVEL_WARNING, missing))
        atomic_fetch_sub(&log_lost, lost);
    if (!write_line(level, text))
        log_lost++;
}

void log_about(const struct log_subject *about, enum log_level level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit(about, level, format, args);
    va_end(args);
}

#define LOG_FUNCTION(name, level)                                                                  \
    void name(const char *format, ...)                                                             \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        emit(NULL, level, format, args);                                                           \
        va_end(args);                                                                              \
    }

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warning, LOG_LEVEL_WARNING)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)
