/* A claimed file as a job of the queue. Each request of the queue (job.h) becomes an errand; a job
 * has one errand at a time, since a claim may be used by one thread at a time. */
#include "daemon/watch/folder_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "daemon/spool/recovery.h"
#include "worker/message.h"

#define INTERRUPTIONS_UNTIL_LAST   3
#define INTERRUPTIONS_UNTIL_FAILED 10 /* in a row, each while it was the only job */

/* ---- the steps, as errands ---- */

void folder_discard_drafts(struct folder_job *fj)
{
    for (size_t i = 0; i < fj->n_drafts; i++)
        draft_discard(&fj->drafts[i], fj->claim, i);
    fj->n_drafts = 0;
}

static int add_draft(struct folder_job *fj, struct fault *fault)
{
    struct draft *drafts = realloc(fj->drafts, (fj->n_drafts + 1) * sizeof *drafts);
    if (!drafts)
        return fault_set(fault, FAULT_MEMORY, "no memory for a result");
    fj->drafts = drafts;
    int result =
        draft_open(&drafts[fj->n_drafts], fj->claim, fj->n_drafts, fj->folder->extension, fault);
    if (result == 0)
        fj->n_drafts++;
    return result;
}

static void do_open(struct folder_job *fj)
{
    struct fault *fault = &fj->step_fault;
    struct claim *claim = fj->claim;
    file_close(&fj->job.in_fd);
    fj->job.out_fd = -1;
    folder_discard_drafts(fj);
    /* attempts and crashes so far are written down before the next try */
    struct note *note = &claim->note;
    bool crashed = note->crashes != fj->job.crashes;
    note->attempts = fj->job.attempts;
    note->crashes = fj->job.crashes;
    if (fj->job.attempts > 0)
        claim_clear_begun(claim);
    int result = crashed ? claim_write_note(claim, fault) : 0;
    if (result == 0 && claim->note.verdict != NOTE_OPEN)
        result = recovery_resume(claim, claim->spool->out_fd, &fj->ended_on_disk, fault);
    if (result == 0 && !fj->ended_on_disk)
        result = claim_open(claim, &fj->job.in_fd, fault);
    if (result == 0 && !fj->ended_on_disk) {
        result = add_draft(fj, fault);
        fj->unplaceable = result == FAULT_CREATE;
    }
    /* The file is gone, so the claim is removed. A file that was moved into our folder is left
     * alone: it may be there although it could not be opened. */
    if (result == FAULT_NO_INPUT && claim->spool->in_place)
        claim_give_back(claim, NULL);
}

static struct folder_job *job_of_errand(struct errand *errand)
{
    return (struct folder_job *)((char *)errand - offsetof(struct folder_job, errand));
}

static void do_step(struct errand *errand)
{
    struct folder_job *fj = job_of_errand(errand);
    if (fj->at == STEP_OPEN)
        do_open(fj);
    else if (fj->at == STEP_BEGUN)
        claim_mark_begun(fj->claim, fj->job.lane == JOB_LAST, &fj->step_fault);
    else if (add_draft(fj, &fj->step_fault) == 0) /* STEP_OUTPUT */
        snprintf(fj->drafts[fj->n_drafts - 1].plane, sizeof fj->drafts->plane, "%s", fj->plane);
}

/* ---- their ends, on the loop ---- */

static void next_step(struct folder_job *fj);

/* A fault in opening never counts against the file, unless OUT can never have its result. */
static void opened(struct folder_job *fj)
{
    struct queue *queue = fj->folder->queue;
    if (fj->ended_on_disk) {
        log_about(job_subject(&fj->job), LOG_LEVEL_INFO,
                  "%s, as decided before; the last steps are done now",
                  fj->claim->note.verdict == NOTE_DONE ? "done" : "failed");
        folder_drop_job(fj);
    } else if (fj->step_fault.code == FAULT_NO_INPUT) {
        log_about(job_subject(&fj->job), LOG_LEVEL_WARNING, "the claimed file is gone: %s",
                  fj->step_fault.text);
        folder_drop_job(fj);
    } else if (fj->unplaceable) {
        fj->job.fault = fj->step_fault;
        queue_give_up(queue, &fj->job);
    } else if (fj->step_fault.code != FAULT_NONE) {
        if (folder_leave_behind(fj))
            return;
        fj->job.fault = fj->step_fault;
        fj->folder->next_scan = clock_now(); /* the scan notices when a directory is gone */
        folder_retry(fj);
    } else if (fj->claim->note.alone >= INTERRUPTIONS_UNTIL_FAILED) {
        fault_set(
            &fj->job.fault, FAULT_INTERRUPTED,
            "the daemon or the machine went down %u times in a row at this file, while it did "
            "nothing else",
            fj->claim->note.alone);
        queue_give_up(queue, &fj->job);
    } else {
        fj->job.out_fd = fj->drafts[0].fd;
        queue_opened(queue, &fj->job);
    }
}

static void after_step(struct errand *errand)
{
    struct folder_job *fj = job_of_errand(errand);
    enum folder_step at = fj->at;
    fj->at = STEP_NONE;
    if (fj->folder->state == FOLDER_ABANDONED) {
        folder_lay_down(fj);
        return;
    }
    if (at == STEP_OUTPUT)
        queue_give_output(fj->folder->queue, &fj->job, fj->plane,
                          fj->step_fault.code ? -1 : fj->drafts[fj->n_drafts - 1].fd,
                          &fj->step_fault);
    if (at == STEP_BEGUN && fj->step_fault.code)
        log_about(job_subject(&fj->job), LOG_LEVEL_DEBUG, "%s", fj->step_fault.text);
    if (at == STEP_OPEN)
        opened(fj); /* may free the job */
    else
        next_step(fj);
}

/* Starts the next step, and the end when no other is left. */
static void next_step(struct folder_job *fj)
{
    if (fj->folder->state == FOLDER_ABANDONED) {
        fault_set(&fj->step_fault, FAULT_IO, "the folder does not answer");
        if (fj->wanted[STEP_OUTPUT])
            queue_give_output(fj->folder->queue, &fj->job, fj->plane, -1, &fj->step_fault);
        fj->wanted[STEP_OUTPUT] = false;
        if (fj->wanted[STEP_OPEN] || fj->end != END_NONE) /* the worker no longer has it */
            folder_lay_down(fj);
        return;
    }
    if (fj->at != STEP_NONE)
        return;
    enum folder_step step = STEP_BEGUN;
    while (step < STEPS && !fj->wanted[step])
        step++;
    if (step < STEPS) {
        fj->wanted[step] = false;
        fj->at = step;
        fault_clear(&fj->step_fault);
        errands_add(fj->folder->errands, &fj->errand, do_step, after_step);
    } else if (fj->end != END_NONE) {
        STAILQ_INSERT_TAIL(&fj->folder->to_settle, fj, next_to_settle);
        folder_settle(fj->folder);
    }
}

/* ---- what the queue asks ---- */

static void want(struct job *job, enum folder_step step)
{
    struct folder_job *fj = folder_job_of(job);
    fj->wanted[step] = true;
    next_step(fj);
}

static void open_job(struct job *job)
{
    want(job, STEP_OPEN);
}

static void need_output(struct job *job, const char *plane)
{
    struct folder_job *fj = folder_job_of(job);
    snprintf(fj->plane, sizeof fj->plane, "%s", plane);
    want(job, STEP_OUTPUT);
}

static void began(struct job *job)
{
    want(job, STEP_BEGUN);
}

static bool keep_planes(struct folder_job *fj, const struct message *report)
{
    free(fj->planes);
    fj->n_planes = 0;
    fj->planes = calloc(report->n_planes + 1, sizeof *fj->planes);
    if (!fj->planes)
        return false;
    for (size_t i = 0; i < report->n_planes; i++)
        snprintf(fj->planes[i], sizeof *fj->planes, "%s", report->planes[i]);
    fj->n_planes = report->n_planes;
    return true;
}

/* Decides how the try ended, which decides what becomes of the file (enum folder_end). */
static enum folder_end end_for(const struct folder_job *fj)
{
    enum fault_code code = fj->job.fault.code;
    if (code == FAULT_NONE)
        return END_DONE;
    if (code == FAULT_EMPTY || (code == FAULT_TRUNCATED && !fj->last_chance))
        return END_RETURNED;
    /* Faults that are not the file's: a full disk, a directory that is gone. The job is tried
     * again, and its file stays claimed. */
    bool writing = strcmp(fj->step, "encode") == 0 || strcmp(fj->step, "write") == 0;
    bool passing = fault_is_temporary(code) ||
                   (writing && !fj->unplaceable &&
                    (code == FAULT_IO || code == FAULT_CREATE || code == FAULT_PERMISSION));
    return passing ? END_RETRIED : END_FAILED;
}

static void job_done(struct job *job, const struct message *report)
{
    struct folder_job *fj = folder_job_of(job);
    snprintf(fj->step, sizeof fj->step, "%s",
             report && report->step ? report->step
             : fj->unplaceable      ? "write"
                                    : "worker");
    if (report && !keep_planes(fj, report))
        fault_set(&job->fault, FAULT_MEMORY, "no memory for the names of planes");
    fj->wanted[STEP_OUTPUT] = false;
    folder_end_job(fj, end_for(fj));
}

static void give_back(struct job *job)
{
    struct folder_job *fj = folder_job_of(job);
    fj->wanted[STEP_OUTPUT] = fj->wanted[STEP_OPEN] = false;
    folder_end_job(fj, END_GIVEN_BACK);
}

static const struct job_source source = {.open = open_job,
                                         .need_output = need_output,
                                         .began = began,
                                         .done = job_done,
                                         .give_back = give_back};

void folder_end_job(struct folder_job *fj, enum folder_end end)
{
    fj->end = end;
    next_step(fj);
}

/* ---- life ---- */

/* The first picture that vanishes from a folder surprises people, so the log says once where it
 * goes. */
static void tell_first(struct folder *folder, const struct claim *claim)
{
    const struct spool *spool = claim->spool;
    int rule = spool->rules->originals;
    if (folder->told_first)
        return;
    folder->told_first = true;
    log_info("%s/%s is the first file taken here: originals %s%s%s when their results are in %s; "
             "%s%s/failed%s",
             folder->settings->input, claim->name,
             rule == ORIGINALS_DONE     ? "go to "
             : rule == ORIGINALS_DELETE ? "are deleted"
                                        : "stay in their folder",
             rule == ORIGINALS_DONE ? spool->hidden_path : "",
             rule == ORIGINALS_DONE ? "/done" : "", folder->settings->output,
             spool->in_place ? "reasons of failures go to " : "those that fail go to ",
             spool->hidden_path, spool->in_place ? "" : " with the reason");
}

void folder_add_job(struct folder *folder, struct claim *claim, bool last_chance)
{
    struct folder_job *fj = calloc(1, sizeof *fj);
    const struct note *note = &claim->note;
    if (!fj) { /* its file stays claimed, and the next start finds it */
        log_about(claim_subject(claim), LOG_LEVEL_ERROR, "no memory for a job");
        claim_destroy(&claim);
        return;
    }
    spool_use(claim->spool);
    fj->folder = folder;
    fj->claim = claim;
    fj->last_chance = last_chance;
    fault_clear(&fj->end_fault);
    fj->job = (struct job){.source = &source,
                           .origin = "watch",
                           .owner = folder,
                           .label = claim->name,
                           .folder = folder->settings->input,
                           .chain = folder->settings->chain,
                           .format = folder->settings->format,
                           .input = folder->settings->reading,
                           .counted = folder->settings->chain_name,
                           .stalled = &folder->stalled,
                           .lane = note->interruptions >= INTERRUPTIONS_UNTIL_LAST ? JOB_LAST
                                   : note->crashes > 0                             ? JOB_SUSPECT
                                                                                   : JOB_NORMAL,
                           .attempts = note->attempts,
                           .crashes = note->crashes};
    if (folder->n_jobs++ == 0)
        rate_begin(&folder->past.rate, clock_now());
    tell_first(folder, claim);
    queue_add(folder->queue, &fj->job);
}

void folder_retry(struct folder_job *fj)
{
    struct folder *folder = fj->folder;
    queue_retry(folder->queue, &fj->job);
    if (folder->state == FOLDER_STOPPING) /* its successor, or the next start, tries it again */
        queue_withdraw(folder->queue, folder);
}

bool folder_leave_behind(struct folder_job *fj)
{
    struct folder *folder = fj->folder;
    if (fj->claim->spool == folder->spool)
        return false;
    log_about(job_subject(&fj->job), LOG_LEVEL_INFO,
              "its folder has changed; it is taken up again from there");
    if (folder->state == FOLDER_WATCHING)
        folder->next_scan = clock_now();
    folder_drop_job(fj);
    return true;
}

static void do_close(struct errand *errand)
{
    struct folder_job *fj = job_of_errand(errand);
    file_close(&fj->job.in_fd);
    for (size_t i = 0; i < fj->n_drafts; i++)
        draft_forget(&fj->drafts[i]);
}

static void after_close(struct errand *errand)
{
    struct folder_job *fj = job_of_errand(errand);
    struct folder *folder = fj->folder;
    struct spool *spool = fj->claim->spool;
    free(fj->drafts);
    free(fj->planes);
    claim_destroy(&fj->claim);
    spool_leave(&spool);
    free(fj);
    folder->n_jobs--;
    folder_check_stopped(folder);
}

/* Closing a file may wait for its disk, so it is an errand. */
static void close_job(struct folder_job *fj)
{
    if (fj->job.in_fd >= 0 || fj->n_drafts > 0)
        errands_add(fj->folder->errands, &fj->errand, do_close, after_close);
    else
        after_close(&fj->errand);
}

void folder_drop_job(struct folder_job *fj)
{
    queue_remove(fj->folder->queue, &fj->job);
    if (fj->claim->spool->in_place)
        candidates_let_go(&fj->folder->candidates, fj->claim->name);
    close_job(fj);
}

void folder_lay_down(struct folder_job *fj)
{
    struct folder *folder = fj->folder;
    struct folder_job *waiting;
    if (!fj->laid_down)
        queue_remove(folder->queue, &fj->job);
    fj->laid_down = true;
    STAILQ_FOREACH (waiting, &folder->to_settle, next_to_settle)
        if (waiting == fj) {
            STAILQ_REMOVE(&folder->to_settle, fj, folder_job, next_to_settle);
            break;
        }
    if (fj->at == STEP_NONE && !fj->settling)
        close_job(fj);
}
