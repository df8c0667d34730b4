/* The target of an HTTP request: its path, and the parameters after the question mark. Pure. */
#ifndef SLUICE_DAEMON_SERVE_QUERY_H
#define SLUICE_DAEMON_SERVE_QUERY_H

#include <stdbool.h>

#include "base/fault.h"

struct query {
    char *path;                   /* decoded; owned, as are the others */
    char *chain, *format, *input; /* NULL: not given */
    bool has_unknown;             /* it had an unknown parameter, which query_parse refused */
    char *file, *state, *limit, *after, *failed;
};

/* Names of the parameters that a path takes, separated by blanks. */
#define QUERY_PROCESS "chain format input"

/* Whether a name is in a list: "a b", or "A, B". */
bool query_is_among(const char *name, const char *names);

/* FAULT_USAGE when the query has another parameter. */
int query_allows(const struct query *query, const char *names, struct fault *fault);

/* Parses and percent-decodes. FAULT_USAGE for unknown or repeated parameters, damaged escapes and
 * NULs; what was read until then, at least the path, stays in `query`. The caller finishes `query`
 * in any case. */
int query_parse(struct query *query, const char *target, struct fault *fault);

void query_finish(struct query *query);

#endif
