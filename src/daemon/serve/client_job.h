/* A job of a client at a socket, as the queue has it: its input is a descriptor that is there
 * already, its result goes to memory files, or to a file of the client's. Trouble that may pass by
 * itself is waited out for a few seconds, not for ever: somebody waits. */
#ifndef SLUICE_DAEMON_SERVE_CLIENT_JOB_H
#define SLUICE_DAEMON_SERVE_CLIENT_JOB_H

#include "daemon/serve/service.h"

struct client_job;

struct client_plane {
    char name[32]; /* "": of the first one nobody has said it yet */
    int fd;        /* a sealed-off memory file; owned */
    uint64_t size; /* once the job has ended, and held for the account as long as it is there */
};

struct client_job_how {
    const struct job_source *source;    /* client_job_http or client_job_jobs */
    struct job_flow *flow;              /* of the client; outlives the job */
    struct account *account;            /* of its user */
    const char *chain, *format, *input; /* copied; `input` may be NULL */
    int in_fd;                          /* taken over, whatever comes of it */
    int out_fd;                         /* taken over; −1: memory files */
    bool several;                       /* further planes are welcome */
    uint64_t bytes;                     /* taken from the service, to be given back at the end */
    /* It has ended; the fault, the planes and the report (NULL: none) tell how. The callee destroys
     * it, then or later. Nothing else may be done to the queue from within. */
    void (*ended)(struct client_job *job, const struct message *report);
    void *user;
};

struct client_job {
    struct job job;
    struct service *service;
    struct client_job_how how;
    char *chain, *format, *input; /* owned */
    char label[48];
    bool several_refused; /* the format takes one plane, and there were more */
    bool in_queue;
    size_t n_planes;
    struct client_plane *planes; /* owned: memory files that hold the result */
};

/* Starts one. FAULT_BUSY: the queue is full; FAULT_MEMORY. The descriptors are taken over in any
 * case. */
int client_job_start(struct client_job **job, struct service *service,
                     const struct client_job_how *how, struct fault *fault);

/* Nobody wants it any more: it is taken out of the queue, or its result is dropped when the worker
 * is done with it. `ended` is not called. Takes NULL; clears the pointer. */
void client_job_cancel(struct client_job **job);

/* Takes NULL; clears the pointer. */
void client_job_destroy(struct client_job **job);

/* True while no worker has been given it. */
bool client_job_waits(const struct client_job *job);

extern const struct job_source client_job_http, client_job_jobs;

/* A memory file for bytes of a client's; −1 without one. */
int client_job_memory(const char *name);

/* Nobody may change it any more. */
void client_job_seal(int fd);

/* Gives one over to the caller, who releases its bytes when they are read. */
int client_job_take_plane(struct client_job *job, size_t index, uint64_t *held);

#endif
