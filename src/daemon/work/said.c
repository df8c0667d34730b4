/* What a process writes is on its way into the daemon's log: so much in a time, and lines of a
 * bounded length, because it may be a driver that goes wild, or somebody who has taken the worker
 * over. What a worker writes beyond is lost, since it never waits. */
#include "daemon/work/said.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"

#define STDERR_LINES  200  /* in a time, and then a line that says that the rest is left out */
#define STDERR_TIME   10   /* seconds */
#define STDERR_LENGTH 2000 /* bytes of a line; of a longer one the beginning */

struct said {
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

static void on_said_closed(uv_handle_t *handle)
{
    struct said *e = handle->data;
    if (--e->n_handles == 0)
        free(e);
}

static void end_line(struct said *e)
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
    struct said *e = poll->data;
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
    struct said *e = timer->data;
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

struct said *said_open(uv_loop_t *loop, const char *who, const int *pid, int *fd)
{
    int ends[2];
    *fd = -1;
    if (isatty(STDERR_FILENO) == 1 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return NULL;
    struct said *e = calloc(1, sizeof *e);
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

void said_close(struct said **from)
{
    struct said *e = *from;
    *from = NULL;
    if (!e)
        return;
    if (!e->full) {
        on_readable(&e->poll, 0, UV_READABLE);
        end_line(e);
    }
    uv_close((uv_handle_t *)&e->poll, on_said_closed);
    uv_close((uv_handle_t *)&e->timer, on_said_closed);
    close(e->fd);
}
