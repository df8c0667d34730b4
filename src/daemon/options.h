/* The command line of sluiced, as settings. */
#ifndef SLUICE_DAEMON_OPTIONS_H
#define SLUICE_DAEMON_OPTIONS_H

#include "daemon/settings.h"

/* What is read from the command line and the environment; `settings` points into it. */
struct daemon_options {
    const char *watch, *output, *chain, *format, *input, *state, *device;
    uint64_t max_pixels, max_file, memory, job_time, worker_time, worker_growth;
    int64_t jobs, worker_jobs;
    int fallback; /* a choice */
    bool quiet, verbose, version;
    struct watch_settings folder;
};

/* Returns −1 and settings that are complete, or the exit status when there is nothing to run. */
int daemon_options_read(struct daemon_options *options, struct settings *settings, int argc,
                        char **argv);

#endif
