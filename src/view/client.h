/* A client of the daemon's HTTP socket: one request a connection. Any thread. */
#ifndef SLUICE_VIEW_CLIENT_H
#define SLUICE_VIEW_CLIENT_H

#include "base/fault.h"
#include "base/file.h"

/* Asks, and reads the answer whole, within some seconds and megabytes. `target` is a path with its
 * query, percent-encoded. FAULT_NO_DEVICE: no daemon is there. */
int client_ask(const char *socket_path, const char *method, const char *target, unsigned *status,
               struct bytes *body, struct fault *fault);

/* Asks for an answer that does not end: the daemon's events. The caller reads *fd, which gives what
 * follows the header. FAULT_NO_INPUT: the daemon has no such path. */
int client_stream(const char *socket_path, const char *target, int *fd, struct fault *fault);

#endif
