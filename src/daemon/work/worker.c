#include "daemon/work/worker.h"

#include "base/clock.h"
#include "base/log.h"

/* How long a state may last. START_LIMIT is for one program, not for the whole start: with many
 * chains, a first start on a slow board takes longer than any limit that would still catch a start
 * that hangs. A worker that may have jobs is pinged every PING_EVERY. */
#define START_LIMIT (300 * SECOND)
#define PING_EVERY  (5 * SECOND)
#define LEAVE_LIMIT (5 * SECOND)
#define KILL_LIMIT  (10 * SECOND)

/* The one table of a worker's life: a row is an event, an entry the state that follows from the one
 * in brackets. Without an entry the state stays. */
enum worker_state worker_next(enum worker_state state, enum worker_event event)
{
    static const enum worker_state next[WORKER_EVENTS][WORKER_STATES] = {
        [WORKER_PASSED] = {[WORKER_STARTING] = WORKER_READY},
        [WORKER_REFUSED] = {[WORKER_STARTING] = WORKER_LEAVING},
        [WORKER_FAILED] = {[WORKER_READY] = WORKER_SPOILED},
        [WORKER_UNWANTED] = {[WORKER_STARTING] = WORKER_LEAVING, [WORKER_READY] = WORKER_RETIRING},
        [WORKER_IDLE] = {[WORKER_SPOILED] = WORKER_LEAVING, [WORKER_RETIRING] = WORKER_LEAVING},
        [WORKER_HUNG_UP] = {[WORKER_STARTING... WORKER_RETIRING] = WORKER_LEAVING},
        [WORKER_KILL] = {[WORKER_STARTING... WORKER_LEAVING] = WORKER_KILLED},
        [WORKER_TIME_OVER] = {[WORKER_STARTING] = WORKER_KILLED,
                              [WORKER_LEAVING] = WORKER_KILLED,
                              [WORKER_KILLED] = WORKER_LOST},
        [WORKER_EXITED] = {[WORKER_STARTING... WORKER_ENDED] = WORKER_ENDED},
    };
    /* nothing leads back to starting, which is 0 */
    return next[event][state] != WORKER_STARTING ? next[event][state] : state;
}

const char *worker_state_name(enum worker_state state)
{
    static const char *const names[WORKER_STATES] = {"starting", "ready",  "spoiled", "retiring",
                                                     "leaving",  "killed", "lost",    "ended"};
    return names[state];
}

void worker_limit(struct worker *worker)
{
    static const uint64_t limits[WORKER_STATES] = {
        [WORKER_STARTING] = START_LIMIT, [WORKER_READY] = PING_EVERY,
        [WORKER_SPOILED] = PING_EVERY,   [WORKER_RETIRING] = PING_EVERY,
        [WORKER_LEAVING] = LEAVE_LIMIT,  [WORKER_KILLED] = KILL_LIMIT};
    uint64_t limit = limits[worker->state];
    worker->due = limit > 0 ? clock_now() + limit : 0;
}

void worker_take(struct worker *worker, enum worker_event event)
{
    enum worker_state state = worker_next(worker->state, event);
    if (state == worker->state)
        return;
    if (worker->state == WORKER_READY)
        worker->unready = clock_now();
    worker->state = state;
    worker_limit(worker);
    if (state == WORKER_LEAVING)
        child_hang_up(worker->child);
    if (state == WORKER_KILLED)
        child_kill(worker->child);
    if (state == WORKER_LOST) /* told loudly: the machine needs a reboot */
        log_error("the worker (pid %d) cannot be killed: it is stuck in the kernel, and its device "
                  "with it; a reboot is due",
                  worker->pid);
}

void worker_kill(struct worker *worker, enum worker_cause cause)
{
    if (worker->state >= WORKER_KILLED)
        return;
    worker->killed = true;
    worker->cause = cause;
    worker_take(worker, WORKER_KILL);
}

void worker_progress(const struct worker *worker, unsigned *done, unsigned *of)
{
    bool starts = worker->state == WORKER_STARTING;
    *of = starts ? worker->to_prepare * (unsigned)worker->n_checks : 0;
    *done = starts ? worker->to_prepare * worker->n_passed + worker->prepared : 0;
}
