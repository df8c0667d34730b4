/* How files are found and claimed: scans, and looks at single names, as errands; what follows from
 * them, on the loop. */
#include "daemon/watch/folder_internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/spool/recovery.h"

#define MINUTE (60 * SECOND)

/* ---- the scan ---- */

struct found {
    char *name;
    struct identity identity;
};

struct scan {
    struct errand errand;
    struct folder *folder;
    struct spool *spool;
    bool whole; /* otherwise only lost_path and short_of_space are found out */
    bool tidy;  /* tidy done and failed */
    bool prune; /* prune the ledger */
    bool rebuild;
    const char *short_of_space; /* of the spool */
    size_t n_done, n_failed;    /* files in done and failed, if they were tidied */
    size_t n_rebuilt;
    const char *lost_path; /* NULL: the paths lead to the open directories */
    struct fault lost;
    bool is_cut; /* some names did not fit */
    size_t n_found, found_capacity, n_empty;
    struct found *found;
    size_t n_claims, claim_capacity;
    struct claim **claims; /* taken over from daemons that are gone */
    struct fault fault;
};

/* Makes room for one more; false without memory. */
static bool grow(void **array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    size_t wanted = *capacity ? 2 * *capacity : 64;
    void *larger = realloc(*array, wanted * size);
    if (!larger)
        return false;
    *array = larger;
    *capacity = wanted;
    return true;
}

static bool keep_found(void *context, const char *name, const struct identity *identity)
{
    struct scan *scan = context;
    errand_moves(&scan->errand);
    if (scan->rebuild && identity->size > 0 &&
        recovery_rebuild(scan->spool, name, identity, scan->folder->extension)) {
        scan->n_rebuilt++;
        return true;
    }
    if (identity->size == 0 && ++scan->n_empty > CANDIDATES_EMPTY_MAX)
        return true;
    char *copy = scan->n_found < CANDIDATES_MAX ? strdup(name) : NULL;
    if (!copy ||
        !grow((void **)&scan->found, scan->n_found, &scan->found_capacity, sizeof *scan->found)) {
        free(copy);
        scan->is_cut = true;
        return false;
    }
    scan->found[scan->n_found++] = (struct found){copy, *identity};
    return true;
}

/* A claim for which there is no memory stays on disk, and the next start finds it. */
static void keep_claim(void *context, struct claim *claim)
{
    struct scan *scan = context;
    if (grow((void **)&scan->claims, scan->n_claims, &scan->claim_capacity, sizeof *scan->claims))
        scan->claims[scan->n_claims++] = claim;
    else
        claim_destroy(&claim);
}

/* Files of another device belong to another removable disk, which may come back. */
static bool is_there(void *context, const char *name, const struct identity *identity)
{
    const struct spool *spool = context;
    struct identity now;
    struct stat folder;
    if (fstat(spool->in_fd, &folder) != 0 || folder.st_dev != identity->device)
        return true;
    enum spool_sight sight = spool_look(spool, name, &now);
    return sight == SPOOL_UNREADABLE || (sight == SPOOL_FILE && identity_equal(&now, identity));
}

static void do_scan(struct errand *errand)
{
    struct scan *scan = (struct scan *)errand;
    struct spool *spool = scan->spool;
    scan->lost_path = spool_lost_path(spool, &scan->lost);
    if (scan->lost_path)
        return;
    if (scan->tidy) {
        spool_tidy(spool);
        /* of those in failed the files or, where originals stay in place, the reasons */
        scan->n_done = spool_count(spool->done_fd, SPOOL_ALL);
        scan->n_failed = spool_count(spool->failed_fd, spool->in_place ? SPOOL_REASONS : SPOOL_BUT_REASONS);
    }
    scan->short_of_space = spool_short_of_space(spool);
    if (!scan->whole)
        return;
    if (scan->prune)
        ledger_prune(spool->world->ledger, spool->folder, spool_remembers(spool) ? is_there : NULL,
                     spool);
    recovery_run(spool, keep_claim, scan, &scan->fault);
    spool_scan(scan->spool, scan->folder->settings->ignore, keep_found, scan, &scan->fault);
}

static void take_findings(struct folder *folder, const struct scan *scan)
{
    uint64_t now = clock_now();
    if (scan->whole)
        candidates_stir(&folder->candidates);
    for (size_t i = 0; i < scan->n_found; i++)
        candidates_found(&folder->candidates, scan->found[i].name, &scan->found[i].identity, now);
    folder->candidates.overflowed |= scan->is_cut;
    if (scan->n_rebuilt > 0)
        log_warning("%s: %zu files count as done, since their results are there",
                    folder->settings->input, scan->n_rebuilt);
}

static void note_space(struct folder *folder, const char *short_of_space)
{
    char text[sizeof folder->no_space.text];
    snprintf(text, sizeof text,
             "%s: less space is free than min_free: nothing new is claimed until there is more",
             short_of_space ? short_of_space : "");
    if (!folder_note(folder, &folder->no_space, short_of_space ? text : NULL))
        return;
    if (short_of_space)
        log_warning("%s", text);
    else
        log_info("%s, %s: there is space again", folder->settings->input, folder->settings->output);
}

/* Logs the fault of a scan when it is new. The status shows it as long as it lasts. */
static void note_unread(struct folder *folder, const struct fault *fault)
{
    if (fault->code)
        folder->next_scan = folder->next_check;
    if (folder_note(folder, &folder->unread, fault->code ? fault->text : NULL) && fault->code)
        log_warning("%s; it is tried again", fault->text);
}

static void after_scan(struct errand *errand)
{
    struct scan *scan = (struct scan *)errand;
    struct folder *folder = scan->folder;
    folder->scanning = false;
    for (size_t i = 0; i < scan->n_claims; i++) {
        if (scan->spool->in_place)
            candidates_take(&folder->candidates, scan->claims[i]->name);
        folder_add_job(folder, scan->claims[i], false);
    }
    if (scan->n_claims > 0)
        log_info("%s: %zu files are taken up again that an earlier run had not finished",
                 folder->settings->input, scan->n_claims);
    if (folder_is_live(folder) && scan->spool == folder->spool) {
        folder->candidates.overflowed &= !scan->whole;
        take_findings(folder, scan);
        if (!scan->lost_path)
            note_space(folder, scan->short_of_space);
        if (scan->whole)
            note_unread(folder, &scan->fault);
        if (scan->tidy && !scan->lost_path) {
            folder->n_done = scan->n_done;
            folder->n_failed = scan->n_failed;
        }
        if (scan->lost_path)
            folder_lose(folder, scan->lost_path, scan->lost.text);
    }
    folder->scanned |= scan->whole;
    for (size_t i = 0; i < scan->n_found; i++)
        free(scan->found[i].name);
    free(scan->found);
    free(scan->claims);
    spool_leave(&scan->spool);
    free(scan);
    if (folder->scanned)
        folder_tell_scanned(folder);
    folder_pump(folder);
    folder_check_stopped(folder);
}

/* Tidying is due once a minute, more often where the settings' ages are shorter, and early when
 * much has been moved to done. */
static bool tidy_is_due(struct folder *folder, uint64_t now)
{
    const struct watch_settings *rules = folder->settings;
    uint64_t keep = rules->done.keep, pause = MINUTE;
    bool much = keep != RETENTION_ALL && folder->put_away > keep / 8 + (1 << 20);
    if (!much && now < folder->next_tidy)
        return false;
    pause = rules->done.age < pause ? rules->done.age : pause;
    pause = rules->failed.age < pause ? rules->failed.age : pause;
    folder->next_tidy = now + pause;
    folder->put_away = 0;
    return true;
}

void folder_scan(struct folder *folder, bool whole)
{
    uint64_t now = clock_now();
    unsigned generation = ledger_generation(folder->world->spools.ledger);
    struct scan *scan = calloc(1, sizeof *scan);
    if (!scan)
        return; /* the next one comes as usual */
    scan->folder = folder;
    scan->whole = whole;
    scan->spool = spool_use(folder->spool);
    scan->tidy = tidy_is_due(folder, now);
    if (whole && generation != folder->generation) {
        /* the ledger was lost and begun anew: it is told again what is in done and failed */
        folder->generation = generation;
        scan->rebuild = spool_remembers(folder->spool);
    }
    scan->prune = whole && now >= folder->next_prune;
    if (scan->prune)
        folder->next_prune = now + 60 * MINUTE;
    fault_clear(&scan->fault);
    fault_clear(&scan->lost);
    folder->scanning = true;
    errands_add(folder->errands, &scan->errand, do_scan, after_scan);
}

/* ---- the look ---- */

/* A name that an errand looks at. */
struct look_at {
    struct candidate *candidate; /* not freed while its state is CANDIDATE_LOOKING */
    struct candidate_heard heard;
    struct candidate_facts facts;
    enum candidate_verdict verdict;
    struct claim *claim;
    struct fault fault;
};

struct look {
    struct errand errand;
    struct folder *folder;
    struct spool *spool;
    unsigned room;              /* how many files may be claimed */
    const char *short_of_space; /* of the spool */
    struct fault unknown;       /* the ledger did not tell what is done */
    size_t count;
    struct look_at at[LOOKS_AT_ONCE];
};

static void claim(struct look *look, struct look_at *at)
{
    int result =
        claim_take(&at->claim, look->spool, at->candidate->name, &at->facts.seen, &at->fault);
    if (result == 0)
        look->room--;
    else
        at->verdict = CANDIDATE_WAIT; /* it is looked at again, whatever it is now */
    if (result == FAULT_BUSY)
        fault_clear(&at->fault);
}

static void look_at(struct look *look, struct look_at *at)
{
    struct identity identity = {0};
    uint64_t now = clock_now();
    const struct candidate_times *times = &look->folder->candidates.times;
    enum spool_writer writer = SPOOL_WRITER_UNKNOWN;
    enum spool_sight sight = spool_look(look->spool, at->candidate->name, &identity);
    bool done = false;
    if (sight == SPOOL_FILE && spool_remembers(look->spool) &&
        ledger_knows(look->spool->world->ledger, look->spool->folder, &identity, &done,
                     &look->unknown) != 0) {
        at->verdict = CANDIDATE_WAIT;
        return;
    }
    if (done) {
        at->verdict = CANDIDATE_DROP;
        return;
    }
    at->verdict = candidate_judge(&at->facts, &at->heard, sight, &identity, writer, now, times);
    if (at->verdict == CANDIDATE_REST && (at->heard.closed || at->heard.whole))
        log_about((struct log_subject){.folder = look->spool->in_path, .file = at->candidate->name},
                  LOG_LEVEL_INFO, "empty; it waits until something is written to it");
    /* Probing opens the file, and the event of that would look like somebody else's. */
    if (at->verdict == CANDIDATE_TAKE && look->room > 0) {
        sight = spool_probe(look->spool, at->candidate->name, &writer);
        at->verdict = candidate_judge(&at->facts, &at->heard, sight, &identity, writer, now, times);
    }
    if (at->facts.unreadable)
        fault_set(&at->fault, FAULT_PERMISSION, "cannot be read yet");
    if (at->verdict == CANDIDATE_TAKE && look->room > 0)
        claim(look, at);
}

static void do_look(struct errand *errand)
{
    struct look *look = (struct look *)errand;
    look->short_of_space = spool_short_of_space(look->spool);
    if (look->short_of_space)
        look->room = 0;
    for (size_t i = 0; i < look->count; i++, errand_moves(errand))
        look_at(look, &look->at[i]);
}

/* What the look, and events since, mean for a candidate. `caught_up`: all events up to the look are
 * known, so a file with content that was never opened must have been linked in. */
static void apply(struct folder *folder, struct look_at *at, bool caught_up)
{
    struct candidates *candidates = &folder->candidates;
    struct candidate *c = at->candidate;
    bool forget = at->claim || at->verdict == CANDIDATE_DROP;
    if (at->fault.code != FAULT_NONE && !c->complained)
        log_about((struct log_subject){.folder = folder->settings->input, .file = c->name},
                  LOG_LEVEL_WARNING, "%s; it is tried again", at->fault.text);
    c->complained = at->fault.code != FAULT_NONE;
    if (at->fault.code == FAULT_CREATE || at->fault.code == FAULT_IO)
        folder->next_check = 0; /* our hidden folder may be gone: check it now */
    c->facts = forget ? (struct candidate_facts){0} : at->facts;
    if (forget && !c->hinted)
        c->heard = (struct candidate_heard){0};
    if (caught_up && c->heard.created && at->heard.created && at->verdict == CANDIDATE_WAIT &&
        !at->facts.unreadable) {
        c->heard = (struct candidate_heard){.touched = c->heard.touched, .whole = true};
        c->hinted = true;
    }
    if (at->claim && at->claim->spool->in_place)
        /* further events are kept until the job ends */
        candidates_move(candidates, c, CANDIDATE_TAKEN);
    else if (c->hinted)
        candidates_move(candidates, c, CANDIDATE_HINTED);
    else if (forget)
        candidates_remove(candidates, c);
    else if (at->verdict == CANDIDATE_TAKE)
        candidates_move(candidates, c, CANDIDATE_READY);
    else if (at->verdict == CANDIDATE_REST)
        candidates_rest(candidates, c);
    else
        candidates_wait(candidates, c, clock_now());
}

static void after_look(struct errand *errand)
{
    struct look *look = (struct look *)errand;
    struct folder *folder = look->folder;
    bool caught_up = watch_catch_up(folder->watch); /* this may lose the folder */
    bool of_this_folder = folder_is_live(folder) && look->spool == folder->spool;
    folder->looking = false;
    for (size_t i = 0; i < look->count; i++) {
        struct look_at *at = &look->at[i];
        struct claim *claim = at->claim;
        if (of_this_folder)
            apply(folder, at, caught_up);
        else if (claim && claim->spool->in_place)
            candidates_move(&folder->candidates, at->candidate, CANDIDATE_TAKEN);
        else
            candidates_remove(&folder->candidates, at->candidate);
        if (claim)
            folder_add_job(folder, claim, at->facts.truncated);
    }
    if (of_this_folder && look->unknown.code)
        note_unread(folder, &look->unknown);
    if (of_this_folder)
        note_space(folder, look->short_of_space);
    else
        folder->next_scan = clock_now(); /* the new directory may have files of the same names */
    spool_leave(&look->spool);
    free(look);
    folder_pump(folder);
    folder_check_stopped(folder);
}

/* Chooses the names to look at: complete ones first, as many as there is room for. */
static void choose(struct folder *folder, struct look *look)
{
    struct candidates *candidates = &folder->candidates;
    static const enum candidate_state states[] = {CANDIDATE_READY, CANDIDATE_HINTED};
    for (int i = 0; i < 2; i++) {
        struct candidate *c;
        while (look->count < LOOKS_AT_ONCE &&
               (states[i] != CANDIDATE_READY || look->count < look->room) &&
               (c = TAILQ_FIRST(&candidates->lists[states[i]])) != NULL) {
            candidates_move(candidates, c, CANDIDATE_LOOKING);
            c->hinted = false;
            look->at[look->count] =
                (struct look_at){.candidate = c, .heard = c->heard, .facts = c->facts};
            fault_clear(&look->at[look->count].fault);
            look->count++;
        }
    }
}

void folder_look(struct folder *folder)
{
    const struct candidates *c = &folder->candidates;
    /* as many files as the queue and the folder's share have room for, none without disk space */
    unsigned room = queue_room(folder->queue, false);
    unsigned held = folder->n_jobs - queue_retried(folder->queue, folder);
    unsigned own = held < folder->share ? folder->share - held : 0;
    room = folder->no_space.since ? 0 : own < room ? own : room;
    if (folder->looking ||
        (c->counts[CANDIDATE_HINTED] == 0 && (c->counts[CANDIDATE_READY] == 0 || room == 0)))
        return;
    struct look *look = calloc(1, sizeof *look);
    if (!look)
        return; /* the timer tries it again */
    look->folder = folder;
    look->room = room;
    fault_clear(&look->unknown);
    look->spool = spool_use(folder->spool);
    choose(folder, look);
    folder->looking = true;
    errands_add(folder->errands, &look->errand, do_look, after_look);
}
