/* Errors as clients of the HTTP socket get them: application/problem+json (RFC 9457) with a stable
 * `code`. docs/http.md lists them. Pure. */
#ifndef SLUICE_DAEMON_SERVE_PROBLEM_H
#define SLUICE_DAEMON_SERVE_PROBLEM_H

#include "base/fault.h"

struct problem {
    unsigned status;  /* HTTP status; 0: there is no problem */
    const char *code; /* a constant string */
    char detail[480];
    int position, length; /* the place in the subject; position −1: none */
    const char *subject;  /* "chain", "format", "input": what is wrong in the request; NULL: none */
    const char *limit;    /* the limit that was exceeded, a constant string; NULL: none */
    const char *stage;    /* what the worker was doing, a constant string; NULL: nothing */
    unsigned retry_after; /* seconds; 0: not given */
    const char *request_id; /* NULL: not given */
};

void problem_set(struct problem *problem, unsigned status, const char *code, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

/* Sets the problem for a fault, under the fault's own word. `subject` ("chain", "format", "input")
 * and `step` are as in the worker's message; both may be NULL. */
void problem_of_fault(struct problem *problem, const struct fault *fault, const char *subject,
                      const char *step);

/* "Bad Request" */
const char *problem_title(unsigned status);

/* Returns the document, which the caller frees; NULL without memory. `faults`: all mistakes in the
 * chain, for the list `errors`; NULL or none: there is no list. */
char *problem_print(const struct problem *problem, const struct faults *faults);

#endif
