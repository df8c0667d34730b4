/* A watched folder from within: the loop's side (struct folder; folder.c), its thread (struct
 * folder_thread; folder_thread.c, folder_scan.c), what both tell of it (folder_ask.c), and what
 * they hand each other. Shared by these files alone.
 *
 * A file's way crosses between the two four times: the thread gives the loop an open job; the loop
 * says that a worker has begun it, and how the try has ended; the thread says what became of it. */
#ifndef SLUICE_DAEMON_WATCH_FOLDER_INTERNAL_H
#define SLUICE_DAEMON_WATCH_FOLDER_INTERNAL_H

#include "base/clock.h"
#include "daemon/spool/claim.h"
#include "daemon/watch/candidate.h"
#include "daemon/watch/folder.h"
#include "daemon/watch/question.h"
#include "daemon/work/hook.h"
#include <pthread.h>

/* A folder hangs when one of its threads has made no progress for so long. */
#define FOLDER_HANGS_AFTER (6 * SECOND)

/* Questions of one folder that wait for its disk at once; more of them wait for these. */
#define FOLDER_READERS 3

/* ---- jobs, and what is said of them ---- */

/* How a try of a job ends. docs/spool.md has the steps on disk. */
enum folder_end {
    END_NONE,
    END_DONE,     /* results go to OUT, the original to done */
    END_FAILED,   /* the original goes to failed, with the reason */
    END_RETURNED, /* the original goes back to the folder: it is truncated, or changed while it was
                     read */
    END_RETRIED,  /* the file stays claimed and is tried again; results so far are removed */
    END_GIVEN_BACK, /* the daemon stops before the job's turn: the original goes back to the folder
                     */
    /* chosen by the thread alone */
    END_BEFORE, /* its verdict was there before, and is carried out now */
    END_GONE,   /* the claimed file is gone */
    END_LEFT,   /* it is claimed in a directory that is no longer the watched one; a scan takes
                   it over once nobody holds that instance's lock */
};

/* A letter about a job. One of each kind is on its way at a time; loop and thread get theirs in the
 * order in which they were sent. */
enum letter_kind {
    LETTER_OPEN,   /* open it anew; comes back with the fault. The first one comes unasked, about a
                      file that was claimed */
    LETTER_BEGAN,  /* a worker has begun to read it; does not come back */
    LETTER_OUTPUT, /* open an output for a further plane; comes back with it, or with the fault */
    LETTER_END,    /* carry out this end; comes back with what became of it */
    LETTERS
};

struct folder_job;

struct letter {
    enum letter_kind kind;
    struct folder_job *fj;
    struct fault fault;
    STAILQ_ENTRY(letter) next;
};

STAILQ_HEAD(letters, letter);
STAILQ_HEAD(folder_jobs, folder_job);

/* The thread makes and frees it, unless the loop frees it at the end (folder_job_free). Between the
 * letters each member belongs to one of them. */
struct folder_job {
    struct job job; /* first; the loop's while it is in the queue; the thread reads what stays the same
                       until its letter comes back */
    struct folder *folder; /* the loop's */
    unsigned n_alone;      /* how often the daemon went down at it while it was the only job */
    struct letter letters[LETTERS];
    /* with LETTER_OPEN and LETTER_OUTPUT, from the thread */
    int in_fd, out_fds[WATCH_RESULTS_MAX]; /* the first file of each result; −1: not open */
    int plane_fd; /* an output for a further plane; −1: there is none */
    /* with LETTER_BEGAN and LETTER_OUTPUT, from the loop */
    bool alone;     /* it is the only job */
    unsigned of;    /* for which an output is wanted: the result, … */
    char plane[32]; /* … and its plane; "": its only file */
    /* the loop's, from LETTER_OPEN on: results of which the worker has the first file */
    unsigned n_given;
    /* with LETTER_END, from the loop and back */
    enum folder_end end;
    size_t n_files;
    struct folder_written { /* what the worker reported of each file */
        unsigned of;
        char plane[32];
    } * files;          /* owned */
    char *report;       /* what lies beside the results; NULL: none is wanted; owned */
    char step[20];      /* of the worker, as its last message says: "decode", "write" … */
    char *results;      /* of a file that is done, as job->results names them; owned */

    /* the thread's */
    char *name; /* of the file; owned */
    struct claim *claim;
    bool last_chance;       /* it was called truncated before, and has not changed since */
    bool unplaceable;       /* OUT can never have a file of its result's name; with LETTER_OPEN */
    struct fault end_fault; /* of a step of its end */
    STAILQ_ENTRY(folder_job) next; /* among those that end together */
};

/* ---- what the thread shows ---- */

/* A trouble that lasts. */
struct folder_trouble {
    uint64_t since; /* monotonic nanoseconds; 0: nothing is wrong */
    char text[480]; /* begins with the path at fault */
};

struct folder_figures {
    size_t names[CANDIDATE_STATES]; /* candidates in each state */
    size_t n_done, n_failed;      /* files in done and in failed: the last count, and those since */
    const char *mode;             /* "inotify", "poll", "gone" */
    unsigned n_overflows;         /* of inotify's queue */
    bool scanned;                 /* the first scan is over, or is impossible for now */
    bool quiet;                   /* no file in sight may be taken soon */
    unsigned n_backs;             /* how often directories or space were back */
    bool unusable;                /* the path exists, and cannot be used */
    struct folder_trouble lost;   /* a directory is gone or unusable */
    struct folder_trouble unread; /* the latest scan failed */
    struct folder_trouble no_space; /* no files are claimed */
    uint64_t well_since;            /* when the last trouble ended, monotonic nanoseconds */
    uint64_t next_try, next_check;  /* to open the directories, or scan; to check the paths */
    char *leads_in, *leads_out;     /* where the paths lead; NULL: they are gone; owned */
};

/* ---- the thread, and the desk between it and the loop ---- */

struct folder_scan;

STAILQ_HEAD(probes, probe);

/* A file that an earlier run had decided on, and of whose end nobody has been told. */
struct folder_ended {
    bool done;
    char *name, *results, *reason; /* as hooks_tell has them; owned */
    STAILQ_ENTRY(folder_ended) next;
};

STAILQ_HEAD(folder_ends, folder_ended);

static inline void folder_ended_free(struct folder_ended *ended)
{
    free(ended->name);
    free(ended->results);
    free(ended->reason);
    free(ended);
}

/* What the loop wants of the thread. */
#define FOLDER_BEGIN  1u /* take files */
#define FOLDER_STOP   2u /* take no more of them, and end when the last one has */
#define FOLDER_FORGET 4u /* the loop expects nothing any more */

struct folder_thread {
    /* for both, and for readers, with the lock held */
    pthread_mutex_t lock;
    pthread_t id;
    bool waits;         /* somebody has to wake it */
    bool wants_room;    /* a complete file waits for room */
    unsigned room;      /* jobs that it may have */
    unsigned ahead;     /* … and of these, that it may open before their turn */
    unsigned flags;     /* what the loop wants (FOLDER_BEGIN …) */
    unsigned n_changes; /* of flags and room */
    bool ended;         /* all that it had is given back */
    struct letters in, out;
    struct probes asked, read, answered; /* questions: to the thread, from readers, to the loop */
    struct folder_ends ended_before;     /* to the loop */
    struct folder_scan *scan_end;        /* a scan that has ended, with its findings */
    LIST_HEAD(, folder_reader) readers;
    struct folder_figures figures;
    uv_async_t *async;      /* the loop's; NULL: it is gone */
    unsigned users;         /* loop and thread; the last one frees the memory */
    _Atomic uint64_t moved; /* since when the thread makes no progress; 0: it waits for news */

    /* constant from the start on */
    const struct watch_settings *settings; /* the loop keeps them if the thread never ends */
    const struct spool_world *spools;
    char extensions[WATCH_RESULTS_MAX * 24]; /* of all results, with ; between them */
    bool make_folders;
    struct folder *folder; /* to be told to jobs */

    /* its own */
    struct spool *spool; /* NULL while a directory is gone or unusable */
    int watch_fd;        /* inotify; −1: the folder is polled */
    uint64_t read_after; /* events are read together, then */
    struct candidates candidates;
    unsigned seen, seen_changes; /* `flags` and `n_changes`, … */
    unsigned most, most_open;    /* … `room` and `ahead`, at the beginning of the round */
    bool stopping;
    unsigned n_jobs;  /* claims that have not ended */
    unsigned n_open;  /* … of these are open */
    unsigned n_tries; /* failed attempts to open the directories */
    unsigned n_reading;
    const char *lost_path;   /* why it is lost: the path at fault */
    const char *lost_why;    /* inotify says so; NULL: it does not */
    struct folder_jobs ends; /* how jobs ended, and it is not carried out yet */
    unsigned n_postponed;
    struct probes waiting; /* questions */
    bool scanning;
    uint64_t scan_time;        /* that the latest scan took; 0: there was none */
    bool whole_scanned;        /* since the start */
    bool told_first;           /* the log says that a file was taken, and where originals go */
    uint64_t next_tidy;        /* when done and failed are tidied next */
    uint64_t next_prune;       /* when the ledger is pruned next */
    uint64_t put_away;         /* bytes moved to done since the last tidying */
    unsigned generation;       /* of the ledger, as the folder last saw it */
    struct folder_figures now; /* what is shown at the end of a round */
};

/* What is told of a folder since the start. It outlives a reload that replaces the folder. */
struct folder_past {
    uint64_t n_done, n_failed; /* jobs that ended so */
    struct rate rate;
    struct folder_failure failure;
};

enum folder_state {
    FOLDER_CREATED,
    FOLDER_RUNNING,
    FOLDER_STOPPING,
    FOLDER_STOPPED,   /* nothing of the folder runs any more */
    FOLDER_ABANDONED, /* its threads are not waited for */
};

struct folder {
    const struct folder_world *world;
    struct queue *queue;   /* of the world */
    struct rulebook *book; /* counted reference */
    const struct watch_settings *settings;
    enum folder_state state;
    unsigned share, ahead; /* jobs that it may have in the queue; and open before their turn */
    unsigned told_room;    /* what the thread was told last */
    unsigned n_jobs;       /* in the queue */
    struct folder_thread *thread;
    uv_async_t mail;
    struct letters letters; /* to the thread, written in this turn of the loop … */
    uv_prepare_t sending;   /* … and sent at its end */
    uv_timer_t timer;
    uint64_t due; /* of the timer */
    unsigned n_handles;
    bool scanned;     /* as the thread's */
    unsigned n_backs; /* as the thread's */
    bool stalled;     /* the thread has made no progress for a while: others' jobs go first */
    bool hanging;     /* … for so long that the folder counts as hanging */
    uint64_t back;    /* when it last answered again; 0: it never hung */
    bool destroyed;
    struct folder_past past;
    struct hooks *hooks; /* NULL: there are none */
};

/* ---- folder_thread.c ---- */

int folder_thread_create(struct folder_thread **thread, struct folder *folder, struct fault *fault);

/* Called with the lock held. */
void folder_thread_wake(struct folder_thread *thread);

/* For loop and thread, which no longer use it. Unlocks it. */
void folder_thread_leave(struct folder_thread *thread);

/* For the loop: since when the slowest of the folder's threads has made no progress; 0: none does
 * anything. */
uint64_t folder_thread_moved(struct folder_thread *thread);

/* Has the loop tell the folder's hooks of a file with a verdict of before, which is carried out. */
void folder_thread_tell(struct folder_thread *thread, const struct claim *claim);

/* It makes progress. */
static inline void folder_thread_moves(struct folder_thread *thread)
{
    thread->moved = clock_now();
}

/* New files may be taken. */
static inline bool folder_thread_is_live(const struct folder_thread *thread)
{
    return thread->spool && !thread->stopping;
}

/* Makes a job of a claim, which it takes over. */
void folder_thread_add(struct folder_thread *thread, struct claim *claim, bool last_chance);

void folder_job_free(struct folder_job *fj);

/* Starts a thread that runs `run` with the reader, whose spool is in use; without one, or with
 * `here`, runs it on this thread. At its end `run` leaves the list of readers. */
void folder_reader_begin(struct folder_thread *thread, struct folder_reader *reader,
                         void *(*run)(void *reader), bool here);

/* ---- folder_scan.c ---- */

/* Opens the directories, and begins to watch; or notes why that is impossible for now. */
void folder_open_directories(struct folder_thread *thread);

/* The path of the input, the output, or the hidden folder leads elsewhere by now: all directories
 * are given up, and opened anew later. Jobs of the old ones keep them open until they have ended.
 */
void folder_lose_directories(struct folder_thread *thread, const char *path, const char *why);

/* Shows the loop where the paths lead; NULL: they are gone. */
void folder_show_leads(struct folder_thread *thread, const struct spool *spool);

/* Lets go of the directories of a claim, a scan or a question. */
void folder_leave_spool(struct folder_thread *thread, struct spool *spool);

/* Checks the paths, and begins a scan, if they are due. */
void folder_scan_if_due(struct folder_thread *thread, uint64_t now);

/* Takes the findings of a scan that has ended, and frees it. */
void folder_scan_take(struct folder_thread *thread, struct folder_scan *scan);

void folder_note_space(struct folder_thread *thread, const char *short_of_space);
void folder_note_unread(struct folder_thread *thread, const struct fault *fault);

/* ---- folder_ask.c, on the thread ---- */

/* Begins to read for questions that wait, as many at a time as may be slow. */
void folder_begin_reading(struct folder_thread *thread);

/* Answers what was read for. */
void folder_take_read(struct folder_thread *thread, struct probes *read);

#endif
