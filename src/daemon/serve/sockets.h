/* The sockets that were asked for, as the front has them. All on the loop's thread. */
#ifndef SLUICE_DAEMON_SERVE_SOCKETS_H
#define SLUICE_DAEMON_SERVE_SOCKETS_H

#include "daemon/serve/service.h"

struct http;
struct jobs_socket;

struct sockets {
    struct service service; /* its first part is the front's to fill in */
    void (*changed)(
        void *context); /* something has ended: while stopping it may be time to leave */
    void *context;

    struct http *http;
    struct jobs_socket *jobs;
};

/* Binds and listens to what the settings ask for. FAULT_CREATE, … Clients may come from here on. */
int sockets_open(struct sockets *sockets, struct fault *fault);

/* True when nobody waits for an answer. */
bool sockets_are_idle(const struct sockets *sockets);

/* Closes everything; the loop must run once more. Fine on sockets that were never opened. */
void sockets_close(struct sockets *sockets);

#endif
