/* The life of a question: it waits for its turn (inquiry_start, on_timer); it is put to one folder
 * after the other (go_on), each of which has it read for (inquiry_read); what they say is put
 * together (inquiry_answered) until there is an answer. */
#include "daemon/watch/inquiry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/name.h"
#include "daemon/spool/ledger.h"
#include "daemon/watch/folder.h"
#include "worker/json_text.h"

/* Of one user: questions that are not answered, and those of them that are begun. The others wait,
 * so that slow ones leave readers of their folder to what others ask. */
#define WAITING_MAX 64
#define BEGUN_MAX   2

/* A file may be on its way from one folder to another while it is looked for. */
#define TRIES_MAX 4

#define HANGS "its folder does not answer; it is taken up again when it does"

/* Milliseconds between checks of the questions that are being answered. */
#define LOOK_EVERY 100

struct inquiry {
    struct inquiries *all;
    enum inquiry_kind kind;
    uid_t uid;
    char *asked;       /* the path as it was asked for; owned */
    char *path;        /* that path, normalised; owned */
    struct page first; /* where a list begins, and its limits */
    void (*ended)(void *user, json_t *answer,
                  const struct fault *fault); /* NULL: nobody waits for the answer */
    void *user;

    /* from when it is begun */
    struct probe *probe;   /* owned */
    struct folder *folder; /* that is asked, or was last; maybe destroyed by now */
    char *input;           /* its path, as configured; owned */
    bool away;             /* a folder has the probe */
    bool answered;  /* it was answered while its folder hung: when the probe comes back the inquiry
                       is freed */
    size_t at;      /* the number of the folder that is asked */

    /* for one file: is it an input, or a result, of that folder? */
    bool as_result;
    bool known; /* that folder may know it */
    unsigned tries;
    TAILQ_ENTRY(inquiry) next; /* in the list of waiting ones, or of those being answered */
};

static void go_on(struct inquiry *inquiry);
static void answer_without(struct inquiry *inquiry);

static bool is_about_a_file(enum inquiry_kind kind)
{
    return kind == INQUIRY_WHY || kind == INQUIRY_REQUEUE;
}

static void destroy(struct inquiry *inquiry)
{
    struct probe *probe = inquiry->probe;
    if (probe) {
        fate_finish(&probe->fate);
        requeued_forget(&probe->requeued, true);
        spool_files_finish(&probe->live);
        json_decref(probe->page.files);
    }
    free(inquiry->input);
    free(probe);
    free(inquiry->path);
    free(inquiry->asked);
    free(inquiry);
}

/* ---- which question is answered next ---- */

static unsigned count(const struct inquiries *inquiries, uid_t uid, bool with_waiting)
{
    const struct inquiry *inquiry;
    unsigned count = 0;
    TAILQ_FOREACH (inquiry, &inquiries->begun, next)
        count += inquiry->uid == uid;
    TAILQ_FOREACH (inquiry, &inquiries->waiting, next)
        count += with_waiting && inquiry->uid == uid;
    return count;
}

/* Only a user's own questions keep one waiting. NULL: none may begin now. */
static struct inquiry *next_of(const struct inquiries *inquiries)
{
    struct inquiry *inquiry = TAILQ_FIRST(&inquiries->waiting);
    while (inquiry && count(inquiries, inquiry->uid, false) >= BEGUN_MAX)
        inquiry = TAILQ_NEXT(inquiry, next);
    return inquiry;
}

static void on_timer(uv_timer_t *timer);

/* Starts waiting questions in the loop's next turn, so that nobody is answered from within
 * inquiry_start. */
static void pump(struct inquiries *inquiries)
{
    bool now = next_of(inquiries) != NULL;
    if (!inquiries->closed && (now || !TAILQ_EMPTY(&inquiries->begun)))
        uv_timer_start(&inquiries->timer, on_timer, now ? 0 : LOOK_EVERY, 0);
}

static void wait_for_turn(struct inquiry *inquiry)
{
    TAILQ_INSERT_TAIL(&inquiry->all->waiting, inquiry, next);
    pump(inquiry->all);
}

/* Takes over the answer. */
static void tell(struct inquiry *inquiry, json_t *answer, const struct fault *fault)
{
    TAILQ_REMOVE(&inquiry->all->begun, inquiry, next);
    if (inquiry->ended)
        inquiry->ended(inquiry->user, fault->code ? NULL : json_incref(answer), fault);
    inquiry->ended = NULL;
    json_decref(answer);
}

static void end(struct inquiry *inquiry, json_t *answer)
{
    struct inquiries *inquiries = inquiry->all;
    struct fault fault = FAULT_INIT;
    if (inquiry->probe)
        fault = inquiry->probe->fault;
    if (!answer)
        fault_set(&fault, FAULT_MEMORY, "no memory for an answer");
    tell(inquiry, answer, &fault);
    destroy(inquiry);
    pump(inquiries);
}

static bool is_there(const struct inquiries *inquiries, const struct folder *wanted)
{
    const struct folder_list *folders = inquiries->folders;
    for (size_t i = 0; i < folders->count; i++)
        if (folders->list[i] == wanted)
            return true;
    return false;
}

static void on_timer(uv_timer_t *timer)
{
    struct inquiries *inquiries = timer->data;
    struct inquiry *inquiry, *next;
    for (inquiry = TAILQ_FIRST(&inquiries->begun); inquiry; inquiry = next) {
        next = TAILQ_NEXT(inquiry, next);
        if (inquiry->away &&
            (!is_there(inquiries, inquiry->folder) || folder_hangs(inquiry->folder)))
            answer_without(inquiry);
    }
    if ((inquiry = next_of(inquiries)) == NULL) {
        pump(inquiries);
        return;
    }
    TAILQ_REMOVE(&inquiries->waiting, inquiry, next);
    TAILQ_INSERT_TAIL(&inquiries->begun, inquiry, next);
    struct probe *probe = inquiry->probe; /* of all that failed there may be one from before */
    if (!probe && (probe = calloc(1, sizeof *probe)) != NULL) {
        inquiry->probe = probe;
        probe->inquiry = inquiry;
        probe->kind = inquiry->kind;
        fault_clear(&probe->fault);
        fault_clear(&probe->requeued.fault);
        probe->page = inquiry->first;
        probe->page.files = json_array();
    }
    if (!probe || !probe->page.files)
        end(inquiry, NULL);
    else
        go_on(inquiry);
    pump(inquiries);
}

/* ---- one file ---- */

/* What the path means to this folder: as the folder was configured, or by where that leads. */
static void find_place(struct spot *place, const char *path, const struct folder *folder,
                       bool result)
{
    const struct watch_settings *settings = folder_settings(folder);
    char normal[PATH_MAX], *leads_in, *leads_out;
    folder_leads(folder, &leads_in, &leads_out);
    const char *leads = result ? leads_out : leads_in;
    place->kind = SPOT_NONE;
    if (leads)
        (result ? spot_out : spot_in)(place, path, leads);
    if (place->kind == SPOT_NONE &&
        spot_normalise(result ? settings->output : settings->input, normal))
        (result ? spot_out : spot_in)(place, path, normal);
    free(leads_in);
    free(leads_out);
}

/* The next folder to ask. One folder's results may be another's input: the file counts as an input
 * first. NULL: there is none left. */
static struct folder *find_next_place(struct inquiry *inquiry)
{
    const struct folder_list *folders = inquiry->all->folders;
    struct probe *probe = inquiry->probe;
    for (;; inquiry->at++) {
        if (inquiry->at >= folders->count && !inquiry->as_result) {
            inquiry->as_result = true;
            inquiry->at = 0;
        }
        if (inquiry->at >= folders->count)
            return NULL;
        struct folder *folder = folders->list[inquiry->at];
        find_place(&probe->place, inquiry->path, folder, inquiry->as_result);
        if (probe->place.kind != SPOT_NONE)
            return folder;
    }
}

/* True when a job has a file of that name: the question is about that file. */
static bool is_job(const struct inquiry *inquiry)
{
    const struct folder_list *folders = inquiry->all->folders;
    struct fate fate = {.state = ""};
    struct spot place;
    bool found = false;
    for (size_t i = 0; !found && i < folders->count; i++) {
        find_place(&place, inquiry->path, folders->list[i], false);
        snprintf(fate.name, sizeof fate.name, "%s", place.name);
        found = place.kind == SPOT_INPUT && folder_explain(folders->list[i], &fate);
    }
    return found;
}

static json_t *explanation(const struct inquiry *inquiry, const struct fate *fate,
                           const char *folder)
{
    json_t *answer = fate_json(fate, folder);
    if (answer)
        json_object_set_new(answer, "file", json_text(inquiry->asked));
    return answer;
}

/* The folders are asked anew. */
static void try_again(struct inquiry *inquiry)
{
    inquiry->at = 0;
    inquiry->as_result = inquiry->known = false;
    go_on(inquiry);
}

/* What the folders have said of one file is put together. While the disk was read the file may have
 * become a job, or its job may have ended: jobs are looked at again, and perhaps all folders. */
static void conclude(struct inquiry *inquiry)
{
    static const struct spot nowhere = {.kind = SPOT_NONE};
    struct probe *probe = inquiry->probe;
    struct fate *fate = &probe->fate;
    const char *input = inquiry->known ? inquiry->input : NULL;
    if (!inquiry->known) {
        fate_finish(fate);
        fate_find(fate, NULL, &nowhere);
    }
    if (inquiry->kind == INQUIRY_REQUEUE) {
        bool waits = fate->where == FATE_IN_PLACE || probe->busy;
        if (probe->busy && !is_job(inquiry) && ++inquiry->tries < TRIES_MAX) {
            try_again(inquiry);
            return;
        }
        if (!probe->put_back && !waits && probe->fault.code == FAULT_NONE)
            fault_set(&probe->fault, FAULT_NO_INPUT, "%s", fate->message);
        if (probe->put_back)
            log_about((struct log_subject){.folder = input, .file = probe->name}, LOG_LEVEL_INFO,
                      "put back to be done again (it was %s)", fate->state);
        end(inquiry, json_pack("{s:i, s:o, s:s?, s:o}", "requeued", (int)probe->put_back, "name",
                               json_text(probe->put_back ? probe->name : fate->name), "was",
                               fate->state, "folder", json_text(input ? input : "")));
        return;
    }
    bool in_input = probe->place.kind == SPOT_INPUT || probe->place.kind == SPOT_WORK;
    bool whole = inquiry->known && in_input && is_there(inquiry->all, inquiry->folder) &&
                 folder_explain(inquiry->folder, fate);
    bool unsettled = strcmp(fate->state, "unknown") == 0 ||
                     (fate->reason && strcmp(fate->reason, "claimed") == 0);
    if (!whole && unsettled && inquiry->known && ++inquiry->tries < TRIES_MAX) {
        try_again(inquiry);
    } else {
        end(inquiry, explanation(inquiry, fate, input));
    }
}

/* ---- lists: memory holds one page at most, however many files there are ---- */

static const char *const parts[PARTS] = {"live", "failed", "done"};

/* A cursor is text such as "2:failed:sub/a.jpg", with the name as name_escape writes it, so that
 * clients give back the same bytes. False for a damaged one. */
static bool read_cursor(const char *text, struct page *page)
{
    char *end;
    unsigned long folder = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != ':' || folder > 100000)
        return false;
    page->folder = folder;
    text = end + 1;
    for (int part = 0; part < PARTS; part++) {
        size_t length = strlen(parts[part]);
        if (strncmp(text, parts[part], length) != 0 || text[length] != ':')
            continue;
        page->part = (enum page_part)part;
        return name_unescape(text + length + 1, page->key, sizeof page->key);
    }
    return false;
}

static json_t *page_answer(const struct page *page)
{
    char key[3 * PATH_MAX], next[3 * PATH_MAX + 40];
    name_escape(page->key, key, sizeof key);
    snprintf(next, sizeof next, "%zu:%s:%s", page->folder, parts[page->part], key);
    return json_pack("{s:O, s:o}", "files", page->files, "next",
                     page->full ? json_string(next) : json_null());
}

/* Moves the cursor to the next part. */
static void next_part(struct page *page)
{
    page->key[0] = '\0';
    if (++page->part == PARTS) {
        page->part = PART_LIVE;
        page->folder++;
    }
}

/* Moves it to one that may hold files. */
static void skip_parts(struct page *page)
{
    const char *state = page->state;
    bool failed = state && strcmp(state, "failed") == 0, done = state && strcmp(state, "done") == 0;
    const bool wanted[PARTS] = {[PART_LIVE] = !failed && !done,
                                [PART_FAILED] = !state || failed,
                                [PART_DONE] = !state || done};
    while (!wanted[page->part])
        next_part(page);
}

static size_t room(const struct page *page)
{
    return page->limit - json_array_size(page->files);
}

/* Adds a file to the page, and moves the cursor to it. A file that would make the page too large is
 * the first of the next one; a page has one file at least. A NULL fate, of a file that has gone,
 * moves the cursor alone. */
static void add(struct page *page, const struct fate *fate, const char *input, const char *key)
{
    json_t *file = fate && !page->full ? fate_json(fate, input) : NULL;
    size_t bytes = file ? json_dumpb(file, NULL, 0, JSON_COMPACT) + 1 : 0;
    if (page->full)
        return;
    if (bytes > page->bytes_left && json_array_size(page->files) > 0) {
        page->full = true;
        json_decref(file);
        return;
    }
    page->bytes_left -= bytes < page->bytes_left ? bytes : page->bytes_left;
    snprintf(page->key, sizeof page->key, "%s", key);
    if (file)
        json_array_append_new(page->files, file);
    page->full = room(page) == 0;
}

/* Puts files under way on the page, which the loop and the folder's thread have named. */
static void list_live(struct probe *probe)
{
    struct page *page = &probe->page;
    if (probe->live.limit == 0)
        return;
    for (size_t i = 0; i < probe->live.count; i++) {
        const struct spool_file *file = &probe->live.files[i];
        struct fate fate;
        fate_init(&fate);
        fate_set(&fate, file->state, NULL, "%s", "");
        fate.attempts = file->attempts;
        snprintf(fate.name, sizeof fate.name, "%s", file->name);
        add(page, &fate, probe->input, file->name);
    }
    spool_files_finish(&probe->live);
    if (!page->full)
        next_part(page);
}

/* If the page has room left: what has ended of this folder. Without a spool that is left out; other
 * folders are asked for themselves. On a thread that reads. */
static void list_ended(struct probe *probe, const struct spool *spool)
{
    struct page *page = &probe->page;
    struct fate fate;
    for (size_t folder = page->folder; !page->full;) {
        skip_parts(page);
        if (page->folder != folder || page->part == PART_LIVE)
            return;
        size_t wanted = room(page), count = 0;
        if (spool && page->part == PART_FAILED) {
            /* files that have gone since are left out; the cursor moves past them */
            char after[PATH_MAX];
            struct spool_files list = {.after = after, .limit = wanted};
            snprintf(after, sizeof after, "%s", page->key);
            spool_list(spool, true, &list);
            count = list.count;
            for (size_t i = 0; i < count && !page->full; i++) {
                fate_find_failed(&fate, spool, list.files[i].name);
                bool still = strcmp(fate.state, "failed") == 0;
                add(page, still ? &fate : NULL, probe->input, list.files[i].name);
                fate_finish(&fate);
            }
            spool_files_finish(&list);
        } else if (spool) {
            struct ledger_row *rows = calloc(wanted, sizeof *rows);
            if (rows)
                count = ledger_page(spool->world->ledger, spool->folder, "done",
                                    strtoll(page->key, NULL, 10), wanted, rows);
            for (size_t i = 0; i < count; i++) {
                char key[32];
                fate_init(&fate);
                fate_of_row(&fate, spool, &rows[i]);
                snprintf(key, sizeof key, "%lld", (long long)rows[i].id);
                add(page, &fate, probe->input, key);
                fate_finish(&fate);
                ledger_row_finish(&rows[i]);
            }
            free(rows);
        }
        if (count < wanted && !page->full)
            next_part(page);
    }
}

/* ---- on a thread that reads ---- */

void inquiry_read(struct probe *probe, struct spool *spool)
{
    if (is_about_a_file(probe->kind))
        fate_find(&probe->fate, spool, &probe->place);
    if (probe->kind == INQUIRY_REQUEUE && !probe->busy && probe->fate.where != FATE_IN_PLACE &&
        strcmp(probe->fate.state, "unknown") != 0)
        probe->put_back = requeue_one(spool, &probe->fate, probe->name, &probe->fault) == 0;
    if (probe->kind == INQUIRY_REQUEUE_FAILED)
        probe->more = requeue_failed(spool, &probe->requeued);
    if (probe->kind == INQUIRY_LIST) {
        list_live(probe);
        list_ended(probe, spool);
    }
}

/* ---- one folder after the other ---- */

/* Answers an inquiry while a folder that hangs has its probe. */
static void answer_without(struct inquiry *inquiry)
{
    struct folder *folder = is_there(inquiry->all, inquiry->folder) ? inquiry->folder : NULL;
    struct fault fault = FAULT_INIT;
    json_t *answer = NULL;
    if (inquiry->kind == INQUIRY_WHY) {
        struct spot place = {.kind = SPOT_NONE};
        struct fate fate;
        fate_init(&fate);
        if (folder)
            find_place(&place, inquiry->path, folder, inquiry->as_result);
        snprintf(fate.name, sizeof fate.name, "%s", place.name);
        fate_set(&fate, "waiting", "folder-hanging", HANGS);
        answer = explanation(inquiry, &fate, inquiry->input);
    } else {
        fault_set(&fault, FAULT_IO, "%s does not answer", inquiry->input);
    }
    inquiry->answered = true;
    tell(inquiry, answer, &fault);
}

/* A folder has answered for all that failed in it, or there are no more folders. Other questions
 * that came meanwhile go first: thousands of files take a while. */
static void after_requeue_failed(struct inquiry *inquiry, bool asked)
{
    const struct inquiries *all = inquiry->all;
    struct requeued *requeued = &inquiry->probe->requeued;
    requeued_forget(requeued, !inquiry->probe->more);
    if (asked && !inquiry->probe->more)
        inquiry->at++;
    if (inquiry->at < all->folders->count && !all->queue->draining) {
        TAILQ_REMOVE(&inquiry->all->begun, inquiry, next);
        wait_for_turn(inquiry);
        return;
    }
    if (requeued->n_done > 0)
        log_info("%u failed files are put back to be done again", requeued->n_done);
    json_t *answer = json_pack("{s:i, s:i}", "requeued", (int)requeued->n_done, "not_requeued",
                               (int)requeued->n_failed);
    if (answer && requeued->fault.code != FAULT_NONE)
        json_object_set_new(answer, "text", json_text(requeued->fault.text));
    end(inquiry, answer);
}

/* The folder has answered, or need not be asked. */
static void take_answer(struct inquiry *inquiry)
{
    if (inquiry->kind == INQUIRY_REQUEUE_FAILED) {
        after_requeue_failed(inquiry, true);
        return;
    }
    inquiry->known = true;
    if (is_about_a_file(inquiry->kind) && strcmp(inquiry->probe->fate.state, "unknown") != 0) {
        conclude(inquiry);
        return;
    }
    inquiry->at++; /* of a list, the page says where it goes on */
    go_on(inquiry);
}

/* Answers for a folder whose directories are gone, or that does not answer. */
static void answer_for_folder(struct inquiry *inquiry)
{
    struct probe *probe = inquiry->probe;
    const struct folder *folder = is_there(inquiry->all, inquiry->folder) ? inquiry->folder : NULL;
    bool hangs = folder && folder_hangs(folder);
    if (is_about_a_file(inquiry->kind))
        fate_set(&probe->fate, "waiting", hangs ? "folder-hanging" : "folder-gone",
                 hangs ? HANGS : "its folder is not there; it is taken up again when it returns");
    if (is_about_a_file(inquiry->kind) && folder && probe->place.kind == SPOT_INPUT)
        folder_explain_gone(folder, &probe->fate);
    if (inquiry->kind == INQUIRY_LIST) {
        list_live(probe);
        list_ended(probe, NULL);
    }
    probe->more = false;
    if (inquiry->kind == INQUIRY_REQUEUE_FAILED && hangs)
        fault_set(&probe->requeued.fault, FAULT_IO, "%s does not answer", probe->input);
    take_answer(inquiry);
}

void inquiry_answered(struct probe *probe)
{
    struct inquiry *inquiry = probe->inquiry;
    inquiry->away = false;
    if (inquiry->answered)
        destroy(inquiry);
    else if (probe->gone)
        answer_for_folder(inquiry);
    else
        take_answer(inquiry);
}

/* Asks the next folder, or ends the inquiry. */
static void go_on(struct inquiry *inquiry)
{
    const struct folder_list *folders = inquiry->all->folders;
    struct probe *probe = inquiry->probe;
    struct page *page = &probe->page;
    struct folder *folder;
    if (is_about_a_file(inquiry->kind)) {
        if ((folder = find_next_place(inquiry)) == NULL) {
            conclude(inquiry);
            return;
        }
        fate_finish(&probe->fate);
        fate_init(&probe->fate);
        snprintf(probe->fate.name, sizeof probe->fate.name, "%s", probe->place.name);
        probe->busy = inquiry->kind == INQUIRY_REQUEUE && is_job(inquiry);
    } else {
        if (inquiry->kind == INQUIRY_LIST && !page->full) {
            skip_parts(page);
            inquiry->at = page->folder;
        }
        bool more = !page->full && inquiry->at < folders->count;
        folder = more ? folders->list[inquiry->at] : NULL;
        if (!folder && inquiry->kind == INQUIRY_LIST) {
            end(inquiry, page_answer(page));
            return;
        }
        if (!folder) {
            after_requeue_failed(inquiry, false);
            return;
        }
    }
    inquiry->folder = folder;
    free(inquiry->input);
    probe->input = inquiry->input = strdup(folder_settings(folder)->input);
    if (!inquiry->input) {
        end(inquiry, NULL);
        return;
    }
    /* jobs that may be on the page, before the folder's thread adds names */
    if (inquiry->kind == INQUIRY_LIST) {
        spool_files_finish(&probe->live);
        if (page->part == PART_LIVE) {
            probe->live = (struct spool_files){.after = page->key, .limit = room(page)};
            folder_list_jobs(folder, page->state, &probe->live);
        }
    }
    if (folder_hangs(folder)) {
        answer_for_folder(inquiry);
        return;
    }
    probe->gone = false;
    inquiry->away = true;
    folder_ask(folder, probe);
}

/* ---- from the first question to the last ---- */

void inquiries_init(struct inquiries *inquiries)
{
    TAILQ_INIT(&inquiries->waiting);
    TAILQ_INIT(&inquiries->begun);
    inquiries->timer.data = inquiries;
    uv_timer_init(inquiries->loop, &inquiries->timer);
}

void inquiries_close(struct inquiries *inquiries)
{
    struct inquiry *inquiry;
    inquiries->closed = true;
    uv_close((uv_handle_t *)&inquiries->timer, NULL);
    while ((inquiry = TAILQ_FIRST(&inquiries->waiting)) != NULL) {
        TAILQ_REMOVE(&inquiries->waiting, inquiry, next);
        destroy(inquiry);
    }
    while ((inquiry = TAILQ_FIRST(&inquiries->begun)) != NULL) {
        TAILQ_REMOVE(&inquiries->begun, inquiry, next);
        inquiry->answered = true; /* its folder still has the probe */
    }
}

/* Checks the question as far as that goes without asking anybody. */
static int fill(struct inquiry *inquiry, const struct inquiry_ask *ask, struct fault *fault)
{
    static const char *const states[] = {"waiting",  "queued", "running",
                                         "retrying", "failed", "done"};
    bool file = is_about_a_file(ask->kind), list = ask->kind == INQUIRY_LIST;
    struct page *page = &inquiry->first;
    char normal[PATH_MAX] = "";
    if (file && !spot_normalise(ask->file, normal))
        return fault_set(fault, FAULT_USAGE, "'%.200s' is no absolute path", ask->file);
    if (list && (ask->limit < 1 || ask->limit > INQUIRY_LIMIT_MAX))
        return fault_set(fault, FAULT_USAGE, "limit is 1 to %d", INQUIRY_LIMIT_MAX);
    if (list && ask->after && !read_cursor(ask->after, page))
        return fault_set(fault, FAULT_USAGE, "after is no 'next' of an earlier page");
    for (size_t i = 0; list && ask->state && i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i], ask->state) == 0)
            page->state = states[i];
    if (list && ask->state && !page->state)
        return fault_set(
            fault, FAULT_USAGE,
            "state '%.40s' is none of waiting, queued, running, retrying, failed, done",
            ask->state);
    page->limit = ask->limit;
    page->bytes_left = ask->bytes ? ask->bytes : SIZE_MAX;
    inquiry->asked = strdup(file ? ask->file : "");
    inquiry->path = strdup(normal);
    if (!inquiry->asked || !inquiry->path)
        return fault_set(fault, FAULT_MEMORY, "no memory for a question");
    return 0;
}

int inquiry_start(struct inquiry **inquiry, struct inquiries *inquiries,
                  const struct inquiry_ask *ask, struct fault *fault)
{
    *inquiry = NULL;
    if (inquiries->queue->draining) /* or whoever asks without end would keep it from ending */
        return fault_set(fault, FAULT_BUSY, "the daemon is ending");
    if (count(inquiries, ask->uid, true) >= WAITING_MAX)
        return fault_set(fault, FAULT_BUSY,
                         "%d questions of this user wait for their answers; try later",
                         WAITING_MAX);
    struct inquiry *i = calloc(1, sizeof *i);
    if (!i)
        return fault_set(fault, FAULT_MEMORY, "no memory for a question");
    *i = (struct inquiry){.all = inquiries,
                          .kind = ask->kind,
                          .uid = ask->uid,
                          .ended = ask->ended,
                          .user = ask->user};
    int result = fill(i, ask, fault);
    if (result != 0) {
        destroy(i);
        return result;
    }
    *inquiry = i;
    wait_for_turn(i);
    return 0;
}

void inquiry_cancel(struct inquiry **inquiry)
{
    if (*inquiry)
        (*inquiry)->ended = NULL;
    *inquiry = NULL;
}
