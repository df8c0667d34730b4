/* A watched folder and its jobs from within: their members, and what the files of the folder call
 * of each other. Shared by folder.c and folder_*.c alone. */
#ifndef SLUICE_DAEMON_WATCH_FOLDER_INTERNAL_H
#define SLUICE_DAEMON_WATCH_FOLDER_INTERNAL_H

#include "base/clock.h"
#include "daemon/spool/claim.h"
#include "daemon/spool/draft.h"
#include "daemon/watch/candidate.h"
#include "daemon/watch/errands.h"
#include "daemon/watch/folder.h"
#include "daemon/watch/watch.h"

/* A folder hangs when one of its threads has made no progress for so long. */
#define FOLDER_HANGS_AFTER (6 * SECOND)

#define LOOKS_AT_ONCE 64 /* names that one look (an errand) takes */

enum folder_state {
    FOLDER_CREATED,
    FOLDER_WATCHING,
    FOLDER_LOST, /* a directory is gone or unusable; opening it is tried again */
    FOLDER_STOPPING,
    FOLDER_STOPPED,   /* nothing of the folder runs any more */
    FOLDER_ABANDONED, /* only what hangs is left, and is not waited for */
};

/* A trouble that lasts. */
struct folder_trouble {
    uint64_t since; /* monotonic nanoseconds; 0: nothing is wrong */
    char text[480]; /* begins with the path at fault */
};

/* What is told of a folder since the start. It outlives a reload that replaces the folder. */
struct folder_past {
    uint64_t n_done, n_failed; /* jobs that ended so */
    struct rate rate;
    struct folder_failure failure;
};

struct folder_job;
STAILQ_HEAD(folder_jobs, folder_job);

struct folder {
    const struct folder_world *world;
    struct queue *queue;   /* of the world */
    struct rulebook *book; /* counted reference */
    const struct watch_settings *settings;
    char extension[24];
    unsigned share; /* jobs that it may have in the queue */

    enum folder_state state;
    struct errands *errands; /* its threads */
    bool stalled;            /* a job has been opening for too long */
    bool hanging; /* a thread has made no progress for so long that the folder counts as hanging */
    bool destroyed;      /* after folder_destroy: freed when the last errand ends */
    struct spool *spool; /* NULL while lost */
    unsigned n_spools;   /* spools in use: `spool`, and older ones that jobs still use */
    struct watch *watch; /* NULL: polled */
    struct candidates candidates;
    uv_timer_t timer;
    /* monotonic nanoseconds; while lost, the next attempt to open the directories */
    uint64_t next_scan;
    unsigned n_tries;             /* failed attempts to open the directories */
    uint64_t next_check;          /* when the paths are checked next */
    uint64_t next_tidy;           /* when done and failed are tidied next */
    uint64_t next_prune;          /* when the ledger is pruned next */
    uint64_t put_away;            /* bytes moved to done since the last tidying */
    size_t n_done, n_failed;      /* files in done and in failed: the last count, and those since */
    unsigned generation;          /* of the ledger, as the folder last saw it */
    const char *lost_path;        /* why it is lost: the path at fault … */
    struct folder_trouble lost;   /* … and the text */
    bool unusable;                /* the path exists, and cannot be used */
    struct folder_trouble unread; /* the latest scan failed */
    struct folder_trouble no_space; /* no files are claimed */
    uint64_t well_since;            /* when the last trouble ended, monotonic nanoseconds */
    struct folder_past past;
    bool told_first;      /* the log says that a file was taken, and where originals go */
    bool scanned;         /* at least once since the start */
    bool told_scanned;    /* `scanned` was called */
    bool scanning;        /* an errand of this kind runs; one of each kind at a time */
    bool looking;         /* as above */
    bool settling;        /* as above */
    bool reopening;       /* as above */
    unsigned n_overflows; /* of inotify's queue */
    unsigned n_jobs;
    struct folder_jobs to_settle;
};

/* The step of a job for which an errand runs. */
enum folder_step {
    STEP_NONE,
    STEP_BEGUN, /* these in the order in which wanted ones are taken */
    STEP_OUTPUT,
    STEP_OPEN,
    STEPS
};

/* How a try of a job ends. docs/spool.md has the steps on disk. */
enum folder_end {
    END_NONE,
    END_DONE,      /* results go to OUT, the original to done */
    END_FAILED,    /* the original goes to failed, with the reason */
    END_RETURNED,  /* the original goes back to the folder: it is truncated, or changed while it was
                      read */
    END_CHANGED,   /* it turned out to have changed; END_RETURNED comes next */
    END_RETRIED,   /* the file stays claimed and is tried again; results so far are removed */
    END_GIVEN_BACK /* the daemon stops before the job's turn: the original goes back to the folder
                    */
};

struct folder_job {
    struct job job;
    struct folder *folder;
    struct claim *claim;
    bool last_chance; /* it was called truncated before, and has not changed since */
    size_t n_drafts;
    struct draft *drafts; /* owned */
    size_t n_planes;
    char (*planes)[32]; /* names that the worker reported; owned */
    char step[20];      /* of the worker, as its last message says: "decode", "write" … */

    struct errand errand;
    enum folder_step at; /* the step for which an errand runs */
    bool wanted[STEPS];  /* these steps are to run when the present one has ended */
    char plane[32];      /* name of the plane for which an output is wanted */
    bool unplaceable;    /* OUT can never have a file of its result's name */
    bool settling;       /* an errand ends the job */
    bool laid_down;      /* it has left the queue because the folder was abandoned */
    bool ended_on_disk;  /* STEP_OPEN found that the file's end had been decided, and carried it out
                          */
    struct fault step_fault;
    enum folder_end end; /* END_NONE until the job has ended */
    struct fault end_fault;
    STAILQ_ENTRY(folder_job) next_to_settle;
};

/* folder.c. `path` is that of the input, the output, or the hidden folder. */
void folder_lose(struct folder *folder, const char *path, const char *why);

/* Notes a trouble, or its end with `text` NULL. Returns true when that is a change. */
bool folder_note(struct folder *folder, struct folder_trouble *trouble, const char *text);
void folder_arm_timer(struct folder *folder);
void folder_tell_scanned(struct folder *folder); /* once */
void folder_check_stopped(struct folder *folder);
bool folder_is_live(const struct folder *folder); /* in FOLDER_WATCHING: new files may be taken */

/* folder_take.c. A scan that is not `whole` only checks that the paths still lead to the open
 * directories. */
void folder_scan(struct folder *folder, bool whole);
void folder_look(struct folder *folder);

/* folder_job.c: makes a job of a claim, which it takes over, with a reference to its spool. */
void folder_add_job(struct folder *folder, struct claim *claim, bool last_chance);
void folder_drop_job(struct folder_job *fj);

/* Removes the results so far. Waits for the disk. */
void folder_discard_drafts(struct folder_job *fj);

/* Has the job tried again later; in a folder that stops, its file is given back. */
void folder_retry(struct folder_job *fj);

/* Drops a job that failed because its directories are no longer the watched ones, and returns true.
 * Its file stays claimed there, and a scan takes it over once nobody holds that instance's lock. */
bool folder_leave_behind(struct folder_job *fj);

/* In an abandoned folder: takes the job out of the queue, and frees it once no thread uses it. */
void folder_lay_down(struct folder_job *fj);

/* Ends the job as `end` says, once its running step is over. */
void folder_end_job(struct folder_job *fj, enum folder_end end);

/* folder_settle.c: starts an errand that carries out the ends of all jobs in `to_settle`; while one
 * runs they wait for the next. */
void folder_settle(struct folder *folder);

static inline struct folder_job *folder_job_of(struct job *job)
{
    return (struct folder_job *)((char *)job - offsetof(struct folder_job, job));
}

#endif
