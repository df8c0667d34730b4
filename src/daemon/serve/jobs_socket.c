/* Clients: accepted, read, written to, closed. */
#include "daemon/serve/jobs_socket_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

#define CLIENTS_MAX     256
#define OF_ONE_USER_MAX 128
#define MESSAGES_A_TURN 16
#define OUTGOING_MAX    1024 /* messages that a client has not read: then it is closed */

static void on_client(uv_poll_t *poll, int status, int events);

void jobs_release(struct jobs_socket *server)
{
    if (--server->n_users == 0)
        free(server);
}

/* ---- sending ---- */

static void free_outgoing(struct jobs_outgoing *message)
{
    text_finish(&message->json);
    if (message->fd >= 0)
        close(message->fd);
    free(message);
}

static bool try_to_send(struct jobs_client *client, const struct text *json, int fd)
{
    struct fault fault = FAULT_INIT;
    int result = message_send_encoded(client->fd, json, &fd, fd >= 0 ? 1 : 0, &fault);
    if (result != 0 && result != FAULT_BUSY)
        jobs_break(client);
    return result != FAULT_BUSY;
}

static void keep_for_later(struct jobs_client *client, struct text *json, int fd)
{
    struct jobs_outgoing *later = malloc(sizeof *later);
    if (!later || client->n_outgoing >= OUTGOING_MAX) {
        free(later);
        if (fd >= 0)
            close(fd);
        jobs_break(client);
        return;
    }
    *later = (struct jobs_outgoing){.json = *json, .fd = fd};
    *json = (struct text){0};
    STAILQ_INSERT_TAIL(&client->outgoing, later, next);
    client->n_outgoing++;
    /* Nothing is read of a client that does not read. */
    uv_poll_start(&client->poll, UV_WRITABLE | UV_DISCONNECT, on_client);
}

void jobs_send(struct jobs_client *client, struct text *json, int fd)
{
    if (json->failed)
        jobs_break(client);
    if (client->broken || client->closed) {
        if (fd >= 0)
            close(fd);
    } else if (!STAILQ_EMPTY(&client->outgoing) || !try_to_send(client, json, fd)) {
        keep_for_later(client, json, fd);
    } else if (fd >= 0) {
        close(fd);
    }
    text_finish(json);
}

static void send_outgoing(struct jobs_client *client)
{
    struct jobs_outgoing *first;
    while (!client->broken && (first = STAILQ_FIRST(&client->outgoing)) != NULL) {
        if (!try_to_send(client, &first->json, first->fd))
            return;
        STAILQ_REMOVE_HEAD(&client->outgoing, next);
        client->n_outgoing--;
        free_outgoing(first);
    }
    uv_poll_start(&client->poll, UV_READABLE, on_client);
}

/* ---- reading ---- */

static bool receive_one(struct jobs_client *client)
{
    static char buffer[MESSAGE_BYTES_MAX]; /* the loop's thread alone */
    struct fault fault = FAULT_INIT;
    int fds[MESSAGE_FDS_MAX];
    size_t size, n_fds;
    int result = message_receive_bytes(client->fd, buffer, &size, fds, &n_fds, &fault);
    if (result == FAULT_BUSY)
        return false;
    if (result == FAULT_DATA) {
        client_say_fault(client, -1, &fault, NULL);
        return !client->broken;
    }
    if (result != 0) {
        jobs_break(client);
        return false;
    }
    client_take(client, buffer, size, fds, n_fds);
    return !client->broken && STAILQ_EMPTY(&client->outgoing);
}

static void on_client(uv_poll_t *poll, int status, int events)
{
    struct jobs_client *client = poll->data;
    if (status < 0 || (events & UV_DISCONNECT)) {
        jobs_break(client);
        return;
    }
    if (events & UV_WRITABLE)
        send_outgoing(client);
    for (int i = 0; (events & UV_READABLE) && i < MESSAGES_A_TURN && receive_one(client); i++)
        ;
}

/* ---- coming and going ---- */

static void on_poll_closed(uv_handle_t *handle)
{
    struct jobs_client *client = handle->data;
    struct jobs_socket *server = client->server;
    free(client);
    jobs_release(server);
}

static void close_client(struct jobs_client *client)
{
    struct jobs_socket *server = client->server;
    if (!client->broken)
        send_outgoing(client); /* what still fits */
    client->closed = true;
    client_cancel_all(client);
    client_forget_questions(client);
    while (!STAILQ_EMPTY(&client->outgoing)) {
        struct jobs_outgoing *message = STAILQ_FIRST(&client->outgoing);
        STAILQ_REMOVE_HEAD(&client->outgoing, next);
        free_outgoing(message);
    }
    LIST_REMOVE(client, in_list);
    listener_left(&server->listener, client->peer.uid);
    server->service->n_jobs_clients--;
    uv_poll_stop(&client->poll);
    uv_close((uv_handle_t *)&client->poll, on_poll_closed);
    close(client->fd);
}

static void on_sweep(uv_idle_t *idle)
{
    struct jobs_socket *server = idle->data;
    struct jobs_client *client, *next;
    uv_idle_stop(idle);
    for (client = LIST_FIRST(&server->clients); client; client = next) {
        next = LIST_NEXT(client, in_list);
        if (client->broken)
            close_client(client);
    }
    server->changed(server->context);
}

void jobs_want_sweep(struct jobs_socket *server)
{
    if (!uv_is_closing((uv_handle_t *)&server->sweep))
        uv_idle_start(&server->sweep, on_sweep);
}

void jobs_break(struct jobs_client *client)
{
    if (client->broken || client->closed)
        return;
    client->broken = true;
    uv_poll_stop(&client->poll);
    jobs_want_sweep(client->server);
}

static void on_accepted(void *context, int fd, const struct peer *peer, bool full)
{
    struct jobs_socket *server = context;
    struct jobs_client *client = full ? NULL : calloc(1, sizeof *client);
    if (client && uv_poll_init(server->service->loop, &client->poll, fd) != 0) {
        free(client);
        client = NULL;
    }
    if (!client) {
        if (!full)
            listener_left(&server->listener, peer->uid);
        close(fd); /* the client reads the end of it */
        return;
    }
    client->server = server;
    client->fd = fd;
    client->peer = *peer;
    client->poll.data = client;
    LIST_INIT(&client->requests);
    LIST_INIT(&client->questions);
    STAILQ_INIT(&client->outgoing);
    LIST_INSERT_HEAD(&server->clients, client, in_list);
    server->n_users++;
    server->service->n_jobs_clients++;
    uv_poll_start(&client->poll, UV_READABLE, on_client);
}

/* ---- life ---- */

static void on_sweep_closed(uv_handle_t *handle)
{
    jobs_release(handle->data);
}

static void on_listener_closed(void *context)
{
    jobs_release(context);
}

int jobs_socket_open(struct jobs_socket **socket, struct service *service,
                     const struct socket_settings *settings, void (*changed)(void *context),
                     void *context, struct fault *fault)
{
    struct jobs_socket *s = calloc(1, sizeof *s);
    *socket = NULL;
    if (!s)
        return fault_set(fault, FAULT_MEMORY, "no memory for a socket");
    s->service = service;
    s->changed = changed;
    s->context = context;
    LIST_INIT(&s->clients);
    s->listener = (struct listener){.type = SOCK_SEQPACKET,
                                    .total = CLIENTS_MAX,
                                    .each = OF_ONE_USER_MAX,
                                    .accepted = on_accepted,
                                    .closed = on_listener_closed,
                                    .context = s};
    uv_idle_init(service->loop, &s->sweep);
    s->sweep.data = s;
    s->n_users = 1;
    int result = listener_open(&s->listener, service->loop, settings, fault);
    *socket = s;
    if (result == 0)
        s->n_users++;
    else
        jobs_socket_close(socket);
    return result;
}

/* Answers that a client does not read are waited for by nobody. */
bool jobs_socket_is_idle(const struct jobs_socket *socket)
{
    return !socket || socket->n_requests == 0;
}

void jobs_socket_close(struct jobs_socket **socket)
{
    struct jobs_socket *s = *socket;
    *socket = NULL;
    if (!s)
        return;
    while (!LIST_EMPTY(&s->clients))
        close_client(LIST_FIRST(&s->clients));
    listener_close(&s->listener);
    uv_close((uv_handle_t *)&s->sweep, on_sweep_closed);
}
