/* The two sockets of clients. All on the loop's thread. */
#ifndef SLUICE_DAEMON_SERVE_SOCKETS_H
#define SLUICE_DAEMON_SERVE_SOCKETS_H

#include "daemon/serve/service.h"

/* Jobs, questions and health over HTTP at a Unix socket (docs/http.md). libmicrohttpd parses and
 * our loop drives it; connections, their number and their deadlines are handled here. */
struct http;

/* Binds and listens. */
int http_open(struct http **http, struct service *service, const struct socket_settings *settings,
              struct fault *fault);

/* True when no request is under way. */
bool http_is_idle(const struct http *http);

/* Closes everything, whatever is being done. The loop frees the memory. Takes NULL; clears the
 * pointer. */
void http_close(struct http **http);

/* Jobs by descriptors: a SOCK_SEQPACKET socket, one JSON object a message, files by SCM_RIGHTS
 * (docs/jobs-socket.md). */
struct jobs_socket;

int jobs_socket_open(struct jobs_socket **socket, struct service *service,
                     const struct socket_settings *settings, struct fault *fault);

/* True when no client waits for an answer. */
bool jobs_socket_is_idle(const struct jobs_socket *socket);

/* Closes everything. The loop frees the memory. Takes NULL; clears the pointer. */
void jobs_socket_close(struct jobs_socket **socket);

#endif
