#include "daemon/work/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "worker/find.h"
#include "worker/message.h"

/* Messages in one turn of the loop; what is left comes in the next, after everybody else. */
#define MESSAGES_A_TURN 64

/* A message that the socket had no room for. */
struct outgoing {
    struct text json;
    int fds[MESSAGE_FDS_MAX]; /* copies: the job that they were for may have ended by then */
    size_t n_fds;
    STAILQ_ENTRY(outgoing) next;
};

struct worker {
    uv_process_t process;
    uv_poll_t poll;
    int socket; /* −1 once hung up */
    STAILQ_HEAD(, outgoing) outgoing;
    unsigned n_handles; /* of libuv that are not closed yet */
    bool exited, forgotten;
    bool blamed; /* it was killed for what it said or did not read */
    const struct worker_events *events;
    void *context;
};

static void free_outgoing(struct outgoing *message)
{
    for (size_t i = 0; i < message->n_fds; i++)
        close(message->fds[i]);
    text_finish(&message->json);
    free(message);
}

static void on_closed(uv_handle_t *handle)
{
    struct worker *worker = handle->data;
    if (--worker->n_handles == 0 && worker->forgotten)
        free(worker);
}

static void close_socket(struct worker *worker)
{
    while (!STAILQ_EMPTY(&worker->outgoing)) {
        struct outgoing *message = STAILQ_FIRST(&worker->outgoing);
        STAILQ_REMOVE_HEAD(&worker->outgoing, next);
        free_outgoing(message);
    }
    if (worker->socket < 0)
        return;
    uv_poll_stop(&worker->poll);
    uv_close((uv_handle_t *)&worker->poll, on_closed);
    close(worker->socket);
    worker->socket = -1;
}

static void blame(struct worker *worker, const char *why)
{
    if (worker->blamed)
        return;
    worker->blamed = true;
    log_error("the worker is killed: %s", why);
    worker_kill(worker);
}

/* True when a message was taken. */
static bool receive_one(struct worker *worker)
{
    struct message message;
    struct fault fault = FAULT_INIT;
    if (worker->socket < 0 || message_receive(worker->socket, &message, &fault) != 0) {
        if (fault.code == FAULT_DATA)
            blame(worker, fault.text);
        if (fault.code == FAULT_NO_INPUT || fault.code == FAULT_IO) {
            close_socket(worker);
            worker_kill(worker); /* it is on its way out; this makes sure */
        }
        return false;
    }
    worker->events->said(worker->context, &message);
    message_finish(&message);
    return !worker->forgotten;
}

/* True when it was sent, or never can be. */
static bool try_to_send(struct worker *worker, const struct text *json, const int *fds,
                        size_t n_fds)
{
    struct fault fault = FAULT_INIT;
    int result = message_send_encoded(worker->socket, json, fds, n_fds, &fault);
    return result != FAULT_BUSY; /* FAULT_IO: it is gone, and its end will be told */
}

static void on_socket(uv_poll_t *poll, int status, int events);

static void poll_for(struct worker *worker, int events)
{
    if (uv_poll_start(&worker->poll, events, on_socket) != 0)
        blame(worker, "its socket cannot be polled");
}

static void send_outgoing(struct worker *worker)
{
    struct outgoing *first;
    while ((first = STAILQ_FIRST(&worker->outgoing)) != NULL) {
        if (!try_to_send(worker, &first->json, first->fds, first->n_fds))
            return;
        STAILQ_REMOVE_HEAD(&worker->outgoing, next);
        free_outgoing(first);
    }
    poll_for(worker, UV_READABLE);
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
    struct worker *worker = poll->data;
    if (status < 0) { /* it has died with messages unread: what it said before counts */
        while (receive_one(worker))
            ;
        if (!worker->forgotten) {
            close_socket(worker);
            worker_kill(worker);
        }
        return;
    }
    if (events & UV_WRITABLE)
        send_outgoing(worker);
    for (int i = 0; i < MESSAGES_A_TURN && receive_one(worker); i++)
        ;
}

static void describe_end(char *why, size_t size, int64_t status, int signal)
{
    if (signal)
        snprintf(why, size, "by signal %d (%s)", signal, strsignal(signal));
    else
        snprintf(why, size, "with status %lld", (long long)status);
}

static void on_exit_of_process(uv_process_t *process, int64_t status, int signal)
{
    struct worker *worker = process->data;
    char why[100];
    worker->exited = true;
    uv_close((uv_handle_t *)process, on_closed);
    if (worker->forgotten)
        return;
    while (receive_one(worker)) /* what it said before it ended counts */
        ;
    if (worker->forgotten)
        return;
    close_socket(worker);
    describe_end(why, sizeof why, status, signal);
    worker->events->ended(worker->context, why, status == 0 && signal == 0);
}

static int make_sockets(int sockets[2], struct fault *fault)
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        return fault_set_errno(fault, FAULT_IO, "socketpair");
    if (fcntl(sockets[0], F_SETFL, O_NONBLOCK) == 0)
        return 0;
    close(sockets[0]);
    close(sockets[1]);
    return fault_set_errno(fault, FAULT_IO, "fcntl");
}

/* Ours, without the service manager's socket: it is told things by one process alone. The array is
 * the caller's; NULL without memory: then it is ours as it is. */
static char **make_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        if (strncmp(environ[i], "NOTIFY_SOCKET=", strlen("NOTIFY_SOCKET=")) != 0)
            copy[kept++] = environ[i];
    return copy;
}

static int spawn(struct worker *worker, uv_loop_t *loop, const char *program, int socket)
{
    char name[] = "sluice-worker";
    char *args[] = {name, NULL};
    uv_stdio_container_t stdio[MESSAGE_WORKER_FD + 1] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO}, /* drivers print banners */
        {.flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO},
        {.flags = UV_INHERIT_FD, .data.fd = socket},
    };
    uv_process_options_t options = {.exit_cb = on_exit_of_process,
                                    .file = program,
                                    .args = args,
                                    .env = make_environment(),
                                    .stdio_count = MESSAGE_WORKER_FD + 1,
                                    .stdio = stdio};
    int error = uv_spawn(loop, &worker->process, &options);
    free(options.env);
    worker->process.data = worker;
    worker->n_handles++;
    if (error < 0)
        uv_close((uv_handle_t *)&worker->process, on_closed);
    else
        worker->exited = false;
    return error;
}

static int open_poll(struct worker *worker, uv_loop_t *loop)
{
    int error = uv_poll_init(loop, &worker->poll, worker->socket);
    worker->poll.data = worker;
    if (error < 0) {
        close(worker->socket);
        worker->socket = -1;
        return error;
    }
    worker->n_handles++;
    return uv_poll_start(&worker->poll, UV_READABLE, on_socket);
}

int worker_start(struct worker **worker, uv_loop_t *loop, const struct worker_events *events,
                 void *context, struct fault *fault)
{
    char program[PATH_MAX];
    int sockets[2];
    *worker = NULL;
    struct worker *w = calloc(1, sizeof *w);
    if (!w)
        return fault_set(fault, FAULT_MEMORY, "no memory for a worker");
    STAILQ_INIT(&w->outgoing);
    w->events = events;
    w->context = context;
    w->socket = -1;
    w->exited = true; /* until it is started */
    if (worker_find_program(program, sizeof program, fault) != 0 ||
        make_sockets(sockets, fault) != 0) {
        free(w);
        return fault->code;
    }
    w->socket = sockets[0];
    int error = open_poll(w, loop);
    if (error == 0)
        error = spawn(w, loop, program, sockets[1]);
    close(sockets[1]);
    *worker = w;
    if (error == 0)
        return 0;
    worker_forget(worker);
    return fault_set(fault, FAULT_NO_DEVICE, "%s cannot be started: %s", program,
                     uv_strerror(error));
}

int worker_pid(const struct worker *worker)
{
    return worker->process.pid;
}

static bool copy_fds(struct outgoing *later, const struct message *message)
{
    for (; later->n_fds < message->n_fds; later->n_fds++) {
        int copy = fcntl(message->fds[later->n_fds], F_DUPFD_CLOEXEC, 3);
        if (copy < 0)
            return false;
        later->fds[later->n_fds] = copy;
    }
    return true;
}

static void keep_for_later(struct worker *worker, struct text *json, const struct message *message)
{
    struct outgoing *later = calloc(1, sizeof *later);
    if (!later || !copy_fds(later, message)) {
        if (later)
            free_outgoing(later);
        blame(worker, "no memory or descriptors for a message to it");
        return;
    }
    later->json = *json;
    *json = (struct text){0};
    STAILQ_INSERT_TAIL(&worker->outgoing, later, next);
    poll_for(worker, UV_READABLE | UV_WRITABLE);
}

void worker_send(struct worker *worker, const struct message *message)
{
    struct text json = {0};
    struct fault fault = FAULT_INIT;
    if (worker->socket < 0)
        return;
    if (message_encode(message, &json, &fault) != 0)
        blame(worker, fault.text);
    else if (!STAILQ_EMPTY(&worker->outgoing) ||
             !try_to_send(worker, &json, message->fds, message->n_fds))
        keep_for_later(worker, &json, message);
    text_finish(&json);
}

void worker_hang_up(struct worker *worker)
{
    close_socket(worker);
}

void worker_kill(struct worker *worker)
{
    if (!worker->exited)
        uv_process_kill(&worker->process, SIGKILL);
}

void worker_forget(struct worker **worker)
{
    struct worker *w = *worker;
    *worker = NULL;
    if (!w)
        return;
    w->forgotten = true;
    close_socket(w);
    if (!w->exited) {
        w->exited = true;
        uv_close((uv_handle_t *)&w->process, on_closed);
    }
    if (w->n_handles == 0)
        free(w);
}
