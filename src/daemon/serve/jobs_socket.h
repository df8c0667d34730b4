/* Jobs by descriptors: a SOCK_SEQPACKET socket, one JSON object a message, files by SCM_RIGHTS
 * (docs/jobs-socket.md). All on the loop's thread. */
#ifndef SLUICE_DAEMON_SERVE_JOBS_SOCKET_H
#define SLUICE_DAEMON_SERVE_JOBS_SOCKET_H

#include "daemon/serve/service.h"

struct jobs_socket;

int jobs_socket_open(struct jobs_socket **socket, struct service *service,
                     const struct socket_settings *settings, void (*changed)(void *context),
                     void *context, struct fault *fault);

/* True when no client waits for an answer. */
bool jobs_socket_is_idle(const struct jobs_socket *socket);

/* Closes everything. The loop frees the memory. Takes NULL; clears the pointer. */
void jobs_socket_close(struct jobs_socket **socket);

#endif
