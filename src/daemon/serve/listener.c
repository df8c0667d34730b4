#include "daemon/serve/listener.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "daemon/serve/manager.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

#define BACKLOG        1024
#define ACCEPTS_A_TURN 32
#define PAUSE          200 /* milliseconds, when no descriptor is left */
#define PROBES         20 /* of whether somebody listens at a path, one in PROBE_PAUSE microseconds */
#define PROBE_PAUSE    100000

void listener_left(struct listener *listener, struct account *account)
{
    account->n_connections[listener->socket]--;
    listener->service->shares.n_connections[listener->socket]--;
    account_leave(account);
}

/* ---- accepting ---- */

static void on_connection(uv_poll_t *poll, int status, int events);

static void on_pause_over(uv_timer_t *timer)
{
    struct listener *listener = timer->data;
    uv_poll_start(&listener->poll, UV_READABLE, on_connection);
}

static bool accept_one(struct listener *listener)
{
    struct ucred cred = {.uid = (uid_t)-1};
    socklen_t length = sizeof cred;
    int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)) {
        log_warning("%s: accept: %s", listener->path, strerror(errno));
        uv_poll_stop(&listener->poll); /* otherwise the loop would spin */
        uv_timer_start(&listener->pause, on_pause_over, PAUSE, 0);
    }
    if (fd < 0)
        return errno == ECONNABORTED || errno == EINTR;
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &length);
    struct peer peer = {owner_of(&listener->service->shares.owners, cred.uid), cred.pid};
    struct service *service = listener->service;
    struct account *account = account_of(&service->shares, peer.uid);

    /* It counts, unless its user has his share, or all places are taken. A few are assured for each
     * of so many users; root, and whom the daemon runs as, are not counted among these. */
    unsigned *count = account ? &account->n_connections[listener->socket] : NULL, n_users = 0;
    unsigned *all = &service->shares.n_connections[listener->socket];
    const struct account *other;
    LIST_FOREACH (other, &service->shares.accounts, in_list)
        n_users += other->n_connections[listener->socket] > 0 && other->uid != 0 &&
                   other->uid != geteuid();
    bool ours = peer.uid == 0 || peer.uid == geteuid();
    bool one_too_many = account && *count == 0 && !ours && n_users >= LISTENER_USERS_MAX;
    if (account && *count >= LISTENER_ASSURED)
        one_too_many = *all >= LISTENER_TOTAL ||
                       (peer.uid != 0 && *count >= account_share(LISTENER_TOTAL, *all - *count));
    if (one_too_many) {
        account_leave(account);
        account = NULL;
    } else if (account) {
        ++*count;
        ++*all;
    }
    log_debug("%s: process %d of user %u is connected%s", listener->path, (int)peer.pid,
              (unsigned)peer.uid, account ? "" : ", one too many");
    listener->accepted(listener->context, fd, &peer, account);
    return true;
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
    struct listener *listener = poll->data;
    for (int i = 0; status == 0 && i < ACCEPTS_A_TURN && accept_one(listener); i++)
        ;
}

static int type_of(const struct listener *listener)
{
    return listener->socket == SERVICE_HTTP ? SOCK_STREAM : SOCK_SEQPACKET;
}

/* ---- the path ---- */

/* Removes the socket file of a daemon that was killed, at which nobody listens. A process that the
 * daemon was about to start has the socket until it becomes another program, so somebody may seem
 * to listen for a moment. */
static int remove_stale(const struct listener *listener, const struct sockaddr_un *address,
                        struct fault *fault)
{
    struct stat status;
    if (lstat(listener->path, &status) != 0)
        return errno == ENOENT ? 0 : fault_set_errno(fault, FAULT_CREATE, listener->path);
    if (!S_ISSOCK(status.st_mode))
        return fault_set(fault, FAULT_CREATE, "%s: is there already, and no socket",
                         listener->path);
    for (int i = 0;; i++) {
        int probe = socket(AF_UNIX, type_of(listener) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        bool nobody = probe >= 0 &&
                      connect(probe, (const struct sockaddr *)address, sizeof *address) != 0 &&
                      errno == ECONNREFUSED;
        file_close(&probe);
        if (nobody)
            break;
        if (i == PROBES)
            return fault_set(fault, FAULT_CREATE, "%s: somebody listens there already",
                             listener->path);
        usleep(PROBE_PAUSE);
    }
    if (unlink(listener->path) != 0)
        return fault_set_errno(fault, FAULT_CREATE, listener->path);
    return 0;
}

static int set_rights(const struct listener *listener, const struct socket_settings *settings,
                      struct fault *fault)
{
    mode_t mode = 0660;
    if (settings->mode)
        mode = (mode_t)strtoul(settings->mode, NULL, 8) & 0777;
    if (settings->group) {
        const struct group *group = getgrnam(settings->group);
        if (!group)
            return fault_set(fault, FAULT_CREATE, "%s: there is no group '%s'", listener->path,
                             settings->group);
        /* A service may be allowed to make its socket but not to call chown (systemd's
         * @privileged). */
        struct stat made;
        bool has_it = stat(listener->path, &made) == 0 && made.st_gid == group->gr_gid;
        if (!has_it && chown(listener->path, (uid_t)-1, group->gr_gid) != 0)
            return fault_set_errno(fault, FAULT_CREATE, "chown of the socket");
    }
    if (chmod(listener->path, mode) != 0)
        return fault_set_errno(fault, FAULT_CREATE, "chmod of the socket");
    return 0;
}

/* Sets owner and mode before listen: nobody can connect before that. */
static int bind_path(struct listener *listener, const struct socket_settings *settings,
                     struct fault *fault)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat status;
    size_t length = strlen(settings->unix_path);
    if (length == 0 || length >= sizeof address.sun_path)
        return fault_set(fault, FAULT_CREATE, "%s: a socket's path has 1 to %zu bytes",
                         settings->unix_path, sizeof address.sun_path - 1);
    memcpy(address.sun_path, settings->unix_path, length + 1);
    int result = remove_stale(listener, &address, fault);
    if (result != 0)
        return result;
    listener->fd = socket(AF_UNIX, type_of(listener) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener->fd < 0)
        return fault_set_errno(fault, FAULT_CREATE, "socket");
    if (bind(listener->fd, (const struct sockaddr *)&address, sizeof address) != 0)
        return fault_set_errno(fault, FAULT_CREATE, listener->path);
    if (lstat(listener->path, &status) == 0) {
        listener->device = status.st_dev;
        listener->inode = status.st_ino;
    }
    result = set_rights(listener, settings, fault);
    if (result == 0 && listen(listener->fd, BACKLOG) != 0)
        result = fault_set_errno(fault, FAULT_CREATE, "listen");
    return result;
}

static void remove_path(const struct listener *listener)
{
    struct stat status;
    if (listener->inode != 0 && lstat(listener->path, &status) == 0 &&
        status.st_dev == listener->device && status.st_ino == listener->inode)
        unlink(listener->path);
}

/* Takes over a socket from a service manager. Its rights are set there, and its file is not
 * removed: clients may come while the daemon is down. */
static bool adopt(struct listener *listener, const char *wanted)
{
    char path[sizeof((struct sockaddr_un *)0)->sun_path + 1] = "";
    listener->fd = manager_take_socket(type_of(listener), path, sizeof path);
    if (listener->fd < 0)
        return false;
    if (wanted && strcmp(wanted, path) != 0)
        log_warning("%s: not bound, since the service manager listens at %s in its place", wanted,
                    path);
    listener->path = strdup(path);
    return true;
}

int listener_open(struct listener *listener, uv_loop_t *loop,
                  const struct socket_settings *settings, struct fault *fault)
{
    int result = 0;
    bool adopted = adopt(listener, settings->unix_path);
    if (!adopted)
        listener->path = strdup(settings->unix_path);
    if (!listener->path)
        result = fault_set(fault, FAULT_MEMORY, "no memory for a socket");
    else if (!adopted)
        result = bind_path(listener, settings, fault);
    if (result == 0 && listener->socket == SERVICE_HTTP)
        /* Byte streams need no descriptors, and closing one that came with a message may wait for
         * ever, so they are refused, for connections too. Kernels before 6.16 lack the option. */
        (void)setsockopt(listener->fd, SOL_SOCKET, SO_PASSRIGHTS, &(int){0}, sizeof(int));
    int error = result == 0 ? uv_poll_init(loop, &listener->poll, listener->fd) : 0;
    if (error < 0)
        result = fault_set(fault, FAULT_INTERNAL, "libuv: %s", uv_strerror(error));
    if (result != 0) {
        file_close(&listener->fd);
        if (listener->path)
            remove_path(listener);
        free(listener->path);
        listener->path = NULL;
        return result;
    }
    listener->poll.data = listener->pause.data = listener;
    uv_timer_init(loop, &listener->pause);
    listener->n_handles = 2;
    uv_poll_start(&listener->poll, UV_READABLE, on_connection);
    log_info("listening at %s (%s%s)", listener->path,
             listener->socket == SERVICE_HTTP ? "http" : "jobs",
             adopted ? ", from the service manager" : "");
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct listener *listener = handle->data;
    if (--listener->n_handles == 0)
        listener->closed(listener->context);
}

void listener_close(struct listener *listener)
{
    if (!listener->path)
        return;
    remove_path(listener);
    uv_close((uv_handle_t *)&listener->poll, on_closed);
    uv_close((uv_handle_t *)&listener->pause, on_closed);
    close(listener->fd);
    free(listener->path);
    listener->path = NULL;
}
