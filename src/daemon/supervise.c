#include "daemon/supervise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/worker.h"
#include "worker/message.h"

/* Milliseconds. A cold compile on a slow board takes a minute and more. */
#define START_LIMIT    300000
#define LEAVE_LIMIT    5000
#define KILL_LIMIT     10000
#define PAUSE_FIRST    100
#define PAUSE_LAST     10000
#define FIRST_FAILURES 3 /* ends at the very first start, until it counts as hopeless */

static void on_timer(uv_timer_t *timer);

/* The one place where the phase changes. `limit` in milliseconds; 0: for any time. */
static void enter(struct supervisor *s, enum supervisor_phase phase, uint64_t limit)
{
    s->phase = phase;
    if (limit > 0)
        uv_timer_start(&s->timer, on_timer, limit, 0);
    else
        uv_timer_stop(&s->timer);
}

static void send_setup(struct supervisor *s)
{
    static const char *const levels[] = {"error", "warning", "info", "debug"};
    struct message message;
    message_init(&message, MESSAGE_SETUP);
    message.device = s->settings->device;
    message.max_pixels = (int64_t)s->settings->max_pixels;
    message.max_file = (int64_t)s->settings->max_file;
    message.memory = (int64_t)s->settings->memory;
    message.threads = s->threads;
    message.log_level = levels[s->settings->log_level];
    worker_send(s->worker, &message);
}

static void send_checks(struct supervisor *s)
{
    for (size_t i = 0; i < s->n_checks; i++) {
        struct message message;
        message_init(&message, MESSAGE_CHECK);
        message.id = (int64_t)i;
        message.chain = s->checks[i].chain;
        message.format = s->checks[i].format;
        message.input = s->checks[i].reading;
        worker_send(s->worker, &message);
    }
}

static void pause_then_start(struct supervisor *s)
{
    unsigned doublings = s->failures > 0 ? s->failures - 1 : 0;
    uint64_t pause = doublings < 10 ? PAUSE_FIRST << doublings : PAUSE_LAST;
    enter(s, SUPERVISOR_PAUSING, pause < PAUSE_LAST ? pause : PAUSE_LAST);
}

/* It is gone, one way or another: its jobs are sorted out, then a new one is due. */
static void lose_worker(struct supervisor *s)
{
    worker_forget(&s->worker);
    s->failures++;
    if (s->stopping)
        enter(s, SUPERVISOR_IDLE, 0);
    else
        pause_then_start(s);
    s->events->died(s->context);
    if (s->stopping)
        s->events->stopped(s->context);
}

static void on_ended(void *context, const char *why, bool orderly)
{
    struct supervisor *s = context;
    bool hopeless = !s->ever_ready && s->failures + 1 >= FIRST_FAILURES;
    if (!s->stopping || !orderly)
        log_warning("the worker (pid %d) ended %s", worker_pid(s->worker), why);
    lose_worker(s);
    if (hopeless && !s->stopping) {
        struct fault fault = FAULT_INIT;
        fault_set(&fault, FAULT_NO_DEVICE,
                  "the worker ended %s each time it was started; a torn kernel cache may be why: "
                  "remove it (SLUICE_CACHE_DIR, XDG_CACHE_HOME/sluice or ~/.cache/sluice)",
                  why);
        s->events->refused(s->context, NULL, NULL, &fault);
    }
}

static void become_ready(struct supervisor *s)
{
    double seconds = (double)(clock_now() - s->started) * 1e-9;
    s->ever_ready = true;
    enter(s, SUPERVISOR_READY, 0);
    log_info("worker %d is up after %.2f s: %s; programs compiled: %" PRIu64
             ", from the cache: %" PRIu64,
             worker_pid(s->worker), seconds, s->device[0] ? s->device : "no device", s->builds,
             s->cache_hits);
    s->events->ready(s->context);
}

static void let_leave(struct supervisor *s)
{
    worker_hang_up(s->worker);
    enter(s, SUPERVISOR_LEAVING, LEAVE_LIMIT);
}

/* The next one may do better: a device may come back. */
static void refuse(struct supervisor *s, const struct supervisor_check *check,
                   const struct message *message)
{
    struct fault fault = FAULT_INIT;
    message_get_fault(message, &fault);
    let_leave(s);
    s->events->refused(s->context, check, message->subject, &fault);
}

static void take_answer(struct supervisor *s, const struct message *message)
{
    if (s->phase != SUPERVISOR_STARTING || (size_t)message->id >= s->n_checks) {
        log_error("the worker answered what nobody asked");
        return;
    }
    struct supervisor_check *check = &s->checks[message->id];
    s->builds = (uint64_t)message->builds;
    s->cache_hits = (uint64_t)message->cache_hits;
    snprintf(s->device, sizeof s->device, "%s", message->device ? message->device : "");
    if (strcmp(message->result, fault_name(FAULT_NONE)) != 0) {
        refuse(s, check, message);
        return;
    }
    if (!s->ever_ready) /* from then on pool threads read it; it stays the same */
        snprintf(check->extension, sizeof check->extension, "%s",
                 message->extension ? message->extension : "out");
    if (++s->n_passed == s->n_checks)
        become_ready(s);
}

static void on_said(void *context, const struct message *message)
{
    struct supervisor *s = context;
    if (message->kind == MESSAGE_CHECKED) {
        take_answer(s, message);
        return;
    }
    if (message->kind == MESSAGE_DONE) {
        s->failures = 0;
        s->n_jobs++;
        s->builds = (uint64_t)message->builds;
        s->cache_hits = (uint64_t)message->cache_hits;
    }
    s->events->said(s->context, message);
}

static const struct worker_events worker_events = {.said = on_said, .ended = on_ended};

/* An abandoned process keeps its device; whoever looks after the machine must know. */
static void abandon(struct supervisor *s)
{
    log_error(
        "the worker (pid %d) cannot be killed: it is stuck in the kernel, and its device with "
        "it; a reboot is due",
        worker_pid(s->worker));
    lose_worker(s);
}

static void on_timer(uv_timer_t *timer)
{
    struct supervisor *s = timer->data;
    switch (s->phase) {
    case SUPERVISOR_PAUSING:
        supervisor_start(s);
        break;
    case SUPERVISOR_STARTING:
        log_error("the worker (pid %d) does not come up", worker_pid(s->worker));
        supervisor_kill(s);
        break;
    case SUPERVISOR_LEAVING:
        supervisor_kill(s);
        break;
    case SUPERVISOR_KILLED:
        abandon(s);
        break;
    case SUPERVISOR_IDLE:
    case SUPERVISOR_READY:
        break;
    }
}

int supervisor_init(struct supervisor *supervisor, struct fault *fault)
{
    supervisor->timer.data = supervisor;
    int error = uv_timer_init(supervisor->loop, &supervisor->timer);
    return error == 0 ? 0 : fault_set(fault, FAULT_INTERNAL, "libuv: %s", uv_strerror(error));
}

void supervisor_close(struct supervisor *supervisor)
{
    worker_forget(&supervisor->worker);
    uv_close((uv_handle_t *)&supervisor->timer, NULL);
}

void supervisor_start(struct supervisor *supervisor)
{
    struct supervisor *s = supervisor;
    struct fault fault = FAULT_INIT;
    s->n_passed = 0;
    s->builds = s->cache_hits = 0;
    s->started = clock_now();
    if (worker_start(&s->worker, s->loop, &worker_events, s, &fault) != 0) {
        s->failures++;
        pause_then_start(s);
        s->events->refused(s->context, NULL, NULL, &fault);
        return;
    }
    s->n_starts++;
    enter(s, SUPERVISOR_STARTING, START_LIMIT);
    send_setup(s);
    send_checks(s);
}

void supervisor_stop(struct supervisor *supervisor)
{
    struct supervisor *s = supervisor;
    s->stopping = true;
    if (!s->worker) {
        enter(s, SUPERVISOR_IDLE, 0);
        s->events->stopped(s->context);
    } else if (s->phase != SUPERVISOR_KILLED) {
        let_leave(s);
    }
}

void supervisor_kill(struct supervisor *supervisor)
{
    if (!supervisor->worker || supervisor->phase == SUPERVISOR_KILLED)
        return;
    worker_kill(supervisor->worker);
    enter(supervisor, SUPERVISOR_KILLED, KILL_LIMIT);
}

bool supervisor_is_ready(const struct supervisor *supervisor)
{
    return supervisor->phase == SUPERVISOR_READY;
}

int supervisor_pid(const struct supervisor *supervisor)
{
    return supervisor->worker ? worker_pid(supervisor->worker) : 0;
}

void supervisor_send_job(struct supervisor *supervisor, const struct job *job)
{
    struct message message;
    message_init(&message, MESSAGE_JOB);
    message.id = job->id;
    message.chain = job->chain;
    message.format = job->format;
    message.input = job->input;
    message.fds[0] = job->in_fd;
    message.fds[1] = job->out_fd;
    message.n_fds = 2;
    worker_send(supervisor->worker, &message);
}

void supervisor_send_output(struct supervisor *supervisor, const struct job *job, const char *plane,
                            int fd, const struct fault *fault)
{
    struct message message;
    if (!supervisor->worker)
        return;
    message_init(&message, MESSAGE_OUTPUT);
    message.id = job->id;
    message.plane = plane;
    message.fds[0] = fd;
    message.n_fds = fd >= 0 ? 1 : 0;
    message.text = fd >= 0 ? NULL : fault->text;
    worker_send(supervisor->worker, &message);
}
