/* What clients of the jobs socket say: one JSON object a message (docs/jobs-socket.md). Hostile
 * input; unknown and repeated fields are refused. Pure. */
#ifndef SLUICE_DAEMON_SERVE_ASK_H
#define SLUICE_DAEMON_SERVE_ASK_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ask_kind {
    ASK_JOB,
    ASK_STATUS,
    ASK_WHY,     /* what became of a file */
    ASK_REQUEUE, /* it, or all that failed, is to be done again */
};

struct ask {
    enum ask_kind kind;
    int64_t id;         /* the client's own; −1: it could not be read */
    const char *chain;  /* "": none */
    const char *format; /* "auto" unless said */
    const char *input;  /* NULL: as usual */
    const char *file;   /* of why and requeue; NULL: none */
    bool failed;        /* of requeue: all that failed */
    void *json;         /* what the texts belong to */
};

/* FAULT_DATA: it is none, and `id` is told if there is one. The ask is to be finished in any case.
 */
int ask_decode(struct ask *ask, const char *bytes, size_t size, struct fault *fault);

void ask_finish(struct ask *ask);

#endif
