/* A client of the jobs socket: its requests for jobs, and the answers. */
#include "daemon/serve/jobs_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/number.h"
#include "daemon/serve/ask.h"
#include "daemon/work/closing.h"
#include "daemon/work/metrics.h"
#include "worker/json_text.h"

#define ANSWER_MAX 60000 /* bytes of a status, or of a page of files, that fit into a message */

/* A request for a job. An input that is no sealed memory file is copied first, by a receiver; then
 * the job goes to the queue. */
struct jobs_request {
    struct jobs_client *client; /* NULL: it has disconnected */
    struct jobs_socket *server;
    struct account *account;
    int64_t id;
    struct ask ask;
    int in_fd, out_fd;           /* owned until the job takes them; −1: none */
    uint64_t copied;             /* bytes of the input that a receiver copied */
    uint64_t taken;              /* counted against the user's account */
    struct reception *reception; /* NULL except while a receiver copies the input */
    struct fault fault;
    struct client_job *job;
    LIST_ENTRY(jobs_request) in_list;
};

/* A question about files. */
struct jobs_question {
    struct jobs_client *client;
    struct jobs_socket *server;
    int64_t id;
    enum ask_kind kind;
    struct inquiry *inquiry;
    LIST_ENTRY(jobs_question) in_list;
};

/* ---- answers ---- */

/* Takes over the object, and what jobs_send takes. */
static void send_object(struct jobs_client *client, json_t *object, int fd, uint64_t held)
{
    struct text text = {0};
    char *dumped = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(object);
    if (dumped)
        text_append(&text, dumped);
    else
        text.failed = true;
    free(dumped);
    jobs_send(client, &text, fd, held);
}

void client_say_fault(struct jobs_client *client, int64_t id, const struct fault *fault,
                      const struct message *report)
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
    if (report && faults_count(&report->faults) > 0)
        json_object_set_new(answer, "errors", json_faults(&report->faults, "text"));
    if (fault->code == FAULT_BUSY)
        json_object_set_new(answer, "retry_after",
                            json_integer(service_retry_after(client->server->service)));
    if (report)
        json_object_update_missing(answer, report->report);
    send_object(client, answer, -1, 0);
}

static json_t *report_json(const struct jobs_request *request, const struct message *report)
{
    json_t *planes = json_array();
    for (size_t i = 0; i < report->n_planes; i++)
        json_array_append_new(planes, json_string(report->planes[i]));
    json_t *answer =
        json_pack("{s:s, s:I, s:s, s:o, s:s, s:s}", "type", "done", "id", (json_int_t)request->id,
                  "result", "ok", "planes", planes, "media_type",
                  report->media_type ? report->media_type : "application/octet-stream", "extension",
                  report->extension ? report->extension : "");
    json_object_update_missing(answer, report->report);
    return answer;
}

/* A single file is sent with the answer; of several, each is sent with a message of its own before
 * the answer. */
static void send_result(struct jobs_request *request, const struct message *report)
{
    struct jobs_client *client = request->client;
    struct client_job *job = request->job;
    int first = -1;
    uint64_t held = 0;
    bool alone = job->n_planes == 1 && job->how.out_fd < 0 && report->n_planes == 1 &&
                 report->planes[0][0] == '\0';
    for (size_t i = 0; i < job->n_planes; i++) {
        struct client_plane *plane = &job->planes[i];
        json_t *about = json_pack("{s:s, s:I, s:s}", "type", "output", "id",
                                  (json_int_t)request->id, "plane", plane->name);
        uint64_t size = plane->size;
        int fd = plane->fd;
        *plane = (struct client_plane){.fd = -1};
        lseek(fd, 0, SEEK_SET);
        if (alone) {
            first = fd;
            held = size;
            json_decref(about);
        } else {
            send_object(client, about, fd, size);
        }
    }
    send_object(client, report_json(request, report), first, held);
}

/* ---- requests ---- */

static void destroy_request(struct jobs_request *request)
{
    struct jobs_socket *server = request->server;
    if (request->client) {
        LIST_REMOVE(request, in_list);
        request->client->n_requests--;
    }
    server->n_requests--;
    client_job_destroy(&request->job);
    service_give(server->service, request->account, request->taken);
    account_leave(request->account);
    closing_take(server->service->loop, &request->in_fd);
    closing_take(server->service->loop, &request->out_fd);
    ask_finish(&request->ask);
    free(request);
    jobs_want_sweep(server);
    jobs_release(server);
}

static void refuse(struct jobs_request *request)
{
    client_say_fault(request->client, request->id, &request->fault, NULL);
    destroy_request(request);
}

static void on_ended(struct client_job *job, const struct message *report)
{
    struct jobs_request *request = job->how.user;
    if (report && report->report) { /* what happened before the worker had the job */
        double queue = message_figure(report, "queue_s") + job_queue_seconds(&job->job);
        double copied = message_figure(report, "bytes_copied") + (double)request->copied;
        json_object_set_new(report->report, "queue_s", json_real(queue));
        json_object_set_new(report->report, "bytes_copied", json_integer((json_int_t)copied));
    }
    if (job->job.fault.code == FAULT_NONE && report)
        send_result(request, report);
    else
        client_say_fault(request->client, request->id, &job->job.fault, report);
    destroy_request(request);
}

static void start_job(struct jobs_request *request)
{
    const struct ask *ask = &request->ask;
    char id[REQUEST_ID_SIZE];
    snprintf(id, sizeof id, "%lld of process %d", (long long)request->id,
             (int)request->client->peer.pid);
    struct client_job_how how = {.origin = "jobs",
                                 .request = id,
                                 .flow = &request->client->flow,
                                 .account = request->account,
                                 .chain = ask->chain,
                                 .format = ask->format,
                                 .input = ask->input,
                                 .in_fd = request->in_fd,
                                 .out_fd = request->out_fd,
                                 .several = true,
                                 .bytes = request->taken,
                                 .ended = on_ended,
                                 .user = request};
    request->in_fd = request->out_fd = -1;
    request->taken = 0;
    if (client_job_start(&request->job, request->server->service, &how, &request->fault) != 0)
        refuse(request);
}

/* ---- copying the input, by a receiver ---- */

static void on_copied(struct reception *reception, const struct receipt *receipt, const int fds[2])
{
    struct jobs_request *request = reception->how.user;
    request->reception = NULL;
    request->in_fd = fds[0];
    request->out_fd = fds[1];
    request->copied = receipt->size;
    request->fault = receipt->fault;
    metrics_add(request->server->service->metrics, METRIC_BYTES_COPIED, NULL,
                (double)request->copied);
    if (!request->client)
        destroy_request(request);
    else if (request->fault.code != FAULT_NONE)
        refuse(request);
    else
        start_job(request);
}

static void on_copy_lost(struct reception *reception, const struct fault *fault)
{
    struct jobs_request *request = reception->how.user;
    struct jobs_client *client = request->client;
    request->reception = NULL;
    if (client)
        client_say_fault(client, request->id, fault, NULL);
    destroy_request(request);
    if (client)
        jobs_break(client);
}

/* ---- questions about files ---- */

static void destroy_question(struct jobs_question *question)
{
    struct jobs_socket *server = question->server;
    LIST_REMOVE(question, in_list);
    question->client->n_requests--;
    server->n_requests--;
    free(question);
    jobs_want_sweep(server);
    jobs_release(server);
}

static void on_answer(void *user, json_t *answer, const struct fault *fault)
{
    struct jobs_question *question = user;
    const char *word = question->kind == ASK_WHY     ? "why"
                       : question->kind == ASK_FILES ? "files"
                                                     : "requeue";
    if (answer)
        send_object(question->client,
                    json_pack("{s:s, s:I, s:s, s:o}", "type", word, "id", (json_int_t)question->id,
                              "result", "ok", word, answer),
                    -1, 0);
    else
        client_say_fault(question->client, question->id, fault, NULL);
    destroy_question(question);
}

static void ask_about_file(struct jobs_client *client, const struct ask *ask)
{
    struct fault fault = FAULT_INIT;
    struct jobs_question *question = NULL;
    if (client->n_requests >= CLIENT_JOBS_MAX)
        fault_set(&fault, FAULT_BUSY, "%d requests of this client are under way", CLIENT_JOBS_MAX);
    else if ((question = calloc(1, sizeof *question)) == NULL)
        fault_set(&fault, FAULT_MEMORY, "no memory for a question");
    if (!question) {
        client_say_fault(client, ask->id, &fault, NULL);
        return;
    }
    *question = (struct jobs_question){
        .client = client, .server = client->server, .id = ask->id, .kind = ask->kind};
    struct inquiry_ask what = {.uid = client->peer.uid,
                               .kind = ask->kind == ASK_WHY     ? INQUIRY_WHY
                                       : ask->kind == ASK_FILES ? INQUIRY_LIST
                                       : ask->failed            ? INQUIRY_REQUEUE_FAILED
                                                                : INQUIRY_REQUEUE,
                               .file = ask->file,
                               .state = ask->state,
                               .after = ask->after,
                               .limit = ask->limit == 0 ? INQUIRY_LIMIT
                                        : ask->limit > INQUIRY_LIMIT_MAX
                                            ? INQUIRY_LIMIT_MAX + 1 /* is refused */
                                            : (unsigned)ask->limit,
                               .bytes = ANSWER_MAX,
                               .ended = on_answer,
                               .user = question};
    LIST_INSERT_HEAD(&client->questions, question, in_list);
    client->n_requests++;
    client->server->n_requests++;
    client->server->n_users++;
    if (inquiry_start(&question->inquiry, &client->server->service->inquiries, &what, &fault) == 0)
        return;
    client_say_fault(client, ask->id, &fault, NULL);
    destroy_question(question);
}

/* ---- messages of the client ---- */

static int check_job(struct jobs_client *client, const struct ask *ask,
                     const struct receipt *receipt, struct fault *fault)
{
    const struct service *service = client->server->service;
    const struct jobs_request *request;
    if (!receipt || !receipt->has_input)
        return fault_set(fault, FAULT_DATA, "a job needs the descriptor of its input");
    LIST_FOREACH (request, &client->requests, in_list)
        if (request->id == ask->id)
            return fault_set(fault, FAULT_DATA, "there is a request %lld already",
                             (long long)ask->id);
    if (client->n_requests >= CLIENT_JOBS_MAX)
        return fault_set(fault, FAULT_BUSY, "%d requests of this client are under way",
                         CLIENT_JOBS_MAX);
    if (service_check_queue(service, client->account, fault) != 0)
        return fault->code;
    if (receipt->files.code != FAULT_NONE) {
        *fault = receipt->files;
        return fault->code;
    }
    if (receipt->size > service->settings->max_file)
        return fault_set(fault, FAULT_LIMIT, "input: %s; max_file is %s (--max-file)",
                         number_size(receipt->size), number_size(service->settings->max_file));
    return 0;
}

/* Starts a request for a job. Takes over the descriptors and the ask. */
static void take_job(struct jobs_client *client, struct ask *ask, struct reception *reception,
                     const struct receipt *receipt, int fds[2])
{
    struct jobs_request *request = calloc(1, sizeof *request);
    if (!request) {
        service_give(client->server->service, client->account, receipt->size);
        if (receipt->to_copy)
            reception_drop(reception);
        jobs_break(client);
        return;
    }
    *request = (struct jobs_request){.client = client,
                                     .server = client->server,
                                     .account = account_use(client->account),
                                     .id = ask->id,
                                     .ask = *ask,
                                     .in_fd = fds[0],
                                     .out_fd = fds[1],
                                     .taken = receipt->size,
                                     .fault = FAULT_INIT};
    *ask = (struct ask){.id = -1};
    fds[0] = fds[1] = -1;
    LIST_INSERT_HEAD(&client->requests, request, in_list);
    client->n_requests++;
    client->server->n_requests++;
    client->server->n_users++;
    if (!receipt->to_copy) {
        start_job(request);
        return;
    }
    reception->how.copied = on_copied;
    reception->how.lost = on_copy_lost;
    reception->how.user = request;
    request->reception = reception;
    reception_copy(reception);
}

void client_take(struct jobs_client *client, const char *bytes, size_t size,
                 struct reception *reception, const struct receipt *receipt, int fds[2])
{
    struct service *service = client->server->service;
    struct ask ask;
    struct fault fault = FAULT_INIT;
    int result = ask_decode(&ask, bytes, size, &fault);
    if (result == 0 && ask.kind == ASK_JOB)
        result = check_job(client, &ask, receipt, &fault);
    else if (result == 0 && receipt && receipt->has_input)
        result = fault_set(&fault, FAULT_DATA, "descriptors that belong to no job");
    if (result == 0 && ask.kind == ASK_JOB &&
        !service_take(service, client->account, 0, receipt->size))
        result = fault_set(&fault, FAULT_BUSY,
                           "inputs and unread results take all memory that this user may have");
    if (receipt && receipt->to_copy && (result != 0 || ask.kind != ASK_JOB))
        reception_drop(reception);
    if (result != 0) {
        client_say_fault(client, ask.id, &fault, NULL);
    } else if (ask.kind == ASK_JOB) {
        take_job(client, &ask, reception, receipt, fds);
    } else if (ask.kind == ASK_STATUS) {
        const char *status = service_short_status(service, ANSWER_MAX);
        struct text text = {.failed = !status};
        text_printf(&text, "{\"type\":\"status\",\"id\":%lld,\"result\":\"ok\",\"status\":",
                    (long long)ask.id);
        text_append(&text, status ? status : "");
        text_append(&text, "}");
        jobs_send(client, &text, -1, 0);
    } else {
        ask_about_file(client, &ask);
    }
    ask_finish(&ask);
}

void client_cancel_all(struct jobs_client *client)
{
    struct jobs_request *request, *next;
    for (request = LIST_FIRST(&client->requests); request; request = next) {
        next = LIST_NEXT(request, in_list);
        /* a receiver copies its input; on_copied or on_copy_lost follows */
        if (request->reception) {
            LIST_REMOVE(request, in_list);
            request->client = NULL;
            continue;
        }
        client_job_cancel(&request->job);
        destroy_request(request);
    }
    struct jobs_question *question;
    while ((question = LIST_FIRST(&client->questions)) != NULL) {
        inquiry_cancel(&question->inquiry);
        destroy_question(question);
    }
}
