#include "daemon/front.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/text.h"
#include "daemon/folder.h"
#include "daemon/metrics.h"
#include "daemon/queue.h"
#include "daemon/supervise.h"
#include "param/options.h"
#include "worker/message.h"

/* How long after a cancel everything may take that cannot be hurried: then what is on disk is left
 * to the next start. Milliseconds. */
#define CANCEL_LIMIT 15000

enum front_state {
    FRONT_STARTING,  /* the worker opens the device and checks the chains */
    FRONT_SCANNING,  /* the folders are read for the first time */
    FRONT_READY,     /* … */
    FRONT_DRAINING,  /* nothing new; what runs may finish */
    FRONT_CANCELLED, /* nothing may finish any more */
    FRONT_LEAVING,   /* all jobs have left; the worker ends */
    FRONT_CLOSED,
};

struct front {
    const struct settings *settings;
    uv_loop_t loop;
    enum front_state state;
    int status; /* to exit with */
    struct queue queue;
    struct supervisor supervisor;
    struct metrics *metrics;         /* owned */
    struct supervisor_check *checks; /* one a folder; owned */
    struct folder **folders;         /* owned */
    size_t n_scanned, n_stopped;
    uv_timer_t limit; /* of draining, then of cancelling */
    uv_signal_t signals[4];
    size_t n_signals;
};

/* ---- the end ---- */

static void close_all(struct front *front)
{
    for (size_t i = 0; i < front->settings->n_watches; i++)
        folder_destroy(&front->folders[i]);
    queue_close(&front->queue);
    supervisor_close(&front->supervisor);
    uv_close((uv_handle_t *)&front->limit, NULL);
    for (size_t i = 0; i < front->n_signals; i++)
        uv_close((uv_handle_t *)&front->signals[i], NULL);
    front->state = FRONT_CLOSED;
}

static void leave_if_done(struct front *front)
{
    bool stopping = front->state == FRONT_DRAINING || front->state == FRONT_CANCELLED;
    if (!stopping || front->n_stopped < front->settings->n_watches ||
        !queue_is_empty(&front->queue))
        return;
    front->state = FRONT_LEAVING;
    supervisor_stop(&front->supervisor); /* → on_stopped, at once when there is no worker */
}

static void on_limit(uv_timer_t *timer);

static void drain(struct front *front)
{
    front->state = FRONT_DRAINING;
    uv_timer_start(&front->limit, on_limit, front->settings->shutdown / 1000000, 0);
    queue_drain(&front->queue);
    for (size_t i = 0; i < front->settings->n_watches; i++)
        folder_stop(front->folders[i]);
    leave_if_done(front);
}

/* The dead worker's jobs are given back when its death is known: on_died. */
static void cancel(struct front *front)
{
    front->state = FRONT_CANCELLED;
    uv_timer_start(&front->limit, on_limit, CANCEL_LIMIT, 0);
    queue_drain(&front->queue);
    supervisor_kill(&front->supervisor);
}

static void on_limit(uv_timer_t *timer)
{
    struct front *front = timer->data;
    if (front->state == FRONT_DRAINING) {
        log_warning("some jobs are still not done: they are left to the next start");
        cancel(front);
    } else if (front->state == FRONT_CANCELLED) {
        log_error("the disk or the worker does not answer: ending without them");
        _exit(74);
    }
}

static void stop_with(struct front *front, int status)
{
    front->status = status;
    if (front->state < FRONT_DRAINING)
        drain(front);
}

/* ---- news of the worker ---- */

static void on_ready(void *context)
{
    struct front *front = context;
    if (front->state == FRONT_STARTING) {
        front->state = FRONT_SCANNING;
        for (size_t i = 0; i < front->settings->n_watches; i++)
            folder_start(front->folders[i]);
    }
    queue_worker_ready(&front->queue);
}

static void complain(const struct supervisor_check *check, const char *subject,
                     const struct fault *fault)
{
    struct text caret = {0};
    const char *source = NULL;
    if (check && subject)
        source = strcmp(subject, "chain") == 0    ? check->chain
                 : strcmp(subject, "format") == 0 ? check->format
                                                  : check->reading;
    fault_print_caret(fault, source ? source : "", &caret);
    options_complain("sluiced", subject, fault);
    fputs(text_string(&caret), stderr);
    text_finish(&caret);
}

static void on_refused(void *context, const struct supervisor_check *check, const char *subject,
                       const struct fault *fault)
{
    struct front *front = context;
    complain(check, subject, fault);
    if (front->state == FRONT_STARTING)
        stop_with(front, fault_exit_status(fault->code));
}

static void on_died(void *context)
{
    struct front *front = context;
    if (front->state == FRONT_CANCELLED)
        queue_cancel(&front->queue);
    else
        queue_worker_died(&front->queue);
}

static void on_said(void *context, const struct message *message)
{
    struct front *front = context;
    queue_worker_said(&front->queue, message);
}

static void on_stopped(void *context)
{
    close_all(context);
}

static const struct supervisor_events supervisor_events = {.ready = on_ready,
                                                           .refused = on_refused,
                                                           .died = on_died,
                                                           .said = on_said,
                                                           .stopped = on_stopped};

/* ---- news of folders and queue ---- */

/* READY for a service manager will be said here. */
static void on_scanned(void *context)
{
    struct front *front = context;
    if (++front->n_scanned < front->settings->n_watches || front->state != FRONT_SCANNING)
        return;
    front->state = FRONT_READY;
    log_info("ready");
}

static void on_folder_stopped(void *context)
{
    struct front *front = context;
    front->n_stopped++;
    leave_if_done(front);
}

static const struct folder_events folder_events = {.scanned = on_scanned,
                                                   .stopped = on_folder_stopped};

static void on_queue_changed(void *context)
{
    struct front *front = context;
    if (front->state < FRONT_DRAINING)
        for (size_t i = 0; i < front->settings->n_watches; i++)
            folder_pump(front->folders[i]);
    leave_if_done(front);
}

static bool is_quiet(void *context)
{
    const struct front *front = context;
    for (size_t i = 0; i < front->settings->n_watches; i++)
        if (!folder_is_quiet(front->folders[i]))
            return false;
    return true;
}

/* ---- signals: only what is wanted is kept; the loop acts on it ---- */

static void log_metrics(const struct front *front)
{
    struct text text = {0};
    metrics_set(front->metrics, METRIC_QUEUE_JOBS, NULL, front->queue.n_jobs);
    metrics_print(front->metrics, &text);
    for (const char *line = text_string(&text); *line;) {
        int length = (int)strcspn(line, "\n");
        if (line[0] != '#')
            log_info("%.*s", length, line);
        line += length + (line[length] == '\n');
    }
    text_finish(&text);
}

static void log_state(const struct front *front)
{
    static const char *const states[] = {"starting",  "scanning", "ready", "draining",
                                         "cancelled", "leaving",  "closed"};
    const struct queue *q = &front->queue;
    const struct supervisor *s = &front->supervisor;
    log_info(
        "%s: %u jobs wait, %u are opened, %u run, %u settle, %u are to be tried again; %" PRIu64
        " done, %" PRIu64 " failed",
        states[front->state], queue_count(q, JOB_QUEUED),
        queue_count(q, JOB_OPENING) + queue_count(q, JOB_OPEN),
        queue_count(q, JOB_SENT) + queue_count(q, JOB_BEGUN), queue_count(q, JOB_SETTLING),
        queue_count(q, JOB_WAITING), q->n_done, q->n_failed);
    supervisor_log_state(s);
    for (size_t i = 0; i < front->settings->n_watches; i++)
        if (front->folders[i])
            folder_log_state(front->folders[i]);
    log_metrics(front);
}

static void on_stop_signal(struct front *front, int number)
{
    if (front->state < FRONT_DRAINING) {
        log_info("%s: what runs may finish, nothing new is begun",
                 number == SIGINT ? "SIGINT" : "SIGTERM");
        drain(front);
    } else if (front->state == FRONT_DRAINING) {
        log_info("once more: what runs is given up");
        cancel(front);
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct front *front = handle->data;
    switch (number) {
    case SIGTERM:
    case SIGINT:
        on_stop_signal(front, number);
        break;
    case SIGUSR1:
        log_state(front);
        break;
    case SIGHUP: /* reloads the configuration, once there is one */
        log_info("SIGHUP: there is no configuration file to read again");
        break;
    }
}

static int watch_signals(struct front *front)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGUSR1, SIGHUP};
    int error = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && error == 0; i++) {
        uv_signal_t *handle = &front->signals[i];
        handle->data = front;
        error = uv_signal_init(&front->loop, handle);
        if (error == 0) {
            front->n_signals++;
            error = uv_signal_start(handle, on_signal, numbers[i]);
        }
    }
    return error;
}

/* ---- the beginning ---- */

static int open_folders(struct front *front, struct fault *fault)
{
    const struct settings *settings = front->settings;
    int result = 0;
    for (size_t i = 0; i < settings->n_watches && result == 0; i++) {
        const struct watch_settings *watch = &settings->watches[i];
        front->checks[i].chain = watch->chain;
        front->checks[i].format = watch->format;
        front->checks[i].reading = watch->reading;
        result = folder_create(&front->folders[i], &front->loop, watch, front->checks[i].extension,
                               &front->queue, &folder_events, front, fault);
    }
    return result;
}

/* All handles exist after this, or none could be made and the fault says why; then nothing runs. */
static int wire(struct front *front, struct fault *fault)
{
    const struct settings *settings = front->settings;
    front->queue = (struct queue){.supervisor = &front->supervisor,
                                  .limit = settings->queue,
                                  .slots = settings->jobs,
                                  .job_time = settings->job_time,
                                  .events = {.changed = on_queue_changed, .is_quiet = is_quiet},
                                  .context = front,
                                  .metrics = front->metrics};
    front->supervisor = (struct supervisor){.loop = &front->loop,
                                            .settings = settings,
                                            .n_checks = settings->n_watches,
                                            .checks = front->checks,
                                            .events = &supervisor_events,
                                            .context = front,
                                            .metrics = front->metrics};
    front->limit.data = front;
    int result = queue_init(&front->queue, &front->loop, fault);
    if (result == 0)
        result = supervisor_init(&front->supervisor, fault);
    int error = result == 0 ? uv_timer_init(&front->loop, &front->limit) : 0;
    if (result == 0 && error == 0)
        error = watch_signals(front);
    return error == 0 ? result : fault_set(fault, FAULT_INTERNAL, "libuv: %s", uv_strerror(error));
}

static int start(struct front *front, struct fault *fault)
{
    int result = wire(front, fault);
    if (result != 0)
        abort(); /* no descriptor is left for a loop: nothing to unwind with */
    result = open_folders(front, fault);
    if (result != 0) {
        close_all(front);
        return result;
    }
    supervisor_start(&front->supervisor);
    return 0;
}

static void finish(struct front *front)
{
    if (uv_loop_close(&front->loop) != 0)
        log_error("handles are left open at the end");
    metrics_destroy(&front->metrics);
    free(front->folders);
    free(front->checks);
}

int front_run(const struct settings *settings)
{
    struct front front = {.settings = settings};
    struct fault fault = FAULT_INIT;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGIO, SIG_IGN); /* somebody waits for the lease of a look (spool.c) */
    front.metrics = metrics_create();
    front.checks = calloc(settings->n_watches, sizeof *front.checks);
    front.folders = calloc(settings->n_watches, sizeof *front.folders);
    if (!front.metrics || !front.checks || !front.folders || uv_loop_init(&front.loop) != 0) {
        fault_set(&fault, FAULT_MEMORY, "no memory for a loop");
        metrics_destroy(&front.metrics);
        free(front.checks);
        free(front.folders);
        return options_complain("sluiced", NULL, &fault);
    }
    if (start(&front, &fault) != 0)
        front.status = options_complain("sluiced", NULL, &fault);
    uv_run(&front.loop, UV_RUN_DEFAULT);
    finish(&front);
    if (front.status == 0)
        log_info("ended: %" PRIu64 " done, %" PRIu64 " failed", front.queue.n_done,
                 front.queue.n_failed);
    return front.status;
}
