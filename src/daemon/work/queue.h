/* The queue: which job is opened, sent and tried again when. It holds at most `limit` jobs; what
 * does not fit stays where it is, and its source is told when there is room. */
#ifndef SLUICE_DAEMON_WORK_QUEUE_H
#define SLUICE_DAEMON_WORK_QUEUE_H

#include "daemon/work/job.h"
#include "daemon/work/turns.h"
#include <uv.h>

struct metrics;
struct supervisor;
struct worker_jobs;

struct queue_events {
    /* A job has left, or there is room again. Called from the loop, not from within the call that
     * caused it. */
    void (*changed)(void *context);
    /* True when no source has anything in sight: the time for jobs that go last. */
    bool (*is_quiet)(void *context);
};

struct queue {
    struct supervisor *supervisor; /* where jobs go */
    unsigned limit;                /* jobs that it holds at once, of folders; of clients again */
    unsigned slots;                /* jobs that the main worker has at once */
    uint64_t job_time;             /* nanoseconds that one may take */
    struct queue_events events;
    void *context;
    struct metrics *metrics; /* may be NULL */

    struct job_list queued[JOB_LANES];
    struct job_list lists[JOB_STATES]; /* by state; those queued are in the lists above */
    unsigned counts[JOB_STATES];
    unsigned n_jobs, n_client_jobs;
    struct turns turns, suspect_turns;
    int64_t last_id;
    bool draining;
    bool cancelled;
    bool held;
    uint64_t n_done, n_failed; /* since the start */
    uv_timer_t timer;          /* deadlines, and jobs that wait */
    uv_check_t check;          /* runs `changed` and sends, once a turn of the loop */
    uv_idle_t idle;            /* keeps that turn from sleeping first */
    bool turn_wanted;
};

/* The members above the blank line are the caller's to set before. */
int queue_init(struct queue *queue, uv_loop_t *loop, struct fault *fault);

/* Closes the handles; the loop must run once more. There are no jobs left. */
void queue_close(struct queue *queue);

/* How many more jobs of folders, or of clients, may be added; 0 while draining. A backlog leaves
 * the clients' room alone. */
unsigned queue_room(const struct queue *queue);
unsigned queue_client_room(const struct queue *queue);

/* Adds a job that is filled in down to `crashes`. Work that was found at a start may be added
 * beyond the limit. The memory stays the source's, until queue_remove. */
void queue_add(struct queue *queue, struct job *job);

/* The source's answers. */
void queue_opened(struct queue *queue, struct job *job);
void queue_give_output(struct queue *queue, struct job *job, const char *plane, int fd,
                       const struct fault *fault);
void queue_remove(struct queue *queue, struct job *job);
/* Before queue_remove: the job has ended, well or not, and is counted. */
void queue_count_end(struct queue *queue, const struct job *job, bool done);
/* It will not be sent at all; job->fault says why. → done. */
void queue_give_up(struct queue *queue, struct job *job);
/* The trouble is not the file's and may pass: once more after 1 s, 5 s, 30 s, 2 min, 10 min … */
void queue_retry(struct queue *queue, struct job *job);
/* Jobs that wait to be tried again are tried now: what was in their way may be gone. */
void queue_hurry(struct queue *queue);
/* Once more, in its turn. */
void queue_try_again(struct queue *queue, struct job *job);

/* What it does with news of workers; their context is the queue. */
extern const struct worker_jobs queue_jobs;

/* Nothing new is begun: jobs that no worker has are given back. */
void queue_drain(struct queue *queue);

/* Jobs of one owner that no worker has are given back; the others go on. */
void queue_withdraw(struct queue *queue, const void *owner);

/* Nothing is sent to the worker, and nothing opened, until it is over. */
void queue_hold(struct queue *queue, bool hold);

/* True when no worker has a job. */
bool queue_is_idle(const struct queue *queue);

/* Drains; and what workers have is given back when they end, which the caller sees to. */
void queue_cancel(struct queue *queue);

/* True when every job has left. */
bool queue_is_empty(const struct queue *queue);

/* Waiting, running, and settling, for the log. */
unsigned queue_count(const struct queue *queue, enum job_state state);

/* Of all of them those that wait for the worker in quarantine, or are with it. */
unsigned queue_in_quarantine(const struct queue *queue);

#endif
