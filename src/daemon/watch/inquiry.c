#include "daemon/watch/inquiry_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "worker/json_text.h"

#define WAITING_MAX 64

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

static size_t asked_target(const struct inquiry *inquiry)
{
    return inquiry->kind == INQUIRY_LIST ? inquiry->cursor.target : inquiry->at;
}

static void on_timer(uv_timer_t *timer)
{
    struct inquiries *inquiries = timer->data;
    struct inquiry *inquiry, *next;
    for (inquiry = TAILQ_FIRST(&inquiries->begun); inquiry; inquiry = next) {
        next = TAILQ_NEXT(inquiry, next);
        const struct folder *folder =
            inquiry->away ? inquiry_folder(inquiry, asked_target(inquiry)) : NULL;
        if (inquiry->away && (!folder || folder_hangs(folder)))
            answer_without(inquiry);
        else if (inquiries->running == inquiry && clock_now() - inquiry->begun > LONG)
            inquiries->running = NULL;
    }
    inquiry = TAILQ_FIRST(&inquiries->waiting);
    if (inquiry && !inquiries->running) {
        TAILQ_REMOVE(&inquiries->waiting, inquiry, next);
        begin(inquiry);
    }
    pump(inquiries);
}

/* Starts waiting questions in the loop's next turn, so that nobody is answered from within
 * inquiry_start. */
static void pump(struct inquiries *inquiries)
{
    bool now = !TAILQ_EMPTY(&inquiries->waiting) && !inquiries->running;
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
        inquiry->answered = true; /* its errand still uses it, and frees it at the end */
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
    for (; (folder = all->folder(all->context, inquiry->n_targets)); inquiry->n_targets++)
        inquiry->targets[inquiry->n_targets] = (struct target){
            folder, folder_use_book(folder), folder_settings(folder), folder_use_spool(folder)};
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
    const char *leads = !target->spool ? NULL
                        : result       ? target->spool->out_folder
                                       : target->spool->folder;
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
        find_place(&inquiry->place, inquiry->path, &inquiry->targets[inquiry->at],
                   inquiry->as_result);
        if (inquiry->place.kind != SPOT_NONE)
            return true;
    }
}

/* Runs as an errand of the target's folder. */
static void ask_disk(struct errand *errand)
{
    struct inquiry *inquiry = (struct inquiry *)((char *)errand - offsetof(struct inquiry, errand));
    const struct spool *spool = inquiry->targets[asked_target(inquiry)].spool;
    struct fate *fate = &inquiry->fate;
    if (is_about_a_file(inquiry->kind))
        fate_find(fate, spool, &inquiry->place);
    if (inquiry->kind == INQUIRY_REQUEUE && !inquiry->busy && fate->where != FATE_IN_PLACE &&
        strcmp(fate->state, "unknown") != 0)
        inquiry->put_back = requeue_one(spool, fate, inquiry->name, &inquiry->fault) == 0;
    if (inquiry->kind == INQUIRY_REQUEUE_FAILED)
        inquiry->more = requeue_failed(spool, &inquiry->requeued);
    if (inquiry->kind == INQUIRY_LIST)
        inquiry_list_ended(inquiry);
}

/* ---- on the loop ---- */

static void destroy(struct inquiry *inquiry)
{
    for (size_t i = 0; i < inquiry->n_targets; i++) {
        spool_leave(&inquiry->targets[i].spool);
        rulebook_leave(&inquiry->targets[i].book);
    }
    free(inquiry->targets);
    fate_finish(&inquiry->fate);
    requeued_finish(&inquiry->requeued);
    json_decref(inquiry->files);
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
    inquiry->all->count--;
    if (inquiry->ended)
        inquiry->ended(inquiry->user, fault->code ? NULL : json_incref(answer), fault);
    inquiry->ended = NULL;
    json_decref(answer);
}

static void end(struct inquiry *inquiry, json_t *answer)
{
    struct inquiries *inquiries = inquiry->all;
    if (!answer)
        fault_set(&inquiry->fault, FAULT_MEMORY, "no memory for an answer");
    answer_with(inquiry, answer, &inquiry->fault);
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

/* Answers an inquiry whose errand hangs. The errand keeps the memory it writes to. */
static void answer_without(struct inquiry *inquiry)
{
    const struct target *target = &inquiry->targets[asked_target(inquiry)];
    struct fault fault = FAULT_INIT;
    json_t *answer = NULL;
    if (inquiry->kind == INQUIRY_WHY) {
        struct fate fate;
        fate_init(&fate);
        snprintf(fate.name, sizeof fate.name, "%s", inquiry->place.name);
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
    const struct fate *fate = &inquiry->fate;
    bool known = inquiry->chosen < inquiry->n_targets;
    struct folder *folder = known ? inquiry_folder(inquiry, inquiry->chosen) : NULL;
    bool in_input = inquiry->place.kind == SPOT_INPUT || inquiry->place.kind == SPOT_WORK;
    bool whole = folder && in_input && folder_explain(folder, &inquiry->fate);
    bool unsettled = strcmp(fate->state, "unknown") == 0 ||
                     (fate->reason && strcmp(fate->reason, "claimed") == 0);
    if (!whole && unsettled && ++inquiry->tries < TRIES_MAX && known) {
        inquiry->at = 0;
        inquiry->as_result = false;
        inquiry->chosen = inquiry->n_targets;
        go_on(inquiry);
    } else {
        end(inquiry, explanation(inquiry, &inquiry->fate, input_of(inquiry)));
    }
}

static void after_requeue(struct inquiry *inquiry)
{
    struct folder *folder = inquiry->put_back ? inquiry_folder(inquiry, inquiry->chosen) : NULL;
    bool failed = strcmp(inquiry->fate.state, "failed") == 0;
    bool waits = inquiry->fate.where == FATE_IN_PLACE || inquiry->busy;
    if (!inquiry->put_back && !waits && inquiry->fault.code == FAULT_NONE)
        fault_set(&inquiry->fault, FAULT_NO_INPUT, "%s", inquiry->fate.message);
    if (inquiry->put_back)
        log_about((struct log_subject){.folder = input_of(inquiry), .file = inquiry->name},
                  LOG_LEVEL_INFO, "put back to be done again (it was %s)", inquiry->fate.state);
    json_t *answer = json_pack("{s:i, s:o, s:s?, s:o}", "requeued", (int)inquiry->put_back, "name",
                               json_text(inquiry->put_back ? inquiry->name : inquiry->fate.name),
                               "was", inquiry->fate.state, "folder",
                               json_text(input_of(inquiry) ? input_of(inquiry) : ""));
    bool counted = failed || inquiry->fate.where != FATE_KEPT; /* among those in done or failed */
    if (folder)
        folder_take_back(folder, inquiry->name, counted, failed);
    end(inquiry, answer);
}

static void look_at_requeued(struct inquiry *inquiry)
{
    struct requeued *requeued = &inquiry->requeued;
    struct folder *folder =
        inquiry->at < inquiry->n_targets ? inquiry_folder(inquiry, inquiry->at) : NULL;
    for (size_t i = 0; i < requeued->n_names; i++) {
        if (folder)
            folder_take_back(folder, requeued->names[i], true, true);
        free(requeued->names[i]);
    }
    free(requeued->names);
    requeued->names = NULL;
    requeued->n_names = 0;
}

/* Continues after other questions that came meanwhile: thousands of files take a while. */
static void after_requeue_failed(struct inquiry *inquiry)
{
    struct requeued *requeued = &inquiry->requeued;
    look_at_requeued(inquiry);
    if (!inquiry->more && ++inquiry->at < inquiry->n_targets) {
        for (size_t i = 0; i < requeued->n_skipped; i++)
            free(requeued->skipped[i]);
        requeued->n_skipped = 0;
    }
    if (inquiry->at < inquiry->n_targets && !inquiry->all->queue->draining) {
        leave_turn(inquiry);
        TAILQ_INSERT_TAIL(&inquiry->all->waiting, inquiry, next);
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
        fate_finish(&inquiry->fate);
        fate_find(&inquiry->fate, NULL, &nowhere);
    }
    if (inquiry->kind == INQUIRY_WHY)
        after_why(inquiry);
    else
        after_requeue(inquiry);
}

/* On the loop: the errand has ended, or none was needed. */
static void take_answer(struct inquiry *inquiry)
{
    if (inquiry->kind == INQUIRY_REQUEUE_FAILED) {
        after_requeue_failed(inquiry);
        return;
    }
    if (inquiry->kind == INQUIRY_LIST) {
        inquiry_list_live(inquiry);
        go_on(inquiry);
        return;
    }
    inquiry->chosen = inquiry->at;
    if (strcmp(inquiry->fate.state, "unknown") != 0) {
        conclude(inquiry);
        return;
    }
    inquiry->at++;
    go_on(inquiry);
}

static void after_disk(struct errand *errand)
{
    struct inquiry *inquiry = (struct inquiry *)((char *)errand - offsetof(struct inquiry, errand));
    inquiry->away = false;
    if (inquiry->answered)
        destroy(inquiry);
    else
        take_answer(inquiry);
}

/* Answers for a target whose directories are gone or do not answer. */
static void answer_for_target(struct inquiry *inquiry)
{
    const struct target *target = &inquiry->targets[asked_target(inquiry)];
    const struct folder *folder = inquiry_folder(inquiry, asked_target(inquiry));
    bool hangs = folder && folder_hangs(folder);
    if (is_about_a_file(inquiry->kind))
        fate_set(&inquiry->fate, "waiting", hangs ? "folder-hanging" : "folder-gone",
                 hangs ? HANGS : "its folder is not there; it is taken up again when it returns");
    else if (inquiry->kind == INQUIRY_LIST)
        inquiry_list_ended(inquiry);
    inquiry->more = false;
    if (inquiry->kind == INQUIRY_REQUEUE_FAILED && hangs)
        fault_set(&inquiry->requeued.fault, FAULT_IO, "%s does not answer",
                  target->settings->input);
    take_answer(inquiry);
}

/* Asks the next target, or ends the inquiry. */
static void go_on(struct inquiry *inquiry)
{
    if (is_about_a_file(inquiry->kind)) {
        if (!find_next_place(inquiry)) {
            conclude(inquiry);
            return;
        }
        fate_finish(&inquiry->fate);
        fate_init(&inquiry->fate);
        snprintf(inquiry->fate.name, sizeof inquiry->fate.name, "%s", inquiry->place.name);
    } else if (inquiry->kind == INQUIRY_LIST &&
               (inquiry->full || asked_target(inquiry) >= inquiry->n_targets)) {
        end(inquiry, inquiry_list_answer(inquiry));
        return;
    } else if (asked_target(inquiry) >= inquiry->n_targets) {
        after_requeue_failed(inquiry);
        return;
    }
    struct target *target = &inquiry->targets[asked_target(inquiry)];
    struct folder *folder = inquiry_folder(inquiry, asked_target(inquiry));
    if (!folder || folder_hangs(folder))
        spool_leave(&target->spool);
    if (!target->spool) {
        answer_for_target(inquiry);
        return;
    }
    inquiry->away = true;
    folder_run(folder, &inquiry->errand, ask_disk, after_disk);
}

/* True when a job has a file of that name: the question is about that file. */
static bool is_job(struct inquiry *inquiry)
{
    struct fate fate = {.state = ""};
    bool found = false;
    for (size_t i = 0; i < inquiry->n_targets && !found; i++) {
        find_place(&inquiry->place, inquiry->path, &inquiry->targets[i], false);
        snprintf(fate.name, sizeof fate.name, "%s", inquiry->place.name);
        found =
            inquiry->place.kind == SPOT_INPUT && folder_explain(inquiry->targets[i].folder, &fate);
    }
    return found;
}

static void begin(struct inquiry *inquiry)
{
    struct inquiries *inquiries = inquiry->all;
    inquiries->running = inquiry;
    inquiry->begun = clock_now();
    TAILQ_INSERT_TAIL(&inquiries->begun, inquiry, next);
    if (!inquiry->targets && !take_targets(inquiry))
        fault_set(&inquiry->fault, FAULT_MEMORY, "no memory for an answer");
    inquiry->chosen = inquiry->n_targets;
    if (inquiry->kind == INQUIRY_LIST)
        inquiry_list_live(inquiry);
    if (inquiry->kind == INQUIRY_REQUEUE)
        inquiry->busy = is_job(inquiry);
    go_on(inquiry);
}

static int fill(struct inquiry *inquiry, const struct inquiry_ask *ask, struct fault *fault)
{
    static const char *const states[] = {"waiting",  "queued", "running",
                                         "retrying", "failed", "done"};
    bool file = is_about_a_file(ask->kind);
    inquiry->asked = strdup(file ? ask->file : "");
    if (!inquiry->asked)
        return fault_set(fault, FAULT_MEMORY, "no memory for a question");
    if (file && !spot_normalise(ask->file, inquiry->path))
        return fault_set(fault, FAULT_USAGE, "'%.200s' is no absolute path", ask->file);
    if (ask->kind != INQUIRY_LIST)
        return 0;
    if (ask->limit < 1 || ask->limit > INQUIRY_LIMIT_MAX)
        return fault_set(fault, FAULT_USAGE, "limit is 1 to %d", INQUIRY_LIMIT_MAX);
    if (ask->after && !inquiry_read_cursor(ask->after, &inquiry->cursor))
        return fault_set(fault, FAULT_USAGE, "after is no 'next' of an earlier page");
    inquiry->limit = ask->limit;
    inquiry->bytes_left = ask->bytes ? ask->bytes : SIZE_MAX;
    inquiry->files = json_array();
    for (size_t i = 0; ask->state && i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i], ask->state) == 0)
            inquiry->state = states[i];
    if (ask->state && !inquiry->state)
        return fault_set(
            fault, FAULT_USAGE,
            "state '%.40s' is none of waiting, queued, running, retrying, failed, done",
            ask->state);
    return 0;
}

int inquiry_start(struct inquiry **inquiry, struct inquiries *inquiries,
                  const struct inquiry_ask *ask, struct fault *fault)
{
    *inquiry = NULL;
    if (inquiries->count >= WAITING_MAX)
        return fault_set(fault, FAULT_BUSY, "%d questions wait for their answers; try later",
                         WAITING_MAX);
    struct inquiry *i = calloc(1, sizeof *i);
    if (!i)
        return fault_set(fault, FAULT_MEMORY, "no memory for a question");
    i->all = inquiries;
    i->kind = ask->kind;
    i->ended = ask->ended;
    i->user = ask->user;
    fault_clear(&i->fault);
    fault_clear(&i->requeued.fault);
    int result = fill(i, ask, fault);
    if (result != 0) {
        destroy(i);
        return result;
    }
    inquiries->count++;
    TAILQ_INSERT_TAIL(&inquiries->waiting, i, next);
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
