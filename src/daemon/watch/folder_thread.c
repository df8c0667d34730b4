/* A folder's thread, and with it a file's life, from the first hint to its result. The thread owns
 * the folder's directories, its inotify, its names and its claims, and waits for their disk, so
 * that a folder that hangs delays no other. A file goes through these sections, a round of the
 * thread (at the end of this file) through all of them:
 *
 * - hints: inotify and scans (folder_scan.c) name files (candidate.h)
 *
 * - looks: what is complete is claimed (spool/claim.h), opened, and given to the loop
 *
 * - letters: the loop's queue (work/queue.c) has a worker do it, which asks for outputs
 *
 * - ends: it is decided what becomes of the file, and results and original are put in their places
 *   (spool/draft.h)
 *
 * Directories that come and go are folder_scan.c's, questions folder_ask.c's.
 */
#include "daemon/watch/folder_internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/file.h"
#include "base/log.h"
#include "base/name.h"
#include "base/text.h"
#include "daemon/spool/draft.h"
#include "daemon/spool/fate.h"
#include "daemon/spool/recovery.h"

#define LOOKS_AT_ONCE 64 /* names that one round looks at */

/* Rounds for which files that have ended wait while others are claimed, so that more of them share
 * their syncs. */
#define POSTPONED_MOST 4

/* Our own looks are told of, too, so events are read together: this is the time from one reading to
 * the next. Of many events so many buffers are read in a round. */
#define READ_EVERY   (2 * MILLISECOND)
#define READS_A_TIME 64

#define INTERRUPTIONS_UNTIL_LAST 3

#define EVENTS_OF_END (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)

/* ---- hints ---- */

/* Reads the events that the kernel has now. They are hints only: a name may be gone by now, and
 * after an overflow names are missing; scans find everything. Returns false when some may be
 * missing, because the queue overflowed or there are too many. */
static bool hear(struct folder_thread *t)
{
    char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    unsigned overflows = t->now.n_overflows;
    ssize_t length = 1;
    for (int i = 0; i < READS_A_TIME && length > 0 && t->watch_fd >= 0 && !t->lost_why; i++) {
        length = read(t->watch_fd, buffer, sizeof buffer);
        if (length < 0 && errno != EAGAIN && errno != EINTR)
            log_error("inotify: %s", strerror(errno));
        if (length > 0)
            t->read_after = clock_now() + READ_EVERY;
        for (char *at = buffer; at < buffer + length && !t->lost_why;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            uint32_t mask = event->mask;
            at += sizeof *event + event->len;
            if (mask & IN_Q_OVERFLOW) {
                t->now.n_overflows++;
                log_info("%s: more happened than inotify could tell; the folder is read again",
                         t->settings->input);
                t->now.next_try = clock_now();
            } else if (mask & EVENTS_OF_END) {
                t->lost_why = mask & IN_UNMOUNT       ? "unmounted"
                              : mask & IN_MOVE_SELF   ? "moved away"
                              : mask & IN_DELETE_SELF ? "removed"
                                                      : "no longer watched by the kernel";
            } else if (event->len > 0 && !(mask & IN_ISDIR) &&
                       !name_is_ignored(event->name, t->settings->ignore)) {
                enum candidate_news news = mask & IN_MOVED_TO        ? NEWS_RENAMED
                                           : mask & IN_CLOSE_WRITE   ? NEWS_CLOSED
                                           : mask & IN_CREATE        ? NEWS_CREATED
                                           : mask & IN_OPEN          ? NEWS_OPENED
                                           : mask & IN_CLOSE_NOWRITE ? NEWS_LEFT
                                                                     : NEWS_CHANGED;
                candidates_hear(&t->candidates, event->name, news, clock_now());
            }
        }
    }
    return length <= 0 && t->watch_fd >= 0 && !t->lost_why && overflows == t->now.n_overflows;
}

/* ---- looks: what is complete becomes a job ---- */

/* Opens the input and a file for each result anew, whatever an earlier try left: a worker that had
 * to ask for them would wait for this thread's disk. `end` says so if the file has ended without
 * another try. */
static void open_job(struct folder_thread *t, struct folder_job *fj, struct fault *fault)
{
    struct claim *claim = fj->claim;
    struct note *note = &claim->note;
    bool ended = false;
    unsigned count = (unsigned)watch_count_results(claim->spool->rules);
    file_close(&fj->in_fd);
    for (unsigned of = 0; of < WATCH_RESULTS_MAX; of++)
        fj->out_fds[of] = -1;
    fj->end = END_NONE;
    if (claim->n_drafts > 0)
        drafts_discard(claim);
    /* attempts and crashes so far are written down before the next try */
    bool crashed = note->crashes != fj->job.crashes;
    note->attempts = fj->job.attempts;
    note->crashes = fj->job.crashes;
    if (fj->job.attempts > 0)
        claim_clear_begun(claim);
    int result = crashed ? claim_write_note(claim, claim->spool->syncs, fault) : 0;
    if (result == 0 && note->verdict != NOTE_OPEN)
        result = recovery_resume(claim, &ended, fault);
    if (result == 0 && !ended)
        result = claim_open(claim, &fj->in_fd, fault);
    /* a file that was moved into our folder is left alone: it may be there although it could not be
     * opened */
    if (result == FAULT_NO_INPUT && claim->spool->in_place)
        claim_give_back(claim, NULL);
    if (result == FAULT_NO_INPUT || ended)
        fj->end = ended ? END_BEFORE : END_GONE;
    if (result != 0 || ended)
        return;
    for (unsigned of = 0; of < count && result == 0; of++) {
        result = drafts_add(claim, of, "", t->extensions, fault);
        fj->out_fds[of] = result == 0 ? claim->drafts[of].fd : -1;
    }
    fj->unplaceable = result == FAULT_CREATE;
    if (result != 0)
        file_close(&fj->in_fd);
}

/* Closes what is open of a job that has ended, or is left to the next start. */
static void close_job(struct folder_thread *t, struct folder_job *fj)
{
    struct spool *spool = fj->claim->spool;
    file_close(&fj->in_fd);
    if (spool->in_place)
        candidates_let_go(&t->candidates, fj->name);
    claim_destroy(&fj->claim);
    folder_leave_spool(t, spool);
    t->n_jobs--;
}

void folder_job_free(struct folder_job *fj)
{
    free(fj->name);
    free(fj->files);
    free(fj->results);
    free(fj->report);
    free(fj);
}

/* Sends a letter to the loop. If that expects nothing any more, the job is freed, unless a worker
 * has it. */
static void post(struct folder_thread *t, struct letter *letter)
{
    struct folder_job *fj = letter->fj;
    pthread_mutex_lock(&t->lock);
    bool forgotten = (t->flags & FOLDER_FORGET) != 0;
    if (!forgotten) {
        STAILQ_INSERT_TAIL(&t->out, letter, next);
        uv_async_send(t->async);
    }
    pthread_mutex_unlock(&t->lock);
    if (!forgotten || letter->kind == LETTER_OUTPUT)
        return;
    if (fj->claim)
        close_job(t, fj);
    folder_job_free(fj);
}

void folder_thread_add(struct folder_thread *t, struct claim *claim, bool last_chance)
{
    struct folder_job *fj = calloc(1, sizeof *fj);
    char *name = strdup(claim->name);
    const struct note *note = &claim->note;
    if (!fj || !name) { /* its file stays claimed, and the next start finds it */
        log_about(claim_subject(claim), LOG_LEVEL_ERROR, "no memory for a job");
        claim_destroy(&claim);
        free(name);
        free(fj);
        return;
    }
    claim->spool->users++;
    fj->folder = t->folder;
    fj->name = name;
    fj->claim = claim;
    fj->last_chance = last_chance;
    fj->in_fd = fj->out_fds[0] = -1;
    fj->n_alone = note->alone;
    fault_clear(&fj->end_fault);
    for (int i = 0; i < LETTERS; i++) {
        fj->letters[i] = (struct letter){.kind = (enum letter_kind)i, .fj = fj};
        fault_clear(&fj->letters[i].fault);
    }
    fj->job = (struct job){.label = name,
                           .folder = t->settings->input,
                           .chain = t->settings->chain,
                           .format = t->settings->format,
                           .input = t->settings->reading,
                           .counted = t->settings->chain_name,
                           .lane = note->interruptions >= INTERRUPTIONS_UNTIL_LAST ? JOB_LAST
                                   : note->crashes > 0                             ? JOB_SUSPECT
                                                                                   : JOB_NORMAL,
                           .attempts = note->attempts,
                           .crashes = note->crashes};
    t->n_jobs++;

    /* The first picture that vanishes from a folder surprises people, so the log says once where it
     * goes. */
    const struct spool *spool = claim->spool;
    int rule = spool->rules->originals;
    if (!t->told_first)
        log_info("%s/%s is the first file taken here: originals %s%s%s when their results are in "
                 "%s; %s%s/failed%s",
                 t->settings->input, name,
                 rule == ORIGINALS_DONE     ? "go to "
                 : rule == ORIGINALS_DELETE ? "are deleted"
                                            : "stay in their folder",
                 rule == ORIGINALS_DONE ? spool->hidden_path : "",
                 rule == ORIGINALS_DONE ? "/done" : "", t->settings->output,
                 spool->in_place ? "reasons of failures go to " : "those that fail go to ",
                 spool->hidden_path, spool->in_place ? "" : " with the reason");
    t->told_first = true;

    /* What cannot be opened now is opened in its turn. So is what an earlier run has left, which
     * may be any number of files, and what stays in the folder, where it may be changed until then.
     */
    struct letter *letter = &fj->letters[LETTER_OPEN];
    if (!claim->recovered && !spool->in_place && t->n_open < t->most_open) {
        open_job(t, fj, &letter->fault);
        if (letter->fault.code != FAULT_NONE && !fj->unplaceable)
            log_about(claim_subject(claim), LOG_LEVEL_WARNING, "%s; it is opened again in its turn",
                      letter->fault.text);
        fault_clear(&letter->fault);
        fj->end = END_NONE;
    }
    t->n_open += fj->in_fd >= 0;
    post(t, letter);
}

/* True when there are names to look at: those that are hinted at, and complete ones when there is
 * room for more jobs. `room` becomes how many jobs. */
static bool has_names(const struct folder_thread *t, unsigned *room)
{
    const size_t *counts = t->candidates.counts;
    *room = t->now.no_space.since || t->n_jobs >= t->most ? 0 : t->most - t->n_jobs;
    return counts[CANDIDATE_HINTED] > 0 || (counts[CANDIDATE_READY] > 0 && *room > 0);
}

/* A name that is looked at. */
struct look {
    struct candidate *candidate;
    struct candidate_heard heard;
    struct candidate_facts facts;
    enum candidate_verdict verdict;
    struct claim *claim;
    struct fault fault;
};

/* Looks at names, and claims those that are complete, as many as there is room for. */
static void look_at_names(struct folder_thread *t, unsigned room)
{
    static const enum candidate_state states[] = {CANDIDATE_READY, CANDIDATE_HINTED};
    struct candidates *candidates = &t->candidates;
    struct spool *spool = t->spool;
    struct fault unknown = FAULT_INIT; /* the ledger did not tell what is done */
    struct look *looks = malloc(LOOKS_AT_ONCE * sizeof *looks), *look;
    struct candidate *c;
    size_t count = 0;
    if (!looks) { /* the next round tries it again */
        clock_sleep(SECOND / 10);
        return;
    }

    /* Which: complete ones first. Events that come while they are looked at are kept apart. */
    for (int i = 0; i < 2; i++) {
        while (count < LOOKS_AT_ONCE && (states[i] != CANDIDATE_READY || count < room) &&
               (c = TAILQ_FIRST(&candidates->lists[states[i]])) != NULL) {
            candidates_move(candidates, c, CANDIDATE_LOOKING);
            c->hinted = false;
            looks[count] = (struct look){.candidate = c, .heard = c->heard, .facts = c->facts};
            fault_clear(&looks[count++].fault);
        }
    }
    const char *short_of_space = spool_short_of_space(spool);
    if (short_of_space)
        room = 0;

    /* Is it there, is it known as done, is it complete by the rule of candidate.h? Then it is
     * claimed. Only what would be claimed is probed: that opens the file, and the event of it would
     * look like somebody else's. */
    for (look = looks; look < looks + count; look++) {
        const char *name = look->candidate->name;
        struct identity identity = {0};
        uint64_t now = clock_now();
        enum spool_writer writer = SPOOL_WRITER_UNKNOWN;
        enum spool_sight sight = spool_look(spool, name, &identity);
        bool done = false, told = true;
        if (sight == SPOOL_FILE && spool->remembers)
            told =
                ledger_knows(spool->world->ledger, spool->folder, &identity, &done, &unknown) == 0;
        folder_thread_moves(t);
        look->verdict = done ? CANDIDATE_DROP : CANDIDATE_WAIT;
        if (done || !told)
            continue;
        look->verdict = candidate_judge(&look->facts, &look->heard, sight, &identity, writer, now,
                                        &candidates->times);
        if (look->verdict == CANDIDATE_REST && (look->heard.closed || look->heard.whole))
            log_about((struct log_subject){.folder = spool->in_path, .file = name}, LOG_LEVEL_INFO,
                      "empty; it waits until something is written to it");
        if (look->verdict == CANDIDATE_TAKE && room > 0) {
            sight = spool_probe(spool, name, &writer);
            look->verdict = candidate_judge(&look->facts, &look->heard, sight, &identity, writer,
                                            now, &candidates->times);
        }
        if (look->facts.unreadable)
            fault_set(&look->fault, FAULT_PERMISSION, "cannot be read yet");
        if (look->verdict != CANDIDATE_TAKE || room == 0)
            continue;
        int result = claim_take(&look->claim, spool, name, &look->facts.seen, &look->fault);
        room -= look->claim != NULL;
        if (result != 0)
            look->verdict = CANDIDATE_WAIT; /* it is looked at again, whatever it is now */
        if (result == FAULT_BUSY)
            fault_clear(&look->fault);
        folder_thread_moves(t);
    }

    /* What the looks, and events since, mean. If all events up to the looks are known, a file with
     * content that was never opened must have been linked in. */
    bool caught_up = hear(t);
    for (look = looks; look < looks + count; look++) {
        enum fault_code code = look->fault.code;
        bool forget = look->claim || look->verdict == CANDIDATE_DROP;
        c = look->candidate;
        if (code != FAULT_NONE && !c->complained)
            log_about((struct log_subject){.folder = t->settings->input, .file = c->name},
                      LOG_LEVEL_WARNING, "%s; it is tried again", look->fault.text);
        c->complained = code != FAULT_NONE;
        if (code == FAULT_CREATE || code == FAULT_IO)
            t->now.next_check = 0; /* our hidden folder may be gone: check it now */
        c->facts = forget ? (struct candidate_facts){0} : look->facts;
        if (forget && !c->hinted)
            c->heard = (struct candidate_heard){0};
        if (caught_up && c->heard.created && look->heard.created &&
            look->verdict == CANDIDATE_WAIT && !look->facts.unreadable) {
            c->heard = (struct candidate_heard){.touched = c->heard.touched, .whole = true};
            c->hinted = true;
        }
        if (look->claim && spool->in_place) /* further events are kept until the job ends */
            candidates_move(candidates, c, CANDIDATE_TAKEN);
        else if (c->hinted)
            candidates_move(candidates, c, CANDIDATE_HINTED);
        else if (forget)
            candidates_remove(candidates, c);
        else if (look->verdict == CANDIDATE_TAKE)
            candidates_move(candidates, c, CANDIDATE_READY);
        else if (look->verdict == CANDIDATE_REST)
            candidates_rest(candidates, c);
        else
            candidates_wait(candidates, c, clock_now());
        if (look->claim)
            folder_thread_add(t, look->claim, look->facts.truncated);
        folder_thread_moves(t);
    }
    if (unknown.code)
        folder_note_unread(t, &unknown);
    folder_note_space(t, short_of_space);
    free(looks);
}

/* Without memory it is not told. */
void folder_thread_tell(struct folder_thread *t, const struct claim *claim)
{
    bool done = claim->note.verdict == NOTE_DONE;
    struct folder_ended *ended =
        t->settings->on_done || t->settings->on_failed ? calloc(1, sizeof *ended) : NULL;
    if (!ended)
        return;
    *ended = (struct folder_ended){
        .done = done,
        .name = strdup(claim->name),
        .results = done ? claim_print_results(claim, true) : NULL,
        .reason = !done && claim->note.reason ? strdup(claim->note.reason) : NULL};
    pthread_mutex_lock(&t->lock);
    STAILQ_INSERT_TAIL(&t->ended_before, ended, next);
    if (t->async)
        uv_async_send(t->async);
    pthread_mutex_unlock(&t->lock);
}

/* ---- letters of the loop ---- */

/* A job whose directories are no longer the watched ones cannot go on. */
static bool is_left_behind(struct folder_thread *t, struct folder_job *fj)
{
    if (fj->claim->spool == t->spool)
        return false;
    log_about(job_subject(&fj->job), LOG_LEVEL_INFO,
              "its folder has changed; it is taken up again from there");
    if (folder_thread_is_live(t))
        t->now.next_try = clock_now();
    fj->end = END_LEFT;
    return true;
}

static void take_letters(struct folder_thread *t, struct letters *letters)
{
    struct letter *letter;
    while ((letter = STAILQ_FIRST(letters)) != NULL) {
        struct folder_job *fj = letter->fj;
        struct fault *fault = &letter->fault;
        STAILQ_REMOVE_HEAD(letters, next);
        if ((t->seen & FOLDER_FORGET) != 0) {
            /* what no worker has is left to whoever takes it over */
            if (letter->kind == LETTER_OPEN || letter->kind == LETTER_END)
                post(t, letter);
            continue;
        }
        fault_clear(fault);
        switch (letter->kind) {
        case LETTER_OPEN: /* in its turn; a fault never counts against the file, unless OUT can
                             never have its result */
            t->n_open -= fj->in_fd >= 0;
            open_job(t, fj, fault);
            t->n_open += fj->in_fd >= 0;
            if (fj->end == END_BEFORE)
                log_about(job_subject(&fj->job), LOG_LEVEL_INFO,
                          "%s, as decided before; the last steps are done now",
                          fj->claim->note.verdict == NOTE_DONE ? "done" : "failed");
            else if (fj->end == END_GONE)
                log_about(job_subject(&fj->job), LOG_LEVEL_WARNING, "the claimed file is gone: %s",
                          fault->text);
            else if (fault->code != FAULT_NONE && !fj->unplaceable && !is_left_behind(t, fj))
                t->now.next_try = clock_now(); /* the scan notices when a directory is gone */
            if (fj->end == END_BEFORE)
                folder_thread_tell(t, fj->claim);
            if (fj->end != END_NONE)
                close_job(t, fj);
            post(t, letter);
            break;
        case LETTER_BEGAN:
            if (claim_mark_begun(fj->claim, fj->alone, fault) != 0)
                log_about(job_subject(&fj->job), LOG_LEVEL_DEBUG, "%s", fault->text);
            break;
        case LETTER_OUTPUT:
            fj->plane_fd = -1;
            if (drafts_add(fj->claim, fj->of, fj->plane, t->extensions, fault) == 0)
                fj->plane_fd = fj->claim->drafts[fj->claim->n_drafts - 1].fd;
            post(t, letter);
            break;
        default: /* jobs that end at the same time are ended together */
            STAILQ_INSERT_TAIL(&t->ends, fj, next);
            break;
        }
        folder_thread_moves(t);
    }
}

/* ---- ends ---- */

/* How a job's try ends (enum folder_end) was chosen before, by job_done() in folder.c. Here are the
 * steps on disk, in the order of the table in docs/spool.md. Jobs that end meanwhile wait for the
 * next round and are ended together, so that one sync serves them all: of results and notes, of
 * decisions, of names in OUT.
 *
 * A step that fails, for instance because the disk is full, leaves its fault in end_fault, and the
 * job's end is END_RETRIED then. No later step runs for that job, its file stays claimed, and it is
 * tried again: from the start or, once the verdict is written, from the step that failed
 * (recovery_resume). */

static bool is_decided(const struct folder_job *fj)
{
    return fj->end == END_DONE || fj->end == END_FAILED;
}

/* A try has failed, or a step of its end has. The file fails if the try says so, or if a result's
 * name is taken and the folder's rule forbids that, or OUT can never have it, or the worker did not
 * let go of a result: then the note with the reason is written, or only prepared, to be synced with
 * others. After other faults it is tried again. */
static void fail(struct folder_job *fj, bool only_prepare)
{
    struct claim *claim = fj->claim;
    const struct job *job = &fj->job;
    enum fault_code code = fj->end_fault.code;
    if (fj->end == END_DONE &&
        (code == FAULT_EXISTS || code == FAULT_CREATE || code == FAULT_CRASHED)) {
        fj->job.fault = fj->end_fault;
        fault_clear(&fj->end_fault);
        snprintf(fj->step, sizeof fj->step, "%s", code == FAULT_CRASHED ? "worker" : "write");
        fj->end = END_FAILED;
    }
    if (fj->end == END_FAILED && fj->end_fault.code == FAULT_NONE) {
        char *text = fate_print_reason(claim->name, &job->fault, fj->step, job->attempts,
                                       job->chain, job->format);
        if (!text)
            fault_set(&fj->end_fault, FAULT_MEMORY, "no memory for a reason");
        else if (claim_note_failure(claim, text, &fj->end_fault) == 0 &&
                 (only_prepare ? claim_prepare_note(claim, &fj->end_fault)
                               : claim_write_note(claim, claim->spool->syncs, &fj->end_fault)) != 0)
            claim->note.verdict = NOTE_OPEN;
        free(text);
    }
    if (fj->end_fault.code != FAULT_NONE)
        fj->end = END_RETRIED;
}

/* Everything up to the decision: what it depends on is written, and its note beside the one that
 * counts. Files that are given back end here. */
static void prepare(struct folder_thread *t, struct folder_job *fj)
{
    struct claim *claim = fj->claim;
    struct note *note = &claim->note;
    struct stat status;
    if ((fj->end == END_DONE || fj->end == END_FAILED) && fj->in_fd >= 0) {
        bool told = fstat(fj->in_fd, &status) == 0;
        struct identity now = told ? identity_of(&status) : (struct identity){0};
        if (!told || !identity_equal(&now, &claim->identity)) {
            /* somebody wrote to the file while it was read, so its results mean nothing */
            fault_clear(&fj->job.fault);
            fj->end = END_RETURNED;
        }
    }
    file_close(&fj->in_fd);
    note->attempts = fj->job.attempts;
    switch (fj->end) {
    case END_DONE: {
        /* there is a file for each result, whose plane the worker tells now, and behind them one
         * for each further plane, for which it has asked */
        size_t further = watch_count_results(claim->spool->rules);
        bool same = fj->n_files == claim->n_drafts;
        for (size_t i = 0; same && i < fj->n_files; i++) {
            const struct folder_written *file = &fj->files[i];
            bool first = i == 0 || file->of != file[-1].of;
            size_t at = first ? file->of : further++;
            struct draft *draft = at < claim->n_drafts ? &claim->drafts[at] : NULL;
            same =
                draft && draft->of == file->of && (first || strcmp(draft->plane, file->plane) == 0);
            if (same)
                memcpy(draft->plane, file->plane, sizeof draft->plane);
        }
        if (!same) {
            fault_set(&fj->end_fault, FAULT_INTERNAL,
                      "the worker wrote %zu results and speaks of %zu", claim->n_drafts,
                      fj->n_files);
            break;
        }
        if (fj->report && (drafts_add(claim, 0, CLAIM_REPORT, t->extensions, &fj->end_fault) != 0 ||
                           file_write(claim->drafts[claim->n_drafts - 1].fd, fj->report,
                                      strlen(fj->report), &fj->end_fault) != 0))
            break;
        drafts_prepare(claim, &fj->end_fault);
        break;
    }
    case END_RETURNED: {
        /* The name must be known before the file appears in the folder again. If a new file has it
         * by now, nobody can complete one that is truncated. */
        bool truncated = fj->job.fault.code == FAULT_TRUNCATED, known = claim->spool == t->spool;
        drafts_discard(claim);
        if (known && folder_thread_is_live(t))
            candidates_return(&t->candidates, claim->name, &claim->identity, truncated,
                              clock_now());
        if (claim_give_back(claim, &fj->end_fault) != 0 && truncated && known) {
            fault_clear(&fj->end_fault);
            fj->end = END_FAILED;
        }
        break;
    }
    case END_GIVEN_BACK:
        drafts_discard(claim);
        claim_clear_begun(claim); /* an orderly end of the daemon is no interruption */
        /* a file whose note has to be kept stays claimed, and the next start finds it */
        if (note->verdict == NOTE_OPEN && note->crashes == 0 && note->interruptions == 0)
            claim_give_back(claim, NULL);
        break;
    default:
        break;
    }
    if (fj->end != END_DONE || fj->end_fault.code != FAULT_NONE)
        drafts_discard(claim);
    if (fj->end == END_FAILED || fj->end_fault.code != FAULT_NONE)
        fail(fj, true);
}

/* A step of a job that was to be decided, or is, has failed: it is done again. Before the decision
 * its results go; a sync that fails after it undoes the verdict. */
static void do_again(struct folder_job *fj, int error, const char *path, bool decided)
{
    errno = error;
    fault_set_errno(&fj->end_fault, FAULT_IO, path);
    fj->end = END_RETRIED;
    if (decided) {
        results_void(fj->claim);
    } else {
        drafts_discard(fj->claim);
        fj->claim->note.verdict = NOTE_OPEN;
    }
}

/* From the end of the work to the decision. */
static void decide(struct folder_thread *t, struct folder_jobs *jobs)
{
    struct folder_job *fj;
    size_t count = 0, most = 1;
    STAILQ_FOREACH (fj, jobs, next) {
        prepare(t, fj);
        most += fj->claim->n_drafts + 1;
        folder_thread_moves(t);
    }

    /* Results and notes are synced, once for all jobs. Those whose sync failed are done again. */
    struct disk_sync *items = calloc(most, sizeof *items);
    STAILQ_FOREACH (fj, jobs, next) {
        const struct claim *claim = fj->claim;
        if (!items || !is_decided(fj) || !claim->spool->syncs)
            continue;
        for (size_t i = 0; i < claim->n_drafts; i++)
            items[count++].fd = claim->drafts[i].fd;
        items[count++].fd = claim->note_fd;
    }
    disk_sync_all(items, count);
    count = 0;
    STAILQ_FOREACH (fj, jobs, next) {
        const struct claim *claim = fj->claim;
        int of_results = items ? 0 : ENOMEM;
        if (!is_decided(fj) || !claim->spool->syncs)
            continue;
        for (size_t i = 0; items && i < claim->n_drafts; i++, count++)
            of_results = of_results ? of_results : items[count].error;
        int of_note = items ? items[count++].error : 0;
        if (of_results || of_note)
            do_again(fj, of_results ? of_results : of_note,
                     of_results ? claim->spool->out_path : claim->spool->hidden_path, false);
    }

    /* The commit point. From here on the note knows the results; names and the original follow in
     * later steps. */
    STAILQ_FOREACH (fj, jobs, next) {
        if (is_decided(fj) && claim_decide(fj->claim, &fj->end_fault) != 0)
            do_again(fj, errno, fj->claim->spool->hidden_path, false);
        if (is_decided(fj))
            drafts_forget(fj->claim);
        folder_thread_moves(t);
    }

    /* The claims' folders are synced, once for all jobs that were decided. */
    count = 0;
    STAILQ_FOREACH (fj, jobs, next)
        if (items && is_decided(fj) && fj->claim->spool->syncs)
            items[count++] = (struct disk_sync){.fd = fj->claim->folder_fd};
    disk_sync_all(items, count);
    count = 0;
    STAILQ_FOREACH (fj, jobs, next) {
        if (is_decided(fj) && fj->claim->spool->syncs) {
            int error = items ? items[count++].error : ENOMEM;
            if (error != 0)
                do_again(fj, error, fj->claim->spool->hidden_path, true);
        }
    }
    free(items);
}

/* From the decision to the end: everything gets its place. */
static void publish(struct folder_thread *t, struct folder_jobs *jobs)
{
    struct folder_job *fj;
    size_t most = 1, count = 0;
    STAILQ_FOREACH (fj, jobs, next) {
        struct claim *claim = fj->claim;
        int placed = fj->end == END_DONE ? results_place(claim, &fj->end_fault) : FAULT_NONE;
        if (placed == FAULT_EXISTS || placed == FAULT_CREATE)
            results_withdraw(claim);
        if (placed != 0)
            fail(fj, false);
        most++;
        folder_thread_moves(t);
    }

    /* OUT is synced once for all results that got their names there. Another spool's OUT, and
     * folders below OUT, need a sync of their own. */
    const struct spool *synced = NULL;
    int error = 0;
    STAILQ_FOREACH (fj, jobs, next) {
        const struct spool *spool = fj->claim->spool;
        if (fj->end != END_DONE)
            continue;
        if (synced != spool || spool->rules->recursive)
            error = results_sync_names(fj->claim) == 0 ? 0 : errno;
        synced = spool;
        if (error != 0)
            do_again(fj, error, spool->out_path, true);
    }

    /* The files are entered in the ledger before the originals move: a file that stays in its
     * folder must be known as done before it can be seen there again. Only a folder that depends on
     * the ledger waits for its disk, and for its faults. */
    struct fault fault = FAULT_INIT;
    struct ledger_entry *entries = calloc(most, sizeof *entries);
    bool needed = !entries; /* then every job of this call goes on later */
    if (needed)
        fault_set(&fault, FAULT_MEMORY, "no memory for the ledger");
    STAILQ_FOREACH (fj, jobs, next)
        if (fault.code == FAULT_NONE && is_decided(fj) &&
            claim_fill_entry(fj->claim, &entries[count],
                             fj->end == END_FAILED ? fj->job.fault.text : NULL))
            needed |= entries[count++].remembered;
    if (count > 0)
        ledger_write(t->spools->ledger, entries, count, needed, &fault);
    if (fault.code != FAULT_NONE)
        log_warning("%s", fault.text);
    free(entries);

    /* The originals leave, each with its note. */
    STAILQ_FOREACH (fj, jobs, next) {
        struct claim *claim = fj->claim;
        bool done = fj->end == END_DONE;
        if (fault.code != FAULT_NONE && needed && is_decided(fj)) {
            fault_set(&fj->end_fault, fault.code, "%s", fault.text);
            fj->end = END_RETRIED;
        }
        if (is_decided(fj) && done) {
            free(fj->results);
            fj->results = claim_print_results(claim, true);
        }
        if (is_decided(fj) && (done ? claim_done : claim_failed)(claim, &fj->end_fault) != 0)
            fj->end = END_RETRIED;
        folder_thread_moves(t);
    }
    struct results_synced released = {0};
    STAILQ_FOREACH (fj, jobs, next)
        if (fj->end == END_DONE && fj->claim->keeps_in_out)
            results_release(fj->claim, &released);
}

/* Carries out how jobs ended, and tells the loop. */
static void end_jobs(struct folder_thread *t)
{
    struct folder_job *fj;
    STAILQ_FOREACH (fj, &t->ends, next)
        t->n_open -= fj->in_fd >= 0;
    decide(t, &t->ends);
    publish(t, &t->ends);
    while ((fj = STAILQ_FIRST(&t->ends)) != NULL) {
        STAILQ_REMOVE_HEAD(&t->ends, next);
        claim_close_note(fj->claim);
        struct letter *letter = &fj->letters[LETTER_END];
        fault_clear(&letter->fault);
        if ((fj->end == END_RETRIED || fj->end_fault.code != FAULT_NONE) &&
            !is_left_behind(t, fj)) {
            letter->fault = fj->end_fault.code != FAULT_NONE ? fj->end_fault : fj->job.fault;
            fj->end = END_RETRIED;
        }
        fault_clear(&fj->end_fault);
        if (fj->end == END_DONE) {
            t->put_away += (uint64_t)fj->claim->identity.size;
            t->now.n_done += fj->claim->spool->rules->originals == ORIGINALS_DONE;
        }
        t->now.n_failed += fj->end == END_FAILED;
        if (fj->end != END_RETRIED)
            close_job(t, fj);
        post(t, letter);
    }
}

/* ---- rounds ---- */

void folder_reader_begin(struct folder_thread *t, struct folder_reader *reader,
                         void *(*run)(void *reader), bool here)
{
    pthread_t thread;
    reader->thread = t;
    reader->spool = t->spool;
    t->spool->users++;
    reader->moved = clock_now();
    pthread_mutex_lock(&t->lock);
    LIST_INSERT_HEAD(&t->readers, reader, next);
    pthread_mutex_unlock(&t->lock);
    /* signals stay blocked, as they are in this thread */
    if (!here && pthread_create(&thread, NULL, run, reader) == 0)
        pthread_detach(thread);
    else
        run(reader);
}

/* A thread that waits is woken by a signal, which is blocked whenever it does not wait: that takes
 * no descriptor of the process, which may have a thousand folders. */
#define WAKE SIGURG

static void on_wake(int number)
{
}

void folder_thread_wake(struct folder_thread *t)
{
    if (t->waits)
        pthread_kill(t->id, WAKE);
    t->waits = false;
}

uint64_t folder_thread_moved(struct folder_thread *t)
{
    const struct folder_reader *reader;
    pthread_mutex_lock(&t->lock);
    uint64_t since = t->moved;
    LIST_FOREACH (reader, &t->readers, next)
        if (since == 0 || reader->moved < since)
            since = reader->moved;
    pthread_mutex_unlock(&t->lock);
    return since;
}

/* Sleeps until the next round is due, or there is news. */
static void wait_for_news(struct folder_thread *t)
{
    uint64_t now = clock_now(), due = UINT64_MAX, names_due = 0;
    unsigned room;
    if ((t->seen & FOLDER_BEGIN) != 0 && !t->stopping) {
        if (!t->spool)
            due = t->now.next_try;
        else if (t->lost_why || has_names(t, &room))
            due = now;
        else if (!t->scanning)
            due = t->now.next_try < t->now.next_check ? t->now.next_try : t->now.next_check;
        if (t->spool)
            names_due = candidates_due(&t->candidates);
        due = names_due != 0 && names_due < due ? names_due : due;
    }
    bool reads = t->watch_fd >= 0 && now >= t->read_after;
    if (t->watch_fd >= 0 && !reads && t->read_after < due)
        due = t->read_after;
    struct pollfd events = {.fd = reads ? t->watch_fd : -1, .events = POLLIN};
    uint64_t rest = due > now ? due - now : 0;
    struct timespec time = {.tv_sec = (time_t)(rest / SECOND), .tv_nsec = (long)(rest % SECOND)};
    pthread_mutex_lock(&t->lock);
    t->waits = rest > 0 && STAILQ_EMPTY(&t->in) && STAILQ_EMPTY(&t->asked) &&
               STAILQ_EMPTY(&t->read) && !t->scan_end && t->seen_changes == t->n_changes;
    bool waits = t->waits;
    t->moved = 0;
    pthread_mutex_unlock(&t->lock);
    sigset_t but_wake;
    sigfillset(&but_wake);
    sigdelset(&but_wake, WAKE);
    if (waits) /* one that was sent before this is delivered now */
        ppoll(&events, 1, due == UINT64_MAX ? NULL : &time, &but_wake);
    folder_thread_moves(t);
}

/* One round. Returns false when nothing is left to be done, ever. */
static bool go_round(struct folder_thread *t)
{
    struct letters letters = STAILQ_HEAD_INITIALIZER(letters);
    struct probes read = STAILQ_HEAD_INITIALIZER(read);
    pthread_mutex_lock(&t->lock);
    t->waits = false;
    STAILQ_CONCAT(&letters, &t->in);
    STAILQ_CONCAT(&t->waiting, &t->asked);
    STAILQ_CONCAT(&read, &t->read);
    struct folder_scan *scan = t->scan_end;
    t->scan_end = NULL;
    t->seen = t->flags;
    t->seen_changes = t->n_changes;
    t->most = t->room;
    t->most_open = t->ahead;
    pthread_mutex_unlock(&t->lock);

    if ((t->seen & (FOLDER_STOP | FOLDER_FORGET)) != 0 && !t->stopping) {
        t->stopping = true;
        file_close(&t->watch_fd);
        candidates_clear(&t->candidates);
    }
    if ((t->seen & FOLDER_BEGIN) != 0 && !t->stopping && !t->spool &&
        clock_now() >= t->now.next_try)
        folder_open_directories(t);
    if (clock_now() >= t->read_after)
        hear(t);
    if (t->lost_why && folder_thread_is_live(t))
        folder_lose_directories(t, t->settings->input, t->lost_why);
    take_letters(t, &letters);
    if (!STAILQ_EMPTY(&read))
        folder_take_read(t, &read);
    if (scan)
        folder_scan_take(t, scan);
    unsigned room;
    bool more = false;
    if (folder_thread_is_live(t))
        folder_scan_if_due(t, clock_now());
    if (folder_thread_is_live(t)) {
        uint64_t now = clock_now(), due = candidates_due(&t->candidates);
        if (due != 0 && due <= now)
            candidates_wake(&t->candidates, now);
        if (has_names(t, &room))
            look_at_names(t, room);
        more = has_names(t, &room);
    }
    /* while there is more to claim, workers have something to do meanwhile */
    if (!STAILQ_EMPTY(&t->ends) && (!more || ++t->n_postponed == POSTPONED_MOST)) {
        end_jobs(t);
        t->n_postponed = 0;
    }
    if (!STAILQ_EMPTY(&t->waiting))
        folder_begin_reading(t);

    /* The loop sees how things are now, and is woken only where somebody waits for that. */
    if (!t->stopping || t->n_jobs > 0 || t->n_reading > 0 || t->scanning) {
        const struct candidates *c = &t->candidates;
        struct folder_figures *now = &t->now;
        memcpy(now->names, c->counts, sizeof now->names);
        now->mode = !t->spool ? "gone" : t->watch_fd >= 0 ? "inotify" : "poll";
        now->quiet = t->whole_scanned && !t->scanning &&
                     c->count == c->counts[CANDIDATE_TAKEN] + c->counts[CANDIDATE_EMPTY];
        pthread_mutex_lock(&t->lock);
        bool news = now->scanned != t->figures.scanned || now->n_backs != t->figures.n_backs ||
                    (now->quiet && !t->figures.quiet);
        t->figures = *now;
        t->wants_room = c->counts[CANDIDATE_READY] > 0;
        if (news && t->async)
            uv_async_send(t->async);
        pthread_mutex_unlock(&t->lock);
        return true;
    }
    if (t->spool) {
        struct spool *spool = t->spool;
        t->spool = NULL;
        folder_leave_spool(t, spool);
        folder_show_leads(t, NULL);
    }
    folder_begin_reading(t); /* there is nothing to read any more */
    pthread_mutex_lock(&t->lock);
    more = !STAILQ_EMPTY(&t->in) || !STAILQ_EMPTY(&t->asked);
    t->ended = !more;
    if (t->ended && t->async)
        uv_async_send(t->async);
    pthread_mutex_unlock(&t->lock);
    return more;
}

static void *run(void *context)
{
    struct folder_thread *t = context;
    t->id = pthread_self();
    do
        wait_for_news(t);
    while (go_round(t));
    candidates_finish(&t->candidates);
    pthread_mutex_lock(&t->lock);
    t->moved = 0;
    folder_thread_leave(t);
    return NULL;
}

static void forget_ended(struct folder_thread *t)
{
    struct folder_ended *ended;
    while ((ended = STAILQ_FIRST(&t->ended_before)) != NULL) {
        STAILQ_REMOVE_HEAD(&t->ended_before, next);
        folder_ended_free(ended);
    }
}

void folder_thread_leave(struct folder_thread *t)
{
    bool last = --t->users == 0;
    pthread_mutex_unlock(&t->lock);
    if (!last)
        return;
    forget_ended(t);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

int folder_thread_create(struct folder_thread **thread, struct folder *folder, struct fault *fault)
{
    const struct watch_settings *settings = folder->settings;
    struct folder_thread *t = calloc(1, sizeof *t);
    pthread_t id;
    sigset_t all, before;
    *thread = NULL;
    if (!t)
        return fault_set(fault, FAULT_MEMORY, "no memory for a folder");
    *t = (struct folder_thread){.folder = folder,
                                .settings = settings,
                                .spools = &folder->world->spools,
                                .make_folders = folder->world->make_folders,
                                .async = &folder->mail,
                                .users = 2,
                                .watch_fd = -1,
                                .now = {.mode = "gone", .well_since = clock_now()}};
    t->figures = t->now;
    STAILQ_INIT(&t->in);
    STAILQ_INIT(&t->out);
    STAILQ_INIT(&t->asked);
    STAILQ_INIT(&t->read);
    STAILQ_INIT(&t->answered);
    STAILQ_INIT(&t->ended_before);
    STAILQ_INIT(&t->waiting);
    STAILQ_INIT(&t->ends);
    LIST_INIT(&t->readers);
    pthread_mutex_init(&t->lock, NULL);
    candidates_init(&t->candidates, (struct candidate_times){settings->settle, settings->stable});
    sigaction(WAKE, &(struct sigaction){.sa_handler = on_wake, .sa_flags = SA_RESTART}, NULL);
    sigfillset(&all); /* signals go to the loop's thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = 0;
    if (pthread_create(&id, NULL, run, t) != 0)
        result = fault_set(fault, FAULT_MEMORY, "no thread can be started");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result == 0) {
        pthread_detach(id);
        *thread = t;
        return 0;
    }
    candidates_finish(&t->candidates);
    t->users = 1;
    pthread_mutex_lock(&t->lock);
    folder_thread_leave(t);
    return result;
}
