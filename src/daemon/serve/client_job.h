/* A job of a client, from its input to its answer, for both sockets; client_job.c tells its life.
 * Faults that may pass by themselves are retried for a few seconds only, since a client waits. All
 * on the loop's thread. */
#ifndef SLUICE_DAEMON_SERVE_CLIENT_JOB_H
#define SLUICE_DAEMON_SERVE_CLIENT_JOB_H

#include "daemon/serve/request.h"
#include "daemon/serve/service.h"
#include "worker/message.h"

struct reception;

/* A file of a result. */
struct client_plane {
    unsigned of;   /* the result, counted from 0 */
    char name[32]; /* of the plane; "" for a result that is one file, and for the first file until
                      the worker names it */
    int fd;        /* a sealed memory file; owned */
    uint64_t size; /* once the job has ended; the account counts it until the plane is gone */
};

struct client_job {
    struct job job;
    struct service *service;

    /* The caller of client_job_start sets these; all that is owned is taken over, also when the
     * start fails. */
    struct client_job_how {
        const char *origin;      /* the socket: "http", "jobs"; a constant string */
        const char *id;          /* for log lines; copied */
        struct account *account; /* of the client's user; borrowed */
        struct job_flow *flow;   /* of the client; must outlive the job, or its cancelling */
        struct request *request; /* what is asked for; becomes empty */
        int in_fd;               /* the input; −1 while a receiver copies it */
        int out_fd;              /* −1: the result goes to memory files */
        uint64_t bytes;          /* counted against the account, and given back at the end */
        bool several;            /* the client takes further planes of a result */
        bool configured;         /* the client names chains of the configuration, and writes none */
        /* A receiver has the input, and is to copy it first; NULL: none. */
        struct reception *reception;
        /* The job has ended; fault, planes and report (NULL: none) say how. The receiver destroys
         * the job, then or later, and changes nothing else in the queue from within. */
        void (*ended)(struct client_job *job, const struct message *report);
        void *client;
    } how;

    struct request request;
    char *chain;         /* those of all results; owned */
    struct text counted; /* how metrics call them */
    size_t n_results;
    char names[MESSAGE_RESULTS_MAX][32]; /* of the results: as the client says, else those of their
                                            configured chains, else numbers */
    char id[REQUEST_ID_SIZE], label[REQUEST_ID_SIZE + 20];
    uint64_t copied;      /* bytes of the input that a receiver copied */
    bool lost;            /* the receiver that copied does not answer */
    bool in_queue;
    size_t n_planes;
    struct client_plane *planes;    /* memory files with the result; owned */
    LIST_ENTRY(client_job) in_list; /* the client's */
};

/* Starts a job. FAULT_BUSY: the queue is full; FAULT_PERMISSION: its chain is not configured, and
 * has to be; FAULT_CHAIN, FAULT_USAGE; FAULT_MEMORY. */
int client_job_start(struct client_job **job, struct service *service,
                     const struct client_job_how *how, struct fault *fault);

/* The client no longer wants the job: it leaves the queue or, if a worker or a receiver has it,
 * what comes of it is dropped. `ended` is not called. Takes NULL; clears the pointer. */
void client_job_cancel(struct client_job **job);

/* Takes NULL; clears the pointer. */
void client_job_destroy(struct client_job **job);

/* The report's mistakes in the chain, at their places in the client's text; likewise the place of
 * the job's fault. */
struct faults client_job_faults(struct client_job *job, const struct message *report);

/* True while no worker has it. */
bool client_job_waits(const struct client_job *job);

#endif
