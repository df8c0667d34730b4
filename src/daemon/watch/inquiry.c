#include "daemon/watch/inquiry_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "worker/json_text.h"

/* Of one user: questions that are not answered, and those of them that are begun. The others wait,
 * so that slow ones leave readers of their folder to what others ask. */
#define WAITING_MAX 64
#define BEGUN_MAX   2

/* A file may be on its way from one folder to another while it is looked for. */
#define TRIES_MAX 4

/* Time after which further questions no longer wait for one that is being answered. */
#define LONG SECOND

#define HANGS "its folder does not answer; it is taken up again when it does"

/* Milliseconds between checks of the questions that are being answered. */
#define LOOK_EVERY 100

static void pump(struct inquiries *inquiries);
static void destroy(struct inquiry *inquiry);
static void begin(struct inquiry *inquiry);
static void answer_without(struct inquiry *inquiry);

/* ---- which question is answered next ---- */

static bool is_about_a_file(enum inquiry_kind kind)
{
    return kind == INQUIRY_WHY || kind == INQUIRY_REQUEUE;
}

/* Puts an inquiry among those that wait: its user's next one comes a turn after the one before, so
 * that whoever asks much waits for himself. */
static void wait_for_turn(struct inquiry *inquiry)
{
    struct inquiries *inquiries = inquiry->all;
    struct inquiry *other;
    inquiry->turn = inquiries->turn;
    TAILQ_FOREACH (other, &inquiries->begun, next)
        if (other->uid == inquiry->uid && inquiry->turn <= other->turn)
            inquiry->turn = other->turn + 1;
    TAILQ_FOREACH (other, &inquiries->waiting, next)
        if (other->uid == inquiry->uid && inquiry->turn <= other->turn)
            inquiry->turn = other->turn + 1;
    TAILQ_FOREACH (other, &inquiries->waiting, next)
        if (other->turn > inquiry->turn)
            break;
    if (other)
        TAILQ_INSERT_BEFORE(other, inquiry, next);
    else
        TAILQ_INSERT_TAIL(&inquiries->waiting, inquiry, next);
}

static unsigned count_begun(const struct inquiries *inquiries, uid_t uid)
{
    const struct inquiry *inquiry;
    unsigned count = 0;
    TAILQ_FOREACH (inquiry, &inquiries->begun, next)
        count += inquiry->uid == uid;
    return count;
}

static unsigned count_of(const struct inquiries *inquiries, uid_t uid)
{
    const struct inquiry *inquiry;
    unsigned count = count_begun(inquiries, uid);
    TAILQ_FOREACH (inquiry, &inquiries->waiting, next)
        count += inquiry->uid == uid;
    return count;
}

/* NULL: none waits, or none may begin yet. */
static struct inquiry *next_of(const struct inquiries *inquiries)
{
    struct inquiry *inquiry = inquiries->running ? NULL : TAILQ_FIRST(&inquiries->waiting);
    while (inquiry && count_begun(inquiries, inquiry->uid) >= BEGUN_MAX)
        inquiry = TAILQ_NEXT(inquiry, next);
    return inquiry;
}

static void on_timer(uv_timer_t *timer)
{
    struct inquiries *inquiries = timer->data;
    struct inquiry *inquiry, *next;
    for (inquiry = TAILQ_FIRST(&inquiries->begun); inquiry; inquiry = next) {
        next = TAILQ_NEXT(inquiry, next);
        const struct folder *folder = inquiry->away ? inquiry_folder(inquiry, inquiry->at) : NULL;
        if (inquiry->away && (!folder || folder_hangs(folder)))
            answer_without(inquiry);
        else if (inquiries->running == inquiry && clock_now() - inquiry->begun > LONG)
            inquiries->running = NULL;
    }
    inquiry = next_of(inquiries);
    if (inquiry) {
        TAILQ_REMOVE(&inquiries->waiting, inquiry, next);
        begin(inquiry);
    }
    pump(inquiries);
}

/* Starts waiting questions in the loop's next turn, so that nobody is answered from within
 * inquiry_start. */
static void pump(struct inquiries *inquiries)
{
    bool now = next_of(inquiries) != NULL;
    if (inquiries->closed || (TAILQ_EMPTY(&inquiries->begun) && !now))
        return;
    uv_timer_start(&inquiries->timer, on_timer, now ? 0 : LOOK_EVERY, 0);
}

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
        inquiry->answered = true; /* its folder still has the probe, and it is freed when that comes back */
    }
}

/* ---- targets: the watched folders that may know the answer ---- */

static bool take_targets(struct inquiry *inquiry)
{
    const struct inquiries *all = inquiry->all;
    struct folder *folder;
    size_t count = 0;
    while (all->folder(all->context, count))
        count++;
    inquiry->targets = calloc(count + 1, sizeof *inquiry->targets);
    if (!inquiry->targets)
        return false;
    for (; (folder = all->folder(all->context, inquiry->n_targets)); inquiry->n_targets++) {
        struct target *target = &inquiry->targets[inquiry->n_targets];
        *target = (struct target){folder, folder_use_book(folder), folder_settings(folder)};
        folder_leads(folder, &target->leads_in, &target->leads_out);
    }
    return true;
}

struct folder *inquiry_folder(const struct inquiry *inquiry, size_t index)
{
    const struct inquiries *all = inquiry->all;
    struct folder *folder;
    for (size_t i = 0; (folder = all->folder(all->context, i)); i++)
        if (folder == inquiry->targets[index].folder)
            return folder;
    return NULL;
}

/* ---- one file ---- */

/* The path as a file of this folder's IN: as the folder was configured, and by where that path
 * leads. */
static void find_place(struct spot *place, const char *path, const struct target *target,
                       bool result)
{
    const char *told = result ? target->settings->output : target->settings->input;
    const char *leads = result ? target->leads_out : target->leads_in;
    char normal[PATH_MAX];
    place->kind = SPOT_NONE;
    if (leads)
        (result ? spot_out : spot_in)(place, path, leads);
    if (place->kind == SPOT_NONE && spot_normalise(told, normal))
        (result ? spot_out : spot_in)(place, path, normal);
}

/* Chooses the next folder to ask. One folder's results may be another's input: the file counts as
 * an input first. Returns false when there is none left. */
static bool find_next_place(struct inquiry *inquiry)
{
    for (;; inquiry->at++) {
        if (inquiry->at == inquiry->n_targets && inquiry->as_result)
            return false;
        if (inquiry->at == inquiry->n_targets) {
            inquiry->as_result = true;
            inquiry->at = 0;
        }
        if (inquiry->n_targets == 0)
            return false;
        find_place(&inquiry->probe->place, inquiry->path, &inquiry->targets[inquiry->at],
                   inquiry->as_result);
        if (inquiry->probe->place.kind != SPOT_NONE)
            return true;
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
        inquiry_list_live(probe);
        inquiry_list_ended(&probe->page, probe->target, spool);
    }
}

/* ---- on the loop ---- */

static void destroy(struct inquiry *inquiry)
{
    for (size_t i = 0; i < inquiry->n_targets; i++) {
        free(inquiry->targets[i].leads_in);
        free(inquiry->targets[i].leads_out);
        rulebook_leave(&inquiry->targets[i].book);
    }
    free(inquiry->targets);
    if (inquiry->probe) {
        fate_finish(&inquiry->probe->fate);
        requeued_finish(&inquiry->probe->requeued);
        folder_files_finish(&inquiry->probe->live);
        json_decref(inquiry->probe->page.files);
    }
    free(inquiry->probe);
    free(inquiry->path);
    free(inquiry->asked);
    free(inquiry);
}

static void leave_turn(struct inquiry *inquiry)
{
    struct inquiries *inquiries = inquiry->all;
    TAILQ_REMOVE(&inquiries->begun, inquiry, next);
    if (inquiries->running == inquiry)
        inquiries->running = NULL;
}

static void answer_with(struct inquiry *inquiry, json_t *answer, const struct fault *fault)
{
    leave_turn(inquiry);
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
    answer_with(inquiry, answer, &fault);
    destroy(inquiry);
    pump(inquiries);
}

static json_t *explanation(const struct inquiry *inquiry, const struct fate *fate,
                           const char *folder)
{
    json_t *answer = fate_json(fate, folder);
    if (answer)
        json_object_set_new(answer, "file", json_text(inquiry->asked));
    return answer;
}

/* Answers an inquiry while a folder that hangs has its probe. */
static void answer_without(struct inquiry *inquiry)
{
    const struct target *target = &inquiry->targets[inquiry->at];
    struct fault fault = FAULT_INIT;
    json_t *answer = NULL;
    if (inquiry->kind == INQUIRY_WHY) {
        struct spot place;
        struct fate fate;
        fate_init(&fate);
        find_place(&place, inquiry->path, target, inquiry->as_result);
        snprintf(fate.name, sizeof fate.name, "%s", place.name);
        fate_set(&fate, "waiting", "folder-hanging", HANGS);
        answer = explanation(inquiry, &fate, target->settings->input);
    } else {
        fault_set(&fault, FAULT_IO, "%s does not answer", target->settings->input);
    }
    inquiry->answered = true;
    answer_with(inquiry, answer, &fault);
}

static const char *input_of(const struct inquiry *inquiry)
{
    return inquiry->chosen < inquiry->n_targets ? inquiry->targets[inquiry->chosen].settings->input
                                                : NULL;
}

static void go_on(struct inquiry *inquiry);

/* Looks at the jobs again: while the disk was read the file may have become a job, or its job may
 * have ended. */
static void after_why(struct inquiry *inquiry)
{
    struct fate *fate = &inquiry->probe->fate;
    enum spot_kind kind = inquiry->probe->place.kind;
    bool known = inquiry->chosen < inquiry->n_targets;
    struct folder *folder = known ? inquiry_folder(inquiry, inquiry->chosen) : NULL;
    bool in_input = kind == SPOT_INPUT || kind == SPOT_WORK;
    bool whole = folder && in_input && folder_explain(folder, fate);
    bool unsettled = strcmp(fate->state, "unknown") == 0 ||
                     (fate->reason && strcmp(fate->reason, "claimed") == 0);
    if (!whole && unsettled && ++inquiry->tries < TRIES_MAX && known) {
        inquiry->at = 0;
        inquiry->as_result = false;
        inquiry->chosen = inquiry->n_targets;
        go_on(inquiry);
    } else {
        end(inquiry, explanation(inquiry, fate, input_of(inquiry)));
    }
}

static void after_requeue(struct inquiry *inquiry)
{
    struct probe *probe = inquiry->probe;
    bool waits = probe->fate.where == FATE_IN_PLACE || probe->busy;
    if (!probe->put_back && !waits && probe->fault.code == FAULT_NONE)
        fault_set(&probe->fault, FAULT_NO_INPUT, "%s", probe->fate.message);
    if (probe->put_back)
        log_about((struct log_subject){.folder = input_of(inquiry), .file = probe->name},
                  LOG_LEVEL_INFO, "put back to be done again (it was %s)", probe->fate.state);
    json_t *answer = json_pack("{s:i, s:o, s:s?, s:o}", "requeued", (int)probe->put_back, "name",
                               json_text(probe->put_back ? probe->name : probe->fate.name), "was",
                               probe->fate.state, "folder",
                               json_text(input_of(inquiry) ? input_of(inquiry) : ""));
    end(inquiry, answer);
}

/* Continues after other questions that came meanwhile: thousands of files take a while. */
static void after_requeue_failed(struct inquiry *inquiry)
{
    struct requeued *requeued = &inquiry->probe->requeued;
    for (size_t i = 0; i < requeued->n_names; i++)
        free(requeued->names[i]);
    free(requeued->names);
    requeued->names = NULL;
    requeued->n_names = 0;
    if (!inquiry->probe->more && ++inquiry->at < inquiry->n_targets) {
        for (size_t i = 0; i < requeued->n_skipped; i++)
            free(requeued->skipped[i]);
        requeued->n_skipped = 0;
    }
    if (inquiry->at < inquiry->n_targets && !inquiry->all->queue->draining) {
        leave_turn(inquiry);
        wait_for_turn(inquiry);
        pump(inquiry->all);
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

static void conclude(struct inquiry *inquiry)
{
    static const struct spot nowhere = {.kind = SPOT_NONE};
    if (inquiry->chosen == inquiry->n_targets) {
        fate_finish(&inquiry->probe->fate);
        fate_find(&inquiry->probe->fate, NULL, &nowhere);
    }
    if (inquiry->kind == INQUIRY_WHY)
        after_why(inquiry);
    else
        after_requeue(inquiry);
}

/* The folder has answered, or need not be asked. */
static void take_answer(struct inquiry *inquiry)
{
    if (inquiry->kind == INQUIRY_REQUEUE_FAILED) {
        after_requeue_failed(inquiry);
        return;
    }
    if (inquiry->kind == INQUIRY_LIST) {
        go_on(inquiry);
        return;
    }
    inquiry->chosen = inquiry->at;
    if (strcmp(inquiry->probe->fate.state, "unknown") != 0) {
        conclude(inquiry);
        return;
    }
    inquiry->at++;
    go_on(inquiry);
}

/* Answers for a target whose directories are gone or do not answer. */
static void answer_for_target(struct inquiry *inquiry)
{
    struct probe *probe = inquiry->probe;
    const struct target *target = &inquiry->targets[inquiry->at];
    const struct folder *folder = inquiry_folder(inquiry, inquiry->at);
    bool hangs = folder && folder_hangs(folder);
    probe->target = target;
    if (is_about_a_file(inquiry->kind))
        fate_set(&probe->fate, "waiting", hangs ? "folder-hanging" : "folder-gone",
                 hangs ? HANGS : "its folder is not there; it is taken up again when it returns");
    if (is_about_a_file(inquiry->kind) && folder && probe->place.kind == SPOT_INPUT)
        folder_explain_gone(folder, &probe->fate);
    if (inquiry->kind == INQUIRY_LIST) {
        inquiry_list_live(probe);
        inquiry_list_ended(&probe->page, target, NULL);
    }
    probe->more = false;
    if (inquiry->kind == INQUIRY_REQUEUE_FAILED && hangs)
        fault_set(&probe->requeued.fault, FAULT_IO, "%s does not answer", target->settings->input);
    take_answer(inquiry);
}

void inquiry_answered(struct probe *probe)
{
    struct inquiry *inquiry = probe->inquiry;
    inquiry->probe = probe;
    inquiry->away = false;
    if (inquiry->answered)
        destroy(inquiry);
    else if (probe->gone)
        answer_for_target(inquiry);
    else
        take_answer(inquiry);
}

/* Asks the next target, or ends the inquiry. */
static void go_on(struct inquiry *inquiry)
{
    struct probe *probe = inquiry->probe;
    if (inquiry->kind == INQUIRY_LIST)
        inquiry->at = probe->page.cursor.target;
    if (is_about_a_file(inquiry->kind)) {
        if (!find_next_place(inquiry)) {
            conclude(inquiry);
            return;
        }
        fate_finish(&probe->fate);
        fate_init(&probe->fate);
        snprintf(probe->fate.name, sizeof probe->fate.name, "%s", probe->place.name);
    } else if (inquiry->kind == INQUIRY_LIST &&
               (probe->page.full || inquiry->at >= inquiry->n_targets)) {
        end(inquiry, inquiry_list_answer(&probe->page));
        return;
    } else if (inquiry->at >= inquiry->n_targets) {
        after_requeue_failed(inquiry);
        return;
    }
    struct target *target = &inquiry->targets[inquiry->at];
    struct folder *folder = inquiry_folder(inquiry, inquiry->at);
    if (inquiry->kind == INQUIRY_LIST)
        inquiry_list_jobs(probe, folder);
    if (!folder || folder_hangs(folder)) {
        answer_for_target(inquiry);
        return;
    }
    probe->target = target;
    probe->gone = false;
    inquiry->probe = NULL;
    inquiry->away = true;
    folder_ask(folder, probe);
}

/* True when a job has a file of that name: the question is about that file. */
static bool is_job(const struct inquiry *inquiry)
{
    struct fate fate = {.state = ""};
    struct spot place;
    bool found = false;
    for (size_t i = 0; i < inquiry->n_targets && !found; i++) {
        find_place(&place, inquiry->path, &inquiry->targets[i], false);
        snprintf(fate.name, sizeof fate.name, "%s", place.name);
        found = place.kind == SPOT_INPUT && folder_explain(inquiry->targets[i].folder, &fate);
    }
    return found;
}

static bool make_probe(struct inquiry *inquiry)
{
    struct probe *probe = calloc(1, sizeof *probe);
    if (!probe)
        return false;
    inquiry->probe = probe;
    probe->inquiry = inquiry;
    probe->kind = inquiry->kind;
    fault_clear(&probe->fault);
    fault_clear(&probe->requeued.fault);
    probe->page = (struct page){.state = inquiry->state,
                                .limit = inquiry->limit,
                                .bytes_left = inquiry->bytes ? inquiry->bytes : SIZE_MAX,
                                .n_targets = inquiry->n_targets};
    if (inquiry->kind != INQUIRY_LIST)
        return true;
    probe->page.files = json_array();
    if (inquiry->asked[0])
        inquiry_read_cursor(inquiry->asked, &probe->page.cursor);
    return probe->page.files;
}

static void begin(struct inquiry *inquiry)
{
    struct inquiries *inquiries = inquiry->all;
    inquiries->running = inquiry;
    inquiries->turn = inquiry->turn;
    inquiry->begun = clock_now();
    TAILQ_INSERT_TAIL(&inquiries->begun, inquiry, next);
    if ((!inquiry->targets && !take_targets(inquiry)) ||
        (!inquiry->probe && !make_probe(inquiry))) {
        end(inquiry, NULL);
        return;
    }
    inquiry->chosen = inquiry->n_targets;
    if (inquiry->kind == INQUIRY_REQUEUE)
        inquiry->probe->busy = is_job(inquiry);
    go_on(inquiry);
}

/* Checks the question as far as that goes without asking anybody. */
static int fill(struct inquiry *inquiry, const struct inquiry_ask *ask, struct fault *fault)
{
    static const char *const states[] = {"waiting",  "queued", "running",
                                         "retrying", "failed", "done"};
    bool file = is_about_a_file(ask->kind), list = ask->kind == INQUIRY_LIST;
    char normal[PATH_MAX] = "";
    struct cursor cursor;
    if (file && !spot_normalise(ask->file, normal))
        return fault_set(fault, FAULT_USAGE, "'%.200s' is no absolute path", ask->file);
    if (list && (ask->limit < 1 || ask->limit > INQUIRY_LIMIT_MAX))
        return fault_set(fault, FAULT_USAGE, "limit is 1 to %d", INQUIRY_LIMIT_MAX);
    if (list && ask->after && !inquiry_read_cursor(ask->after, &cursor))
        return fault_set(fault, FAULT_USAGE, "after is no 'next' of an earlier page");
    for (size_t i = 0; list && ask->state && i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i], ask->state) == 0)
            inquiry->state = states[i];
    if (list && ask->state && !inquiry->state)
        return fault_set(
            fault, FAULT_USAGE,
            "state '%.40s' is none of waiting, queued, running, retrying, failed, done",
            ask->state);
    inquiry->limit = ask->limit;
    inquiry->bytes = ask->bytes;
    inquiry->asked = strdup(file ? ask->file : list && ask->after ? ask->after : "");
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
    if (count_of(inquiries, ask->uid) >= WAITING_MAX)
        return fault_set(fault, FAULT_BUSY,
                         "%d questions of this user wait for their answers; try later",
                         WAITING_MAX);
    struct inquiry *i = calloc(1, sizeof *i);
    if (!i)
        return fault_set(fault, FAULT_MEMORY, "no memory for a question");
    i->all = inquiries;
    i->kind = ask->kind;
    i->uid = ask->uid;
    i->ended = ask->ended;
    i->user = ask->user;
    int result = fill(i, ask, fault);
    if (result != 0) {
        destroy(i);
        return result;
    }
    wait_for_turn(i);
    *inquiry = i;
    pump(inquiries);
    return 0;
}

void inquiry_cancel(struct inquiry **inquiry)
{
    if (*inquiry)
        (*inquiry)->ended = NULL;
    *inquiry = NULL;
}
