/* The worker processes: one at work, for a moment a second one that takes over, and those that
 * leave. Which device they get, when one is replaced, what is to follow when one ends. The loop's
 * thread alone calls here, and is the one that forks them, so that they die with us.
 *
 * A worker is replaced between jobs: another is started beside it and made ready, then the old one
 * gets no more jobs, and when its last is done it leaves and the new one takes over. That is done
 * after a number of jobs, a time, or when its memory has grown; when its device failed; and when
 * the device that was asked for is to be tried again. */
#ifndef SLUICE_DAEMON_WORK_SUPERVISE_H
#define SLUICE_DAEMON_WORK_SUPERVISE_H

#include "config/settings.h"
#include "daemon/work/fallback.h"
#include "daemon/work/job.h"
#include "daemon/work/stint.h"
#include <uv.h>

struct metrics;

struct supervisor_events {
    /* All checks passed: at the first start and at each later one. */
    void (*ready)(void *context);
    /* It cannot work: a check failed (`check`; `subject` is "chain", "format", "input" or NULL), or
     * no worker can be started at all (NULL, NULL). It will be tried again unless the supervisor is
     * stopped.
     */
    void (*refused)(void *context, const struct stint_check *check, const char *subject,
                    const struct faults *faults);
    /* The worker that had the jobs has ended, or was given up. Its jobs are to be sorted out;
     * another is started by itself.
     */
    void (*died)(void *context);
    /* began, need-output, done. */
    void (*said)(void *context, const struct message *message);
    /* After supervisor_stop: all have ended. */
    void (*stopped)(void *context);
    /* After supervisor_close, from the loop itself: the memory may be freed. */
    void (*closed)(void *context);
};

LIST_HEAD(stint_list, stint);

struct supervisor {
    uv_loop_t *loop;
    const struct settings *settings;
    int config_fd; /* the configuration's text, for workers; −1: there is none */
    size_t n_checks;
    struct stint_check *checks;
    const struct supervisor_events *events;
    void *context;
    struct metrics *metrics; /* may be NULL */

    struct stint *current;     /* has the jobs; NULL until the first is ready, and after a death */
    struct stint *next;        /* starting, or ready and waiting for the current one's last job */
    struct stint_list leaving; /* hung up or killed, without jobs */
    struct fallback fallback;
    bool stopping, stopped;
    bool ever_ready;
    bool wipe;         /* the next worker empties the kernel caches first */
    bool wiped;        /* that has been done, and no worker was ready since */
    unsigned failures; /* ends in a row without a job done */
    unsigned n_starts; /* processes */
    unsigned n_recycled;
    unsigned n_lost;       /* given up: a reboot is due */
    uint64_t n_jobs;       /* that workers have done */
    uint64_t start_at;     /* when the next one is started; 0: not planned */
    uint64_t recycle_from; /* not earlier than this */
    uv_timer_t timer;
};

/* The members above the blank line are the caller's to set before. */
int supervisor_init(struct supervisor *supervisor, struct fault *fault);

/* Closes what init opened; the workers have stopped. → closed */
void supervisor_close(struct supervisor *supervisor);

void supervisor_start(struct supervisor *supervisor);

/* Lets the workers end by themselves, by closing their sockets. They are killed if it takes long.
 */
void supervisor_stop(struct supervisor *supervisor);

/* Kills the worker that has the jobs, if there is one; `died` follows. */
void supervisor_kill(struct supervisor *supervisor);

/* False when a worker is silent for longer than it should live: for a watchdog. */
bool supervisor_is_sound(const struct supervisor *supervisor);

/* True while a worker takes jobs. */
bool supervisor_is_ready(const struct supervisor *supervisor);

/* Both descriptors of the job are borrowed. */
void supervisor_send_job(struct supervisor *supervisor, const struct job *job);

/* One more output, or (fd −1) why there is none. */
void supervisor_send_output(struct supervisor *supervisor, const struct job *job, const char *plane,
                            int fd, const struct fault *fault);

/* Asks the worker at work for stages and devices; they are written to `fd`, which is borrowed until
 * `said` tells of MESSAGE_DESCRIBED or the worker dies. False: there is none. */
bool supervisor_describe(struct supervisor *supervisor, int fd);

/* What SIGUSR1 wants to know. */
void supervisor_log_state(const struct supervisor *supervisor);

#endif
