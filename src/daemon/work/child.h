/* A worker's process, our end of the socket to it, and what it writes to stderr. Nobody is told when
 * something happens: libuv's callbacks only note it here, and the supervisor looks once a turn of
 * the loop (supervise.h). */
#ifndef SLUICE_DAEMON_WORK_CHILD_H
#define SLUICE_DAEMON_WORK_CHILD_H

#include "base/fault.h"
#include <stdbool.h>
#include <sys/queue.h>
#include <uv.h>

struct message;
struct said;
struct outgoing; /* a message that waits until the socket has room */

struct child {
    bool readable; /* there may be messages */
    bool cut;      /* it closed its socket, or sent what no worker of ours sends */
    bool failed;   /* the socket failed: what is still in it is read, and then nothing more */
    bool exited;   /* the process has ended; what it sent before still counts */
    int pid;       /* of the process that does the work; for people */
    bool kept;     /* it is a keeper (worker/keeper.h), and kills the worker when asked */
    bool blamed;   /* we killed it because of what it sent, or because it read nothing */
    int status;    /* after its end: the exit status … */
    int signal;    /* … or the signal; 0: none */
    char end[100]; /* for people: "by signal 11 (Segmentation fault)" */

    struct said *said; /* what it writes to stderr; NULL: that is our own */
    uv_process_t process;
    uv_poll_t poll;
    int socket; /* −1 after hang-up */
    STAILQ_HEAD(, outgoing) outgoing;
    unsigned n_handles; /* libuv handles that are still open */
    bool spawned, forgotten;
};

/* Starts the program. Its end of the socket is descriptor MESSAGE_WORKER_FD. FAULT_NO_DEVICE,
 * FAULT_IO, FAULT_MEMORY: it cannot be started. */
int child_start(struct child **child, uv_loop_t *loop, struct fault *fault);

/* Takes the next message, which message_finish must end. False: there is none now. */
bool child_receive(struct child *child, struct message *message);

/* Sends the message now or as soon as the socket has room. Descriptors are borrowed for the call. A
 * worker whose queue of unsent messages is full is killed. */
void child_send(struct child *child, const struct message *message);

/* Closes the socket. A worker without jobs then exits by itself. */
void child_hang_up(struct child *child);

/* SIGKILL. `exited` follows, unless the process is stuck in the kernel. */
void child_kill(struct child *child);

/* Forgets the process. One that still runs is left alone. The loop frees the memory. Takes NULL;
 * clears the pointer. */
void child_forget(struct child **child);

#endif
