/* Which workers there are. A slot has the worker that gets jobs and, while another one is started
 * to take its place, that one, too; workers that only end their jobs, or their lives, are in no
 * slot.
 *
 *     main         the worker for all jobs. It is there from the start on
 *     quarantine   one for jobs that a worker died of, or that came to no end in another: one at a
 *                  time, beside the main one. It is started when there is such a job, and leaves
 *                  when there was none for a while
 *
 * What a change of a worker's state leads to (worker.h has the states):
 *
 *     main, ready     it takes the slot, and what was there retires. So a worker is replaced
 * between jobs: after a number of jobs, a time, or when its memory has grown; and when the device
 * that was asked for is tried again main, spoiled   it leaves the slot, and one on the ladder's
 * next device is started main, refused   (or its end before it was ready) the next device of the
 * ladder; where there is none, the same again after a pause that doubles. With a good worker in the
 *                     slot nothing is lost: another try in a minute
 *     main, ended     another one
 *     quarantine      the same, but that its troubles say nothing of the device: where it does not
 *                     come up beside the main one, the next device of the ladder is for it alone
 *
 * Whoever has jobs at workers (worker_jobs) is told of each change, and of deaths. The loop's
 * thread alone calls here, and is the one that forks workers, so that they die with us. */
#ifndef SLUICE_DAEMON_WORK_SUPERVISE_H
#define SLUICE_DAEMON_WORK_SUPERVISE_H

#include "config/settings.h"
#include "daemon/work/fallback.h"
#include "daemon/work/worker.h"
#include <uv.h>

struct supervisor_events {
    /* A main worker has passed all checks: at the first start and at each later one. */
    void (*ready)(void *context);
    /* It cannot work: a check failed (`check`; `subject` is "chain", "format", "input" or NULL), or
     * no worker can be started at all (NULL, NULL). It will be tried again unless the supervisor is
     * stopped. */
    void (*refused)(void *context, const struct worker_check *check, const char *subject,
                    const struct faults *faults);
    /* The answer to supervisor_describe is in its file. */
    void (*described)(void *context);
    /* After supervisor_stop: all have ended. */
    void (*stopped)(void *context);
    /* After supervisor_close, from the loop itself: the memory may be freed. */
    void (*closed)(void *context);
};

LIST_HEAD(worker_list, worker);

enum slot_kind {
    SLOT_MAIN,
    SLOT_QUARANTINE,
    SLOTS
};

struct slot {
    struct worker *worker; /* gets jobs while it is ready; NULL: there is none */
    struct worker *next;   /* starts, and takes the other's place when it is ready */
    uint64_t start_at;     /* when the next one is started; 0: not planned */
    unsigned failures;     /* ends in a row without a job done */
    unsigned rung;         /* of the ladder, below which it has to begin */
};

struct supervisor {
    uv_loop_t *loop;
    const struct settings *settings;
    int config_fd; /* the configuration's text, for workers; −1: there is none */
    size_t n_checks;
    struct worker_check *checks;
    const struct supervisor_events *events;
    void *context;
    const struct worker_jobs *jobs;
    void *jobs_context;
    struct metrics *metrics; /* may be NULL */

    struct slot slots[SLOTS];
    struct worker_list others; /* in no slot */
    struct fallback fallback;
    bool stopping, stopped;
    bool ever_ready;
    bool wipe;         /* the next worker empties the kernel caches first */
    bool wiped;        /* that has been done, and no worker was ready since */
    unsigned n_starts; /* processes */
    unsigned n_recycled;
    unsigned n_lost;       /* given up: a reboot is due */
    uint64_t n_jobs;       /* that workers which are gone have done */
    uint64_t recycle_from; /* not earlier than this */
    uv_timer_t timer;
};

/* The members above the blank line are the caller's to set before. */
int supervisor_init(struct supervisor *supervisor, struct fault *fault);

/* Closes what init opened; the workers have stopped. → closed */
void supervisor_close(struct supervisor *supervisor);

void supervisor_start(struct supervisor *supervisor);

/* Workers end the jobs that they have, and then themselves. → stopped */
void supervisor_stop(struct supervisor *supervisor);

/* Kills all workers, for no reason of their jobs'. */
void supervisor_kill(struct supervisor *supervisor);

/* False when a worker is silent for longer than it should live: for a watchdog. */
bool supervisor_is_sound(const struct supervisor *supervisor);

/* True while there is a main worker for jobs, or will be in a moment: the one that was there has
 * died or is spoiled, and another one is on its way for the first time. */
bool supervisor_is_ready(const struct supervisor *supervisor);

/* The main worker; NULL while none takes jobs. */
struct worker *supervisor_main(const struct supervisor *supervisor);

/* The worker in quarantine, for a job that waits for it: started now where there is none. NULL
 * until it is ready. */
struct worker *supervisor_quarantine(struct supervisor *supervisor);

/* The one that does the work or, where none does, is to do it; NULL: none does. */
const struct worker *supervisor_at_work(const struct supervisor *supervisor);

/* All of them; NULL behind the last. */
struct worker *supervisor_worker(const struct supervisor *supervisor, size_t index);

/* Jobs that workers have done. */
uint64_t supervisor_jobs(const struct supervisor *supervisor);

/* Asks the main worker for stages and devices; they are written to `fd`, which is borrowed until
 * `described`, or the worker's end. */
void supervisor_describe(struct supervisor *supervisor, int fd);

/* What SIGUSR1 wants to know. */
void supervisor_log_state(const struct supervisor *supervisor);

#endif
