/* What the threads of sluice-relay share: one thread for each job under way (slot.c), the keeper,
 * and main, which watches the daemon, the hub and signals. */
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

/* Counted where it happens; for the file of metrics. */
struct figures {
    atomic_ullong ok, failed;  /* results that this relay has put into DONE */
    atomic_ullong given_back;  /* jobs left to other machines */
    atomic_ullong dead;        /* jobs that went to DEAD */
    atomic_ullong redelivered; /* jobs that were delivered before */
    atomic_ullong refused;     /* results that were in DONE already, so that ours was dropped */
    atomic_ullong gets, puts, get_time, put_time; /* finished transfers; nanoseconds */
    atomic_ullong retries;                        /* transfers that were tried again */
    atomic_ullong behind; /* jobs in the stream, as the last delivery said */
};

struct relay {
    const struct settings *settings;
    const char *socket; /* of the daemon's jobs socket; NULL: the default */
    char machine[65];
    struct hub *hub;
    atomic_bool stopping;      /* set by a signal: no new jobs */
    atomic_bool giving_back;   /* unfinished jobs are given back */
    atomic_bool ready;         /* the daemon accepts jobs */
    atomic_bool usable;        /* the streams exist, with suitable settings */
    atomic_uint suspects;      /* jobs here that have to be computed alone */
    atomic_uint troubles;      /* jobs in a row that failed here, not because of themselves */
    atomic_ullong pause_until; /* monotonic nanoseconds: no new jobs before that */
    atomic_ullong keep_every;  /* nanoseconds between signs of life for each job */
    atomic_ullong held;        /* bytes of pictures that were fetched and are not done */
    struct figures figures;
    size_t n_slots;
    struct slot *slots;
    atomic_size_t n_running; /* slots whose threads have not ended */
};

/* A slot: one job at a time, from the stream to its result. */
struct slot {
    struct relay *relay;
    pthread_t thread;
    struct hub_mailbox mailbox;
    struct store *store;
    int socket; /* connected to the daemon; −1: not connected */
    int64_t serial;

    /* The job. `lock` protects what the keeper reads. */
    pthread_mutex_t lock;
    bool holds;
    bool alone; /* it is being computed, and no other job of this machine is */
    struct hub_message message;
    const char *step;
    uint64_t limit; /* monotonic nanoseconds: when the present step must have ended */

    struct job job;
    int input, output; /* memory files; −1: none yet */
    uint64_t held;     /* its part of relay.held, in bytes */
    uint64_t size;     /* of the output, in bytes */
    char media_type[100];
    char *timings;     /* JSON; owned */
    uint64_t get_time; /* nanoseconds that fetching the picture took */
};

/* Waits until the time `until`. Returns false early when jobs are given back or, with `stop`, when
 * no more are taken. */
bool relay_wait(const struct relay *relay, uint64_t until, bool stop);

/* The pause before the n-th further attempt, from 0, at a store or hub for which a slot waits: 1 s,
 * 5 s, then 30 s. */
uint64_t relay_short_delay(unsigned n);

/* ---- steps of a slot; each takes over the fault of the one before ---- */

/* How a step ended. */
enum step_end {
    STEP_DONE,
    STEP_FAILED,    /* because of the picture: this is its result */
    STEP_ELSEWHERE, /* not because of the picture: another machine may try */
    STEP_BACK,      /* the relay stops */
    STEP_BURIED,    /* the job is in DEAD */
};

/* Logs the job's step, and tells the keeper, which sends signs of life for `time` nanoseconds at
 * most. */
void slot_step(struct slot *slot, const char *step, uint64_t time);

/* Has the daemon run the job on `input`; sets output, size, media_type and timings. */
enum step_end slot_compute(struct slot *slot, struct fault *fault);

/* Asks the daemon for its status. Returns whether it accepts jobs; if not, the fault says why. */
bool daemon_is_ready(const char *path, struct fault *fault);

/* The commit point: publishes the result, or the fault if there is one, and waits until the server
 * confirms that it is stored. STEP_DONE, STEP_ELSEWHERE, STEP_BACK. */
enum step_end slot_commit(struct slot *slot, struct fault *fault);

/* Puts a job that ends without a result into DEAD, and into DONE as failed if it has an id.
 * STEP_BURIED, STEP_ELSEWHERE, STEP_BACK. */
enum step_end slot_bury(struct slot *slot, const char *why, struct fault *fault);

/* ---- threads ---- */

/* A slot's thread; its argument is a struct slot. */
void *slot_run(void *slot);

#endif
