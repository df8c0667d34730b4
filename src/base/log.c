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

#include "base/text.h"

#define PATIENCE 300 /* milliseconds */

#define PATH_SHOWN 500 /* bytes of a path at the beginning of a line */

static const char *log_program = "sluice";
static _Atomic(enum log_level) log_threshold = LOG_LEVEL_WARNING;
static bool log_to_journal;
static bool log_time, log_terminal;
static _Atomic(enum log_format) log_format;
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

void log_set_level(enum log_level level)
{
    log_threshold = level;
}

void log_show_time(void)
{
    tzset(); /* reads the time zone now: a sandbox may hide that file later */
    log_time = true;
    log_terminal = isatty(STDERR_FILENO) == 1;
}

void log_set_format(enum log_format format)
{
    log_format = format;
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

#define TIME_MAX 32

/* Date and time in UTC, with milliseconds. */
static void print_time(char text[TIME_MAX])
{
    char seconds[24] = "";
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &utc))
        strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, TIME_MAX, "%s.%03uZ", seconds, (unsigned)(now.tv_nsec / 1000000) % 1000);
}

/* Returns the length. Needs no memory, since a line may be about that. */
static size_t print_text(enum log_level level, const char *text, char *line, size_t size)
{
    char prefix[TIME_MAX + 1] = "";
    time_t now = time(NULL);
    struct tm local;
    if (log_to_journal) {
        strcpy(prefix, journal_prefixes[level]);
    } else if (log_time && log_terminal && localtime_r(&now, &local)) {
        strftime(prefix, sizeof prefix, "%H:%M:%S ", &local);
    } else if (log_time) {
        print_time(prefix);
        strcat(prefix, " ");
    }
    int used = snprintf(line, size, "%s%s: %s\n", prefix, log_program, text);
    return used > 0 && (size_t)used < size ? (size_t)used : size - 1;
}

static void append_json_string(struct text *line, const char *string)
{
    struct text clean = {0};
    text_append_utf8(&clean, string);
    text_append(line, "\"");
    for (const char *c = text_string(&clean); *c; c++)
        if ((unsigned char)*c < ' ')
            text_printf(line, "\\u%04x", (unsigned)*c);
        else
            text_printf(line, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    text_append(line, "\"");
    line->failed |= clean.failed;
    text_finish(&clean);
}

static void print_json(const struct log_subject *about, enum log_level level, const char *text,
                       struct text *line)
{
    char now[TIME_MAX];
    print_time(now);
    text_printf(line, "{\"time\":\"%s\",\"level\":\"%s\",\"program\":\"%s\",\"message\":", now,
                level_names[level], log_program);
    append_json_string(line, text);
    if (about && about->job > 0)
        text_printf(line, ",\"job\":%lld", (long long)about->job);
    if (about && about->request) {
        text_append(line, ",\"request\":");
        append_json_string(line, about->request);
    }
    if (about && about->chain) {
        text_append(line, ",\"chain\":");
        append_json_string(line, about->chain);
    }
    if (about && about->folder && about->file) {
        struct text path = {0};
        text_printf(&path, "%s/%s", about->folder, about->file);
        text_append(line, ",\"file\":");
        append_json_string(line, text_string(&path));
        text_finish(&path);
    }
    text_append(line, "}\n");
}

/* One write(2) for a line, so that lines of several processes do not mix. Returns false if the
 * reader of stderr does not read for longer than a busy one would. */
static bool write_bytes(const char *line, size_t length)
{
    struct iovec bytes = {(char *)(uintptr_t)line, length};
    struct pollfd stream = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (log_hurries && pwritev2(STDERR_FILENO, &bytes, 1, -1, RWF_NOWAIT) >= 0)
        return true;
    if (log_hurries && poll(&stream, 1, log_lost == 0 ? PATIENCE : 0) == 0)
        return false;
    (void)!write(STDERR_FILENO, line, length); /* nothing is left to report this to */
    return true;
}

static bool write_line(const struct log_subject *about, enum log_level level, const char *text)
{
    struct text json = {0};
    char line[1300];
    if (log_format == LOG_FORMAT_JSON)
        print_json(about, level, text, &json);
    bool whole = json.length > 0 && !json.failed;
    bool written = whole ? write_bytes(json.data, json.length)
                         : write_bytes(line, print_text(level, text, line, sizeof line));
    text_finish(&json);
    return written;
}

/* When there is room again, the log says how many lines were dropped. */
static void tell_lost(void)
{
    char missing[100];
    unsigned lost = log_lost;
    snprintf(missing, sizeof missing, "%u lines of the log are lost: nobody read stderr", lost);
    if (lost > 0 && write_line(NULL, LOG_LEVEL_WARNING, missing))
        atomic_fetch_sub(&log_lost, lost);
}

void log_pass(const char *line, size_t length, bool cut)
{
    struct text whole = {0};
    text_append_bytes(&whole, line, length);
    for (size_t i = 0; i < whole.length; i++)
        if ((unsigned char)whole.data[i] < ' ' && whole.data[i] != '\t')
            whole.data[i] = '?';
    text_append(&whole, cut ? " ...\n" : "\n");
    tell_lost();
    if (!whole.failed && !write_bytes(whole.data, whole.length))
        log_lost++;
    text_finish(&whole);
}

static void emit(const struct log_subject *about, enum log_level level, const char *format,
                 va_list args)
{
    char text[1100];
    size_t used = 0;
    if (!log_enabled(level))
        return;
    if (about && about->file) { /* of a long path the end */
        const char *folder = about->folder ? about->folder : "", *file = about->file;
        size_t length = strlen(folder) + 1 + strlen(file);
        size_t left_out = length > PATH_SHOWN ? length - PATH_SHOWN : 0;
        size_t of_folder = left_out < strlen(folder) ? left_out : strlen(folder);
        used = (size_t)snprintf(text, sizeof text, "%s%s%s%s: ", left_out ? "..." : "",
                                folder + of_folder, about->folder ? "/" : "",
                                file + (left_out - of_folder));
    }
    vsnprintf(text + used, sizeof text - used, format, args);
    for (char *c = text; *c; c++) /* file names may contain control characters */
        if ((unsigned char)*c < ' ' && *c != '\t')
            *c = '?';
    if (log_format == LOG_FORMAT_TEXT && log_other && log_other(level, log_program, text, about))
        return;
    tell_lost();
    if (!write_line(about, level, text))
        log_lost++;
}

void log_about(struct log_subject about, enum log_level level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit(&about, level, format, args);
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

void log_library(void *name, const char *format, va_list arguments)
{
    char line[300];
    vsnprintf(line, sizeof line, format, arguments);
    line[strcspn(line, "\n")] = '\0';
    log_debug("%s: %s", (const char *)name, line);
}
