/* Which worker processes there are. There are two slots. A slot holds the worker that gets jobs
 * and, while a replacement starts, that one too. Workers that only finish the jobs they have are in
 * no slot.
 *
 *     main         the worker for all jobs; there is one as long as the daemon runs
 *     quarantine   a worker for jobs at which another worker died or did not finish, one at a time.
 *                  It is started for such a job and leaves after 30 s without one
 *
 * What follows from a change of the main worker's state (worker.h has the states), and where:
 *
 *     ready          it takes the slot, and the worker that was there retires (came_up)
 *     spoiled        it leaves the slot, and one on the ladder's next device is started (spoiled)
 *     refused        the ladder's next device; where there is none, another try after a pause
 *                    that doubles. While a ready worker is in the slot nothing changes for jobs,
 *                    and the next try comes after a minute (on_refused)
 *     ended before   as refused, but the first time the kernel caches are emptied instead
 *     it was ready   (start_failed)
 *     ended later    another worker is started (lose)
 *
 * A worker is replaced between jobs (on_due) after a number of jobs, after a time, when its memory
 * has grown, and when the configured device is to be tried again. Each of these logs a line with
 * the reason, and sluice_worker_ends_total counts every end by its reason (count_end).
 *
 * The quarantine worker follows the same rules, except that its failures say nothing about the
 * device: if it does not become ready beside the main one, it alone goes down the ladder. It does
 * also when the main one was killed because of a job that did not end in its time.
 *
 * Whoever has jobs at workers (worker_jobs) is told of each change and of each death. Only the
 * loop's thread calls these functions, and it forks the workers, so that they die with it. */
#ifndef SLUICE_DAEMON_WORK_SUPERVISE_H
#define SLUICE_DAEMON_WORK_SUPERVISE_H

#include "config/settings.h"
#include "daemon/work/fallback.h"
#include "daemon/work/worker.h"
#include <uv.h>

struct supervisor_events {
    /* A main worker has passed all checks: at the first start and at each later one. */
    void (*ready)(void *context);
    /* A worker cannot be used: a check failed (`check`; `subject` is "chain", "format", "input" or
     * NULL), or no worker can be started at all (both NULL). There will be another try unless the
     * supervisor is stopped. */
    void (*refused)(void *context, const struct worker_check *check, const char *subject,
                    const struct faults *faults);
    /* A chain has moved to the device, which is known from then on. */
    void (*moved)(void *context);
    /* The answer to supervisor_describe is in its file. */
    void (*described)(void *context);
    /* After supervisor_stop: all workers have ended. */
    void (*stopped)(void *context);
    /* After supervisor_close, called from the loop: the memory may be freed. */
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
    /* starts, and takes the place of `worker` when it is ready; NULL: none starts */
    struct worker *next;
    uint64_t start_at; /* when the next one is started; 0: no start is planned */
    unsigned failures; /* ends in a row without a finished job */
    unsigned rung;     /* the first rung of the ladder (fallback.h) that it may use */
};

struct supervisor {
    uv_loop_t *loop;
    const struct settings *settings;
    int config_fd; /* a file with the configuration's text, for workers; −1: there is none */
    size_t n_checks;
    struct worker_check *checks;
    const struct supervisor_events *events;
    void *context;
    const struct worker_jobs *jobs;
    void *jobs_context;
    struct metrics *metrics; /* may be NULL */

    struct slot slots[SLOTS];
    struct worker_list others; /* those in no slot */
    struct fallback fallback;
    bool stopping, stopped;
    bool ever_ready;
    uint64_t down_since; /* when the main worker last ceased to take jobs, or the start */
    bool wipe;           /* the next worker empties the kernel caches first */
    bool wiped;          /* that has happened, and no worker has become ready since */
    unsigned n_starts;   /* processes started so far */
    unsigned n_recycled;
    unsigned n_lost;       /* processes stuck in the kernel: a reboot is due */
    uint64_t n_jobs;       /* finished by workers that have ended */
    uint64_t recycle_from; /* the main worker is not replaced before this time */
    uv_timer_t timer;
};

/* The caller sets the members above the blank line first. */
int supervisor_init(struct supervisor *supervisor, struct fault *fault);

/* Closes what init opened. The workers must have stopped. `closed` follows. */
void supervisor_close(struct supervisor *supervisor);

void supervisor_start(struct supervisor *supervisor);

/* Workers finish the jobs that they have and end. `stopped` follows. */
void supervisor_stop(struct supervisor *supervisor);

/* Kills all workers. Their jobs are not blamed for it. */
void supervisor_kill(struct supervisor *supervisor);

/* False when a worker has not answered for longer than it is allowed to live without: for a
 * watchdog. */
bool supervisor_is_sound(const struct supervisor *supervisor);

/* True while a main worker takes jobs, or will in a moment: the previous one has died or is
 * spoiled, and its first replacement is starting. */
bool supervisor_is_ready(const struct supervisor *supervisor);

/* The main worker; NULL while none takes jobs. */
struct worker *supervisor_main(const struct supervisor *supervisor);

/* For how long no main worker has taken jobs; 0 while one does. */
uint64_t supervisor_down_for(const struct supervisor *supervisor, uint64_t now);

/* The quarantine worker, for a job that waits for it. Where there is none it is started now. NULL
 * until it is ready. */
struct worker *supervisor_quarantine(struct supervisor *supervisor);

/* The main worker or, while there is none, the one that starts in its place; NULL: neither. */
const struct worker *supervisor_at_work(const struct supervisor *supervisor);

/* All workers by index; NULL after the last. */
struct worker *supervisor_worker(const struct supervisor *supervisor, size_t index);

/* How many jobs workers have finished. */
uint64_t supervisor_jobs(const struct supervisor *supervisor);

/* Asks the main worker for stages and devices. The answer is written to `fd`, which must stay open
 * until `described`, or until the worker ends. */
void supervisor_describe(struct supervisor *supervisor, int fd);

/* Logs the state, as SIGUSR1 asks for. */
void supervisor_log_state(const struct supervisor *supervisor);

#endif
