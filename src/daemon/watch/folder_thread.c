/* A folder's thread, and with it a file's life, from the first hint to its result. The thread owns
 * the folder's directories, its inotify, its names and its claims, and waits for their disk, so
 * that a folder that hangs delays no other. A round of it (at the end of this file) goes through
 * these sections:
 *
 * - the directories: they are opened, and lost
 *
 * - hints: inotify and scans (folder_scan.c) name files (candidate.h)
 *
 * - looks: what is complete is claimed (spool/claim.h), opened, and given to the loop
 *
 * - letters: the loop's queue (work/queue.c) has a worker do it, which asks for outputs
 *
 * - ends: results and original are put in their places (folder_settle.c)
 *
 * - questions: they are read for by threads of their own (inquiry.h)
 */
#include "daemon/watch/folder_internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/name.h"
#include "base/number.h"
#include "daemon/spool/recovery.h"

#define POLL_EVERY (2 * SECOND) /* time between scans where there is no inotify */

#define LOOKS_AT_ONCE 64 /* names that one round looks at */

/* Rounds for which files that have ended wait while others are claimed, so that more of them share
 * their syncs. */
#define POSTPONED_MOST 4

/* Our own looks are told of, too, so events are read together: this is the time from one reading to
 * the next. Of many events so many buffers are read in a round. */
#define READ_EVERY   (2 * MILLISECOND)
#define READS_A_TIME 64

#define INTERRUPTIONS_UNTIL_LAST 3

/* Files of the folder are all that is asked for: written and closed, moved in, made, or opened and
 * left. IN_MODIFY is not, since its events would fill the kernel's queue. */
#define EVENTS                                                                                     \
    (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_OPEN | IN_CLOSE_NOWRITE | IN_ATTRIB |           \
     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
#define EVENTS_OF_END (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)

/* ---- the directories ---- */

bool folder_thread_note(struct folder_thread *t, struct folder_trouble *trouble, const char *text)
{
    bool was = trouble->since != 0;
    if (text)
        snprintf(trouble->text, sizeof trouble->text, "%s", text);
    if (was == (text != NULL))
        return false;
    trouble->since = text ? clock_now() : 0;
    if (!text)
        t->now.well_since = clock_now();
    return true;
}

/* Makes the directory if it is missing. Any other fault shows when the path is opened. */
static void make_if_missing(const char *path)
{
    struct fault fault = FAULT_INIT;
    if (access(path, F_OK) == 0 || errno != ENOENT)
        return;
    if (path_make_directories(path, 0777, &fault) == 0)
        log_info("%s: there was no such folder; it is made", path);
}

/* Network and FUSE file systems have to be polled, because inotify misses most events there; the
 * setting `inotify` insists. Returns a descriptor, or −1 and the fault. */
static int open_watch(const struct watch_settings *settings, struct fault *fault)
{
    const char *path = settings->input;
    const char *kind = settings->mode == MODE_INOTIFY ? NULL : file_remote_kind(path);
    if (kind) {
        fault_set(fault, FAULT_IO, "on %s inotify does not see what others write", kind);
        return -1;
    }
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd >= 0 && inotify_add_watch(fd, path, EVENTS) >= 0)
        return fd;
    if (errno == EMFILE || errno == ENOSPC) /* whose own texts do not say what is meant */
        fault_set(fault, FAULT_IO, "inotify: no %s left for this user (fs.inotify.max_user_%s)",
                  errno == EMFILE ? "instance" : "watch",
                  errno == EMFILE ? "instances" : "watches");
    else
        fault_set_errno(fault, FAULT_IO, "inotify");
    file_close(&fd);
    return -1;
}

/* Where the paths lead, for questions; NULL: they are gone. */
static void show_leads(struct folder_thread *t, const struct spool *spool)
{
    char *in = spool ? strdup(spool->folder) : NULL,
         *out = spool ? strdup(spool->out_folder) : NULL;
    pthread_mutex_lock(&t->lock);
    free(t->figures.leads_in);
    free(t->figures.leads_out);
    t->now.leads_in = t->figures.leads_in = in;
    t->now.leads_out = t->figures.leads_out = out;
    pthread_mutex_unlock(&t->lock);
}

/* Tried again after 1 s, 2 s, 4 s, then every 8 s, so that a folder that works again is used soon.
 */
static void note_refusal(struct folder_thread *t, const struct fault *fault)
{
    const char *out = t->settings->output;
    size_t length = strlen(out);
    bool same = t->now.lost.since && strcmp(t->now.lost.text, fault->text) == 0;
    bool of_out = strncmp(fault->text, out, length) == 0 && fault->text[length] == ':';
    t->lost_path = of_out ? out : t->settings->input;
    t->now.unusable = fault->code != FAULT_NO_INPUT;
    t->now.next_try = clock_now() + (SECOND << t->n_tries);
    t->n_tries += t->n_tries < 3;
    folder_thread_note(t, &t->now.lost, fault->text);
    if (!same)
        log_warning("%s; it is tried again", fault->text);
    t->now.scanned = true; /* the start of the daemon need not wait for it */
}

/* The watch is set up before the scan: a file that comes between the two is then seen twice rather
 * than never. */
static void open_directories(struct folder_thread *t)
{
    const struct watch_settings *settings = t->settings;
    const char *path = settings->input;
    struct fault fault = FAULT_INIT, unwatched = FAULT_INIT;
    if (t->make_folders && !t->now.scanned) {
        make_if_missing(settings->input);
        make_if_missing(settings->output);
    }
    if (spool_open(&t->spool, settings, t->spools, &fault) != 0) {
        note_refusal(t, &fault);
        return;
    }
    folder_thread_moves(t);
    if (settings->mode != MODE_POLL)
        t->watch_fd = open_watch(settings, &unwatched);
    if (folder_thread_note(t, &t->now.lost, NULL))
        log_info("%s is back", t->lost_path);
    t->now.n_backs++;
    t->now.well_since = clock_now();
    t->n_tries = 0;
    show_leads(t, t->spool);
    if (settings->mode == MODE_POLL)
        log_info("watching %s by reading it every %s, chain '%s', results as %s in %s", path,
                 number_duration(POLL_EVERY), settings->chain, settings->format, settings->output);
    else if (t->watch_fd >= 0)
        log_info("watching %s (inotify%s), chain '%s', results as %s in %s", path,
                 settings->recursive ? "; folders below are read every 2s" : "", settings->chain,
                 settings->format, settings->output);
    else
        log_warning("watching %s by reading it every %s: %s", path, number_duration(POLL_EVERY),
                    unwatched.text);
    t->now.next_try = clock_now();
}

void folder_thread_leave_spool(struct folder_thread *t, struct spool *spool)
{
    /* a scan may now take over the claims that were left in it */
    if (spool_leave(spool) && folder_thread_is_live(t))
        t->now.next_try = clock_now();
}

/* Jobs of the old directory keep it open until they have ended. */
void folder_thread_lose(struct folder_thread *t, const char *path, const char *why)
{
    char text[sizeof t->now.lost.text];
    struct spool *spool = t->spool;
    bool own = path == spool->hidden_path;
    snprintf(text, sizeof text, "%s: %s", path, why);
    log_warning("%s; it is %s", text, own ? "made anew" : "taken up again when it returns");
    t->now.unusable = own;
    folder_thread_note(t, &t->now.lost, text);
    folder_thread_note(t, &t->now.unread, NULL);
    folder_thread_note(t, &t->now.no_space, NULL);
    t->lost_path = own ? t->settings->input : path;
    t->lost_why = NULL;
    t->now.next_try = clock_now();
    file_close(&t->watch_fd);
    candidates_clear(&t->candidates);
    show_leads(t, NULL);
    t->spool = NULL;
    folder_thread_leave_spool(t, spool);
}

/* ---- hints ---- */

static void take_event(struct folder_thread *t, const struct inotify_event *event)
{
    uint32_t mask = event->mask;
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
            take_event(t, event);
            at += sizeof *event + event->len;
        }
    }
    return length <= 0 && t->watch_fd >= 0 && !t->lost_why && overflows == t->now.n_overflows;
}

/* ---- looks: what is complete becomes a job ---- */

/* The first picture that vanishes from a folder surprises people, so the log says once where it
 * goes. */
static void tell_first(struct folder_thread *t, const struct claim *claim)
{
    const struct spool *spool = claim->spool;
    int rule = spool->rules->originals;
    if (t->told_first)
        return;
    t->told_first = true;
    log_info("%s/%s is the first file taken here: originals %s%s%s when their results are in %s; "
             "%s%s/failed%s",
             t->settings->input, claim->name,
             rule == ORIGINALS_DONE     ? "go to "
             : rule == ORIGINALS_DELETE ? "are deleted"
                                        : "stay in their folder",
             rule == ORIGINALS_DONE ? spool->hidden_path : "",
             rule == ORIGINALS_DONE ? "/done" : "", t->settings->output,
             spool->in_place ? "reasons of failures go to " : "those that fail go to ",
             spool->hidden_path, spool->in_place ? "" : " with the reason");
}

void folder_job_discard_drafts(struct folder_job *fj)
{
    for (size_t i = 0; i < fj->n_drafts; i++)
        draft_discard(&fj->drafts[i], fj->claim, i);
    fj->n_drafts = 0;
}

static int add_draft(struct folder_thread *t, struct folder_job *fj, struct fault *fault)
{
    struct draft *drafts = realloc(fj->drafts, (fj->n_drafts + 1) * sizeof *drafts);
    if (!drafts)
        return fault_set(fault, FAULT_MEMORY, "no memory for a result");
    fj->drafts = drafts;
    int result = draft_open(&drafts[fj->n_drafts], fj->claim, fj->n_drafts, t->extension, fault);
    if (result == 0)
        fj->n_drafts++;
    return result;
}

/* Opens input and first output anew, whatever an earlier try left. `end` says so if the file has
 * ended without another try. */
static void open_job(struct folder_thread *t, struct folder_job *fj, struct fault *fault)
{
    struct claim *claim = fj->claim;
    struct note *note = &claim->note;
    bool ended = false;
    file_close(&fj->in_fd);
    fj->out_fd = -1;
    fj->end = END_NONE;
    folder_job_discard_drafts(fj);
    /* attempts and crashes so far are written down before the next try */
    bool crashed = note->crashes != fj->job.crashes;
    note->attempts = fj->job.attempts;
    note->crashes = fj->job.crashes;
    if (fj->job.attempts > 0)
        claim_clear_begun(claim);
    int result = crashed ? claim_write_note(claim, fault) : 0;
    if (result == 0 && note->verdict != NOTE_OPEN)
        result = recovery_resume(claim, claim->spool->out_fd, &ended, fault);
    if (result == 0 && !ended)
        result = claim_open(claim, &fj->in_fd, fault);
    /* a file that was moved into our folder is left alone: it may be there although it could not be
     * opened */
    if (result == FAULT_NO_INPUT && claim->spool->in_place)
        claim_give_back(claim, NULL);
    if (result == FAULT_NO_INPUT || ended)
        fj->end = ended ? END_BEFORE : END_GONE;
    if (result == 0 && !ended) {
        result = add_draft(t, fj, fault);
        fj->unplaceable = result == FAULT_CREATE;
        if (result == 0)
            fj->out_fd = fj->drafts[0].fd;
        else
            file_close(&fj->in_fd);
    }
}

/* Closes what is open of a job that has ended, or is left to the next start. */
static void close_job(struct folder_thread *t, struct folder_job *fj)
{
    struct spool *spool = fj->claim->spool;
    file_close(&fj->in_fd);
    fj->out_fd = -1;
    for (size_t i = 0; i < fj->n_drafts; i++)
        draft_forget(&fj->drafts[i]);
    fj->n_drafts = 0;
    if (spool->in_place)
        candidates_let_go(&t->candidates, fj->name);
    claim_destroy(&fj->claim);
    folder_thread_leave_spool(t, spool);
    t->n_jobs--;
}

void folder_job_free(struct folder_job *fj)
{
    free(fj->name);
    free(fj->drafts);
    free(fj->planes);
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
    spool_use(claim->spool);
    fj->folder = t->folder;
    fj->name = name;
    fj->claim = claim;
    fj->last_chance = last_chance;
    fj->in_fd = fj->out_fd = -1;
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
    tell_first(t, claim);
    /* What cannot be opened now is opened in its turn. So is what an earlier run has left, which
     * may be any number of files, and what stays in the folder, where it may be changed until then.
     */
    struct letter *letter = &fj->letters[LETTER_OPEN];
    if (!claim->recovered && !claim->spool->in_place && t->n_open < t->most_open) {
        open_job(t, fj, &letter->fault);
        fault_clear(&letter->fault);
        fj->end = END_NONE;
    }
    t->n_open += fj->in_fd >= 0;
    post(t, letter);
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

/* Looks at a file, and claims it if it is complete and there is room. */
static void look_at(struct folder_thread *t, struct look *look, bool room, struct fault *unknown)
{
    const struct spool *spool = t->spool;
    const char *name = look->candidate->name;
    const struct candidate_times *times = &t->candidates.times;
    struct identity identity = {0};
    uint64_t now = clock_now();
    enum spool_writer writer = SPOOL_WRITER_UNKNOWN;
    enum spool_sight sight = spool_look(spool, name, &identity);
    bool done = false;
    look->verdict = CANDIDATE_WAIT;
    if (sight == SPOOL_FILE && spool_remembers(spool) &&
        ledger_knows(spool->world->ledger, spool->folder, &identity, &done, unknown) != 0)
        return;
    look->verdict = CANDIDATE_DROP;
    if (done)
        return;
    look->verdict =
        candidate_judge(&look->facts, &look->heard, sight, &identity, writer, now, times);
    if (look->verdict == CANDIDATE_REST && (look->heard.closed || look->heard.whole))
        log_about((struct log_subject){.folder = spool->in_path, .file = name}, LOG_LEVEL_INFO,
                  "empty; it waits until something is written to it");
    /* Probing opens the file, and the event of that would look like somebody else's. */
    if (look->verdict == CANDIDATE_TAKE && room) {
        sight = spool_probe(spool, name, &writer);
        look->verdict =
            candidate_judge(&look->facts, &look->heard, sight, &identity, writer, now, times);
    }
    if (look->facts.unreadable)
        fault_set(&look->fault, FAULT_PERMISSION, "cannot be read yet");
    if (look->verdict != CANDIDATE_TAKE || !room)
        return;
    int result = claim_take(&look->claim, t->spool, name, &look->facts.seen, &look->fault);
    if (result != 0)
        look->verdict = CANDIDATE_WAIT; /* it is looked at again, whatever it is now */
    if (result == FAULT_BUSY)
        fault_clear(&look->fault);
}

/* What the look, and events since, mean for a candidate. `caught_up`: all events up to the look are
 * known, so a file with content that was never opened must have been linked in. */
static void apply(struct folder_thread *t, struct look *look, bool caught_up)
{
    struct candidates *candidates = &t->candidates;
    struct candidate *c = look->candidate;
    bool forget = look->claim || look->verdict == CANDIDATE_DROP;
    if (look->fault.code != FAULT_NONE && !c->complained)
        log_about((struct log_subject){.folder = t->settings->input, .file = c->name},
                  LOG_LEVEL_WARNING, "%s; it is tried again", look->fault.text);
    c->complained = look->fault.code != FAULT_NONE;
    if (look->fault.code == FAULT_CREATE || look->fault.code == FAULT_IO)
        t->now.next_check = 0; /* our hidden folder may be gone: check it now */
    c->facts = forget ? (struct candidate_facts){0} : look->facts;
    if (forget && !c->hinted)
        c->heard = (struct candidate_heard){0};
    if (caught_up && c->heard.created && look->heard.created && look->verdict == CANDIDATE_WAIT &&
        !look->facts.unreadable) {
        c->heard = (struct candidate_heard){.touched = c->heard.touched, .whole = true};
        c->hinted = true;
    }
    if (look->claim && t->spool->in_place)
        /* further events are kept until the job ends */
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
}

/* How many more files may be claimed. */
static unsigned room_of(const struct folder_thread *t)
{
    return t->now.no_space.since || t->n_jobs >= t->most ? 0 : t->most - t->n_jobs;
}

static bool has_names(const struct folder_thread *t)
{
    const struct candidates *c = &t->candidates;
    return c->counts[CANDIDATE_HINTED] > 0 || (c->counts[CANDIDATE_READY] > 0 && room_of(t) > 0);
}

/* Looks at names: complete ones first, as many as there is room for. */
static void look_at_names(struct folder_thread *t)
{
    static const enum candidate_state states[] = {CANDIDATE_READY, CANDIDATE_HINTED};
    struct candidates *candidates = &t->candidates;
    struct fault unknown = FAULT_INIT; /* the ledger did not tell what is done */
    size_t count = 0;
    unsigned room = room_of(t);
    if (!has_names(t))
        return;
    struct look *looks = malloc(LOOKS_AT_ONCE * sizeof *looks);
    if (!looks) { /* the next round tries it again */
        clock_sleep(SECOND / 10);
        return;
    }
    for (int i = 0; i < 2; i++) {
        struct candidate *c;
        while (count < LOOKS_AT_ONCE && (states[i] != CANDIDATE_READY || count < room) &&
               (c = TAILQ_FIRST(&candidates->lists[states[i]])) != NULL) {
            candidates_move(candidates, c, CANDIDATE_LOOKING);
            c->hinted = false;
            looks[count] = (struct look){.candidate = c, .heard = c->heard, .facts = c->facts};
            fault_clear(&looks[count++].fault);
        }
    }
    const char *short_of_space = spool_short_of_space(t->spool);
    if (short_of_space)
        room = 0;
    for (size_t i = 0; i < count; i++, folder_thread_moves(t)) {
        look_at(t, &looks[i], room > 0, &unknown);
        room -= looks[i].claim != NULL;
    }
    bool caught_up = hear(t);
    for (size_t i = 0; i < count; i++) {
        apply(t, &looks[i], caught_up);
        if (looks[i].claim)
            folder_thread_add(t, looks[i].claim, looks[i].facts.truncated);
        folder_thread_moves(t);
    }
    if (unknown.code)
        folder_note_unread(t, &unknown);
    folder_note_space(t, short_of_space);
    free(looks);
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

/* Opens a job in its turn. A fault in opening never counts against the file, unless OUT can never
 * have its result. */
static void open_in_turn(struct folder_thread *t, struct letter *letter)
{
    struct folder_job *fj = letter->fj;
    fault_clear(&letter->fault);
    t->n_open -= fj->in_fd >= 0;
    open_job(t, fj, &letter->fault);
    t->n_open += fj->in_fd >= 0;
    if (fj->end == END_BEFORE)
        log_about(job_subject(&fj->job), LOG_LEVEL_INFO,
                  "%s, as decided before; the last steps are done now",
                  fj->claim->note.verdict == NOTE_DONE ? "done" : "failed");
    else if (fj->end == END_GONE)
        log_about(job_subject(&fj->job), LOG_LEVEL_WARNING, "the claimed file is gone: %s",
                  letter->fault.text);
    else if (letter->fault.code != FAULT_NONE && !fj->unplaceable && !is_left_behind(t, fj))
        t->now.next_try = clock_now(); /* the scan notices when a directory is gone */
    if (fj->end != END_NONE)
        close_job(t, fj);
    post(t, letter);
}

/* Carries out how jobs ended, all of them together: they share their syncs. */
static void end_jobs(struct folder_thread *t)
{
    struct folder_job *fj;
    STAILQ_FOREACH (fj, &t->ends, next)
        t->n_open -= fj->in_fd >= 0;
    folder_settle(t, &t->ends);
    while ((fj = STAILQ_FIRST(&t->ends)) != NULL) {
        STAILQ_REMOVE_HEAD(&t->ends, next);
        struct letter *letter = &fj->letters[LETTER_END];
        fault_clear(&letter->fault);
        if ((fj->end == END_RETRIED || fj->end_fault.code != FAULT_NONE) &&
            !is_left_behind(t, fj)) {
            letter->fault = fj->end == END_RETRIED ? fj->job.fault : fj->end_fault;
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

static void take_letters(struct folder_thread *t, struct letters *letters)
{
    struct letter *letter;
    while ((letter = STAILQ_FIRST(letters)) != NULL) {
        struct folder_job *fj = letter->fj;
        STAILQ_REMOVE_HEAD(letters, next);
        if ((t->seen & FOLDER_FORGET) !=
            0) { /* what no worker has is left to whoever takes it over */
            if (letter->kind == LETTER_OPEN || letter->kind == LETTER_END)
                post(t, letter);
            continue;
        }
        switch (letter->kind) {
        case LETTER_OPEN:
            open_in_turn(t, letter);
            break;
        case LETTER_BEGAN:
            fault_clear(&letter->fault);
            if (claim_mark_begun(fj->claim, fj->alone, &letter->fault) != 0)
                log_about(job_subject(&fj->job), LOG_LEVEL_DEBUG, "%s", letter->fault.text);
            break;
        case LETTER_OUTPUT:
            fault_clear(&letter->fault);
            if (add_draft(t, fj, &letter->fault) == 0) {
                struct draft *draft = &fj->drafts[fj->n_drafts - 1];
                snprintf(draft->plane, sizeof draft->plane, "%s", fj->plane);
                fj->plane_fd = draft->fd;
            } else {
                fj->plane_fd = -1;
            }
            post(t, letter);
            break;
        default:
            STAILQ_INSERT_TAIL(&t->ends, fj, next);
            break;
        }
        folder_thread_moves(t);
    }
}

/* ---- questions ---- */

void folder_reader_begin(struct folder_thread *t, struct folder_reader *reader,
                         void *(*run)(void *reader), bool here)
{
    pthread_t thread;
    reader->thread = t;
    reader->spool = spool_use(t->spool);
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
static void take_read(struct folder_thread *t, struct probes *read)
{
    struct probe *probe;
    while ((probe = STAILQ_FIRST(read)) != NULL) {
        STAILQ_REMOVE_HEAD(read, next);
        t->n_reading--;
        folder_thread_leave_spool(t, probe->reader.spool);
        if (probe->kind == INQUIRY_WHY && t->spool)
            folder_explain_name(t, &probe->fate);
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
    if (probe->kind == INQUIRY_LIST && probe->live.files &&
        (!state || strcmp(state, "waiting") == 0))
        folder_list_names(&t->candidates, &probe->live);
}

/* Begins to read for questions, as many at a time as may be slow. */
static void begin_reading(struct folder_thread *t)
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

/* ---- rounds ---- */

void folder_thread_wake(struct folder_thread *t)
{
    if (t->waits)
        eventfd_write(t->wake_fd, 1);
    t->waits = false;
}

/* When the next round is due at the latest. */
static uint64_t next_round(struct folder_thread *t, uint64_t now)
{
    uint64_t due = UINT64_MAX;
    if ((t->seen & FOLDER_BEGIN) == 0 || t->stopping)
        return due;
    if (!t->spool)
        return t->now.next_try;
    if (t->lost_why || has_names(t))
        return now;
    if (!t->scanning)
        due = t->now.next_try < t->now.next_check ? t->now.next_try : t->now.next_check;
    uint64_t wake = candidates_wake(&t->candidates, now);
    return wake != 0 && wake < due ? wake : due;
}

/* Shows the loop how things are, which wakes it only where somebody waits for that. */
static void show(struct folder_thread *t)
{
    const struct candidates *c = &t->candidates;
    const struct folder_figures *before = &t->figures;
    struct folder_figures *now = &t->now;
    memcpy(now->names, c->counts, sizeof now->names);
    now->mode = !t->spool ? "gone" : t->watch_fd >= 0 ? "inotify" : "poll";
    now->quiet = t->whole_scanned && !t->scanning &&
                 c->count == c->counts[CANDIDATE_TAKEN] + c->counts[CANDIDATE_EMPTY];
    pthread_mutex_lock(&t->lock);
    bool news = now->scanned != before->scanned || now->n_backs != before->n_backs ||
                (now->quiet && !before->quiet);
    t->figures = *now;
    t->wants_room = c->counts[CANDIDATE_READY] > 0;
    if (news && t->async)
        uv_async_send(t->async);
    pthread_mutex_unlock(&t->lock);
}

/* Sleeps until the next round is due, or there is news. */
static void wait_for_news(struct folder_thread *t)
{
    uint64_t now = clock_now(), due = next_round(t, now);
    bool reads = t->watch_fd >= 0 && now >= t->read_after;
    if (t->watch_fd >= 0 && !reads && t->read_after < due)
        due = t->read_after;
    struct pollfd fds[] = {{.fd = t->wake_fd, .events = POLLIN},
                           {.fd = reads ? t->watch_fd : -1, .events = POLLIN}};
    uint64_t rest = due > now ? due - now : 0;
    struct timespec time = {.tv_sec = (time_t)(rest / SECOND), .tv_nsec = (long)(rest % SECOND)};
    pthread_mutex_lock(&t->lock);
    t->waits = rest > 0 && STAILQ_EMPTY(&t->in) && STAILQ_EMPTY(&t->asked) &&
               STAILQ_EMPTY(&t->read) && !t->scan_end && t->seen_changes == t->n_changes;
    bool waits = t->waits;
    t->moved = 0;
    pthread_mutex_unlock(&t->lock);
    if (waits)
        ppoll(fds, 2, due == UINT64_MAX ? NULL : &time, NULL);
    if (waits && (fds[0].revents & POLLIN)) {
        eventfd_t value;
        eventfd_read(t->wake_fd, &value);
    }
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
        open_directories(t);
    if (clock_now() >= t->read_after)
        hear(t);
    if (t->lost_why && folder_thread_is_live(t))
        folder_thread_lose(t, t->settings->input, t->lost_why);
    take_letters(t, &letters);
    take_read(t, &read);
    if (scan)
        folder_scan_take(t, scan);
    if (folder_thread_is_live(t))
        folder_scan_if_due(t, clock_now());
    bool more = false;
    if (folder_thread_is_live(t)) {
        candidates_wake(&t->candidates, clock_now());
        look_at_names(t);
        more = has_names(t);
    }
    /* while there is more to claim, workers have something to do meanwhile */
    if (!STAILQ_EMPTY(&t->ends) && (!more || ++t->n_postponed == POSTPONED_MOST)) {
        end_jobs(t);
        t->n_postponed = 0;
    }
    begin_reading(t);

    if (!t->stopping || t->n_jobs > 0 || t->n_reading > 0 || t->scanning) {
        show(t);
        return true;
    }
    if (t->spool) {
        struct spool *spool = t->spool;
        t->spool = NULL;
        spool_leave(spool);
        show_leads(t, NULL);
    }
    begin_reading(t); /* there is nothing to read any more */
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
    do
        wait_for_news(t);
    while (go_round(t));
    candidates_finish(&t->candidates);
    pthread_mutex_lock(&t->lock);
    t->moved = 0;
    folder_thread_leave(t);
    return NULL;
}

void folder_thread_leave(struct folder_thread *t)
{
    bool last = --t->users == 0;
    pthread_mutex_unlock(&t->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&t->lock);
    file_close(&t->wake_fd);
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
    STAILQ_INIT(&t->waiting);
    STAILQ_INIT(&t->ends);
    LIST_INIT(&t->readers);
    pthread_mutex_init(&t->lock, NULL);
    int result = candidates_init(
        &t->candidates, (struct candidate_times){settings->settle, settings->stable}, fault);
    t->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (result == 0 && t->wake_fd < 0)
        result = fault_set_errno(fault, FAULT_INTERNAL, "eventfd");
    sigfillset(&all); /* signals go to the loop's thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (result == 0 && pthread_create(&id, NULL, run, t) != 0)
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
