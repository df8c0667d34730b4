/* One worker's stint: set up, its chains checked, at work, told to leave, killed, given up. What is
 * to follow on its end is supervise.c's. All on the loop's thread. */
#ifndef SLUICE_DAEMON_WORK_STINT_H
#define SLUICE_DAEMON_WORK_STINT_H

#include "base/fault.h"
#include "config/settings.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

struct worker;
struct message;
struct stint;

/* A chain and a format that the worker has to accept and compile before it counts as ready. */
struct stint_check {
    const char *chain, *format, *reading;
    char extension[24]; /* that results get; filled in by the first answer, and stays */
    bool passed;        /* once at least */
};

enum stint_phase {
    STINT_STARTING, /* the device is opened, chains are compiled: how long that may take */
    STINT_READY,
    STINT_LEAVING, /* hung up: how long it may take to end */
    STINT_KILLED,  /* how long until it counts as stuck in the kernel */
};

enum stint_end {
    STINT_ORDERLY, /* with status 0 */
    STINT_CRASHED,
    STINT_STUCK, /* it was given up: it cannot be killed */
};

struct stint_events {
    /* A check was passed; after the last one `ready` follows. */
    void (*passed)(struct stint *stint, struct stint_check *check,
                   const struct message *answer);
    /* It has passed all checks. */
    void (*ready)(struct stint *stint);
    /* A check failed; `subject` as in supervisor_events. It has been told to leave. */
    void (*refused)(struct stint *stint, const struct stint_check *check, const char *subject,
                    const struct faults *faults);
    /* Messages but answers to checks. */
    void (*said)(struct stint *stint, const struct message *message);
    /* The process is gone, or was given up. The callee ends the stint by stint_destroy. `why` is
     * for people. */
    void (*ended)(struct stint *stint, enum stint_end end, const char *why);
};

struct stint {
    uv_loop_t *loop;
    const struct settings *settings;
    int config_fd; /* what a setup has beside it; −1: nothing */
    const struct stint_events *events;
    void *context;
    size_t n_checks;
    struct stint_check *checks;
    const char *device, *fallback; /* as a setup says it */
    unsigned rung;                 /* of the ladder that the device stands on (fallback.h) */
    bool wipe;                     /* kernel caches first */

    enum stint_phase phase;
    struct worker *worker;
    int pid;
    bool came_up;
    bool spoiled;                  /* its device failed: it gets no more jobs */
    bool killed;                   /* by us: its end proves nothing */
    unsigned n_passed;             /* checks */
    unsigned prepared, to_prepare; /* programs of the check that it is at, as it last said */
    unsigned in_flight;
    uint64_t started; /* monotonic nanoseconds */
    uint64_t n_jobs;
    uint64_t builds, cache_hits, client_kernels, buffer_bytes; /* as it last said */
    uint64_t builds_counted, cache_hits_counted;               /* for supervise.c */
    uint64_t resident_first; /* bytes, when it was ready; 0: not known */
    uint64_t resident_seen;  /* when that was last looked at, monotonic nanoseconds */
    uint64_t ping_at;        /* when it is asked for a sign of life; monotonic nanoseconds */
    unsigned unanswered;     /* times that it was asked since it last said anything */
    char name[128];          /* of its device; "" without one */
    char sandbox[200];       /* its level, as the worker says it */
    uv_timer_t timer;
    LIST_ENTRY(stint) in_list;
};

/* Starts a worker; the members above the blank line are taken from `how`. FAULT_NO_DEVICE,
 * FAULT_IO, FAULT_MEMORY: none can be started. */
int stint_start(struct stint **stint, const struct stint *how, struct fault *fault);

/* Forgets the process, whatever it does. The memory is freed by the loop. Takes NULL; clears the
 * pointer. */
void stint_destroy(struct stint **stint);

/* Closes the socket; a worker that does not end by itself soon is killed. */
void stint_leave(struct stint *stint);

/* Asks a ready worker for a sign of life, and kills one that has given none for STINT_SILENT_MAX
 * times. */
#define STINT_PING_EVERY UINT64_C(5000000000) /* nanoseconds */
#define STINT_SILENT_MAX 2
void stint_ping(struct stint *stint);

/* How many programs are ready while it starts, of those that all checks take, if each takes as many
 * as the one that it is at. Both are 0 as long as that is not known. */
void stint_progress(const struct stint *stint, unsigned *done, unsigned *of);

/* SIGKILL; `ended` follows in any case. */
void stint_kill(struct stint *stint);

/* Bytes that the process has in memory, 0 when that cannot be told. */
uint64_t stint_resident(const struct stint *stint);

#endif
