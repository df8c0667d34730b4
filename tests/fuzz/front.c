#include "front.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/work/child.h"
#include "fuzz.h"
#include "worker/message.h"

/* ---- a worker without a process ---- */

#define ANSWERS_MAX 256

struct answer {
    enum message_kind kind;
    int64_t id;
    bool fails;
};

struct child {
    const struct child_events *events;
    void *context;
    uv_idle_t idle; /* answers come in later turns of the loop */
    struct answer answers[ANSWERS_MAX];
    unsigned n_answers;
    struct child_end end;
    bool ends, forgotten;
    LIST_ENTRY(child) in_list;
};

static LIST_HEAD(, child) children = LIST_HEAD_INITIALIZER(children);
static bool nothing_said;

static void say(struct child *child, const struct answer *answer)
{
    struct message message;
    message_init(&message, answer->kind);
    message.id = answer->id;
    message.result = answer->fails ? "data" : "ok";
    message.text = answer->fails ? "damaged" : NULL;
    json_t *report = NULL;
    if (answer->kind == MESSAGE_CHECKED) {
        message.device = "fuzz";
        message.level = "whole: fuzz";
        message.extension = "png";
    } else if (answer->kind == MESSAGE_NEED_OUTPUT) {
        message.plane = "dx";
    } else if (answer->kind == MESSAGE_DONE && !answer->fails) {
        report = json_pack("{s:f, s:i, s:[{s:s, s:f}], s:[s]}", "total_s", 0.001, "crossings_in", 1,
                           "stages", "stage", "sobel", "run_s", 0.5, "warnings", "odd \"input\"");
        message.media_type = "image/png";
        message.extension = "png";
        message.planes[message.n_planes++] = "";
        message.report = report;
    }
    child->events->said(child->context, &message);
    json_decref(report);
}

static void on_idle(uv_idle_t *idle)
{
    struct child *child = idle->data;
    if (child->n_answers > 0) {
        struct answer answer = child->answers[0];
        memmove(child->answers, child->answers + 1, --child->n_answers * sizeof answer);
        say(child, &answer);
        return;
    }
    uv_idle_stop(idle);
    if (child->ends && !child->forgotten) {
        child->ends = false;
        child->events->ended(child->context, &child->end);
    }
}

static void answer(struct child *child, enum message_kind kind, int64_t id, bool fails)
{
    if (nothing_said || child->n_answers == ANSWERS_MAX)
        return;
    child->answers[child->n_answers++] = (struct answer){kind, id, fails};
    uv_idle_start(&child->idle, on_idle);
}

static void end(struct child *child, int signal)
{
    child->end = (struct child_end){.signal = signal, .text = "as a fuzzer wants it"};
    child->ends = true;
    uv_idle_start(&child->idle, on_idle);
}

int child_start(struct child **child, uv_loop_t *loop, const struct child_events *events,
                void *context, struct fault *fault)
{
    struct child *c = calloc(1, sizeof *c);
    *child = c;
    if (!c)
        return fault_set(fault, FAULT_MEMORY, "no memory");
    c->events = events;
    c->context = context;
    uv_idle_init(loop, &c->idle);
    c->idle.data = c;
    LIST_INSERT_HEAD(&children, c, in_list);
    return 0;
}

int child_pid(const struct child *child)
{
    (void)child;
    return 1;
}

/* "dwt" asks for a second output, "invert" fails. */
static void take_job(struct child *child, const struct message *job)
{
    answer(child, MESSAGE_BEGAN, job->id, false);
    (void)!write(job->fds[1], "a result", 8);
    if (strstr(job->chain, "dwt"))
        answer(child, MESSAGE_NEED_OUTPUT, job->id, false);
    else
        answer(child, MESSAGE_DONE, job->id, strstr(job->chain, "invert") != NULL);
}

void child_send(struct child *child, const struct message *message)
{
    struct text json = {0};
    if (message_encode(message, &json, NULL) != 0)
        fuzz_fail("the front says '%s' and it cannot be encoded", message_kind_name(message->kind));
    text_finish(&json);
    if (message->kind == MESSAGE_CHECK)
        answer(child, MESSAGE_CHECKED, message->id, false);
    else if (message->kind == MESSAGE_JOB)
        take_job(child, message);
    else if (message->kind == MESSAGE_OUTPUT)
        answer(child, MESSAGE_DONE, message->id, message->n_fds == 0);
    else if (message->kind == MESSAGE_PING)
        answer(child, MESSAGE_PONG, 0, false);
}

void child_hang_up(struct child *child)
{
    end(child, 0);
}

void child_has_keeper(struct child *child)
{
    (void)child;
}

void child_kill(struct child *child)
{
    end(child, 9);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void child_forget(struct child **child)
{
    struct child *c = *child;
    *child = NULL;
    if (!c)
        return;
    c->forgotten = true;
    LIST_REMOVE(c, in_list);
    uv_close((uv_handle_t *)&c->idle, on_closed);
}

void front_workers_say(const struct message *message)
{
    struct child *child, *next;
    for (child = LIST_FIRST(&children); child; child = next) {
        next = LIST_NEXT(child, in_list);
        child->events->said(child->context, message);
    }
}

void front_workers_hang_up(void)
{
    struct child *child, *next;
    for (child = LIST_FIRST(&children); child; child = next) {
        next = LIST_NEXT(child, in_list);
        child->events->hung_up(child->context);
    }
}

void front_workers_die(int signal)
{
    struct child *child;
    LIST_FOREACH (child, &children, in_list)
        end(child, signal);
}

/* ---- the front ---- */

static const char *state(void *context)
{
    (void)context;
    return "ready";
}

static bool chain(void *context, size_t index, const char **name, const char **text)
{
    (void)context;
    *name = "edges";
    *text = "luminance,sobel";
    return index == 0;
}

static struct folder *folder(void *context, size_t index)
{
    (void)context;
    (void)index;
    return NULL;
}

static const struct supervisor *supervisor(void *context, size_t index)
{
    const struct fuzz_front *front = context;
    return index == 0 ? &front->supervisor : NULL;
}

static void nothing(void *context)
{
    (void)context;
}

static bool always(void *context)
{
    (void)context;
    return true;
}

static void on_ready(void *context)
{
    struct fuzz_front *front = context;
    service_worker_ready(&front->service);
}

static void on_refused(void *context, const struct worker_check *check, const char *subject,
                       const struct faults *faults)
{
    (void)context;
    (void)check;
    (void)subject;
    (void)faults;
}

static void on_moved(void *context)
{
    struct fuzz_front *front = context;
    service_worker_ready(&front->service);
}

static void on_described(void *context)
{
    struct fuzz_front *front = context;
    service_described(&front->service);
}

static void on_stopped(void *context)
{
    ((struct fuzz_front *)context)->stopped = true;
}

static void on_supervisor_closed(void *context)
{
    ((struct fuzz_front *)context)->closed = true;
}

static const struct supervisor_events events = {.ready = on_ready,
                                                .refused = on_refused,
                                                .moved = on_moved,
                                                .described = on_described,
                                                .stopped = on_stopped,
                                                .closed = on_supervisor_closed};

static void set_up(struct fuzz_front *front)
{
    struct fault fault = FAULT_INIT;
    settings_defaults(&front->settings);
    settings_complete(&front->settings);
    front->settings.max_file = 1 << 20;
    front->settings.memory = 4 << 20;
    front->check = (struct worker_check){.chain = "luminance,sobel", .format = "png"};
    front->supervisor = (struct supervisor){.loop = &front->loop,
                                            .settings = &front->settings,
                                            .config_fd = -1,
                                            .n_checks = 1,
                                            .checks = &front->check,
                                            .events = &events,
                                            .context = front,
                                            .jobs = &queue_jobs,
                                            .jobs_context = &front->queue,
                                            .metrics = metrics_create()};
    front->queue = (struct queue){.supervisor = &front->supervisor,
                                  .limit = 64,
                                  .slots = 2,
                                  .job_time = UINT64_C(60000000000),
                                  .events = {.changed = nothing, .is_quiet = always},
                                  .metrics = front->supervisor.metrics};
    front->service = (struct service){.loop = &front->loop,
                                      .queue = &front->queue,
                                      .metrics = front->supervisor.metrics,
                                      .settings = &front->settings,
                                      .state = state,
                                      .chain = chain,
                                      .folder = folder,
                                      .supervisor = supervisor,
                                      .measure = nothing,
                                      .changed = nothing,
                                      .context = front};
    if (uv_loop_init(&front->loop) != 0 || supervisor_init(&front->supervisor, &fault) != 0)
        fuzz_fail("no loop: %s", fault.text);
    queue_init(&front->queue, &front->loop);
    service_init(&front->service);
}

void front_begin(struct fuzz_front *front, bool says_nothing)
{
    *front = (struct fuzz_front){0};
    nothing_said = says_nothing;
    set_up(front);
    supervisor_start(&front->supervisor);
    front_turn(front, 8);
}

void front_turn(struct fuzz_front *front, unsigned turns)
{
    for (unsigned i = 0; i < turns; i++)
        uv_run(&front->loop, UV_RUN_NOWAIT);
}

bool front_is_empty(const struct fuzz_front *front)
{
    return front->queue.n_jobs == 0 && front->queue.n_client_jobs == 0 &&
           front->service.bytes == 0 && LIST_EMPTY(&front->service.accounts);
}

void front_end(struct fuzz_front *front)
{
    nothing_said = false;
    queue_cancel(&front->queue);
    supervisor_stop(&front->supervisor);
    supervisor_kill(&front->supervisor);
    for (int i = 0; i < 1000 && !front->stopped; i++)
        front_turn(front, 1);
    if (!front->stopped)
        fuzz_fail("workers do not end");
    if (front->queue.n_jobs > 0)
        fuzz_fail("%u jobs are left in the queue",
                  front->queue.n_jobs + front->queue.n_client_jobs);
    service_finish(&front->service);
    queue_close(&front->queue);
    supervisor_close(&front->supervisor);
    for (int i = 0; i < 1000 && uv_loop_alive(&front->loop); i++) {
        front_turn(front, 1);
        usleep(1000); /* threads of libuv may still be closing descriptors */
    }
    if (!front->closed || uv_loop_close(&front->loop) != 0)
        fuzz_fail("handles are left open");
    metrics_destroy(&front->supervisor.metrics);
    settings_finish(&front->settings);
}

int front_next_fd(void)
{
    int fd = dup(STDERR_FILENO);
    if (fd >= 0)
        close(fd);
    return fd;
}
