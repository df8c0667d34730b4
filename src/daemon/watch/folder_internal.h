/* Shared by the files of a watched folder, folder.c and folder_*.c, alone. */
#ifndef SLUICE_DAEMON_WATCH_FOLDER_INTERNAL_H
#define SLUICE_DAEMON_WATCH_FOLDER_INTERNAL_H

#include "base/clock.h"
#include "daemon/spool/claim.h"
#include "daemon/spool/draft.h"
#include "daemon/watch/candidate.h"
#include "daemon/watch/errands.h"
#include "daemon/watch/folder.h"
#include "daemon/watch/watch.h"

#define LOOKS_AT_ONCE 64 /* names that one errand looks at */

enum folder_state {
    FOLDER_CREATED,
    FOLDER_WATCHING,
    FOLDER_LOST, /* a directory is gone, or cannot be used; it is tried again */
    FOLDER_STOPPING,
    FOLDER_STOPPED,   /* nothing of it is under way … */
    FOLDER_ABANDONED, /* … but what hangs, and is left to itself */
};

/* Something that is wrong with a folder for the time being. */
struct folder_trouble {
    uint64_t since; /* monotonic nanoseconds; 0: nothing is wrong */
    char text[480]; /* begins with the path of the directory at fault */
};

struct folder_job;
STAILQ_HEAD(folder_jobs, folder_job);

struct folder {
    const struct folder_world *world;
    uv_loop_t *loop; /* the world's, like the next */
    struct queue *queue;
    struct rulebook *book; /* used */
    const struct watch_settings *settings;
    char extension[24];
    unsigned share; /* jobs that it may have */

    enum folder_state state;
    struct errands *errands; /* whatever waits for its disks */
    bool stalled;            /* a job is not opened in time */
    bool hanging;            /* one of the threads has not come back for a while, which is told */
    bool destroyed;          /* nobody but what is under way knows it */
    struct spool *spool;     /* NULL while lost */
    unsigned n_spools;       /* that one, and older ones that somebody still uses */
    struct watch *watch;     /* NULL: polled */
    struct candidates candidates;
    uv_timer_t timer;
    uint64_t next_scan;         /* monotonic nanoseconds; while lost: the next try to open it */
    unsigned n_tries;           /* to open it, in vain */
    uint64_t next_check;        /* whether the paths still lead here */
    uint64_t next_tidy;         /* of done and failed */
    uint64_t next_prune;        /* of the ledger */
    uint64_t put_away;          /* bytes, since the last time */
    size_t n_done, n_failed;    /* files in done and in failed, as counted last, and those since */
    unsigned generation;        /* of the ledger */
    const char *lost_path;      /* … */
    struct folder_trouble lost; /* … */
    bool unusable;              /* it is there, but not as it must be */
    struct folder_trouble unread;          /* the latest scan failed */
    struct folder_trouble no_space;        /* nothing is claimed */
    uint64_t well_since;                   /* the last of these ended, monotonic nanoseconds */
    uint64_t n_ended_done, n_ended_failed; /* jobs, since the start */
    struct folder_failure failure;
    bool told_first;      /* that a file was taken, and where originals go */
    bool scanned;         /* once, since the start */
    bool told_scanned;    /* or that it cannot be for now */
    bool scanning;        /* an errand, as the next three; one of each at a time */
    bool looking;         /* … */
    bool settling;        /* … */
    bool reopening;       /* … */
    unsigned n_overflows; /* of inotify's queue */
    unsigned n_jobs;
    struct folder_jobs to_settle;
};

/* What errands do for a job, one thing at a time. */
enum folder_step {
    STEP_NONE,
    STEP_OPEN,
    STEP_OUTPUT,
    STEP_BEGUN,
};

/* How a job ends, or goes on. */
enum folder_end {
    END_NONE,
    END_DONE,      /* results to OUT, the original to done */
    END_FAILED,    /* the original to failed, with its reason */
    END_RETURNED,  /* back where it came from: truncated, or it changed */
    END_CHANGED,   /* found out while settling: to be returned */
    END_RETRIED,   /* stays ours; the results so far are void */
    END_GIVEN_BACK /* the daemon ends */
};

struct folder_job {
    struct job job;
    struct folder *folder;
    struct claim *claim;
    bool last_chance; /* called truncated before, and not changed since */
    size_t n_drafts;
    struct draft *drafts; /* owned */
    size_t n_planes;
    char (*planes)[32]; /* as the worker told; owned */
    char step[20];      /* what the worker was at */

    struct errand errand;
    enum folder_step at; /* the errand's, now */
    bool begun_wanted;   /* a step that has to wait for it */
    bool output_wanted;  /* … */
    bool open_wanted;    /* … */
    char plane[32];      /* of the output that is wanted */
    bool settling;       /* an errand ends it */
    bool laid_down;      /* no job of the queue any more */
    bool ended_on_disk;  /* STEP_OPEN found a verdict and carried it out */
    struct fault step_fault;
    enum folder_end end; /* wanted, then in the works */
    struct fault end_fault;
    STAILQ_ENTRY(folder_job) next_to_settle;
};

/* folder.c. `path` is the input's or the output's, as in the settings, or that of our own. */
void folder_lose(struct folder *folder, const char *path, const char *why);

/* What is wrong with it: the code that is told, and the text; NULL: nothing. */
const char *folder_trouble(const struct folder *folder, const char **text);

/* True when that is news. `text` NULL: it is over. */
bool folder_note(struct folder *folder, struct folder_trouble *trouble, const char *text);
void folder_arm_timer(struct folder *folder);
void folder_tell_scanned(struct folder *folder); /* once */
void folder_check_stopped(struct folder *folder);
bool folder_is_live(const struct folder *folder); /* watching: new files may be taken */

/* folder_take.c. A scan that is not `whole` only checks that the paths lead to the same places. */
void folder_scan(struct folder *folder, bool whole);
void folder_look(struct folder *folder);

/* folder_job.c: takes over a claim (whose spool is counted here). */
void folder_add_job(struct folder *folder, struct claim *claim, bool last_chance);
void folder_drop_job(struct folder_job *fj);

/* On a thread: the results so far are void. */
void folder_discard_drafts(struct folder_job *fj);

/* Later once more; of a folder that is stopping it is given back. */
void folder_retry(struct folder_job *fj);

/* True, and the job is gone, when it failed because its directories are not the ones that are
 * watched now. What is claimed stays there; once nobody holds its lock, a scan finds it. */
bool folder_leave_behind(struct folder_job *fj);

/* Of a folder that is abandoned: the job leaves the queue, if it is there, and is no more when no
 * thread has it. */
void folder_lay_down(struct folder_job *fj);

/* folder_settle.c: `end` is set; waits for the steps that are under way. */
void folder_end_job(struct folder_job *fj, enum folder_end end);
void folder_settle(struct folder *folder);

static inline struct folder_job *folder_job_of(struct job *job)
{
    return (struct folder_job *)((char *)job - offsetof(struct folder_job, job));
}

#endif
