/* The log: lines `sluice: TEXT` on stderr; under systemd with the priority prefix of the journal,
 * which has the time; from daemons elsewhere with the time in front; or a JSON object each. Any
 * thread. */
#ifndef SLUICE_BASE_LOG_H
#define SLUICE_BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG,
};

/* Sets the program's name and the level; less important lines are dropped. Before the first call
 * lines are from `sluice`, at level warning. `program` must stay valid. */
void log_init(const char *program, enum log_level level);

/* Any thread, while others log: as the format, it counts from the next line on. */
void log_set_level(enum log_level level);

/* From now on lines begin with the time, unless the journal has it: on a terminal the time of day,
 * elsewhere date and time in UTC. To be called before other threads start. */
void log_show_time(void);

/* As in settings and messages: "text", "json". */
enum log_format {
    LOG_FORMAT_TEXT,
    LOG_FORMAT_JSON, /* docs/daemon.md has the members; no sink is called */
};
void log_set_format(enum log_format format);

/* From now on a line is dropped if it would have to wait for the reader of stderr; a later line
 * says how many were. To be called before other threads start. */
void log_never_wait(void);

/* Reads "error", "warning", "info" or "debug"; false for anything else. */
bool log_level_parse(const char *name, enum log_level *level);

bool log_enabled(enum log_level level);

/* What a line is about: it begins with `FOLDER/FILE: `, or `FILE: ` where that is no file of a
 * folder but a job of a client. Strings are borrowed for the call; NULL and 0: unknown. */
struct log_subject {
    int64_t job;
    const char *request; /* id of a client's request */
    const char *chain;
    const char *folder, *file; /* name of the file within the folder */
};

/* Takes a line (without line end) instead of stderr, on any thread. `about` may be NULL. Returns
 * false if it failed; stderr then gets the line. */
typedef bool log_sink(enum log_level level, const char *program, const char *line,
                      const struct log_subject *about);
void log_set_sink(log_sink *sink);

/* True when stderr is systemd's journal: JOURNAL_STREAM names the very file that it is. */
bool log_stderr_is_journal(void);

/* Logs a line about a file or a job. */
void log_about(struct log_subject about, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Passes on a line that another process of ours has written, without its end; `cut`: only the
 * beginning of it. */
void log_pass(const char *line, size_t length, bool cut);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a library says, as one line of level debug behind the library's name; of the shape that
 * libraries take for this. */
void log_library(void *name, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

#endif
