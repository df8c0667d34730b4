/* Which worker processes there are. There are two slots. A slot holds the worker that gets jobs
 * and, while a replacement starts, that one too. Workers that only finish the jobs they have are in
 * no slot.
 *
 *     main         the worker for all jobs; there is one as long as the daemon runs
 *     quarantine   a worker for jobs at which another worker died or did not finish, one at a time,
 *                  on the device below the main one's where there is one (fallback.h). It is
 *                  started for such a job and leaves after 30 s without one
 *
 * supervise.c tells a worker's life from its start to what follows from its end, top to bottom, and
 * the log and sluice_worker_ends_total say why each one was started again.
 *
 * Nobody is called when something happens. libuv's callbacks note it (child.h), and once a turn of
 * the loop supervisor_turn reads what workers have said, sees which have ended, and does what is
 * due. What the supervisor's owner has to know is in `news` then. Jobs' news go to the queue.
 * Only the loop's thread calls these functions, and it forks the workers, so that they die with it.
 */
#ifndef SLUICE_DAEMON_WORK_SUPERVISE_H
#define SLUICE_DAEMON_WORK_SUPERVISE_H

#include "config/settings.h"
#include "daemon/work/fallback.h"
#include "daemon/work/queue.h"
#include "daemon/work/worker.h"
#include <jansson.h>
#include <uv.h>

TAILQ_HEAD(worker_list, worker);

struct slot {
    struct worker *worker; /* gets jobs while it is ready; NULL: there is none */
    /* starts, and takes the place of `worker` when it is ready; NULL: none starts */
    struct worker *next;
    uint64_t start_at; /* when the next one is started; 0: no start is planned */
    unsigned failures; /* ends in a row without a finished job */
    unsigned rung;     /* of quarantine: devices above it have no room for a second worker */
};

/* What has happened since the owner last set this to {0}. */
struct supervisor_news {
    bool ready; /* a main worker has passed all checks: the first, or a later one */
    /* A worker cannot be used: a check failed (`subject` is "chain", "format", "input", or "" where
     * it is none of them), or no worker can be started at all (`check` is NULL). There will be
     * another try unless the supervisor is stopped. None: everything is well. */
    struct faults refused;
    const struct worker_check *check;
    char subject[24];
};

struct supervisor {
    uv_loop_t *loop;
    const struct settings *settings;
    int config_fd; /* a file with what workers have to know (config_print_worker) */
    int pictures_fd; /* −1, or a file with the bytes of second pictures; borrowed */
    size_t n_checks;
    struct worker_check *checks;
    struct queue *queue;     /* of the jobs */
    struct metrics *metrics; /* may be NULL */

    struct slot main, quarantine;
    struct worker_list workers; /* all, the oldest first */
    struct fallback fallback;
    struct supervisor_news news;
    bool stopping;
    bool stirred; /* something has been planned since the last turn */
    bool ever_ready;
    /* Stages and devices, as the main worker last described them; NULL: not yet. */
    json_t *description;
    int description_fd;  /* the file that it describes them in */
    bool on_fallback;    /* another device than the configured one does the work */
    uint64_t down_since; /* when the main worker that is gone ceased to take jobs, or the start */
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

/* Closes what init opened; the loop calls `closed`, with the timer, when the memory may be freed.
 * The workers must have stopped. */
void supervisor_close(struct supervisor *supervisor, uv_close_cb closed);

/* The first worker is started in the next turn. */
void supervisor_start(struct supervisor *supervisor);

/* To be called once a turn of the loop, after all its events. */
void supervisor_turn(struct supervisor *supervisor);

/* The slot's worker while it takes jobs; NULL: none does. */
static inline struct worker *slot_ready(const struct slot *slot)
{
    return slot->worker && slot->worker->state == WORKER_READY ? slot->worker : NULL;
}

/* Workers finish the jobs that they have and end. */
void supervisor_stop(struct supervisor *supervisor);

/* True after supervisor_stop when all workers have ended. */
bool supervisor_has_stopped(const struct supervisor *supervisor);

/* Kills all workers. Their jobs are not blamed for it. */
void supervisor_kill(struct supervisor *supervisor);

/* False when a worker has not answered for longer than it is allowed to live without: for a
 * watchdog. */
bool supervisor_is_sound(const struct supervisor *supervisor);

/* True while a main worker takes jobs, or will in a moment: the previous one has died or is
 * spoiled, and its first replacement is starting. */
bool supervisor_is_ready(const struct supervisor *supervisor);

/* For how long no main worker has taken jobs; 0 while one does. */
uint64_t supervisor_down_for(const struct supervisor *supervisor, uint64_t now);

/* A job waits for the quarantine worker: where there is none, it is started in the next turn. */
void supervisor_want_quarantine(struct supervisor *supervisor);

/* The main worker or, while there is none, the one that starts in its place; NULL: neither. */
const struct worker *supervisor_at_work(const struct supervisor *supervisor);

/* How many jobs workers have finished. */
uint64_t supervisor_jobs(const struct supervisor *supervisor);

/* Logs the state, as SIGUSR1 asks for. */
void supervisor_log_state(const struct supervisor *supervisor);

#endif
