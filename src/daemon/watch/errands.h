/* What waits for a disk, on threads that nobody else has: a watched folder's, so that one that
 * hangs keeps nobody else waiting. Errands that come while all threads are busy wait for their
 * turn. */
#ifndef SLUICE_DAEMON_WATCH_ERRANDS_H
#define SLUICE_DAEMON_WATCH_ERRANDS_H

#include "base/fault.h"
#include <stdatomic.h>
#include <sys/queue.h>
#include <uv.h>

#define ERRANDS_THREADS 4 /* at once, as libuv has by default for all together */

struct errand {
    void (*run)(struct errand *errand);   /* on a thread */
    void (*after)(struct errand *errand); /* on the loop; the errand is the caller's again */
    _Atomic uint64_t moved;               /* when it began or got on; monotonic nanoseconds */
    STAILQ_ENTRY(errand) next;
    LIST_ENTRY(errand) in_running;
};

struct errands;

/* Starts one thread; others come and go as they are needed. Everything but `run` is called on the
 * loop's thread. */
int errands_create(struct errands **errands, uv_loop_t *loop, struct fault *fault);

void errands_add(struct errands *errands, struct errand *errand, void (*run)(struct errand *),
                 void (*after)(struct errand *));

/* From within `run` of a long errand: it gets on. */
void errand_moves(struct errand *errand);

/* Those that wait, run, or whose `after` is still to come. */
unsigned errands_count(const struct errands *errands);

/* Since when the slowest that runs has not got on; 0: none runs. */
uint64_t errands_since(struct errands *errands);

/* There are none left. The loop must run once more. Takes NULL; clears the pointer. */
void errands_destroy(struct errands **errands);

#endif
