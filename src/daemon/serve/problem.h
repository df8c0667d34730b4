/* Errors as clients of the HTTP socket get them: application/problem+json (RFC 9457) with a stable
 * `code`. docs/http.md lists all. Pure. */
#ifndef SLUICE_DAEMON_SERVE_PROBLEM_H
#define SLUICE_DAEMON_SERVE_PROBLEM_H

#include "base/fault.h"

struct problem {
    unsigned status;  /* of HTTP; 0: there is none */
    const char *code; /* a constant */
    char detail[480];
    int position, length; /* of the place in the chain; position −1: none */
    const char *limit;    /* the limit it is over, a constant; NULL: none */
    const char *stage;    /* what the worker was at, a constant; NULL: nothing */
    unsigned retry_after; /* seconds; 0: not said */
};

void problem_set(struct problem *problem, unsigned status, const char *code, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

/* What a job's fault is to a client; `subject` as the worker says it ("chain", "format", "input")
 * and `step` likewise; both may be NULL. */
void problem_of_fault(struct problem *problem, const struct fault *fault, const char *subject,
                      const char *step);

/* "Bad Request" */
const char *problem_title(unsigned status);

/* The document; the caller frees it. NULL without memory. `faults`: all that is wrong with the
 * chain, which become its list `errors`; NULL or none: there is no such list. */
char *problem_print(const struct problem *problem, const struct faults *faults);

#endif
