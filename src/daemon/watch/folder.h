/* One watched folder: hints and scans become claims, claims become jobs, jobs end in OUT and in
 * done, in failed, or back where they came from. It survives its directory: one that vanishes is
 * waited for. All on the loop's thread; what waits for its disks are errands on its own threads. */
#ifndef SLUICE_DAEMON_WATCH_FOLDER_H
#define SLUICE_DAEMON_WATCH_FOLDER_H

#include "config/rulebook.h"
#include "daemon/spool/spool.h"
#include "daemon/watch/errands.h"
#include "daemon/work/queue.h"

struct folder;

struct folder_events {
    /* The first scan is over: what was there is known; or that there cannot be one for now. Once.
     */
    void (*scanned)(void *context);
    /* After folder_stop: nothing of it is under way any more, or all that is hangs. */
    void (*stopped)(void *context, struct folder *folder);
};

/* What folders have in common. The members must outlive them. */
struct folder_world {
    uv_loop_t *loop;
    struct queue *queue;
    struct spool_world spools;
    bool make_folders; /* that are not there when one is opened first */
    const struct folder_events *events;
    void *context; /* of the events */
};

/* `settings` are in `book`, which is used until the end. */
int folder_create(struct folder **folder, const struct folder_world *world, struct rulebook *book,
                  const struct watch_settings *settings, struct fault *fault);

/* Opens the directories, and begins to watch and to take files; what cannot be opened is tried
 * again. `extension` is what results get. */
void folder_start(struct folder *folder, const char *extension);

/* How many jobs of the queue it may have at most, so that the others come to their turn. */
void folder_set_share(struct folder *folder, unsigned share);

const struct watch_settings *folder_settings(const struct folder *folder);

/* Takes what there is room for in the queue. */
void folder_pump(struct folder *folder);

/* Takes nothing more. `stopped` comes when its jobs have left the queue; those that wait for their
 * turn are given back. Of a folder that hangs they stay claimed. */
void folder_stop(struct folder *folder);

/* Closes what is left, after `stopped` or before folder_start. The loop must run once more. Takes
 * NULL; clears the pointer. */
void folder_destroy(struct folder **folder);

/* True when there is no file in sight that may be taken soon. */
bool folder_is_quiet(const struct folder *folder);

/* The file that failed last. */
struct folder_failure {
    char name[256]; /* cut where it is longer; "": none has failed */
    struct fault fault;
    int64_t time; /* seconds since 1970 */
};

/* How a folder is, and how many files it has, by what they are at. Those in done and failed are
 * counted once a minute, and by what ends in between. Times are monotonic nanoseconds. */
struct folder_census {
    size_t waiting;                   /* not complete, or without room */
    size_t queued, running, retrying; /* jobs */
    size_t done, failed;
    uint64_t ended_done, ended_failed;    /* since the start */
    const char *mode;                     /* "inotify", "poll", "gone" */
    unsigned overflows;                   /* of inotify's queue */
    const char *state;                    /* "ok", "degraded", "hanging", "lost"; a constant, … */
    const char *reason;                   /* … NULL where it is well, … */
    char message[480];                    /* … "" then; else it begins with the path at fault */
    uint64_t since;                       /* when the state began */
    uint64_t next_try;                    /* 0: none is planned */
    const struct folder_failure *failure; /* the folder's; NULL: none has failed since the start */
};
void folder_count(const struct folder *folder, struct folder_census *census);

void folder_log_state(const struct folder *folder);

/* ---- for those who ask ---- */

struct fate;

/* True while a thread at its disks does not come back: nobody is to wait for it. */
bool folder_hangs(const struct folder *folder);

/* What somebody else needs of its disks. */
void folder_run(struct folder *folder, struct errand *errand, void (*run)(struct errand *),
                void (*after)(struct errand *));

/* Its directories now, counted; NULL while they are gone. */
struct spool *folder_use_spool(const struct folder *folder);
struct rulebook *folder_use_book(const struct folder *folder);

/* Adds to what fate_find says of a file in IN what is under way. True when that is the whole truth:
 * a job has it. */
bool folder_explain(const struct folder *folder, struct fate *fate);

/* A file was put back: it is looked at now. */
void folder_look_again(struct folder *folder, const char *name);

/* What is left in failed, or done, after one was put back. */
void folder_count_requeued(struct folder *folder, bool failed);

/* Up to `limit` files that are not ended, by name, beyond `after`; `state` NULL: any. Names stay
 * the folder's until the loop runs again. Returns how many. */
struct folder_file {
    const char *name, *state;
    unsigned attempts;
};
size_t folder_list(const struct folder *folder, const char *state, const char *after, size_t limit,
                   struct folder_file *files);

#endif
