/* Errands: functions that wait for a disk, run on threads of one watched folder, so that a folder
 * whose disk hangs delays no other. At most ERRANDS_THREADS run at once; further ones wait their
 * turn. */
#ifndef SLUICE_DAEMON_WATCH_ERRANDS_H
#define SLUICE_DAEMON_WATCH_ERRANDS_H

#include "base/fault.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <uv.h>

#define ERRANDS_THREADS 4 /* as many as libuv has by default for the whole process */
#define ERRANDS_PATIENT 3 /* the most of them for errands that are patient */

struct errand {
    void (*run)(struct errand *errand);   /* on a thread */
    void (*after)(struct errand *errand); /* on the loop; the errand is the caller's again */
    _Atomic uint64_t moved; /* when it began or last made progress; monotonic nanoseconds */
    bool patient;
    STAILQ_ENTRY(errand) next;
    LIST_ENTRY(errand) in_running;
};

struct errands;

/* Starts one thread; others start and end as they are needed. Everything except `run` is called on
 * the loop's thread. */
int errands_create(struct errands **errands, uv_loop_t *loop, struct fault *fault);

void errands_add(struct errands *errands, struct errand *errand, void (*run)(struct errand *),
                 void (*after)(struct errand *));

/* The same for what clients ask: it begins when nothing else waits, and never takes the last
 * thread, so that the folder's own work goes on however slow the answers are. */
void errands_add_patient(struct errands *errands, struct errand *errand,
                         void (*run)(struct errand *), void (*after)(struct errand *));

/* To be called within `run` of a long errand: it makes progress. */
void errand_moves(struct errand *errand);

/* How many errands wait, run, or have their `after` still to come. */
unsigned errands_count(const struct errands *errands);

/* Since when the slowest running errand has made no progress; 0: none runs. */
uint64_t errands_since(struct errands *errands);

/* There must be no errands left. The loop must run once more. Takes NULL; clears the pointer. */
void errands_destroy(struct errands **errands);

#endif
