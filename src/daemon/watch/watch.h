/* An inotify watch on one directory, polled by the loop. A hint, never the truth: names that it
 * reports may be gone, and when it overflows names are missing; the scan knows.
 *
 * libuv's own watcher is of no use here: it cannot ask for closed-after-writing, and it drops the
 * kernel's notice of an overflow. IN_MODIFY is never asked for: it is what fills the queue. */
#ifndef SLUICE_DAEMON_WATCH_H
#define SLUICE_DAEMON_WATCH_H

#include "base/fault.h"
#include "daemon/watch/candidate.h"
#include <stdbool.h>
#include <uv.h>

struct watch;

struct watch_events {
    void (*hint)(void *context, const char *name, enum candidate_news news);
    /* The kernel's queue ran over: names are missing. */
    void (*overflow)(void *context);
    /* The directory was moved, removed or unmounted: this watch will tell nothing more. */
    void (*lost)(void *context, const char *why);
};

/* Watches the directory at `path` from now on: scan after this, not before. Waits for the disk.
 * Returns a descriptor; −1 and a fault. FAULT_IO for a network or FUSE file system, where inotify
 * would miss most: such a directory has to be polled, unless `insist`. */
int watch_descriptor(const char *path, bool insist, struct fault *fault);

/* Takes over such a descriptor. The events come on the loop's thread until watch_close, which a
 * callback may call, too. */
int watch_open(struct watch **watch, uv_loop_t *loop, int fd, const struct watch_events *events,
               void *context, struct fault *fault);

/* Tells at once what the kernel has to tell. False when it may not have been all: the queue ran
 * over, or there was too much. The watch may be closed by a callback. Takes NULL. */
bool watch_catch_up(struct watch *watch);

/* The memory is freed by the loop once it has let go of it. Takes NULL; clears the pointer. */
void watch_close(struct watch **watch);

#endif
