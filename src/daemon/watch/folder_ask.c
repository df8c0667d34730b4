/* What people are told of a watched folder: its state, how many files it has, and what becomes of
 * those that have not ended. */
#include "daemon/watch/folder_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "daemon/spool/fate.h"
#include "daemon/spool/ledger.h"

bool folder_hangs(const struct folder *folder)
{
    return folder->hanging;
}

void folder_leads(const struct folder *folder, char **input, char **output)
{
    struct folder_thread *t = folder->thread;
    pthread_mutex_lock(&t->lock);
    *input = t->figures.leads_in ? strdup(t->figures.leads_in) : NULL;
    *output = t->figures.leads_out ? strdup(t->figures.leads_out) : NULL;
    pthread_mutex_unlock(&t->lock);
}

static const char *const job_words[JOB_STATES] = {
    [JOB_QUEUED] = "queued",    [JOB_OPENING] = "queued", [JOB_OPEN] = "queued",
    [JOB_SENT] = "running",     [JOB_BEGUN] = "running",  [JOB_SETTLING] = "running",
    [JOB_WAITING] = "retrying",
};

/* ---- the folder ---- */

/* The directories' worst trouble: its code and its text; NULL: there is none. */
static const char *trouble_of(const struct folder_figures *figures, const char **text)
{
    const struct folder_trouble *trouble = figures->lost.since       ? &figures->lost
                                           : figures->no_space.since ? &figures->no_space
                                           : figures->unread.since   ? &figures->unread
                                                                     : NULL;
    *text = trouble ? trouble->text : "";
    return !trouble                        ? NULL
           : trouble == &figures->no_space ? "no-space"
           : trouble == &figures->unread   ? "folder-unreadable"
           : figures->unusable             ? "folder-unusable"
                                           : "folder-gone";
}

/* The thread's figures; their pointers stay the thread's. */
static void get_figures(const struct folder *folder, struct folder_figures *figures)
{
    pthread_mutex_lock(&folder->thread->lock);
    *figures = folder->thread->figures;
    pthread_mutex_unlock(&folder->thread->lock);
}

/* True when the folder depends on the ledger, which does not answer, so that no file can end. */
static bool hangs_by_ledger(const struct folder *folder, uint64_t now, struct folder_census *census)
{
    uint64_t since = ledger_since(folder->world->spools.ledger);
    if (folder->settings->originals != ORIGINALS_KEEP || since == 0 ||
        now - since <= FOLDER_HANGS_AFTER)
        return false;
    census->state = "hanging";
    census->reason = "folder-hanging";
    census->since = since;
    snprintf(census->message, sizeof census->message, "%s: no answer for %s",
             folder->world->spools.state_path, number_duration((now - since) / SECOND * SECOND));
    return true;
}

/* Chooses the worst of the folder's troubles for the status. */
static void judge(const struct folder *folder, const struct folder_figures *figures,
                  const struct job *stuck, struct folder_census *census)
{
    uint64_t now = clock_now();
    const char *text;
    if (hangs_by_ledger(folder, now, census))
        return;
    census->reason = trouble_of(figures, &text);
    if (folder->hanging) {
        uint64_t since = folder_thread_moved(folder->thread);
        census->state = "hanging";
        census->reason = "folder-hanging";
        census->since = since ? since : now;
        snprintf(census->message, sizeof census->message, "%s or %s: no answer for %s",
                 folder->settings->input, folder->settings->output,
                 number_duration((now - census->since) / SECOND * SECOND));
    } else if (census->reason) {
        bool gone = figures->lost.since && !figures->unusable;
        census->state = gone ? "lost" : "degraded";
        census->since = figures->lost.since       ? figures->lost.since
                        : figures->no_space.since ? figures->no_space.since
                                                  : figures->unread.since;
        census->next_try = figures->no_space.since ? figures->next_check : figures->next_try;
        snprintf(census->message, sizeof census->message, "%s", text);
    } else if (stuck) {
        census->state = "degraded";
        census->reason = fault_name(stuck->trouble.code);
        census->since = stuck->since;
        census->next_try = stuck->not_before;
        snprintf(census->message, sizeof census->message, "%s", stuck->trouble.text);
    }
}

void folder_count(const struct folder *folder, struct folder_census *census)
{
    struct folder_figures figures;
    const struct job *job, *stuck = NULL; /* of those that wait for a directory the next one */
    get_figures(folder, &figures);
    *census = (struct folder_census){
        .done = figures.n_done,
        .failed = figures.n_failed,
        .ended_done = folder->past.n_done,
        .ended_failed = folder->past.n_failed,
        .rate = folder->past.rate,
        .empty = figures.names[CANDIDATE_EMPTY],
        .mode = figures.mode,
        .overflows = figures.n_overflows,
        .state = "ok",
        .since = folder->back > figures.well_since ? folder->back : figures.well_since};
    for (int i = 0; i < CANDIDATE_STATES; i++)
        census->waiting += i != CANDIDATE_TAKEN ? figures.names[i] : 0;
    TAILQ_FOREACH (job, &folder->queue->all, in_all) {
        enum fault_code code = job->trouble.code;
        if (job->owner != folder)
            continue;
        ++*(job->state < JOB_SENT      ? &census->queued
            : job->state < JOB_WAITING ? &census->running
                                       : &census->retrying);
        /* a fault of a directory, as opposed to those of the device or the worker */
        if (job->state == JOB_WAITING &&
            (code == FAULT_CREATE || code == FAULT_IO || code == FAULT_NO_SPACE ||
             code == FAULT_PERMISSION) &&
            (!stuck || job->not_before < stuck->not_before))
            stuck = job;
    }
    if (folder->past.failure.name[0])
        census->failure = &folder->past.failure;
    judge(folder, &figures, stuck, census);
}

void folder_log_state(const struct folder *folder)
{
    static const char *const states[] = {"not started", "watching", "stopping", "stopped",
                                         "left behind"};
    struct folder_figures figures;
    size_t other = 0;
    get_figures(folder, &figures);
    for (int i = 0; i < CANDIDATE_STATES; i++)
        other += i != CANDIDATE_TAKEN && i != CANDIDATE_READY ? figures.names[i] : 0;
    bool gone = folder->state == FOLDER_RUNNING && figures.lost.since;
    log_info("%s: %s (%s), %u files taken, %zu complete ones wait for %s, %zu not complete yet, "
             "%u overflows",
             folder->settings->input, gone ? "gone" : states[folder->state],
             strcmp(figures.mode, "inotify") == 0 ? "inotify" : "poll", folder->n_jobs,
             figures.names[CANDIDATE_READY], figures.no_space.since ? "space" : "room", other,
             figures.n_overflows);
}

bool folder_is_quiet(const struct folder *folder)
{
    struct folder_thread *t = folder->thread;
    pthread_mutex_lock(&t->lock);
    bool quiet = t->figures.quiet && STAILQ_EMPTY(&t->out);
    pthread_mutex_unlock(&t->lock);
    return quiet;
}

/* ---- a file ---- */

static double seconds_between(uint64_t from, uint64_t to)
{
    return to > from ? (double)(to - from) * 1e-9 : 0;
}

static void explain_job(const struct folder *folder, const struct job *job, struct fate *fate)
{
    uint64_t now = clock_now();
    const struct queue *queue = folder->queue;
    fate->attempts = job->attempts;
    fate->age = seconds_between(job->since, now);
    fate->time = 0;
    fate->where = FATE_NOWHERE;
    fate_finish(fate); /* forgets what was found of an earlier file of this name */
    switch (job->state) {
    case JOB_QUEUED:
    case JOB_OPENING:
    case JOB_OPEN:
        fate_set(fate, "queued",
                 job->lane == JOB_SUSPECT ? "suspect"
                 : job->lane == JOB_LAST  ? "last"
                                          : NULL,
                 "it waits for its turn%s; %u jobs wait, %u run",
                 job->lane == JOB_SUSPECT
                     ? " for the worker in quarantine, since another one died while it had it"
                 : job->lane == JOB_LAST
                     ? " to run last and alone, since we went down with it before"
                     : "",
                 queue->counts[JOB_QUEUED] + queue->counts[JOB_OPENING] + queue->counts[JOB_OPEN],
                 queue->counts[JOB_SENT] + queue->counts[JOB_BEGUN]);
        break;
    case JOB_SENT:
    case JOB_BEGUN:
        fate_set(fate, "running", job->lane == JOB_SUSPECT ? "suspect" : NULL,
                 "it is worked at%s: attempt %u, for %s",
                 job->lane == JOB_SUSPECT ? ", in quarantine" : "", job->attempts,
                 number_duration(now > job->since ? now - job->since : 0));
        break;
    case JOB_SETTLING:
        fate_set(fate, "running", "settling", "its result, or the reason, is put in its place");
        break;
    default:
        fate->next = seconds_between(now, job->not_before);
        fate_set(fate, "retrying", fault_name(job->trouble.code), "%s; tried again in %s",
                 job->trouble.text,
                 number_duration(job->not_before > now ? job->not_before - now : 0));
        break;
    }
}

/* ---- what is known of names, on the folder's thread ---- */

static void explain_candidate(const struct folder_thread *t, const struct candidate *c,
                              struct fate *fate)
{
    uint64_t now = clock_now();
    const struct candidate_facts *facts = &c->facts;
    const char *stable = number_duration(t->settings->stable);
    bool due_known = c->state == CANDIDATE_WAITING || c->state == CANDIDATE_SETTLING;
    if (facts->has_seen)
        fate->age = seconds_between(facts->since, now);
    if (due_known)
        fate->next = seconds_between(now, c->due);
    if (c->state == CANDIDATE_READY && t->now.no_space.since)
        fate_set(fate, "waiting", "no-space", "it is complete; %s", t->now.no_space.text);
    else if (c->state == CANDIDATE_READY)
        fate_set(fate, "waiting", "no-room", "it is complete, and waits for room in the queue");
    else if (facts->truncated)
        fate_set(fate, "waiting", "truncated",
                 "it ended too early: it is tried once more when it has not changed for %s",
                 stable);
    else if (c->state == CANDIDATE_SETTLING)
        fate_set(fate, "waiting", "not-settled",
                 "it is closed: it is taken when nobody has opened or changed it for %s",
                 number_duration(t->settings->settle));
    else if (c->state == CANDIDATE_WAITING && strcmp(fate->reason, "not-seen") == 0)
        fate_set(fate, "waiting", "not-stable",
                 "nobody has said that it is complete: it is taken when it has not changed for "
                 "%s",
                 stable);
    else if (c->state == CANDIDATE_LOOKING || c->state == CANDIDATE_HINTED)
        fate_set(fate, "waiting", "looked-at", "it is looked at now");
}

static void explain_trouble(const struct folder_figures *figures, struct fate *fate)
{
    const char *text, *reason = trouble_of(figures, &text), *end = "";
    if (figures->lost.since)
        end = figures->unusable ? "; it is taken up when that is mended"
                                : "; it is taken up again when it returns";
    if (reason)
        fate_set(fate, "waiting", reason, "%s%s", text, end);
}

static void explain_name(const struct folder_thread *t, struct fate *fate)
{
    const struct candidate *c = candidates_find(&t->candidates, fate->name);
    if (strcmp(fate->state, "waiting") != 0)
        return;
    if (c && c->state != CANDIDATE_TAKEN && strcmp(fate->reason, "empty") != 0)
        explain_candidate(t, c, fate);
    else if (!c && strcmp(fate->reason, "not-seen") == 0)
        explain_trouble(&t->now, fate);
}

static void list_names(const struct candidates *candidates, struct spool_files *files)
{
    const struct candidate *c;
    for (int i = 0; i < CANDIDATE_STATES; i++)
        TAILQ_FOREACH (c, &candidates->lists[i], in_state)
            if (i != CANDIDATE_TAKEN)
                spool_files_offer(files, (struct spool_file){c->name, "waiting", 0});
}

/* ---- questions, on the folder's thread ---- */

/* On a thread of its own. */
static void *read_for(void *context)
{
    struct probe *probe = (struct probe *)((char *)context - offsetof(struct probe, reader));
    struct folder_thread *t = probe->reader.thread;
    inquiry_read(probe, probe->reader.spool);
    pthread_mutex_lock(&t->lock);
    LIST_REMOVE(&probe->reader, next);
    STAILQ_INSERT_TAIL(&t->read, probe, next);
    folder_thread_wake(t);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void answer(struct folder_thread *t, struct probe *probe)
{
    pthread_mutex_lock(&t->lock);
    STAILQ_INSERT_TAIL(&t->answered, probe, next);
    if (t->async)
        uv_async_send(t->async);
    pthread_mutex_unlock(&t->lock);
}

/* A file was put back into the folder: it is looked at now. */
static void take_back(struct folder_thread *t, const char *name, bool counted, bool failed)
{
    size_t *count = failed ? &t->now.n_failed : &t->now.n_done;
    *count -= counted && *count > 0;
    if (folder_thread_is_live(t))
        candidates_hear(&t->candidates, name, NEWS_RENAMED, clock_now());
}

/* What a thread has read is completed by what is known of names, and what it has put back is
 * looked at. */
void folder_take_read(struct folder_thread *t, struct probes *read)
{
    struct probe *probe;
    while ((probe = STAILQ_FIRST(read)) != NULL) {
        STAILQ_REMOVE_HEAD(read, next);
        t->n_reading--;
        folder_leave_spool(t, probe->reader.spool);
        if (probe->kind == INQUIRY_WHY && t->spool)
            explain_name(t, &probe->fate);
        bool failed = strcmp(probe->fate.state ? probe->fate.state : "", "failed") == 0;
        if (probe->put_back)
            take_back(t, probe->name, failed || probe->fate.where != FATE_KEPT, failed);
        for (size_t i = 0; i < probe->requeued.n_names; i++)
            take_back(t, probe->requeued.names[i], true, true);
        answer(t, probe);
    }
}

/* A list has jobs, which the loop has put there; names come to them. */
static void tell_names(const struct folder_thread *t, struct probe *probe)
{
    const char *state = probe->page.state;
    if (probe->kind == INQUIRY_LIST && probe->live.limit > 0 &&
        (!state || strcmp(state, "waiting") == 0))
        list_names(&t->candidates, &probe->live);
}

/* Begins to read for questions, as many at a time as may be slow. */
void folder_begin_reading(struct folder_thread *t)
{
    struct probe *probe;
    while ((probe = STAILQ_FIRST(&t->waiting)) != NULL && t->n_reading < FOLDER_READERS) {
        STAILQ_REMOVE_HEAD(&t->waiting, next);
        probe->gone = !t->spool;
        if (!probe->gone)
            tell_names(t, probe);
        if (probe->gone) {
            answer(t, probe);
            continue;
        }
        t->n_reading++;
        folder_reader_begin(t, &probe->reader, read_for, false);
    }
}

/* ---- on the loop ---- */

void folder_explain_gone(const struct folder *folder, struct fate *fate)
{
    struct folder_figures figures;
    get_figures(folder, &figures);
    if (folder->hanging)
        fate_set(fate, "waiting", "folder-hanging",
                 "its folder does not answer; it is taken up again when it does");
    else
        explain_trouble(&figures, fate);
}

bool folder_explain(const struct folder *folder, struct fate *fate)
{
    const struct job *job = TAILQ_FIRST(&folder->queue->all);
    while (job && (job->owner != folder || strcmp(job->label, fate->name) != 0))
        job = TAILQ_NEXT(job, in_all);
    if (!job)
        return false;
    explain_job(folder, job, fate);
    if (folder->hanging && job->state != JOB_SENT && job->state != JOB_BEGUN)
        folder_explain_gone(folder, fate);
    return true;
}

/* ---- lists ---- */

void folder_list_jobs(const struct folder *folder, const char *state, struct spool_files *files)
{
    const struct job *job;
    TAILQ_FOREACH (job, &folder->queue->all, in_all)
        if (job->owner == folder && (!state || strcmp(state, job_words[job->state]) == 0))
            spool_files_offer(files, (struct spool_file){(char *)(uintptr_t)job->label,
                                                           job_words[job->state], job->attempts});
}
