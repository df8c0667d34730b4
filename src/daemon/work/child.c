#include "daemon/work/child.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "daemon/work/closing.h"
#include "daemon/work/said.h"
#include "worker/find.h"
#include "worker/message.h"

struct outgoing {
    struct text json;
    int fds[MESSAGE_FDS_MAX]; /* duplicates: the job's own descriptors may be closed before this is
                                 sent */
    size_t n_fds;
    STAILQ_ENTRY(outgoing) next;
};

/* ---- what libuv tells ---- */

static void on_closed(uv_handle_t *handle)
{
    struct child *child = handle->data;
    if (--child->n_handles == 0 && child->forgotten)
        free(child);
}

static void on_exit_of_process(uv_process_t *process, int64_t status, int signal)
{
    struct child *child = process->data;
    uv_close((uv_handle_t *)process, on_closed);
    said_close(&child->said); /* its last words come before we say that it has ended */
    child->exited = true;
    child->status = (int)status;
    child->signal = signal;
    if (signal)
        snprintf(child->end, sizeof child->end, "by signal %d (%s)", signal, strsignal(signal));
    else
        snprintf(child->end, sizeof child->end, "with status %d", child->status);
}

static void send_outgoing(struct child *child);

static void on_socket(uv_poll_t *poll, int status, int events)
{
    struct child *child = poll->data;
    child->readable = true;
    child->failed = status < 0;
    if (status == 0 && events & UV_WRITABLE)
        send_outgoing(child);
}

/* ---- our end of the socket ---- */

static void free_outgoing(struct child *child, struct outgoing *message)
{
    for (size_t i = 0; i < message->n_fds; i++)
        closing_take(child->poll.loop, &message->fds[i]);
    text_finish(&message->json);
    free(message);
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

bool child_receive(struct child *child, struct message *message)
{
    struct fault fault = FAULT_INIT;
    if (child->socket < 0)
        return false;
    enum message_head head = message_look(child->socket);
    bool forbidden = head == MESSAGE_DESCRIPTORS;
    if (head == MESSAGE_NONE) /* one that comes now may have descriptors */
        return false;
    if (!forbidden && message_receive(child->socket, message, &fault) == 0)
        return true;
    if (forbidden || fault.code == FAULT_DATA)
        blame(child, forbidden ? "it sends descriptors" : fault.text);
    if (forbidden || fault.code == FAULT_NO_INPUT || fault.code == FAULT_IO) {
        child->cut = true;
        child_hang_up(child);
    }
    return false;
}

static void poll_for(struct child *child, int events)
{
    if (uv_poll_start(&child->poll, events, on_socket) != 0)
        blame(child, "its socket cannot be polled");
}

static void send_outgoing(struct child *child)
{
    struct outgoing *first;
    while ((first = STAILQ_FIRST(&child->outgoing)) != NULL) {
        struct fault fault = FAULT_INIT; /* FAULT_IO: the process is gone, which its exit tells */
        if (message_send_encoded(child->socket, &first->json, first->fds, first->n_fds, &fault) ==
            FAULT_BUSY)
            return;
        STAILQ_REMOVE_HEAD(&child->outgoing, next);
        free_outgoing(child, first);
    }
    poll_for(child, UV_READABLE);
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
             message_send_encoded(child->socket, &json, message->fds, message->n_fds, &fault) ==
                 FAULT_BUSY)
        keep_for_later(child, &json, message);
    text_finish(&json);
}

void child_kill(struct child *child)
{
    if (child->spawned && !child->exited)
        uv_process_kill(&child->process, child->kept ? MESSAGE_KILL_SIGNAL : SIGKILL);
}

/* ---- the process ---- */

/* A pair of sockets, a pipe for stderr, and an environment that is ours with two differences: only
 * the front may talk to systemd, through NOTIFY_SOCKET, and where our stderr is the journal the
 * worker's is a pipe into it (log_stderr_is_journal). Without memory for an environment the child
 * has ours. */
int child_start(struct child **child, uv_loop_t *loop, struct fault *fault)
{
    static const char notify[] = "NOTIFY_SOCKET=", stream[] = "JOURNAL_STREAM=";
    char program[PATH_MAX], name[] = "sluice-worker", *args[] = {name, NULL}, journal[60];
    struct stat status;
    int sockets[2], said;
    *child = NULL;
    struct child *c = calloc(1, sizeof *c);
    if (!c)
        return fault_set(fault, FAULT_MEMORY, "no memory for a worker");
    STAILQ_INIT(&c->outgoing);
    c->socket = -1;
    int result = find_program("worker", "SLUICE_WORKER", program, sizeof program, fault);
    if (result == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        result = fault_set_errno(fault, FAULT_IO, "socketpair");
    if (result != 0) {
        free(c);
        return result;
    }
    fcntl(sockets[0], F_SETFL, O_NONBLOCK);
    int error = uv_poll_init(loop, &c->poll, sockets[0]);
    c->poll.data = c->process.data = c;
    if (error == 0) {
        c->socket = sockets[0];
        c->n_handles++;
        error = uv_poll_start(&c->poll, UV_READABLE, on_socket);
    } else {
        close(sockets[0]);
    }

    c->said = said_open(loop, "the worker", &c->pid, &said);
    bool replaced = said >= 0 && log_stderr_is_journal() && fstat(said, &status) == 0;
    if (replaced)
        snprintf(journal, sizeof journal, "%s%llu:%llu", stream, (unsigned long long)status.st_dev,
                 (unsigned long long)status.st_ino);
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **environment = calloc(count + 1, sizeof *environment);
    for (size_t i = 0; environment && i < count; i++) {
        bool is_stream = strncmp(environ[i], stream, strlen(stream)) == 0;
        if (strncmp(environ[i], notify, strlen(notify)) != 0)
            environment[kept++] = is_stream && replaced ? journal : environ[i];
    }

    int to = said >= 0 ? said : STDERR_FILENO; /* drivers print banners to stdout */
    uv_stdio_container_t stdio[MESSAGE_WORKER_FD + 1] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = to},
        {.flags = UV_INHERIT_FD, .data.fd = to},
        {.flags = UV_INHERIT_FD, .data.fd = sockets[1]},
    };
    uv_process_options_t options = {.exit_cb = on_exit_of_process,
                                    .file = program,
                                    .args = args,
                                    .env = environment,
                                    .stdio_count = MESSAGE_WORKER_FD + 1,
                                    .stdio = stdio};
    if (error == 0) {
        error = uv_spawn(loop, &c->process, &options);
        c->n_handles++;
        c->spawned = error == 0;
        c->pid = c->process.pid;
        if (error < 0)
            uv_close((uv_handle_t *)&c->process, on_closed);
    }
    if (said >= 0) {
        fcntl(said, F_SETFL, O_WRONLY | O_NONBLOCK); /* libuv has undone it */
        close(said);
    }
    free(environment);
    close(sockets[1]);
    if (error == 0) {
        *child = c;
        return 0;
    }
    child_forget(&c);
    return fault_set(fault, FAULT_NO_DEVICE, "%s cannot be started: %s", program,
                     uv_strerror(error));
}

void child_forget(struct child **child)
{
    struct child *c = *child;
    *child = NULL;
    if (!c)
        return;
    c->forgotten = true;
    said_close(&c->said);
    child_hang_up(c);
    if (c->spawned && !c->exited)
        uv_close((uv_handle_t *)&c->process, on_closed);
    if (c->n_handles == 0)
        free(c);
}
