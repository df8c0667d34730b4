/* HTTP connections: accepting, counting, deadlines, closing. */
#include "daemon/serve/http.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "daemon/work/closing.h"
#include "daemon/work/supervise.h"

#define HEADER_SECONDS   5
#define BODY_SECONDS     30
#define BODY_RATE        1024         /* bytes a second that a client must send of a body, … */
#define BODY_RATE_AFTER  5            /* … after so many seconds */
#define TICK             250          /* milliseconds */
#define TICKS_OF_LOOK    4            /* folders' states are looked at for those who follow them */
#define CONNECTION_BYTES (128 * 1024) /* of headers, and of a piece of a body */
#define EVENTS_MAX       32

/* ---- phases ---- */

void http_enter(struct http_connection *connection, enum http_phase phase, uint64_t seconds)
{
    connection->phase = phase;
    connection->since = clock_now();
    connection->deadline = seconds > 0 ? connection->since + seconds * SECOND : 0;
}

/* Writes an answer if the socket buffer is empty. A client that has not read earlier data gets
 * none. */
static void write_past(int fd, const struct problem *problem)
{
    const char *id = problem->request_id;
    char *document = problem_print(problem, NULL);
    struct text text = {0};
    if (document)
        text_printf(&text,
                    "HTTP/1.1 %u %s\r\nContent-Type: application/problem+json\r\n"
                    "X-Request-Id: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
                    problem->status, problem_title(problem->status), id, strlen(document),
                    document);
    free(document);
    if (text.length > 0 && !text.failed)
        (void)!send(fd, text.data, text.length, MSG_NOSIGNAL | MSG_DONTWAIT);
    text_finish(&text);
}

void http_cut(struct http_connection *connection, const struct problem *problem)
{
    if (problem) {
        struct problem told = *problem;
        char id[REQUEST_ID_SIZE]; /* where no request has come */
        service_make_id(connection->http->service, id);
        told.request_id = connection->request ? connection->request->id : id;
        log_about((struct log_subject){.request = told.request_id}, LOG_LEVEL_DEBUG,
                  "http request %s: %u %s: %s", told.request_id, told.status, told.code,
                  told.detail);
        write_past(connection->fd, &told);
    }
    shutdown(connection->fd, SHUT_RDWR);
    http_enter(connection, HTTP_CUT, 0);
    http_kick(connection->http);
}

static void check_deadline(struct http_connection *c, uint64_t now)
{
    const struct service *service = c->http->service;
    uint64_t seconds = (now - c->since) / SECOND;
    bool over = c->deadline != 0 && now >= c->deadline;
    struct problem late;
    if (c->request && c->request->turn.user)
        return; /* it waits for us */
    switch (c->phase) {
    case HTTP_BODY: {
        uint64_t bytes = c->request ? c->request->body_bytes + c->request->dropped_bytes : 0;
        if (over)
            problem_set(&late, 408, "timeout", "the body did not come within %s",
                        number_duration(BODY_SECONDS * SECOND));
        else if (seconds >= BODY_RATE_AFTER && c->request && bytes < seconds * BODY_RATE)
            problem_set(
                &late, 408, "timeout",
                "the body came too slowly: %s in %s, and from %s on at least %s/s must come",
                number_size(bytes), number_duration(seconds * SECOND),
                number_duration(BODY_RATE_AFTER * SECOND), number_size(BODY_RATE));
        else
            break;
        http_cut(c, &late);
        break;
    }
    case HTTP_HEADER:
        if (!over)
            break;
        problem_set(&late, 408, "timeout", "the header did not come within %s",
                    number_duration(HEADER_SECONDS * SECOND));
        http_cut(c, &late);
        break;
    case HTTP_IDLE:
    case HTTP_ANSWER:
        if (over)
            http_cut(c, NULL);
        break;
    case HTTP_RUNNING: /* once a worker has it the job has a deadline of its own */
        if (now - c->since > service->queue->job_time && c->request->job &&
            client_job_waits(c->request->job) &&
            supervisor_down_for(service->supervisor, now) >
                service->queue->job_time)
            http_give_up(c->request);
        break;
    case HTTP_FOLLOWING:
    case HTTP_CUT:
        break;
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct http *http = timer->data;
    struct http_connection *connection, *next;
    uint64_t now = clock_now();
    for (connection = LIST_FIRST(&http->connections); connection; connection = next) {
        next = LIST_NEXT(connection, in_list);
        check_deadline(connection, now);
    }
    if (++http->n_ticks % TICKS_OF_LOOK == 0)
        http_events_look(http);
    if (http->n_followers > 0)
        http_events_wake(http);
    if (LIST_EMPTY(&http->connections)) /* an idle daemon sleeps */
        uv_timer_stop(timer);
}

/* ---- hang-ups ---- */

/* While a job runs its connection is suspended, and libmicrohttpd does not watch the socket. An
 * edge-triggered epoll entry without events reports a full hang-up only: a client that has shut
 * down its sending side still waits for its answer. */

void http_watch_hangup(struct http_connection *connection, bool watch)
{
    struct epoll_event event = {.events = EPOLLET, .data.ptr = connection};
    epoll_ctl(connection->http->hangup_fd, watch ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, connection->fd,
              &event);
}

static void on_hangup(uv_poll_t *poll, int status, int events)
{
    struct http *http = poll->data;
    struct epoll_event list[EVENTS_MAX];
    int count = epoll_wait(http->hangup_fd, list, EVENTS_MAX, 0);
    for (int i = 0; i < count; i++) {
        struct http_connection *connection = list[i].data.ptr;
        if (!(list[i].events & (EPOLLHUP | EPOLLERR)))
            continue;
        if (connection->phase == HTTP_RUNNING)
            http_cancel(connection->request);
        else if (connection->phase == HTTP_FOLLOWING)
            http_events_hung_up(connection);
    }
}

/* ---- driving libmicrohttpd ---- */

void http_spend(struct http *http, int *fd)
{
    int *spent = realloc(http->spent, (http->n_spent + 1) * sizeof *spent);
    if (!spent)
        return; /* its owner closes it */
    http->spent = spent;
    spent[http->n_spent++] = *fd;
    *fd = -1;
}

static void close_spent(struct http *http)
{
    for (size_t i = 0; i < http->n_spent; i++)
        closing_take(http->service->loop, &http->spent[i]);
    free(http->spent);
    http->spent = NULL;
    http->n_spent = 0;
}

static void drive(uv_timer_t *timer)
{
    struct http *http = timer->data;
    MHD_UNSIGNED_LONG_LONG wait;
    http->kicked = false;
    pace_begin(&http->service->shares.pace);
    MHD_run(http->daemon);
    close_spent(http);
    pace_end(&http->service->shares.pace);
    if (http->closed)
        return;
    if (http->kicked)
        uv_timer_start(timer, drive, 0, 0);
    else if (MHD_get_timeout(http->daemon, &wait) == MHD_YES)
        uv_timer_start(timer, drive, wait, 0);
    else
        uv_timer_stop(timer);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct http *http = poll->data;
    drive(&http->timer);
}

void http_kick(struct http *http)
{
    if (http->closed)
        return;
    http->kicked = true; /* maybe from within drive */
    uv_timer_start(&http->timer, drive, 0, 0);
}

void http_admit(struct pace_entry *turn)
{
    struct http_request *request =
        (struct http_request *)((char *)turn - offsetof(struct http_request, turn));
    struct http_connection *connection = request->connection;
    uint64_t waited = clock_now() - request->turn_since; /* no fault of the client's */
    request->admitted = true;
    connection->since += waited;
    connection->deadline += connection->deadline ? waited : 0;
    MHD_resume_connection(connection->mhd);
    drive(&connection->http->timer);
}

/* ---- connections ---- */

static void forget(struct http_connection *connection)
{
    struct http *http = connection->http;
    LIST_REMOVE(connection, in_list);
    listener_left(&http->listener, connection->account);
    free(connection);
}

static void on_connection_event(void *context, struct MHD_Connection *mhd, void **ours,
                                enum MHD_ConnectionNotificationCode code)
{
    struct http *http = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        /* libmicrohttpd 1.0 starts a connection in its next turn, not within MHD_add_connection */
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct http_connection *connection = LIST_FIRST(&http->connections);
        while (connection && !(info && connection->fd == info->connect_fd))
            connection = LIST_NEXT(connection, in_list);
        *ours = connection;
        if (connection)
            connection->mhd = mhd;
    } else if (*ours) {
        if (http->adding == *ours)
            http->adding = NULL;
        forget(*ours);
        *ours = NULL;
    }
}

static void on_accepted(void *context, int fd, const struct peer *peer, struct account *account)
{
    struct http *http = context;
    struct sockaddr address = {.sa_family = AF_UNIX};
    if (!account) {
        struct http_connection refused = {.http = http, .fd = fd};
        struct problem problem;
        problem_set(&problem, 503, "connections",
                    "too many connections: %d, of one user half of what others leave",
                    LISTENER_TOTAL);
        http_cut(&refused, &problem);
        close(fd);
        return;
    }
    struct http_connection *connection = calloc(1, sizeof *connection);
    if (!connection) {
        listener_left(&http->listener, account);
        close(fd);
        return;
    }
    connection->account = account;
    connection->flow.user = &account->flow;
    connection->http = http;
    connection->fd = fd;
    connection->peer = *peer;
    http_enter(connection, HTTP_HEADER, HEADER_SECONDS);
    LIST_INSERT_HEAD(&http->connections, connection, in_list);
    if (!uv_is_active((uv_handle_t *)&http->tick))
        uv_timer_start(&http->tick, on_tick, TICK, TICK);
    http->adding = connection;
    /* libmicrohttpd closes the descriptor when it refuses it */
    if (MHD_add_connection(http->daemon, fd, &address, sizeof address) != MHD_YES && http->adding)
        forget(http->adding);
    http->adding = NULL;
    http_kick(http);
}

/* ---- life ---- */

static int start_mhd(struct http *http, struct fault *fault)
{
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
        NULL, NULL, http_request_go_on, http, MHD_OPTION_EXTERNAL_LOGGER, log_library, "http",
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)LISTENER_MOST + 8,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_STRICT_FOR_CLIENT,
        1, MHD_OPTION_NOTIFY_CONNECTION, on_connection_event, http, MHD_OPTION_NOTIFY_COMPLETED,
        http_request_end, http, MHD_OPTION_URI_LOG_CALLBACK, http_request_begin, http,
        MHD_OPTION_END);
    if (!http->daemon)
        return fault_set(fault, FAULT_INTERNAL, "libmicrohttpd does not start");
    return 0;
}

static void release(void *context)
{
    struct http *http = context;
    if (--http->n_users == 0) {
        free(http);
    }
}

static void on_closed(uv_handle_t *handle)
{
    release(handle->data);
}

static int add_handles(struct http *http, struct fault *fault)
{
    uv_loop_t *loop = http->service->loop;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    http->poll.data = http->hangup_poll.data = http->timer.data = http->tick.data = http;
    http->hangup_fd = epoll_create1(EPOLL_CLOEXEC);
    if (http->hangup_fd < 0)
        return fault_set_errno(fault, FAULT_INTERNAL, "epoll_create1");
    if (uv_poll_init(loop, &http->poll, info->epoll_fd) != 0)
        return fault_set(fault, FAULT_INTERNAL, "libuv does not poll");
    http->n_handles++;
    if (uv_poll_init(loop, &http->hangup_poll, http->hangup_fd) != 0)
        return fault_set(fault, FAULT_INTERNAL, "libuv does not poll");
    http->n_handles++;
    uv_timer_init(loop, &http->timer);
    uv_timer_init(loop, &http->tick);
    http->n_handles += 2;
    uv_poll_start(&http->poll, UV_READABLE, on_readable);
    uv_poll_start(&http->hangup_poll, UV_READABLE, on_hangup);
    return 0;
}

int http_open(struct http **http, struct service *service, const struct socket_settings *settings,
              struct fault *fault)
{
    struct http *h = calloc(1, sizeof *h);
    *http = NULL;
    if (!h)
        return fault_set(fault, FAULT_MEMORY, "no memory for a socket");
    h->service = service;
    h->hangup_fd = -1;
    LIST_INIT(&h->connections);
    LIST_INIT(&h->followers);
    h->listener = (struct listener){.socket = SERVICE_HTTP,
                                    .service = service,
                                    .accepted = on_accepted,
                                    .closed = release,
                                    .context = h};
    int result = start_mhd(h, fault);
    if (result == 0)
        result = add_handles(h, fault);
    if (result == 0)
        result = listener_open(&h->listener, service->loop, settings, fault);
    *http = h;
    if (result != 0)
        http_close(http);
    return result;
}

bool http_is_idle(const struct http *http)
{
    return !http || http->n_requests == http->n_followers;
}

void http_close(struct http **http)
{
    struct http *h = *http;
    *http = NULL;
    if (!h)
        return;
    h->closed = true;
    unsigned count = h->n_handles;
    h->n_users = 1 + count + (h->listener.path != NULL);
    listener_close(&h->listener);
    struct http_connection *connection;
    LIST_FOREACH (connection, &h->connections, in_list) {
        if (connection->phase == HTTP_RUNNING)
            http_cancel(connection->request);
        else if (connection->request && connection->request->turn.user)
            MHD_resume_connection(connection->mhd);
    }
    http_events_wake(h);
    if (count > 0)
        uv_poll_stop(&h->poll); /* before libmicrohttpd closes its descriptor */
    if (h->daemon)
        MHD_stop_daemon(h->daemon);
    close_spent(h);
    if (h->hangup_fd >= 0 && count > 1)
        uv_poll_stop(&h->hangup_poll);
    file_close(&h->hangup_fd);
    void *const handles[] = {&h->poll, &h->hangup_poll, &h->timer, &h->tick};
    for (unsigned i = 0; i < count; i++)
        uv_close(handles[i], on_closed);
    release(h);
}
