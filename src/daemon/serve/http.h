/* Jobs, questions and health over HTTP at a Unix socket (docs/http.md). libmicrohttpd parses and
 * our loop drives it; connections, their number and their deadlines are handled here. All on the
 * loop's thread. */
#ifndef SLUICE_DAEMON_SERVE_HTTP_H
#define SLUICE_DAEMON_SERVE_HTTP_H

#include "daemon/serve/service.h"

struct http;

/* Binds and listens. `changed` is called when an answer has been sent. */
int http_open(struct http **http, struct service *service, const struct socket_settings *settings,
              void (*changed)(void *context), void *context, struct fault *fault);

/* True when no request is under way. */
bool http_is_idle(const struct http *http);

/* Closes everything, whatever is being done. The loop frees the memory. Takes NULL; clears the
 * pointer. */
void http_close(struct http **http);

#endif
