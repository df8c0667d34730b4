/* A worker's process, and our end of the socket to it. worker.c decides what its messages and its
 * end mean. */
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
    int signal;     /* 0: it exited by itself, with `status` */
    bool blamed;    /* we killed it because of what it sent, or because it read nothing */
    char text[100]; /* for people: "by signal 11 (Segmentation fault)" */
};

struct child_events {
    /* A message from the worker. It is valid only during the call. */
    void (*said)(void *context, const struct message *message);
    /* The worker closed its socket, usually because it died. `ended` follows unless the process
     * goes on. */
    void (*hung_up)(void *context);
    /* The process has ended, and `said` was called for everything that it had sent. */
    void (*ended)(void *context, const struct child_end *end);
};

/* Starts the program. Its end of the socket is descriptor MESSAGE_WORKER_FD. */
int child_start(struct child **child, uv_loop_t *loop, const struct child_events *events,
                void *context, struct fault *fault);

int child_pid(const struct child *child);

/* Sends the message now or as soon as the socket has room. Descriptors are borrowed for the call. A
 * worker whose queue of unsent messages is full is killed. */
void child_send(struct child *child, const struct message *message);

/* Closes the socket. A worker without jobs then exits by itself. */
void child_hang_up(struct child *child);

/* Notes that the process is a keeper, the parent of the process that does the work
 * (worker/keeper.h). */
void child_has_keeper(struct child *child);

/* SIGKILL. `ended` follows, unless the process is stuck in the kernel. */
void child_kill(struct child *child);

/* Forgets the process: no event comes any more. A process that still runs is left alone. The loop
 * frees the memory. Takes NULL; clears the pointer. */
void child_forget(struct child **child);

#endif
