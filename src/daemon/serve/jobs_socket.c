/* Clients of the jobs socket: accepting, reading, writing, closing. */
#include "daemon/serve/jobs_socket.h"

#include <linux/sockios.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/work/closing.h"

#define MESSAGES_A_TURN 16
#define OUTGOING_MAX    1024 /* messages that a client has not read; beyond that it is closed */
#define READ_TIME       (30 * SECOND) /* until a client must have read a result */
#define TICK            250           /* milliseconds */

static void on_client(uv_poll_t *poll, int status, int events);

void jobs_release(struct jobs_socket *server)
{
    if (--server->n_users == 0)
        free(server);
}

/* A client that does not read is not read from, nor is one whose message a receiver takes, or who
 * waits for his turn. */
static void poll_client(struct jobs_client *client)
{
    int events = UV_READABLE;
    if (!STAILQ_EMPTY(&client->outgoing))
        events = UV_WRITABLE | UV_DISCONNECT;
    else if (client->reception || client->turn.user)
        events = UV_DISCONNECT;
    if (client->broken || client->closed || client->polled == events)
        return; /* each change is a system call */
    uv_poll_start(&client->poll, events, on_client);
    client->polled = events;
}

/* ---- sending ---- */

/* The message must be out of its list already. */
static void free_outgoing(struct jobs_client *client, struct jobs_outgoing *message)
{
    text_finish(&message->json);
    closing_take(client->server->service->loop, &message->fd);
    service_release_result(client->server->service, client->account, message->held);
    client->held -= message->held;
    free(message);
}

/* Bytes in the socket, as the kernel counts them, that the client has not read. */
static unsigned unread_bytes(const struct jobs_client *client)
{
    int bytes = 0;
    ioctl(client->fd, SIOCOUTQ, &bytes);
    return bytes > 0 ? (unsigned)bytes : 0;
}

/* Messages are read in the order in which they were sent. */
static void note_read(struct jobs_client *client)
{
    struct jobs_outgoing *first;
    if (STAILQ_EMPTY(&client->unread))
        return;
    unsigned left = unread_bytes(client);
    while ((first = STAILQ_FIRST(&client->unread)) != NULL &&
           (left == 0 || client->n_unread_bytes >= left + first->bytes)) {
        STAILQ_REMOVE_HEAD(&client->unread, next);
        client->n_unread_bytes -= first->bytes;
        client->read_at = clock_now();
        free_outgoing(client, first);
    }
}

/* Returns false when the socket has no room. */
static bool try_to_send(struct jobs_client *client, struct jobs_outgoing *message)
{
    struct fault fault = FAULT_INIT;
    unsigned before = unread_bytes(client);
    int result =
        message_send_encoded(client->fd, &message->json, &message->fd, message->fd >= 0, &fault);
    if (result == FAULT_BUSY)
        return false;
    if (result != 0)
        jobs_break(client);
    /* It takes more than its text; what the client reads meanwhile makes it look like less. */
    unsigned after = unread_bytes(client), least = (unsigned)message->json.length;
    message->bytes = after > before + least ? after - before : least;
    return true;
}

static void on_tick(uv_timer_t *timer);

static void send_outgoing(struct jobs_client *client)
{
    struct jobs_outgoing *first;
    note_read(client);
    while (!client->broken && (first = STAILQ_FIRST(&client->outgoing)) != NULL) {
        if (!try_to_send(client, first))
            break;
        STAILQ_REMOVE_HEAD(&client->outgoing, next);
        client->n_outgoing--;
        text_finish(&first->json);
        closing_take(client->server->service->loop, &first->fd);
        if (STAILQ_EMPTY(&client->unread))
            client->read_at = clock_now();
        client->n_unread_bytes += first->bytes;
        STAILQ_INSERT_TAIL(&client->unread, first, next);
    }
    if (client->held > 0 && !uv_is_active((uv_handle_t *)&client->server->tick))
        uv_timer_start(&client->server->tick, on_tick, TICK, TICK);
    poll_client(client);
}

void jobs_send(struct jobs_client *client, struct text *json, int fd, uint64_t held)
{
    struct jobs_outgoing *message = calloc(1, sizeof *message);
    if (!message || json->failed || client->n_outgoing >= OUTGOING_MAX)
        jobs_break(client);
    if (!message || client->broken || client->closed) {
        closing_take(client->server->service->loop, &fd);
        service_release_result(client->server->service, client->account, held);
        text_finish(json);
        free(message);
        return;
    }
    *message = (struct jobs_outgoing){.json = *json, .fd = fd, .held = held};
    *json = (struct text){0};
    STAILQ_INSERT_TAIL(&client->outgoing, message, next);
    client->n_outgoing++;
    client->held += held;
    if (client->n_outgoing == 1)
        send_outgoing(client);
}

/* ---- reading ---- */

static void end_reception(struct jobs_client *client)
{
    client->reception = NULL;
    poll_client(client);
}

static bool receive_one(struct jobs_client *client);

static void on_received(struct reception *reception, const struct parcel *parcel,
                        const int given[2])
{
    struct jobs_client *client = reception->how.user;
    const struct receipt *receipt = &parcel->receipt;
    int fds[2] = {given[0], given[1]};
    if (receipt->fault.code == FAULT_DATA)
        client_say_fault(client, -1, &receipt->fault, NULL);
    else if (receipt->fault.code != FAULT_NONE)
        jobs_break(client);
    else if (receipt->length > 0)
        client_take(client, parcel->bytes, receipt->length, reception, receipt, fds);
    for (int i = 0; i < 2; i++)
        closing_take(client->server->service->loop, &fds[i]);
    if (receipt->going_on)
        return;
    end_reception(client);
    if (!client->broken && STAILQ_EMPTY(&client->outgoing))
        receive_one(client); /* the next message, while the receiver still runs */
}

/* The descriptors of a message hang, or it could not be received: nothing after it can be read. */
static void on_lost(struct reception *reception, const struct fault *fault)
{
    struct jobs_client *client = reception->how.user;
    client_say_fault(client, -1, fault, NULL);
    end_reception(client);
    jobs_break(client);
}

/* A client's descriptors are never opened in this process: any call on them, even close, may wait
 * for ever. A receiver takes them. */
static void hand_over(struct jobs_client *client)
{
    struct fault fault = FAULT_INIT;
    struct reception_how how = {.uid = client->peer.uid,
                                .client_fd = client->fd,
                                .order = RECEIVER_TAKE,
                                .received = on_received,
                                .lost = on_lost,
                                .user = client};
    if (reception_start(&client->reception, &client->server->receptions, &how, &fault) == 0) {
        poll_client(client);
        return;
    }
    client_say_fault(client, -1, &fault, NULL);
    jobs_break(client);
}

static bool receive_one(struct jobs_client *client)
{
    static char buffer[MESSAGE_BYTES_MAX]; /* used by the loop's thread only */
    struct fault fault = FAULT_INIT;
    int fds[MESSAGE_FDS_MAX];
    size_t size = sizeof buffer, n_fds;
    enum message_head head = message_look(client->fd);
    if (head == MESSAGE_DESCRIPTORS)
        hand_over(client);
    if (head != MESSAGE_PLAIN)
        return false;
    int result = message_receive_bytes(client->fd, buffer, &size, fds, &n_fds, &fault);
    while (n_fds > 0) /* none, since the look has found none */
        receptions_close_fd(&client->server->receptions, client->peer.uid, fds[--n_fds]);
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
    client_take(client, buffer, size, NULL, NULL, fds);
    return !client->broken && STAILQ_EMPTY(&client->outgoing);
}

static void read_some(struct jobs_client *client)
{
    struct pace *pace = &client->server->service->pace;
    bool more = true;
    pace_begin(pace);
    for (int i = 0; more && i < MESSAGES_A_TURN && (i == 0 || !pace_is_over(pace)); i++)
        more = receive_one(client);
    pace_end(pace);
}

static void on_turn(struct pace_entry *turn)
{
    struct jobs_client *client =
        (struct jobs_client *)((char *)turn - offsetof(struct jobs_client, turn));
    if (STAILQ_EMPTY(&client->outgoing) && !client->reception)
        read_some(client);
    poll_client(client);
}

static void on_client(uv_poll_t *poll, int status, int events)
{
    struct jobs_client *client = poll->data;
    struct pace *pace = &client->server->service->pace;
    if (status < 0 || (events & UV_DISCONNECT)) {
        jobs_break(client);
        return;
    }
    note_read(client);
    if (events & UV_WRITABLE)
        send_outgoing(client);
    if (!(events & UV_READABLE))
        return;
    if (pace_enter(pace, &client->account->pace, &client->turn))
        read_some(client);
    else
        poll_client(client);
}

/* ---- coming and going ---- */

static void on_poll_closed(uv_handle_t *handle)
{
    struct jobs_client *client = handle->data;
    struct jobs_socket *server = client->server;
    free(client);
    jobs_release(server);
}

static void drop(struct jobs_client *client, struct jobs_messages *list)
{
    while (!STAILQ_EMPTY(list)) {
        struct jobs_outgoing *message = STAILQ_FIRST(list);
        STAILQ_REMOVE_HEAD(list, next);
        free_outgoing(client, message);
    }
}

/* Ends a connection; it counts against the user's limit until here. */
static void close_client(struct jobs_client *client)
{
    struct jobs_socket *server = client->server;
    drop(client, &client->unread);
    LIST_REMOVE(client, in_list);
    server->n_leaving -= client->broken;
    listener_left(&server->listener, client->account);
    uv_close((uv_handle_t *)&client->poll, on_poll_closed);
    receptions_close_client(&server->receptions, client->peer.uid, client->fd);
}

/* Cuts off a client. Results that it has not read stay in its socket, and count until it has gone.
 */
static void cut_client(struct jobs_client *client)
{
    if (!client->broken)
        send_outgoing(client); /* whatever still fits */
    client->closed = true;
    pace_leave(&client->server->service->pace, &client->turn);
    uv_poll_stop(&client->poll);
    reception_cancel(&client->reception);
    client_cancel_all(client);
    drop(client, &client->outgoing);
    shutdown(client->fd, SHUT_RDWR);
}

static void on_sweep(uv_idle_t *idle)
{
    struct jobs_socket *server = idle->data;
    struct jobs_client *client, *next;
    uv_idle_stop(idle);
    for (client = LIST_FIRST(&server->clients); server->n_leaving > 0 && client; client = next) {
        next = LIST_NEXT(client, in_list);
        if (client->broken && !client->closed)
            cut_client(client);
        note_read(client);
        if (client->closed && client->held == 0)
            close_client(client);
    }
    server->service->changed(server->service->context);
}

/* Runs while there are unread results: a client that reads none for too long is cut off. */
static void on_tick(uv_timer_t *timer)
{
    struct jobs_socket *server = timer->data;
    struct jobs_client *client;
    bool any = false;
    LIST_FOREACH (client, &server->clients, in_list) {
        note_read(client);
        any |= client->held > 0;
        if (client->closed && client->held == 0)
            jobs_want_sweep(server);
        if (client->held == 0 || client->broken || clock_now() - client->read_at < READ_TIME)
            continue;
        log_info("process %d of user %u does not read its results: it is cut off",
                 (int)client->peer.pid, (unsigned)client->peer.uid);
        jobs_break(client);
    }
    if (!any)
        uv_timer_stop(timer);
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
    pace_leave(&client->server->service->pace, &client->turn);
    client->server->n_leaving++;
    uv_poll_stop(&client->poll);
    jobs_want_sweep(client->server);
}

static void on_accepted(void *context, int fd, const struct peer *peer, struct account *account)
{
    struct jobs_socket *server = context;
    struct jobs_client *client = account ? calloc(1, sizeof *client) : NULL;
    if (client && uv_poll_init(server->service->loop, &client->poll, fd) != 0) {
        free(client);
        client = NULL;
    }
    if (!client) {
        if (account)
            listener_left(&server->listener, account);
        /* the client reads end of file on it */
        receptions_close_client(&server->receptions, peer->uid, fd);
        return;
    }
    client->server = server;
    client->fd = fd;
    client->peer = *peer;
    client->account = account;
    client->flow.user = &account->flow;
    client->poll.data = client;
    client->turn.run = on_turn;
    LIST_INIT(&client->requests);
    LIST_INIT(&client->questions);
    STAILQ_INIT(&client->outgoing);
    STAILQ_INIT(&client->unread);
    LIST_INSERT_HEAD(&server->clients, client, in_list);
    server->n_users++;
    poll_client(client);
}

/* ---- life ---- */

static void on_handle_closed(uv_handle_t *handle)
{
    jobs_release(handle->data);
}

static void on_listener_closed(void *context)
{
    jobs_release(context);
}

int jobs_socket_open(struct jobs_socket **socket, struct service *service,
                     const struct socket_settings *settings, struct fault *fault)
{
    struct jobs_socket *s = calloc(1, sizeof *s);
    *socket = NULL;
    if (!s)
        return fault_set(fault, FAULT_MEMORY, "no memory for a socket");
    s->service = service;
    LIST_INIT(&s->clients);
    receptions_init(&s->receptions, service->loop, &service->pace);
    service->receptions = &s->receptions;
    s->listener = (struct listener){.socket = SERVICE_JOBS,
                                    .service = service,
                                    .accepted = on_accepted,
                                    .closed = on_listener_closed,
                                    .context = s};
    uv_idle_init(service->loop, &s->sweep);
    uv_timer_init(service->loop, &s->tick);
    s->sweep.data = s->tick.data = s;
    s->n_users = 2;
    int result = listener_open(&s->listener, service->loop, settings, fault);
    *socket = s;
    if (result == 0)
        s->n_users++;
    else
        jobs_socket_close(socket);
    return result;
}

/* Answers that clients do not read keep nothing waiting. */
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
    while (!LIST_EMPTY(&s->clients)) {
        struct jobs_client *client = LIST_FIRST(&s->clients);
        if (!client->closed)
            cut_client(client);
        close_client(client);
    }
    receptions_close(&s->receptions);
    s->service->receptions = NULL;
    listener_close(&s->listener);
    uv_close((uv_handle_t *)&s->sweep, on_handle_closed);
    uv_close((uv_handle_t *)&s->tick, on_handle_closed);
}
