/* A client's job as the queue has it. The input is an open descriptor; the result goes to memory
 * files, or to a file of the client's. Faults that may pass by themselves are retried for a few
 * seconds only, since a client waits. */
#ifndef SLUICE_DAEMON_SERVE_CLIENT_JOB_H
#define SLUICE_DAEMON_SERVE_CLIENT_JOB_H

#include "daemon/serve/service.h"

struct client_job;

struct client_plane {
    char name[32]; /* "" for the first plane until the worker names it */
    int fd;        /* a sealed memory file; owned */
    uint64_t size; /* once the job has ended; the account counts it until the plane is gone */
};

struct client_job_how {
    const char *origin;                 /* the socket: "http", "jobs"; a constant string */
    struct job_flow *flow;              /* of the client; must outlive the job */
    struct account *account;            /* of the client's user */
    const char *request;                /* its id, for log lines; copied */
    const char *chain, *format, *input; /* copied; `input` may be NULL */
    int in_fd;                          /* taken over, also when the start fails */
    int out_fd;   /* taken over, also when the start fails; −1: the result goes to memory files */
    bool several; /* the client takes further planes */
    uint64_t bytes; /* counted against the account, and given back at the end */
    /* The job has ended; fault, planes and report (NULL: none) say how. The receiver destroys the
     * job, then or later, and changes nothing else in the queue from within. */
    void (*ended)(struct client_job *job, const struct message *report);
    void *user;
};

struct client_job {
    struct job job;
    struct service *service;
    struct client_job_how how;
    char *chain, *format, *input; /* owned */
    char request[REQUEST_ID_SIZE], label[REQUEST_ID_SIZE + 20];
    bool several_refused; /* the format takes one plane, and there were more */
    bool in_queue;
    size_t n_planes;
    struct client_plane *planes; /* memory files with the result; owned */
};

/* Starts a job. FAULT_BUSY: the queue is full; FAULT_MEMORY. Takes over the descriptors in any
 * case. */
int client_job_start(struct client_job **job, struct service *service,
                     const struct client_job_how *how, struct fault *fault);

/* The client no longer wants the job: it leaves the queue or, if a worker has it, its result is
 * dropped. `ended` is not called. Takes NULL; clears the pointer. */
void client_job_cancel(struct client_job **job);

/* Takes NULL; clears the pointer. */
void client_job_destroy(struct client_job **job);

/* True while no worker has it. */
bool client_job_waits(const struct client_job *job);

#endif
