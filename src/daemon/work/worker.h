/* One worker: a process of sluice-worker, and its state, which says what it may be used for:
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
 * supervise.c has the table of events and states, and tells a worker's life. All on the
 * loop's thread. */
#ifndef SLUICE_DAEMON_WORK_WORKER_H
#define SLUICE_DAEMON_WORK_WORKER_H

#include "base/fault.h"
#include "daemon/work/child.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

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
    char extension[16 * 24]; /* of results in that format; filled in by the first answer, and never
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

struct worker {
    /* set by whoever starts it (supervise.c) */
    size_t n_checks;
    struct worker_check *checks;
    struct worker_tier *tiers; /* one a check; owned */
    const char *device;        /* as the setup message names it */
    unsigned rung;             /* of the ladder that the device stands on (fallback.h) */
    bool quarantine;           /* it gets one job at a time, of those at which other workers died */
    struct slot *slot; /* of the supervisor that it is in, or is to take; NULL: none any more */
    struct child *child;
    int pid;          /* of the process that does the work; for people */
    uint64_t started; /* monotonic nanoseconds, as all times here */

    /* its state: worker_take */
    enum worker_state state;
    enum worker_state seen;  /* … as the supervisor last looked at it */
    uint64_t due;            /* when it has been in it for too long, or is pinged; 0: never */
    uint64_t unready;        /* when it last ceased to be ready */
    bool killed;             /* by us, for the reason `cause` */
    enum worker_cause cause; /* valid in killed, lost and ended */

    /* its start, and the device */
    bool came_up;
    unsigned n_passed;             /* checks passed */
    unsigned prepared, to_prepare; /* programs compiled, and to compile, for the present check, as
                                      it last reported */
    struct fault trouble;          /* the device's error */
    char name[128];                /* the device's name; "" without one */
    char sandbox[200];             /* the sandbox's level, as the worker reported it */
    uint64_t builds, cache_hits;   /* as it last reported */

    /* its jobs */
    unsigned in_flight; /* that it has */
    uint64_t used;      /* when its last job ended */
    uint64_t n_jobs;
    uint64_t n_good;         /* those without an error of the device */
    uint64_t resident_first; /* bytes of memory when it became ready; 0: not known */
    uint64_t resident_seen;  /* when its memory was last looked at */

    /* whether it is sound */
    unsigned unanswered;       /* pings since its last sign of life */
    unsigned n_pings, n_asked; /* pings and questions (describe) that it has not answered */
    unsigned n_nonsense;       /* messages that made no sense */

    TAILQ_ENTRY(worker) in_list;
};

/* Returns the state after an event. Pure. */
enum worker_state worker_next(enum worker_state state, enum worker_event event);

/* "starting", "ready", … */
const char *worker_state_name(enum worker_state state);

/* Changes the state as the event asks for, and does what the new one takes: the socket is closed
 * (leaving), the process is killed (killed), or given up (lost). */
void worker_take(struct worker *worker, enum worker_event event);

/* The time that it may be in its state begins anew. */
void worker_limit(struct worker *worker);

/* Sends SIGKILL. The state then becomes ended, or lost when the process does not die. */
void worker_kill(struct worker *worker, enum worker_cause cause);

/* While it starts: how many programs are compiled, and an estimate of all, which assumes that every
 * check takes as many as the present one. Both are 0 as long as nothing is known. */
void worker_progress(const struct worker *worker, unsigned *done, unsigned *of);

#endif
