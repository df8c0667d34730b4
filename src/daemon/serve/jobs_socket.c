/* The jobs socket: its clients come and go, messages are read and written, and what a message asks
 * for is begun and answered. */
#include "daemon/serve/jobs_socket.h"

#include <inttypes.h>
#include <linux/sockios.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "daemon/work/closing.h"
#include "daemon/work/metrics.h"
#include "worker/json_text.h"

#define REQUESTS_MAX    64 /* that one client may have under way */
#define MESSAGES_A_TURN 16
#define ANSWER_MAX      60000 /* bytes of a status, or of a page of files, that fit into a message */
#define OUTGOING_MAX    1024  /* messages that a client has not read; beyond that it is closed */
#define READ_TIME       (30 * SECOND) /* until a client must have read a result */
#define TICK            250           /* milliseconds */
#define TICKS_OF_LOOK   4             /* folders' states are looked at for those who follow them */
#define FOLLOWERS_MAX   64
#define EVENTS_A_TURN   64 /* that a follower is given at once */

static void on_client(uv_poll_t *poll, int status, int events);

static void release(struct jobs_socket *server)
{
    if (--server->n_users == 0)
        free(server);
}

static void on_sweep(uv_idle_t *idle);

static void want_sweep(struct jobs_socket *server)
{
    if (!uv_is_closing((uv_handle_t *)&server->sweep))
        uv_idle_start(&server->sweep, on_sweep);
}

/* It is closed from the loop. */
static void break_client(struct jobs_client *client)
{
    if (client->broken || client->closed)
        return;
    client->broken = true;
    pace_leave(&client->server->service->shares.pace, &client->turn);
    client->server->n_leaving++;
    uv_poll_stop(&client->poll);
    want_sweep(client->server);
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
    account_count_result(&client->server->service->shares, client->account, -(int64_t)message->held);
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

static void on_tick(uv_timer_t *timer);

static void feed(struct jobs_client *client);

static void send_outgoing(struct jobs_client *client)
{
    struct jobs_outgoing *first;
    note_read(client);
    while (!client->broken && (first = STAILQ_FIRST(&client->outgoing)) != NULL) {
        struct fault fault = FAULT_INIT;
        unsigned before = unread_bytes(client), least = (unsigned)first->json.length;
        int result =
            message_send_encoded(client->fd, &first->json, &first->fd, first->fd >= 0, &fault);
        if (result == FAULT_BUSY) /* the socket has no room */
            break;
        if (result != 0)
            break_client(client);
        /* It takes more than its text; what the client reads meanwhile makes it look like less. */
        unsigned after = unread_bytes(client);
        first->bytes = after > before + least ? after - before : least;
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
    if (client->follows && !client->feeding && STAILQ_EMPTY(&client->outgoing))
        feed(client);
    poll_client(client);
}

/* Sends a message now or later. Takes over the text, the descriptor (unless −1), and the `held`
 * bytes of the account. */
static void send_message(struct jobs_client *client, struct text *json, int fd, uint64_t held)
{
    struct jobs_outgoing *message = calloc(1, sizeof *message);
    if (!message || json->failed || client->n_outgoing >= OUTGOING_MAX)
        break_client(client);
    if (!message || client->broken || client->closed) {
        closing_take(client->server->service->loop, &fd);
        account_count_result(&client->server->service->shares, client->account, -(int64_t)held);
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

/* Takes over the object, and what send_message takes. */
static void send_object(struct jobs_client *client, json_t *object, int fd, uint64_t held)
{
    struct text text = {0};
    json_append(&text, object);
    send_message(client, &text, fd, held);
}

/* `errors`: all mistakes in the chain; NULL: none is known. */
static void say_fault(struct jobs_client *client, int64_t id, const struct fault *fault,
                      const struct message *report, const struct faults *errors)
{
    json_t *answer = json_pack("{s:s, s:s, s:o}", "type", "done", "result", fault_name(fault->code),
                               "text", json_text(fault->text));
    if (id >= 0)
        json_object_set_new(answer, "id", json_integer(id));
    if (report && report->subject)
        json_object_set_new(answer, "subject", json_text(report->subject));
    if (report && report->step)
        json_object_set_new(answer, "step", json_text(report->step));
    if (fault->position >= 0) {
        json_object_set_new(answer, "position", json_integer(fault->position));
        json_object_set_new(answer, "length", json_integer(fault->length));
    }
    if (errors && faults_count(errors) > 0)
        json_object_set_new(answer, "errors", json_faults(errors, "text"));
    if (fault->code == FAULT_BUSY)
        json_object_set_new(answer, "retry_after",
                            json_integer(service_retry_after(client->server->service)));
    if (report)
        json_object_update_missing(answer, report->report);
    send_object(client, answer, -1, 0);
}

/* ---- jobs ---- */

/* A request has ended, whose answer is sent or sought by nobody. */
static void leave_request(struct jobs_client *client)
{
    client->n_requests--;
    client->server->n_requests--;
    want_sweep(client->server);
}

/* Says of a result what its files are. */
static void tell_files(json_t *json, const struct message *report, size_t of)
{
    json_t *planes = json_array();
    size_t length;
    const char *type = report->media_type ? report->media_type : "application/octet-stream";
    for (size_t i = 0; i < report->n_planes; i++)
        if (report->of[i] == of)
            json_array_append_new(planes, json_string(report->planes[i]));
    json_object_set_new(json, "planes", planes);
    const char *part = text_find_part(type, of, &length);
    if (part)
        json_object_set_new(json, "media_type", json_stringn(part, length));
    part = text_find_part(report->extension ? report->extension : "", of, &length);
    if (part)
        json_object_set_new(json, "extension", json_stringn(part, length));
}

/* A single file is sent with the answer; of several, each is sent with a message of its own before
 * the answer. The answer's own members are those of the first result. */
static void send_result(struct jobs_client *client, struct client_job *job,
                        const struct message *report)
{
    json_int_t id = job->request.id;
    int alone = -1;
    uint64_t held = 0;
    bool single = job->n_planes == 1 && job->how.out_fd < 0 && report->n_planes == 1 &&
                  report->planes[0][0] == '\0';
    for (size_t i = 0; i < job->n_planes; i++) {
        struct client_plane *plane = &job->planes[i];
        int fd = plane->fd;
        lseek(fd, 0, SEEK_SET);
        if (single) {
            alone = fd;
            held = plane->size;
        } else {
            send_object(client,
                        json_pack("{s:s, s:I, s:i, s:s, s:s}", "type", "output", "id", id, "result",
                                  (int)plane->of, "name", job->names[plane->of], "plane",
                                  plane->name),
                        fd, plane->size);
        }
        *plane = (struct client_plane){.fd = -1}; /* the message has it, and what it counts */
    }
    json_t *results = json_array(), *counted;
    for (size_t i = 0; i < job->n_results; i++) {
        json_t *one = json_pack("{s:s}", "name", job->names[i]);
        tell_files(one, report, i);
        counted = json_array_get(json_object_get(report->report, "results"), i);
        if (json_is_object(counted))
            json_object_update_missing(one, counted);
        json_array_append_new(results, one);
    }
    json_t *answer = json_pack("{s:s, s:I, s:s, s:o}", "type", "done", "id", id, "result", "ok",
                               "results", results);
    tell_files(answer, report, 0);
    json_object_update_missing(answer, report->report);
    send_object(client, answer, alone, held);
}

static void tell_failure(struct jobs_client *client, struct client_job *job,
                         const struct message *report)
{
    struct faults errors = client_job_faults(job, report);
    say_fault(client, job->request.id, &job->job.fault, report, &errors);
}

static void on_job_ended(struct client_job *job, const struct message *report)
{
    struct jobs_client *client = job->how.client;
    if (report && report->report) { /* what happened before the worker had the job */
        double queue = message_figure(report, "queue_s") + job_queue_seconds(&job->job);
        double copied = message_figure(report, "bytes_copied") + (double)job->copied;
        json_object_set_new(report->report, "queue_s", json_real(queue));
        json_object_set_new(report->report, "bytes_copied", json_integer((json_int_t)copied));
    }
    if (job->job.fault.code == FAULT_NONE && report)
        send_result(client, job, report);
    else
        tell_failure(client, job, report);
    if (job->lost)
        break_client(client);
    LIST_REMOVE(job, in_list);
    leave_request(client);
    client_job_destroy(&job);
}

/* Takes over the descriptors, and what the receiver has. */
static int start_job(struct jobs_client *client, struct request *request,
                     struct reception *reception, const struct receipt *receipt, int fds[2],
                     struct fault *fault)
{
    struct service *service = client->server->service;
    const struct client_job *other;
    struct client_job *job;
    int result = 0;
    if (!receipt || !receipt->has_input)
        result = fault_set(fault, FAULT_DATA, "a job needs the descriptor of its input");
    LIST_FOREACH (other, &client->jobs, in_list)
        if (result == 0 && other->request.id == request->id)
            result = fault_set(fault, FAULT_DATA, "there is a request %lld already",
                               (long long)request->id);
    if (result == 0 && client->n_requests >= REQUESTS_MAX)
        result =
            fault_set(fault, FAULT_BUSY, "%d requests of this client are under way", REQUESTS_MAX);
    if (result == 0)
        result = account_check_queue(&service->shares, client->account, fault);
    if (result == 0 && receipt->files.code != FAULT_NONE)
        result = fault_set(fault, receipt->files.code, "%s", receipt->files.text);
    if (result == 0 && receipt->size > service->settings->max_file)
        result = fault_set(fault, FAULT_LIMIT, "input: %s; max_file is %s (--max-file)",
                           number_size(receipt->size), number_size(service->settings->max_file));
    if (result == 0 && !account_take(&service->shares, client->account, 0, receipt->size))
        result = fault_set(fault, FAULT_BUSY,
                           "inputs and unread results take all memory that this user may have");
    if (result != 0) {
        if (receipt && receipt->to_copy)
            reception_drop(reception);
        return result;
    }
    char id[REQUEST_ID_SIZE];
    snprintf(id, sizeof id, "%lld of process %d", (long long)request->id, (int)client->peer.pid);
    struct client_job_how how = {.origin = "jobs",
                                 .id = id,
                                 .account = client->account,
                                 .flow = &client->flow,
                                 .request = request,
                                 .in_fd = fds[0],
                                 .out_fd = fds[1],
                                 .bytes = receipt->size,
                                 .several = true,
                                 .configured = socket_asks_names(&service->settings->jobs_socket),
                                 .reception = receipt->to_copy ? reception : NULL,
                                 .ended = on_job_ended,
                                 .client = client};
    fds[0] = fds[1] = -1;
    if (client_job_start(&job, service, &how, fault) != 0)
        return fault->code;
    LIST_INSERT_HEAD(&client->jobs, job, in_list);
    client->n_requests++;
    client->server->n_requests++;
    return 0;
}

/* ---- inquiries: questions about files ---- */

struct jobs_inquiry {
    struct jobs_client *client;
    int64_t id;
    const char *word; /* of the answer; a constant string */
    struct inquiry *inquiry;
    LIST_ENTRY(jobs_inquiry) in_list;
};

static void free_inquiry(struct jobs_inquiry *asked)
{
    LIST_REMOVE(asked, in_list);
    leave_request(asked->client);
    free(asked);
}

static void on_answer(void *user, json_t *answer, const struct fault *fault)
{
    struct jobs_inquiry *asked = user;
    if (answer)
        send_object(asked->client,
                    json_pack("{s:s, s:I, s:s, s:o}", "type", asked->word, "id",
                              (json_int_t)asked->id, "result", "ok", asked->word, answer),
                    -1, 0);
    else
        say_fault(asked->client, asked->id, fault, NULL, NULL);
    free_inquiry(asked);
}

static int start_inquiry(struct jobs_client *client, const struct request *request,
                         struct fault *fault)
{
    if (client->n_requests >= REQUESTS_MAX)
        return fault_set(fault, FAULT_BUSY, "%d requests of this client are under way",
                         REQUESTS_MAX);
    struct jobs_inquiry *asked = calloc(1, sizeof *asked);
    if (!asked)
        return fault_set(fault, FAULT_MEMORY, "no memory for a question");
    *asked = (struct jobs_inquiry){.client = client,
                                   .id = request->id,
                                   .word = request->kind == REQUEST_WHY     ? "why"
                                           : request->kind == REQUEST_FILES ? "files"
                                                                            : "requeue"};
    LIST_INSERT_HEAD(&client->inquiries, asked, in_list);
    client->n_requests++;
    client->server->n_requests++;
    if (service_inquire(client->server->service, client->peer.uid, request, ANSWER_MAX, on_answer,
                        asked, &asked->inquiry, fault) == 0)
        return 0;
    free_inquiry(asked);
    return fault->code;
}

/* ---- events ---- */

/* Gives a follower what has happened since, as far as its socket has room: it reads from the ring
 * of the last events at a pace of its own, and nothing is kept for it but one message. What was
 * forgotten meanwhile is told as a number. */
static void feed(struct jobs_client *client)
{
    const struct events *events = client->server->service->queue->events;
    const struct event *event;
    for (int i = 0; i < EVENTS_A_TURN && STAILQ_EMPTY(&client->outgoing) && !client->broken; i++) {
        struct text text = {0};
        uint64_t lost = events_skip(events, &client->next_event);
        text_printf(&text, "{\"type\":\"event\",\"id\":%lld,", (long long)client->follows_id);
        if (lost > 0) {
            text_printf(&text, "\"event\":\"lost\",\"data\":{\"lost\":%" PRIu64 "}}", lost);
        } else if ((event = events_get(events, client->next_event)) != NULL) {
            char *json = event_print(event);
            bool fits = json && strlen(json) < ANSWER_MAX; /* else it has very many results */
            text_printf(&text,
                        "\"number\":%" PRIu64 ",\"event\":\"%s\",\"data\":", client->next_event++,
                        event->kind);
            text_append(&text, fits ? json : "null");
            text_append(&text, "}");
            free(json);
        } else {
            text_finish(&text);
            return;
        }
        client->feeding = true; /* send_message comes back here */
        send_message(client, &text, -1, 0);
        client->feeding = false;
    }
}

/* A further one of the same client takes the place of the one before. */
static int follow(struct jobs_client *client, const struct request *request, struct fault *fault)
{
    struct jobs_socket *server = client->server;
    const struct events *events = server->service->queue->events;
    int64_t after = -1;
    if (request->after && (!number_parse_integer(request->after, strlen(request->after), &after) ||
                           after < 0 || (uint64_t)after >= events->next))
        return fault_set(fault, FAULT_DATA, "field 'after' is no number of an event");
    if (!client->follows && server->n_followers >= FOLLOWERS_MAX)
        return fault_set(fault, FAULT_BUSY, "%d clients follow the events already", FOLLOWERS_MAX);
    server->n_followers += !client->follows;
    send_object(client,
                json_pack("{s:s, s:I, s:s, s:I}", "type", "events", "id", (json_int_t)request->id,
                          "result", "ok", "next", (json_int_t)events->next),
                -1, 0);
    client->follows = true;
    client->follows_id = request->id;
    client->next_event = (uint64_t)(after + 1);
    if (!request->after)
        events_skip(events, &client->next_event);
    service_look_at_folders(server->service); /* so that what changes from here on is told */
    uv_timer_start(&server->tick, on_tick, TICK, TICK);
    if (STAILQ_EMPTY(&client->outgoing))
        feed(client);
    return 0;
}

/* ---- messages of the client ---- */

/* Handles a message, with the receipt for its descriptors (NULL: it has none). Descriptors that are
 * taken over become −1. */
static void take_message(struct jobs_client *client, const char *bytes, size_t size,
                         struct reception *reception, const struct receipt *receipt, int fds[2])
{
    struct request request;
    struct fault fault = FAULT_INIT;
    int result = request_of_message(&request, bytes, size, &fault);
    int64_t id = request.id;
    bool job = result == 0 && request.kind == REQUEST_JOB;
    if (!job && result == 0 && receipt && receipt->has_input)
        result = fault_set(&fault, FAULT_DATA, "descriptors that belong to no job");
    if (!job && receipt && receipt->to_copy)
        reception_drop(reception);
    if (result == 0 && request.kind == REQUEST_STATUS) {
        const char *status = service_short_status(client->server->service, ANSWER_MAX);
        struct text text = {.failed = !status};
        text_printf(
            &text, "{\"type\":\"status\",\"id\":%lld,\"result\":\"ok\",\"status\":", (long long)id);
        text_append(&text, status ? status : "");
        text_append(&text, "}");
        send_message(client, &text, -1, 0);
    } else if (result == 0 && request.kind == REQUEST_EVENTS) {
        result = follow(client, &request, &fault);
    } else if (result == 0) {
        result = job ? start_job(client, &request, reception, receipt, fds, &fault)
                     : start_inquiry(client, &request, &fault);
    }
    if (result != 0)
        say_fault(client, id, &fault, NULL, NULL);
    request_finish(&request);
}

static void cancel_requests(struct jobs_client *client)
{
    struct client_job *job;
    while ((job = LIST_FIRST(&client->jobs)) != NULL) {
        LIST_REMOVE(job, in_list);
        leave_request(client);
        client_job_cancel(&job);
    }
    struct jobs_inquiry *asked;
    while ((asked = LIST_FIRST(&client->inquiries)) != NULL) {
        inquiry_cancel(&asked->inquiry);
        free_inquiry(asked);
    }
}

/* ---- reading ---- */

static bool receive_one(struct jobs_client *client);

static void on_received(struct reception *reception, const struct parcel *parcel,
                        const int given[2])
{
    struct jobs_client *client = reception->how.user;
    const struct receipt *receipt = &parcel->receipt;
    int fds[2] = {given[0], given[1]};
    if (receipt->fault.code == FAULT_DATA)
        say_fault(client, -1, &receipt->fault, NULL, NULL);
    else if (receipt->fault.code != FAULT_NONE)
        break_client(client);
    else if (receipt->length > 0)
        take_message(client, parcel->bytes, receipt->length, reception, receipt, fds);
    for (int i = 0; i < 2; i++)
        closing_take(client->server->service->loop, &fds[i]);
    if (receipt->going_on)
        return;
    client->reception = NULL;
    poll_client(client);
    if (!client->broken && STAILQ_EMPTY(&client->outgoing))
        receive_one(client); /* the next message, while the receiver still runs */
}

/* The descriptors of a message hang, or it could not be received: nothing after it can be read. */
static void on_lost(struct reception *reception, const struct fault *fault)
{
    struct jobs_client *client = reception->how.user;
    say_fault(client, -1, fault, NULL, NULL);
    client->reception = NULL;
    poll_client(client);
    break_client(client);
}

/* Returns false when no further message is to be read now. */
static bool receive_one(struct jobs_client *client)
{
    static char buffer[MESSAGE_BYTES_MAX]; /* used by the loop's thread only */
    struct fault fault = FAULT_INIT;
    int fds[MESSAGE_FDS_MAX];
    size_t size = sizeof buffer, n_fds;
    enum message_head head = message_look(client->fd);

    /* A client's descriptors are never opened in this process: any call on them, even close, may
     * wait for ever. A receiver takes them. */
    struct reception_how how = {.uid = client->peer.uid,
                                .client_fd = client->fd,
                                .order = RECEIVER_TAKE,
                                .received = on_received,
                                .lost = on_lost,
                                .user = client};
    if (head == MESSAGE_DESCRIPTORS &&
        reception_start(&client->reception, &client->server->receptions, &how, &fault) != 0) {
        say_fault(client, -1, &fault, NULL, NULL);
        break_client(client);
    } else if (head == MESSAGE_DESCRIPTORS) {
        poll_client(client);
    }
    if (head != MESSAGE_PLAIN)
        return false;
    int result = message_receive_bytes(client->fd, buffer, &size, fds, &n_fds, &fault);
    while (n_fds > 0) /* none, since the look has found none */
        receptions_close_fd(&client->server->receptions, client->peer.uid, fds[--n_fds]);
    if (result == FAULT_BUSY)
        return false;
    if (result == FAULT_DATA) {
        say_fault(client, -1, &fault, NULL, NULL);
        return !client->broken;
    }
    if (result != 0) {
        break_client(client);
        return false;
    }
    take_message(client, buffer, size, NULL, NULL, fds);
    return !client->broken && STAILQ_EMPTY(&client->outgoing);
}

static void read_some(struct jobs_client *client)
{
    struct pace *pace = &client->server->service->shares.pace;
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
    struct pace *pace = &client->server->service->shares.pace;
    if (status < 0 || (events & UV_DISCONNECT)) {
        break_client(client);
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
    release(server);
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
    client->server->n_followers -= client->follows;
    client->follows = false;
    pace_leave(&client->server->service->shares.pace, &client->turn);
    uv_poll_stop(&client->poll);
    reception_cancel(&client->reception);
    cancel_requests(client);
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
    if (server->service->queue->draining)
        queue_wake(server->service->queue); /* maybe it was the last answer */
}

/* Runs while there are unread results, or followers: a client that reads none for too long is cut
 * off, and so is a follower whose socket is full for so long. */
static void on_tick(uv_timer_t *timer)
{
    struct jobs_socket *server = timer->data;
    struct jobs_client *client;
    bool any = server->n_followers > 0;
    if (any && ++server->n_ticks % TICKS_OF_LOOK == 0)
        service_look_at_folders(server->service);
    LIST_FOREACH (client, &server->clients, in_list) {
        note_read(client);
        any |= client->held > 0;
        if (client->follows && !client->broken && STAILQ_EMPTY(&client->outgoing))
            feed(client);
        bool full = client->follows && !STAILQ_EMPTY(&client->outgoing);
        if (client->closed && client->held == 0)
            want_sweep(server);
        if ((client->held == 0 && !full) || client->broken ||
            clock_now() - client->read_at < READ_TIME)
            continue;
        log_info("process %d of user %u does not read its results or events: it is cut off",
                 (int)client->peer.pid, (unsigned)client->peer.uid);
        break_client(client);
    }
    if (!any)
        uv_timer_stop(timer);
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
    LIST_INIT(&client->jobs);
    LIST_INIT(&client->inquiries);
    STAILQ_INIT(&client->outgoing);
    STAILQ_INIT(&client->unread);
    LIST_INSERT_HEAD(&server->clients, client, in_list);
    server->n_users++;
    poll_client(client);
}

/* ---- life ---- */

static void on_handle_closed(uv_handle_t *handle)
{
    release(handle->data);
}

static void on_listener_closed(void *context)
{
    release(context);
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
    receptions_init(&s->receptions, service->loop, &service->shares.pace);
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
