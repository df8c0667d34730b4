/* Shared by serve.c (set-up, checks, which message goes where) and served.c (jobs) alone. */
#ifndef SLUICE_WORKER_SERVE_INTERNAL_H
#define SLUICE_WORKER_SERVE_INTERNAL_H

#include <pthread.h>

#include "config/config.h"
#include "engine/engine.h"
#include "worker/message.h"
#include "worker/sandbox.h"

struct served;

struct server {
    int socket;
    struct engine *engine; /* NULL until setup */
    struct sandbox sandbox;
    bool loads;           /* OpenCL and drivers may be loaded */
    struct fault refused; /* why the setup made no engine; each check is answered with it */
    struct config config; /* for @names in chains */
    char device[300];     /* strings that the engine's options point to */
    char fallback[20];
    pthread_mutex_t lock; /* protects the list, and what the main thread passes to a job */
    struct served *jobs;
    unsigned n_jobs;
};

/* ---- serve.c ---- */

/* Any thread. A message that cannot be sent is logged, unless the front is gone. */
void serve_send(struct server *server, const struct message *message);

/* Adds the device's counters to a `checked` or `done`. */
void serve_count_programs(struct server *server, struct message *message);

/* Parses chain, format and decoding options of a job or check. On a fault `subject` names the wrong
 * one, and `faults` has all mistakes in the chain. frame_format is the format for several planes;
 * its codec is NULL where `format` takes any number. */
int serve_parse(const struct server *server, const struct message *message, struct chain *chain,
                struct format *format, struct format *frame_format, struct decode_options *decode,
                const char **subject, struct faults *faults, struct fault *fault);

/* ---- served.c, on the main thread ---- */

/* Hands a job to the engine. A `done` answers it in any case. */
void served_take_job(struct server *server, struct message *message);

/* Passes on the further output that a job waits for, or why there is none. */
void served_take_output(struct server *server, struct message *message);

/* How many jobs are not answered yet. */
unsigned served_count(struct server *server);

#endif
