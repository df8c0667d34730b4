/* The worker process: started, spoken to, killed, started again. One worker serves all jobs; the
 * loop's thread alone calls here, and is the one that forks it, so that the worker dies with us. */
#ifndef SLUICE_DAEMON_SUPERVISE_H
#define SLUICE_DAEMON_SUPERVISE_H

#include "daemon/job.h"
#include "daemon/settings.h"
#include <uv.h>

struct worker;

/* A chain and a format that the worker has to accept and compile before it counts as ready. */
struct supervisor_check {
    const char *chain, *format, *reading;
    char extension[24]; /* that results get; filled in by the answer */
};

/* What the supervisor's timer is for. */
enum supervisor_phase {
    SUPERVISOR_IDLE,     /* not started, or stopped */
    SUPERVISOR_PAUSING,  /* between two workers: until the next start */
    SUPERVISOR_STARTING, /* the device is opened, chains are compiled: how long that may take */
    SUPERVISOR_READY,
    SUPERVISOR_LEAVING, /* hung up: how long it may take to end */
    SUPERVISOR_KILLED,  /* how long until it counts as stuck in the kernel */
};

struct supervisor_events {
    /* All checks passed: at the first start and at each later one. */
    void (*ready)(void *context);
    /* It cannot work: a check failed (`check`; `subject` is "chain", "format", "input" or NULL), or
     * no worker can be started at all (NULL, NULL). It will be tried again unless the supervisor is
     * stopped.
     */
    void (*refused)(void *context, const struct supervisor_check *check, const char *subject,
                    const struct fault *fault);
    /* It has ended, or was given up. Its jobs are to be sorted out; another is started by itself.
     */
    void (*died)(void *context);
    /* began, need-output, done. */
    void (*said)(void *context, const struct message *message);
    /* After supervisor_stop: it has ended. */
    void (*stopped)(void *context);
};

struct supervisor {
    uv_loop_t *loop;
    const struct settings *settings;
    unsigned threads; /* jobs at once */
    size_t n_checks;
    struct supervisor_check *checks;
    const struct supervisor_events *events;
    void *context;

    enum supervisor_phase phase;
    struct worker *worker; /* NULL while idle and pausing */
    size_t n_passed;       /* checks that it has passed so far */
    bool stopping;
    bool ever_ready;
    unsigned failures; /* ends in a row without a job done */
    unsigned n_starts;
    uint64_t started;            /* when the worker was, monotonic nanoseconds */
    uint64_t builds, cache_hits; /* of the worker's life, as it last said */
    uint64_t n_jobs;             /* that workers have done */
    char device[128];            /* as the worker names it; "" without one */
    uv_timer_t timer;
};

/* The members above the blank line are the caller's to set before. */
int supervisor_init(struct supervisor *supervisor, struct fault *fault);

/* Closes what init opened; the worker has stopped. The loop must run once more. */
void supervisor_close(struct supervisor *supervisor);

void supervisor_start(struct supervisor *supervisor);

/* Lets the worker end by itself, by closing the socket. It is killed if it takes long. */
void supervisor_stop(struct supervisor *supervisor);

/* Kills the worker, if there is one; `died` follows. */
void supervisor_kill(struct supervisor *supervisor);

bool supervisor_is_ready(const struct supervisor *supervisor);

/* The worker's process id, 0 when there is none. */
int supervisor_pid(const struct supervisor *supervisor);

/* Both descriptors of the job are borrowed until the worker is done with it or dead. */
void supervisor_send_job(struct supervisor *supervisor, const struct job *job);

/* One more output, or (fd −1) why there is none. */
void supervisor_send_output(struct supervisor *supervisor, const struct job *job, const char *plane,
                            int fd, const struct fault *fault);

#endif
