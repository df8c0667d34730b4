/* The log of modules below the library, in place of base/log.c: lines go to the device whose
 * function the thread is in, or nowhere. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "library/internal.h"

static _Thread_local const struct sluice_device *current;

void library_log_for(const struct sluice_device *device)
{
    current = device;
}

bool log_enabled(enum log_level level)
{
    return current && current->log;
}

static void emit(enum log_level level, const char *format, va_list args)
{
    char line[1100];
    if (!log_enabled(level))
        return;
    vsnprintf(line, sizeof line, format, args);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' && *c != '\t')
            *c = ' ';
    current->log(current->log_context, (int)level, line);
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
