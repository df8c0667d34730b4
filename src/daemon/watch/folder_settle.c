/* How jobs end on disk. How a job's try ends (enum folder_end) was chosen before, by end_for() in
 * folder.c. Here the folder's thread takes the steps, in the order of the table in docs/spool.md
 * (folder_settle, at the end of this file). Jobs that end meanwhile wait for the next call and are
 * settled together, so that one sync serves them all: of results and notes, of decisions, of names
 * in OUT.
 *
 * A step that fails, for instance because the disk is full, leaves its fault in end_fault. No later
 * step then runs for that job, its file stays claimed, and it is tried again: from the start or,
 * once the verdict is written, from the step that failed (recovery_resume). */
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

/* The name must be known before the file appears in the folder again. If a new file has it by now,
 * nobody can complete one that is truncated. */
static void give_back(struct folder_thread *t, struct folder_job *fj)
{
    struct claim *claim = fj->claim;
    bool truncated = fj->job.fault.code == FAULT_TRUNCATED, known = claim->spool == t->spool;
    if (known && folder_thread_is_live(t))
        candidates_return(&t->candidates, claim->name, &claim->identity, truncated, clock_now());
    if (claim_give_back(claim, &fj->end_fault) != 0 && truncated && known) {
        fault_clear(&fj->end_fault);
        fj->end = END_FAILED;
    }
}

/* Everything up to the decision: what it depends on is written, and its note beside the one that
 * counts. */
static void prepare(struct folder_thread *t, struct folder_job *fj)
{
    struct claim *claim = fj->claim;
    struct note *note = &claim->note;
    /* somebody wrote to the file while it was read, so its results mean nothing */
    if ((fj->end == END_DONE || fj->end == END_FAILED) && fj->in_fd >= 0 &&
        !claim_is_unchanged(claim, fj->in_fd)) {
        fault_clear(&fj->job.fault);
        fj->end = END_RETURNED;
    }
    file_close(&fj->in_fd);
    note->attempts = fj->job.attempts;
    if (fj->end == END_DONE && name_drafts(fj) == 0)
        drafts_prepare(fj->drafts, fj->n_drafts, claim, t->extension, &fj->end_fault);
    if (!is_well(fj, END_DONE))
        folder_job_discard_drafts(fj);
    if (fj->end == END_RETURNED)
        give_back(t, fj);
    if (fj->end == END_FAILED)
        fail(fj, claim_prepare_note);
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
    folder_job_discard_drafts(fj);
    fj->claim->note.verdict = NOTE_OPEN;
}

/* Syncs results and notes, once for all jobs. Those whose sync failed are done again. */
static void sync_prepared(const struct folder_jobs *jobs)
{
    struct folder_job *fj;
    size_t most = 0, count = 0;
    STAILQ_FOREACH (fj, jobs, next)
        most += fj->n_drafts + 1;
    struct disk_sync *items = calloc(most, sizeof *items);
    STAILQ_FOREACH (fj, jobs, next) {
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
    STAILQ_FOREACH (fj, jobs, next) {
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
static void sync_decisions(const struct folder_jobs *jobs)
{
    struct folder_job *fj;
    size_t count = 0;
    STAILQ_FOREACH (fj, jobs, next)
        count++;
    struct disk_sync *items = calloc(count, sizeof *items);
    count = 0;
    STAILQ_FOREACH (fj, jobs, next)
        if (items && is_decided(fj) && fj->claim->spool->rules->sync != SYNC_OFF)
            items[count++].fd = fj->claim->folder_fd;
    disk_sync_all(items, count);
    count = 0;
    STAILQ_FOREACH (fj, jobs, next) {
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
static void sync_names(const struct folder_jobs *jobs)
{
    const struct spool *synced = NULL;
    struct folder_job *fj;
    struct fault fault = FAULT_INIT;
    STAILQ_FOREACH (fj, jobs, next) {
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
static void enter_in_ledger(const struct folder_jobs *jobs)
{
    struct ledger_entry *entries = NULL;
    char(*results)[256] = NULL;
    struct folder_job *fj;
    struct fault fault = FAULT_INIT;
    size_t count = 0, most = 0;
    bool needed = false;
    STAILQ_FOREACH (fj, jobs, next)
        most++;
    results = calloc(most, sizeof *results);
    entries = calloc(most, sizeof *entries);
    if (!results || !entries) {
        fault_set(&fault, FAULT_MEMORY, "no memory for the ledger");
        needed = true; /* every job of this call */
    }
    STAILQ_FOREACH (fj, jobs, next) {
        if (fault.code != FAULT_NONE || !(is_well(fj, END_DONE) || is_well(fj, END_FAILED)))
            continue;
        bool failed = fj->end == END_FAILED;
        if (recovery_fill_entry(&entries[count], fj->claim, failed ? fj->job.fault.text : NULL,
                                results[count]))
            needed |= entries[count++].remembered;
    }
    if (count > 0)
        ledger_write(STAILQ_FIRST(jobs)->claim->spool->world->ledger, entries, count, needed,
                     &fault);
    if (fault.code != FAULT_NONE)
        log_warning("%s", fault.text);
    STAILQ_FOREACH (fj, jobs, next)
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
static void release(const struct folder_jobs *jobs)
{
    const struct spool *synced = NULL;
    struct folder_job *fj;
    int result = 0;
    STAILQ_FOREACH (fj, jobs, next) {
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

/* What the log says of results. */
static void tell_results(struct folder_job *fj)
{
    char name[256];
    size_t more = fj->claim->note.n_results - 1;
    if (!is_well(fj, END_DONE))
        return;
    draft_final_name(fj->claim, 0, name);
    if (more > 0)
        snprintf(fj->told, sizeof fj->told, "%s and %zu more", name, more);
    else
        snprintf(fj->told, sizeof fj->told, "%s", name);
}

void folder_settle(struct folder_thread *t, struct folder_jobs *jobs)
{
    struct folder_job *fj;
    STAILQ_FOREACH (fj, jobs, next) {
        prepare(t, fj);
        folder_thread_moves(t);
    }
    sync_prepared(jobs);
    STAILQ_FOREACH (fj, jobs, next) {
        decide(fj);
        folder_thread_moves(t);
    }
    sync_decisions(jobs);
    STAILQ_FOREACH (fj, jobs, next) {
        place(fj);
        folder_thread_moves(t);
    }
    sync_names(jobs);
    enter_in_ledger(jobs);
    STAILQ_FOREACH (fj, jobs, next) {
        tell_results(fj);
        let_go(fj);
        folder_thread_moves(t);
    }
    release(jobs);
}
