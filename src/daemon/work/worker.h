/* One life of a worker process and our end of its socket. supervise.c decides what to make of it.
 */
#ifndef SLUICE_DAEMON_WORK_WORKER_H
#define SLUICE_DAEMON_WORK_WORKER_H

#include "base/fault.h"
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct worker;
struct message;

struct worker_events {
    /* A message of the worker's; the callee must not keep it. */
    void (*said)(void *context, const struct message *message);
    /* It has ended and everything that it had sent was told. `why` is for people: "signal 11 …". */
    void (*ended)(void *context, const char *why, bool orderly);
};

/* Starts the program; its end of the socket is MESSAGE_WORKER_FD. */
int worker_start(struct worker **worker, uv_loop_t *loop, const struct worker_events *events,
                 void *context, struct fault *fault);

int worker_pid(const struct worker *worker);

/* Sends, now or as soon as the socket has room. Descriptors are borrowed for the call. A worker
 * that cannot be told anything more is killed. */
void worker_send(struct worker *worker, const struct message *message);

/* Closes the socket: a worker without jobs ends by itself. */
void worker_hang_up(struct worker *worker);

/* SIGKILL. `ended` follows, unless the process is stuck in the kernel. */
void worker_kill(struct worker *worker);

/* Forgets it: no event comes any more. The memory is freed by the loop. Takes NULL; clears the
 * pointer. Of a process that still lives this gives up; it is not waited for. */
void worker_forget(struct worker **worker);

#endif
