/* The target of an HTTP request: its path and what stands behind the question mark. Pure. */
#ifndef SLUICE_DAEMON_SERVE_QUERY_H
#define SLUICE_DAEMON_SERVE_QUERY_H

#include <stdbool.h>

#include "base/fault.h"

struct query {
    char *path;                   /* owned, as all of these; decoded */
    char *chain, *format, *input; /* NULL: not given */
    bool has_unknown;             /* a parameter of another name: query_parse refused it */
    char *file, *state, *limit, *after, *failed;
};

/* The names of parameters that a path takes, separated by a blank each. */
#define QUERY_PROCESS "chain format input"

/* FAULT_USAGE when there is another parameter than these. */
int query_allows(const struct query *query, const char *names, struct fault *fault);

/* Percent-decodes; unknown or repeated parameters, damaged escapes and NULs are FAULT_USAGE. What
 * was read until then, the path at least, stays in `query`, which the caller finishes. */
int query_parse(struct query *query, const char *target, struct fault *fault);

void query_finish(struct query *query);

#endif
