/* The queue: whose job is next (turns_next), which jobs are opened, sent to a worker and tried
 * again, and when. It is told what workers say of jobs (queue_hear), kills a worker whose job
 * hangs, and says what becomes of the jobs of one that died (queue_lose): tried again, in
 * quarantine, or failed.
 *
 * It holds at most `limit` jobs; what does not fit stays where it is. Whoever owns the loop gives
 * it a turn once a turn of the loop, and tells sources when there is room. */
#ifndef SLUICE_DAEMON_WORK_QUEUE_H
#define SLUICE_DAEMON_WORK_QUEUE_H

#include "daemon/work/job.h"
#include "daemon/work/metrics.h"
#include <uv.h>

struct metrics;

/* Whose job is next. Clients go before folders, which still get every eighth turn. Among clients,
 * the user who was served longest ago comes first, and among that user's clients the one who was
 * served longest ago. Pure. */
struct turns {
    uint64_t turn;
    struct job_flow folders; /* the user of jobs that have no flow */
    unsigned n_ahead;        /* jobs of clients in a row since the last job of a folder */
};

/* Returns the next job of the list to take, leaving out stalled ones and, with `idle`, those of
 * users who have a job under way; NULL: there is none. Jobs of one flow keep their order. */
struct job *turns_next(const struct turns *turns, const struct job_list *list, bool idle);

/* Returns the next job of the list that a worker gets, which has `n` jobs: one of a user who has
 * the fewest there. Beyond `slots` a worker has room for one more, of a user who has none there, so
 * that nobody waits for another's slow jobs. NULL: there is none, or no room. */
struct job *turns_send(struct turns *turns, const struct job_list *list, unsigned n,
                       unsigned slots);

/* Notes that the job was taken. */
void turns_took(struct turns *turns, struct job *job);

struct queue {
    unsigned limit;    /* jobs that it holds at once, of folders; of clients again */
    unsigned slots;    /* jobs that the main worker may have at once, and one of somebody else */
    uint64_t job_time; /* nanoseconds that a worker may take for a job */
    struct metrics *metrics; /* may be NULL */
    struct events *events;   /* may be NULL */

    struct job_list all;
    struct job_list queued[JOB_LANES];
    struct job_list lists[JOB_STATES]; /* by state; JOB_QUEUED jobs are in the lists above */
    unsigned counts[JOB_STATES];
    unsigned n_jobs, n_client_jobs;
    unsigned n_retried; /* jobs of folders that wait to be tried again */
    struct turns turns, suspect_turns;
    int64_t last_id;
    bool draining;
    bool cancelled;
    bool held;
    uint64_t n_done, n_failed; /* since the start */
    struct rate rate;
    uv_timer_t timer; /* for deadlines and for jobs that wait */
    uv_idle_t idle;   /* keeps the loop from sleeping before the next turn */
    bool turn_wanted;
    bool folders_move;     /* a job of a folder has changed its state; reset by the loop's owner */
    bool wants_quarantine; /* a job was to be sent, and the worker in quarantine took none */
};

/* The caller sets the members above the blank line first. */
void queue_init(struct queue *queue, uv_loop_t *loop);

/* Closes the handles; the loop must run once more. There must be no jobs left. */
void queue_close(struct queue *queue);

/* How many more jobs of folders, or of clients, may be added; 0 while draining. Jobs of folders
 * never use the room that is kept for clients. */
unsigned queue_room(const struct queue *queue, bool of_clients);

/* Jobs of one folder that wait to be tried again: they hold no place. */
unsigned queue_retried(const struct queue *queue, const void *owner);

/* Adds a job whose members are filled in down to `crashes`. Work that was found at a start may be
 * added beyond the limit. The job stays the source's memory, and must live until queue_remove. */
void queue_add(struct queue *queue, struct job *job);

/* The answers of a job's source (job.h). */
void queue_opened(struct queue *queue, struct job *job);
void queue_give_output(struct queue *queue, struct job *job, unsigned of, const char *plane, int fd,
                       const struct fault *fault);
void queue_remove(struct queue *queue, struct job *job);
/* Counts the end of a job, well or not. To be called before queue_remove. */
void queue_count_end(struct queue *queue, const struct job *job, bool done);
/* The job will not be sent at all; job->fault says why. The source's `done` follows. */
void queue_give_up(struct queue *queue, struct job *job);
/* The fault that the source found is the doing of the worker that had the job. If it still lives it
 * is killed, since nothing that it says is to be believed. */
void queue_accuse(struct queue *queue, struct job *job);
/* The fault is not the file's and may pass: the job is tried again after 1 s, 5 s, 30 s, 2 min,
 * then every 10 min. */
void queue_retry(struct queue *queue, struct job *job);
/* Jobs that wait to be tried again are tried now, because the cause of their faults may be gone. */
void queue_hurry(struct queue *queue);

/* Asks for a turn, so that nothing happens within the call that caused it. Before it, and after it,
 * the loop's owner sees to workers, folders and clients, so this is for whatever may concern them.
 */
void queue_wake(struct queue *queue);

/* Opens and sends jobs: to the main worker, and those that wait for quarantine to the other one,
 * while they are ready (NULL: there is none). `quiet`: no source has anything in sight, so it is
 * time for jobs that go last. Returns false, having done nothing, when nobody has asked for a turn.
 */
bool queue_turn(struct queue *queue, struct worker *main, struct worker *quarantine, bool quiet);

/* A worker says something of a job: began, need-output, done. Returns NULL, or what makes no sense
 * about it: completes "the worker …". */
const char *queue_hear(struct queue *queue, struct worker *worker, const struct message *message);

/* The worker has ended, or was given up. */
void queue_lose(struct queue *queue, struct worker *worker);

/* From now on nothing new is sent. Jobs that no worker has are given back. */
void queue_drain(struct queue *queue);

/* Gives back the jobs of one owner that no worker has. Others go on. */
void queue_withdraw(struct queue *queue, const void *owner);

/* While held nothing is opened or sent to a worker. */
void queue_hold(struct queue *queue, bool hold);

/* As queue_drain; jobs that a worker has are given back when it ends, which the caller sees to. */
void queue_cancel(struct queue *queue);

/* Of all jobs those that wait for the worker in quarantine, or are with it. */
unsigned queue_in_quarantine(const struct queue *queue);

#endif
