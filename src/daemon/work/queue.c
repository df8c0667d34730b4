/* A job's way through the queue: it is added (queue_add); in a turn of the loop it is opened and
 * sent (queue_turn); its worker says that it has begun, wants outputs, and is done (queue_hear), or
 * dies (queue_lose); its source settles it, and has it tried again or takes it out (queue_retry,
 * queue_remove). */
#include "daemon/work/queue.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "daemon/work/metrics.h"
#include "daemon/work/worker.h"
#include "worker/message.h"

/* Jobs that are opened before a worker has room, so that it never waits for a disk. */
#define AHEAD 2

/* Jobs of folders that wait to be tried again and hold no place; more of them do. */
#define RETRIED_MAX 4096

/* A job of JOB_LAST runs beside others after so long, if nothing quiet has come before. */
#define LAST_WAITS (30 * SECOND)

/* After so many jobs of clients in a row a folder gets a turn, so that it never starves. */
#define AHEAD_MAX 7

#define CRASHES_MAX 2
#define TAKEN_MAX   2 /* after so many it waits between tries, and runs in quarantine */

/* ---- states and lists ---- */

double job_queue_seconds(const struct job *job)
{
    return job->sent > 0 ? (double)(job->sent - job->added) * 1e-9 : 0;
}

void job_print_times(const struct job *job, char text[JOB_TIMES_MAX])
{
    uint64_t now = clock_now(), begun = job->sent > 0 ? job->sent : now;
    snprintf(text, JOB_TIMES_MAX, "%s, after %s in the queue", number_duration(now - begun),
             number_duration(begun - job->added));
}

/* Has the job enter (1) or leave (−1) the list of its state, and counts it there. */
static void count(struct queue *queue, struct job *job, int by)
{
    struct job_flow *user = job->flow ? job->flow->user : &queue->turns.folders;
    bool sent = job->state == JOB_SENT || job->state == JOB_BEGUN;
    bool opened = sent || job->state == JOB_OPENING || job->state == JOB_OPEN;
    struct job_list *list =
        job->state == JOB_QUEUED ? &queue->queued[job->lane] : &queue->lists[job->state];
    if (by > 0)
        TAILQ_INSERT_TAIL(list, job, in_list);
    else
        TAILQ_REMOVE(list, job, in_list);
    queue->counts[job->state] += (unsigned)by;
    queue->n_retried += job->state == JOB_WAITING && !job->flow ? (unsigned)by : 0;
    queue->folders_move |= !job->flow;
    user->n_sent += sent ? (unsigned)by : 0;
    user->n_opened += opened ? (unsigned)by : 0;
}

/* The one place where a job's state changes. */
static void enter(struct queue *queue, struct job *job, enum job_state state)
{
    static const unsigned allowed[JOB_STATES] = {
        [JOB_QUEUED] = 1u << JOB_OPENING | 1u << JOB_SETTLING,
        [JOB_OPENING] = 1u << JOB_OPEN | 1u << JOB_WAITING | 1u << JOB_SETTLING,
        [JOB_OPEN] = 1u << JOB_SENT | 1u << JOB_QUEUED | 1u << JOB_SETTLING,
        [JOB_SENT] = 1u << JOB_BEGUN | 1u << JOB_SETTLING | 1u << JOB_QUEUED,
        [JOB_BEGUN] = 1u << JOB_SETTLING | 1u << JOB_QUEUED,
        [JOB_SETTLING] = 1u << JOB_WAITING | 1u << JOB_QUEUED,
        [JOB_WAITING] = 1u << JOB_QUEUED | 1u << JOB_SETTLING,
    };
    if ((allowed[job->state] >> state & 1) == 0) {
        log_error("%s: a job cannot go from state %d to %d", job->label, (int)job->state,
                  (int)state);
        abort(); /* a defect of ours; what is on disk is safe, and the next start finds it */
    }
    count(queue, job, -1);
    job->state = state;
    job->since = clock_now();
    count(queue, job, 1);
}

static void on_idle(uv_idle_t *idle)
{
}

void queue_wake(struct queue *queue)
{
    if (queue->turn_wanted)
        return;
    queue->turn_wanted = true;
    uv_idle_start(&queue->idle, on_idle);
}

/* The job is tried again in its turn. */
static void try_again(struct queue *queue, struct job *job)
{
    fault_clear(&job->fault);
    enter(queue, job, JOB_QUEUED);
    queue_wake(queue);
}

/* The worker has finished with the job, has died, or never gets it: its source has to end it. */
static void settle(struct queue *queue, struct job *job, const struct message *report)
{
    enter(queue, job, JOB_SETTLING);
    job->source->done(job, report);
    queue_wake(queue);
}

static void give_back_one(struct queue *queue, struct job *job)
{
    enter(queue, job, JOB_SETTLING);
    job->source->give_back(job);
}

/* ---- whose job is next ---- */

struct job *turns_next(const struct turns *turns, const struct job_list *list, bool idle)
{
    struct job *job, *client = NULL, *backlog = NULL;
    uint64_t least = 0; /* when the client's user was served */
    TAILQ_FOREACH (job, list, in_list) {
        const struct job_flow *user = job->flow ? job->flow->user : &turns->folders;
        if (*job->stalled || (idle && user->n_opened > 0))
            continue;
        if (!job->flow) {
            backlog = backlog ? backlog : job;
            continue;
        }
        if (!client || user->served < least ||
            (user->served == least && job->flow->served < client->flow->served)) {
            client = job;
            least = user->served;
        }
    }
    if (!client || (backlog && turns->n_ahead >= AHEAD_MAX))
        return backlog;
    return client;
}

void turns_took(struct turns *turns, struct job *job)
{
    turns->n_ahead = job->flow ? turns->n_ahead + 1 : 0;
    if (job->flow)
        job->flow->served = job->flow->user->served = ++turns->turn;
}

struct job *turns_send(struct turns *turns, const struct job_list *list, unsigned n, unsigned slots)
{
    struct job *job, *next = NULL;
    unsigned fewest = n < slots ? UINT_MAX : n < job_most(slots) ? 1 : 0;
    TAILQ_FOREACH (job, list, in_list) {
        unsigned sent = (job->flow ? job->flow->user : &turns->folders)->n_sent;
        if (job->lane != JOB_SUSPECT && sent < fewest) {
            fewest = sent;
            next = job;
        }
    }
    return next;
}

/* ---- what workers say of jobs, and the jobs of one that died ---- */

static void kill_worker(struct queue *queue, struct worker *worker, enum worker_cause cause)
{
    worker_kill(worker, cause);
    queue_wake(queue); /* the supervisor sees to it that it dies */
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

const char *queue_hear(struct queue *queue, struct worker *worker, const struct message *message)
{
    struct job *job = TAILQ_FIRST(&queue->all);
    while (job && (job->id != message->id || job->worker != worker ||
                   (job->state != JOB_SENT && job->state != JOB_BEGUN)))
        job = TAILQ_NEXT(job, in_all);
    if (!job)
        return "speaks of a job that it does not have";

    if (message->kind == MESSAGE_BEGAN) {
        if (job->state != JOB_SENT)
            return "begins a job that it has begun, or need not tell of";
        enter(queue, job, JOB_BEGUN);
        job->source->began(job);
        return NULL;
    }

    /* One more output. A worker that asks for more of them than a picture can have planes gets no
     * answer. */
    if (message->kind == MESSAGE_NEED_OUTPUT) {
        if (++job->n_outputs < MESSAGE_PLANES_MAX) {
            job->source->need_output(job, (unsigned)message->result_of, message->plane);
        } else if (job->n_outputs == MESSAGE_PLANES_MAX) {
            log_error("the worker asks for more than %d outputs of one job: it is killed",
                      MESSAGE_PLANES_MAX);
            kill_worker(queue, job->worker, WORKER_CRASHED);
        }
        return NULL;
    }

    /* It is done: well, or not, or too late, for which others beside it may be the reason. */
    message_get_fault(message, &job->fault);
    if (job->fault.code == FAULT_TIME && !was_alone(job)) {
        put_in_quarantine(queue, job);
        try_again(queue, job);
        return NULL;
    }
    /* clients get their warnings in the answer */
    enum log_level level = job->folder ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO;
    const char *warning;
    for (size_t i = 0; (warning = message_warning(message, i)) != NULL; i++)
        log_about(job_subject(job), level, "warning: %s", warning);
    if (job->fault.code == FAULT_NONE)
        metrics_count_report(queue->metrics, message);
    settle(queue, job, message);
    return NULL;
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
        give_back_one(queue, job);
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
    if (job->fault.code != FAULT_NONE) {
        settle(queue, job, NULL);
    } else { /* it has to run once more, in its turn, before jobs that never ran */
        try_again(queue, job);
        TAILQ_REMOVE(&queue->queued[job->lane], job, in_list);
        TAILQ_INSERT_HEAD(&queue->queued[job->lane], job, in_list);
    }
}

void queue_lose(struct queue *queue, struct worker *worker)
{
    static const enum job_state with_worker[] = {JOB_BEGUN, JOB_SENT};
    struct job *job, *next;
    for (int i = 1; i >= 0; i--) {
        for (job = TAILQ_LAST(&queue->lists[with_worker[i]], job_list); job; job = next) {
            next = TAILQ_PREV(job, job_list, in_list);
            if (job->worker == worker)
                judge(queue, job);
        }
    }
    TAILQ_FOREACH (job, &queue->all, in_all)
        if (job->worker == worker)
            job->worker = NULL;
}

/* ---- once a turn of the loop ---- */

/* Opens are answered later, so a handful of them at a time is all that this starts. */
static struct job *next_to_open(struct queue *queue, bool quiet)
{
    struct job *job, *suspect, *normal, *ready, *last;
    unsigned opened = 0, busy = 0, quarantined = 0; /* of all; of those whose disk answers */
    for (int state = JOB_OPENING; state <= JOB_BEGUN; state++) {
        TAILQ_FOREACH (job, &queue->lists[state], in_list) {
            bool stalled = *job->stalled;
            if (job->lane == JOB_LAST && !(stalled && state == JOB_OPENING))
                return NULL; /* it is alone */
            opened++;
            busy += !stalled && job->lane != JOB_SUSPECT;
            quarantined += !stalled && job->lane == JOB_SUSPECT;
        }
    }
    suspect = turns_next(&queue->suspect_turns, &queue->queued[JOB_SUSPECT], false);
    if (suspect && quarantined == 0)
        return suspect;
    normal = turns_next(&queue->turns, &queue->queued[JOB_NORMAL], false);
    if (normal && busy >= queue->slots + AHEAD) /* others wait behind nobody's jobs */
        return turns_next(&queue->turns, &queue->queued[JOB_NORMAL], true);
    if (normal)
        return normal;
    /* one whose owner's disk does not answer, and which is open already, goes when others leave
     * room
     */
    TAILQ_FOREACH (ready, &queue->queued[JOB_NORMAL], in_list)
        if (ready->ready && opened < queue->slots + AHEAD)
            return ready;
    TAILQ_FOREACH (last, &queue->queued[JOB_LAST], in_list)
        if (!*last->stalled)
            break;
    if (suspect || busy + quarantined > 0 || !last)
        return NULL;
    return quiet || clock_now() >= last->not_before ? last : NULL;
}

static void send_job(struct queue *queue, struct job *job, struct worker *worker, uint64_t now)
{
    /* a job that is late by so much more ends with its worker, which stops late jobs where it can
     */
    uint64_t part = queue->job_time / 10;
    uint64_t grace = part < SECOND ? SECOND : part < 10 * SECOND ? part : 10 * SECOND;
    struct message message;
    if (job->attempts++ == 0)
        metrics_add(queue->metrics, METRIC_SPAN_DURATION, "span=\"queue\"",
                        (double)(now - job->added) * 1e-9);
    job->late = false;
    job->n_outputs = 0;
    job->sent = now;
    job->deadline = now + queue->job_time + grace;
    job->worker = worker;
    events_add_job(queue->events, "begun", job);
    enter(queue, job, JOB_SENT);
    worker->in_flight++;
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
    child_send(worker->child, &message);
    if (!job->source->began)
        enter(queue, job, JOB_BEGUN); /* as far as anybody knows */
}

static void on_timer(uv_timer_t *timer)
{
    queue_wake(timer->data);
}

/* Gives back the jobs that no worker has: those of one owner or, for NULL, all. */
static void give_back(struct queue *queue, const void *owner)
{
    struct job *job, *next;
    for (job = TAILQ_FIRST(&queue->all); job; job = next) {
        next = TAILQ_NEXT(job, in_all);
        if ((!owner || job->owner == owner) &&
            (job->state == JOB_QUEUED || job->state == JOB_OPEN || job->state == JOB_WAITING))
            give_back_one(queue, job);
    }
}

bool queue_turn(struct queue *queue, struct worker *main, struct worker *quarantine, bool quiet)
{
    const struct job_list *waiting = &queue->lists[JOB_WAITING], *open = &queue->lists[JOB_OPEN];
    struct job *job, *next;
    uint64_t now = clock_now(), due = UINT64_MAX; /* when the next turn is, at the latest */
    if (!queue->turn_wanted)
        return false;
    queue->turn_wanted = queue->wants_quarantine = false;
    uv_idle_stop(&queue->idle);
    if (queue->n_jobs == 0) {
        uv_timer_stop(&queue->timer);
        return true;
    }

    /* A job past its deadline, which its worker could not stop, hangs in it: there is no other way
     * to end it than to end the worker. `judge` sorts out the rest. */
    for (int state = JOB_SENT; state <= JOB_BEGUN; state++) {
        TAILQ_FOREACH (job, &queue->lists[state], in_list) {
            if (job->deadline > now)
                continue;
            log_about(job_subject(job), LOG_LEVEL_WARNING,
                      "still not done after its time: the worker is killed");
            job->late = true;
            job->deadline = UINT64_MAX;
            kill_worker(queue, job->worker, WORKER_LATE);
        }
    }

    /* Those that wait to be tried again are, when their time has come. */
    if (queue->draining)
        give_back(queue, NULL);
    for (job = TAILQ_FIRST(waiting); job; job = next) {
        next = TAILQ_NEXT(job, in_list);
        if (job->not_before <= now)
            enter(queue, job, JOB_QUEUED);
    }

    /* Jobs are opened, a few more than workers have room for, and sent: suspects one at a time to
     * quarantine, the others to the main worker. */
    while (!queue->draining && !queue->held && (job = next_to_open(queue, quiet)) != NULL) {
        turns_took(job->lane == JOB_SUSPECT ? &queue->suspect_turns : &queue->turns, job);
        enter(queue, job, JOB_OPENING);
        bool ready = job->ready;
        job->ready = false;
        if (ready)
            enter(queue, job, JOB_OPEN);
        else
            job->source->open(job);
    }
    for (job = queue->draining || queue->held ? NULL : TAILQ_FIRST(open); job; job = next) {
        next = TAILQ_NEXT(job, in_list);
        if (job->lane != JOB_SUSPECT)
            continue;
        if (quarantine && quarantine->state == WORKER_READY && quarantine->in_flight == 0)
            send_job(queue, job, quarantine, now);
        else
            queue->wants_quarantine = true;
    }
    while (!queue->draining && !queue->held && main && main->state == WORKER_READY &&
           (job = turns_send(&queue->turns, open, main->in_flight, queue->slots)) != NULL)
        send_job(queue, job, main, now);

    TAILQ_FOREACH (job, waiting, in_list)
        due = job->not_before < due ? job->not_before : due;
    for (int state = JOB_SENT; state <= JOB_BEGUN; state++)
        TAILQ_FOREACH (job, &queue->lists[state], in_list)
            due = job->deadline < due ? job->deadline : due;
    job = TAILQ_FIRST(&queue->queued[JOB_LAST]);
    if (job && job->not_before > now && job->not_before < due)
        due = job->not_before;
    if (due == UINT64_MAX)
        uv_timer_stop(&queue->timer);
    else
        uv_timer_start(&queue->timer, on_timer, due > now ? (due - now) / MILLISECOND + 1 : 0, 0);
    return true;
}

/* ---- life, and new jobs ---- */

void queue_init(struct queue *queue, uv_loop_t *loop)
{
    for (int i = 0; i < JOB_LANES; i++)
        TAILQ_INIT(&queue->queued[i]);
    for (int i = 0; i < JOB_STATES; i++)
        TAILQ_INIT(&queue->lists[i]);
    TAILQ_INIT(&queue->all);
    queue->timer.data = queue;
    uv_timer_init(loop, &queue->timer);
    uv_idle_init(loop, &queue->idle);
}

void queue_close(struct queue *queue)
{
    uv_close((uv_handle_t *)&queue->timer, NULL);
    uv_close((uv_handle_t *)&queue->idle, NULL);
}

unsigned queue_room(const struct queue *queue, bool of_clients)
{
    unsigned held = of_clients ? queue->n_client_jobs : queue->n_jobs - queue->n_client_jobs;
    if (!of_clients)
        held -= queue->n_retried < RETRIED_MAX ? queue->n_retried : RETRIED_MAX;
    return queue->draining || held >= queue->limit ? 0 : queue->limit - held;
}

unsigned queue_retried(const struct queue *queue, const void *owner)
{
    unsigned count = 0;
    const struct job *job;
    TAILQ_FOREACH (job, &queue->lists[JOB_WAITING], in_list)
        count += job->owner == owner;
    return count < RETRIED_MAX ? count : RETRIED_MAX;
}

unsigned queue_in_quarantine(const struct queue *queue)
{
    unsigned count = 0;
    const struct job *job;
    TAILQ_FOREACH (job, &queue->all, in_all)
        count += job->lane == JOB_SUSPECT && job->state <= JOB_BEGUN &&
                 (job->state == JOB_QUEUED || !*job->stalled);
    return count;
}

void queue_add(struct queue *queue, struct job *job)
{
    static const bool never = false;
    job->id = ++queue->last_id;
    job->stalled = job->stalled ? job->stalled : &never;
    job->state = JOB_QUEUED;
    job->added = job->since = clock_now();
    job->not_before = job->lane == JOB_LAST ? clock_now() + LAST_WAITS : 0;
    fault_clear(&job->fault);
    TAILQ_INSERT_TAIL(&queue->all, job, in_all);
    count(queue, job, 1);
    ++*job->n_owned;
    if (queue->n_jobs++ == 0)
        queue->rate.begun = job->added;
    queue->n_client_jobs += job->flow != NULL;
    queue_wake(queue);
}

/* ---- answers of the source ---- */

void queue_opened(struct queue *queue, struct job *job)
{
    enter(queue, job, JOB_OPEN);
    queue_wake(queue);
}

void queue_give_output(struct queue *queue, struct job *job, unsigned of, const char *plane, int fd,
                       const struct fault *fault)
{
    struct message message;
    if (job->state != JOB_SENT && job->state != JOB_BEGUN)
        return; /* its worker died meanwhile */
    message_init(&message, MESSAGE_OUTPUT);
    message.id = job->id;
    message.result_of = of;
    message.plane = plane;
    message.fds[0] = fd;
    message.n_fds = fd >= 0 ? 1 : 0;
    message_set_fault(&message, fault);
    child_send(job->worker->child, &message);
}

void queue_remove(struct queue *queue, struct job *job)
{
    TAILQ_REMOVE(&queue->all, job, in_all);
    count(queue, job, -1);
    queue->n_jobs--;
    --*job->n_owned;
    queue->n_client_jobs -= job->flow != NULL;
    queue_wake(queue);
}

void queue_count_end(struct queue *queue, const struct job *job, bool done)
{
    *(done ? &queue->n_done : &queue->n_failed) += 1;
    rate_count(&queue->rate, clock_now());
    events_add_job(queue->events, done ? "done" : "failed", job);
    metrics_count_job(queue->metrics, job->origin, job->counted ? job->counted : job->chain,
                      done ? "done" : "failed");
}

void queue_accuse(struct queue *queue, struct job *job)
{
    if (!job->worker)
        return;
    log_about(job_subject(job), LOG_LEVEL_ERROR, "%s: it is killed", job->fault.text);
    kill_worker(queue, job->worker, WORKER_CRASHED);
}

void queue_retry(struct queue *queue, struct job *job)
{
    static const unsigned seconds[] = {1, 5, 30, 120, 600};
    unsigned last = sizeof seconds / sizeof *seconds - 1;
    unsigned wait = seconds[job->retries < last ? job->retries : last];
    job->retries++;
    metrics_add(queue->metrics, METRIC_JOB_RETRIES, NULL, 1);
    job->not_before = clock_now() + wait * SECOND;
    log_about(job_subject(job), LOG_LEVEL_WARNING, "%s; tried again in %s", job->fault.text,
              number_duration(wait * SECOND));
    job->trouble = job->fault;
    fault_clear(&job->fault);
    enter(queue, job, JOB_WAITING);
    queue_wake(queue);
}

void queue_hurry(struct queue *queue)
{
    struct job *job;
    TAILQ_FOREACH (job, &queue->lists[JOB_WAITING], in_list)
        job->not_before = 0;
    queue_wake(queue);
}

void queue_give_up(struct queue *queue, struct job *job)
{
    settle(queue, job, NULL);
}

/* ---- the end ---- */

void queue_drain(struct queue *queue)
{
    queue->draining = true;
    queue_wake(queue);
}

void queue_withdraw(struct queue *queue, const void *owner)
{
    give_back(queue, owner);
    queue_wake(queue);
}

void queue_hold(struct queue *queue, bool hold)
{
    queue->held = hold;
    queue_wake(queue);
}

void queue_cancel(struct queue *queue)
{
    queue->cancelled = true;
    queue_drain(queue);
}
