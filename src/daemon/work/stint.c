#include "daemon/work/stint.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "daemon/work/worker.h"
#include "worker/message.h"

/* Milliseconds. START_LIMIT is for one program: with many chains a cold start of a slow board takes
 * longer than any limit for all of them that would still find one that hangs. */
#define START_LIMIT 300000
#define LEAVE_LIMIT 5000
#define KILL_LIMIT  10000

static void on_timer(uv_timer_t *timer);

/* The one place where the phase changes. `limit` in milliseconds; 0: for any time. */
static void enter(struct stint *stint, enum stint_phase phase, uint64_t limit)
{
    stint->phase = phase;
    if (limit > 0)
        uv_timer_start(&stint->timer, on_timer, limit, 0);
    else
        uv_timer_stop(&stint->timer);
}

static void send_setup(struct stint *stint)
{
    static const char *const levels[] = {"error", "warning", "info", "debug"};
    const struct settings *settings = stint->settings;
    struct message message;
    message_init(&message, MESSAGE_SETUP);
    message.device = stint->device;
    message.fallback = stint->fallback;
    message.wipe = stint->wipe;
    message.max_pixels = (int64_t)settings->max_pixels;
    message.max_file = (int64_t)settings->max_file;
    message.memory = (int64_t)settings->memory;
    message.threads = settings->jobs;
    message.log_level = levels[settings->log_level];
    message.self_check = settings->self_check;
    message.sandbox = settings->sandbox;
    message.fds[0] = stint->config_fd;
    message.n_fds = stint->config_fd >= 0 ? 1 : 0;
    worker_send(stint->worker, &message);
}

static void send_checks(struct stint *stint)
{
    for (size_t i = 0; i < stint->n_checks; i++) {
        struct message message;
        message_init(&message, MESSAGE_CHECK);
        message.id = (int64_t)i;
        message.chain = stint->checks[i].chain;
        message.format = stint->checks[i].format;
        message.input = stint->checks[i].reading;
        worker_send(stint->worker, &message);
    }
}

/* A level that is not what was asked for stands out. */
static void say_sandbox(const struct stint *stint)
{
    bool whole = strncmp(stint->sandbox, "whole", 5) == 0;
    bool off = stint->settings->sandbox == SANDBOX_OFF;
    if (whole || off)
        log_info("worker %d, its sandbox: %s", stint->pid, stint->sandbox);
    else
        log_warning("worker %d, its sandbox is not whole: %s", stint->pid, stint->sandbox);
}

static void become_ready(struct stint *stint)
{
    uint64_t took = clock_now() - stint->started;
    stint->came_up = true;
    stint->ping_at = clock_now() + STINT_PING_EVERY;
    stint->resident_first = stint_resident(stint);
    enter(stint, STINT_READY, 0);
    log_info("worker %d is up after %s: %s; programs compiled: %" PRIu64
             ", from the cache: %" PRIu64,
             stint->pid, number_duration(took), stint->name[0] ? stint->name : "no device",
             stint->builds, stint->cache_hits);
    say_sandbox(stint);
    stint->events->ready(stint);
}

static void take_answer(struct stint *stint, const struct message *message)
{
    struct faults faults = {0};
    if (stint->phase != STINT_STARTING || (size_t)message->id >= stint->n_checks) {
        if (stint->phase == STINT_STARTING)
            log_error("the worker answered what nobody asked");
        return;
    }
    struct stint_check *check = &stint->checks[message->id];
    stint->builds = (uint64_t)message->builds;
    stint->cache_hits = (uint64_t)message->cache_hits;
    stint->buffer_bytes = (uint64_t)message->buffer_bytes;
    stint->client_kernels = (uint64_t)message->client_kernels;
    snprintf(stint->name, sizeof stint->name, "%s", message->device ? message->device : "");
    snprintf(stint->sandbox, sizeof stint->sandbox, "%s", message->level ? message->level : "");
    message_get_faults(message, &faults);
    if (faults_count(&faults) > 0) {
        stint_leave(stint);
        stint->events->refused(stint, check, message->subject, &faults);
        return;
    }
    stint->events->passed(stint, check, message);
    stint->prepared = 0;
    if (++stint->n_passed == stint->n_checks)
        become_ready(stint);
}

static void on_said(void *context, const struct message *message)
{
    struct stint *stint = context;
    stint->unanswered = 0;
    if (message->kind == MESSAGE_PONG)
        return;
    if (message->kind == MESSAGE_WORKING) {
        stint->prepared = (unsigned)message->prepared;
        stint->to_prepare = (unsigned)message->to_prepare;
        log_debug("worker %d has %u of %u programs of chain %u ready", stint->pid, stint->prepared,
                  stint->to_prepare, stint->n_passed + 1);
        if (stint->phase == STINT_STARTING)
            enter(stint, STINT_STARTING, START_LIMIT);
        return;
    }
    if (message->kind == MESSAGE_CHECKED) {
        take_answer(stint, message);
        return;
    }
    if (message->kind == MESSAGE_DONE) {
        stint->n_jobs++;
        stint->builds = (uint64_t)message->builds;
        stint->cache_hits = (uint64_t)message->cache_hits;
        stint->buffer_bytes = (uint64_t)message->buffer_bytes;
        stint->client_kernels = (uint64_t)message->client_kernels;
        if (stint->in_flight > 0)
            stint->in_flight--;
    }
    stint->events->said(stint, message);
}

static void on_ended(void *context, const char *why, bool orderly)
{
    struct stint *stint = context;
    bool expected = orderly && stint->phase == STINT_LEAVING;
    if (!expected)
        log_warning("the worker (pid %d) ended %s", stint->pid, why);
    stint->events->ended(stint, orderly ? STINT_ORDERLY : STINT_CRASHED, why);
}

static const struct worker_events worker_events = {.said = on_said, .ended = on_ended};

/* An abandoned process keeps its device; whoever looks after the machine must know. */
static void give_up(struct stint *stint)
{
    log_error("the worker (pid %d) cannot be killed: it is stuck in the kernel, and its device "
              "with it; a reboot is due",
              stint->pid);
    stint->events->ended(stint, STINT_STUCK, "by nothing at all");
}

static void on_timer(uv_timer_t *timer)
{
    struct stint *stint = timer->data;
    switch (stint->phase) {
    case STINT_STARTING:
        log_error("the worker (pid %d) does not come up", stint->pid);
        stint_kill(stint);
        stint->killed = false; /* a start that hangs is a start that fails */
        break;
    case STINT_LEAVING:
        stint_kill(stint);
        break;
    case STINT_KILLED:
        give_up(stint);
        break;
    case STINT_READY:
        break;
    }
}

int stint_start(struct stint **stint, const struct stint *how, struct fault *fault)
{
    struct stint *made = malloc(sizeof *made);
    *stint = NULL;
    if (!made)
        return fault_set(fault, FAULT_MEMORY, "no memory for a worker");
    *made = (struct stint){.loop = how->loop,
                           .settings = how->settings,
                           .config_fd = how->config_fd,
                           .events = how->events,
                           .context = how->context,
                           .n_checks = how->n_checks,
                           .checks = how->checks,
                           .device = how->device,
                           .fallback = how->fallback,
                           .rung = how->rung,
                           .wipe = how->wipe,
                           .started = clock_now()};
    int error = uv_timer_init(made->loop, &made->timer);
    if (error < 0) {
        free(made);
        return fault_set(fault, FAULT_INTERNAL, "libuv: %s", uv_strerror(error));
    }
    made->timer.data = made;
    if (worker_start(&made->worker, made->loop, &worker_events, made, fault) != 0) {
        stint_destroy(&made);
        return fault->code;
    }
    made->pid = worker_pid(made->worker);
    enter(made, STINT_STARTING, START_LIMIT);
    send_setup(made);
    send_checks(made);
    *stint = made;
    return 0;
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void stint_destroy(struct stint **stint)
{
    struct stint *s = *stint;
    *stint = NULL;
    if (!s)
        return;
    worker_forget(&s->worker);
    uv_close((uv_handle_t *)&s->timer, on_timer_closed);
}

void stint_leave(struct stint *stint)
{
    if (stint->phase == STINT_LEAVING || stint->phase == STINT_KILLED)
        return;
    worker_hang_up(stint->worker);
    enter(stint, STINT_LEAVING, LEAVE_LIMIT);
}

/* What counts are questions without an answer, not the time: after a while in which we did not run
 * ourselves its answers lie in the socket. */
void stint_ping(struct stint *stint)
{
    struct message message;
    if (stint->phase != STINT_READY)
        return;
    stint->ping_at = clock_now() + STINT_PING_EVERY;
    if (stint->unanswered >= STINT_SILENT_MAX) {
        log_error("the worker (pid %d) gives no sign of life: it is killed", stint->pid);
        stint_kill(stint);
        return;
    }
    stint->unanswered++;
    message_init(&message, MESSAGE_PING);
    worker_send(stint->worker, &message);
}

void stint_progress(const struct stint *stint, unsigned *done, unsigned *of)
{
    bool starts = stint->phase == STINT_STARTING;
    *of = starts ? stint->to_prepare * (unsigned)stint->n_checks : 0;
    *done = starts ? stint->to_prepare * stint->n_passed + stint->prepared : 0;
}

void stint_kill(struct stint *stint)
{
    if (stint->phase == STINT_KILLED)
        return;
    stint->killed = true;
    worker_kill(stint->worker);
    enter(stint, STINT_KILLED, KILL_LIMIT);
}

/* /proc answers from memory, so this does not wait for a disk. */
uint64_t stint_resident(const struct stint *stint)
{
    char path[40], text[100];
    unsigned long long size, resident;
    snprintf(path, sizeof path, "/proc/%d/statm", stint->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return 0;
    text[got] = '\0';
    if (sscanf(text, "%llu %llu", &size, &resident) != 2)
        return 0;
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}
