/* The queue's part with the worker: what it says about jobs, and what becomes of those that it had
 * when it died. */
#include "daemon/work/queue_internal.h"

#include "base/log.h"
#include "base/number.h"
#include "daemon/work/metrics.h"
#include "daemon/work/supervise.h"
#include "worker/message.h"

#define CRASHES_MAX 2

void queue_worker_ready(struct queue *queue)
{
    queue_want_turn(queue);
}

static struct job *find_with_worker(struct queue *queue, int64_t id)
{
    static const enum job_state states[] = {JOB_BEGUN, JOB_SENT};
    struct job *job;
    for (int i = 0; i < 2; i++)
        TAILQ_FOREACH(job, &queue->lists[states[i]], in_list)
    if (job->id == id)
        return job;
    return NULL;
}

/* A worker that asks for more than a picture has planes asks without end: it is told nothing more.
 */
static void need_output(struct queue *queue, struct job *job, const char *plane)
{
    if (++job->n_outputs < MESSAGE_PLANES_MAX) {
        job->source->need_output(job, plane);
    } else if (job->n_outputs == MESSAGE_PLANES_MAX) {
        log_error("the worker asks for more than %d outputs of one job: it is killed",
                  MESSAGE_PLANES_MAX);
        supervisor_kill(queue->supervisor);
    }
}

/* Clients get theirs with their answer. */
static void log_warnings(const struct job *job, const struct message *report)
{
    enum log_level level = job->folder ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO;
    const char *warning;
    for (size_t i = 0; (warning = message_warning(report, i)) != NULL; i++)
        job_log(job, level, "%s: warning: %s", job->label, warning);
}

void queue_worker_said(struct queue *queue, const struct message *message)
{
    struct job *job = find_with_worker(queue, message->id);
    if (!job) {
        log_error("the worker said '%s' about job %lld, which it does not have",
                  message_kind_name(message->kind), (long long)message->id);
        return;
    }
    if (message->kind == MESSAGE_BEGAN && job->state == JOB_SENT) {
        queue_enter(queue, job, JOB_BEGUN);
        job->source->began(job);
    } else if (message->kind == MESSAGE_NEED_OUTPUT) {
        need_output(queue, job, message->plane);
    } else if (message->kind == MESSAGE_DONE) {
        message_get_fault(message, &job->fault);
        log_warnings(job, message);
        if (job->fault.code == FAULT_NONE)
            metrics_count_report(queue->metrics, message);
        queue_settle(queue, job, message);
    }
}

/* What becomes of one of the `held` jobs that a dead worker had, `killed` for being late or not. */
static void judge_survivor(struct queue *queue, struct job *job, unsigned held, bool killed)
{
    bool suspicious = killed ? job->late : job->state == JOB_BEGUN;
    if (suspicious && held == 1 && killed)
        fault_set(&job->fault, FAULT_TIME, "took longer than job_time %s (--job-time)",
                  number_duration(queue->job_time));
    else if (suspicious && held == 1 && ++job->crashes >= CRASHES_MAX)
        fault_set(&job->fault, FAULT_CRASHED,
                  "the worker died at this file %u times while it did nothing else", job->crashes);
    if (job->fault.code != FAULT_NONE) {
        queue_settle(queue, job, NULL);
        return;
    }
    if (suspicious)
        job->lane = JOB_SUSPECT;
    queue_try_again(queue, job);
}

void queue_worker_died(struct queue *queue)
{
    struct job_list held = TAILQ_HEAD_INITIALIZER(held);
    unsigned count = queue_with_worker(queue);
    struct job *job, *next;
    bool killed = false;
    static const enum job_state states[] = {JOB_BEGUN, JOB_SENT};
    for (int i = 0; i < 2; i++)
        TAILQ_FOREACH(job, &queue->lists[states[i]], in_list)
    killed |= job->late;
    for (int i = 0; i < 2; i++) {
        for (job = TAILQ_FIRST(&queue->lists[states[i]]); job; job = next) {
            next = TAILQ_NEXT(job, in_list);
            judge_survivor(queue, job, count, killed);
        }
    }
    /* Those that were only open wait behind the suspects. */
    while (!queue->draining && (job = TAILQ_FIRST(&queue->lists[JOB_OPEN])) != NULL)
        queue_try_again(queue, job);
}
