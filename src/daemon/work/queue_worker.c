/* What the queue sends to workers, what it does with their messages about jobs, and what happens to
 * the jobs of a worker that died. */
#include "daemon/work/queue_internal.h"

#include "base/log.h"
#include "base/number.h"
#include "daemon/work/metrics.h"
#include "daemon/work/worker.h"
#include "worker/message.h"

#define CRASHES_MAX 2
#define TAKEN_MAX   2 /* after so many it waits between tries, and runs in quarantine */

static void on_changed(void *context)
{
    queue_want_turn(context);
}

void queue_send(struct queue *queue, struct job *job, struct worker *worker)
{
    struct message message;
    message_init(&message, MESSAGE_JOB);
    message.id = job->id;
    message.chain = job->chain;
    message.format = job->format;
    message.input = job->input;
    message.time = (int64_t)queue->job_time;
    message.say_began = job->source->began != NULL;
    message.fds[0] = job->in_fd;
    message.fds[1] = job->out_fd;
    message.n_fds = 2;
    job->worker = worker;
    worker->in_flight++;
    worker_send(worker, &message);
    if (!job->source->began)
        queue_enter(queue, job, JOB_BEGUN); /* as far as anybody knows */
}

static const enum job_state with_worker[] = {JOB_BEGUN, JOB_SENT};

static struct job *find_with(struct queue *queue, const struct worker *worker, int64_t id)
{
    struct job *job;
    for (int i = 0; i < 2; i++)
        TAILQ_FOREACH(job, &queue->lists[with_worker[i]], in_list)
    if (job->worker == worker && job->id == id)
        return job;
    return NULL;
}

/* Answers a request for one more output. A worker that asks for more outputs than a picture can
 * have planes gets no answer. */
static void need_output(struct job *job, const char *plane)
{
    if (++job->n_outputs < MESSAGE_PLANES_MAX) {
        job->source->need_output(job, plane);
    } else if (job->n_outputs == MESSAGE_PLANES_MAX) {
        log_error("the worker asks for more than %d outputs of one job: it is killed",
                  MESSAGE_PLANES_MAX);
        worker_kill(job->worker, WORKER_CRASHED);
    }
}

/* Logs the warnings of a report; clients get theirs in the answer. */
static void log_warnings(const struct job *job, const struct message *report)
{
    enum log_level level = job->folder ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO;
    const char *warning;
    for (size_t i = 0; (warning = message_warning(report, i)) != NULL; i++)
        job_log(job, level, "%s: warning: %s", job->label, warning);
}

/* From now on the job runs in the quarantine worker, where it harms no other job. */
static void put_in_quarantine(struct queue *queue, struct job *job)
{
    if (job->lane != JOB_SUSPECT)
        metrics_add(queue->metrics, METRIC_JOB_QUARANTINES, NULL, 1);
    job->lane = JOB_SUSPECT;
}

/* True when the job had the worker to itself. Otherwise others may have made it late. */
static bool was_alone(const struct job *job)
{
    return job->lane != JOB_NORMAL || job->worker->in_flight == 1;
}

static void job_done(struct queue *queue, struct job *job, const struct message *message)
{
    bool alone = was_alone(job);
    worker_end_job(job->worker, message);
    message_get_fault(message, &job->fault);
    if (job->fault.code == FAULT_TIME && !alone) {
        put_in_quarantine(queue, job);
        queue_try_again(queue, job);
        return;
    }
    log_warnings(job, message);
    if (job->fault.code == FAULT_NONE)
        metrics_count_report(queue->metrics, message);
    queue_settle(queue, job, message);
}

static void on_said(void *context, struct worker *worker, const struct message *message)
{
    struct queue *queue = context;
    struct job *job = find_with(queue, worker, message->id);
    if (!job) {
        log_error("the worker said '%s' about job %lld, which it does not have",
                  message_kind_name(message->kind), (long long)message->id);
    } else if (message->kind == MESSAGE_BEGAN && job->state == JOB_SENT) {
        queue_enter(queue, job, JOB_BEGUN);
        job->source->began(job);
    } else if (message->kind == MESSAGE_NEED_OUTPUT) {
        need_output(job, message->plane);
    } else if (message->kind == MESSAGE_DONE) {
        job_done(queue, job, message);
    }
}

/* Decides what happens to a job whose worker has ended. The job is not to blame when it had not
 * begun, or when the worker was killed for another reason. If that happens to it again and again it
 * may be the reason after all, for instance why memory runs out, and it is treated as a suspect. */
static void judge(struct queue *queue, struct job *job)
{
    enum worker_cause cause = job->worker->cause;
    bool alone = was_alone(job), begun = job->state == JOB_BEGUN;
    bool guilty = begun && (cause == WORKER_LATE ? job->late : cause == WORKER_CRASHED);
    /* A worker that had to be killed may hang in a driver's call, and the picture may do well in
     * another. Where even SIGKILL has no effect the next try could cost the next device, too. */
    bool last = job->lane != JOB_NORMAL || (alone && job->worker->state == WORKER_LOST);
    bool unlucky = begun ? cause == WORKER_TAKEN : job->late;
    if (queue->cancelled) {
        queue_give_back(queue, job);
        return;
    }
    if (guilty && cause == WORKER_LATE && last)
        fault_set(&job->fault, FAULT_TIME, "took longer than job_time %s (--job-time)",
                  number_duration(queue->job_time));
    else if (guilty && cause == WORKER_CRASHED && alone && ++job->crashes >= CRASHES_MAX)
        fault_set(&job->fault, FAULT_CRASHED,
                  "the worker died at this file %u times while it did nothing else", job->crashes);
    else if (unlucky && ++job->taken > TAKEN_MAX)
        fault_set(&job->fault, FAULT_BUSY,
                  "the worker was killed %u times while it had this file, by somebody else or for "
                  "want of memory",
                  job->taken);
    if (job->fault.code == FAULT_BUSY || (guilty && job->fault.code == FAULT_NONE))
        put_in_quarantine(queue, job);
    if (job->fault.code != FAULT_NONE)
        queue_settle(queue, job, NULL);
    else
        queue_put_back(queue, job);
}

static void on_died(void *context, struct worker *worker)
{
    struct queue *queue = context;
    struct job *job, *next;
    for (int i = 1; i >= 0; i--) {
        for (job = TAILQ_LAST(&queue->lists[with_worker[i]], job_list); job; job = next) {
            next = TAILQ_PREV(job, job_list, in_list);
            if (job->worker == worker)
                judge(queue, job);
        }
    }
}

const struct worker_jobs queue_jobs = {.said = on_said, .changed = on_changed, .died = on_died};
