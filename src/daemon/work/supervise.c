#include "daemon/work/supervise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "daemon/work/metrics.h"
#include "daemon/work/stint.h"
#include "worker/message.h"

#define MILLISECOND UINT64_C(1000000)
#define SECOND      UINT64_C(1000000000)

#define PAUSE_FIRST     (100 * MILLISECOND)
#define PAUSE_LAST      (10 * SECOND)
#define FIRST_FAILURES  3 /* ends at the very first start, at least, until it counts as hopeless */
#define FAILURES_MAX    4 /* ends in a row without a job done: no single file's fault */
#define RECYCLE_AGAIN   (60 * SECOND) /* after a replacement that did not come up */
#define RESIDENT_EVERY  SECOND
#define GROWTH_FOR_FREE (UINT64_C(64) << 20) /* what decoders, drivers and allocators keep */

static void on_timer(uv_timer_t *timer);

static void add_reason(struct supervisor *s, enum metric metric, const char *reason)
{
    char labels[60];
    snprintf(labels, sizeof labels, "reason=\"%s\"", reason);
    metrics_add(s->metrics, metric, labels, 1);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return b != 0 && (a == 0 || b < a) ? b : a;
}

/* When the worker is too old, 0: never. */
static uint64_t recycle_time(const struct supervisor *s)
{
    uint64_t limit = s->settings->worker_time;
    if (!s->current || s->current->phase != STINT_READY || s->next || limit == 0)
        return 0;
    uint64_t due = s->current->started + limit;
    return due > s->recycle_from ? due : s->recycle_from;
}

/* One timer for all that comes with time. */
static void arm(struct supervisor *s)
{
    uint64_t due = s->start_at, now = clock_now();
    if (!s->stopping && s->current && s->current->phase == STINT_READY)
        due = earlier(due, s->current->ping_at);
    if (!s->stopping && !s->next && !s->start_at) {
        due = earlier(due, recycle_time(s));
        due = earlier(due, s->current ? s->fallback.retry_at : 0);
    }
    if (due == 0)
        uv_timer_stop(&s->timer);
    else
        uv_timer_start(&s->timer, on_timer, due > now ? (due - now) / MILLISECOND + 1 : 0, 0);
}

static void plan_start(struct supervisor *s, uint64_t pause)
{
    if (s->stopping)
        return;
    s->start_at = clock_now() + pause;
    arm(s);
}

static uint64_t pause_after(unsigned failures)
{
    unsigned doublings = failures > 0 ? failures - 1 : 0;
    uint64_t pause = doublings < 10 ? PAUSE_FIRST << doublings : PAUSE_LAST;
    return pause < PAUSE_LAST ? pause : PAUSE_LAST;
}

static void count_programs(struct supervisor *s, struct stint *stint)
{
    if (stint->builds > stint->builds_counted)
        metrics_add(s->metrics, METRIC_KERNEL_BUILDS, NULL,
                    (double)(stint->builds - stint->builds_counted));
    if (stint->cache_hits > stint->cache_hits_counted)
        metrics_add(s->metrics, METRIC_KERNEL_CACHE_HITS, NULL,
                    (double)(stint->cache_hits - stint->cache_hits_counted));
    stint->builds_counted = stint->builds;
    stint->cache_hits_counted = stint->cache_hits;
    metrics_set(s->metrics, METRIC_BUFFER_BYTES, NULL, (double)stint->buffer_bytes);
    metrics_set(s->metrics, METRIC_CLIENT_KERNELS, NULL, (double)stint->client_kernels);
}

/* From where it is to those that leave; it has no jobs. */
static void see_off(struct supervisor *s, struct stint **stint)
{
    LIST_INSERT_HEAD(&s->leaving, *stint, in_list);
    stint_leave(*stint);
    *stint = NULL;
}

/* The last thing that a callback does: all may be closed after it. */
static void tell_if_stopped(struct supervisor *s)
{
    if (!s->stopping || s->stopped || s->current || s->next || !LIST_EMPTY(&s->leaving))
        return;
    s->stopped = true;
    s->events->stopped(s->context);
}

/* ---- which device ---- */

/* `stint`'s device is not to be used: for now, or for good when a process is stuck in it. True when
 * there is another one for the next worker. */
static bool step_down(struct supervisor *s, const struct stint *stint, const char *reason,
                      const char *why)
{
    uint64_t now = clock_now();
    bool stuck = strcmp(reason, "stuck") == 0;
    bool other = stuck ? fallback_lose(&s->fallback, stint->rung, now)
                       : fallback_step_down(&s->fallback, stint->rung, now);
    const char *device = stint->name[0] ? stint->name : stint->device;
    if (!other) {
        log_error("device %s: %s; there is no other to fall back to", device, why);
        return false;
    }
    add_reason(s, METRIC_DEVICE_FALLBACK, reason);
    if (s->fallback.retry_at > now)
        log_error("device %s: %s; FALLING BACK to '%s'; it is tried again in %s", device, why,
                  fallback_device(&s->fallback), number_duration(s->fallback.retry_at - now));
    else
        log_error("device %s: %s; FALLING BACK to '%s'", device, why,
                  fallback_device(&s->fallback));
    return true;
}

static void launch(struct supervisor *s);

static void say_where(struct supervisor *s, const struct stint *stint)
{
    bool below = fallback_is_below(&s->fallback, stint->rung) || s->fallback.first > 0;
    bool was = metrics_value(s->metrics, METRIC_DEVICE_ON_FALLBACK, NULL) > 0;
    if (below)
        log_error("the work is done by the fallback device (%s)",
                  stint->name[0] ? stint->name : "the plain C references");
    else if (was)
        log_info("the device is in use again");
    metrics_set(s->metrics, METRIC_DEVICE_ON_FALLBACK, NULL, below);
}

/* ---- one takes over from another ---- */

static void take_over(struct supervisor *s)
{
    if (!s->next || s->next->phase != STINT_READY || (s->current && s->current->in_flight > 0))
        return;
    if (s->current)
        see_off(s, &s->current);
    s->current = s->next;
    s->next = NULL;
    say_where(s, s->current);
    arm(s);
    s->events->ready(s->context);
}

/* Why the worker is due to be replaced; NULL: it is not. */
static const char *why_recycle(struct supervisor *s, uint64_t now)
{
    const struct settings *settings = s->settings;
    struct stint *stint = s->current;
    if (settings->worker_jobs > 0 && stint->n_jobs >= (uint64_t)settings->worker_jobs)
        return "its number of jobs is done";
    if (settings->worker_time > 0 && now - stint->started >= settings->worker_time)
        return "its time is over";
    if (now - stint->resident_seen < RESIDENT_EVERY)
        return NULL;
    stint->resident_seen = now;
    /* What jobs hold, and as much again that the pool keeps for the next ones. */
    uint64_t growth =
        settings->worker_growth ? settings->worker_growth : 2 * settings->memory + GROWTH_FOR_FREE;
    uint64_t resident = stint_resident(stint);
    if (stint->resident_first > 0 && resident > stint->resident_first + growth)
        return "its memory has grown";
    return NULL;
}

static void recycle_if_due(struct supervisor *s)
{
    uint64_t now = clock_now();
    if (s->stopping || !s->current || s->current->phase != STINT_READY || s->next || s->start_at ||
        now < s->recycle_from)
        return;
    const char *why = why_recycle(s, now);
    if (!why)
        return;
    log_info("worker %d is replaced after %" PRIu64 " jobs: %s", s->current->pid,
             s->current->n_jobs, why);
    s->n_recycled++;
    plan_start(s, 0);
}

static void climb_if_due(struct supervisor *s)
{
    if (s->stopping || !s->current || s->next || s->start_at ||
        !fallback_is_due(&s->fallback, clock_now()))
        return;
    fallback_climb(&s->fallback);
    log_info("device '%s' is tried again", fallback_device(&s->fallback));
    plan_start(s, 0);
}

/* ---- news of a worker ---- */

static void on_passed(struct stint *stint, struct stint_check *check,
                      const struct message *answer)
{
    struct supervisor *s = stint->context;
    if (!check->passed) /* from then on pool threads read it; it stays the same */
        snprintf(check->extension, sizeof check->extension, "%s",
                 answer->extension ? answer->extension : "out");
    check->passed = true;
    if (!answer->fallback)
        return;
    add_reason(s, METRIC_DEVICE_FALLBACK, "check");
    log_error("chain %s does NOT RUN on device %s: %s", check->chain, stint->name,
              answer->fallback);
}

static void on_ready(struct stint *stint)
{
    struct supervisor *s = stint->context;
    s->ever_ready = true;
    s->wiped = false;
    fallback_came_up(&s->fallback, stint->rung, clock_now());
    count_programs(s, stint);
    take_over(s);
}

/* A replacement that does not come up changes nothing for the one at work. */
static void give_up_next(struct supervisor *s)
{
    s->recycle_from = clock_now() + RECYCLE_AGAIN;
    arm(s);
}

static bool is_devices(enum fault_code code, const char *subject)
{
    return !subject && (code == FAULT_DEVICE || code == FAULT_VERIFY || code == FAULT_NO_DEVICE);
}

/* A device that is missing at the very first start is a mistake to be told; one that fails, or is
 * gone later, is worked around. */
static void on_refused(struct stint *stint, const struct stint_check *check,
                       const char *subject, const struct faults *faults)
{
    struct supervisor *s = stint->context;
    const struct fault *fault = &faults->list[0];
    bool missing = fault->code == FAULT_NO_DEVICE;
    bool strict = missing && !s->ever_ready && stint->rung == 0;
    count_programs(s, stint);
    bool other = is_devices(fault->code, subject) && !strict &&
                 step_down(s, stint, missing ? "missing" : "start", fault->text);
    see_off(s, &s->next);
    if (s->current) {
        log_warning("the new worker is of no use: %s", fault->text);
        give_up_next(s);
    } else if (other) {
        plan_start(s, 0);
    } else {
        s->failures++;
        plan_start(s, pause_after(s->failures));
        s->events->refused(s->context, check, subject, faults);
    }
}

/* The device failed under a job: nothing that its context holds is trusted any more. The job is
 * tried again by its source. */
static void spoil(struct supervisor *s, struct stint *stint, const struct fault *fault)
{
    if (stint->spoiled || s->stopping)
        return;
    stint->spoiled = true;
    step_down(s, stint, "error", fault->text);
    if (s->next && s->next->rung == stint->rung)
        see_off(s, &s->next);
    if (!s->next)
        plan_start(s, 0);
}

static void on_said(struct stint *stint, const struct message *message)
{
    struct supervisor *s = stint->context;
    struct fault fault = FAULT_INIT;
    if (stint != s->current)
        return;
    if (message->kind == MESSAGE_DONE) {
        s->n_jobs++;
        count_programs(s, stint);
        message_get_fault(message, &fault);
        if (fault.code == FAULT_DEVICE || fault.code == FAULT_NO_DEVICE)
            spoil(s, stint, &fault);
        else
            s->failures = 0;
    }
    s->events->said(s->context, message);
    recycle_if_due(s);
    take_over(s);
}

/* ---- the end of a worker ---- */

static void count_end(struct supervisor *s, const struct stint *stint, enum stint_end end)
{
    const char *reason = end == STINT_STUCK     ? "stuck"
                         : stint->spoiled       ? "replaced"
                         : stint->killed        ? "killed"
                         : end == STINT_CRASHED ? "crashed"
                         : s->stopping          ? "stopped"
                         : stint->came_up       ? "recycled"
                                                : "refused";
    add_reason(s, METRIC_WORKER_ENDS, reason);
    if (end != STINT_STUCK)
        return;
    s->n_lost++;
    metrics_add(s->metrics, METRIC_DEVICES_LOST, NULL, 1);
    step_down(s, stint, "stuck", "a process is stuck in it, and it is lost until a reboot");
}

/* It ended before it was ready. A cache that a power cut tore makes every start crash, so at the
 * first such end the caches go; after the second one the device does. */
static void start_failed(struct supervisor *s, const struct stint *stint, enum stint_end end,
                         const char *why)
{
    char text[160];
    bool other = end == STINT_STUCK || stint->rung != s->fallback.rung;
    snprintf(text, sizeof text, "the worker ended %s while it started", why);
    if (!s->wiped && end != STINT_STUCK) {
        s->wipe = true;
        log_warning("%s: the next one empties the kernel caches first", text);
        other = true;
    } else if (end != STINT_STUCK) {
        other = step_down(s, stint, "start", text) || other;
    }
    if (s->current) {
        give_up_next(s);
        if (s->wipe)
            plan_start(s, PAUSE_LAST);
        return;
    }
    s->failures++;
    plan_start(s, pause_after(s->failures));
    if (s->ever_ready || other || s->failures < FIRST_FAILURES || s->stopping)
        return;
    struct faults faults = {0};
    fault_set(faults_next(&faults), FAULT_NO_DEVICE, "the worker ended %s each time it was started",
              why);
    s->events->refused(s->context, NULL, NULL, &faults);
}

static void lose_current(struct supervisor *s, bool crashed)
{
    struct stint *stint = s->current;
    s->current = NULL;
    s->failures++;
    if (crashed && s->failures % FAILURES_MAX == 0 && s->fallback.rung == stint->rung)
        step_down(s, stint, "crash", "workers die at one job after the other");
    stint_destroy(&stint);
    s->events->died(s->context);
    if (s->next)
        take_over(s);
    else if (!s->start_at)
        plan_start(s, pause_after(s->failures));
}

static void on_ended(struct stint *stint, enum stint_end end, const char *why)
{
    struct supervisor *s = stint->context;
    count_end(s, stint, end);
    if (stint == s->current) {
        lose_current(s, end == STINT_CRASHED && !stint->killed);
    } else if (stint == s->next) {
        s->next = NULL;
        start_failed(s, stint, end, why);
        stint_destroy(&stint);
    } else {
        LIST_REMOVE(stint, in_list);
        stint_destroy(&stint);
    }
    tell_if_stopped(s);
}

static const struct stint_events stint_events = {.passed = on_passed,
                                                 .ready = on_ready,
                                                 .refused = on_refused,
                                                 .said = on_said,
                                                 .ended = on_ended};

/* ---- starting ---- */

static void launch(struct supervisor *s)
{
    struct faults faults = {0};
    if (!s->current && fallback_is_due(&s->fallback, clock_now()))
        fallback_climb(&s->fallback);
    struct stint how = {.loop = s->loop,
                        .settings = s->settings,
                        .config_fd = s->config_fd,
                        .events = &stint_events,
                        .context = s,
                        .n_checks = s->n_checks,
                        .checks = s->checks,
                        .device = fallback_device(&s->fallback),
                        .fallback = s->settings->fallback,
                        .rung = s->fallback.rung,
                        .wipe = s->wipe};
    s->start_at = 0;
    if (stint_start(&s->next, &how, faults_next(&faults)) != 0) {
        s->failures++;
        plan_start(s, pause_after(s->failures));
        s->events->refused(s->context, NULL, NULL, &faults);
        return;
    }
    s->n_starts++;
    metrics_add(s->metrics, METRIC_WORKER_STARTS, NULL, 1);
    if (s->wipe)
        metrics_add(s->metrics, METRIC_CACHE_WIPES, NULL, 1);
    s->wiped |= s->wipe;
    s->wipe = false;
    arm(s);
}

static void on_timer(uv_timer_t *timer)
{
    struct supervisor *s = timer->data;
    uint64_t now = clock_now();
    if (s->current && s->current->ping_at <= now)
        stint_ping(s->current);
    if (s->start_at && s->start_at <= now) {
        launch(s);
        return;
    }
    climb_if_due(s);
    recycle_if_due(s);
    arm(s);
}

int supervisor_init(struct supervisor *supervisor, struct fault *fault)
{
    struct supervisor *s = supervisor;
    LIST_INIT(&s->leaving);
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
    launch(supervisor);
}

void supervisor_stop(struct supervisor *supervisor)
{
    struct supervisor *s = supervisor;
    s->stopping = true;
    s->start_at = 0;
    arm(s);
    if (s->current)
        see_off(s, &s->current);
    if (s->next)
        see_off(s, &s->next);
    tell_if_stopped(s);
}

bool supervisor_is_sound(const struct supervisor *supervisor)
{
    const struct stint *stint = supervisor->current;
    return !stint || stint->phase != STINT_READY || stint->unanswered <= STINT_SILENT_MAX;
}

void supervisor_kill(struct supervisor *supervisor)
{
    struct stint *stint = supervisor->current ? supervisor->current : supervisor->next;
    if (stint)
        stint_kill(stint);
}
