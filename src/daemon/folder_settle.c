/* How jobs end on disk. Those that come together are settled together, so that one sync of OUT
 * serves them all. The order of steps is the table in docs/spool.md. */
#include "daemon/folder_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/disk.h"
#include "daemon/reason.h"

struct settling {
    uv_work_t work;
    struct folder *folder;
    struct folder_jobs jobs;
};

/* ---- in the pool ---- */

static void discard_drafts(struct folder_job *fj)
{
    for (size_t i = 0; i < fj->n_drafts; i++)
        draft_discard(&fj->drafts[i], fj->claim->spool);
    fj->n_drafts = 0;
}

/* Somebody wrote to the file while it was read: whatever came of it means nothing. */
static bool has_changed(const struct folder_job *fj)
{
    return fj->job.in_fd >= 0 && !claim_is_unchanged(fj->claim, fj->job.in_fd);
}

static void close_input(struct folder_job *fj)
{
    if (fj->job.in_fd >= 0)
        close(fj->job.in_fd);
    fj->job.in_fd = -1;
}

/* The worker names its planes; it must have asked for just these outputs. */
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

/* Up to the results' names; the original follows when OUT is synced. */
static void publish(struct folder_job *fj)
{
    struct claim *claim = fj->claim;
    claim->note.attempts = fj->job.attempts;
    int result = name_drafts(fj);
    if (result == 0)
        result =
            drafts_commit(fj->drafts, fj->n_drafts, claim, fj->folder->extension, &fj->end_fault);
    if (result == 0) {
        fj->n_drafts = 0;
        result = drafts_place(claim, claim->spool->out_fd, &fj->end_fault);
    }
    discard_drafts(fj);
}

static void fail(struct folder_job *fj)
{
    struct claim *claim = fj->claim;
    struct reason reason = {.file = claim->name,
                            .fault = &fj->job.fault,
                            .step = fj->step,
                            .attempts = fj->job.attempts,
                            .chain = fj->job.chain,
                            .format = fj->job.format};
    discard_drafts(fj);
    claim->note.attempts = fj->job.attempts;
    char *text = reason_print(&reason);
    if (!text)
        fault_set(&fj->end_fault, FAULT_MEMORY, "no memory for a reason");
    else if (claim_note_failure(claim, text, &fj->end_fault) == 0)
        claim_failed(claim, &fj->end_fault);
    free(text);
}

/* A file with a history keeps it: it stays with us, its note beside it. */
static bool has_history(const struct claim *claim)
{
    const struct note *note = &claim->note;
    return note->verdict != NOTE_OPEN || note->crashes > 0 || note->interruptions > 0;
}

static void give_back(struct folder_job *fj)
{
    discard_drafts(fj);
    claim_clear_begun(fj->claim); /* that we end in good order is no interruption */
    if (!has_history(fj->claim))
        claim_give_back(fj->claim, NULL); /* else it is found at the next start */
}

static void settle_one(struct folder_job *fj)
{
    if ((fj->end == END_DONE || fj->end == END_FAILED) && has_changed(fj))
        fj->end = END_CHANGED;
    close_input(fj);
    switch (fj->end) {
    case END_DONE:
        publish(fj);
        break;
    case END_FAILED:
        fail(fj);
        break;
    case END_RETURNED:
        discard_drafts(fj);
        claim_give_back(fj->claim, &fj->end_fault);
        break;
    case END_GIVEN_BACK:
        give_back(fj);
        break;
    case END_CHANGED:
    case END_RETRIED:
    case END_NONE:
        discard_drafts(fj);
        break;
    }
}

/* One sync for all that were published in one OUT; those of another spool get their own. */
static void sync_outputs(struct settling *settling)
{
    const struct spool *synced = NULL;
    struct folder_job *fj;
    int error = 0;
    STAILQ_FOREACH(fj, &settling->jobs, next_to_settle)
    {
        if (fj->end != END_DONE || fj->end_fault.code != FAULT_NONE)
            continue;
        if (synced != fj->claim->spool) {
            synced = fj->claim->spool;
            error = disk_sync_directory(synced->out_fd);
        }
        if (error != 0)
            fault_set(&fj->end_fault, FAULT_IO, "fsync of the output folder failed");
    }
}

static void do_settle(uv_work_t *work)
{
    struct settling *settling = work->data;
    struct folder_job *fj;
    STAILQ_FOREACH(fj, &settling->jobs, next_to_settle)
    settle_one(fj);
    sync_outputs(settling);
    STAILQ_FOREACH(fj, &settling->jobs, next_to_settle)
    if (fj->end == END_DONE && fj->end_fault.code == FAULT_NONE)
        claim_done(fj->claim, &fj->end_fault);
}

/* ---- on the loop ---- */

static double milliseconds_since(uint64_t then)
{
    return (double)(clock_now() - then) * 1e-6;
}

static void log_done(const struct folder_job *fj)
{
    char name[256];
    size_t more = fj->claim->note.n_results - 1;
    draft_final_name(fj->claim, 0, name);
    if (more > 0)
        log_info("%s: done in %.1f ms: %s and %zu more", fj->job.label,
                 milliseconds_since(fj->taken), name, more);
    else
        log_info("%s: done in %.1f ms: %s", fj->job.label, milliseconds_since(fj->taken), name);
}

static void finish_well(struct folder_job *fj)
{
    struct queue *queue = fj->folder->queue;
    switch (fj->end) {
    case END_DONE:
        queue_count_end(queue, &fj->job, true);
        log_done(fj);
        break;
    case END_FAILED:
        queue_count_end(queue, &fj->job, false);
        log_warning("%s: failed: %s: %s (after %.1f ms)", fj->job.label,
                    fault_name(fj->job.fault.code), fj->job.fault.text,
                    milliseconds_since(fj->taken));
        break;
    case END_RETURNED:
        log_info("%s: %s; it waits until it has not changed for a while", fj->job.label,
                 fj->job.fault.code ? fj->job.fault.text : "changed while it was read");
        break;
    default:
        break;
    }
    folder_drop_job(fj);
}

/* The place in the folder must know the file before it is there again. */
static void return_file(struct folder_job *fj)
{
    struct folder *folder = fj->folder;
    if (folder_is_live(folder) && fj->claim->spool == folder->spool)
        candidates_return(&folder->candidates, fj->claim->name, &fj->claim->identity,
                          fj->job.fault.code == FAULT_TRUNCATED, clock_now(),
                          folder->settings->stable);
}

static void settled(struct folder_job *fj)
{
    struct folder *folder = fj->folder;
    enum folder_end end = fj->end;
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
        fault_clear(&fj->end_fault); /* a new file has its name: nobody can complete this one */
        folder_end_job(fj, END_FAILED);
        return;
    }
    if (end != END_RETRIED)
        fj->job.fault = fj->end_fault;
    fault_clear(&fj->end_fault);
    queue_retry(folder->queue, &fj->job);
}

static void after_settle(uv_work_t *work, int status)
{
    struct settling *settling = work->data;
    struct folder *folder = settling->folder;
    (void)status;
    while (!STAILQ_EMPTY(&settling->jobs)) {
        struct folder_job *fj = STAILQ_FIRST(&settling->jobs);
        STAILQ_REMOVE_HEAD(&settling->jobs, next_to_settle);
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
        return; /* the next job that ends, or the timer, comes back to it */
    struct folder_job *fj;
    settling->folder = folder;
    settling->work.data = settling;
    STAILQ_INIT(&settling->jobs);
    STAILQ_CONCAT(&settling->jobs, &folder->to_settle);
    STAILQ_FOREACH(fj, &settling->jobs, next_to_settle)
    if (fj->end == END_RETURNED)
        return_file(fj);
    if (uv_queue_work(folder->loop, &settling->work, do_settle, after_settle) == 0) {
        folder->settling = true;
        return;
    }
    STAILQ_CONCAT(&folder->to_settle, &settling->jobs);
    free(settling);
}
