/* One watched folder: hints and scans become claims, claims become jobs, jobs end in OUT and in
 * done, in failed, or back where they came from. It survives its directory: one that vanishes is
 * waited for. All on the loop's thread; what waits for the disk goes to the pool. */
#ifndef SLUICE_DAEMON_FOLDER_H
#define SLUICE_DAEMON_FOLDER_H

#include "daemon/queue.h"
#include "daemon/settings.h"

struct folder;

struct folder_events {
    /* The first scan is over: what was there is known. */
    void (*scanned)(void *context);
    /* After folder_stop: nothing of it is under way any more. */
    void (*stopped)(void *context);
};

/* Opens the directories, now. `extension` is read when results are named: it may be filled in until
 * folder_start. All arguments must outlive the folder. */
int folder_create(struct folder **folder, uv_loop_t *loop, const struct watch_settings *settings,
                  const char *extension, struct queue *queue, const struct folder_events *events,
                  void *context, struct fault *fault);

/* Begins to watch and to take files. */
void folder_start(struct folder *folder);

/* Takes what there is room for in the queue. */
void folder_pump(struct folder *folder);

/* Takes nothing more. `stopped` comes when its jobs have left the queue. */
void folder_stop(struct folder *folder);

/* Closes what is left, after `stopped` or before folder_start. The loop must run once more. Takes
 * NULL; clears the pointer. */
void folder_destroy(struct folder **folder);

/* True when there is no file in sight that may be taken soon. */
bool folder_is_quiet(const struct folder *folder);

void folder_log_state(const struct folder *folder);

#endif
