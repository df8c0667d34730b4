#include "daemon/work/supervise.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "daemon/work/metrics.h"
#include "worker/message.h"

#define PAUSE_FIRST     (100 * MILLISECOND)
#define PAUSE_LAST      (10 * SECOND)
#define FIRST_FAILURES  3 /* failed starts until the daemon's own start counts as failed */
#define FAILURES_MAX    4 /* ends in a row without a finished job: more than one file explains */
#define RECYCLE_AGAIN   (60 * SECOND) /* after a replacement that did not become ready */
#define QUARANTINE_IDLE (30 * SECOND)

/* Messages of one worker read in one turn of the loop. The rest is read in the next turn, so that
 * other sockets are served in between. */
#define MESSAGES_A_TURN 64

/* Pings without an answer before a worker is killed. They are counted rather than time: after a
 * while in which this process itself did not run, the answers are still in the socket. */
#define SILENT_MAX 2

#define NONSENSE_MAX 4 /* messages that make no sense, and lines of the log about them */

/* How long a state may last. START_LIMIT is for one program, not for the whole start: with many
 * chains, a first start on a slow board takes longer than any limit that would still catch a start
 * that hangs. A worker that may have jobs is pinged every PING_EVERY. */
#define START_LIMIT (300 * SECOND)
#define PING_EVERY  (5 * SECOND)
#define LEAVE_LIMIT (5 * SECOND)
#define KILL_LIMIT  (10 * SECOND)

#define DESCRIPTION_MAX (4u << 20)

#define RESIDENT_EVERY  SECOND
#define GROWTH_FOR_FREE (UINT64_C(64) << 20) /* decoders, drivers and allocators keep so much */

/* ---- a worker's states ---- */

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

/* ---- slots, and when their next worker is started ---- */

static void plan_start(struct supervisor *s, struct slot *slot, uint64_t pause)
{
    if (s->stopping)
        return;
    slot->start_at = clock_now() + pause;
    s->stirred = true;
    queue_wake(s->queue);
}

/* A pause that doubles with each failure in a row. */
static uint64_t pause_after(unsigned failures)
{
    uint64_t pause = failures <= 10 ? (PAUSE_FIRST << failures) / 2 : PAUSE_LAST;
    return pause < PAUSE_LAST ? pause : PAUSE_LAST;
}

static void start_after_failure(struct supervisor *s, struct slot *slot)
{
    slot->failures++;
    plan_start(s, slot, pause_after(slot->failures));
}

/* The worker gets no more jobs, and leaves when it has none. */
static void retire(struct worker **place)
{
    struct worker *worker = *place;
    *place = NULL;
    if (!worker)
        return;
    worker->slot = NULL;
    worker_take(worker, WORKER_UNWANTED);
    if (worker->in_flight == 0)
        worker_take(worker, WORKER_IDLE);
}

/* The owner is told that no worker can be used, or that this check failed. */
static void refuse(struct supervisor *s, const struct worker_check *check, const char *subject,
                   const struct faults *faults)
{
    s->news.refused = *faults;
    s->news.check = check;
    snprintf(s->news.subject, sizeof s->news.subject, "%s", subject ? subject : "");
}

/* ---- which device ---- */

static const char *device_of(const struct worker *worker)
{
    return worker->name[0] ? worker->name : worker->device;
}

/* The rung of the ladder that the slot's next worker gets. For quarantine it is the one below the
 * main worker's: the device, or a call of its driver, may be why a job did not end. */
static unsigned rung_for(const struct supervisor *s, const struct slot *slot)
{
    unsigned last = s->fallback.n_rungs - 1, rung = s->fallback.rung;
    if (slot == &s->quarantine)
        rung = rung + 1 > slot->rung ? rung + 1 : slot->rung;
    return rung < last ? rung : last;
}

/* Stops using the worker's device: for a while or, when a process is stuck in it, until a reboot.
 * Returns true when the next worker gets another device. */
static bool step_down(struct supervisor *s, const struct worker *worker, const char *reason,
                      const char *why)
{
    uint64_t now = clock_now();
    bool stuck = strcmp(reason, "stuck") == 0;
    bool other = stuck ? fallback_lose(&s->fallback, worker->rung, now)
                       : fallback_step_down(&s->fallback, worker->rung, now);
    if (!other) {
        log_error("device %s: %s; there is no other to fall back to", device_of(worker), why);
        return false;
    }
    metrics_count(s->metrics, METRIC_DEVICE_FALLBACK, "reason", reason);
    if (s->fallback.retry_at > now)
        log_error("device %s: %s; FALLING BACK to '%s'; it is tried again in %s", device_of(worker),
                  why, fallback_device(&s->fallback), number_duration(s->fallback.retry_at - now));
    else
        log_error("device %s: %s; FALLING BACK to '%s'", device_of(worker), why,
                  fallback_device(&s->fallback));
    return true;
}

/* A quarantine worker did not become ready. That says nothing about the device, beside the main
 * worker: the next one is tried a rung below, or after a while where there is none. */
static void step_down_alone(struct supervisor *s, struct slot *slot, const struct worker *worker)
{
    if (worker->rung + 1 >= s->fallback.n_rungs) {
        slot->failures++;
        return;
    }
    slot->rung = worker->rung + 1;
    log_warning("device %s has no room for a second worker: '%s' is taken for quarantine",
                device_of(worker), s->fallback.rungs[slot->rung]);
}

/* ---- a worker's life: it is started ----
 *
 * A process is forked, and told at once all that it has to know before it can be ready: the device
 * and the limits, then every chain and format that it has to accept. Until it has answered the last
 * check it is `next` in its slot, and the worker that is there, if any, goes on. */
static void launch(struct supervisor *s, struct slot *slot)
{
    struct faults faults = {0};
    struct fault *fault = faults_next(&faults);
    struct message message;
    bool is_main = slot == &s->main;
    slot->start_at = 0;
    if (is_main && !slot->worker && fallback_is_due(&s->fallback, clock_now()))
        fallback_climb(&s->fallback);
    struct worker *worker = calloc(1, sizeof *worker);
    struct worker_tier *tiers = calloc(s->n_checks + 1, sizeof *tiers);
    struct child *child = NULL;
    if (!worker || !tiers)
        fault_set(fault, FAULT_MEMORY, "no memory for a worker");
    else
        child_start(&child, s->loop, fault);
    if (!child) {
        free(worker);
        free(tiers);
        start_after_failure(s, slot);
        if (is_main)
            refuse(s, NULL, NULL, &faults);
        return;
    }
    unsigned rung = rung_for(s, slot);
    *worker = (struct worker){.n_checks = s->n_checks,
                              .checks = s->checks,
                              .tiers = tiers,
                              .device = s->fallback.rungs[rung],
                              .rung = rung,
                              .quarantine = !is_main,
                              .slot = slot,
                              .child = child,
                              .pid = child->pid,
                              .started = clock_now()};
    fault_clear(&worker->trouble);
    worker_limit(worker);
    TAILQ_INSERT_TAIL(&s->workers, worker, in_list);
    slot->next = worker;
    s->n_starts++;
    metrics_add(s->metrics, METRIC_WORKER_STARTS, NULL, 1);

    message_init(&message, MESSAGE_SETUP);
    message.device = worker->device;
    message.threads = is_main ? job_most(s->settings->jobs) : 1;
    message.wipe = is_main && s->wipe;
    message.fds[0] = s->config_fd;
    message.fds[1] = s->pictures_fd;
    message.n_fds = s->pictures_fd < 0 ? 1 : 2;
    child_send(child, &message);
    if (message.wipe) {
        metrics_add(s->metrics, METRIC_CACHE_WIPES, NULL, 1);
        s->wiped = true;
        s->wipe = false;
    }
    for (size_t i = 0; i < s->n_checks; i++) {
        message_init(&message, MESSAGE_CHECK);
        message.id = (int64_t)i;
        message.chain = s->checks[i].chain;
        message.format = s->checks[i].format;
        message.input = s->checks[i].reading;
        child_send(child, &message);
    }
}

/* ---- it answers its checks, and becomes ready ---- */

/* The device's counters, which `checked`, `moved` and `done` carry. The quarantine worker's present
 * values are left out, since gauges show the main worker. */
static void count_programs(struct supervisor *s, struct worker *worker,
                           const struct message *message)
{
    uint64_t builds = (uint64_t)message->builds, hits = (uint64_t)message->cache_hits;
    if (builds > worker->builds)
        metrics_add(s->metrics, METRIC_KERNEL_BUILDS, NULL, (double)(builds - worker->builds));
    if (hits > worker->cache_hits)
        metrics_add(s->metrics, METRIC_KERNEL_CACHE_HITS, NULL,
                    (double)(hits - worker->cache_hits));
    worker->builds = builds;
    worker->cache_hits = hits;
    if (worker->quarantine)
        return;
    metrics_set(s->metrics, METRIC_BUFFER_BYTES, NULL, (double)message->buffer_bytes);
    metrics_set(s->metrics, METRIC_CLIENT_KERNELS, NULL, (double)message->client_kernels);
}

/* How many chains of the main worker run on which kind of device. */
static void count_tiers(struct supervisor *s, const struct worker *worker)
{
    metrics_clear(s->metrics, METRIC_CHAINS);
    for (size_t i = 0; i < worker->n_checks; i++)
        if (worker->tiers[i].kind[0])
            metrics_count(s->metrics, METRIC_CHAINS, "tier", worker->tiers[i].kind);
}

/* Has the main worker write into a new file which stages and devices there are. */
static void ask_for_description(struct supervisor *s)
{
    struct worker *worker = s->main.worker;
    struct message message;
    file_close(&s->description_fd);
    s->description_fd = memfd_create("sluice-description", MFD_CLOEXEC);
    if (s->description_fd < 0)
        return;
    message_init(&message, MESSAGE_DESCRIBE);
    message.fds[0] = s->description_fd;
    message.n_fds = 1;
    worker->n_asked++;
    child_send(worker->child, &message);
}

/* The worker has answered. Only what it was asked last counts. */
static const char *take_description(struct supervisor *s, struct worker *worker)
{
    struct bytes bytes = {0};
    if (worker->n_asked == 0)
        return "describes stages and devices that nobody asked for";
    if (--worker->n_asked > 0 || worker != s->main.worker || s->description_fd < 0)
        return NULL;
    if (file_read(s->description_fd, DESCRIPTION_MAX, &bytes, NULL) == 0) {
        json_t *all = json_loadb((const char *)bytes.data, bytes.size, 0, NULL);
        json_decref(json_is_object(all) ? s->description : all);
        if (json_is_object(all))
            s->description = all;
        else
            log_error("the worker describes itself in no JSON");
    }
    bytes_finish(&bytes);
    file_close(&s->description_fd);
    return NULL;
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

/* The device failed, in a job or while chains were on their way to it, so its context is not
 * trusted any more. The worker leaves its slot and ends the jobs that it has, whose sources have
 * those that failed tried again; another one is started on the ladder's next device. A replacement
 * that is starting on the same device is given up, too. */
static void spoil(struct supervisor *s, struct worker *worker)
{
    struct slot *slot = worker->slot;
    worker_take(worker, WORKER_FAILED);
    worker->slot = NULL;
    slot->worker = NULL;
    if (slot == &s->main) {
        s->down_since = worker->unready;
        step_down(s, worker, "error", worker->trouble.text);
        if (slot->next && slot->next->rung == worker->rung)
            retire(&slot->next);
        if (!slot->next)
            plan_start(s, slot, 0);
    }
    if (worker->in_flight == 0)
        worker_take(worker, WORKER_IDLE);
}

/* A check failed. A device that was asked for by name and is missing at the very first start is a
 * mistake in the configuration and ends the start. One that fails or disappears later is replaced
 * by the ladder's next one, at once. Where there is none, another try comes after a pause that
 * doubles. While a ready worker is in the slot nothing changes for jobs, and the next try comes
 * after a minute. */
static void refused(struct supervisor *s, struct worker *worker, const struct worker_check *check,
                    const char *subject, const struct faults *faults)
{
    struct slot *slot = worker->slot;
    const struct fault *fault = &faults->list[0];
    bool missing = fault->code == FAULT_NO_DEVICE;
    bool named = strcmp(worker->device, "auto") != 0;
    bool strict = missing && named && !s->ever_ready && worker->rung == 0;
    bool of_device =
        !subject && (missing || fault->code == FAULT_DEVICE || fault->code == FAULT_VERIFY);
    worker_take(worker, WORKER_REFUSED);
    worker->slot = NULL;
    slot->next = NULL;
    if (slot != &s->main) {
        step_down_alone(s, slot, worker);
        return;
    }
    bool other =
        of_device && !strict && step_down(s, worker, missing ? "missing" : "start", fault->text);
    if (slot_ready(slot)) {
        log_warning("the new worker cannot be used, and the present one goes on: %s", fault->text);
        s->recycle_from = clock_now() + RECYCLE_AGAIN;
    } else if (other) {
        plan_start(s, slot, 0);
    } else {
        start_after_failure(s, slot);
        refuse(s, check, subject, faults);
    }
}

/* The last check is passed. The worker takes its slot, and the one that was there retires. */
static void come_up(struct supervisor *s, struct worker *worker)
{
    struct slot *slot = worker->slot;
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
    if (whole || s->settings->sandbox == SANDBOX_OFF)
        log_info("worker %d, its sandbox: %s", worker->pid, worker->sandbox);
    else
        log_warning("worker %d, its sandbox is not whole: %s", worker->pid, worker->sandbox);
    worker_take(worker, WORKER_PASSED);
    s->wiped = false;
    slot->next = NULL;
    retire(&slot->worker);
    slot->worker = worker;
    if (slot == &s->main) {
        s->ever_ready = true;
        fallback_came_up(&s->fallback, worker->rung, now);
        bool below = worker->rung > 0;
        if (below)
            log_error("the work is done by the fallback device (%s)",
                      worker->name[0] ? worker->name : "the plain C references");
        else if (s->on_fallback)
            log_info("the device is in use again");
        s->on_fallback = below;
        metrics_set(s->metrics, METRIC_DEVICE_ON_FALLBACK, NULL, below);
        count_tiers(s, worker);
        ask_for_description(s);
        s->news.ready = true;
    }
    if (worker->trouble.code) /* the device could not be opened, while native passed the checks */
        spoil(s, worker);
}

/* An answer to a check. Returns what makes no sense about it, or NULL. */
static const char *take_checked(struct supervisor *s, struct worker *worker,
                                const struct message *message)
{
    struct faults faults = {0};
    bool starts = worker->state == WORKER_STARTING, next = message->id == worker->n_passed;
    if (worker->came_up || (starts && !next))
        return "answers a check that it was not asked for";
    if (!starts) /* it is not wanted any more, or was killed */
        return NULL;
    struct worker_check *check = &s->checks[message->id];
    struct worker_tier *tier = &worker->tiers[message->id];
    count_programs(s, worker, message);
    snprintf(worker->name, sizeof worker->name, "%s", message->device ? message->device : "");
    snprintf(worker->sandbox, sizeof worker->sandbox, "%s", message->level ? message->level : "");
    message_get_faults(message, &faults);
    if (faults_count(&faults) > 0) {
        refused(s, worker, check, message->subject, &faults);
        return NULL;
    }
    snprintf(tier->kind, sizeof tier->kind, "%s", message->tier ? message->tier : "");
    snprintf(tier->why, sizeof tier->why, "%s", message->why ? message->why : "");
    if (!check->passed) /* pool threads read the extension from then on, so it never changes */
        snprintf(check->extension, sizeof check->extension, "%s",
                 message->extension ? message->extension : "out");
    check->passed = true;
    if (message->why) {
        metrics_count(s->metrics, METRIC_DEVICE_FALLBACK, "reason", "check");
        log_error("chain %s does NOT RUN on device %s: %s", check->chain, worker->name,
                  message->why);
    }
    worker->prepared = 0;
    if (++worker->n_passed == worker->n_checks)
        come_up(s, worker);
    return NULL;
}

/* Jobs run on native while a chain is on its way to the device: how far it has come, or why it
 * stays where it is. A message about no chain is about the device, which cannot be opened. */
static const char *take_moved(struct supervisor *s, struct worker *worker,
                              const struct message *message)
{
    struct fault fault = FAULT_INIT;
    message_get_fault(message, &fault);
    bool known = message->tier && (size_t)message->id < worker->n_checks;
    if (message->tier ? !known || worker->tiers[message->id].moved : worker->trouble.code != 0)
        return "speaks of a chain's device once too often";
    count_programs(s, worker, message);
    if (!message->tier) {
        worker->trouble = fault;
        worker->name[0] = '\0'; /* it was native's; the trouble is with the one that was chosen */
        if (worker->state == WORKER_READY)
            spoil(s, worker);
        return NULL;
    }
    const char *chain = worker->checks[message->id].chain;
    struct worker_tier *tier = &worker->tiers[message->id];
    bool ended = fault.code || message->prepared == message->to_prepare;
    snprintf(tier->kind, sizeof tier->kind, "%s", message->tier);
    snprintf(tier->why, sizeof tier->why, "%s", fault.text);
    tier->done = ended ? 0 : (unsigned)message->prepared;
    tier->of = ended ? 0 : (unsigned)message->to_prepare;
    tier->moved = ended;
    if (!ended)
        return NULL;
    if (worker == s->main.worker)
        count_tiers(s, worker);
    if (fault.code) {
        metrics_count(s->metrics, METRIC_DEVICE_FALLBACK, "reason", "check");
        log_error("chain %s does NOT RUN on the device that was chosen and stays on %s: %s", chain,
                  tier->kind, tier->why);
        return NULL;
    }
    snprintf(worker->name, sizeof worker->name, "%s", message->device ? message->device : "");
    log_info("chain %s runs on device %s (%s) from now on", chain, worker->name, tier->kind);
    if (worker == s->main.worker)
        ask_for_description(s);
    return NULL;
}

/* ---- it has jobs ---- */

/* Another worker is started in its place between jobs: after a number of jobs, after a time, or
 * when its memory has grown. One in quarantine leaves, and a job that needs one starts the next. */
static void replace(struct supervisor *s, struct worker *worker, const char *why)
{
    struct slot *slot = &s->main, *quarantine = &s->quarantine;
    if (worker == quarantine->worker) {
        retire(&quarantine->worker);
        return;
    }
    if (s->stopping || worker != slot->worker || slot->next || slot->start_at ||
        clock_now() < s->recycle_from)
        return;
    log_info("worker %d is replaced after %" PRIu64 " jobs: %s", worker->pid, worker->n_jobs, why);
    s->n_recycled++;
    plan_start(s, slot, 0);
}

/* The queue has taken the job's end; this is the worker's part of it. */
static void end_job(struct supervisor *s, struct worker *worker, const struct message *done)
{
    const struct settings *settings = s->settings;
    struct fault fault = FAULT_INIT;
    message_get_fault(done, &fault);
    bool failed = fault.code == FAULT_DEVICE || fault.code == FAULT_NO_DEVICE;
    worker->n_jobs++;
    worker->n_good += !failed;
    worker->in_flight--;
    worker->used = clock_now();
    count_programs(s, worker, done);
    if (failed && worker->state == WORKER_READY) {
        worker->trouble = fault;
        spoil(s, worker);
    } else if (worker->in_flight == 0) {
        worker_take(worker, WORKER_IDLE);
    }
    if (worker->state != WORKER_READY)
        return;
    if (settings->worker_jobs > 0 && worker->n_jobs >= (uint64_t)settings->worker_jobs)
        replace(s, worker, "its number of jobs is done");
    if (worker->used - worker->resident_seen < RESIDENT_EVERY)
        return;
    worker->resident_seen = worker->used;
    /* as much as jobs hold, and once more what the pool keeps for the next ones */
    uint64_t growth =
        settings->worker_growth ? settings->worker_growth : 2 * settings->memory + GROWTH_FOR_FREE;
    if (worker->resident_first > 0 && resident_bytes(worker) > worker->resident_first + growth)
        replace(s, worker, "its memory has grown");
}

/* ---- what it says: each kind of message, and where it is dealt with ---- */

static void hear(struct supervisor *s, struct worker *worker, const struct message *message)
{
    const char *nonsense = NULL; /* what makes no sense: completes "the worker …" */
    if (worker->n_nonsense >= NONSENSE_MAX)
        return; /* it is killed, and nothing that it says counts any more */
    worker->unanswered = 0;
    switch (message->kind) {
    case MESSAGE_KEPT:
        if (worker->child->kept)
            nonsense = "has a second keeper";
        else
            worker->pid = worker->child->pid = (int)message->pid;
        worker->child->kept = true;
        break;
    case MESSAGE_WORKING:
        if (worker->came_up) {
            nonsense = "prepares programs for a check after its last one";
            break;
        }
        worker->prepared = (unsigned)message->prepared;
        worker->to_prepare = (unsigned)message->to_prepare;
        log_debug("worker %d has %u of %u programs of chain %u ready", worker->pid,
                  worker->prepared, worker->to_prepare, worker->n_passed + 1);
        if (worker->state == WORKER_STARTING)
            worker_limit(worker); /* the time limit for the next program begins */
        break;
    case MESSAGE_CHECKED:
        nonsense = take_checked(s, worker, message);
        break;
    case MESSAGE_MOVED:
        nonsense = take_moved(s, worker, message);
        break;
    case MESSAGE_BEGAN:
    case MESSAGE_NEED_OUTPUT:
        nonsense = queue_hear(s->queue, worker, message);
        break;
    case MESSAGE_DONE:
        nonsense = queue_hear(s->queue, worker, message);
        if (!nonsense)
            end_job(s, worker, message);
        break;
    case MESSAGE_DESCRIBED:
        nonsense = take_description(s, worker);
        break;
    case MESSAGE_PONG:
        if (worker->n_pings == 0)
            nonsense = "answers a ping that was not sent";
        else
            worker->n_pings--;
        break;
    default:
        nonsense = "says what is for the front to say";
    }
    if (!nonsense)
        return;
    /* no worker of ours says such things, so after a few of them it is killed */
    bool enough = ++worker->n_nonsense == NONSENSE_MAX;
    log_error("the worker (pid %d) %s%s", worker->pid, nonsense, enough ? ": it is killed" : "");
    if (enough)
        worker_kill(worker, WORKER_CRASHED);
}

/* ---- it ends ---- */

/* A main worker ended before it was ready. A kernel cache that a power cut damaged makes every
 * start crash, so after the first such end the caches are emptied, and after the second one the
 * next device is taken. */
static void start_failed(struct supervisor *s, struct slot *slot, const struct worker *worker)
{
    bool stuck = worker->state == WORKER_LOST;
    const char *how = stuck ? "by nothing at all" : worker->child->end;
    bool other = stuck || worker->rung != s->fallback.rung;
    char text[160];
    if (worker->killed) { /* by us, so its end tells nothing about the device */
        if (!slot->worker)
            start_after_failure(s, slot);
        return;
    }
    snprintf(text, sizeof text, "the worker ended %s while it started", how);
    if (!s->wiped && !stuck) {
        s->wipe = true;
        log_warning("%s: the next one empties the kernel caches first", text);
        other = true;
    } else if (!stuck) {
        other = step_down(s, worker, "start", text) || other;
    }
    if (slot->worker) { /* which goes on */
        s->recycle_from = clock_now() + RECYCLE_AGAIN;
        if (s->wipe)
            plan_start(s, slot, PAUSE_LAST);
        return;
    }
    start_after_failure(s, slot);
    if (s->ever_ready || other || slot->failures < FIRST_FAILURES || s->stopping)
        return;
    struct faults faults = {0};
    fault_set(faults_next(&faults), FAULT_NO_DEVICE, "the worker ended %s each time it was started",
              how);
    refuse(s, NULL, NULL, &faults);
}

/* The process has ended, or is stuck in the kernel and given up. Its jobs are judged by the queue:
 * tried again, in quarantine, or failed. If it had taken its slot another one is started after
 * 0.1 s, which doubles with each end in a row; when four in a row did no job, on the ladder's next
 * device. A quarantine worker is started again when a job needs one. */
static void bury(struct supervisor *s, struct worker *worker)
{
    struct slot *slot = worker->slot;
    bool lost = worker->state == WORKER_LOST, was_ready = slot && worker == slot->worker;
    bool orderly = !lost && worker->child->status == 0 && worker->child->signal == 0;
    metrics_count(s->metrics, METRIC_WORKER_ENDS, "reason",
                  lost                            ? "stuck"
                  : worker->trouble.code          ? "replaced"
                  : worker->killed                ? "killed"
                  : worker->cause == WORKER_TAKEN ? "taken"
                  : !orderly                      ? "crashed"
                  : s->stopping                   ? "stopped"
                  : worker->came_up               ? "recycled"
                                                  : "refused");
    s->n_jobs += worker->n_jobs;
    if (lost) {
        s->n_lost++;
        metrics_add(s->metrics, METRIC_DEVICES_LOST, NULL, 1);
        step_down(s, worker, "stuck", "a process is stuck in it, and it is lost until a reboot");
    }
    queue_lose(s->queue, worker);
    if (was_ready) {
        slot->worker = NULL;
        if (worker->n_good > 0)
            slot->failures = 0;
        if (slot != &s->main) {
            slot->failures++;
        } else {
            s->down_since = worker->unready;
            if (!lost && worker->cause != WORKER_TAKEN &&
                (slot->failures + 1) % FAILURES_MAX == 0 && s->fallback.rung == worker->rung)
                step_down(s, worker, "crash", "workers die at one job after the other");
            if (slot->next || slot->start_at)
                slot->failures++;
            else
                start_after_failure(s, slot);
        }
    } else if (slot) {
        slot->next = NULL;
        if (slot == &s->main)
            start_failed(s, slot, worker);
        else
            step_down_alone(s, slot, worker);
    }
    TAILQ_REMOVE(&s->workers, worker, in_list);
    child_forget(&worker->child);
    free(worker->tiers);
    free(worker);
    queue_wake(s->queue);
}

/* ---- once a turn of the loop ---- */

/* Its time is over, or it is to be pinged. One that only starts, leaves or dies is given up when it
 * takes too long; one that may have jobs has to answer pings. */
static void check_time(struct worker *worker)
{
    struct message ping;
    if (worker->state < WORKER_READY || worker->state > WORKER_RETIRING) {
        if (worker->state == WORKER_STARTING)
            log_error("the worker (pid %d) does not come up", worker->pid);
        worker_take(worker, WORKER_TIME_OVER);
    } else if (worker->unanswered >= SILENT_MAX) {
        log_error("the worker (pid %d) gives no sign of life: it is killed", worker->pid);
        worker_kill(worker, WORKER_TAKEN);
    } else {
        worker->unanswered++;
        worker->n_pings++;
        message_init(&ping, MESSAGE_PING);
        child_send(worker->child, &ping);
        worker_limit(worker);
    }
}

/* Reads what a worker has said, and sees whether it has ended. What it said before its end still
 * counts. */
static void attend(struct supervisor *s, struct worker *worker)
{
    struct child *child = worker->child;
    struct message message;
    bool last = child->exited || child->failed;
    for (int i = 0; last || (child->readable && i < MESSAGES_A_TURN); i++) {
        if (!child_receive(child, &message)) {
            child->readable = false;
            break;
        }
        hear(s, worker, &message);
        message_finish(&message);
    }
    if (last) {
        child->cut |= child->failed && child->socket >= 0;
        child_hang_up(child);
    }
    if (child->cut)
        worker_take(worker, WORKER_HUNG_UP);
    if (child->exited) {
        bool orderly = child->status == 0 && child->signal == 0;
        if (!worker->killed)
            worker->cause =
                child->signal == SIGKILL && !child->blamed && worker->state != WORKER_KILLED
                    ? WORKER_TAKEN
                    : WORKER_CRASHED;
        if (!orderly || child->cut || worker->state != WORKER_LEAVING)
            log_warning("the worker (pid %d) ended %s", worker->pid, child->end);
        worker_take(worker, WORKER_EXITED);
    } else if (worker->due && clock_now() >= worker->due) {
        check_time(worker);
    }
    if (worker->state != worker->seen) /* it may take jobs now, or no longer */
        queue_wake(s->queue);
    worker->seen = worker->state;
    if (worker->state == WORKER_LOST || worker->state == WORKER_ENDED)
        bury(s, worker);
}

static void on_timer(uv_timer_t *timer)
{
    struct supervisor *s = timer->data;
    s->stirred = true;
    supervisor_turn(s);
}

void supervisor_turn(struct supervisor *s)
{
    struct slot *slot = &s->main, *quarantine = &s->quarantine;
    struct worker *worker, *next;
    bool stirred = s->stirred;
    TAILQ_FOREACH (worker, &s->workers, in_list)
        stirred |= worker->child->readable || worker->child->exited || worker->child->failed ||
                   worker->state != worker->seen;
    if (!stirred)
        return;
    s->stirred = false;
    for (worker = TAILQ_FIRST(&s->workers); worker; worker = next) {
        next = TAILQ_NEXT(worker, in_list);
        attend(s, worker);
    }

    /* Starts whose time has come. The device that is configured, where another one does its work,
     * is tried again beside that one. A main worker that is too old is replaced, and one in
     * quarantine that has had nothing to do leaves. */
    uint64_t now = clock_now();
    if (slot->start_at && slot->start_at <= now)
        launch(s, slot);
    if (quarantine->start_at && quarantine->start_at <= now)
        launch(s, quarantine);
    bool calm = !s->stopping && slot->worker && !slot->next && !slot->start_at;
    if (calm && s->fallback.retry_at != 0 && fallback_is_due(&s->fallback, now)) {
        fallback_climb(&s->fallback);
        log_info("device '%s' is tried again", fallback_device(&s->fallback));
        plan_start(s, slot, 0);
    }
    bool ready = slot->worker && slot->worker->state == WORKER_READY;
    uint64_t old =
        ready && s->settings->worker_time ? slot->worker->started + s->settings->worker_time : 0;
    if (old && old < s->recycle_from)
        old = s->recycle_from;
    if (old && old <= now)
        replace(s, slot->worker, "its time is over");
    uint64_t idle =
        quarantine->worker && quarantine->worker->state == WORKER_READY
            ? (quarantine->worker->in_flight ? now : quarantine->worker->used) + QUARANTINE_IDLE
            : 0;
    /* or the main one has gone down the ladder since it was started */
    bool beside = idle && quarantine->worker->in_flight == 0 &&
                  quarantine->worker->rung < rung_for(s, quarantine);
    if (idle && idle <= now)
        quarantine->rung = 0;
    if ((idle && idle <= now) || beside)
        retire(&quarantine->worker);
    if (!quarantine->worker)
        idle = 0;

    /* the next time at which something is due */
    uint64_t due = UINT64_MAX;
    const uint64_t times[] = {slot->start_at, quarantine->start_at, idle,
                              calm && !slot->start_at ? old : 0,
                              calm && !slot->start_at ? s->fallback.retry_at : 0};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        due = times[i] && times[i] < due ? times[i] : due;
    TAILQ_FOREACH (worker, &s->workers, in_list)
        due = worker->due && worker->due < due ? worker->due : due;
    if (due == UINT64_MAX)
        uv_timer_stop(&s->timer);
    else
        uv_timer_start(&s->timer, on_timer, due > now ? (due - now) / MILLISECOND + 1 : 0, 0);
}

/* ---- from the first start to the last end ---- */

int supervisor_init(struct supervisor *s, struct fault *fault)
{
    TAILQ_INIT(&s->workers);
    fallback_init(&s->fallback, s->settings->device, s->settings->fallback);
    s->timer.data = s;
    s->description_fd = -1;
    int error = uv_timer_init(s->loop, &s->timer);
    return error == 0 ? 0 : fault_set(fault, FAULT_INTERNAL, "libuv: %s", uv_strerror(error));
}

void supervisor_close(struct supervisor *supervisor, uv_close_cb closed)
{
    json_decref(supervisor->description);
    supervisor->description = NULL;
    file_close(&supervisor->description_fd);
    uv_close((uv_handle_t *)&supervisor->timer, closed);
}

void supervisor_start(struct supervisor *supervisor)
{
    supervisor->down_since = clock_now();
    plan_start(supervisor, &supervisor->main, 0);
}

void supervisor_stop(struct supervisor *s)
{
    s->stopping = s->stirred = true;
    s->main.start_at = s->quarantine.start_at = 0;
    retire(&s->main.worker);
    retire(&s->main.next);
    retire(&s->quarantine.worker);
    retire(&s->quarantine.next);
    queue_wake(s->queue);
}

bool supervisor_has_stopped(const struct supervisor *supervisor)
{
    return supervisor->stopping && TAILQ_EMPTY(&supervisor->workers);
}

void supervisor_kill(struct supervisor *supervisor)
{
    struct worker *worker;
    TAILQ_FOREACH (worker, &supervisor->workers, in_list)
        worker_kill(worker, WORKER_TAKEN);
    queue_wake(supervisor->queue);
}

/* ---- questions of others ---- */

bool supervisor_is_sound(const struct supervisor *supervisor)
{
    const struct worker *worker = slot_ready(&supervisor->main);
    return !worker || worker->unanswered <= SILENT_MAX;
}

bool supervisor_is_ready(const struct supervisor *s)
{
    /* one failure is the end of the worker that is being replaced; a second is its replacement's */
    bool soon = s->ever_ready && !s->stopping && s->main.failures <= 1;
    return soon || slot_ready(&s->main);
}

uint64_t supervisor_down_for(const struct supervisor *supervisor, uint64_t now)
{
    const struct worker *worker = supervisor->main.worker;
    if (slot_ready(&supervisor->main))
        return 0;
    return now - (worker ? worker->unready : supervisor->down_since);
}

const struct worker *supervisor_at_work(const struct supervisor *supervisor)
{
    const struct slot *slot = &supervisor->main;
    return slot->worker ? slot->worker : slot->next;
}

void supervisor_want_quarantine(struct supervisor *s)
{
    struct slot *slot = &s->quarantine;
    if (!slot->worker && !slot->next && !slot->start_at)
        plan_start(s, slot, slot->failures ? pause_after(slot->failures) : 0);
}

uint64_t supervisor_jobs(const struct supervisor *supervisor)
{
    uint64_t count = supervisor->n_jobs;
    const struct worker *worker;
    TAILQ_FOREACH (worker, &supervisor->workers, in_list)
        count += worker->n_jobs;
    return count;
}

void supervisor_log_state(const struct supervisor *s)
{
    const struct worker *worker = supervisor_at_work(s);
    log_info("worker %d (%s): starts: %u, jobs: %" PRIu64 ", programs compiled: %" PRIu64
             ", from the cache: %" PRIu64,
             worker ? worker->pid : 0, worker && worker->name[0] ? worker->name : "no device",
             s->n_starts, supervisor_jobs(s), worker ? worker->builds : 0,
             worker ? worker->cache_hits : 0);
    if (s->n_recycled > 0)
        log_info("workers replaced in good order: %u", s->n_recycled);
    if (s->n_lost > 0)
        log_error("a reboot is due: %u workers are stuck in the kernel", s->n_lost);
    if (worker && fallback_is_below(&s->fallback, worker->rung))
        log_warning("the fallback device does the work of '%s'", s->settings->device);
}
