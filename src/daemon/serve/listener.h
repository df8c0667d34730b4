/* A listening Unix socket: bound with its rights set before anybody can connect, or taken over from
 * a service manager (manager.h). Accepts clients on the loop and counts them in their users'
 * accounts. All on the loop's thread. */
#ifndef SLUICE_DAEMON_SERVE_LISTENER_H
#define SLUICE_DAEMON_SERVE_LISTENER_H

#include "base/fault.h"
#include "config/settings.h"
#include "daemon/serve/service.h"
#include <sys/types.h>
#include <uv.h>

#define LISTENER_USERS_MAX 64   /* beside root and the daemon's own user, who always find a place */
#define LISTENER_TOTAL     2048 /* connections; the most for a user except root is account_share */
#define LISTENER_ASSURED   16   /* connections that each user gets even if others have taken all */
#define LISTENER_MOST      (LISTENER_TOTAL + (LISTENER_USERS_MAX + 2) * LISTENER_ASSURED)

/* The process at the other end, by SO_PEERCRED; its user is the one who counts for it (owner_of). */
struct peer {
    uid_t uid;
    pid_t pid;
};

struct listener {
    enum service_socket socket;
    struct service *service;
    /* A new connection, non-blocking, owned by the receiver, as is one use of its user's account.
     * NULL: there are too many; it is to be told so and closed. */
    void (*accepted)(void *context, int fd, const struct peer *peer, struct account *account);
    /* After listener_close: the memory may be freed. Not called when listener_open has failed. */
    void (*closed)(void *context);
    void *context;

    char *path; /* owned */
    int fd;
    dev_t device; /* of the file at `path`: only our own is removed */
    ino_t inode;  /* 0: it is not ours */
    uv_poll_t poll;
    uv_timer_t pause; /* runs while no descriptor is left */
    unsigned n_handles;
};

/* The caller sets the members above the blank line first. Takes over the service manager's socket
 * of this type; otherwise binds the settings' path. FAULT_CREATE: the path is taken or cannot be
 * made. */
int listener_open(struct listener *listener, uv_loop_t *loop,
                  const struct socket_settings *settings, struct fault *fault);

/* A connection that was accepted has ended; gives its account back. */
void listener_left(struct listener *listener, struct account *account);

/* Removes the socket; `closed` follows from the loop. Does nothing for a listener that was never
 * opened. */
void listener_close(struct listener *listener);

#endif
