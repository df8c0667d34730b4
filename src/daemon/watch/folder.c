/* The loop's side of a watched folder: its jobs as the queue has them, and its thread as something
 * that is started, looked at, and perhaps forgotten. A file's way is told in folder_thread.c. */
#include "daemon/watch/folder_internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "version.h"
#include "worker/json_text.h"
#include "worker/message.h"

#define INTERRUPTIONS_UNTIL_FAILED 10 /* in a row, each while it was the only job */

/* Limits for a disk that does not answer: how long the thread may make no progress until jobs of
 * others go first, and until a folder that has to stop is abandoned. The next ones are how often
 * threads are looked at: while they do something, and otherwise. FOLDER_HANGS_AFTER is another one.
 */
#define STALLS_AFTER  (SECOND / 2)
#define ABANDON_AFTER (10 * SECOND)
#define FEEL_EVERY    (SECOND / 4)
#define LOOK_EVERY    (3 * SECOND)

#define RESULTS_LOGGED 16 /* of one file by their names; the others are counted */

static void arm_timer(struct folder *folder, bool busy);

/* ---- letters to the thread, and what the queue asks (job.h) ---- */

/* Letters of one turn of the loop go together, before it waits for the next: the thread is woken
 * once, and jobs that end in one turn share their syncs. */
static void send_letters(uv_prepare_t *sending)
{
    struct folder *folder = sending->data;
    struct folder_thread *t = folder->thread;
    uv_prepare_stop(sending);
    if (STAILQ_EMPTY(&folder->letters))
        return;
    arm_timer(folder, true);
    pthread_mutex_lock(&t->lock);
    STAILQ_CONCAT(&t->in, &folder->letters);
    folder_thread_wake(t);
    pthread_mutex_unlock(&t->lock);
}

static void hand_over(struct folder_job *fj, enum letter_kind kind)
{
    struct folder *folder = fj->folder;
    STAILQ_INSERT_TAIL(&folder->letters, &fj->letters[kind], next);
    if (folder->state == FOLDER_ABANDONED) /* there may be no later turn */
        send_letters(&folder->sending);
    else
        uv_prepare_start(&folder->sending, send_letters);
}

static void open_job(struct job *job)
{
    hand_over((struct folder_job *)job, LETTER_OPEN);
}

static void began(struct job *job)
{
    struct folder_job *fj = (struct folder_job *)job;
    fj->alone = job->lane == JOB_LAST;
    hand_over(fj, LETTER_BEGAN);
}

static void need_output(struct job *job, unsigned of, const char *plane)
{
    struct folder_job *fj = (struct folder_job *)job;
    struct fault fault = FAULT_INIT;
    if (fj->folder->state == FOLDER_ABANDONED) {
        fault_set(&fault, FAULT_IO, "the folder does not answer");
        queue_give_output(fj->folder->queue, job, of, plane, -1, &fault);
        return;
    }
    if (of == fj->n_given && of < WATCH_RESULTS_MAX && fj->out_fds[of] >= 0) {
        fj->n_given++;
        queue_give_output(fj->folder->queue, job, of, plane, fj->out_fds[of], &fault);
        return;
    }
    fj->of = of;
    snprintf(fj->plane, sizeof fj->plane, "%s", plane);
    hand_over(fj, LETTER_OUTPUT);
}

static void free_if_unused(struct folder *folder)
{
    if (!folder->destroyed || folder->n_handles > 0 || folder->n_jobs > 0)
        return;
    bool ended = !folder->thread || folder->state == FOLDER_CREATED;
    if (folder->thread) {
        pthread_mutex_lock(&folder->thread->lock);
        ended |= folder->thread->ended;
        folder_thread_leave(folder->thread);
    }
    if (ended) /* a thread that hangs goes on reading its settings, whenever that is */
        rulebook_leave(&folder->book);
    free(folder);
}

/* In an abandoned folder: takes the job out of the queue. The thread closes it, whenever that is.
 */
static void lay_down(struct folder_job *fj)
{
    struct folder *folder = fj->folder;
    queue_remove(folder->queue, &fj->job);
    hand_over(fj, LETTER_END);
    free_if_unused(folder);
}

/* Decides how the try ended, which decides what becomes of the file (enum folder_end). */
static void job_done(struct job *job, const struct message *report)
{
    struct folder_job *fj = (struct folder_job *)job;
    enum fault_code code = job->fault.code;
    if (fj->folder->state == FOLDER_ABANDONED) {
        lay_down(fj);
        return;
    }
    snprintf(fj->step, sizeof fj->step, "%s",
             report && report->step ? report->step
             : fj->unplaceable      ? "write"
                                    : "worker");
    free(fj->files);
    fj->n_files = report ? report->n_planes : 0;
    fj->files = calloc(fj->n_files + 1, sizeof *fj->files);
    for (size_t i = 0; fj->files && i < fj->n_files; i++) {
        fj->files[i].of = report->of[i];
        snprintf(fj->files[i].plane, sizeof fj->files[i].plane, "%s", report->planes[i]);
    }
    if (!fj->files)
        code = fault_set(&job->fault, FAULT_MEMORY, "no memory for the names of planes");
    free(fj->report);
    fj->report = NULL;
    if (code == FAULT_NONE && fj->folder->settings->report == REPORT_FILE) {
        json_t *told = json_pack(
            "{s:s, s:o, s:o, s:o, s:s, s:i, s:f, s:O*}", "sluice", SLUICE_VERSION, "folder",
            json_text(fj->folder->settings->input), "file", json_text(job->label), "chain",
            json_text(job->chain), "format", job->format, "attempts", (int)job->attempts, "queue_s",
            job_queue_seconds(job), "report", report ? (json_t *)report->report : NULL);
        fj->report = told ? json_dumps(told, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) : NULL;
        json_decref(told);
        if (!fj->report)
            code = fault_set(&job->fault, FAULT_MEMORY, "no memory for a report");
    }
    /* Faults that are not the file's: a full disk, a directory that is gone. The job is tried
     * again, and its file stays claimed. */
    bool writing = strcmp(fj->step, "encode") == 0 || strcmp(fj->step, "write") == 0;
    bool passing = fault_is_temporary(code) ||
                   (writing && !fj->unplaceable &&
                    (code == FAULT_IO || code == FAULT_CREATE || code == FAULT_PERMISSION));
    bool incomplete = code == FAULT_EMPTY || (code == FAULT_TRUNCATED && !fj->last_chance);
    fj->end = code == FAULT_NONE ? END_DONE
              : incomplete       ? END_RETURNED
              : passing          ? END_RETRIED
                                 : END_FAILED;
    hand_over(fj, LETTER_END);
}

static void give_back(struct job *job)
{
    struct folder_job *fj = (struct folder_job *)job;
    if (fj->folder->state == FOLDER_ABANDONED) {
        lay_down(fj);
        return;
    }
    fj->end = END_GIVEN_BACK;
    hand_over(fj, LETTER_END);
}

static const struct job_source source = {.open = open_job,
                                         .need_output = need_output,
                                         .began = began,
                                         .done = job_done,
                                         .give_back = give_back};

/* ---- letters of the thread ---- */

/* The fault may pass: the job is tried again later, by our successor or the next start where the
 * folder stops. */
static void retry(struct folder_job *fj, const struct fault *fault)
{
    struct folder *folder = fj->folder;
    fj->job.fault = *fault;
    queue_retry(folder->queue, &fj->job);
    if (folder->state == FOLDER_STOPPING)
        queue_withdraw(folder->queue, folder);
}

/* What the thread says of a job, from a claimed file to its end. */
static void take_letter(struct letter *letter)
{
    struct folder_job *fj = letter->fj;
    struct folder *folder = fj->folder;
    struct queue *queue = folder->queue;
    struct job *job = &fj->job;
    if (letter->kind == LETTER_OUTPUT) {
        queue_give_output(queue, job, fj->of, fj->plane, fj->plane_fd, &letter->fault);
        return;
    }

    /* a file was claimed */
    if (letter->kind == LETTER_OPEN && !job->source) {
        job->source = &source;
        job->origin = "watch";
        job->owner = folder;
        job->stalled = &folder->stalled;
        job->in_fd = fj->in_fd;
        job->out_fd = fj->out_fds[0];
        fj->n_given = 1;
        job->ready = fj->in_fd >= 0;
        job->n_owned = &folder->n_jobs;
        if (folder->n_jobs == 0)
            folder->past.rate.begun = clock_now();
        queue_add(queue, job);
        if (folder->state == FOLDER_STOPPING)
            queue_withdraw(queue, folder);
        return;
    }

    /* it is open, or cannot be opened */
    if (letter->kind == LETTER_OPEN && fj->end == END_NONE) {
        if (letter->fault.code != FAULT_NONE && !fj->unplaceable) {
            retry(fj, &letter->fault);
        } else if (letter->fault.code != FAULT_NONE) {
            job->fault = letter->fault;
            queue_give_up(queue, job);
        } else if (fj->n_alone >= INTERRUPTIONS_UNTIL_FAILED) {
            fault_set(
                &job->fault, FAULT_INTERRUPTED,
                "the daemon or the machine went down %u times in a row at this file, while it "
                "did nothing else",
                fj->n_alone);
            queue_give_up(queue, job);
        } else {
            job->in_fd = fj->in_fd;
            job->out_fd = fj->out_fds[0];
            fj->n_given = 1;
            queue_opened(queue, job);
        }
        return;
    }

    /* A try has ended on disk, and the file with it unless it is tried again. */
    if (job->fault.code == FAULT_CRASHED && letter->kind == LETTER_END)
        queue_accuse(queue, job);
    if (fj->end == END_RETRIED) {
        retry(fj, &letter->fault);
        return;
    }
    struct folder_past *past = &folder->past;
    bool done = fj->end == END_DONE, failed = fj->end == END_FAILED;
    char times[JOB_TIMES_MAX];
    job_print_times(job, times);
    if (done || failed) {
        job->results = fj->results;
        queue_count_end(queue, job, done);
        *(done ? &past->n_done : &past->n_failed) += 1;
        rate_count(&past->rate, clock_now());
    }
    if (done) {
        struct text results = {0};
        size_t count = 0;
        for (const char *name = fj->results; name && *name; name += strlen(name) + 1)
            if (count++ < RESULTS_LOGGED)
                text_printf(&results, "%s%s", count > 1 ? ", " : "", name);
        if (count > RESULTS_LOGGED)
            text_printf(&results, " and %zu more", count - RESULTS_LOGGED);
        log_about(job_subject(job), LOG_LEVEL_INFO, "done in %s: %s", times, text_string(&results));
        text_finish(&results);
    }
    if (failed) {
        snprintf(past->failure.name, sizeof past->failure.name, "%s", job->label);
        past->failure.fault = job->fault;
        past->failure.time = (int64_t)time(NULL);
        log_about(job_subject(job), LOG_LEVEL_WARNING, "failed: %s: %s (in %s)",
                  fault_name(job->fault.code), job->fault.text, times);
    }
    if (fj->end == END_RETURNED)
        log_about(job_subject(job), LOG_LEVEL_INFO,
                  "%s; it waits until it has not changed for a while",
                  job->fault.code ? job->fault.text : "changed while it was read");
    if ((done || failed) && folder->hooks) /* all is in its place for the user's program */
        hooks_tell(folder->hooks, job->label, done ? fj->results : NULL,
                   done ? NULL : fault_name(job->fault.code), done ? NULL : job->fault.text);
    queue_remove(queue, job);
    folder_job_free(fj);
}

static void stopped(struct folder *folder, enum folder_state state)
{
    folder->state = state;
    uv_timer_stop(&folder->timer);
    queue_wake(folder->queue);
}

static bool is_over(const struct folder *folder)
{
    return folder->state == FOLDER_STOPPED || folder->state == FOLDER_ABANDONED;
}

bool folder_has_stopped(const struct folder *folder)
{
    return is_over(folder) && hooks_count(folder->hooks) == 0;
}

bool folder_has_told(const struct folder *folder)
{
    return hooks_count(folder->hooks) == 0;
}

void folder_drop_hooks(struct folder *folder)
{
    hooks_drop(folder->hooks);
}

/* The start of the daemon need not wait for one that hangs. */
bool folder_has_scanned(const struct folder *folder)
{
    return folder->scanned || folder->hanging;
}

static void take_mail(uv_async_t *mail)
{
    struct folder *folder = mail->data;
    struct folder_thread *t = folder->thread;
    struct letters letters = STAILQ_HEAD_INITIALIZER(letters);
    struct probes answered = STAILQ_HEAD_INITIALIZER(answered);
    struct folder_ends before = STAILQ_HEAD_INITIALIZER(before);
    pthread_mutex_lock(&t->lock);
    STAILQ_CONCAT(&letters, &t->out);
    STAILQ_CONCAT(&before, &t->ended_before);
    STAILQ_CONCAT(&answered, &t->answered);
    bool has_ended = t->ended, news = t->figures.quiet || t->figures.scanned != folder->scanned;
    folder->scanned = t->figures.scanned;
    unsigned n_backs = t->figures.n_backs;
    pthread_mutex_unlock(&t->lock);
    struct letter *letter;
    while ((letter = STAILQ_FIRST(&letters)) != NULL) {
        STAILQ_REMOVE_HEAD(&letters, next);
        take_letter(letter);
    }
    /* Hooks are told of files that earlier runs had decided on; their reasons are as
     * NAME.error.json has them. */
    struct folder_ended *ended;
    while ((ended = STAILQ_FIRST(&before)) != NULL) {
        STAILQ_REMOVE_HEAD(&before, next);
        json_t *reason = ended->reason ? json_loads(ended->reason, 0, NULL) : NULL;
        const char *code = json_string_value(json_object_get(reason, "code"));
        const char *message = json_string_value(json_object_get(reason, "message"));
        if (ended->name)
            hooks_tell(folder->hooks, ended->name, ended->done ? ended->results : NULL,
                       ended->done ? NULL
                       : code      ? code
                                   : "interrupted",
                       message ? message : "");
        json_decref(reason);
        folder_ended_free(ended);
    }
    struct probe *probe;
    while ((probe = STAILQ_FIRST(&answered)) != NULL) {
        STAILQ_REMOVE_HEAD(&answered, next);
        inquiry_answered(probe);
    }
    if (n_backs != folder->n_backs) /* the cause of faults may be gone */
        queue_hurry(folder->queue);
    folder->n_backs = n_backs;
    if (news)
        queue_wake(folder->queue);
    if (has_ended && !is_over(folder))
        stopped(folder, FOLDER_STOPPED);
}

/* ---- questions ---- */

void folder_ask(struct folder *folder, struct probe *probe)
{
    struct folder_thread *t = folder->thread;
    pthread_mutex_lock(&t->lock);
    if (t->ended) {
        probe->gone = true;
        STAILQ_INSERT_TAIL(&t->answered, probe, next);
        uv_async_send(&folder->mail);
    } else {
        STAILQ_INSERT_TAIL(&t->asked, probe, next);
        folder_thread_wake(t);
    }
    pthread_mutex_unlock(&t->lock);
    arm_timer(folder, true);
}

/* ---- the thread is looked at ---- */

/* From now on the thread keeps what it has, and frees it if it ever goes on, so those jobs leave
 * the queue. All that the thread has sent before must have been taken: returns false if it has not.
 */
static bool forget(struct folder *folder)
{
    struct folder_thread *t = folder->thread;
    struct job *job, *next;
    send_letters(&folder->sending);
    pthread_mutex_lock(&t->lock);
    bool empty = STAILQ_EMPTY(&t->out);
    for (job = empty ? TAILQ_FIRST(&folder->queue->all) : NULL; job; job = next) {
        next = TAILQ_NEXT(job, in_all);
        if (job->owner == folder && (job->state == JOB_OPENING || job->state == JOB_SETTLING))
            queue_remove(folder->queue, job);
    }
    t->flags |= empty ? FOLDER_FORGET : 0;
    pthread_mutex_unlock(&t->lock);
    return empty;
}

/* The folder has to stop and hangs. Its jobs leave the queue, except those that a worker has, which
 * leave when they end. The thread and its memory are forgotten. Claimed files stay on disk, and
 * whoever opens the folder when it answers again takes them over. */
static void abandon(struct folder *folder)
{
    struct job *job, *next;
    do
        take_mail(&folder->mail);
    while (folder->state == FOLDER_STOPPING && !forget(folder));
    if (folder->state != FOLDER_STOPPING)
        return;
    log_warning("%s: it hangs, and is left behind", folder->settings->input);
    folder->state = FOLDER_ABANDONED;
    for (job = TAILQ_FIRST(&folder->queue->all); job; job = next) {
        next = TAILQ_NEXT(job, in_all);
        if (job->owner == folder && job->state != JOB_SENT && job->state != JOB_BEGUN)
            lay_down((struct folder_job *)job);
    }
    stopped(folder, FOLDER_ABANDONED);
}

static void on_timer(uv_timer_t *timer)
{
    struct folder *folder = timer->data;
    uint64_t now = clock_now(), since = folder_thread_moved(folder->thread);
    uint64_t waits = since > 0 && now > since ? now - since : 0;
    bool hanging = waits > FOLDER_HANGS_AFTER, stalled = waits > STALLS_AFTER;
    if (folder->stalled != stalled || folder->hanging != hanging)
        queue_wake(folder->queue); /* jobs of this or another folder may be opened now */
    if (hanging && !folder->hanging)
        log_warning("%s or %s: no answer for %s: the folder hangs; nothing else waits for it",
                    folder->settings->input, folder->settings->output,
                    number_duration(waits / SECOND * SECOND));
    if (folder->hanging && !hanging) {
        log_info("%s, %s: there is an answer again", folder->settings->input,
                 folder->settings->output);
        folder->back = now;
    }
    folder->stalled = stalled;
    folder->hanging = hanging;
    arm_timer(folder, waits > 0);
    if (folder->state == FOLDER_STOPPING && waits > ABANDON_AFTER)
        abandon(folder);
}

static void arm_timer(struct folder *folder, bool busy)
{
    uint64_t pause = busy || folder->state == FOLDER_STOPPING ? FEEL_EVERY : LOOK_EVERY;
    if (folder->state != FOLDER_RUNNING && folder->state != FOLDER_STOPPING)
        return;
    uint64_t now = clock_now();
    if (uv_is_active((uv_handle_t *)&folder->timer) && folder->due <= now + pause)
        return;
    folder->due = (now / pause + 1) * pause; /* all folders in one turn of the loop */
    uv_timer_start(&folder->timer, on_timer, (folder->due - now) / MILLISECOND + 1, 0);
}

/* ---- life ---- */

static void on_closed(uv_handle_t *handle)
{
    struct folder *folder = handle->data;
    folder->n_handles--;
    free_if_unused(folder);
}

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
                         .ahead = UINT_MAX};
    STAILQ_INIT(&f->letters);
    f->mail.data = f->timer.data = f->sending.data = f;
    int error = uv_async_init(world->loop, &f->mail, take_mail);
    if (error < 0) {
        free(f);
        return fault_set(fault, FAULT_INTERNAL, "libuv: %s", uv_strerror(error));
    }
    uv_timer_init(world->loop, &f->timer);
    uv_prepare_init(world->loop, &f->sending);
    uv_unref(
        (uv_handle_t *)&f->mail); /* a thread that hangs does not keep the daemon from ending */
    f->n_handles = 3;
    f->book = rulebook_use(book);
    int result = settings->on_done || settings->on_failed
                     ? hooks_create(&f->hooks, world->loop, settings, world->queue, fault)
                     : 0;
    if (result == 0)
        result = folder_thread_create(&f->thread, f, fault);
    *folder = f;
    if (result != 0)
        folder_destroy(folder);
    return result;
}

static void set_flag(struct folder *folder, unsigned flag)
{
    struct folder_thread *t = folder->thread;
    pthread_mutex_lock(&t->lock);
    t->flags |= flag;
    t->n_changes++;
    folder_thread_wake(t);
    pthread_mutex_unlock(&t->lock);
}

void folder_start(struct folder *folder, const char *extensions)
{
    snprintf(folder->thread->extensions, sizeof folder->thread->extensions, "%s", extensions);
    folder->state = FOLDER_RUNNING;
    folder_pump(folder);
    set_flag(folder, FOLDER_BEGIN);
    arm_timer(folder, true);
}

void folder_set_share(struct folder *folder, unsigned share, unsigned ahead)
{
    folder->share = share;
    folder->ahead = ahead * 2 / (1 + (unsigned)watch_count_results(folder->settings));
    folder->told_room = UINT_MAX;
    folder_pump(folder);
}

void folder_succeed(struct folder *folder, const struct folder *before)
{
    folder->past = before->past;
}

const struct watch_settings *folder_settings(const struct folder *folder)
{
    return folder->settings;
}

/* As many jobs as the folder has, and as many more as the queue and its share have room for. Those
 * that wait to be tried again hold no place. */
void folder_pump(struct folder *folder)
{
    struct folder_thread *t = folder->thread;
    unsigned retried = folder->queue->n_retried > 0 ? queue_retried(folder->queue, folder) : 0;
    unsigned own = folder->n_jobs - retried;
    unsigned room = queue_room(folder->queue, false), most = own + room;
    most = retried + (most < folder->share ? most : folder->share);
    if (folder->hooks && hooks_count(folder->hooks) >= HOOKS_MOST)
        most = folder->n_jobs;
    if (most == folder->told_room)
        return;
    folder->told_room = most;
    pthread_mutex_lock(&t->lock);
    t->room = most;
    t->ahead = folder->ahead;
    t->n_changes++;
    if (t->wants_room)
        folder_thread_wake(t);
    pthread_mutex_unlock(&t->lock);
}

void folder_stop(struct folder *folder)
{
    if (folder->state >= FOLDER_STOPPING)
        return;
    folder->state = FOLDER_STOPPING;
    queue_withdraw(folder->queue, folder);
    set_flag(folder, FOLDER_STOP);
    arm_timer(folder, true);
}

void folder_destroy(struct folder **folder)
{
    struct folder *f = *folder;
    *folder = NULL;
    if (!f)
        return;
    if (f->thread) {
        set_flag(f, FOLDER_FORGET);
        pthread_mutex_lock(&f->thread->lock);
        f->thread->async = NULL;
        pthread_mutex_unlock(&f->thread->lock);
    }
    f->destroyed = true;
    hooks_destroy(&f->hooks);
    uv_close((uv_handle_t *)&f->mail, on_closed);
    uv_close((uv_handle_t *)&f->timer, on_closed);
    uv_close((uv_handle_t *)&f->sending, on_closed);
}
