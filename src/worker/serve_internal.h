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
    struct fault refused; /* why there is no engine after a setup: each check is told */
    struct config config; /* what chains refer to */
    char device[300];     /* what the engine's options point to, like the next */
    char fallback[20];
    pthread_mutex_t lock; /* of the list and of what the main thread tells a job */
    struct served *jobs;
    unsigned n_jobs;
};

/* ---- serve.c ---- */

/* Any thread. A message that cannot be sent is logged, unless the front is gone. */
void serve_send(struct server *server, const struct message *message);

/* The device's counters, into a `checked` or `done`. */
void serve_count_programs(struct server *server, struct message *message);

/* Chain, format and reading options of a job or check; `subject` names the one that is wrong, and
 * `faults` has all that is wrong with the chain. frame_format is that of several planes; its codec
 * is NULL where `format` is for any number. */
int serve_parse(const struct server *server, const struct message *message, struct chain *chain,
                struct format *format, struct format *frame_format, struct decode_options *decode,
                const char **subject, struct faults *faults, struct fault *fault);

/* ---- served.c, on the main thread ---- */

/* Hands a job to the engine; it is answered by `done` in any case. */
void served_take_job(struct server *server, struct message *message);

/* The further output that a job waits for, or why there is none. */
void served_take_output(struct server *server, struct message *message);

/* Jobs that are not answered yet. */
unsigned served_count(struct server *server);

#endif
