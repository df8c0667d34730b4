/* Parses messages of the jobs socket's clients: one JSON object each (docs/jobs-socket.md). They
 * are hostile input; unknown and repeated fields are refused. Pure. */
#ifndef SLUICE_DAEMON_SERVE_ASK_H
#define SLUICE_DAEMON_SERVE_ASK_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ask_kind {
    ASK_JOB,
    ASK_STATUS,
    ASK_WHY,     /* asks what became of a file of a watched folder */
    ASK_REQUEUE, /* asks to process a file, or all failed ones, again */
    ASK_FILES,   /* asks for a page of the files of watched folders */
};

struct ask {
    enum ask_kind kind;
    int64_t id;                /* the client's number for it; −1: it could not be read */
    const char *chain;         /* "": none */
    const char *format;        /* "auto" if it is not given */
    const char *input;         /* options for reading the input; NULL: the defaults */
    const char *file;          /* for ASK_WHY and ASK_REQUEUE; NULL: not given */
    bool failed;               /* for ASK_REQUEUE: all failed files */
    const char *state, *after; /* for ASK_FILES; NULL: any, the first page */
    int64_t limit;             /* for ASK_FILES; 0: not given */
    void *json;                /* owns the texts above */
};

/* FAULT_DATA for anything that is no valid message; `id` is set all the same if it can be read. The
 * caller finishes the ask in any case. */
int ask_decode(struct ask *ask, const char *bytes, size_t size, struct fault *fault);

void ask_finish(struct ask *ask);

#endif
