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
#include "worker/find.h"
#include "worker/message.h"

struct outgoing {
    struct text json;
    int fds[MESSAGE_FDS_MAX]; /* duplicates: the job's own descriptors may be closed before this is
                                 sent */
    size_t n_fds;
    STAILQ_ENTRY(outgoing) next;
};

/* ---- what it writes to stderr ----
 *
 * on its way into the daemon's log: so much in a time, and lines of a bounded length, because it
 * may be a driver that goes wild, or somebody who has taken the worker over. The worker never
 * waits: what it writes beyond is lost. */

#define STDERR_LINES  200  /* in a time, and then a line that says that the rest is left out */
#define STDERR_TIME   10   /* seconds */
#define STDERR_LENGTH 2000 /* bytes of a line; of a longer one the beginning */

struct child_said {
    uv_poll_t poll;
    uv_timer_t timer; /* runs from the first line of a time on */
    int fd;
    const char *who; /* for people */
    const int *pid;
    unsigned n_lines; /* in this time; a long one counts several times */
    bool full;        /* no more of them are taken in this time, and nothing is read */
    unsigned n_handles;
    size_t length; /* of the line that has not ended; its beginning is in `line` */
    char line[STDERR_LENGTH];
};

static void on_child_said_closed(uv_handle_t *handle)
{
    struct child_said *e = handle->data;
    if (--e->n_handles == 0)
        free(e);
}

static void end_line(struct child_said *e)
{
    bool cut = e->length > STDERR_LENGTH;
    if (e->length > 0)
        log_pass(e->line, cut ? STDERR_LENGTH : e->length, cut);
    e->n_lines += e->length > 0;
    e->length = 0;
}

static void on_time(uv_timer_t *timer);

/* Takes what is there, a pipe full of it at most. */
static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct child_said *e = poll->data;
    char bytes[4096];
    ssize_t got = 0;
    for (int i = 0; i < 16 && !e->full && (got = read(e->fd, bytes, sizeof bytes)) > 0; i++) {
        for (ssize_t k = 0; k < got && e->n_lines < STDERR_LINES; k++) {
            if (bytes[k] == '\n' || bytes[k] == '\0') {
                end_line(e);
                continue;
            }
            if (e->length < STDERR_LENGTH)
                e->line[e->length] = bytes[k];
            else if (e->length % STDERR_LENGTH == 0)
                e->n_lines++;
            e->length++;
        }
        e->full = e->n_lines >= STDERR_LINES;
        if (!uv_is_active((uv_handle_t *)&e->timer))
            uv_timer_start(&e->timer, on_time, STDERR_TIME * 1000, 0);
    }
    if (e->full)
        log_warning("%s (pid %d) has written %d lines to stderr within %d s: what more it "
                    "writes in this time is left out",
                    e->who, *e->pid, STDERR_LINES, STDERR_TIME);
    if (e->full || got == 0) /* 0: all who could write have ended */
        uv_poll_stop(&e->poll);
}

static void on_time(uv_timer_t *timer)
{
    struct child_said *e = timer->data;
    char bytes[4096];
    e->n_lines = 0;
    if (!e->full)
        return;
    for (int i = 0; i < 16 && read(e->fd, bytes, sizeof bytes) > 0; i++)
        ; /* old by now */
    e->length = 0;
    e->full = false;
    uv_poll_start(&e->poll, UV_READABLE, on_readable);
}

struct child_said *child_said_open(uv_loop_t *loop, const char *who, const int *pid, int *fd)
{
    int ends[2];
    *fd = -1;
    if (isatty(STDERR_FILENO) == 1 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return NULL;
    struct child_said *e = calloc(1, sizeof *e);
    if (!e || uv_poll_init(loop, &e->poll, ends[0]) != 0) {
        free(e);
        close(ends[0]);
        close(ends[1]);
        return NULL;
    }
    uv_timer_init(loop, &e->timer);
    e->poll.data = e->timer.data = e;
    e->n_handles = 2;
    e->fd = ends[0];
    e->who = who;
    e->pid = pid;
    uv_poll_start(&e->poll, UV_READABLE, on_readable);
    *fd = ends[1];
    return e;
}

void child_said_close(struct child_said **from)
{
    struct child_said *e = *from;
    *from = NULL;
    if (!e)
        return;
    if (!e->full) {
        on_readable(&e->poll, 0, UV_READABLE);
        end_line(e);
    }
    uv_close((uv_handle_t *)&e->poll, on_child_said_closed);
    uv_close((uv_handle_t *)&e->timer, on_child_said_closed);
    close(e->fd);
}

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
    child_said_close(&child->said); /* its last words come before we say that it has ended */
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

    c->said = child_said_open(loop, "the worker", &c->pid, &said);
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
    child_said_close(&c->said);
    child_hang_up(c);
    if (c->spawned && !c->exited)
        uv_close((uv_handle_t *)&c->process, on_closed);
    if (c->n_handles == 0)
        free(c);
}
