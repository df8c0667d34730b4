/* One worker: a process of sluice-worker, from its start to its end. What it is good for is its
 * state, which changes in worker_next alone:
 *
 *     starting   the device is opened and chains are compiled
 *     ready      it has passed its checks and takes jobs
 *     spoiled    its device failed under a job: it takes no more, and ends those that it has
 *     retiring   it is not wanted any more: the same
 *     leaving    its socket is closed; without jobs it ends by itself
 *     killed     SIGKILL was sent
 *     lost       which did not help: it is stuck in the kernel, and given up
 *     ended      the process is gone
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
 * Each change is told to its supervisor, which decides what follows (supervise.h). What the worker
 * says about jobs goes from here to the queue and nowhere else. All on the loop's thread. */
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
    WORKER_UNWANTED,  /* another one has taken its place, or all is to end */
    WORKER_IDLE,      /* its last job has ended */
    WORKER_HUNG_UP,   /* it has closed its socket by itself */
    WORKER_KILL,      /* it is to be killed */
    WORKER_TIME_OVER, /* that it may be in its state */
    WORKER_EXITED,
    WORKER_EVENTS
};

/* The state after an event. Pure. */
enum worker_state worker_next(enum worker_state state, enum worker_event event);

/* "starting", "ready", … */
const char *worker_state_name(enum worker_state state);

/* Why a worker ended, as far as the jobs that it had are concerned. */
enum worker_cause {
    WORKER_CRASHED, /* by what it did: a fault, an exit, nonsense that it said */
    WORKER_LATE,    /* we killed it, because a job did not end in its time */
    WORKER_TAKEN,   /* for no reason of theirs: a SIGKILL that we did not send (somebody's, or for
                       want of memory), no sign of life, the end of the daemon */
};

/* A chain and a format that the worker has to accept and compile before it counts as ready. */
struct worker_check {
    const char *chain, *format, *reading;
    char extension[24]; /* that results get; filled in by the first answer, and stays */
    bool passed;        /* once at least */
};

struct worker_events {
    /* A check was passed. */
    void (*passed)(struct worker *worker, struct worker_check *check, const struct message *answer);
    /* A check failed, before the state changes; `subject` as in supervisor_events. */
    void (*refused)(struct worker *worker, const struct worker_check *check, const char *subject,
                    const struct faults *faults);
    /* Its state has changed. After `lost` and `ended` the callee calls worker_destroy. */
    void (*changed)(struct worker *worker);
    /* Another one should take its place, between jobs: it has done its share, or has grown. */
    void (*due)(struct worker *worker, const char *why);
    /* The answer to worker_describe is in its file. */
    void (*described)(struct worker *worker);
};

/* Whoever has jobs at workers, told without anybody between. */
struct worker_jobs {
    /* A worker says something about a job: began, need-output, done. */
    void (*said)(void *context, struct worker *worker, const struct message *message);
    /* Some worker's state has changed: it may take jobs now, or not any more. */
    void (*changed)(void *context);
    /* It has ended, or was given up: its jobs are to be sorted out. */
    void (*died)(void *context, struct worker *worker);
};

struct worker {
    uv_loop_t *loop;
    const struct settings *settings;
    int config_fd; /* what a setup has beside it; −1: nothing */
    const struct worker_events *events;
    void *context;
    const struct worker_jobs *jobs; /* what hears of its jobs */
    void *jobs_context;
    struct metrics *metrics; /* may be NULL */
    size_t n_checks;
    struct worker_check *checks;
    const char *device; /* as a setup says it */
    unsigned rung;      /* of the ladder that the device stands on (fallback.h) */
    bool wipe;          /* kernel caches first */
    bool quarantine;    /* it gets one job at a time, of those that others died of */

    enum worker_state state;
    struct child *child;
    int pid;                       /* of the process that does the work; for people */
    unsigned n_passed;             /* checks */
    unsigned prepared, to_prepare; /* programs of the check that it is at, as it last said */
    unsigned in_flight;            /* jobs that it has */
    uint64_t started, used;        /* monotonic nanoseconds; when its last job ended */
    uint64_t n_jobs;
    uint64_t n_good;             /* … that met no error of the device */
    uint64_t builds, cache_hits; /* as it last said */
    uint64_t resident_first;     /* bytes, when it was ready; 0: not known */
    uint64_t resident_seen;      /* when that was last looked at, monotonic nanoseconds */
    unsigned unanswered;         /* times that it was asked for a sign of life since it gave one */
    bool kept;                   /* its process has told that another one keeps it */
    bool came_up;
    bool killed;             /* by us, for `cause` */
    bool cut;                /* it closed its socket itself */
    enum worker_cause cause; /* valid once it is killed, lost or ended */
    struct child_end end;    /* valid once it has ended */
    struct fault trouble;    /* of its device */
    char name[128];          /* of its device; "" without one */
    char sandbox[200];       /* its level, as the worker says it */
    uv_timer_t timer;
    LIST_ENTRY(worker) in_list;
};

/* Starts a process; the members above the blank line are taken from `how`. FAULT_NO_DEVICE,
 * FAULT_IO, FAULT_MEMORY: none can be started. */
int worker_start(struct worker **worker, const struct worker *how, struct fault *fault);

/* Forgets the process, whatever it does. The memory is freed by the loop. Takes NULL; clears the
 * pointer. */
void worker_destroy(struct worker **worker);

/* It gets no more jobs, and leaves when it has none. */
void worker_retire(struct worker *worker);

/* SIGKILL; `changed` follows, to ended or lost in any case. */
void worker_kill(struct worker *worker, enum worker_cause cause);

/* Descriptors are borrowed for the call. */
void worker_send(struct worker *worker, const struct message *message);

/* A job of its has ended, with that message. */
void worker_end_job(struct worker *worker, const struct message *done);

/* Asks for another one in its place. */
void worker_replace(struct worker *worker, const char *why);

/* False when it has missed more signs of life than it is allowed. */
bool worker_is_sound(const struct worker *worker);

/* How many programs are ready while it starts, of those that all checks take, if each takes as many
 * as the one that it is at. Both are 0 as long as that is not known. */
void worker_progress(const struct worker *worker, unsigned *done, unsigned *of);

#endif
