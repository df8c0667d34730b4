/* The sockets that the settings ask for, as the front uses them. All on the loop's thread. */
#ifndef SLUICE_DAEMON_SERVE_SOCKETS_H
#define SLUICE_DAEMON_SERVE_SOCKETS_H

#include "daemon/serve/service.h"

struct http;
struct jobs_socket;

struct sockets {
    struct service service; /* the front sets its first part */
    void (*changed)(
        void *context); /* something has ended, and a stopping daemon may be able to end */
    void *context;

    struct http *http;
    struct jobs_socket *jobs;
};

/* Binds and listens. FAULT_CREATE, … Clients may connect from here on. */
int sockets_open(struct sockets *sockets, struct fault *fault);

/* True when nobody waits for an answer. */
bool sockets_are_idle(const struct sockets *sockets);

/* Closes everything; the loop must run once more. Does nothing for sockets that were never opened.
 */
void sockets_close(struct sockets *sockets);

#endif
