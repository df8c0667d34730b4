/* A worker's process and our end of its socket. worker.c decides what to make of it. */
#ifndef SLUICE_DAEMON_WORK_CHILD_H
#define SLUICE_DAEMON_WORK_CHILD_H

#include "base/fault.h"
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct child;
struct message;

/* How a process ended. */
struct child_end {
    int64_t status;
    int signal;     /* 0: by itself, with `status` */
    bool blamed;    /* we killed it for what it said, or did not read */
    char text[100]; /* for people: "by signal 11 (Segmentation fault)" */
};

struct child_events {
    /* A message of the worker's; the callee must not keep it. */
    void (*said)(void *context, const struct message *message);
    /* It has closed its socket, as it does when it dies; `ended` follows, unless it goes on. */
    void (*hung_up)(void *context);
    /* It has ended, and everything that it had sent was told. */
    void (*ended)(void *context, const struct child_end *end);
};

/* Starts the program; its end of the socket is MESSAGE_WORKER_FD. */
int child_start(struct child **child, uv_loop_t *loop, const struct child_events *events,
                void *context, struct fault *fault);

int child_pid(const struct child *child);

/* Sends, now or as soon as the socket has room. Descriptors are borrowed for the call. A worker
 * that cannot be told anything more is killed. */
void child_send(struct child *child, const struct message *message);

/* Closes the socket: a worker without jobs ends by itself. */
void child_hang_up(struct child *child);

/* The process only keeps the one that does the work (worker/keeper.h). */
void child_has_keeper(struct child *child);

/* SIGKILL. `ended` follows, unless the process is stuck in the kernel. */
void child_kill(struct child *child);

/* Forgets it: no event comes any more. The memory is freed by the loop. Takes NULL; clears the
 * pointer. Of a process that still lives this gives up; it is not waited for. */
void child_forget(struct child **child);

#endif
