/* The daemon's jobs socket, as its clients use it: submit, status, why, requeue and sluice-relay
 * (docs/jobs-socket.md). */
#ifndef SLUICE_WORKER_DAEMON_H
#define SLUICE_WORKER_DAEMON_H

#include "base/fault.h"
#include "param/options.h"
#include <jansson.h>

/* A row for a command's table of options. `member` is a const char *. */
#define DAEMON_SOCKET_OPTION(at)                                                                   \
    {                                                                                              \
        's', "SOCKET",                                                                             \
        {                                                                                          \
            .name = "socket", .type = PARAM_TEXT, .offset = (at),                                  \
            .help = "the daemon's jobs socket; else SLUICE_JOBS_SOCKET, else "                     \
                    "/run/sluice/jobs.sock"                                                        \
        }                                                                                          \
    }

/* A connected socket. FAULT_NO_DEVICE (exit 69): there is no daemon; FAULT_PERMISSION. */
int daemon_connect(const char *path, int *fd, struct fault *fault);

/* Sends an object, whose reference is released, and up to two borrowed descriptors. */
int daemon_send(int socket, json_t *object, const int *fds, size_t n_fds, struct fault *fault);

/* Waits for a message. *fd becomes the descriptor that came with it, or −1. The caller owns both.
 */
int daemon_receive(int socket, json_t **object, int *fd, struct fault *fault);

/* Sends a question and waits for its answer, which the caller releases. A result that is not ok is
 * a fault. */
int daemon_ask(int socket, json_t *question, json_t **answer, struct fault *fault);

/* Sets a fault from an object of the daemon: from its `text`, and the place in the chain. */
int daemon_fault(const json_t *object, enum fault_code code, struct fault *fault);

/* The result of a `done` or `status`, as a fault. */
int daemon_result(const json_t *object, struct fault *fault);

#endif
