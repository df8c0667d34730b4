/* What a client of either socket asks for: one object of JSON. On the jobs socket a message is that
 * object (docs/jobs-socket.md); over HTTP it is made of the query's parameters and of the body
 * (docs/http.md). Both are hostile input: one table says which fields there are and how large they
 * may be, and unknown or repeated ones are refused. Pure. */
#ifndef SLUICE_DAEMON_SERVE_REQUEST_H
#define SLUICE_DAEMON_SERVE_REQUEST_H

#include "base/fault.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum request_kind {
    REQUEST_JOB,
    REQUEST_STATUS,
    REQUEST_WHY,     /* what became of a file of a watched folder */
    REQUEST_REQUEUE, /* to process a file, or all failed ones, again */
    REQUEST_FILES,   /* for a page of the files of watched folders */
    REQUEST_EVENTS,  /* for all that happens from now on */
};

struct request {
    enum request_kind kind;
    int64_t id;                /* of the jobs socket: the client's number for it; −1: none */
    const char *chain;         /* "": none; of several results those of all, with ; between them */
    const char *format;        /* "auto" if it is not given; likewise */
    const char *name;          /* of results; NULL: not given */
    const char *input;         /* options for reading the input; NULL: the defaults */
    const char *file;          /* NULL: not given */
    bool failed;               /* requeue: all failed files */
    const char *state, *after; /* files; NULL: any, the first page */
    int64_t limit;             /* files; 0: not given */
    json_t *json;              /* owns the texts above */
};

/* A message of the jobs socket. FAULT_DATA for anything that is no valid one; `id` is set all the
 * same if it can be read. The caller finishes the request in any case. */
int request_of_message(struct request *request, const char *bytes, size_t size,
                       struct fault *fault);

/* The parameters of an HTTP request's target; `names` are those that its path takes, separated by
 * blanks. FAULT_DATA: the query is wrong; FAULT_CHAIN, FAULT_USAGE: a value is. The caller finishes
 * the request in any case. */
int request_of_query(struct request *request, const char *target, const char *names,
                     struct fault *fault);

/* Adds the fields of an HTTP request's body, unless the query had them. FAULT_DATA, FAULT_USAGE. */
int request_add_body(struct request *request, const char *bytes, size_t size, const char *names,
                     struct fault *fault);

/* The path in front of the parameters, decoded, which the caller frees. NULL: it has a damaged
 * escape or a NUL, or there is no memory. */
char *request_path(const char *target);

/* Whether a name is in a list: "a b", or "A, B". */
bool request_names(const char *names, const char *name);

void request_finish(struct request *request);

#endif
