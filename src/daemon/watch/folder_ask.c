/* What people are told of a watched folder: its state, how many files it has, and what becomes of
 * those that have not ended. */
#include "daemon/watch/folder_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "daemon/spool/fate.h"
#include "daemon/spool/ledger.h"

struct spool *folder_use_spool(const struct folder *folder)
{
    return folder->spool ? spool_use(folder->spool) : NULL;
}

bool folder_hangs(const struct folder *folder)
{
    return folder->hanging;
}

void folder_run(struct folder *folder, struct errand *errand, void (*run)(struct errand *),
                void (*after)(struct errand *))
{
    errands_add_patient(folder->errands, errand, run, after);
    folder_arm_timer(folder);
}

struct rulebook *folder_use_book(const struct folder *folder)
{
    return rulebook_use(folder->book);
}

static const char *const job_words[JOB_STATES] = {
    [JOB_QUEUED] = "queued",    [JOB_OPENING] = "queued", [JOB_OPEN] = "queued",
    [JOB_SENT] = "running",     [JOB_BEGUN] = "running",  [JOB_SETTLING] = "running",
    [JOB_WAITING] = "retrying",
};

/* ---- the folder ---- */

/* The folder's worst trouble: its code and its text; NULL: there is none. */
static const char *trouble_of(const struct folder *folder, const char **text)
{
    const struct folder_trouble *trouble = folder->lost.since       ? &folder->lost
                                           : folder->no_space.since ? &folder->no_space
                                           : folder->unread.since   ? &folder->unread
                                                                    : NULL;
    *text = folder->hanging ? "its folder does not answer; it is taken up again when it does"
            : trouble       ? trouble->text
                            : "";
    return folder->hanging                ? "folder-hanging"
           : !trouble                     ? NULL
           : trouble == &folder->no_space ? "no-space"
           : trouble == &folder->unread   ? "folder-unreadable"
           : folder->unusable             ? "folder-unusable"
                                          : "folder-gone";
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
static void judge(const struct folder *folder, const struct job *stuck,
                  struct folder_census *census)
{
    const char *text;
    if (hangs_by_ledger(folder, clock_now(), census))
        return;
    census->reason = trouble_of(folder, &text);
    if (census->reason) {
        bool gone = folder->lost.since && !folder->unusable;
        census->state = folder->hanging ? "hanging" : gone ? "lost" : "degraded";
        census->since = folder->lost.since       ? folder->lost.since
                        : folder->no_space.since ? folder->no_space.since
                                                 : folder->unread.since;
        census->next_try = folder->no_space.since ? folder->next_check : folder->next_scan;
        snprintf(census->message, sizeof census->message, "%s", text);
        if (folder->hanging) {
            uint64_t now = clock_now(), since = errands_since(folder->errands);
            census->next_try = 0;
            census->since = since ? since : now;
            snprintf(census->message, sizeof census->message, "%s or %s: no answer for %s",
                     folder->settings->input, folder->settings->output,
                     number_duration((now - census->since) / SECOND * SECOND));
        }
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
    const struct candidates *c = &folder->candidates;
    const struct job *job, *stuck = NULL; /* of those that wait for a directory the next one */
    *census = (struct folder_census){.waiting = c->count - c->counts[CANDIDATE_TAKEN],
                                     .done = folder->n_done,
                                     .failed = folder->n_failed,
                                     .ended_done = folder->past.n_done,
                                     .ended_failed = folder->past.n_failed,
                                     .rate = folder->past.rate,
                                     .empty = c->counts[CANDIDATE_EMPTY],
                                     .mode = !folder->spool  ? "gone"
                                             : folder->watch ? "inotify"
                                                             : "poll",
                                     .overflows = folder->n_overflows,
                                     .state = "ok",
                                     .since = folder->well_since};
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
    judge(folder, stuck, census);
}

void folder_log_state(const struct folder *folder)
{
    static const char *const states[] = {"not started", "watching", "gone",
                                         "stopping",    "stopped",  "left behind"};
    const struct candidates *c = &folder->candidates;
    size_t ready = c->counts[CANDIDATE_READY], taken = c->counts[CANDIDATE_TAKEN];
    log_info("%s: %s (%s), %u files taken, %zu complete ones wait for %s, %zu not complete yet, "
             "%u overflows",
             folder->settings->input, states[folder->state], folder->watch ? "inotify" : "poll",
             folder->n_jobs, ready, folder->no_space.since ? "space" : "room",
             c->count - ready - taken, folder->n_overflows);
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
    fate->result[0] = '\0';
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

static void explain_candidate(const struct folder *folder, const struct candidate *c,
                              struct fate *fate)
{
    uint64_t now = clock_now();
    const struct candidate_facts *facts = &c->facts;
    const char *stable = number_duration(folder->settings->stable);
    bool due_known = c->state == CANDIDATE_WAITING || c->state == CANDIDATE_SETTLING;
    if (facts->has_seen)
        fate->age = seconds_between(facts->since, now);
    if (due_known)
        fate->next = seconds_between(now, c->due);
    if (c->state == CANDIDATE_READY && folder->no_space.since)
        fate_set(fate, "waiting", "no-space", "it is complete; %s", folder->no_space.text);
    else if (c->state == CANDIDATE_READY)
        fate_set(fate, "waiting", "no-room", "it is complete, and waits for room in the queue");
    else if (facts->truncated)
        fate_set(fate, "waiting", "truncated",
                 "it ended too early: it is tried once more when it has not changed for %s",
                 stable);
    else if (c->state == CANDIDATE_SETTLING)
        fate_set(fate, "waiting", "not-settled",
                 "it is closed: it is taken when nobody has opened or changed it for %s",
                 number_duration(folder->settings->settle));
    else if (c->state == CANDIDATE_WAITING && strcmp(fate->reason, "not-seen") == 0)
        fate_set(fate, "waiting", "not-stable",
                 "nobody has said that it is complete: it is taken when it has not changed for "
                 "%s",
                 stable);
    else if (c->state == CANDIDATE_LOOKING || c->state == CANDIDATE_HINTED)
        fate_set(fate, "waiting", "looked-at", "it is looked at now");
}

static void explain_trouble(const struct folder *folder, struct fate *fate)
{
    const char *text, *reason = trouble_of(folder, &text), *end = "";
    if (folder->lost.since && !folder->hanging)
        end = folder->unusable ? "; it is taken up when that is mended"
                               : "; it is taken up again when it returns";
    if (reason)
        fate_set(fate, "waiting", reason, "%s%s", text, end);
}

bool folder_explain(const struct folder *folder, struct fate *fate)
{
    const struct job *job = TAILQ_FIRST(&folder->queue->all);
    while (job && (job->owner != folder || strcmp(job->label, fate->name) != 0))
        job = TAILQ_NEXT(job, in_all);
    if (job) {
        explain_job(folder, job, fate);
        if (folder->hanging && job->state != JOB_SENT && job->state != JOB_BEGUN)
            explain_trouble(folder, fate);
        return true;
    }
    if (fate->reason && strcmp(fate->reason, "folder-gone") == 0)
        explain_trouble(folder, fate);
    const struct candidate *c = candidates_find(&folder->candidates, fate->name);
    bool waiting = strcmp(fate->state, "waiting") == 0;
    if (waiting && folder->hanging)
        explain_trouble(folder, fate);
    else if (waiting && c && c->state != CANDIDATE_TAKEN && strcmp(fate->reason, "empty") != 0)
        explain_candidate(folder, c, fate);
    else if (waiting && !c && strcmp(fate->reason, "not-seen") == 0)
        explain_trouble(folder, fate);
    return false;
}

void folder_take_back(struct folder *folder, const char *name, bool counted, bool failed)
{
    size_t *count = failed ? &folder->n_failed : &folder->n_done;
    *count -= counted && *count > 0;
    if (!folder_is_live(folder))
        return;
    candidates_hear(&folder->candidates, name, NEWS_RENAMED, clock_now());
    folder_pump(folder);
}

/* ---- lists ---- */

struct folder_file *folder_files_offer(struct folder_files *l, const char *name)
{
    if (strcmp(name, l->after) <= 0 ||
        (l->count == l->limit && strcmp(name, l->files[l->count - 1].name) >= 0))
        return NULL;
    size_t low = 0, high = l->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(l->files[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    l->count += l->count < l->limit;
    memmove(&l->files[low + 1], &l->files[low], (l->count - low - 1) * sizeof *l->files);
    return &l->files[low];
}

static void offer(struct folder_files *files, const char *wanted, struct folder_file file)
{
    if (wanted && strcmp(wanted, file.state) != 0)
        return;
    struct folder_file *place = folder_files_offer(files, file.name);
    if (place)
        *place = file;
}

void folder_list(const struct folder *folder, const char *state, struct folder_files *files)
{
    const struct candidate *c;
    const struct job *job;
    TAILQ_FOREACH (job, &folder->queue->all, in_all)
        if (job->owner == folder)
            offer(files, state,
                  (struct folder_file){job->label, job_words[job->state], job->attempts});
    for (int i = 0; i < CANDIDATE_STATES; i++)
        TAILQ_FOREACH (c, &folder->candidates.lists[i], in_state)
            if (i != CANDIDATE_TAKEN)
                offer(files, state, (struct folder_file){c->name, "waiting", 0});
}
