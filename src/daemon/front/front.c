#include "daemon/front/front.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "daemon/serve/manager.h"
#include "daemon/serve/sockets.h"
#include "daemon/work/metrics.h"
#include "param/options.h"
#include "version.h"

/* Milliseconds from the cancel to the end of the process. Work that waits for a disk longer than
 * that is left to the next start. */
#define CANCEL_LIMIT 15000

/* What a service manager is told that stopping may take beyond `shutdown`: the cancel, and closing.
 */
#define STOP_REST (CANCEL_LIMIT + 5000)

/* Of a folder that is lost, hangs or has no space: with --once it is given up then. */
#define UNWELL_LIMIT (5 * SECOND)

/* Files that folders open before it is their turn, all together: each takes two descriptors. */
#define OPEN_MOST 1024

static const struct settings *settings_of(const struct front *front)
{
    return &front->book->config.settings;
}

const char *front_state_name(const struct front *front)
{
    static const char *const states[] = {"starting",  "scanning", "ready", "draining",
                                         "cancelled", "leaving",  "closed"};
    return states[front->state];
}

static void enter(struct front *front, enum front_state state)
{
    front->state = state;
    front->sockets.service.state = front_state_name(front);
}

/* ---- sockets ---- */

void front_show(struct front *front)
{
    struct service *service = &front->sockets.service;
    size_t count = 0;
    for (size_t i = 0; i < front->n_folders; i++)
        if (!front->folders[i].waits && !front->folders[i].stopped)
            front->shown[count++] = front->folders[i].folder;
    service->folders = (struct folder_list){front->shown, count};
    service->supervisor = &front->crew->supervisor;
    service->next = front->next_crew ? &front->next_crew->supervisor : NULL;
}

static int open_sockets(struct front *front, struct fault *fault)
{
    const struct settings *settings = settings_of(front);
    struct service *service = &front->sockets.service;
    int result = 0;
    *service = (struct service){.loop = &front->loop,
                                .queue = &front->queue,
                                .metrics = front->metrics,
                                .config = &front->book->config,
                                .settings = settings,
                                .state = front_state_name(front)};
    front_show(front);
    service_init(service);
    /* a socket from the service manager is used even if the settings do not name it */
    if (settings->http.unix_path || manager_has_socket(SOCK_STREAM))
        result = http_open(&front->sockets.http, service, &settings->http, fault);
    if (result == 0 && (settings->jobs_socket.unix_path || manager_has_socket(SOCK_SEQPACKET)))
        result = jobs_socket_open(&front->sockets.jobs, service, &settings->jobs_socket, fault);
    manager_drop_sockets();
    return result;
}

void front_sockets_reloaded(struct front *front)
{
    struct service *service = &front->sockets.service;
    const struct settings *old = service->settings, *now = &front->book->config.settings;
    if (!texts_equal(old->http.unix_path, now->http.unix_path) ||
        !texts_equal(old->jobs_socket.unix_path, now->jobs_socket.unix_path))
        log_warning("listen: sockets stay where they are until the next start");
    service->config = &front->book->config;
    service->config_hashed = NULL;
    service->settings = now;
    service_limit(service);
}

/* ---- stopping ---- */

static void close_all(struct front *front)
{
    front->sockets.service.folders.count = 0;
    for (size_t i = 0; i < front->n_folders; i++)
        folder_destroy(&front->folders[i].folder);
    http_close(&front->sockets.http);
    jobs_socket_close(&front->sockets.jobs);
    if (front->sockets.service.started != 0)
        service_finish(&front->sockets.service);
    queue_close(&front->queue);
    crew_close(&front->crew);
    uv_close((uv_handle_t *)&front->turn, NULL);
    uv_close((uv_handle_t *)&front->limit, NULL);
    uv_close((uv_handle_t *)&front->tick, NULL);
    for (size_t i = 0; i < front->n_signals; i++)
        uv_close((uv_handle_t *)&front->signals[i], NULL);
    enter(front, FRONT_CLOSED);
}

void front_leave_if_done(struct front *front)
{
    bool stopping = front->state == FRONT_DRAINING || front->state == FRONT_CANCELLED;
    if (!stopping || front->queue.n_jobs > 0 || front->reading)
        return;
    for (size_t i = 0; i < front->n_folders; i++)
        if (!front->folders[i].stopped)
            return;
    if (front->state == FRONT_DRAINING &&
        !(http_is_idle(front->sockets.http) && jobs_socket_is_idle(front->sockets.jobs)))
        return; /* the last answers are still being sent */
    enter(front, FRONT_LEAVING);
    supervisor_stop(&front->crew->supervisor); /* on_turn closes when all workers have ended */
}

static void on_limit(uv_timer_t *timer);

static void drain(struct front *front)
{
    enter(front, FRONT_DRAINING);
    reload_abandon(front);
    uv_timer_start(&front->limit, on_limit, settings_of(front)->shutdown / MILLISECOND, 0);
    front_manager_stopping(front, settings_of(front)->shutdown + STOP_REST * MILLISECOND);
    queue_drain(&front->queue);
    for (size_t i = 0; i < front->n_folders; i++)
        if (!front->folders[i].stopped)
            folder_stop(front->folders[i].folder);
    if (front->state == FRONT_DRAINING)
        front_leave_if_done(front);
}

/* Kills the workers; their jobs are given back as they die. */
static void cancel(struct front *front)
{
    enter(front, FRONT_CANCELLED);
    uv_timer_start(&front->limit, on_limit, CANCEL_LIMIT, 0);
    queue_cancel(&front->queue);
    supervisor_kill(&front->crew->supervisor);
    for (size_t i = 0; i < front->n_folders; i++)
        folder_drop_hooks(front->folders[i].folder);
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

/* There may be sockets only, and no folder. */
static void be_ready_if_scanned(struct front *front)
{
    if (front->state != FRONT_SCANNING)
        return;
    for (size_t i = 0; i < front->n_folders; i++)
        if (!folder_has_scanned(front->folders[i].folder))
            return;
    enter(front, FRONT_READY);
    log_info("ready");
    front_manager_ready(front);
    if (front->reload_again)
        reload_begin(front);
}

/* ---- the loop's turn ---- */

/* True when no folder has anything in sight. */
static bool is_quiet(const struct front *front)
{
    for (size_t i = 0; i < front->n_folders; i++)
        if (!front->folders[i].stopped && !folder_is_quiet(front->folders[i].folder))
            return false;
    return true;
}

/* With --once: whether all files that the folders had are done or have failed. A folder that is not
 * well for a while is not waited for; why not has been logged. */
static bool is_through(struct front *front)
{
    bool busy = front->state != FRONT_READY || front->reload != RELOAD_NONE;
    unsigned n_unwell = 0;
    for (size_t i = 0; i < front->n_folders && !busy; i++) {
        const struct folder *folder = front->folders[i].folder;
        struct folder_census census;
        folder_count(folder, &census);
        bool well = strcmp(census.state, "ok") == 0;
        busy =
            well ? !folder_is_quiet(folder) || census.queued + census.running + census.retrying > 0
                 : clock_now() - census.since < UNWELL_LIMIT;
        busy |= !folder_has_told(folder);
        n_unwell += !well;
    }
    if (busy || (n_unwell == 0 && front->queue.n_jobs > 0))
        return false;
    front->status = n_unwell > 0 ? fault_exit_status(FAULT_IO) : front->queue.n_failed > 0 ? 1 : 0;
    log_info("all files are done: %" PRIu64 " done, %" PRIu64 " failed%s", front->queue.n_done,
             front->queue.n_failed, n_unwell > 0 ? "; some folders cannot be used" : "");
    return true;
}

/* Once a turn of the loop, after all its events. First what workers have said, and which have ended
 * or are to be started, one for quarantine among them; then jobs are opened and sent, a reload goes
 * on, and folders take files for which there is room now. */
static void on_turn(uv_check_t *check)
{
    struct front *front = check->data;
    struct queue *queue = &front->queue;
    struct crew *crew, *following;
    for (crew = LIST_FIRST(&front->crews); crew; crew = following) {
        struct supervisor_news *news = &crew->supervisor.news;
        following = LIST_NEXT(crew, in_list);
        supervisor_turn(&crew->supervisor);

        /* A crew is ready. That of a reload takes over; the first one has folders begin. */
        bool present = crew == front->crew, next = crew == front->next_crew;
        if (news->ready && next)
            reload_crew_ready(front);
        if (news->ready && present && front->state == FRONT_STARTING) {
            enter(front, FRONT_SCANNING);
            for (size_t i = 0; i < front->n_folders; i++) {
                struct folder *folder = front->folders[i].folder;
                folder_start(folder, crew_extension(crew, folder_settings(folder)));
            }
        }
        if (news->ready && present)
            be_ready_if_scanned(front);

        /* A worker cannot be used: at the start that is the end, and a reload changes nothing. */
        if (faults_count(&news->refused) > 0 && (present || next)) {
            struct fault why = news->refused.list[0];
            for (size_t i = 0; i < faults_count(&news->refused); i++)
                crew_complain(crew, news->check, news->subject, &news->refused.list[i]);
            if (news->check && crew->book->config.settings.file) {
                why.code = FAULT_CONFIG;
                log_error("sluice check-config %s lists all errors",
                          crew->book->config.settings.file);
            }
            if (next) {
                reload_crew_refused(front);
            } else if (front->state == FRONT_STARTING) {
                front->status = fault_exit_status(why.code);
                drain(front);
            }
        }

        /* One that neither has the jobs nor is to take over ends. */
        *news = (struct supervisor_news){0};
        if (crew->supervisor.stopping && !present && supervisor_has_stopped(&crew->supervisor))
            crew_close(&crew);
    }
    struct supervisor *s = &front->crew->supervisor;
    bool alone = LIST_FIRST(&front->crews) == front->crew && !LIST_NEXT(front->crew, in_list);
    if (front->state == FRONT_LEAVING && alone && supervisor_has_stopped(s))
        close_all(front);
    if (front->options->once && front->state == FRONT_READY && is_through(front))
        drain(front);
    if (!queue->turn_wanted || front->state == FRONT_CLOSED)
        return;
    bool some_stop = front->state >= FRONT_DRAINING || front->reload == RELOAD_RETIRING;
    for (size_t i = 0; some_stop && i < front->n_folders; i++)
        front->folders[i].stopped |= folder_has_stopped(front->folders[i].folder);
    if (some_stop)
        front_show(front);
    if (front->state == FRONT_SCANNING)
        be_ready_if_scanned(front);
    queue_turn(queue, s->main.worker, s->quarantine.worker,
               !TAILQ_EMPTY(&queue->queued[JOB_LAST]) && is_quiet(front));
    if (queue->wants_quarantine)
        supervisor_want_quarantine(s);
    if (front->reload == RELOAD_RETIRING)
        reload_go_on(front);
    for (size_t i = 0; queue->folders_move && i < front->n_folders; i++)
        if (front->state < FRONT_DRAINING && !front->folders[i].stopped)
            folder_pump(front->folders[i].folder);
    queue->folders_move = false;
    if (front->state >= FRONT_DRAINING)
        front_leave_if_done(front);
}

/* ---- signals: a handler only notes what is wanted, and the loop does it ---- */

static void log_metrics(struct front *front)
{
    struct text text = {0};
    service_measure(&front->sockets.service);
    metrics_print(front->metrics, &text);
    for (const char *line = text_string(&text); *line;) {
        int length = (int)strcspn(line, "\n");
        if (line[0] != '#')
            log_info("%.*s", length, line);
        line += length + (line[length] == '\n');
    }
    text_finish(&text);
}

static void log_state(struct front *front)
{
    const struct queue *q = &front->queue;
    const struct supervisor *s = &front->crew->supervisor;
    log_info("%s: %u jobs wait, %u are opened, %u run, %u place results, %u are to be tried again; "
             "%" PRIu64 " done, %" PRIu64 " failed",
             front_state_name(front), q->counts[JOB_QUEUED],
             q->counts[JOB_OPENING] + q->counts[JOB_OPEN],
             q->counts[JOB_SENT] + q->counts[JOB_BEGUN], q->counts[JOB_SETTLING],
             q->counts[JOB_WAITING], q->n_done, q->n_failed);
    supervisor_log_state(s);
    for (size_t i = 0; i < front->n_folders; i++)
        folder_log_state(front->folders[i].folder);
    log_metrics(front);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct front *front = handle->data;
    switch (number) {
    case SIGTERM:
    case SIGINT:
        if (front->state < FRONT_DRAINING) {
            log_info("%s: running jobs may finish, no others are begun",
                     number == SIGINT ? "SIGINT" : "SIGTERM");
            drain(front);
        } else if (front->state == FRONT_DRAINING) {
            log_info("once more: running jobs are given up");
            cancel(front);
        }
        break;
    case SIGUSR1:
        log_state(front);
        break;
    case SIGHUP:
        if (front->state < FRONT_DRAINING)
            reload_begin(front);
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

/* ---- starting ---- */

int front_add_folder(struct front *front, struct rulebook *book,
                     const struct watch_settings *settings, struct fault *fault)
{
    struct front_folder *folders =
        realloc(front->folders, (front->n_folders + 1) * sizeof *folders);
    if (!folders)
        return fault_set(fault, FAULT_MEMORY, "no memory for a folder");
    front->folders = folders;
    struct folder **shown = realloc(front->shown, (front->n_folders + 1) * sizeof *shown);
    if (!shown)
        return fault_set(fault, FAULT_MEMORY, "no memory for a folder");
    front->shown = shown;
    front->sockets.service.folders.list = shown;
    struct front_folder *added = &folders[front->n_folders];
    *added = (struct front_folder){0};
    int result = folder_create(&added->folder, &front->world, book, settings, fault);
    if (result == 0)
        front->n_folders++;
    return result;
}

void front_set_queue(struct front *front)
{
    const struct settings *settings = settings_of(front);
    struct queue *queue = &front->queue;
    queue->limit = (unsigned)settings->queue;
    queue->slots = settings->jobs;
    queue->job_time = settings->job_time;
    unsigned n = (unsigned)front->n_folders;
    for (size_t i = 0; i < n; i++)
        folder_set_share(front->folders[i].folder, (queue->limit + n - 1) / n, OPEN_MOST / n + 1);
}

/* First what cannot fail, so that close_all may end whatever else there is after a fault. */
static int wire(struct front *front, const struct spool_world *spools, struct fault *fault)
{
    front->world =
        (struct folder_world){.loop = &front->loop,
                              .queue = &front->queue,
                              .spools = *spools,
                              /* A folder on the command line is to be used now, so it is
                               * made. One of a configuration file may be a disk that is
                               * not mounted yet. */
                              .make_folders = daemon_options_name_folder(front->options)};
    front->limit.data = front->tick.data = front->turn.data = front;
    front->queue.metrics = front->metrics;
    front->queue.events = &front->events;
    queue_init(&front->queue, &front->loop);
    uv_check_init(&front->loop, &front->turn);
    uv_check_start(&front->turn, on_turn);
    uv_timer_init(&front->loop, &front->limit);
    uv_timer_init(&front->loop, &front->tick);
    int result = crew_create(&front->crew, front, front->book, fault);
    int error = result == 0 ? watch_signals(front) : 0;
    return error == 0 ? result : fault_set(fault, FAULT_INTERNAL, "libuv: %s", uv_strerror(error));
}

static int start(struct front *front, const struct spool_world *spools, struct fault *fault)
{
    const struct settings *settings = settings_of(front);
    int result = wire(front, spools, fault);
    for (size_t i = 0; i < settings->n_watches && result == 0; i++)
        result = front_add_folder(front, front->book, &settings->watches[i], fault);
    if (result == 0)
        result = open_sockets(front, fault);
    if (result != 0) {
        close_all(front);
        return result;
    }
    front_set_queue(front);
    front_manager_starting(front);
    supervisor_start(&front->crew->supervisor);
    return 0;
}

static void finish(struct front *front)
{
    if (uv_loop_close(&front->loop) != 0)
        log_error("handles are left open at the end");
    metrics_destroy(&front->metrics);
    events_finish(&front->events);
    rulebook_leave(&front->book);
    free(front->folders);
    free(front->shown);
}

/* libuv ends the process where it has no descriptors for a loop and its signals: four, and wire
 * needs three more. Here the reason is told. */
static int loop_init(uv_loop_t *loop, struct fault *fault)
{
    int fds[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    for (size_t i = 0; i < sizeof fds / sizeof *fds && fault->code == FAULT_NONE; i += 2)
        if (pipe2(fds + i, O_CLOEXEC) != 0)
            fault_set_errno(fault, FAULT_IO, "no descriptors for a loop");
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        file_close(&fds[i]);
    int error = fault->code == FAULT_NONE ? uv_loop_init(loop) : 0;
    if (error != 0)
        fault_set(fault, FAULT_MEMORY, "no loop: %s", uv_strerror(error));
    return fault->code;
}

int front_run(const struct daemon_options *options, struct rulebook *book,
              const struct spool_world *spools)
{
    struct front front = {.options = options};
    struct text version = {0};
    struct fault fault = FAULT_INIT;
    signal(SIGPIPE, SIG_IGN);
    /* sent to whoever opens a file while a look holds a lease on it (spool.c) */
    signal(SIGIO, SIG_IGN);
    front.metrics = metrics_create();
    metrics_label(&version, "version", SLUICE_VERSION);
    metrics_set(front.metrics, METRIC_BUILD_INFO, text_string(&version), 1);
    text_finish(&version);
    metrics_set(front.metrics, METRIC_RELOAD_SUCCESS, NULL, 1);
    /* now, since it reads the start time once, and the clock may be set later */
    metrics_measure_process(front.metrics);
    if (!front.metrics)
        fault_set(&fault, FAULT_MEMORY, "no memory for metrics");
    else
        loop_init(&front.loop, &fault);
    if (fault.code != FAULT_NONE) {
        metrics_destroy(&front.metrics);
        return options_complain("sluiced", NULL, &fault);
    }
    front.book = rulebook_use(book);
    if (start(&front, spools, &fault) != 0)
        front.status = options_complain("sluiced", NULL, &fault);
    uv_run(&front.loop, UV_RUN_DEFAULT);
    finish(&front);
    if (front.status == 0)
        log_info("ended: %" PRIu64 " done, %" PRIu64 " failed", front.queue.n_done,
                 front.queue.n_failed);
    return front.status;
}
