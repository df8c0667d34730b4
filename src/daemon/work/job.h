/* A job: a picture that somebody wants through a chain. The queue orders jobs and hands them to the
 * worker; where one comes from and where its result goes is its source's business: a watched
 * folder, or a client at a socket. All on the loop's thread. */
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
    JOB_OPEN,     /* waits for the worker to have room */
    JOB_SENT,     /* the worker has it */
    JOB_BEGUN,    /* and looks at the input's bytes */
    JOB_SETTLING, /* its source puts the result, or the reason, in its place */
    JOB_WAITING,  /* to be tried again after a while */
    JOB_STATES
};

/* In which company a job may run. */
enum job_lane {
    JOB_NORMAL,
    JOB_SUSPECT, /* in quarantine, beside all others: a worker died of it, or of another one that it
                    had at the time, or had to be killed because it did not end */
    JOB_LAST,    /* alone, and when nothing else is left: it was there when we went down, often */
    JOB_LANES
};

/* Jobs that take turns with others: those of one client, and of all clients of one user. */
struct job_flow {
    uint64_t served;       /* the turn in which one was taken last; turns.c's */
    struct job_flow *user; /* of a client: its user's; NULL: none */
};

/* What a source does for its jobs when the queue asks. Each is answered by the function of queue.h
 * that is named, once, on the loop's thread: later, or at once; but nothing may happen to other
 * jobs from within. */
struct job_source {
    const char *name; /* in metrics */
    /* Opens in_fd and out_fd anew, whatever an earlier try left; → queue_opened. */
    void (*open)(struct job *job);
    /* Opens one more output, for a further plane; → queue_give_output. */
    void (*need_output)(struct job *job, const char *plane);
    /* The worker looks at the bytes. No answer. NULL: nobody needs to know, and no message tells.
     */
    void (*began)(struct job *job);
    /* The worker is done with it: job->fault says how; `report` is its message, NULL when it died.
     * → queue_remove, queue_try_again or queue_retry. */
    void (*done)(struct job *job, const struct message *report);
    /* The daemon ends before the job's turn; → queue_remove. */
    void (*give_back)(struct job *job);
};

struct job {
    const struct job_source *source;
    const void *owner;          /* whose: for queue_withdraw */
    struct job_flow *flow;      /* of a client that waits; NULL: the backlog of a folder */
    const char *label;          /* in log lines; the source's, like those below */
    const char *folder;         /* where the file `label` came from; NULL: it is no file */
    const char *chain, *format; /* as the worker parses them */
    const char *input;          /* how to read; NULL: as usual */
    const char *counted;        /* what metrics call the chain; NULL: by its text */
    const bool *stalled;        /* its owner's: while true it is not opened; NULL: never true */
    int in_fd, out_fd;          /* while open; the source's */
    enum job_lane lane;
    unsigned attempts; /* times that a worker was given it */
    unsigned crashes;  /* times that a worker died of it, while it had nothing else */

    /* the queue's own */
    int64_t id;
    enum job_state state;
    uint64_t added;        /* when it entered the queue; monotonic nanoseconds */
    uint64_t since;        /* when it entered its state; monotonic nanoseconds */
    uint64_t sent;         /* when a worker was given it last; 0: never */
    struct worker *worker; /* that has it */
    bool late;             /* it ran past its deadline, and its worker was killed for that */
    unsigned taken;        /* times that its worker was killed for no reason of its own */
    uint64_t deadline;     /* while a worker has it; monotonic nanoseconds */
    unsigned n_outputs;    /* that the worker has asked for, besides the first */
    uint64_t not_before;   /* while it waits, or goes last */
    unsigned retries;      /* after faults that may pass by themselves */
    struct fault fault;    /* how the latest try ended */
    struct fault trouble;  /* while it waits to be tried again: why */
    TAILQ_ENTRY(job) in_list;
};

TAILQ_HEAD(job_list, job);

/* A disk that only its owner needs does not answer: it keeps nobody else waiting. */
static inline bool job_is_stalled(const struct job *job)
{
    return job->stalled && *job->stalled;
}

/* How long it has been under way, for people: "52.1 ms, after 3300.0 ms in the queue". What came
 * before its latest try counts as the queue's. */
#define JOB_TIMES_MAX 80
void job_print_times(const struct job *job, char text[JOB_TIMES_MAX]);

/* Seconds from when it entered the queue until its latest try began; 0 before that. */
double job_queue_seconds(const struct job *job);

/* What log lines about the job carry as fields. */
static inline struct log_subject job_subject(const struct job *job)
{
    return (struct log_subject){.job = job->id,
                                .chain = job->chain,
                                .folder = job->folder,
                                .file = job->folder ? job->label : NULL};
}

/* A line about a job. */
#define job_log(job, level, ...)                                                                   \
    do {                                                                                           \
        struct log_subject subject_ = job_subject(job);                                            \
        log_about(&subject_, level, __VA_ARGS__);                                                  \
    } while (0)

#endif
