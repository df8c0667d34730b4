/* One watched folder. Events of inotify and scans name files; complete files are claimed
 * (daemon/spool/claim.h); each claim becomes a job. A job ends with results in OUT and the original
 * in done, with the original in failed, or with the original back in the folder. A directory that
 * vanishes is waited for. All on the loop's thread; what waits for a disk is an errand on the
 * folder's own threads. */
#ifndef SLUICE_DAEMON_WATCH_FOLDER_H
#define SLUICE_DAEMON_WATCH_FOLDER_H

#include "config/config.h"
#include "daemon/spool/spool.h"
#include "daemon/watch/errands.h"
#include "daemon/work/queue.h"

struct folder;

struct folder_events {
    /* The first scan is over, or is impossible for now. Called once. */
    void (*scanned)(void *context);
    /* After folder_stop: no job, errand or scan of the folder is left, or those that are left hang.
     */
    void (*stopped)(void *context, struct folder *folder);
};

/* What all folders share. The members must outlive them. */
struct folder_world {
    uv_loop_t *loop;
    struct queue *queue;
    struct spool_world spools;
    bool make_folders; /* make missing directories when a folder is first opened */
    const struct folder_events *events;
    void *context; /* passed to the events */
};

/* `settings` belong to `book`, on which the folder holds a reference until it is destroyed. */
int folder_create(struct folder **folder, const struct folder_world *world, struct rulebook *book,
                  const struct watch_settings *settings, struct fault *fault);

/* Opens the directories, and begins to watch and to take files. What cannot be opened is tried
 * again. `extension` is that of results. */
void folder_start(struct folder *folder, const char *extension);

/* How many jobs the folder may have in the queue, so that others get their turn. */
void folder_set_share(struct folder *folder, unsigned share);

/* The folder goes on with the counts since the start and the last failure of `before`, which it
 * replaces. */
void folder_succeed(struct folder *folder, const struct folder *before);

const struct watch_settings *folder_settings(const struct folder *folder);

/* Takes as many complete files as the queue has room for. */
void folder_pump(struct folder *folder);

/* Takes no more files. Jobs that wait for their turn are given back; `stopped` comes when the
 * others have left the queue. Files claimed in a folder that hangs stay claimed. */
void folder_stop(struct folder *folder);

/* Closes what is left, after `stopped` or before folder_start. The loop must run once more. Takes
 * NULL; clears the pointer. */
void folder_destroy(struct folder **folder);

/* True when no file in sight may be taken soon. */
bool folder_is_quiet(const struct folder *folder);

/* The file that failed last. */
struct folder_failure {
    char name[256]; /* shortened if longer; "": none has failed */
    struct fault fault;
    int64_t time; /* seconds since 1970 */
};

/* The folder's state, and how many files it has in each state. Files in done and failed are counted
 * once a minute, and files that end in between are added. Times are monotonic nanoseconds. */
struct folder_census {
    size_t waiting;                   /* not complete yet, or complete without room in the queue */
    size_t queued, running, retrying; /* jobs */
    size_t done, failed;
    uint64_t ended_done, ended_failed; /* since the start */
    struct rate rate;                  /* of these */
    size_t empty;                      /* of those that wait: files that may never be more */
    const char *mode;                  /* "inotify", "poll", "gone" */
    unsigned overflows;                /* of inotify's queue */
    const char *state;                 /* "ok", "degraded", "hanging", "lost"; a constant string */
    const char *reason;                /* a constant string; NULL in state "ok" */
    char message[480];                 /* "" in state "ok"; else it begins with the path at fault */
    uint64_t since;                    /* when the state began */
    uint64_t next_try;                 /* 0: none is planned */
    const struct folder_failure *failure; /* the folder's; NULL: none has failed since the start */
};
void folder_count(const struct folder *folder, struct folder_census *census);

void folder_log_state(const struct folder *folder);

/* ---- for questions about files ---- */

struct fate;

/* True while a thread at the folder's disks makes no progress, so that nobody should wait for the
 * folder. */
bool folder_hangs(const struct folder *folder);

/* Runs an errand of somebody else on the folder's threads. */
void folder_run(struct folder *folder, struct errand *errand, void (*run)(struct errand *),
                void (*after)(struct errand *));

/* The present directories, with a reference counted for the caller; NULL while they are gone. */
struct spool *folder_use_spool(const struct folder *folder);
struct rulebook *folder_use_book(const struct folder *folder);

/* Completes the answer of fate_find for a file in IN by what the folder knows of it. Returns true
 * when nothing else need be asked, because a job has the file. */
bool folder_explain(const struct folder *folder, struct fate *fate);

/* A file was put back into the folder: looks at it now. `counted`: it was moved out of done, or of
 * failed, which has one less. */
void folder_take_back(struct folder *folder, const char *name, bool counted, bool failed);

/* The first `limit` names after the name `after`, in order. */
struct folder_files {
    const char *after;
    size_t limit, count;
    struct folder_file {
        const char *name, *state;
        unsigned attempts;
    } * files;
};

/* Makes room for the name at its place, which may push the last one out, and returns it, to be
 * filled; NULL: the name is not among the first ones. */
struct folder_file *folder_files_offer(struct folder_files *files, const char *name);

/* Adds the files that have not ended, in the state `state` or in any for NULL. The names are valid
 * until the loop runs again. */
void folder_list(const struct folder *folder, const char *state, struct folder_files *files);

#endif
