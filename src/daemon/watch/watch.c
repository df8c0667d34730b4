#include "daemon/watch/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

#define MASK                                                                                       \
    (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_OPEN | IN_CLOSE_NOWRITE | IN_ATTRIB |           \
     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
#define LOST (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)

/* Reads in one turn of the loop. The rest is read in the next turn, so that others are served in
 * between. */
#define READS_A_TURN 16
#define PAUSE        2 /* milliseconds from one turn to the next */

struct watch {
    uv_poll_t poll;
    uv_timer_t pause;
    unsigned n_handles; /* of libuv that are not closed yet */
    int fd;
    bool closing, overflowed;
    const struct watch_events *events;
    void *context;
};

static void take_event(struct watch *watch, const struct inotify_event *event)
{
    uint32_t mask = event->mask;
    if (mask & IN_Q_OVERFLOW) {
        watch->overflowed = true;
        watch->events->overflow(watch->context);
    } else if (mask & LOST) {
        const char *why = mask & IN_UNMOUNT       ? "unmounted"
                          : mask & IN_MOVE_SELF   ? "moved away"
                          : mask & IN_DELETE_SELF ? "removed"
                                                  : "no longer watched by the kernel";
        watch->events->lost(watch->context, why);
    } else if (event->len > 0 && !(mask & IN_ISDIR)) {
        enum candidate_news news = mask & IN_MOVED_TO        ? NEWS_RENAMED
                                   : mask & IN_CLOSE_WRITE   ? NEWS_CLOSED
                                   : mask & IN_CREATE        ? NEWS_CREATED
                                   : mask & IN_OPEN          ? NEWS_OPENED
                                   : mask & IN_CLOSE_NOWRITE ? NEWS_LEFT
                                                             : NEWS_CHANGED;
        watch->events->hint(watch->context, event->name, news);
    }
}

/* Reads events; returns false when there are no more. */
static bool read_events(struct watch *watch)
{
    char buffer[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t length = read(watch->fd, buffer, sizeof buffer);
    if (length <= 0) {
        if (length < 0 && errno != EAGAIN && errno != EINTR)
            log_error("inotify: %s", strerror(errno));
        return false;
    }
    for (char *at = buffer; at < buffer + length && !watch->closing;) {
        const struct inotify_event *event = (const struct inotify_event *)at;
        take_event(watch, event);
        at += sizeof *event + event->len;
    }
    return !watch->closing;
}

static void on_pause_over(uv_timer_t *pause);

/* Our own looks are told of, too: while there is much to do they are read together. */
static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    if (status < 0) {
        watch->events->lost(watch->context, uv_strerror(status));
        return;
    }
    for (int i = 0; i < READS_A_TURN && read_events(watch); i++)
        ;
    if (watch->closing)
        return;
    uv_poll_stop(&watch->poll);
    uv_timer_start(&watch->pause, on_pause_over, PAUSE, 0);
}

static void on_pause_over(uv_timer_t *pause)
{
    struct watch *watch = pause->data;
    int error = uv_poll_start(&watch->poll, UV_READABLE, on_readable);
    if (error < 0)
        watch->events->lost(watch->context, uv_strerror(error));
}

static void on_closed(uv_handle_t *handle)
{
    struct watch *watch = handle->data;
    if (--watch->n_handles > 0)
        return;
    close(watch->fd);
    free(watch);
}

bool watch_catch_up(struct watch *watch)
{
    bool more = watch && !watch->closing;
    if (!more)
        return false;
    watch->overflowed = false;
    for (int i = 0; i < READS_A_TURN && more; i++)
        more = read_events(watch);
    return !more && !watch->closing && !watch->overflowed;
}

int watch_descriptor(const char *path, bool insist, struct fault *fault)
{
    const char *kind = insist ? NULL : file_remote_kind(path);
    if (kind) {
        fault_set(fault, FAULT_IO, "on %s inotify does not see what others write", kind);
        return -1;
    }
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd >= 0 && inotify_add_watch(fd, path, MASK) >= 0)
        return fd;
    if (errno == EMFILE || errno == ENOSPC) /* whose own texts do not say what is meant */
        fault_set(fault, FAULT_IO, "inotify: no %s left for this user (fs.inotify.max_user_%s)",
                  errno == EMFILE ? "instance" : "watch",
                  errno == EMFILE ? "instances" : "watches");
    else
        fault_set_errno(fault, FAULT_IO, "inotify");
    file_close(&fd);
    return -1;
}

int watch_open(struct watch **watch, uv_loop_t *loop, int fd, const struct watch_events *events,
               void *context, struct fault *fault)
{
    struct watch *w = calloc(1, sizeof *w);
    *watch = NULL;
    int error = w ? uv_poll_init(loop, &w->poll, fd) : UV_ENOMEM;
    if (error < 0) {
        close(fd);
        free(w);
        return fault_set(fault, FAULT_IO, "uv_poll_init: %s", uv_strerror(error));
    }
    w->fd = fd;
    w->events = events;
    w->context = context;
    uv_timer_init(loop, &w->pause);
    w->poll.data = w->pause.data = w;
    w->n_handles = 2;
    error = uv_poll_start(&w->poll, UV_READABLE, on_readable);
    *watch = w;
    if (error == 0)
        return 0;
    watch_close(watch);
    return fault_set(fault, FAULT_IO, "uv_poll_start: %s", uv_strerror(error));
}

void watch_close(struct watch **watch)
{
    struct watch *w = *watch;
    *watch = NULL;
    if (!w || w->closing)
        return;
    w->closing = true;
    uv_close((uv_handle_t *)&w->poll, on_closed);
    uv_close((uv_handle_t *)&w->pause, on_closed);
}
