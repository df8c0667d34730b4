#include "daemon/work/child.h"

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
#include "daemon/work/closing.h"
#include "worker/find.h"
#include "worker/message.h"

/* Messages read in one turn of the event loop. The rest is read in the next turn, so that other
 * sockets are served in between. */
#define MESSAGES_A_TURN 64

/* A message that waits until the socket has room. */
struct outgoing {
    struct text json;
    int fds[MESSAGE_FDS_MAX]; /* duplicates: the job's own descriptors may be closed before this is
                                 sent */
    size_t n_fds;
    STAILQ_ENTRY(outgoing) next;
};

struct child {
    uv_process_t process;
    uv_poll_t poll;
    int socket; /* −1 after hang-up */
    STAILQ_HEAD(, outgoing) outgoing;
    unsigned n_handles; /* libuv handles that are still open */
    bool exited, forgotten;
    bool kept;   /* the process is a keeper (worker/keeper.h): it kills the worker when asked */
    bool blamed; /* we killed it because of what it sent, or because it read nothing */
    const struct child_events *events;
    void *context;
};

static void free_outgoing(struct child *child, struct outgoing *message)
{
    for (size_t i = 0; i < message->n_fds; i++)
        closing_take(child->poll.loop, &message->fds[i]);
    text_finish(&message->json);
    free(message);
}

static void on_closed(uv_handle_t *handle)
{
    struct child *child = handle->data;
    if (--child->n_handles == 0 && child->forgotten)
        free(child);
}

void child_hang_up(struct child *child)
{
    while (!STAILQ_EMPTY(&child->outgoing)) {
        struct outgoing *message = STAILQ_FIRST(&child->outgoing);
        STAILQ_REMOVE_HEAD(&child->outgoing, next);
        free_outgoing(child, message);
    }
    if (child->socket < 0)
        return;
    uv_poll_stop(&child->poll);
    uv_close((uv_handle_t *)&child->poll, on_closed);
    closing_take(child->poll.loop, &child->socket); /* and what is unread in it */
}

static void blame(struct child *child, const char *why)
{
    if (child->blamed)
        return;
    child->blamed = true;
    log_error("the worker is killed: %s", why);
    child_kill(child);
}

/* Returns true when a message was received. */
static bool receive_one(struct child *child)
{
    struct message message;
    struct fault fault = FAULT_INIT;
    if (child->socket >= 0 && message_look(child->socket) == MESSAGE_DESCRIPTORS) {
        blame(child, "it sends descriptors");
        child_hang_up(child);
        child->events->hung_up(child->context);
        return false;
    }
    if (child->socket < 0 || message_receive(child->socket, &message, &fault) != 0) {
        if (fault.code == FAULT_DATA)
            blame(child, fault.text);
        if (fault.code == FAULT_NO_INPUT || fault.code == FAULT_IO) {
            child_hang_up(child);
            child->events->hung_up(child->context);
        }
        return false;
    }
    child->events->said(child->context, &message);
    message_finish(&message);
    return !child->forgotten;
}

/* Returns true when the message was sent, or when it can never be sent. */
static bool try_to_send(struct child *child, const struct text *json, const int *fds, size_t n_fds)
{
    struct fault fault = FAULT_INIT;
    int result = message_send_encoded(child->socket, json, fds, n_fds, &fault);
    return result != FAULT_BUSY; /* FAULT_IO: the process is gone, and on_exit reports that */
}

static void on_socket(uv_poll_t *poll, int status, int events);

static void poll_for(struct child *child, int events)
{
    if (uv_poll_start(&child->poll, events, on_socket) != 0)
        blame(child, "its socket cannot be polled");
}

static void send_outgoing(struct child *child)
{
    struct outgoing *first;
    while ((first = STAILQ_FIRST(&child->outgoing)) != NULL) {
        if (!try_to_send(child, &first->json, first->fds, first->n_fds))
            return;
        STAILQ_REMOVE_HEAD(&child->outgoing, next);
        free_outgoing(child, first);
    }
    poll_for(child, UV_READABLE);
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
    struct child *child = poll->data;
    if (status < 0) { /* it died before its messages were read: read them first */
        while (receive_one(child))
            ;
        if (!child->forgotten && child->socket >= 0) {
            child_hang_up(child);
            child->events->hung_up(child->context);
        }
        return;
    }
    if (events & UV_WRITABLE)
        send_outgoing(child);
    for (int i = 0; i < MESSAGES_A_TURN && receive_one(child); i++)
        ;
}

static void on_exit_of_process(uv_process_t *process, int64_t status, int signal)
{
    struct child *child = process->data;
    struct child_end end = {.status = status, .signal = signal, .blamed = child->blamed};
    child->exited = true;
    uv_close((uv_handle_t *)process, on_closed);
    if (child->forgotten)
        return;
    while (receive_one(child)) /* messages sent before its end still count */
        ;
    if (child->forgotten)
        return;
    child_hang_up(child);
    if (signal)
        snprintf(end.text, sizeof end.text, "by signal %d (%s)", signal, strsignal(signal));
    else
        snprintf(end.text, sizeof end.text, "with status %lld", (long long)status);
    child->events->ended(child->context, &end);
}

static int spawn(struct child *child, uv_loop_t *loop, const char *program, int socket)
{
    char name[] = "sluice-worker";
    char *args[] = {name, NULL};
    uv_stdio_container_t stdio[MESSAGE_WORKER_FD + 1] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO}, /* drivers print banners to it */
        {.flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO},
        {.flags = UV_INHERIT_FD, .data.fd = socket},
    };
    /* Our own environment without the variables of the service manager's notify socket: only the
     * front may talk to systemd. Without memory the child inherits our environment unchanged. */
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **environment = calloc(count + 1, sizeof *environment);
    for (size_t i = 0; environment && i < count; i++)
        if (strncmp(environ[i], "NOTIFY_SOCKET=", strlen("NOTIFY_SOCKET=")) != 0)
            environment[kept++] = environ[i];
    uv_process_options_t options = {.exit_cb = on_exit_of_process,
                                    .file = program,
                                    .args = args,
                                    .env = environment,
                                    .stdio_count = MESSAGE_WORKER_FD + 1,
                                    .stdio = stdio};
    int error = uv_spawn(loop, &child->process, &options);
    free(environment);
    child->process.data = child;
    child->n_handles++;
    if (error < 0)
        uv_close((uv_handle_t *)&child->process, on_closed);
    else
        child->exited = false;
    return error;
}

static int open_poll(struct child *child, uv_loop_t *loop)
{
    int error = uv_poll_init(loop, &child->poll, child->socket);
    child->poll.data = child;
    if (error < 0) {
        close(child->socket);
        child->socket = -1;
        return error;
    }
    child->n_handles++;
    return uv_poll_start(&child->poll, UV_READABLE, on_socket);
}

int child_start(struct child **child, uv_loop_t *loop, const struct child_events *events,
                void *context, struct fault *fault)
{
    char program[PATH_MAX];
    int sockets[2];
    *child = NULL;
    struct child *w = calloc(1, sizeof *w);
    if (!w)
        return fault_set(fault, FAULT_MEMORY, "no memory for a worker");
    STAILQ_INIT(&w->outgoing);
    w->events = events;
    w->context = context;
    w->socket = -1;
    w->exited = true; /* until uv_spawn succeeds */
    int result = find_program("worker", "SLUICE_WORKER", program, sizeof program, fault);
    if (result == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        result = fault_set_errno(fault, FAULT_IO, "socketpair");
    if (result != 0) {
        free(w);
        return result;
    }
    fcntl(sockets[0], F_SETFL, O_NONBLOCK);
    w->socket = sockets[0];
    int error = open_poll(w, loop);
    if (error == 0)
        error = spawn(w, loop, program, sockets[1]);
    close(sockets[1]);
    *child = w;
    if (error == 0)
        return 0;
    child_forget(child);
    return fault_set(fault, FAULT_NO_DEVICE, "%s cannot be started: %s", program,
                     uv_strerror(error));
}

int child_pid(const struct child *child)
{
    return child->process.pid;
}

static void keep_for_later(struct child *child, struct text *json, const struct message *message)
{
    struct outgoing *later = calloc(1, sizeof *later);
    for (int copy = 0; later && copy >= 0 && later->n_fds < message->n_fds;) {
        copy = fcntl(message->fds[later->n_fds], F_DUPFD_CLOEXEC, 3);
        if (copy >= 0)
            later->fds[later->n_fds++] = copy;
    }
    if (!later || later->n_fds < message->n_fds) {
        if (later)
            free_outgoing(child, later);
        blame(child, "no memory or descriptors for a message to it");
        return;
    }
    later->json = *json;
    *json = (struct text){0};
    STAILQ_INSERT_TAIL(&child->outgoing, later, next);
    poll_for(child, UV_READABLE | UV_WRITABLE);
}

void child_send(struct child *child, const struct message *message)
{
    struct text json = {0};
    struct fault fault = FAULT_INIT;
    if (child->socket < 0)
        return;
    if (message_encode(message, &json, &fault) != 0)
        blame(child, fault.text);
    else if (!STAILQ_EMPTY(&child->outgoing) ||
             !try_to_send(child, &json, message->fds, message->n_fds))
        keep_for_later(child, &json, message);
    text_finish(&json);
}

void child_kill(struct child *child)
{
    if (!child->exited)
        uv_process_kill(&child->process, child->kept ? MESSAGE_KILL_SIGNAL : SIGKILL);
}

void child_has_keeper(struct child *child)
{
    child->kept = true;
}

void child_forget(struct child **child)
{
    struct child *w = *child;
    *child = NULL;
    if (!w)
        return;
    w->forgotten = true;
    child_hang_up(w);
    if (!w->exited) {
        w->exited = true;
        uv_close((uv_handle_t *)&w->process, on_closed);
    }
    if (w->n_handles == 0)
        free(w);
}
