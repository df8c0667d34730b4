#include "front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/work/child.h"
#include "fuzz.h"
#include "daemon/work/metrics.h"
#include "worker/message.h"

static struct events events;

/* ---- a worker without a process ---- */

#define ANSWERS_MAX 256

struct answer {
    enum message_kind kind;
    int64_t id;
    bool fails;
};

struct fake {
    struct child child; /* must be the first member */
    struct answer answers[ANSWERS_MAX];
    unsigned n_answers;
    bool ends;
    LIST_ENTRY(fake) in_list;
};

static LIST_HEAD(, fake) fakes = LIST_HEAD_INITIALIZER(fakes);
static bool nothing_said;
static const struct message *said; /* by the target, in place of answers; NULL: nothing */
static struct fuzz_front *current;

static void answer(struct child *child, enum message_kind kind, int64_t id, bool fails)
{
    struct fake *fake = (struct fake *)child;
    if (!nothing_said && fake->n_answers < ANSWERS_MAX)
        fake->answers[fake->n_answers++] = (struct answer){kind, id, fails};
}

static void end(struct child *child, int signal)
{
    ((struct fake *)child)->ends = true;
    child->signal = signal;
}

int child_start(struct child **child, uv_loop_t *loop, struct fault *fault)
{
    struct fake *fake = calloc(1, sizeof *fake);
    (void)loop;
    *child = (struct child *)fake;
    if (!fake)
        return fault_set(fault, FAULT_MEMORY, "no memory");
    fake->child.process.pid = 1;
    snprintf(fake->child.end, sizeof fake->child.end, "as a fuzzer wants it");
    LIST_INSERT_HEAD(&fakes, fake, in_list);
    return 0;
}

bool child_receive(struct child *child, struct message *message)
{
    struct fake *fake = (struct fake *)child;
    if (said) { /* once */
        *message = *said;
        json_incref(message->json);
        said = NULL;
        return true;
    }
    if (fake->n_answers == 0)
        return false;
    struct answer first = fake->answers[0];
    memmove(fake->answers, fake->answers + 1, --fake->n_answers * sizeof first);
    message_init(message, first.kind);
    message->id = first.id;
    message->result = first.fails ? "data" : "ok";
    message->text = first.fails ? "damaged" : NULL;
    if (first.kind == MESSAGE_CHECKED) {
        message->device = "fuzz";
        message->level = "whole: fuzz";
        message->extension = "png";
    } else if (first.kind == MESSAGE_NEED_OUTPUT) {
        message->plane = "dx";
    } else if (first.kind == MESSAGE_DONE && !first.fails) {
        message->media_type = "image/png";
        message->extension = "png";
        message->planes[message->n_planes++] = "";
        message->report = message->json =
            json_pack("{s:f, s:i, s:[{s:s, s:f}], s:[s]}", "total_s", 0.001, "crossings_in", 1,
                      "stages", "stage", "sobel", "run_s", 0.5, "warnings", "odd \"input\"");
    }
    return true;
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

void child_kill(struct child *child)
{
    end(child, 9);
}

void child_forget(struct child **child)
{
    struct fake *fake = (struct fake *)*child;
    *child = NULL;
    if (!fake)
        return;
    LIST_REMOVE(fake, in_list);
    free(fake);
}

/* Answers come in later turns of the loop than what they answer. */
static void front_look(struct fuzz_front *front)
{
    struct supervisor *s = &front->supervisor;
    supervisor_turn(s);
    s->news = (struct supervisor_news){0};
}

void front_workers_say(const struct message *message)
{
    struct fake *fake, *next;
    for (fake = LIST_FIRST(&fakes); fake; fake = next) {
        next = LIST_NEXT(fake, in_list);
        said = message;
        fake->child.readable = true;
        front_look(current);
    }
    said = NULL;
}

void front_workers_hang_up(void)
{
    struct fake *fake;
    LIST_FOREACH (fake, &fakes, in_list)
        fake->child.cut = fake->child.readable = true;
    front_look(current);
}

void front_workers_die(int signal)
{
    struct fake *fake;
    LIST_FOREACH (fake, &fakes, in_list)
        end(&fake->child, signal);
}

/* ---- the front ---- */

static struct config_chain edges = {.name = "edges", .text = (char[]){"luminance,sobel"}};

static void on_supervisor_closed(uv_handle_t *timer)
{
    (void)timer;
    current->closed = true;
}

static void set_up(struct fuzz_front *front)
{
    struct fault fault = FAULT_INIT;
    settings_defaults(&front->config.settings);
    settings_complete(&front->config.settings);
    front->config.n_chains = 1;
    front->config.chains = &edges;
    front->config.settings.max_file = 1 << 20;
    front->config.settings.memory = 4 << 20;
    front->check = (struct worker_check){.chain = "luminance,sobel", .format = "png"};
    front->supervisor = (struct supervisor){.loop = &front->loop,
                                            .settings = &front->config.settings,
                                            .config_fd = -1,
                                            .n_checks = 1,
                                            .checks = &front->check,
                                            .queue = &front->queue,
                                            .metrics = metrics_create()};
    front->queue = (struct queue){.limit = 64,
                                  .slots = 2,
                                  .job_time = UINT64_C(60000000000),
                                  .metrics = front->supervisor.metrics,
                                  .events = &events};
    front->service = (struct service){.loop = &front->loop,
                                      .queue = &front->queue,
                                      .metrics = front->supervisor.metrics,
                                      .config = &front->config,
                                      .settings = &front->config.settings,
                                      .state = "ready",
                                      .supervisor = &front->supervisor};
    if (uv_loop_init(&front->loop) != 0 || supervisor_init(&front->supervisor, &fault) != 0)
        fuzz_fail("no loop: %s", fault.text);
    queue_init(&front->queue, &front->loop);
    service_init(&front->service);
}

void front_begin(struct fuzz_front *front, bool says_nothing)
{
    *front = (struct fuzz_front){0};
    current = front;
    nothing_said = says_nothing;
    set_up(front);
    supervisor_start(&front->supervisor);
    front_turn(front, 8);
}

void front_turn(struct fuzz_front *front, unsigned turns)
{
    struct supervisor *s = &front->supervisor;
    struct queue *queue = &front->queue;
    struct fake *fake;
    for (unsigned i = 0; i < turns; i++) {
        uv_run(&front->loop, UV_RUN_NOWAIT);
        LIST_FOREACH (fake, &fakes, in_list) {
            fake->child.readable = fake->n_answers > 0;
            fake->child.exited = fake->ends;
        }
        front_look(front);
        queue_turn(queue, s->main.worker, s->quarantine.worker, true);
        if (queue->wants_quarantine)
            supervisor_want_quarantine(s);
    }
}

bool front_is_empty(const struct fuzz_front *front)
{
    return front->queue.n_jobs == 0 && front->queue.n_client_jobs == 0 &&
           front->service.shares.bytes == 0 && LIST_EMPTY(&front->service.shares.accounts);
}

void front_end(struct fuzz_front *front)
{
    nothing_said = false;
    queue_cancel(&front->queue);
    supervisor_stop(&front->supervisor);
    supervisor_kill(&front->supervisor);
    for (int i = 0; i < 1000 && !supervisor_has_stopped(&front->supervisor); i++)
        front_turn(front, 1);
    if (!supervisor_has_stopped(&front->supervisor))
        fuzz_fail("workers do not end");
    if (front->queue.n_jobs > 0)
        fuzz_fail("%u jobs are left in the queue",
                  front->queue.n_jobs + front->queue.n_client_jobs);
    service_finish(&front->service);
    queue_close(&front->queue);
    supervisor_close(&front->supervisor, on_supervisor_closed);
    for (int i = 0; i < 1000 && uv_loop_alive(&front->loop); i++) {
        uv_run(&front->loop, UV_RUN_NOWAIT);
        usleep(1000); /* threads of libuv may still be closing descriptors */
    }
    if (!front->closed || uv_loop_close(&front->loop) != 0)
        fuzz_fail("handles are left open");
    metrics_destroy(&front->supervisor.metrics);
    settings_finish(&front->config.settings);
}

int front_next_fd(void)
{
    int fd = dup(STDERR_FILENO);
    if (fd >= 0)
        close(fd);
    return fd;
}
