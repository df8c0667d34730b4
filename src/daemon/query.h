/* The target of an HTTP request: its path and what stands behind the question mark. Pure. */
#ifndef SLUICE_DAEMON_QUERY_H
#define SLUICE_DAEMON_QUERY_H

#include "base/fault.h"

struct query {
    char *path;                   /* owned, as all of these; decoded */
    char *chain, *format, *input; /* NULL: not given */
};

/* Percent-decodes; unknown or repeated parameters, damaged escapes and NULs are FAULT_USAGE. What
 * was read until then, the path at least, stays in `query`, which the caller finishes. */
int query_parse(struct query *query, const char *target, struct fault *fault);

void query_finish(struct query *query);

#endif
