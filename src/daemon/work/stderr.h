/* What a worker writes to its stderr, on its way into the daemon's log: so much in a time, and
 * lines of a bounded length, because it may be a driver that goes wild, or somebody who has taken
 * the worker over. The worker never waits: what it writes beyond is lost. On the loop's thread. */
#ifndef SLUICE_DAEMON_WORK_STDERR_H
#define SLUICE_DAEMON_WORK_STDERR_H

#include <uv.h>

#define STDERR_LINES  200  /* in a time, and then a line that says that the rest is left out */
#define STDERR_TIME   10   /* seconds */
#define STDERR_LENGTH 2000 /* bytes of a line; of a longer one the beginning */

struct worker_stderr;

/* Opens a pipe, whose end for writing becomes *fd, which the caller closes. *pid is how people know
 * the process, and has to be there until stderr_close. Returns NULL where
 * there is none: the worker then writes to our own stderr. So it does where that is a terminal, at
 * which somebody sits who sees it. */
struct worker_stderr *stderr_open(uv_loop_t *loop, const int *pid, int *fd);

/* Takes the last lines. The loop frees the memory. Takes NULL; clears the pointer. */
void stderr_close(struct worker_stderr **from);

#endif
