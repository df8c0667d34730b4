/* Log lines for whoever runs the programs: `sluice: TEXT` on stderr, one line each; under systemd
 * with the priority prefix that the journal understands, and from daemons on a terminal with the
 * time. Any thread. */
#ifndef SLUICE_BASE_LOG_H
#define SLUICE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG,
};

/* Names the program in each line and sets the level above which lines are dropped. Lines before the
 * first call go out as `sluice` at level warning. `program` is kept, not copied. */
void log_init(const char *program, enum log_level level);

/* From now on lines to a terminal begin with the time of the day. Before other threads start. */
void log_show_time(void);

/* From now on a line is dropped rather than to wait for whoever reads stderr and does not; how many
 * were is told once there is room again. Before other threads start. */
void log_never_wait(void);

/* Reads "error", "warning", "info" or "debug"; false for anything else. */
bool log_level_parse(const char *name, enum log_level *level);

bool log_enabled(enum log_level level);

/* The job that a line is about. Texts are borrowed for the call; NULL and 0: not known. */
struct log_subject {
    int64_t job;
    const char *chain;
    const char *folder, *file; /* the file's name within the folder */
};

/* Takes a line, without its end, in place of stderr; on any thread. `about` may be NULL. False: it
 * did not get through, and stderr has it. */
typedef bool log_sink(enum log_level level, const char *program, const char *line,
                      const struct log_subject *about);
void log_set_sink(log_sink *sink);

/* True when stderr is systemd's journal: JOURNAL_STREAM names the very file that it is. */
bool log_stderr_is_journal(void);

/* A line about one job. */
void log_about(const struct log_subject *about, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
