/* Hooks: programs of the user's that are told how a folder's files have ended (docs/daemon.md). One
 * at a time for each folder, in the order of the files, with a fixed list of arguments and no
 * shell; what there is to say is in its environment. It has a time, is killed with all that it has
 * started, and what it writes is bounded. A hook that fails is logged, and changes nothing for the
 * file.
 *
 * All on the loop's thread. */
#ifndef SLUICE_DAEMON_WORK_HOOK_H
#define SLUICE_DAEMON_WORK_HOOK_H

#include "config/settings.h"
#include "daemon/work/queue.h"

/* So many ends wait for their hook; then the folder takes no more files until one has run. */
#define HOOKS_MOST 1000

struct hooks;

/* The texts must outlive them. FAULT_MEMORY. */
int hooks_create(struct hooks **hooks, uv_loop_t *loop, const struct watch_settings *settings,
                 struct queue *queue, struct fault *fault);

/* A file is done, and its results, a list as job->results, have their names; or it has failed, and
 * `reason` (a word; else NULL) and `message` say why: starts the program for that, or has it wait
 * for its turn. */
void hooks_tell(struct hooks *hooks, const char *name, const char *results, const char *reason,
                const char *message);

/* How many run or wait. Takes NULL. */
unsigned hooks_count(const struct hooks *hooks);

/* Kills the one that runs, and drops those that wait; they are logged. Takes NULL. */
void hooks_drop(struct hooks *hooks);

/* The same; the loop frees the memory. Takes NULL; clears the pointer. */
void hooks_destroy(struct hooks **hooks);

#endif
