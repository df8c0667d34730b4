#include "daemon/watch/folder_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/name.h"
#include "base/number.h"

#define SCAN_EVERY (60 * SECOND)
#define POLL_EVERY (2 * SECOND) /* time between scans where there is no inotify */

/* How often the folder's paths are looked at. The kernel does not tell when an open directory is
 * removed, or when another file system is mounted over it. */
#define CHECK_EVERY (3 * SECOND)

/* Limits for a disk that does not answer: how long the opening of a job may take until no further
 * jobs are opened; how long a thread may make no progress until a folder that has to stop is
 * abandoned. The last is how often threads are looked at. FOLDER_HANGS_AFTER is another one. */
#define STALLS_AFTER  (SECOND / 2)
#define ABANDON_AFTER (10 * SECOND)
#define FEEL_EVERY    (SECOND / 4)

bool folder_is_live(const struct folder *folder)
{
    return folder->state == FOLDER_WATCHING;
}

/* ---- events of the watch ---- */

static void on_hint(void *context, const char *name, enum candidate_news news)
{
    struct folder *folder = context;
    if (!folder_is_live(folder) || name_is_ignored(name, folder->settings->ignore))
        return;
    candidates_hear(&folder->candidates, name, news, clock_now());
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

/* ---- opening and losing the directories ---- */

/* The first scan is over, or impossible for now, so the start of the daemon need not wait for it.
 */
void folder_tell_scanned(struct folder *folder)
{
    if (folder->told_scanned)
        return;
    folder->told_scanned = true;
    folder->world->events->scanned(folder->world->context);
}

struct reopening {
    struct errand errand;
    struct folder *folder;
    struct spool *spool;
    int watch_fd; /* −1: the folder is polled, … */
    struct fault fault,
        unwatched; /* … for the reason `unwatched`; none where the settings ask for polling */
};

/* Makes the directory if it is missing. Any other fault shows when the path is opened. */
static void make_if_missing(const char *path)
{
    struct fault fault = FAULT_INIT;
    if (access(path, F_OK) == 0 || errno != ENOENT)
        return;
    if (path_make_directories(path, 0777, &fault) == 0)
        log_info("%s: there was no such folder; it is made", path);
}

/* The watch is set up before the scan: a file that comes between the two is then seen twice rather
 * than never. */
static void reopen(struct errand *errand)
{
    struct reopening *r = (struct reopening *)errand;
    const struct watch_settings *settings = r->folder->settings;
    if (r->folder->world->make_folders && !r->folder->told_scanned) {
        make_if_missing(settings->input);
        make_if_missing(settings->output);
    }
    if (spool_open(&r->spool, settings, &r->folder->world->spools, &r->fault) != 0)
        return;
    errand_moves(errand);
    if (settings->mode != MODE_POLL)
        r->watch_fd =
            watch_descriptor(settings->input, settings->mode == MODE_INOTIFY, &r->unwatched);
}

static void destroy_spool(struct errand *errand);
static void after_spool(struct errand *errand);

struct spool_end {
    struct errand errand;
    struct folder *folder;
    struct spool *spool;
};

/* The last job of an older spool has left it. */
static void on_spool_left(void *context, struct spool *spool)
{
    struct folder *folder = context;
    struct spool_end *end = calloc(1, sizeof *end);
    if (!end) {
        log_error("%s: no memory to close a folder", folder->settings->input);
        abort(); /* claimed files are safe on disk, and the next start finds them */
    }
    end->folder = folder;
    end->spool = spool;
    errands_add(folder->errands, &end->errand, destroy_spool, after_spool);
}

static void destroy_spool(struct errand *errand)
{
    spool_destroy(((struct spool_end *)errand)->spool);
}

static void after_spool(struct errand *errand)
{
    struct folder *folder = ((struct spool_end *)errand)->folder;
    folder->n_spools--;
    free(errand);
    if (folder_is_live(folder)) {
        /* a scan may now take over the claims that were left in it */
        folder->next_scan = clock_now();
        folder_pump(folder);
    }
    folder_check_stopped(folder);
}

static void begin(struct folder *folder, struct reopening *r)
{
    const struct watch_settings *settings = folder->settings;
    const char *path = settings->input;
    folder->state = FOLDER_WATCHING;
    folder->well_since = clock_now();
    folder->n_tries = 0;
    if (r->watch_fd >= 0)
        watch_open(&folder->watch, folder->world->loop, r->watch_fd, &watch_events, folder,
                   &r->unwatched);
    if (settings->mode == MODE_POLL)
        log_info("watching %s by reading it every %s, chain '%s', results as %s in %s", path,
                 number_duration(POLL_EVERY), settings->chain, settings->format, settings->output);
    else if (folder->watch)
        log_info("watching %s (inotify%s), chain '%s', results as %s in %s", path,
                 settings->recursive ? "; folders below are read every 2s" : "", settings->chain,
                 settings->format, settings->output);
    else
        log_warning("watching %s by reading it every %s: %s", path, number_duration(POLL_EVERY),
                    r->unwatched.text);
    folder->next_scan = clock_now();
    folder_pump(folder);
}

/* Tries again after 1 s, 2 s, 4 s, then every 8 s, so that a folder that works again is used soon.
 */
static void note_refusal(struct folder *folder, const struct fault *fault)
{
    const char *out = folder->settings->output;
    size_t length = strlen(out);
    bool same = folder->lost.since && strcmp(folder->lost.text, fault->text) == 0;
    bool of_out = strncmp(fault->text, out, length) == 0 && fault->text[length] == ':';
    folder->lost_path = of_out ? out : folder->settings->input;
    folder->unusable = fault->code != FAULT_NO_INPUT;
    folder->next_scan = clock_now() + (SECOND << folder->n_tries);
    folder->n_tries += folder->n_tries < 3;
    folder_note(folder, &folder->lost, fault->text);
    if (!same)
        log_warning("%s; it is tried again", fault->text);
    folder_tell_scanned(folder);
}

static void after_reopen(struct errand *errand)
{
    struct reopening *r = (struct reopening *)errand;
    struct folder *folder = r->folder;
    folder->reopening = false;
    if (r->spool) {
        r->spool->left = on_spool_left;
        r->spool->context = folder;
        folder->n_spools++;
    }
    if (r->spool && folder->state == FOLDER_LOST) {
        folder->spool = r->spool;
        r->spool = NULL;
        if (folder_note(folder, &folder->lost, NULL))
            log_info("%s is back", folder->lost_path);
        queue_hurry(folder->queue);
        begin(folder, r);
    } else {
        if (folder->state == FOLDER_LOST)
            note_refusal(folder, &r->fault);
        file_close(&r->watch_fd);
    }
    spool_leave(&r->spool);
    free(r);
    folder_arm_timer(folder);
    folder_check_stopped(folder);
}

static void start_reopening(struct folder *folder)
{
    struct reopening *r = calloc(1, sizeof *r);
    folder->next_scan = clock_now() + POLL_EVERY; /* unless the following sets an earlier time */
    if (!r)
        return;
    r->folder = folder;
    r->watch_fd = -1;
    fault_clear(&r->fault);
    fault_clear(&r->unwatched);
    folder->reopening = true;
    errands_add(folder->errands, &r->errand, reopen, after_reopen);
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

/* Jobs of the old directory keep it open until they have ended. */
void folder_lose(struct folder *folder, const char *path, const char *why)
{
    char text[sizeof folder->lost.text];
    bool own = folder->spool && path == folder->spool->hidden_path;
    if (!folder_is_live(folder))
        return;
    snprintf(text, sizeof text, "%s: %s", path, why);
    log_warning("%s; it is %s", text, own ? "made anew" : "taken up again when it returns");
    folder->unusable = own;
    folder_note(folder, &folder->lost, text);
    folder_note(folder, &folder->unread, NULL);
    folder_note(folder, &folder->no_space, NULL);
    folder->lost_path = own ? folder->settings->input : path;
    folder->state = FOLDER_LOST;
    watch_close(&folder->watch);
    candidates_clear(&folder->candidates);
    spool_leave(&folder->spool);
    folder->next_scan = clock_now();
    folder_arm_timer(folder);
}

/* ---- the timer ---- */

static void abandon(struct folder *folder);

/* Looks at how long the folder's threads have made no progress. */
static void check_threads(struct folder *folder)
{
    uint64_t now = clock_now(), since = errands_since(folder->errands);
    uint64_t waits = since > 0 && now > since ? now - since : 0;
    bool hanging = waits > FOLDER_HANGS_AFTER;
    const struct job *job = TAILQ_FIRST(&folder->queue->lists[JOB_OPENING]);
    while (job && job->owner != folder)
        job = TAILQ_NEXT(job, in_list);
    bool stalled = job && now - job->since > STALLS_AFTER;
    if (folder->stalled != stalled)
        queue_wake(folder->queue); /* jobs of this or another folder may be opened now */
    if (hanging && !folder->hanging)
        log_warning("%s or %s: no answer for %s: the folder hangs; nothing else waits for it",
                    folder->settings->input, folder->settings->output,
                    number_duration(waits / SECOND * SECOND));
    if (folder->hanging && !hanging) {
        log_info("%s, %s: there is an answer again", folder->settings->input,
                 folder->settings->output);
        folder->well_since = now;
    }
    folder->stalled = stalled;
    folder->hanging = hanging;
    if (hanging)
        folder_tell_scanned(folder);
    if (folder->state == FOLDER_STOPPING && waits > ABANDON_AFTER)
        abandon(folder);
}

static void on_timer(uv_timer_t *timer)
{
    folder_pump(timer->data);
}

/* Sets the timer to the next scan, or to the first candidate that is due. While a scan runs, its
 * end starts the next one, so no timer is needed for that. The time is never 0: libuv before 1.45
 * calls a timer that is due at once again before it looks at anything else. */
void folder_arm_timer(struct folder *folder)
{
    uint64_t now = clock_now(), due = now + SCAN_EVERY, wake = 0;
    if (folder->state >= FOLDER_STOPPED)
        return;
    bool open = folder->state == FOLDER_WATCHING || folder->state == FOLDER_LOST;
    if (open && !folder->scanning && !folder->reopening)
        due = folder->next_scan;
    if (folder->state == FOLDER_WATCHING && !folder->scanning && folder->next_check < due)
        due = folder->next_check;
    if (open)
        wake = candidates_wake(&folder->candidates, now);
    if (wake != 0 && wake < due)
        due = wake;
    bool busy = errands_count(folder->errands) > 0 || folder->state == FOLDER_STOPPING;
    if (busy && now + FEEL_EVERY < due)
        due = now + FEEL_EVERY;
    else if (!open)
        return;
    uv_timer_start(&folder->timer, on_timer, due > now ? (due - now) / MILLISECOND + 1 : 1, 0);
}

void folder_pump(struct folder *folder)
{
    uint64_t now = clock_now();
    if (folder->state >= FOLDER_STOPPED)
        return;
    check_threads(folder);
    folder_settle(folder);
    folder_check_stopped(folder);
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
                         .queue = world->queue,
                         .settings = settings,
                         .share = UINT_MAX,
                         .well_since = clock_now()};
    STAILQ_INIT(&f->to_settle);
    int result = candidates_init(
        &f->candidates, (struct candidate_times){settings->settle, settings->stable}, fault);
    if (result == 0)
        result = errands_create(&f->errands, world->loop, fault);
    if (result != 0) {
        candidates_finish(&f->candidates);
        errands_destroy(&f->errands);
        free(f);
        return result;
    }
    f->book = rulebook_use(book);
    uv_timer_init(world->loop, &f->timer);
    f->timer.data = f;
    *folder = f;
    return 0;
}

void folder_start(struct folder *folder, const char *extension)
{
    snprintf(folder->extension, sizeof folder->extension, "%s", extension);
    folder->state = FOLDER_LOST;
    folder_pump(folder);
}

void folder_set_share(struct folder *folder, unsigned share)
{
    folder->share = share;
}

void folder_succeed(struct folder *folder, const struct folder *before)
{
    folder->past = before->past;
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
    queue_withdraw(folder->queue, folder);
    folder_check_stopped(folder);
    folder_arm_timer(folder);
}

static void on_closed(uv_handle_t *handle)
{
    struct folder *folder = handle->data;
    rulebook_leave(&folder->book);
    free(folder);
}

/* Errands of an abandoned folder may end long after the folder was destroyed: the last one frees
 * it. */
static void free_if_unused(struct folder *folder)
{
    if (!folder->destroyed || !folder->errands || folder->n_jobs > 0 || folder->n_spools > 0 ||
        errands_count(folder->errands) > 0)
        return;
    candidates_finish(&folder->candidates);
    errands_destroy(&folder->errands);
    uv_close((uv_handle_t *)&folder->timer, on_closed);
}

void folder_check_stopped(struct folder *folder)
{
    if (folder->state != FOLDER_STOPPING) {
        free_if_unused(folder);
        return;
    }
    if (folder->n_jobs > 0 || errands_count(folder->errands) > 0)
        return;
    spool_leave(&folder->spool); /* on_spool_left calls this again */
    if (folder->n_spools > 0)
        return;
    folder->state = FOLDER_STOPPED;
    uv_timer_stop(&folder->timer);
    folder->world->events->stopped(folder->world->context, folder);
}

/* The folder has to stop and hangs. Its jobs leave the queue, except those that a worker has, which
 * leave when they end. Claimed files stay on disk, and whoever opens the folder when it answers
 * again takes them over. */
static void abandon(struct folder *folder)
{
    struct queue *queue = folder->queue;
    struct job *job, *next;
    log_warning("%s: it hangs, and is left behind", folder->settings->input);
    folder->state = FOLDER_ABANDONED;
    for (job = TAILQ_FIRST(&queue->all); job; job = next) {
        next = TAILQ_NEXT(job, in_all);
        if (job->owner == folder && job->state != JOB_SENT && job->state != JOB_BEGUN)
            folder_lay_down(folder_job_of(job));
    }
    uv_timer_stop(&folder->timer);
    folder->world->events->stopped(folder->world->context, folder);
}

void folder_destroy(struct folder **folder)
{
    struct folder *f = *folder;
    *folder = NULL;
    if (!f)
        return;
    watch_close(&f->watch);
    uv_timer_stop(&f->timer);
    spool_leave(&f->spool);
    f->destroyed = true;
    free_if_unused(f);
}

bool folder_is_quiet(const struct folder *folder)
{
    const struct candidates *c = &folder->candidates;
    return folder->scanned && !folder->scanning &&
           c->count == c->counts[CANDIDATE_TAKEN] + c->counts[CANDIDATE_EMPTY];
}
