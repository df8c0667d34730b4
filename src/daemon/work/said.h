/* What a process of the daemon's writes: bounded lines in its log. On the loop's thread. */
#ifndef SLUICE_DAEMON_WORK_SAID_H
#define SLUICE_DAEMON_WORK_SAID_H

#include <uv.h>

struct said;

/* What a process writes: a pipe, whose end for writing becomes *fd, which the caller closes, and
 * from which bounded lines go to the log. `who` and *pid are how people know the process, and have
 * to be there until said_close. Returns NULL where there is none: the process then writes to
 * our own stderr. So it does where that is a terminal, at which somebody sits who sees it. */
struct said *said_open(uv_loop_t *loop, const char *who, const int *pid, int *fd);

/* Takes the last lines. The loop frees the memory. Takes NULL; clears the pointer. */
void said_close(struct said **said);

#endif
