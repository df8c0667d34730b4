/* What the threads of sluice-relay share: one for each job at once (slot.c), the keeper (keeper.c),
 * and main, which watches the daemon, the hub and the signals. */
#ifndef SLUICE_RELAY_RELAY_H
#define SLUICE_RELAY_RELAY_H

#include "config/settings.h"
#include "relay/hub.h"
#include "relay/job.h"
#include "relay/store.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SECOND UINT64_C(1000000000)

/* Counted where it happens, for the file of metrics. */
struct figures {
    atomic_ullong ok, failed;  /* results that are in DONE by us */
    atomic_ullong given_back;  /* jobs that others are to do */
    atomic_ullong dead;        /* jobs that went to DEAD */
    atomic_ullong redelivered; /* jobs that were not at their first delivery */
    atomic_ullong refused;     /* results that were there already, so that ours was dropped */
    atomic_ullong gets, puts, get_time, put_time; /* transfers that ended well; nanoseconds */
    atomic_ullong retries; /* transfers that the store is to be asked for again */
    atomic_ullong behind;  /* jobs in the stream, as the last one that arrived told */
};

struct relay {
    const struct settings *settings;
    const char *socket; /* the daemon's; NULL: the usual one */
    char machine[65];
    struct hub *hub;
    atomic_bool stopping;      /* no new jobs; told by a signal */
    atomic_bool giving_back;   /* jobs that are not done are given back */
    atomic_bool ready;         /* the daemon takes jobs */
    atomic_bool usable;        /* the streams are there, and as they must be */
    atomic_uint suspects;      /* jobs here that are to be computed alone */
    atomic_uint troubles;      /* in a row: jobs that failed here and not by their own fault */
    atomic_ullong pause_until; /* monotonic nanoseconds: no new jobs before */
    atomic_ullong keep_every;  /* nanoseconds between signs of life for each job */
    atomic_ullong held;        /* bytes of pictures that were fetched and are not done */
    struct figures figures;
    size_t n_slots;
    struct slot *slots;
    atomic_size_t n_running; /* slots whose threads have not ended */
};

/* One job at a time, from the stream to its result. */
struct slot {
    struct relay *relay;
    pthread_t thread;
    struct hub_mailbox mailbox;
    struct store *store;
    int socket; /* to the daemon; −1: not connected */
    int64_t serial;

    /* The job; `lock` is for what the keeper reads. */
    pthread_mutex_t lock;
    bool holds;
    bool alone; /* it is computed, and nobody else's job is */
    struct hub_message message;
    const char *step;
    uint64_t limit; /* monotonic nanoseconds: when the step must have ended */

    struct job job;
    int input, output; /* memory files; −1: none yet */
    uint64_t held;     /* bytes, of relay.held */
    uint64_t size;     /* of the output, in bytes */
    char media_type[100];
    char *timings;     /* JSON; owned */
    uint64_t get_time; /* nanoseconds that the picture's transfer took */
};

/* True while jobs may be fetched. */
bool relay_may_fetch(const struct relay *relay);

/* Waits until `until`, or until there is a reason not to: jobs are given back, or with `stop` no
 * more are taken. False then. */
bool relay_wait(const struct relay *relay, uint64_t until, bool stop);

/* The pause before trying again for the n-th time, from 0: 1 s, 5 s, 30 s, then 2 min. What a slot
 * waits for itself, store or hub, it asks for every 30 s. */
uint64_t relay_delay(unsigned n);
uint64_t relay_short_delay(unsigned n);

/* ---- a slot's steps; each takes over the fault of the one before ---- */

/* How a step ended. */
enum step_end {
    STEP_DONE,
    STEP_FAILED,    /* by the picture's own fault: that is its result */
    STEP_ELSEWHERE, /* not by its fault: others may try */
    STEP_BACK,      /* the relay is ending */
    STEP_BURIED,    /* it is in DEAD */
};

/* Says where the job is, in the log and to the keeper, which vouches for it for `time` nanoseconds
 * at most. */
void slot_step(struct slot *slot, const char *step, uint64_t time);

/* Has the daemon run the job on `input`; fills in output, size, media_type and timings. */
enum step_end slot_compute(struct slot *slot, struct fault *fault);
void slot_hang_up(struct slot *slot);

/* The daemon's status. Returns whether it takes jobs; else the fault says why not. */
bool daemon_is_ready(const char *path, struct fault *fault);

/* The commit point: publishes the result, or the fault if there is one, and waits for the server's
 * word that it is kept. STEP_DONE, STEP_ELSEWHERE, STEP_BACK. */
enum step_end slot_commit(struct slot *slot, struct fault *fault);

/* Puts a job that ends without a verdict into DEAD, and into DONE as failed where it has an id.
 * STEP_BURIED, STEP_ELSEWHERE, STEP_BACK. */
enum step_end slot_bury(struct slot *slot, const char *why, struct fault *fault);

/* ---- threads ---- */

/* One slot's; its argument is a struct slot. */
void *slot_run(void *slot);

/* Of a struct relay: tells the server of each job that somebody is at it, and writes the metrics.
 * Ends when no slot runs any more. */
void *keeper_run(void *relay);

#endif
