/* A folder's directories: they are opened, looked after, scanned, and lost. The folder's thread
 * looks every few seconds whether the paths still lead to the directories that it has open, since
 * the kernel does not tell when one is removed, or when another file system is mounted over it. A
 * second thread reads the folder, since that may take long, and finds what inotify has missed and
 * what daemons that are gone have left; it tidies done and failed, and counts them. */
#include "daemon/watch/folder_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "daemon/spool/ledger.h"
#include "daemon/spool/recovery.h"

#define MINUTE      (60 * SECOND)
#define SCAN_EVERY  MINUTE
#define POLL_EVERY  (2 * SECOND) /* where there is no inotify, and for folders below */
#define CHECK_EVERY (3 * SECOND) /* time between looks at the paths */

/* A folder whose scan took no longer is scanned without a second thread. */
#define SCAN_QUICK (5 * MILLISECOND)

/* Files of the folder are all that is asked for: written and closed, moved in, made, or opened and
 * left. IN_MODIFY is not, since its events would fill the kernel's queue. */
#define EVENTS                                                                                     \
    (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_OPEN | IN_CLOSE_NOWRITE | IN_ATTRIB |           \
     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

/* ---- opened, and lost ---- */

/* Notes a trouble, or its end with `text` NULL. Returns true when that is a change. */
static bool note_trouble(struct folder_thread *t, struct folder_trouble *trouble, const char *text)
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

void folder_show_leads(struct folder_thread *t, const struct spool *spool)
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

/* The watch is set up before the scan: a file that comes between the two is then seen twice rather
 * than never. */
void folder_open_directories(struct folder_thread *t)
{
    const struct watch_settings *settings = t->settings;
    const char *paths[] = {settings->input, settings->output};
    struct fault fault = FAULT_INIT, unwatched = FAULT_INIT;

    /* At the first time missing ones are made. Any other fault shows when a path is opened. */
    for (int i = 0; i < 2 && t->make_folders && !t->now.scanned; i++) {
        struct fault ignored = FAULT_INIT;
        if (access(paths[i], F_OK) != 0 && errno == ENOENT &&
            path_make_directories(paths[i], 0777, &ignored) == 0)
            log_info("%s: there was no such folder; it is made", paths[i]);
    }

    /* Tried again after 1 s, 2 s, 4 s, then every 8 s, so that a folder that works again is used
     * soon. */
    if (spool_open(&t->spool, settings, t->spools, &fault) != 0) {
        size_t length = strlen(settings->output);
        bool same = t->now.lost.since && strcmp(t->now.lost.text, fault.text) == 0;
        bool of_out =
            strncmp(fault.text, settings->output, length) == 0 && fault.text[length] == ':';
        t->lost_path = of_out ? settings->output : settings->input;
        t->now.unusable = fault.code != FAULT_NO_INPUT;
        t->now.next_try = clock_now() + (SECOND << t->n_tries);
        t->n_tries += t->n_tries < 3;
        note_trouble(t, &t->now.lost, fault.text);
        if (!same)
            log_warning("%s; it is tried again", fault.text);
        t->now.scanned = true; /* the start of the daemon need not wait for it */
        return;
    }
    folder_thread_moves(t);
    if (settings->mode != MODE_POLL)
        t->watch_fd = open_watch(settings, &unwatched);
    if (note_trouble(t, &t->now.lost, NULL))
        log_info("%s is back", t->lost_path);
    t->now.n_backs++;
    t->now.well_since = clock_now();
    t->n_tries = 0;
    folder_show_leads(t, t->spool);
    if (settings->mode == MODE_POLL)
        log_info("watching %s by reading it every %s, chain '%s', results as %s in %s", paths[0],
                 number_duration(POLL_EVERY), settings->chain, settings->format, paths[1]);
    else if (t->watch_fd >= 0)
        log_info("watching %s (inotify%s), chain '%s', results as %s in %s", paths[0],
                 settings->recursive ? "; folders below are read every 2s" : "", settings->chain,
                 settings->format, paths[1]);
    else
        log_warning("watching %s by reading it every %s: %s", paths[0], number_duration(POLL_EVERY),
                    unwatched.text);
    t->now.next_try = clock_now();
}

void folder_leave_spool(struct folder_thread *t, struct spool *spool)
{
    if (--spool->users > 0)
        return;
    spool_destroy(spool);
    if (folder_thread_is_live(t)) /* a scan may now take over the claims that were left in it */
        t->now.next_try = clock_now();
}

void folder_lose_directories(struct folder_thread *t, const char *path, const char *why)
{
    char text[sizeof t->now.lost.text];
    struct spool *spool = t->spool;
    bool own = path == spool->hidden_path;
    snprintf(text, sizeof text, "%s: %s", path, why);
    log_warning("%s; it is %s", text, own ? "made anew" : "taken up again when it returns");
    t->now.unusable = own;
    note_trouble(t, &t->now.lost, text);
    note_trouble(t, &t->now.unread, NULL);
    note_trouble(t, &t->now.no_space, NULL);
    t->lost_path = own ? t->settings->input : path;
    t->lost_why = NULL;
    t->now.next_try = clock_now();
    file_close(&t->watch_fd);
    candidates_clear(&t->candidates);
    folder_show_leads(t, NULL);
    t->spool = NULL;
    folder_leave_spool(t, spool);
}

/* ---- scanned, on a thread of its own ---- */

struct found {
    char *name;
    struct identity identity;
};

struct folder_scan {
    struct folder_reader reader;
    uint64_t begun;
    bool whole; /* otherwise done and failed alone are tidied */
    bool tidy;
    bool prune;              /* prune the ledger */
    unsigned generation;     /* of the ledger, as the folder last saw it, and then as it is … */
    bool rebuild;            /* … when it was begun anew: it is told again what is done */
    size_t n_done, n_failed; /* files in done and failed, if they were tidied */
    size_t n_rebuilt;
    bool is_cut; /* some names did not fit */
    size_t n_found, found_capacity, n_empty;
    struct found *found;
    struct claims claims; /* taken over from daemons that are gone, … */
    struct claims ended; /* … and those for which only the last steps were left, which are done */
    struct fault fault;
};

static bool keep_found(void *context, const char *name, const struct identity *identity)
{
    struct folder_scan *scan = context;
    scan->reader.moved = clock_now();
    if (scan->rebuild && identity->size > 0 &&
        recovery_rebuild(scan->reader.spool, name, identity, scan->reader.thread->extensions)) {
        scan->n_rebuilt++;
        return true;
    }
    if (identity->size == 0 && ++scan->n_empty > CANDIDATES_EMPTY_MAX)
        return true;
    char *copy = scan->n_found < CANDIDATES_MAX ? strdup(name) : NULL;
    if (copy && scan->n_found == scan->found_capacity) {
        size_t capacity = scan->found_capacity ? 2 * scan->found_capacity : 64;
        struct found *found = realloc(scan->found, capacity * sizeof *found);
        if (found) {
            scan->found = found;
            scan->found_capacity = capacity;
        }
    }
    if (!copy || scan->n_found == scan->found_capacity) {
        free(copy);
        scan->is_cut = true;
        return false;
    }
    scan->found[scan->n_found++] = (struct found){copy, *identity};
    return true;
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

static void *scan_directories(void *context)
{
    struct folder_scan *scan = context;
    struct folder_thread *t = scan->reader.thread;
    struct spool *spool = scan->reader.spool;
    if (scan->tidy) {
        spool_tidy(spool);
        scan->n_done = spool_list(spool, false, NULL);
        scan->n_failed = spool_list(spool, true, NULL);
    }
    if (scan->whole && scan->prune)
        ledger_prune(spool->world->ledger, spool->folder, spool->remembers ? is_there : NULL,
                     spool);
    if (scan->whole && spool->remembers) {
        /* asked something, the ledger is open, and set aside if it is damaged */
        struct identity nothing = {0};
        bool known;
        ledger_knows(spool->world->ledger, spool->folder, &nothing, &known, NULL);
        unsigned generation = ledger_generation(spool->world->ledger);
        scan->rebuild = generation != scan->generation;
        scan->generation = generation;
    }
    if (scan->whole) {
        recovery_run(spool, &scan->claims, &scan->ended, &scan->reader.moved, &scan->fault);
        spool_scan(spool, t->settings->ignore, keep_found, scan, &scan->fault);
    }
    pthread_mutex_lock(&t->lock);
    LIST_REMOVE(&scan->reader, next);
    t->scan_end = scan;
    folder_thread_wake(t);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- on the folder's thread ---- */

void folder_note_space(struct folder_thread *t, const char *short_of_space)
{
    char text[sizeof t->now.no_space.text];
    if (!short_of_space && !t->now.no_space.since)
        return;
    snprintf(text, sizeof text,
             "%s: less space is free than min_free: nothing new is claimed until there is more",
             short_of_space ? short_of_space : "");
    if (!note_trouble(t, &t->now.no_space, short_of_space ? text : NULL))
        return;
    if (short_of_space)
        log_warning("%s", text);
    else
        log_info("%s, %s: there is space again", t->settings->input, t->settings->output);
    t->now.n_backs += !short_of_space;
}

/* Logs the fault of a scan when it is new. The status shows it as long as it lasts. */
void folder_note_unread(struct folder_thread *t, const struct fault *fault)
{
    if (fault->code)
        t->now.next_try = t->now.next_check;
    if (note_trouble(t, &t->now.unread, fault->code ? fault->text : NULL) && fault->code)
        log_warning("%s; it is tried again", fault->text);
}

static void take_findings(struct folder_thread *t, const struct folder_scan *scan)
{
    uint64_t now = clock_now();
    if (scan->whole) {
        t->candidates.overflowed = scan->is_cut;
        candidates_stir(&t->candidates);
    }
    for (size_t i = 0; i < scan->n_found; i++)
        candidates_found(&t->candidates, scan->found[i].name, &scan->found[i].identity, now);
    if (scan->n_rebuilt > 0)
        log_warning("%s: %zu files count as done, since their results are there",
                    t->settings->input, scan->n_rebuilt);
    if (scan->whole)
        folder_note_unread(t, &scan->fault);
    if (scan->tidy) {
        t->now.n_done = scan->n_done;
        t->now.n_failed = scan->n_failed;
    }
}

void folder_scan_take(struct folder_thread *t, struct folder_scan *scan)
{
    struct spool *spool = scan->reader.spool;
    t->scanning = false;
    struct claim *claim;
    size_t n_claims = 0;
    while ((claim = STAILQ_FIRST(&scan->claims)) != NULL) {
        STAILQ_REMOVE_HEAD(&scan->claims, next);
        n_claims++;
        if (spool->in_place)
            candidates_take(&t->candidates, claim->name);
        folder_thread_add(t, claim, false);
    }
    while ((claim = STAILQ_FIRST(&scan->ended)) != NULL) {
        STAILQ_REMOVE_HEAD(&scan->ended, next);
        folder_thread_tell(t, claim);
        claim_destroy(&claim);
    }
    if (n_claims > 0)
        log_info("%s: %zu files are taken up again that an earlier run had not finished",
                 t->settings->input, n_claims);
    if (folder_thread_is_live(t) && spool == t->spool)
        take_findings(t, scan);
    t->generation = scan->generation;
    t->scan_time = clock_now() - scan->begun;
    t->whole_scanned |= scan->whole;
    t->now.scanned |= scan->whole;
    for (size_t i = 0; i < scan->n_found; i++)
        free(scan->found[i].name);
    free(scan->found);
    free(scan);
    folder_leave_spool(t, spool);
}

/* Tidying is due once a minute, more often where the settings' ages are shorter, and early when
 * much has been moved to done. */
static bool tidy_is_due(struct folder_thread *t, uint64_t now)
{
    const struct watch_settings *rules = t->settings;
    uint64_t keep = rules->done.keep, pause = MINUTE;
    bool much = keep != RETENTION_ALL && t->put_away > keep / 8 + (1 << 20);
    if (!much && now < t->next_tidy)
        return false;
    pause = rules->done.age < pause ? rules->done.age : pause;
    pause = rules->failed.age < pause ? rules->failed.age : pause;
    t->next_tidy = now + pause;
    t->put_away = 0;
    return true;
}

void folder_scan_if_due(struct folder_thread *t, uint64_t now)
{
    struct candidates *c = &t->candidates;
    struct fault lost = FAULT_INIT;
    if (t->scanning)
        return;
    if (c->overflowed && c->count < CANDIDATES_MAX / 2)
        t->now.next_try = now;
    bool whole = now >= t->now.next_try;
    if (!whole && now < t->now.next_check)
        return;
    bool seen = t->watch_fd >= 0 && !t->settings->recursive;
    if (whole)
        t->now.next_try = now + (seen ? SCAN_EVERY : POLL_EVERY);
    t->now.next_check = now + CHECK_EVERY;
    const char *lost_path = spool_lost_path(t->spool, &lost);
    if (lost_path) {
        folder_lose_directories(t, lost_path, lost.text);
        t->now.scanned = true; /* it is impossible for now */
        return;
    }
    folder_note_space(t, spool_short_of_space(t->spool));
    bool tidy = tidy_is_due(t, now);
    if (!whole && !tidy)
        return;
    /* By malloc, since calloc takes nothing of what free keeps for the thread (glibc up to 2.40):
     * seven blocks of each folder would stay unused. */
    struct folder_scan *scan = malloc(sizeof *scan);
    if (!scan)
        return; /* the next one comes as usual */
    *scan = (struct folder_scan){.begun = now,
                                 .whole = whole,
                                 .tidy = tidy,
                                 .generation = t->generation,
                                 .prune = whole && now >= t->next_prune};
    if (scan->prune)
        t->next_prune = now + 60 * MINUTE;
    fault_clear(&scan->fault);
    STAILQ_INIT(&scan->claims);
    STAILQ_INIT(&scan->ended);
    t->scanning = true;
    bool quick = t->scan_time > 0 && t->scan_time < SCAN_QUICK && !scan->tidy && !scan->prune;
    folder_reader_begin(t, &scan->reader, scan_directories, quick);
}
