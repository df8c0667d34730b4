/* An inotify watch on one directory, polled by the loop. Its events are hints only: a name may be
 * gone by the time it is read, and after an overflow names are missing. The scan finds everything.
 *
 * libuv's own watcher cannot ask for closed-after-writing, and hides overflows. IN_MODIFY is not
 * asked for, since its events would fill the kernel's queue. */
#ifndef SLUICE_DAEMON_WATCH_H
#define SLUICE_DAEMON_WATCH_H

#include "base/fault.h"
#include "daemon/watch/candidate.h"
#include <stdbool.h>
#include <uv.h>

struct watch;

struct watch_events {
    void (*hint)(void *context, const char *name, enum candidate_news news);
    /* The kernel's queue overflowed: events are missing. */
    void (*overflow)(void *context);
    /* The directory was moved, removed or unmounted. No more events come. */
    void (*lost)(void *context, const char *why);
};

/* Opens a watch on the directory at `path`; scan after this call, not before. Waits for the disk.
 * Returns a descriptor, or −1 and a fault. Network and FUSE file systems get FAULT_IO, because
 * inotify misses most events there and they have to be polled; `insist` skips that check. */
int watch_descriptor(const char *path, bool insist, struct fault *fault);

/* Takes over such a descriptor. Events come on the loop's thread until watch_close, which a
 * callback may call. */
int watch_open(struct watch **watch, uv_loop_t *loop, int fd, const struct watch_events *events,
               void *context, struct fault *fault);

/* Reads all events that the kernel has now. Returns false when some may be missing, because the
 * queue overflowed or there were too many. A callback may close the watch. Takes NULL. */
bool watch_catch_up(struct watch *watch);

/* The loop frees the memory. Takes NULL; clears the pointer. */
void watch_close(struct watch **watch);

#endif
