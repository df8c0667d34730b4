/* Shared by queue.c and queue_worker.c alone. */
#ifndef SLUICE_DAEMON_WORK_QUEUE_INTERNAL_H
#define SLUICE_DAEMON_WORK_QUEUE_INTERNAL_H

#include "daemon/work/queue.h"

/* The one place where a job's state changes. */
void queue_enter(struct queue *queue, struct job *job, enum job_state state);

/* Asks for a turn of the loop, in which jobs are sent and `changed` is called, so that nothing
 * happens within the call that caused it. */
void queue_want_turn(struct queue *queue);

/* The worker has finished with the job, has died, or never gets it: its source has to end it. */
void queue_settle(struct queue *queue, struct job *job, const struct message *report);

/* The job has to run once more, in its turn, before jobs that never ran. */
void queue_put_back(struct queue *queue, struct job *job);

/* Hands the job to the worker. */
void queue_send(struct queue *queue, struct job *job, struct worker *worker);

void queue_give_back(struct queue *queue, struct job *job);

#endif
