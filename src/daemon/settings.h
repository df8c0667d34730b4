/* What the daemon is told to do, wherever it was said: on the command line now, in a file later.
 * Texts are borrowed from whoever read them and outlive the daemon. */
#ifndef SLUICE_DAEMON_SETTINGS_H
#define SLUICE_DAEMON_SETTINGS_H

#include "base/log.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One watched folder. */
struct watch_settings {
    const char *input, *output; /* paths of directories */
    const char *chain, *format;
    const char *reading;       /* how to read pictures, as --input says it; NULL: as usual */
    const char *const *ignore; /* patterns of names, ends with NULL */
    uint64_t stable;           /* nanoseconds without a change that make a found file complete */
};

struct settings {
    const char *device;     /* as --device says it */
    const char *fallback;   /* where that one fails: "cpu", "reference"; NULL: nothing */
    unsigned worker_jobs;   /* that one worker does before it is replaced; 0: any number */
    uint64_t worker_time;   /* nanoseconds, likewise; 0: any time */
    uint64_t worker_growth; /* bytes that its memory may grow by, likewise; 0: by `memory` twice */
    uint64_t max_pixels, max_file, memory;
    unsigned jobs;     /* at once; 0: as many as processors */
    unsigned queue;    /* jobs that are held at once */
    uint64_t job_time; /* nanoseconds that one may take */
    uint64_t shutdown; /* nanoseconds that jobs are given at the end */
    const char *state; /* directory; NULL: found by state.h */
    enum log_level log_level;
    size_t n_watches;
    struct watch_settings *watches;
};

#endif
