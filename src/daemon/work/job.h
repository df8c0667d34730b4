/* A job: one picture that goes through a chain for somebody. The queue orders jobs and hands them
 * to workers. Where a job comes from and where its result goes is known to its source only: a
 * watched folder, or a client at a socket. All on the loop's thread. */
#ifndef SLUICE_DAEMON_WORK_JOB_H
#define SLUICE_DAEMON_WORK_JOB_H

#include "base/fault.h"
#include "base/log.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct job;
struct message;
struct worker;

enum job_state {
    JOB_QUEUED,   /* waits for its turn */
    JOB_OPENING,  /* its source opens input and output */
    JOB_OPEN,     /* opened, and no worker has room yet */
    JOB_SENT,     /* the worker has it */
    JOB_BEGUN,    /* the worker has begun to read the input */
    JOB_SETTLING, /* its source puts the result, or the reason of the failure, in place */
    JOB_WAITING,  /* to be tried again later */
    JOB_STATES
};

/* Beside which other jobs a job may run. */
enum job_lane {
    JOB_NORMAL,
    JOB_SUSPECT, /* in the quarantine worker, one at a time: a worker died or had to be killed while
                    it had this job */
    JOB_LAST, /* alone, when nothing else is left: the daemon went down several times while it had
                 this job */
    JOB_LANES
};

/* Jobs that take turns with others: those of one client and, above that, those of all clients of
 * one user. */
struct job_flow {
    uint64_t served;       /* number of the turn in which one of its jobs was last taken */
    struct job_flow *user; /* the flow of its user, which may be itself */
    unsigned n_opened;     /* of a user's flow: jobs from being opened to their end in a worker */
    unsigned n_sent;       /* … and those of them that a worker has */
};

/* What the queue asks of a job's source. The source answers each request once by the function of
 * queue.h that is named here, on the loop's thread, at once or later. Within these functions it
 * must not change other jobs. */
struct job_source {
    /* Opens in_fd and out_fd anew, whatever an earlier try left. Answer: queue_opened. */
    void (*open)(struct job *job);
    /* Opens one more output: of result number `of`, counted from 0, for its only file ("") or for a
     * plane. Answer: queue_give_output. */
    void (*need_output)(struct job *job, unsigned of, const char *plane);
    /* The worker has begun to read the input. No answer. NULL: nobody needs to know, and no message
     * tells. */
    void (*began)(struct job *job);
    /* The worker has finished with it. job->fault says how; `report` is the worker's message, NULL
     * when the worker died. Answer: queue_remove or queue_retry. */
    void (*done)(struct job *job, const struct message *report);
    /* The daemon stops before the job's turn. Answer: queue_remove. */
    void (*give_back)(struct job *job);
};

struct job {
    const struct job_source *source;
    const char *origin;    /* as metrics call the source: "watch", "http", "jobs" */
    const void *owner;     /* who owns it, for queue_withdraw */
    unsigned *n_owned;     /* jobs of its folder, or of its client's user, in the queue */
    struct job_flow *flow; /* of a client that waits for the answer; NULL for jobs of folders */
    /* its name in log lines; owned by the source, as are those below */
    const char *label;
    /* the folder in which the file `label` lay; NULL: the job is not about a file */
    const char *folder;
    const char *request;        /* id of a client's request; NULL: the job is of a folder */
    const char *chain, *format; /* as the worker parses them: of several results with ; between */
    const char *input;          /* how to decode (options of the input); NULL: as usual */
    const char *counted;        /* the chain's name in metrics; NULL: its text */
    const char *results; /* once it is done: the names of its results, each with its NUL, and an
                            empty one behind the last; NULL: not known */
    const bool *stalled; /* set by the owner: while true others' jobs are opened first, and this one
                            only if it is ready; NULL: never */
    bool ready;          /* its source has it open already: the first try needs no `open` */
    int in_fd, out_fd;   /* while the job is open, else −1; owned by the source */
    enum job_lane lane;
    unsigned attempts; /* how often a worker was given it */
    unsigned crashes;  /* how often a worker died at it while it had no other job */

    /* set by the queue */
    int64_t id;
    enum job_state state;
    uint64_t added;        /* when it entered the queue; monotonic nanoseconds */
    uint64_t since;        /* when it entered its state; monotonic nanoseconds */
    uint64_t sent;         /* when a worker was last given it; 0: never */
    struct worker *worker; /* the worker that has it, or had it last and lives; NULL: none */
    bool late;             /* it ran past its deadline, and its worker was killed for that */
    /* how often its worker was killed for a reason that has nothing to do with it */
    unsigned taken;
    uint64_t deadline;    /* while a worker has it; monotonic nanoseconds */
    unsigned n_outputs;   /* that the worker has asked for, besides the first */
    uint64_t not_before;  /* not to be tried earlier than this */
    unsigned retries;     /* tries again after faults that may pass by themselves */
    struct fault fault;   /* how the latest try ended */
    struct fault trouble; /* why it waits to be tried again */
    TAILQ_ENTRY(job) in_list, in_all;
};

TAILQ_HEAD(job_list, job);

/* Jobs that the main worker may have at once. A single slot means one job at a time. */
static inline unsigned job_most(unsigned slots)
{
    return slots > 1 ? slots + 1 : slots;
}

/* How long the job has taken, for people: "52.1 ms, after 3300.0 ms in the queue". Time before its
 * latest try counts as time in the queue. */
#define JOB_TIMES_MAX 80
void job_print_times(const struct job *job, char text[JOB_TIMES_MAX]);

/* Seconds from when it entered the queue until its latest try began; 0 before that. */
double job_queue_seconds(const struct job *job);

/* For log lines about the job (log_about), which begin with its name. */
static inline struct log_subject job_subject(const struct job *job)
{
    return (struct log_subject){.job = job->id,
                                .request = job->request,
                                .chain = job->chain,
                                .folder = job->folder,
                                .file = job->label};
}

#endif
