/* One worker: a process of sluice-worker, from its start to its end. Its state says what it may be
 * used for, and changes in worker_next alone:
 *
 *     starting   it opens the device and compiles the chains
 *     ready      it has passed its checks and takes jobs
 *     spoiled    its device failed; it takes no new jobs and finishes those it has
 *     retiring   another worker took its place; it takes no new jobs and finishes those it has
 *     leaving    it has no jobs, our end of its socket is closed, and it should exit by itself
 *     killed     SIGKILL was sent
 *     lost       SIGKILL had no effect: the process is stuck in the kernel, and is given up
 *     ended      the process is gone
 *
 * A row of the table is an event (enum worker_event), a column the state in which it comes:
 *
 *                 starting  ready     spoiled  retiring  leaving  killed  lost   ended
 *     passed      ready     ·         ·        ·         ·        ·       ·      ·
 *     refused     leaving   ·         ·        ·         ·        ·       ·      ·
 *     failed      ·         spoiled   ·        ·         ·        ·       ·      ·
 *     unwanted    leaving   retiring  ·        ·         ·        ·       ·      ·
 *     idle        ·         ·         leaving  leaving   ·        ·       ·      ·
 *     hung up     leaving   leaving   leaving  leaving   ·        ·       ·      ·
 *     kill        killed    killed    killed   killed    killed   ·       ·      ·
 *     time over   killed    ·         ·        ·         killed   lost    ·      ·
 *     exited      ended     ended     ended    ended     ended    ended   ended  ·
 *
 * Each change is reported to the supervisor, which decides what follows (supervise.h). Messages
 * about jobs go from here straight to the queue. All on the loop's thread. */
#ifndef SLUICE_DAEMON_WORK_WORKER_H
#define SLUICE_DAEMON_WORK_WORKER_H

#include "base/fault.h"
#include "config/settings.h"
#include "daemon/work/child.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

struct message;
struct metrics;
struct worker;

enum worker_state {
    WORKER_STARTING,
    WORKER_READY,
    WORKER_SPOILED,
    WORKER_RETIRING,
    WORKER_LEAVING,
    WORKER_KILLED,
    WORKER_LOST,
    WORKER_ENDED,
    WORKER_STATES
};

enum worker_event {
    WORKER_PASSED,    /* all its checks */
    WORKER_REFUSED,   /* a check failed */
    WORKER_FAILED,    /* a job met an error of the device */
    WORKER_UNWANTED,  /* another worker has taken its place, or the daemon stops */
    WORKER_IDLE,      /* its last job has ended */
    WORKER_HUNG_UP,   /* it closed its socket by itself */
    WORKER_KILL,      /* somebody wants it killed */
    WORKER_TIME_OVER, /* it has been in its state for too long */
    WORKER_EXITED,
    WORKER_EVENTS
};

/* Returns the state after an event. Pure. */
enum worker_state worker_next(enum worker_state state, enum worker_event event);

/* "starting", "ready", … */
const char *worker_state_name(enum worker_state state);

/* Why a worker ended, as far as its jobs are concerned. */
enum worker_cause {
    WORKER_CRASHED, /* because of what it did: a signal, an exit status, a message that made no
                       sense */
    WORKER_LATE,    /* we killed it because a job did not end in its time */
    WORKER_TAKEN,   /* for a reason that its jobs have nothing to do with: a SIGKILL that we did not
                       send (by a person, or because memory ran out), pings without an answer, the end
                       of the daemon */
};

/* A chain and a format that the worker has to accept and compile before it counts as ready. */
struct worker_check {
    const char *chain, *format, *reading;
    char extension[24]; /* of results in that format; filled in by the first answer, and never
                           changed */
    bool passed;        /* at least once */
};

/* Where a checked chain runs, as the worker last said. */
struct worker_tier {
    char kind[20]; /* of the device: "native", "gpu", …, "reference"; "": none, or not known */
    char why[480]; /* it does not run on the device that was chosen; "": it does, or will */
    unsigned done, of; /* of what that device needs for it; both 0: it waits for nothing */
    bool moved;        /* it has moved, or never will */
};

struct worker_events {
    /* A check was passed. */
    void (*passed)(struct worker *worker, struct worker_check *check, const struct message *answer);
    /* A checked chain has moved to the device, or never will. */
    void (*moved)(struct worker *worker, const struct worker_check *check);
    /* A check failed, before the state changes; `subject` as in supervisor_events. */
    void (*refused)(struct worker *worker, const struct worker_check *check, const char *subject,
                    const struct faults *faults);
    /* Its state has changed. After `lost` and `ended` the receiver calls worker_destroy. */
    void (*changed)(struct worker *worker);
    /* Another worker should take its place between jobs: it has done its share of jobs, or its
     * memory has grown. */
    void (*due)(struct worker *worker, const char *why);
    /* The answer to supervisor_describe is in its file. */
    void (*described)(struct worker *worker);
};

/* Whoever has jobs at workers. Workers call these directly. */
struct worker_jobs {
    /* A message about a job: began, need-output, done. */
    void (*said)(void *context, struct worker *worker, const struct message *message);
    /* Some worker's state has changed: it may take jobs now, or no longer. */
    void (*changed)(void *context);
    /* The worker has ended, or was given up: its jobs have to be dealt with. */
    void (*died)(void *context, struct worker *worker);
};

struct worker {
    uv_loop_t *loop;
    const struct settings *settings;
    int config_fd; /* a file with the configuration, sent with the setup; −1: there is none */
    const struct worker_events *events;
    void *context;
    const struct worker_jobs *jobs; /* who is told about its jobs */
    void *jobs_context;
    struct metrics *metrics; /* may be NULL */
    size_t n_checks;
    struct worker_check *checks;
    const char *device; /* as the setup message names it */
    unsigned rung;      /* of the ladder that the device stands on (fallback.h) */
    bool wipe;          /* it empties the kernel caches first */
    bool quarantine;    /* it gets one job at a time, of those at which other workers died */

    enum worker_state state;
    struct worker_tier *tiers; /* one a check; owned */
    struct child *child;
    int pid;                       /* of the process that does the work; for people */
    unsigned n_passed;             /* checks passed */
    unsigned prepared, to_prepare; /* programs compiled, and to compile, for the present check, as
                                      it last reported */
    unsigned in_flight;            /* jobs that it has */
    uint64_t started,
        used; /* when it started, and when its last job ended; monotonic nanoseconds */
    uint64_t n_jobs;
    uint64_t n_good;             /* those without an error of the device */
    uint64_t builds, cache_hits; /* as it last reported */
    uint64_t resident_first;     /* bytes of memory when it became ready; 0: not known */
    uint64_t resident_seen;      /* when its memory was last looked at, monotonic nanoseconds */
    unsigned unanswered;         /* pings since its last sign of life */
    unsigned n_pings, n_asked;   /* pings and questions (describe) that it has not answered */
    unsigned n_nonsense;         /* messages that made no sense */
    bool kept;                   /* its process is a keeper (worker/keeper.h) */
    bool came_up;
    bool killed;             /* by us, for the reason `cause` */
    bool cut;                /* it closed its socket itself */
    enum worker_cause cause; /* valid in killed, lost and ended */
    struct child_end end;    /* valid in ended */
    struct fault trouble;    /* the device's error */
    char name[128];          /* the device's name; "" without one */
    char sandbox[200];       /* the sandbox's level, as the worker reported it */
    uv_timer_t timer;
    LIST_ENTRY(worker) in_list;
};

/* Starts a process. The members above the blank line are taken from `how`. FAULT_NO_DEVICE,
 * FAULT_IO, FAULT_MEMORY: none can be started. */
int worker_start(struct worker **worker, const struct worker *how, struct fault *fault);

/* Forgets the process, whatever it does. The loop frees the memory. Takes NULL; clears the pointer.
 */
void worker_destroy(struct worker **worker);

/* The worker gets no more jobs, and leaves when it has none. */
void worker_retire(struct worker *worker);

/* Sends SIGKILL. The state then becomes ended, or lost when the process does not die. */
void worker_kill(struct worker *worker, enum worker_cause cause);

/* Notes that a message of the worker made no sense: `what` completes "the worker …". No worker of
 * ours says such things, so after a few it is killed, and nothing it says counts any more. */
void worker_note_nonsense(struct worker *worker, const char *what);

/* Descriptors are borrowed for the call. */
void worker_send(struct worker *worker, const struct message *message);

/* One of its jobs has ended, with that message. */
void worker_end_job(struct worker *worker, const struct message *done);

/* Asks the supervisor for another worker in its place. */
void worker_replace(struct worker *worker, const char *why);

/* False when it has left more pings unanswered than it may. */
bool worker_is_sound(const struct worker *worker);

/* While it starts: how many programs are compiled, and an estimate of all, which assumes that every
 * check takes as many as the present one. Both are 0 as long as nothing is known. */
void worker_progress(const struct worker *worker, unsigned *done, unsigned *of);

#endif
