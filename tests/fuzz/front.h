/* The front without watched folders: loop, queue, supervisor, service, and a worker that is not a
 * process but functions here, in place of daemon/work/child.c. This worker answers checks and jobs
 * with success, unless a fuzz target answers for it. */
#ifndef SLUICE_TESTS_FUZZ_FRONT_H
#define SLUICE_TESTS_FUZZ_FRONT_H

#include "daemon/serve/service.h"
#include "daemon/work/metrics.h"
#include "daemon/work/supervise.h"

struct fuzz_front {
    uv_loop_t loop;
    struct config config;
    struct queue queue;
    struct supervisor supervisor;
    struct worker_check check;
    struct service service;
    bool closed;
};

/* `says_nothing`: answers of the worker are left to the target. */
void front_begin(struct fuzz_front *front, bool says_nothing);

/* So many turns of the loop, which never sleeps. */
void front_turn(struct fuzz_front *front, unsigned turns);

/* True when nothing of anybody's is left: no jobs, bytes, accounts. */
bool front_is_empty(const struct fuzz_front *front);

/* Ends the worker and closes the loop; what is left open is a failure. */
void front_end(struct fuzz_front *front);

/* What the workers that there are say, or that they hang up or die. */
void front_workers_say(const struct message *message);
void front_workers_hang_up(void);
void front_workers_die(int signal);

/* The number of the next descriptor: one that grows tells of a leak. */
int front_next_fd(void);

#endif
