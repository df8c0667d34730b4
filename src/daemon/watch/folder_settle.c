/* How jobs end on disk. How a job ends (enum folder_end) was chosen before, by end_for() in
 * folder_job.c. Here an errand, do_settle(), takes the steps, in the order of the table in
 * docs/spool.md; settled() then looks at the outcome. Jobs that end while an errand runs wait and
 * are settled together, so that one sync serves them all: of results and notes, of decisions, of
 * names in OUT.
 *
 * A step that fails, for instance because the disk is full, leaves its fault in end_fault. No later
 * step then runs for that job, its file stays claimed, and settled() has it tried again: from the
 * start or, once the verdict is written, from the step that failed (recovery_resume). */
#include "daemon/watch/folder_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/log.h"
#include "daemon/spool/fate.h"
#include "daemon/spool/recovery.h"

struct settling {
    struct errand errand;
    struct folder *folder;
    struct folder_jobs jobs;
};

/* ---- the errand, on a thread ---- */

/* Gives the drafts the names of the planes that the worker reported. They must be those for which
 * it asked. */
static int name_drafts(struct folder_job *fj)
{
    bool same = fj->n_planes == fj->n_drafts;
    for (size_t i = 1; same && i < fj->n_drafts; i++)
        same = strcmp(fj->planes[i], fj->drafts[i].plane) == 0;
    if (!same)
        return fault_set(&fj->end_fault, FAULT_INTERNAL,
                         "the worker wrote %zu results and speaks of %zu", fj->n_drafts,
                         fj->n_planes);
    memcpy(fj->drafts[0].plane, fj->planes[0], sizeof fj->drafts->plane);
    return 0;
}

/* Decides that the file failed. `write` writes that down: claim_prepare_note, or claim_write_note
 * where nothing else is written that could be synced with it. */
static void fail(struct folder_job *fj, int (*write)(struct claim *claim, struct fault *fault))
{
    struct claim *claim = fj->claim;
    const struct job *job = &fj->job;
    char *text = fate_print_reason(claim->name, &job->fault, fj->step, job->attempts, job->chain,
                                   job->format);
    if (!text)
        fault_set(&fj->end_fault, FAULT_MEMORY, "no memory for a reason");
    else if (claim_note_failure(claim, text, &fj->end_fault) == 0 &&
             write(claim, &fj->end_fault) != 0)
        claim->note.verdict = NOTE_OPEN;
    free(text);
}

static bool is_well(const struct folder_job *fj, enum folder_end end)
{
    return fj->end == end && fj->end_fault.code == FAULT_NONE;
}

/* A result whose name is taken fails the file where the folder's rule says so, and so does one
 * whose name OUT can never have, or that the worker did not let go of. */
static void fail_for_good(struct folder_job *fj,
                          int (*write)(struct claim *claim, struct fault *fault))
{
    enum fault_code code = fj->end_fault.code;
    if (fj->end != END_DONE ||
        (code != FAULT_EXISTS && code != FAULT_CREATE && code != FAULT_CRASHED))
        return;
    fj->job.fault = fj->end_fault;
    fault_clear(&fj->end_fault);
    snprintf(fj->step, sizeof fj->step, "%s", code == FAULT_CRASHED ? "worker" : "write");
    fj->end = END_FAILED;
    fail(fj, write);
}

static void place(struct folder_job *fj)
{
    struct claim *claim = fj->claim;
    int placed = is_well(fj, END_DONE) ? drafts_place(claim, claim->spool->out_fd, &fj->end_fault)
                                       : FAULT_NONE;
    if (placed == FAULT_EXISTS || placed == FAULT_CREATE)
        drafts_withdraw(claim, claim->spool->out_fd);
    fail_for_good(fj, claim_write_note);
}

/* Everything up to the decision: what it depends on is written, and its note beside the one that
 * counts. */
static void prepare(struct folder_job *fj)
{
    struct claim *claim = fj->claim;
    struct note *note = &claim->note;
    /* somebody wrote to the file while it was read, so its results mean nothing */
    if ((fj->end == END_DONE || fj->end == END_FAILED) && fj->job.in_fd >= 0 &&
        !claim_is_unchanged(claim, fj->job.in_fd))
        fj->end = END_CHANGED;
    file_close(&fj->job.in_fd);
    note->attempts = fj->job.attempts;
    if (fj->end == END_DONE && name_drafts(fj) == 0)
        drafts_prepare(fj->drafts, fj->n_drafts, claim, fj->folder->extension, &fj->end_fault);
    if (!is_well(fj, END_DONE))
        folder_discard_drafts(fj);
    if (fj->end == END_FAILED)
        fail(fj, claim_prepare_note);
    if (fj->end == END_RETURNED)
        claim_give_back(claim, &fj->end_fault);
    if (fj->end == END_GIVEN_BACK) {
        claim_clear_begun(claim); /* an orderly end of the daemon is no interruption */
        /* a file whose note has to be kept stays claimed, and the next start finds it */
        if (note->verdict == NOTE_OPEN && note->crashes == 0 && note->interruptions == 0)
            claim_give_back(claim, NULL);
    }
    fail_for_good(fj, claim_prepare_note);
}

static bool is_decided(const struct folder_job *fj)
{
    return is_well(fj, END_DONE) || is_well(fj, END_FAILED);
}

/* Nothing was decided, so the results go. */
static void do_again(struct folder_job *fj, int error, const char *path)
{
    errno = error;
    fault_set_errno(&fj->end_fault, FAULT_IO, path);
    folder_discard_drafts(fj);
    fj->claim->note.verdict = NOTE_OPEN;
}

/* Syncs results and notes, once for all jobs. Those whose sync failed are done again. */
static void sync_prepared(struct settling *settling)
{
    struct folder_job *fj;
    size_t most = 0, count = 0;
    STAILQ_FOREACH (fj, &settling->jobs, next_to_settle)
        most += fj->n_drafts + 1;
    struct disk_sync *items = calloc(most, sizeof *items);
    STAILQ_FOREACH (fj, &settling->jobs, next_to_settle) {
        if (!is_decided(fj) || fj->claim->spool->rules->sync == SYNC_OFF)
            continue;
        for (size_t i = 0; items && i < fj->n_drafts; i++)
            items[count++].fd = fj->drafts[i].fd;
        if (items)
            items[count++].fd = fj->claim->note_fd;
        else
            do_again(fj, ENOMEM, fj->claim->spool->out_path);
    }
    disk_sync_all(items, count);
    count = 0;
    STAILQ_FOREACH (fj, &settling->jobs, next_to_settle) {
        const struct spool *spool = fj->claim->spool;
        if (!is_decided(fj) || spool->rules->sync == SYNC_OFF)
            continue;
        int of_results = 0;
        for (size_t i = 0; i < fj->n_drafts; i++, count++)
            of_results = of_results ? of_results : items[count].error;
        int of_note = items[count++].error;
        if (of_results || of_note)
            do_again(fj, of_results ? of_results : of_note,
                     of_results ? spool->out_path : spool->hidden_path);
    }
    free(items);
}

/* The commit point. Names and the original follow in later steps. */
static void decide(struct folder_job *fj)
{
    if (is_decided(fj) && claim_decide(fj->claim, &fj->end_fault) != 0)
        do_again(fj, errno, fj->claim->spool->hidden_path);
    if (!is_decided(fj))
        return;
    for (size_t i = 0; i < fj->n_drafts; i++)
        draft_forget(&fj->drafts[i]); /* the note knows them from here on */
    fj->n_drafts = 0;
}

/* A failed sync undoes the verdict of every job that it was to cover. */
static void not_synced(struct folder_job *fj, const struct fault *fault)
{
    if (fault->code == FAULT_NONE)
        return;
    fault_set(&fj->end_fault, fault->code, "%s", fault->text);
    drafts_void(fj->claim, fj->claim->spool->out_fd);
}

/* Syncs the claims' folders, once for all jobs that were decided. */
static void sync_decisions(struct settling *settling)
{
    struct folder_job *fj;
    size_t count = 0;
    STAILQ_FOREACH (fj, &settling->jobs, next_to_settle)
        count++;
    struct disk_sync *items = calloc(count, sizeof *items);
    count = 0;
    STAILQ_FOREACH (fj, &settling->jobs, next_to_settle)
        if (items && is_decided(fj) && fj->claim->spool->rules->sync != SYNC_OFF)
            items[count++].fd = fj->claim->folder_fd;
    disk_sync_all(items, count);
    count = 0;
    STAILQ_FOREACH (fj, &settling->jobs, next_to_settle) {
        struct fault fault = FAULT_INIT;
        if (is_decided(fj) && fj->claim->spool->rules->sync != SYNC_OFF) {
            errno = items ? items[count++].error : ENOMEM;
            if (errno != 0)
                fault_set_errno(&fault, FAULT_IO, fj->claim->spool->hidden_path);
            not_synced(fj, &fault);
        }
        claim_close_note(fj->claim);
    }
    free(items);
}

/* Syncs OUT once for all results that got their names there. Another spool's OUT, and folders below
 * OUT, need a sync of their own. */
static void sync_names(struct settling *settling)
{
    const struct spool *synced = NULL;
    struct folder_job *fj;
    struct fault fault = FAULT_INIT;
    STAILQ_FOREACH (fj, &settling->jobs, next_to_settle) {
        if (!is_well(fj, END_DONE))
            continue;
        if (synced != fj->claim->spool || fj->claim->spool->rules->recursive) {
            synced = fj->claim->spool;
            fault_clear(&fault);
            if (drafts_sync_names(fj->claim, synced->out_fd) != 0)
                fault_set_errno(&fault, FAULT_IO, synced->out_path);
        }
        not_synced(fj, &fault);
    }
}

/* Enters the files in the ledger before the originals move: a file that stays in its folder must be
 * known as done before it can be seen there again. */
static void enter_in_ledger(struct settling *settling)
{
    struct ledger_entry *entries = NULL;
    char(*results)[256] = NULL;
    struct folder_job *fj;
    struct fault fault = FAULT_INIT;
    size_t count = 0, most = 0;
    bool needed = false;
    STAILQ_FOREACH (fj, &settling->jobs, next_to_settle)
        most++;
    results = calloc(most, sizeof *results);
    entries = calloc(most, sizeof *entries);
    if (!results || !entries) {
        fault_set(&fault, FAULT_MEMORY, "no memory for the ledger");
        needed = true; /* every job of this errand */
    }
    STAILQ_FOREACH (fj, &settling->jobs, next_to_settle) {
        if (fault.code != FAULT_NONE || !(is_well(fj, END_DONE) || is_well(fj, END_FAILED)))
            continue;
        bool failed = fj->end == END_FAILED;
        if (recovery_fill_entry(&entries[count], fj->claim, failed ? fj->job.fault.text : NULL,
                                results[count]))
            needed |= entries[count++].remembered;
    }
    if (count > 0)
        ledger_write(settling->folder->world->spools.ledger, entries, count, needed, &fault);
    if (fault.code != FAULT_NONE)
        log_warning("%s", fault.text);
    STAILQ_FOREACH (fj, &settling->jobs, next_to_settle)
        if (fault.code != FAULT_NONE && needed &&
            (is_well(fj, END_DONE) || is_well(fj, END_FAILED)))
            fault_set(&fj->end_fault, fault.code, "%s", fault.text);
    free(results);
    free(entries);
}

static void let_go(struct folder_job *fj)
{
    if (is_well(fj, END_DONE))
        claim_done(fj->claim, &fj->end_fault);
    else if (is_well(fj, END_FAILED))
        claim_failed(fj->claim, &fj->end_fault);
}

/* Removes the reservations. Before one that lies in OUT, the end of its claim must be on the disk.
 * One that stays after a failed sync is removed with the instance. */
static void release(struct settling *settling)
{
    const struct spool *synced = NULL;
    struct folder_job *fj;
    int result = 0;
    STAILQ_FOREACH (fj, &settling->jobs, next_to_settle) {
        const struct spool *spool = fj->claim->spool;
        if (!is_well(fj, END_DONE))
            continue;
        if (synced != spool && spool->rules->sync != SYNC_OFF &&
            drafts_are_reserved_in(fj->claim, spool->out_fd)) {
            synced = spool;
            result = disk_sync_directory(spool->instance_fd);
        }
        if (synced != spool || result == 0)
            drafts_release(fj->claim, spool->out_fd);
    }
}

static void each(struct settling *settling, void (*step)(struct folder_job *fj))
{
    struct folder_job *fj;
    STAILQ_FOREACH (fj, &settling->jobs, next_to_settle) {
        step(fj);
        errand_moves(&settling->errand);
    }
}

static void do_settle(struct errand *errand)
{
    struct settling *settling = (struct settling *)errand;
    each(settling, prepare);
    sync_prepared(settling);
    each(settling, decide);
    sync_decisions(settling);
    each(settling, place);
    sync_names(settling);
    enter_in_ledger(settling);
    each(settling, let_go);
    release(settling);
}

/* ---- on the loop ---- */

static void log_done(const struct folder_job *fj, const char *times)
{
    char name[256];
    size_t more = fj->claim->note.n_results - 1;
    draft_final_name(fj->claim, 0, name);
    if (more > 0)
        log_about(job_subject(&fj->job), LOG_LEVEL_INFO, "done in %s: %s and %zu more", times, name,
                  more);
    else
        log_about(job_subject(&fj->job), LOG_LEVEL_INFO, "done in %s: %s", times, name);
}

static void finish_well(struct folder_job *fj)
{
    struct queue *queue = fj->folder->queue;
    struct folder_failure *failure = &fj->folder->past.failure;
    char times[JOB_TIMES_MAX];
    job_print_times(&fj->job, times);
    switch (fj->end) {
    case END_DONE:
        queue_count_end(queue, &fj->job, true);
        fj->folder->put_away += (uint64_t)fj->claim->identity.size;
        fj->folder->past.n_done++;
        rate_count(&fj->folder->past.rate, clock_now());
        fj->folder->n_done += fj->claim->spool->rules->originals == ORIGINALS_DONE;
        log_done(fj, times);
        break;
    case END_FAILED:
        queue_count_end(queue, &fj->job, false);
        fj->folder->past.n_failed++;
        rate_count(&fj->folder->past.rate, clock_now());
        fj->folder->n_failed++;
        snprintf(failure->name, sizeof failure->name, "%s", fj->job.label);
        failure->fault = fj->job.fault;
        failure->time = (int64_t)time(NULL);
        log_about(job_subject(&fj->job), LOG_LEVEL_WARNING, "failed: %s: %s (in %s)",
                  fault_name(fj->job.fault.code), fj->job.fault.text, times);
        break;
    case END_RETURNED:
        log_about(job_subject(&fj->job), LOG_LEVEL_INFO,
                  "%s; it waits until it has not changed for a while",
                  fj->job.fault.code ? fj->job.fault.text : "changed while it was read");
        break;
    default:
        break;
    }
    folder_drop_job(fj);
}

static void settled(struct folder_job *fj)
{
    enum folder_end end = fj->end;
    if (fj->job.fault.code == FAULT_CRASHED)
        queue_accuse(fj->folder->queue, &fj->job);
    if (end == END_CHANGED) {
        fault_clear(&fj->job.fault);
        fj->end = END_NONE;
        folder_end_job(fj, END_RETURNED);
        return;
    }
    if (end != END_RETRIED && fj->end_fault.code == FAULT_NONE) {
        finish_well(fj);
        return;
    }
    if (folder_leave_behind(fj))
        return;
    fj->end = END_NONE;
    if (end == END_RETURNED && fj->job.fault.code == FAULT_TRUNCATED) {
        fault_clear(&fj->end_fault); /* a new file has this name, so nobody can complete this one */
        folder_end_job(fj, END_FAILED);
        return;
    }
    if (end != END_RETRIED)
        fj->job.fault = fj->end_fault;
    fault_clear(&fj->end_fault);
    folder_retry(fj);
}

static void after_settle(struct errand *errand)
{
    struct settling *settling = (struct settling *)errand;
    struct folder *folder = settling->folder;
    while (!STAILQ_EMPTY(&settling->jobs)) {
        struct folder_job *fj = STAILQ_FIRST(&settling->jobs);
        STAILQ_REMOVE_HEAD(&settling->jobs, next_to_settle);
        fj->settling = false;
        if (folder->state == FOLDER_ABANDONED)
            folder_lay_down(fj);
        else
            settled(fj);
    }
    free(settling);
    folder->settling = false;
    folder_settle(folder);
    folder_check_stopped(folder);
}

void folder_settle(struct folder *folder)
{
    if (folder->settling || STAILQ_EMPTY(&folder->to_settle))
        return;
    struct settling *settling = malloc(sizeof *settling);
    if (!settling)
        return; /* the next job that ends, or the timer, tries it again */
    struct folder_job *fj;
    settling->folder = folder;
    STAILQ_INIT(&settling->jobs);
    STAILQ_CONCAT(&settling->jobs, &folder->to_settle);
    STAILQ_FOREACH (fj, &settling->jobs, next_to_settle) {
        fj->settling = true;
        /* the candidate must exist before the file appears in the folder again */
        if (fj->end == END_RETURNED && folder_is_live(folder) && fj->claim->spool == folder->spool)
            candidates_return(&folder->candidates, fj->claim->name, &fj->claim->identity,
                              fj->job.fault.code == FAULT_TRUNCATED, clock_now());
    }
    folder->settling = true;
    errands_add(folder->errands, &settling->errand, do_settle, after_settle);
}
