#include "daemon/watch/folder_internal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/name.h"
#include "base/number.h"
#include "daemon/spool/ledger.h"

#define SECOND     UINT64_C(1000000000)
#define SCAN_EVERY (60 * SECOND)
#define POLL_EVERY (2 * SECOND) /* where there is no inotify, and for a directory that is gone */

/* How often the paths are looked at. The kernel says nothing when a directory is removed that we
 * have open, nor when another is mounted over it. */
#define CHECK_EVERY (5 * SECOND)

/* How long a directory may take to answer until it counts as hanging. */
#define HANGS_AFTER (10 * SECOND)

bool folder_is_live(const struct folder *folder)
{
    return folder->state == FOLDER_WATCHING;
}

/* ---- the watch's news ---- */

static void on_hint(void *context, const char *name, bool closed)
{
    struct folder *folder = context;
    if (!folder_is_live(folder) || name_is_ignored(name, folder->settings->ignore))
        return;
    candidates_hint(&folder->candidates, name, closed);
    folder_pump(folder);
}

static void on_overflow(void *context)
{
    struct folder *folder = context;
    folder->n_overflows++;
    log_info("%s: more happened than inotify could tell; the folder is read again",
             folder->settings->input);
    folder->next_scan = clock_now();
    folder_pump(folder);
}

static void on_lost(void *context, const char *why)
{
    struct folder *folder = context;
    folder_lose(folder, folder->settings->input, why);
}

static const struct watch_events watch_events = {
    .hint = on_hint, .overflow = on_overflow, .lost = on_lost};

/* ---- the directories come and go ---- */

/* First the watch, then the scan: what comes between the two is seen twice, not never. */
static void begin(struct folder *folder)
{
    struct fault fault = FAULT_INIT;
    const struct watch_settings *settings = folder->settings;
    const char *path = settings->input;
    folder->state = FOLDER_WATCHING;
    folder->well_since = clock_now();
    if (settings->mode == MODE_POLL)
        log_info("watching %s by reading it every %s, chain '%s', results as %s in %s", path,
                 number_duration(POLL_EVERY), settings->chain, settings->format, settings->output);
    else if (watch_open(&folder->watch, folder->loop, path, settings->mode == MODE_INOTIFY,
                        &watch_events, folder, &fault) == 0)
        log_info("watching %s (inotify%s), chain '%s', results as %s in %s", path,
                 settings->recursive ? "; folders below are read every 2s" : "", settings->chain,
                 settings->format, settings->output);
    else
        log_warning("watching %s by reading it every %s: %s", path, number_duration(POLL_EVERY),
                    fault.text);
    folder->next_scan = clock_now();
    folder_pump(folder);
}

struct reopening {
    uv_work_t work;
    struct folder *folder;
    struct spool *spool;
    struct fault fault;
};

static void reopen(uv_work_t *work)
{
    struct reopening *r = work->data;
    folder_enter_disk(r->folder);
    spool_open(&r->spool, r->folder->settings, &r->folder->world->spools, &r->fault);
    folder_leave_disk(r->folder);
}

static void after_reopen(uv_work_t *work, int status)
{
    struct reopening *r = work->data;
    struct folder *folder = r->folder;
    (void)status;
    folder->reopening = false;
    if (r->spool && folder->state == FOLDER_LOST) {
        folder->spool = r->spool;
        r->spool = NULL;
        folder_note(folder, &folder->lost, NULL);
        log_info("%s is back", folder->lost_path);
        queue_hurry(folder->queue);
        begin(folder);
    } else {
        folder_note(folder, &folder->lost, r->fault.text);
        log_debug("%s", r->fault.text);
        folder->next_scan = clock_now() + POLL_EVERY;
    }
    spool_leave(&r->spool);
    free(r);
    folder_arm_timer(folder);
    folder_check_stopped(folder);
}

static void start_reopening(struct folder *folder)
{
    struct reopening *r = calloc(1, sizeof *r);
    folder->next_scan = clock_now() + POLL_EVERY; /* if this comes to nothing */
    if (!r)
        return;
    r->folder = folder;
    r->work.data = r;
    fault_clear(&r->fault);
    if (uv_queue_work(folder->loop, &r->work, reopen, after_reopen) == 0)
        folder->reopening = true;
    else
        free(r);
}

bool folder_note(struct folder *folder, struct folder_trouble *trouble, const char *text)
{
    bool was = trouble->since != 0;
    if (text)
        snprintf(trouble->text, sizeof trouble->text, "%s", text);
    if (was == (text != NULL))
        return false;
    trouble->since = text ? clock_now() : 0;
    if (!text)
        folder->well_since = clock_now();
    return true;
}

/* Jobs that came from the old directory keep it open until they have ended. */
void folder_lose(struct folder *folder, const char *path, const char *why)
{
    char text[sizeof folder->lost.text];
    if (!folder_is_live(folder))
        return;
    snprintf(text, sizeof text, "%s: %s", path, why);
    log_warning("%s; it is taken up again when it returns", text);
    folder_note(folder, &folder->lost, text);
    folder_note(folder, &folder->unread, NULL);
    folder_note(folder, &folder->no_space, NULL);
    folder->lost_path = path;
    folder->state = FOLDER_LOST;
    watch_close(&folder->watch);
    candidates_clear(&folder->candidates);
    spool_leave(&folder->spool);
    folder->next_scan = clock_now();
    folder_arm_timer(folder);
}

/* ---- what is due ---- */

static void on_timer(uv_timer_t *timer)
{
    folder_pump(timer->data);
}

/* Sleeps until the next scan or the first name that waits. A scan that is wanted while one is under
 * way is no reason to wake: its end is. And never for no time at all: libuv before 1.45 runs a
 * timer that is due at once again before it looks at anything else. */
void folder_arm_timer(struct folder *folder)
{
    uint64_t now = clock_now(), due = folder->next_scan;
    if (folder->state == FOLDER_WATCHING && folder->next_check < due)
        due = folder->next_check;
    if (folder->scanning || folder->reopening)
        due = now + SCAN_EVERY;
    if (folder->state != FOLDER_WATCHING && folder->state != FOLDER_LOST) {
        uv_timer_stop(&folder->timer);
        return;
    }
    uint64_t wake = candidates_wake(&folder->candidates, now);
    if (wake != 0 && wake < due)
        due = wake;
    uv_timer_start(&folder->timer, on_timer, due > now ? (due - now) / 1000000 + 1 : 1, 0);
}

void folder_pump(struct folder *folder)
{
    uint64_t now = clock_now();
    folder_settle(folder);
    if (folder->state == FOLDER_LOST && !folder->reopening && now >= folder->next_scan)
        start_reopening(folder);
    if (folder_is_live(folder)) {
        struct candidates *c = &folder->candidates;
        if (c->overflowed && c->count < CANDIDATES_MAX / 2)
            folder->next_scan = now;
        if (!folder->scanning && now >= folder->next_scan) {
            bool seen = folder->watch && !folder->settings->recursive;
            folder->next_scan = now + (seen ? SCAN_EVERY : POLL_EVERY);
            folder->next_check = now + CHECK_EVERY;
            folder_scan(folder, true);
        } else if (!folder->scanning && now >= folder->next_check) {
            folder->next_check = now + CHECK_EVERY;
            folder_scan(folder, false);
        }
        candidates_wake(c, now);
        folder_look(folder);
    }
    folder_arm_timer(folder);
}

/* ---- life ---- */

int folder_create(struct folder **folder, const struct folder_world *world, struct rulebook *book,
                  const struct watch_settings *settings, struct fault *fault)
{
    struct folder *f = calloc(1, sizeof *f);
    *folder = NULL;
    if (!f)
        return fault_set(fault, FAULT_MEMORY, "no memory for a folder");
    *f = (struct folder){.world = world,
                         .loop = world->loop,
                         .queue = world->queue,
                         .settings = settings,
                         .share = UINT_MAX,
                         .well_since = clock_now()};
    STAILQ_INIT(&f->to_settle);
    int result = spool_open(&f->spool, settings, &world->spools, fault);
    if (result == 0)
        result = candidates_init(&f->candidates, fault);
    int error = result == 0 ? uv_timer_init(world->loop, &f->timer) : 0;
    if (error < 0)
        result = fault_set(fault, FAULT_INTERNAL, "libuv: %s", uv_strerror(error));
    if (result != 0) {
        candidates_finish(&f->candidates);
        spool_leave(&f->spool);
        free(f);
        return result;
    }
    f->book = rulebook_use(book);
    f->timer.data = f;
    *folder = f;
    return 0;
}

void folder_start(struct folder *folder, const char *extension)
{
    snprintf(folder->extension, sizeof folder->extension, "%s", extension);
    begin(folder);
}

void folder_set_share(struct folder *folder, unsigned share)
{
    folder->share = share;
}

const struct watch_settings *folder_settings(const struct folder *folder)
{
    return folder->settings;
}

void folder_stop(struct folder *folder)
{
    if (folder->state >= FOLDER_STOPPING)
        return;
    folder->state = FOLDER_STOPPING;
    watch_close(&folder->watch);
    candidates_clear(&folder->candidates);
    uv_timer_stop(&folder->timer);
    queue_withdraw(folder->queue, folder);
    folder_check_stopped(folder);
}

void folder_check_stopped(struct folder *folder)
{
    if (folder->state != FOLDER_STOPPING || folder->n_jobs > 0 || folder->scanning ||
        folder->looking || folder->settling || folder->reopening)
        return;
    folder->state = FOLDER_STOPPED;
    folder->world->events->stopped(folder->world->context, folder);
}

static void on_closed(uv_handle_t *handle)
{
    struct folder *folder = handle->data;
    rulebook_leave(&folder->book);
    free(folder);
}

void folder_destroy(struct folder **folder)
{
    struct folder *f = *folder;
    *folder = NULL;
    if (!f)
        return;
    watch_close(&f->watch);
    candidates_finish(&f->candidates);
    spool_leave(&f->spool);
    uv_close((uv_handle_t *)&f->timer, on_closed);
}

bool folder_is_quiet(const struct folder *folder)
{
    const struct candidates *c = &folder->candidates;
    return folder->scanned && !folder->scanning &&
           c->count == c->counts[CANDIDATE_TAKEN] + c->counts[CANDIDATE_EMPTY];
}

/* What a job waits for that is wrong with a directory, not with the device or the worker. */
static bool is_folders(enum fault_code code)
{
    return code == FAULT_CREATE || code == FAULT_IO || code == FAULT_NO_SPACE ||
           code == FAULT_PERMISSION;
}

/* `stuck`: the job of the folder that is tried again first, of those that wait for a directory. */
static void count_jobs(const struct folder *folder, const struct job_list *list, size_t *count,
                       const struct job **stuck)
{
    const struct job *job;
    TAILQ_FOREACH(job, list, in_list)
    {
        if (job->owner != folder)
            continue;
        ++*count;
        if (job->state == JOB_WAITING && is_folders(job->trouble.code) &&
            (!*stuck || job->not_before < (*stuck)->not_before))
            *stuck = job;
    }
}

/* It can end no file while the ledger, on which it depends, does not answer. */
static bool hangs_by_ledger(const struct folder *folder, uint64_t now, struct folder_census *census)
{
    uint64_t since = ledger_since(folder->world->spools.ledger);
    if (folder->settings->originals != ORIGINALS_KEEP || since == 0 || now - since <= HANGS_AFTER)
        return false;
    census->state = "hanging";
    census->reason = "folder-hanging";
    census->since = since;
    snprintf(census->message, sizeof census->message, "%s: no answer for %s",
             folder->world->spools.state_path, number_duration((now - since) / SECOND * SECOND));
    return true;
}

/* The worst of what is known. */
static void judge(const struct folder *folder, const struct job *stuck,
                  struct folder_census *census)
{
    uint64_t moved = folder->moved, now = clock_now();
    const struct folder_trouble *trouble = NULL;
    if (folder->state == FOLDER_LOST) {
        trouble = &folder->lost;
        census->state = "lost";
        census->reason = "folder-gone";
        census->next_try = folder->next_scan;
    } else if (folder->n_at_disk > 0 && now - moved > HANGS_AFTER) {
        census->state = "hanging";
        census->reason = "folder-hanging";
        census->since = moved;
        snprintf(census->message, sizeof census->message, "%s or %s: no answer for %s",
                 folder->settings->input, folder->settings->output,
                 number_duration((now - moved) / SECOND * SECOND));
    } else if (hangs_by_ledger(folder, now, census)) {
        return;
    } else if (folder->no_space.since || folder->unread.since) {
        bool space = folder->no_space.since != 0;
        trouble = space ? &folder->no_space : &folder->unread;
        census->state = "degraded";
        census->reason = space ? "no-space" : "folder-unreadable";
        census->next_try = space ? folder->next_check : folder->next_scan;
    } else if (stuck) {
        census->state = "degraded";
        census->reason = fault_name(stuck->trouble.code);
        census->since = stuck->since;
        census->next_try = stuck->not_before;
        snprintf(census->message, sizeof census->message, "%s", stuck->trouble.text);
    }
    if (trouble) {
        census->since = trouble->since;
        snprintf(census->message, sizeof census->message, "%s", trouble->text);
    }
}

void folder_count(const struct folder *folder, struct folder_census *census)
{
    const struct candidates *c = &folder->candidates;
    const struct queue *queue = folder->queue;
    const struct job *stuck = NULL;
    *census = (struct folder_census){.waiting = c->count - c->counts[CANDIDATE_TAKEN],
                                     .done = folder->n_done,
                                     .failed = folder->n_failed,
                                     .ended_done = folder->n_ended_done,
                                     .ended_failed = folder->n_ended_failed,
                                     .mode = !folder->spool  ? "gone"
                                             : folder->watch ? "inotify"
                                                             : "poll",
                                     .overflows = folder->n_overflows,
                                     .state = "ok",
                                     .since = folder->well_since};
    for (int lane = 0; lane < JOB_LANES; lane++)
        count_jobs(folder, &queue->queued[lane], &census->queued, &stuck);
    for (int state = 0; state < JOB_STATES; state++)
        count_jobs(folder, &queue->lists[state],
                   state < JOB_SENT      ? &census->queued
                   : state < JOB_WAITING ? &census->running
                                         : &census->retrying,
                   &stuck);
    if (folder->failure.name[0])
        census->failure = &folder->failure;
    judge(folder, stuck, census);
}

void folder_log_state(const struct folder *folder)
{
    static const char *const states[] = {"not started", "watching", "gone", "stopping", "stopped"};
    const struct candidates *c = &folder->candidates;
    size_t ready = c->counts[CANDIDATE_READY], taken = c->counts[CANDIDATE_TAKEN];
    log_info("%s: %s (%s), %u files taken, %zu complete ones wait for %s, %zu not complete yet, "
             "%u overflows",
             folder->settings->input, states[folder->state], folder->watch ? "inotify" : "poll",
             folder->n_jobs, ready, folder->no_space.since ? "space" : "room",
             c->count - ready - taken, folder->n_overflows);
}
