#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *log_program = "sluice";
static enum log_level log_threshold = LOG_LEVEL_WARNING;
static bool log_to_journal;

static const char *const level_names[] = {"error", "warning", "info", "debug"};
static const char *const journal_prefixes[] = {"<3>", "<4>", "<6>", "<7>"}; /* sd-daemon(3) */

void log_init(const char *program, enum log_level level)
{
    log_program = program;
    log_threshold = level;
    log_to_journal = getenv("JOURNAL_STREAM") != NULL && !isatty(STDERR_FILENO);
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

/* One write(2) a line, so that lines of several processes on one stderr do not mix. */
static void emit(enum log_level level, const char *format, va_list args)
{
    if (!log_enabled(level))
        return;
    char line[1200];
    int used = snprintf(line, sizeof line, "%s%s: ", log_to_journal ? journal_prefixes[level] : "",
                        log_program);
    int more = vsnprintf(line + used, sizeof line - (size_t)used - 1, format, args);
    size_t length = (size_t)used + (more > 0 ? (size_t)more : 0);
    if (length > sizeof line - 2)
        length = sizeof line - 2;
    for (size_t i = 0; i < length; i++) /* a file name may hold anything; a line stays a line */
        if ((unsigned char)line[i] < ' ' && line[i] != '\t')
            line[i] = '?';
    line[length++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written; /* there is nowhere left to say that stderr is gone */
}

#define LOG_FUNCTION(name, level)                                                                  \
    void name(const char *format, ...)                                                             \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        emit(level, format, args);                                                                 \
        va_end(args);                                                                              \
    }

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warning, LOG_LEVEL_WARNING)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)
