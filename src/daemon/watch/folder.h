/* One watched folder. Events of inotify and scans name files; complete files are claimed
 * (daemon/spool/claim.h); each claim becomes a job. A job ends with results in OUT and the original
 * in done, with the original in failed, or with the original back in the folder. A directory that
 * vanishes is waited for. A thread of the folder does all that waits for its disk, and is not
 * waited for; these functions are for the loop's thread. */
#ifndef SLUICE_DAEMON_WATCH_FOLDER_H
#define SLUICE_DAEMON_WATCH_FOLDER_H

#include "config/config.h"
#include "daemon/spool/spool.h"
#include "daemon/work/queue.h"

struct folder;

/* Folders that may be asked and told of. Borrowed. */
struct folder_list {
    struct folder *const *list;
    size_t count;
};

/* What all folders share. The members must outlive them. */
struct folder_world {
    uv_loop_t *loop;
    struct queue *queue;
    struct spool_world spools;
    bool make_folders; /* make missing directories when a folder is first opened */
};

/* `settings` belong to `book`, on which the folder holds a reference until it is destroyed. */
int folder_create(struct folder **folder, const struct folder_world *world, struct rulebook *book,
                  const struct watch_settings *settings, struct fault *fault);

/* Opens the directories, and begins to watch and to take files. What cannot be opened is tried
 * again. `extensions` are those of the results, with ; between them. */
void folder_start(struct folder *folder, const char *extensions);

/* How many jobs the folder may have in the queue, so that others get their turn, and how many of
 * them it may open before their turn, so that the process has enough descriptors. */
void folder_set_share(struct folder *folder, unsigned share, unsigned ahead);

/* The folder goes on with the counts since the start and the last failure of `before`, which it
 * replaces. */
void folder_succeed(struct folder *folder, const struct folder *before);

const struct watch_settings *folder_settings(const struct folder *folder);

/* Tells the folder how many files it may take: as many as the queue has room for. */
void folder_pump(struct folder *folder);

/* Takes no more files. Jobs that wait for their turn are given back; the folder has stopped when
 * the others have left the queue. Files claimed in a folder that hangs stay claimed. */
void folder_stop(struct folder *folder);

/* The first scan is over, or is impossible for now. Nobody is called when this, or the next one,
 * becomes true; but the queue gets a turn (queue_wake), in which the loop's owner looks. */
bool folder_has_scanned(const struct folder *folder);

/* After folder_stop: nothing of the folder is left, or what is left hangs; its hooks have run. */
bool folder_has_stopped(const struct folder *folder);

/* Its hooks have been told of all ends (daemon/work/hook.h); those that have not run are given up.
 */
bool folder_has_told(const struct folder *folder);
void folder_drop_hooks(struct folder *folder);

/* Closes what is left, when it has stopped or before folder_start. The loop must run once more.
 * Takes NULL; clears the pointer. */
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
struct spool_files;
struct probe;

/* True while a thread at the folder's disks makes no progress, so that nobody should wait for the
 * folder. */
bool folder_hangs(const struct folder *folder);

/* Sends the question to the folder's thread, which has it read (inquiry_read), and tells what it
 * knows of names. inquiry_answered follows on the loop, unless the folder hangs for ever. */
void folder_ask(struct folder *folder, struct probe *probe);

/* Where its paths lead, to be freed by the caller; NULL while they are gone. */
void folder_leads(const struct folder *folder, char **input, char **output);

/* Completes the answer of fate_find for a file in IN by what the queue knows of it. Returns true
 * when a job has the file, so that nothing else need be asked. */
bool folder_explain(const struct folder *folder, struct fate *fate);

/* For a folder whose directories are gone, or that hangs. */
void folder_explain_gone(const struct folder *folder, struct fate *fate);

/* Adds the files that have become jobs, in the state `state` or in any for NULL. */
void folder_list_jobs(const struct folder *folder, const char *state, struct spool_files *files);

#endif
