#include "daemon/work/worker.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "daemon/work/job.h"
#include "daemon/work/metrics.h"
#include "worker/message.h"

/* How long a state may last, in milliseconds. START_LIMIT is for one program, not for the whole
 * start: with many chains, a first start on a slow board takes longer than any limit that would
 * still catch a start that hangs. A worker that has jobs is pinged every PING_EVERY, and killed
 * after SILENT_MAX pings without an answer. Pings are counted rather than time: after a while in
 * which this process itself did not run, the answers are still in the socket. */
#define START_LIMIT 300000
#define PING_EVERY  5000
#define LEAVE_LIMIT 5000
#define KILL_LIMIT  10000
#define SILENT_MAX  2

#define NONSENSE_MAX 4 /* messages that make no sense, and lines of the log about them */

#define RESIDENT_EVERY  SECOND
#define GROWTH_FOR_FREE (UINT64_C(64) << 20) /* decoders, drivers and allocators keep so much */

/* ---- states ---- */

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
    /* nothing leads back to starting, which is 0: where the table has no entry the state stays */
    return next[event][state] != WORKER_STARTING ? next[event][state] : state;
}

const char *worker_state_name(enum worker_state state)
{
    static const char *const names[WORKER_STATES] = {"starting", "ready",  "spoiled", "retiring",
                                                     "leaving",  "killed", "lost",    "ended"};
    return names[state];
}

static void on_timer(uv_timer_t *timer);

static void limit_state(struct worker *worker)
{
    static const unsigned limits[WORKER_STATES] = {
        [WORKER_STARTING] = START_LIMIT, [WORKER_READY] = PING_EVERY,
        [WORKER_SPOILED] = PING_EVERY,   [WORKER_RETIRING] = PING_EVERY,
        [WORKER_LEAVING] = LEAVE_LIMIT,  [WORKER_KILLED] = KILL_LIMIT};
    if (limits[worker->state] > 0)
        uv_timer_start(&worker->timer, on_timer, limits[worker->state], 0);
    else
        uv_timer_stop(&worker->timer);
}

/* The one place where the state changes. When the worker has ended it may be freed after this call.
 */
static void take(struct worker *worker, enum worker_event event)
{
    enum worker_state state = worker_next(worker->state, event);
    if (state == worker->state)
        return;
    worker->state = state;
    limit_state(worker);
    if (state == WORKER_LEAVING)
        child_hang_up(worker->child);
    if (state == WORKER_KILLED)
        child_kill(worker->child);
    if (state == WORKER_LOST) /* told loudly: the machine needs a reboot */
        log_error("the worker (pid %d) cannot be killed: it is stuck in the kernel, and its device "
                  "with it; a reboot is due",
                  worker->pid);
    worker->events->changed(worker);
}

static void ping(struct worker *worker)
{
    struct message message;
    if (worker->unanswered >= SILENT_MAX) {
        log_error("the worker (pid %d) gives no sign of life: it is killed", worker->pid);
        worker_kill(worker, WORKER_TAKEN);
        return;
    }
    worker->unanswered++;
    worker->n_pings++;
    message_init(&message, MESSAGE_PING);
    child_send(worker->child, &message);
    limit_state(worker);
}

static void on_timer(uv_timer_t *timer)
{
    struct worker *worker = timer->data;
    if (worker->state >= WORKER_READY && worker->state <= WORKER_RETIRING) {
        ping(worker);
        return;
    }
    if (worker->state == WORKER_STARTING)
        log_error("the worker (pid %d) does not come up", worker->pid);
    take(worker, WORKER_TIME_OVER);
}

/* ---- its start ---- */

static void send_setup(struct worker *worker)
{
    static const char *const levels[] = {"error", "warning", "info", "debug"};
    const struct settings *settings = worker->settings;
    struct message message;
    message_init(&message, MESSAGE_SETUP);
    message.device = worker->device;
    message.fallback = settings->fallback;
    message.wipe = worker->wipe;
    message.max_pixels = (int64_t)settings->max_pixels;
    message.max_file = (int64_t)settings->max_file;
    message.memory = (int64_t)settings->memory;
    message.threads = worker->quarantine ? 1 : job_most(settings->jobs);
    message.log_level = levels[settings->log_level];
    message.log_json = settings->log_format == LOG_FORMAT_JSON;
    message.self_check = settings->self_check;
    message.wait = settings->wait;
    message.sandbox = settings->sandbox;
    message.fds[0] = worker->config_fd;
    message.n_fds = worker->config_fd >= 0 ? 1 : 0;
    child_send(worker->child, &message);
}

static void send_checks(struct worker *worker)
{
    for (size_t i = 0; i < worker->n_checks; i++) {
        struct message message;
        message_init(&message, MESSAGE_CHECK);
        message.id = (int64_t)i;
        message.chain = worker->checks[i].chain;
        message.format = worker->checks[i].format;
        message.input = worker->checks[i].reading;
        child_send(worker->child, &message);
    }
}

/* The worker's resident memory; 0: not known. /proc answers from memory, so this does not wait for
 * a disk. */
static uint64_t resident_bytes(const struct worker *worker)
{
    char path[40], text[100];
    unsigned long long size, resident;
    snprintf(path, sizeof path, "/proc/%d/statm", worker->pid);
    if (!file_read_text(path, text, sizeof text) ||
        sscanf(text, "%llu %llu", &size, &resident) != 2)
        return 0;
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Its device cannot be opened: it ends the jobs that it has on native. */
static void give_up_device(struct worker *worker)
{
    take(worker, WORKER_FAILED);
    if (worker->in_flight == 0)
        take(worker, WORKER_IDLE);
}

static void become_ready(struct worker *worker)
{
    uint64_t now = clock_now();
    worker->came_up = true;
    worker->used = now;
    worker->resident_first = resident_bytes(worker);
    log_info("worker %d is up after %s: %s; programs compiled: %" PRIu64
             ", from the cache: %" PRIu64 "%s",
             worker->pid, number_duration(now - worker->started),
             worker->name[0] ? worker->name : "no device", worker->builds, worker->cache_hits,
             worker->quarantine ? "; it is the one in quarantine" : "");
    /* a warning where the sandbox is not the one that was asked for */
    bool whole = strncmp(worker->sandbox, "whole", 5) == 0;
    if (whole || worker->settings->sandbox == SANDBOX_OFF)
        log_info("worker %d, its sandbox: %s", worker->pid, worker->sandbox);
    else
        log_warning("worker %d, its sandbox is not whole: %s", worker->pid, worker->sandbox);
    take(worker, WORKER_PASSED);
    if (worker->trouble.code)
        give_up_device(worker);
}

/* Passes on the device's counters, which `checked` and `done` carry. The quarantine worker's
 * present values are left out, since gauges show the main worker. */
static void count_programs(struct worker *worker, const struct message *message)
{
    uint64_t builds = (uint64_t)message->builds, hits = (uint64_t)message->cache_hits;
    if (builds > worker->builds)
        metrics_add(worker->metrics, METRIC_KERNEL_BUILDS, NULL, (double)(builds - worker->builds));
    if (hits > worker->cache_hits)
        metrics_add(worker->metrics, METRIC_KERNEL_CACHE_HITS, NULL,
                    (double)(hits - worker->cache_hits));
    worker->builds = builds;
    worker->cache_hits = hits;
    if (worker->quarantine)
        return;
    metrics_set(worker->metrics, METRIC_BUFFER_BYTES, NULL, (double)message->buffer_bytes);
    metrics_set(worker->metrics, METRIC_CLIENT_KERNELS, NULL, (double)message->client_kernels);
}

static void take_answer(struct worker *worker, const struct message *message)
{
    struct faults faults = {0};
    bool starts = worker->state == WORKER_STARTING, next = message->id == worker->n_passed;
    if (worker->came_up || (starts && !next))
        worker_note_nonsense(worker, "answers a check that it was not asked for");
    if (!starts || !next)
        return;
    struct worker_check *check = &worker->checks[message->id];
    count_programs(worker, message);
    snprintf(worker->name, sizeof worker->name, "%s", message->device ? message->device : "");
    snprintf(worker->sandbox, sizeof worker->sandbox, "%s", message->level ? message->level : "");
    message_get_faults(message, &faults);
    if (faults_count(&faults) > 0) {
        worker->events->refused(worker, check, message->subject, &faults);
        take(worker, WORKER_REFUSED);
        return;
    }
    snprintf(worker->tiers[message->id].kind, sizeof worker->tiers->kind, "%s",
             message->tier ? message->tier : "");
    snprintf(worker->tiers[message->id].why, sizeof worker->tiers->why, "%s",
             message->fallback ? message->fallback : "");
    worker->events->passed(worker, check, message);
    worker->prepared = 0;
    if (++worker->n_passed == worker->n_checks)
        become_ready(worker);
}

/* A chain on its way to the device, or the device itself. */
static void take_moved(struct worker *worker, const struct message *message)
{
    struct fault fault = FAULT_INIT;
    message_get_fault(message, &fault);
    bool known = message->tier && (size_t)message->id < worker->n_checks;
    if (message->tier ? !known || worker->tiers[message->id].moved : worker->trouble.code != 0) {
        worker_note_nonsense(worker, "speaks of a chain's device once too often");
        return;
    }
    count_programs(worker, message);
    if (!message->tier) {
        worker->trouble = fault;
        worker->name[0] = '\0'; /* it was native's; the trouble is with the one that was chosen */
        if (worker->state == WORKER_READY)
            give_up_device(worker);
        return;
    }
    struct worker_tier *tier = &worker->tiers[message->id];
    bool ended = fault.code || message->prepared == message->to_prepare;
    snprintf(tier->kind, sizeof tier->kind, "%s", message->tier);
    snprintf(tier->why, sizeof tier->why, "%s", fault.text);
    tier->done = ended ? 0 : (unsigned)message->prepared;
    tier->of = ended ? 0 : (unsigned)message->to_prepare;
    tier->moved = ended;
    if (!ended)
        return;
    if (!fault.code)
        snprintf(worker->name, sizeof worker->name, "%s", message->device ? message->device : "");
    worker->events->moved(worker, &worker->checks[message->id]);
}

/* ---- events of its process ---- */

static void on_said(void *context, const struct message *message)
{
    struct worker *worker = context;
    if (worker->n_nonsense >= NONSENSE_MAX)
        return;
    worker->unanswered = 0;
    switch (message->kind) {
    case MESSAGE_BEGAN:
    case MESSAGE_NEED_OUTPUT:
    case MESSAGE_DONE:
        worker->jobs->said(worker->jobs_context, worker, message);
        break;
    case MESSAGE_CHECKED:
        take_answer(worker, message);
        break;
    case MESSAGE_WORKING:
        if (worker->came_up) {
            worker_note_nonsense(worker, "prepares programs for a check after its last one");
            break;
        }
        worker->prepared = (unsigned)message->prepared;
        worker->to_prepare = (unsigned)message->to_prepare;
        log_debug("worker %d has %u of %u programs of chain %u ready", worker->pid,
                  worker->prepared, worker->to_prepare, worker->n_passed + 1);
        if (worker->state == WORKER_STARTING)
            limit_state(worker); /* the time limit for the next program begins */
        break;
    case MESSAGE_MOVED:
        take_moved(worker, message);
        break;
    case MESSAGE_DESCRIBED:
        if (worker->n_asked == 0) {
            worker_note_nonsense(worker, "describes stages and devices that nobody asked for");
            break;
        }
        worker->n_asked--;
        worker->events->described(worker);
        break;
    case MESSAGE_KEPT:
        if (worker->kept) {
            worker_note_nonsense(worker, "has a second keeper");
            break;
        }
        child_has_keeper(worker->child);
        worker->pid = (int)message->pid;
        worker->kept = true;
        break;
    case MESSAGE_PONG:
        if (worker->n_pings == 0)
            worker_note_nonsense(worker, "answers a ping that was not sent");
        else
            worker->n_pings--;
        break;
    default:
        worker_note_nonsense(worker, "says what is for the front to say");
    }
}

static void on_hung_up(void *context)
{
    struct worker *worker = context;
    worker->cut = true;
    take(worker, WORKER_HUNG_UP);
}

static void on_ended(void *context, const struct child_end *end)
{
    struct worker *worker = context;
    bool orderly = end->status == 0 && end->signal == 0;
    worker->end = *end;
    if (!worker->killed)
        worker->cause = end->signal == SIGKILL && !end->blamed && worker->state != WORKER_KILLED
                            ? WORKER_TAKEN
                            : WORKER_CRASHED;
    if (!orderly || worker->cut || worker->state != WORKER_LEAVING)
        log_warning("the worker (pid %d) ended %s", worker->pid, end->text);
    take(worker, WORKER_EXITED);
}

static const struct child_events child_events = {
    .said = on_said, .hung_up = on_hung_up, .ended = on_ended};

/* ---- life ---- */

int worker_start(struct worker **worker, const struct worker *how, struct fault *fault)
{
    struct worker *made = malloc(sizeof *made);
    *worker = NULL;
    if (!made)
        return fault_set(fault, FAULT_MEMORY, "no memory for a worker");
    *made = *how;
    made->state = WORKER_STARTING;
    made->started = clock_now();
    fault_clear(&made->trouble);
    made->tiers = calloc(made->n_checks + 1, sizeof *made->tiers);
    if (!made->tiers) {
        free(made);
        return fault_set(fault, FAULT_MEMORY, "no memory for a worker");
    }
    uv_timer_init(made->loop, &made->timer);
    made->timer.data = made;
    if (child_start(&made->child, made->loop, &child_events, made, fault) != 0) {
        worker_destroy(&made);
        return fault->code;
    }
    made->pid = child_pid(made->child);
    limit_state(made);
    send_setup(made);
    send_checks(made);
    *worker = made;
    return 0;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct worker *worker = handle->data;
    free(worker->tiers);
    free(worker);
}

void worker_destroy(struct worker **worker)
{
    struct worker *w = *worker;
    *worker = NULL;
    if (!w)
        return;
    child_forget(&w->child);
    uv_close((uv_handle_t *)&w->timer, on_timer_closed);
}

void worker_retire(struct worker *worker)
{
    take(worker, WORKER_UNWANTED);
    if (worker->in_flight == 0)
        take(worker, WORKER_IDLE);
}

void worker_kill(struct worker *worker, enum worker_cause cause)
{
    if (worker->state >= WORKER_KILLED)
        return;
    worker->killed = true;
    worker->cause = cause;
    take(worker, WORKER_KILL);
}

void worker_note_nonsense(struct worker *worker, const char *what)
{
    if (worker->n_nonsense >= NONSENSE_MAX)
        return;
    bool enough = ++worker->n_nonsense == NONSENSE_MAX;
    log_error("the worker (pid %d) %s%s", worker->pid, what, enough ? ": it is killed" : "");
    if (enough)
        worker_kill(worker, WORKER_CRASHED);
}

void worker_send(struct worker *worker, const struct message *message)
{
    worker->n_asked += message->kind == MESSAGE_DESCRIBE;
    child_send(worker->child, message);
}

/* ---- its jobs ---- */

/* Why the worker is due to be replaced; NULL: it is not. */
static const char *why_due(struct worker *worker)
{
    const struct settings *settings = worker->settings;
    if (settings->worker_jobs > 0 && worker->n_jobs >= (uint64_t)settings->worker_jobs)
        return "its number of jobs is done";
    if (worker->used - worker->resident_seen < RESIDENT_EVERY)
        return NULL;
    worker->resident_seen = worker->used;
    /* as much as jobs hold, and once more what the pool keeps for the next ones */
    uint64_t growth =
        settings->worker_growth ? settings->worker_growth : 2 * settings->memory + GROWTH_FOR_FREE;
    bool grown =
        worker->resident_first > 0 && resident_bytes(worker) > worker->resident_first + growth;
    return grown ? "its memory has grown" : NULL;
}

void worker_replace(struct worker *worker, const char *why)
{
    if (worker->state == WORKER_READY)
        worker->events->due(worker, why);
}

void worker_end_job(struct worker *worker, const struct message *done)
{
    struct fault fault = FAULT_INIT;
    message_get_fault(done, &fault);
    bool failed = fault.code == FAULT_DEVICE || fault.code == FAULT_NO_DEVICE;
    worker->n_jobs++;
    worker->n_good += !failed;
    worker->in_flight--;
    worker->used = clock_now();
    count_programs(worker, done);
    if (failed && worker->state == WORKER_READY) {
        worker->trouble = fault;
        take(worker, WORKER_FAILED);
    }
    const char *why = why_due(worker);
    if (why)
        worker_replace(worker, why);
    if (worker->in_flight == 0)
        take(worker, WORKER_IDLE);
}

bool worker_is_sound(const struct worker *worker)
{
    return worker->state != WORKER_READY || worker->unanswered <= SILENT_MAX;
}

void worker_progress(const struct worker *worker, unsigned *done, unsigned *of)
{
    bool starts = worker->state == WORKER_STARTING;
    *of = starts ? worker->to_prepare * (unsigned)worker->n_checks : 0;
    *done = starts ? worker->to_prepare * worker->n_passed + worker->prepared : 0;
}
