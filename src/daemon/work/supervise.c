#include "daemon/work/supervise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
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

static void on_timer(uv_timer_t *timer);

static struct slot *main_slot(struct supervisor *s)
{
    return &s->slots[SLOT_MAIN];
}

/* ---- timers ---- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return b != 0 && (a == 0 || b < a) ? b : a;
}

static bool is_ready(const struct worker *worker)
{
    return worker && worker->state == WORKER_READY;
}

/* When the main worker is too old; 0: never. */
static uint64_t recycle_time(const struct supervisor *s)
{
    uint64_t limit = s->settings->worker_time;
    if (!supervisor_main(s) || limit == 0)
        return 0;
    uint64_t due = supervisor_main(s)->started + limit;
    return due > s->recycle_from ? due : s->recycle_from;
}

static void arm(struct supervisor *s)
{
    const struct slot *slot = main_slot(s), *quarantine = &s->slots[SLOT_QUARANTINE];
    uint64_t due = earlier(slot->start_at, quarantine->start_at), now = clock_now();
    if (!s->stopping && slot->worker && !slot->next && !slot->start_at)
        due = earlier(due, earlier(recycle_time(s), s->fallback.retry_at));
    if (is_ready(quarantine->worker))
        due = earlier(due, (quarantine->worker->in_flight ? now : quarantine->worker->used) +
                               QUARANTINE_IDLE);
    if (due == 0)
        uv_timer_stop(&s->timer);
    else
        uv_timer_start(&s->timer, on_timer, due > now ? (due - now) / MILLISECOND + 1 : 0, 0);
}

static void plan_start(struct supervisor *s, struct slot *slot, uint64_t pause)
{
    if (s->stopping)
        return;
    slot->start_at = clock_now() + pause;
    arm(s);
}

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

/* A replacement did not become ready: the present worker goes on, and another try comes later. */
static void put_off_recycling(struct supervisor *s)
{
    s->recycle_from = clock_now() + RECYCLE_AGAIN;
    arm(s);
}

/* Takes the worker out of its slot, so that it gets no more jobs. */
static void put_aside(struct supervisor *s, struct worker **place)
{
    LIST_INSERT_HEAD(&s->others, *place, in_list);
    *place = NULL;
}

static void retire(struct supervisor *s, struct worker **place)
{
    struct worker *worker = *place;
    if (!worker)
        return;
    put_aside(s, place);
    worker_retire(worker);
}

/* To be called last in a callback, since the owner may close everything in `stopped`. */
static void tell_if_stopped(struct supervisor *s)
{
    if (!s->stopping || s->stopped || supervisor_worker(s, 0))
        return;
    s->stopped = true;
    s->events->stopped(s->context);
}

/* ---- which device ---- */

static const char *device_of(const struct worker *worker)
{
    return worker->name[0] ? worker->name : worker->device;
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

/* The quarantine worker did not become ready on that rung. Returns true when there is a rung below.
 */
static bool step_down_alone(struct supervisor *s, struct slot *slot, const struct worker *worker)
{
    if (worker->rung + 1 >= s->fallback.n_rungs)
        return false;
    slot->rung = worker->rung + 1;
    log_warning("device %s has no room for a second worker: '%s' is taken for quarantine",
                device_of(worker), s->fallback.rungs[slot->rung]);
    return true;
}

/* ---- changes of a worker's state ---- */

/* How many chains of the main worker run on which kind of device. */
static void count_tiers(struct supervisor *s)
{
    const struct worker *worker = supervisor_main(s);
    if (!worker)
        return;
    metrics_clear(s->metrics, METRIC_CHAINS);
    for (size_t i = 0; i < worker->n_checks; i++)
        if (worker->tiers[i].kind[0])
            metrics_count(s->metrics, METRIC_CHAINS, "tier", worker->tiers[i].kind);
}

static void came_up(struct supervisor *s, struct slot *slot, struct worker *worker)
{
    s->wiped = false;
    slot->next = NULL;
    retire(s, &slot->worker);
    slot->worker = worker;
    if (slot != main_slot(s))
        return;
    s->ever_ready = true;
    fallback_came_up(&s->fallback, worker->rung, clock_now());
    bool below = fallback_is_below(&s->fallback, worker->rung) || s->fallback.first > 0;
    if (below)
        log_error("the work is done by the fallback device (%s)",
                  worker->name[0] ? worker->name : "the plain C references");
    else if (metrics_value(s->metrics, METRIC_DEVICE_ON_FALLBACK, NULL) > 0)
        log_info("the device is in use again");
    metrics_set(s->metrics, METRIC_DEVICE_ON_FALLBACK, NULL, below);
    count_tiers(s);
    s->events->ready(s->context);
}

/* The device failed while it had a job, so its context is not trusted any more. The job's source
 * has the job tried again. */
static void spoiled(struct supervisor *s, struct slot *slot, struct worker *worker)
{
    put_aside(s, &slot->worker);
    if (slot != main_slot(s))
        return;
    step_down(s, worker, "error", worker->trouble.text);
    if (slot->next && slot->next->rung == worker->rung)
        retire(s, &slot->next);
    if (!slot->next)
        plan_start(s, slot, 0);
}

static void count_end(struct supervisor *s, const struct worker *worker)
{
    bool lost = worker->state == WORKER_LOST;
    bool orderly = !lost && worker->end.status == 0 && worker->end.signal == 0;
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
    }
}

/* The worker ended before it was ready. A kernel cache that a power cut damaged makes every start
 * crash, so after the first such end the caches are emptied, and after the second one the next
 * device is taken. */
static void start_failed(struct supervisor *s, struct slot *slot, const struct worker *worker)
{
    const char *how = worker->state == WORKER_LOST ? "by nothing at all" : worker->end.text;
    bool stuck = worker->state == WORKER_LOST;
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
    if (slot->worker) {
        put_off_recycling(s);
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
    s->events->refused(s->context, NULL, NULL, &faults);
}

/* The worker in the slot has ended. A quarantine worker is started again when a job needs one. */
static void lose(struct supervisor *s, struct slot *slot, const struct worker *worker)
{
    bool late = worker->state == WORKER_ENDED && worker->cause == WORKER_LATE;
    bool crashed = worker->state == WORKER_ENDED && worker->cause == WORKER_CRASHED;
    if (worker->n_good > 0)
        slot->failures = 0;
    if (slot != main_slot(s)) {
        slot->failures++;
        return;
    }
    struct slot *quarantine = &s->slots[SLOT_QUARANTINE];
    if (late && worker->rung + 1 < s->fallback.n_rungs && quarantine->rung <= worker->rung) {
        /* a call of the device's driver may never return: jobs are tried again on the next one */
        quarantine->rung = worker->rung + 1;
        retire(s, &quarantine->worker);
        retire(s, &quarantine->next);
    }
    if ((crashed || late) && (slot->failures + 1) % FAILURES_MAX == 0 &&
        s->fallback.rung == worker->rung)
        step_down(s, worker, "crash", "workers die at one job after the other");
    if (slot->next || slot->start_at)
        slot->failures++;
    else
        start_after_failure(s, slot);
}

static void gone(struct supervisor *s, struct slot *slot, struct worker *worker)
{
    count_end(s, worker);
    if (worker->state == WORKER_LOST)
        step_down(s, worker, "stuck", "a process is stuck in it, and it is lost until a reboot");
    s->jobs->died(s->jobs_context, worker);
    if (slot && worker == slot->worker) {
        slot->worker = NULL;
        lose(s, slot, worker);
    } else if (slot) {
        slot->next = NULL;
        if (slot == main_slot(s))
            start_failed(s, slot, worker);
        else if (!step_down_alone(s, slot, worker))
            slot->failures++;
    } else {
        LIST_REMOVE(worker, in_list);
    }
    worker_destroy(&worker);
}

static struct slot *slot_of(struct supervisor *s, const struct worker *worker)
{
    for (int i = 0; i < SLOTS; i++)
        if (s->slots[i].worker == worker || s->slots[i].next == worker)
            return &s->slots[i];
    return NULL;
}

static void on_changed(struct worker *worker)
{
    struct supervisor *s = worker->context;
    struct slot *slot = slot_of(s, worker);
    if (worker == main_slot(s)->worker) /* it was ready until now */
        s->down_since = clock_now();
    switch (worker->state) {
    case WORKER_READY:
        came_up(s, slot, worker);
        break;
    case WORKER_SPOILED:
        spoiled(s, slot, worker);
        break;
    case WORKER_LOST:
    case WORKER_ENDED:
        gone(s, slot, worker);
        break;
    default:
        break; /* others are on the way to one of these states */
    }
    arm(s);
    s->jobs->changed(s->jobs_context);
    tell_if_stopped(s);
}

/* ---- other events of a worker ---- */

static void on_passed(struct worker *worker, struct worker_check *check,
                      const struct message *answer)
{
    struct supervisor *s = worker->context;
    if (!check->passed) /* pool threads read the extension from then on, so it never changes */
        snprintf(check->extension, sizeof check->extension, "%s",
                 answer->extension ? answer->extension : "out");
    check->passed = true;
    if (!answer->fallback)
        return;
    metrics_count(s->metrics, METRIC_DEVICE_FALLBACK, "reason", "check");
    log_error("chain %s does NOT RUN on device %s: %s", check->chain, worker->name,
              answer->fallback);
}

static void on_moved(struct worker *worker, const struct worker_check *check)
{
    struct supervisor *s = worker->context;
    const struct worker_tier *tier = &worker->tiers[check - worker->checks];
    count_tiers(s);
    if (!tier->why[0]) {
        log_info("chain %s runs on device %s (%s) from now on", check->chain, worker->name,
                 tier->kind);
        s->events->moved(s->context);
        return;
    }
    metrics_count(s->metrics, METRIC_DEVICE_FALLBACK, "reason", "check");
    log_error("chain %s does NOT RUN on the device that was chosen and stays on %s: %s",
              check->chain, tier->kind, tier->why);
}

/* A device that was asked for by name and is missing at the very first start is a mistake in the
 * configuration and ends the start. One that fails or disappears later is replaced by the next
 * device. */
static void on_refused(struct worker *worker, const struct worker_check *check, const char *subject,
                       const struct faults *faults)
{
    struct supervisor *s = worker->context;
    struct slot *slot = slot_of(s, worker);
    const struct fault *fault = &faults->list[0];
    bool missing = fault->code == FAULT_NO_DEVICE;
    bool named = strcmp(worker->device, "auto") != 0;
    bool strict = missing && named && !s->ever_ready && worker->rung == 0;
    if (!slot)
        return; /* already out of its slot */
    put_aside(s, &slot->next);
    if (slot != main_slot(s)) {
        if (!step_down_alone(s, slot, worker))
            slot->failures++;
        return;
    }
    bool of_device =
        !subject && (missing || fault->code == FAULT_DEVICE || fault->code == FAULT_VERIFY);
    bool other =
        of_device && !strict && step_down(s, worker, missing ? "missing" : "start", fault->text);
    if (is_ready(slot->worker)) {
        log_warning("the new worker cannot be used, and the present one goes on: %s", fault->text);
        put_off_recycling(s);
    } else if (other) {
        plan_start(s, slot, 0);
    } else {
        start_after_failure(s, slot);
        s->events->refused(s->context, check, subject, faults);
    }
}

static void on_due(struct worker *worker, const char *why)
{
    struct supervisor *s = worker->context;
    struct slot *slot = main_slot(s);
    if (worker == s->slots[SLOT_QUARANTINE].worker) { /* a job that needs one starts the next */
        retire(s, &s->slots[SLOT_QUARANTINE].worker);
        return;
    }
    if (s->stopping || worker != slot->worker || slot->next || slot->start_at ||
        clock_now() < s->recycle_from)
        return;
    log_info("worker %d is replaced after %" PRIu64 " jobs: %s", worker->pid, worker->n_jobs, why);
    s->n_recycled++;
    plan_start(s, slot, 0);
}

static void on_described(struct worker *worker)
{
    struct supervisor *s = worker->context;
    s->events->described(s->context);
}

static const struct worker_events worker_events = {.passed = on_passed,
                                                   .moved = on_moved,
                                                   .refused = on_refused,
                                                   .changed = on_changed,
                                                   .due = on_due,
                                                   .described = on_described};

/* ---- starting ---- */

static void launch(struct supervisor *s, struct slot *slot)
{
    struct faults faults = {0};
    bool is_main = slot == main_slot(s);
    if (is_main && !slot->worker && fallback_is_due(&s->fallback, clock_now()))
        fallback_climb(&s->fallback);
    unsigned rung = slot->rung > s->fallback.rung ? slot->rung : s->fallback.rung;
    struct worker how = {.loop = s->loop,
                         .settings = s->settings,
                         .config_fd = s->config_fd,
                         .events = &worker_events,
                         .context = s,
                         .jobs = s->jobs,
                         .jobs_context = s->jobs_context,
                         .metrics = s->metrics,
                         .n_checks = s->n_checks,
                         .checks = s->checks,
                         .device = s->fallback.rungs[rung],
                         .rung = rung,
                         .wipe = is_main && s->wipe,
                         .quarantine = !is_main};
    slot->start_at = 0;
    if (worker_start(&slot->next, &how, faults_next(&faults)) != 0) {
        start_after_failure(s, slot);
        if (is_main)
            s->events->refused(s->context, NULL, NULL, &faults);
        return;
    }
    s->n_starts++;
    metrics_add(s->metrics, METRIC_WORKER_STARTS, NULL, 1);
    if (!how.wipe)
        return;
    metrics_add(s->metrics, METRIC_CACHE_WIPES, NULL, 1);
    s->wiped = true;
    s->wipe = false;
}

static void on_timer(uv_timer_t *timer)
{
    struct supervisor *s = timer->data;
    struct slot *slot = main_slot(s);
    struct worker *quarantined = s->slots[SLOT_QUARANTINE].worker;
    uint64_t now = clock_now();
    for (int i = 0; i < SLOTS; i++)
        if (s->slots[i].start_at && s->slots[i].start_at <= now)
            launch(s, &s->slots[i]);
    /* tries the configured device again, beside the worker that does its work meanwhile */
    if (!s->stopping && slot->worker && !slot->next && !slot->start_at &&
        fallback_is_due(&s->fallback, now)) {
        fallback_climb(&s->fallback);
        log_info("device '%s' is tried again", fallback_device(&s->fallback));
        plan_start(s, slot, 0);
    }
    if (recycle_time(s) != 0 && recycle_time(s) <= now)
        worker_replace(supervisor_main(s), "its time is over");
    if (is_ready(quarantined) && quarantined->in_flight == 0 &&
        now >= quarantined->used + QUARANTINE_IDLE) {
        s->slots[SLOT_QUARANTINE].rung = 0;
        retire(s, &s->slots[SLOT_QUARANTINE].worker);
    }
    arm(s);
}

int supervisor_init(struct supervisor *s, struct fault *fault)
{
    LIST_INIT(&s->others);
    fallback_init(&s->fallback, s->settings->device, s->settings->fallback);
    s->timer.data = s;
    int error = uv_timer_init(s->loop, &s->timer);
    return error == 0 ? 0 : fault_set(fault, FAULT_INTERNAL, "libuv: %s", uv_strerror(error));
}

static void on_closed(uv_handle_t *handle)
{
    struct supervisor *s = handle->data;
    s->events->closed(s->context);
}

void supervisor_close(struct supervisor *supervisor)
{
    uv_close((uv_handle_t *)&supervisor->timer, on_closed);
}

void supervisor_start(struct supervisor *supervisor)
{
    supervisor->down_since = clock_now();
    launch(supervisor, main_slot(supervisor));
    arm(supervisor);
}

void supervisor_stop(struct supervisor *s)
{
    s->stopping = true;
    for (int i = 0; i < SLOTS; i++) {
        s->slots[i].start_at = 0;
        retire(s, &s->slots[i].worker);
        retire(s, &s->slots[i].next);
    }
    arm(s);
    tell_if_stopped(s);
}

void supervisor_kill(struct supervisor *supervisor)
{
    struct worker *worker;
    for (size_t i = 0; (worker = supervisor_worker(supervisor, i)); i++)
        worker_kill(worker, WORKER_TAKEN);
}

/* ---- questions of others ---- */

bool supervisor_is_sound(const struct supervisor *supervisor)
{
    const struct worker *worker = supervisor->slots[SLOT_MAIN].worker;
    return !worker || worker_is_sound(worker);
}

bool supervisor_is_ready(const struct supervisor *s)
{
    bool soon = s->ever_ready && !s->stopping && s->slots[SLOT_MAIN].failures <= 1;
    return soon || supervisor_main(s);
}

struct worker *supervisor_main(const struct supervisor *supervisor)
{
    struct worker *worker = supervisor->slots[SLOT_MAIN].worker;
    return is_ready(worker) ? worker : NULL;
}

uint64_t supervisor_down_for(const struct supervisor *supervisor, uint64_t now)
{
    return supervisor_main(supervisor) ? 0 : now - supervisor->down_since;
}

const struct worker *supervisor_at_work(const struct supervisor *supervisor)
{
    const struct slot *slot = &supervisor->slots[SLOT_MAIN];
    return slot->worker ? slot->worker : slot->next;
}

struct worker *supervisor_quarantine(struct supervisor *supervisor)
{
    struct slot *slot = &supervisor->slots[SLOT_QUARANTINE];
    if (!slot->worker && !slot->next && !slot->start_at)
        plan_start(supervisor, slot, slot->failures ? pause_after(slot->failures) : 0);
    return is_ready(slot->worker) ? slot->worker : NULL;
}

struct worker *supervisor_worker(const struct supervisor *supervisor, size_t index)
{
    struct worker *worker;
    for (int i = 0; i < SLOTS; i++) {
        const struct slot *slot = &supervisor->slots[i];
        if (slot->worker && index-- == 0)
            return slot->worker;
        if (slot->next && index-- == 0)
            return slot->next;
    }
    LIST_FOREACH (worker, &supervisor->others, in_list)
        if (index-- == 0)
            return worker;
    return NULL;
}

uint64_t supervisor_jobs(const struct supervisor *supervisor)
{
    uint64_t count = supervisor->n_jobs;
    const struct worker *worker;
    for (size_t i = 0; (worker = supervisor_worker(supervisor, i)); i++)
        count += worker->n_jobs;
    return count;
}

void supervisor_describe(struct supervisor *supervisor, int fd)
{
    struct message message;
    if (!supervisor_main(supervisor))
        return;
    message_init(&message, MESSAGE_DESCRIBE);
    message.fds[0] = fd;
    message.n_fds = 1;
    worker_send(supervisor_main(supervisor), &message);
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
