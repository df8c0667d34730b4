#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *log_program = "sluice";
static enum log_level log_threshold = LOG_LEVEL_WARNING;
static bool log_to_journal;
static bool log_time;
static log_sink *log_other;

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
    tzset(); /* reads the zone's file, which a sandbox may hide later */
    log_time = isatty(STDERR_FILENO) == 1;
}

void log_set_sink(log_sink *sink)
{
    log_other = sink;
}

/* The variable is inherited by whatever a service starts, also with another stderr: systemd.exec(5)
 * wants device and inode compared. */
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

/* What stands before the program's name. */
static const char *line_prefix(enum log_level level, char buffer[16])
{
    time_t now = time(NULL);
    struct tm local;
    if (log_to_journal)
        return journal_prefixes[level];
    if (!log_time || !localtime_r(&now, &local) || strftime(buffer, 16, "%H:%M:%S ", &local) == 0)
        return "";
    return buffer;
}

/* One write(2) a line, so that lines of several processes on one stderr do not mix. */
static void write_line(enum log_level level, const char *text)
{
    char line[1300], prefix[16];
    int used =
        snprintf(line, sizeof line, "%s%s: %s\n", line_prefix(level, prefix), log_program, text);
    size_t length = used > 0 && (size_t)used < sizeof line ? (size_t)used : sizeof line - 1;
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written; /* there is nowhere left to say that stderr is gone */
}

static void emit(const struct log_subject *about, enum log_level level, const char *format,
                 va_list args)
{
    char text[1100];
    if (!log_enabled(level))
        return;
    vsnprintf(text, sizeof text, format, args);
    for (char *c = text; *c; c++) /* a file name may hold anything; a line stays a line */
        if ((unsigned char)*c < ' ' && *c != '\t')
            *c = '?';
    if (!log_other || !log_other(level, log_program, text, about))
        write_line(level, text);
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
