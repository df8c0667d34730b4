/* One HTTP request: header, body, answer. */
#include "daemon/serve/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sealed.h"
#include "daemon/work/closing.h"

#define BODY_SECONDS   30
#define IDLE_SECONDS   15
#define ANSWER_SECONDS 30
#define ANSWER_RATE    (1 << 20) /* bytes a second that a client is expected to read, beyond that */
#define DROPPED_MAX    (UINT64_C(1) << 28) /* bytes of a refused body; then the client is cut off */

/* ---- answers ---- */

void http_answer(struct http_request *request, unsigned status, struct MHD_Response *response)
{
    if (request->response)
        MHD_destroy_response(request->response);
    request->response = response;
    request->status = status;
}

void http_answer_text(struct http_request *request, unsigned status, const char *media_type,
                      const char *text)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    if (response) {
        MHD_add_response_header(response, "Content-Type", media_type);
        MHD_add_response_header(response, "Cache-Control", "no-store");
    }
    http_answer(request, status, response);
}

static void answer_problem(struct http_request *request)
{
    struct problem *problem = &request->problem;
    problem->request_id = request->id;
    if (!request->job) /* how a job ended is logged by itself */
        log_about((struct log_subject){.request = request->id}, LOG_LEVEL_DEBUG,
                  "http request %s: %u %s: %s", request->id, problem->status, problem->code,
                  problem->detail);
    char *document = problem_print(problem, &request->faults);
    http_answer_text(request, problem->status, "application/problem+json",
                     document ? document : "{}");
    free(document);
    if (request->response && problem->retry_after > 0) {
        char seconds[16];
        snprintf(seconds, sizeof seconds, "%u", problem->retry_after);
        MHD_add_response_header(request->response, "Retry-After", seconds);
    }
    if (request->response && problem->status == 405)
        MHD_add_response_header(request->response, "Allow", request->route->methods);
}

/* Sends the answer, with a deadline, since an answer that is not read holds memory. */
static enum MHD_Result send_answer(struct http_request *request)
{
    struct http_connection *connection = request->connection;
    const struct client_job *job = request->job;
    uint64_t bytes = 0;
    for (size_t i = 0; job && i < job->n_planes; i++)
        bytes += job->planes[i].size;
    if (request->problem.status != 0)
        answer_problem(request);
    if (!request->response)
        return MHD_NO;
    MHD_add_response_header(request->response, "X-Request-Id", request->id);
    http_enter(connection, HTTP_ANSWER, ANSWER_SECONDS + bytes / ANSWER_RATE);
    return MHD_queue_response(connection->mhd, request->status, request->response);
}

/* ---- the header ---- */

void *http_request_begin(void *context, const char *target, struct MHD_Connection *mhd)
{
    struct http *http = context;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_connection *connection = info ? info->socket_context : NULL;
    struct http_request *request = connection ? calloc(1, sizeof *request) : NULL;
    if (!request)
        return NULL;
    http->n_requests++;
    request->connection = connection;
    request->body_fd = -1;
    /* a request line for a proxy contains the server's name too (RFC 9112, 3.2.2) */
    if (strncasecmp(target, "http://", 7) == 0)
        target = strchr(target + 7, '/') ? strchr(target + 7, '/') : "/";
    service_make_id(http->service, request->id); /* until the header has arrived */
    request->target = strdup(target);
    connection->request = request;
    if (connection->phase == HTTP_IDLE)
        http_enter(connection, HTTP_HEADER, 5);
    return request;
}

/* Everyone who reads a request must agree where it ends and for whom it is. Headers that allow two
 * readings are refused (RFC 9112, 3.2 and 6.3), although libmicrohttpd chooses one. */
struct framing {
    unsigned lengths, hosts, encodings;
};

static enum MHD_Result count_framing(void *context, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
    struct framing *framing = context;
    framing->lengths += strcasecmp(name, "Content-Length") == 0;
    if (strcasecmp(name, "Content-Length") == 0 && value && strchr(value, ','))
        framing->lengths++;
    framing->hosts += strcasecmp(name, "Host") == 0;
    framing->encodings += strcasecmp(name, "Transfer-Encoding") == 0;
    return MHD_YES;
}

static void refuse_large(struct http_request *request)
{
    problem_set(&request->problem, 413, "limit", "the body is larger than max_file %s",
                number_size(request->connection->http->service->settings->max_file));
    request->problem.limit = "max_file";
}

/* `has_share`: it is not the user's part that is used up, but all memory. */
static void refuse_memory(struct http_request *request, bool has_share)
{
    if (has_share)
        problem_set(&request->problem, 503, "memory", "no memory for a body; try later");
    else
        problem_set(&request->problem, 429, "busy",
                    "inputs and unread results take all memory that this user may have; try later");
    request->problem.retry_after = service_retry_after(request->connection->http->service);
}

static enum MHD_Result begin(struct http_request *request, const char *method)
{
    static const char in_ids[] =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.:;,=+/@";
    struct http_connection *connection = request->connection;
    struct service *service = connection->http->service;
    struct problem *problem = &request->problem;
    struct fault fault = FAULT_INIT;
    request->begun = true;

    /* The client's own id, if it is one that may stand in a header and in a line of the log. */
    const char *id = MHD_lookup_connection_value(connection->mhd, MHD_HEADER_KIND, "X-Request-Id");
    size_t id_length = id ? strspn(id, in_ids) : 0;
    if (id_length > 0 && !id[id_length] && id_length < sizeof request->id)
        memcpy(request->id, id, id_length + 1);

    /* Where a request ends that allows two readings is unknown, so nothing after it is read. */
    struct framing framing = {0};
    MHD_get_connection_values(connection->mhd, MHD_HEADER_KIND, count_framing, &framing);
    const char *what = framing.lengths > 1 ? "several Content-Length"
                       : framing.lengths > 0 && framing.encodings > 0
                           ? "both Content-Length and Transfer-Encoding"
                       : framing.encodings > 1 ? "several Transfer-Encoding"
                       : framing.hosts > 1     ? "several Host"
                                               : NULL;
    if (what) {
        problem_set(problem, 400, "header", "the header has %s", what);
        http_cut(connection, problem);
        return MHD_NO;
    }

    /* What it is for, and what its target asks for. */
    char *path = request_path(request->target ? request->target : "");
    const char *shown = path ? path : "";
    for (const struct http_route *route = http_routes; route->path; route++)
        if (strcmp(route->path, shown) == 0)
            request->route = route;
    if (!request->route)
        problem_set(problem, 404, "not-found",
                    "there is nothing at %.200s; GET /v1/openapi.json lists what there is", shown);
    else if (!request_names(request->route->methods, method))
        problem_set(problem, 405, "method", "%s takes %s", shown, request->route->methods);
    else if (request_of_query(&request->asked, request->target, request->route->parameters,
                              &fault) == FAULT_DATA)
        problem_set(problem, 400, "query", "%s", fault.text);
    else if (fault.code != FAULT_NONE)
        problem_of_fault(problem, &fault, NULL, NULL);
    free(path);
    free(request->target);
    request->target = NULL;

    /* A body goes into a memory file, where a job can use it in place. */
    const char *length =
        MHD_lookup_connection_value(connection->mhd, MHD_HEADER_KIND, "Content-Length");
    uint64_t announced = length ? strtoull(length, NULL, 10) : 0;
    if (problem->status == 0 && request->route->takes_body) {
        if (service->queue->draining)
            problem_set(problem, 503, "busy", "the daemon is ending");
        else if (announced > service->settings->max_file)
            refuse_large(request);
        else if ((request->body_fd = sealed_create("sluice-body")) < 0)
            refuse_memory(request, true);
    }
    const char *expect = MHD_lookup_connection_value(connection->mhd, MHD_HEADER_KIND, "Expect");
    if (problem->status != 0 && (expect || announced > DROPPED_MAX))
        return send_answer(request); /* the client waits for "100 Continue", or should have */
    http_enter(connection, HTTP_BODY, BODY_SECONDS);
    return MHD_YES;
}

/* ---- the body ---- */

static void drop_body(struct http_request *request)
{
    closing_take(request->connection->http->service->loop, &request->body_fd);
    account_give(&request->connection->http->service->shares, request->connection->account,
                 request->body_taken);
    request->body_taken = 0;
}

/* The body of a refused request is read all the same, up to a limit: a client that is still sending
 * would otherwise see the connection closed before it reads the answer. */
static enum MHD_Result take_body(struct http_request *request, const char *data, size_t size)
{
    struct service *service = request->connection->http->service;
    if (request->body_fd >= 0 && request->problem.status == 0) {
        if (request->body_bytes + size > service->settings->max_file)
            refuse_large(request);
        else if (!account_take(&service->shares, request->connection->account, request->body_taken, size))
            refuse_memory(request, false);
        else
            request->body_taken += size;
        if (request->problem.status == 0 && file_write(request->body_fd, data, size, NULL) != 0)
            refuse_memory(request, true);
    }
    if (request->body_fd < 0 || request->problem.status != 0) {
        drop_body(request);
        request->dropped_bytes += size;
        if (request->dropped_bytes > DROPPED_MAX)
            http_cut(request->connection, request->problem.status ? &request->problem : NULL);
        return MHD_YES;
    }
    request->has_line_end = request->has_line_end || memchr(data, '\n', size);
    hash_stream_add(&request->hashed, data, size);
    request->body_bytes += size;
    return MHD_YES;
}

/* ---- libmicrohttpd's calls ---- */

enum MHD_Result http_request_go_on(void *context, struct MHD_Connection *mhd, const char *url,
                                   const char *method, const char *version, const char *data,
                                   size_t *size, void **context_of_request)
{
    struct http_request *request = *context_of_request;
    struct http_connection *connection = request ? request->connection : NULL;
    if (!request || connection->phase == HTTP_CUT)
        return MHD_NO;
    if (!request->begun)
        return begin(request, method);
    bool handles = !request->job_ended && request->problem.status == 0 && !request->response;
    bool takes_time = *size > 0 || (handles && request->route->takes_turns);
    if (takes_time && !request->admitted) {
        request->turn.run = http_admit;
        if (!pace_enter(&connection->http->service->shares.pace, &connection->account->pace,
                        &request->turn)) { /* http_admit has libmicrohttpd call again */
            request->turn_since = clock_now();
            MHD_suspend_connection(mhd);
            return MHD_YES;
        }
    }
    if (takes_time)
        request->admitted = false;
    if (*size > 0) {
        size_t given = *size;
        *size = 0;
        return take_body(request, data, given);
    }
    if (handles) {
        request->route->handle(request);
        if ((request->job && !request->job_ended) ||
            request->inquiry) { /* http_resume follows when it has ended */
            http_enter(connection, HTTP_RUNNING, 0);
            MHD_suspend_connection(mhd);
            http_watch_hangup(connection, true);
            return MHD_YES;
        }
    }
    return send_answer(request);
}

void http_request_end(void *context, struct MHD_Connection *mhd, void **context_of_request,
                      enum MHD_RequestTerminationCode why)
{
    struct http *http = context;
    struct http_request *request = *context_of_request;
    *context_of_request = NULL;
    if (!request)
        return;
    if (request->job && request->job_ended) {
        if (request->response && request->job->n_planes > 0)
            http_spend(http, &request->job->planes[0].fd);
        client_job_destroy(&request->job);
    } else if (request->job) {
        client_job_cancel(&request->job);
    }
    if (request->inquiry)
        inquiry_cancel(&request->inquiry);
    if (request->turn.user)
        pace_leave(&http->service->shares.pace, &request->turn);
    drop_body(request);
    if (request->response)
        MHD_destroy_response(request->response);
    request_finish(&request->asked);
    free(request->target);
    request->connection->request = NULL;
    if (request->connection->phase != HTTP_CUT)
        http_enter(request->connection, HTTP_IDLE, IDLE_SECONDS);
    free(request);
    http->n_requests--;
    if (http->service->queue->draining)
        queue_wake(http->service->queue); /* maybe it was the last answer */
}
