/* What each path answers: the table is at the end. */
#include "daemon/serve/http.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/sealed.h"
#include "base/text.h"
#include "daemon/work/metrics.h"
#include "daemon/work/supervise.h"
#include "version.h"
#include "worker/json_text.h"
#include "worker/message.h"

#define BODY_MAX   65536 /* of JSON */
#define FORM_PIECE 65536 /* of an answer, read at once */

void http_resume(struct http_request *request)
{
    http_watch_hangup(request->connection, false);
    MHD_resume_connection(request->connection->mhd);
    http_kick(request->connection->http);
}

/* Takes over the document. */
static void answer_json(struct http_request *request, json_t *json)
{
    struct text text = {0};
    json_append(&text, json);
    if (text.failed)
        problem_set(&request->problem, 500, "internal", "no answer could be made");
    else
        http_answer_text(request, 200, "application/json", text_string(&text));
    text_finish(&text);
}

/* ---- POST /v1/process: runs the body through a chain and answers with the result ---- */

static void add_span(struct text *text, const char *name, double seconds)
{
    text_printf(text, "%s%s;dur=%.3f", text->length ? ", " : "", name, seconds * 1e3);
}

/* The only file of the only result, which libmicrohttpd sends from it. NULL without memory. */
static struct MHD_Response *send_file(const struct client_job *job, const struct message *report)
{
    /* owned by the response, if there is one */
    int fd = fcntl(job->planes[0].fd, F_DUPFD_CLOEXEC, 3);
    off_t size = lseek(job->planes[0].fd, 0, SEEK_END);
    struct MHD_Response *response =
        size >= 0 && fd >= 0 ? MHD_create_response_from_fd64((uint64_t)size, fd) : NULL;
    if (!response)
        file_close(&fd);
    else
        MHD_add_response_header(response, "Content-Type",
                                report->media_type ? report->media_type
                                                   : "application/octet-stream");
    return response;
}

/* The files of several results as the parts of a form (RFC 7578), which clients have readers for.
 */
struct form {
    size_t n_parts;
    struct form_part {
        struct text head; /* in front of the file; behind the last file there is one, too */
        int fd;           /* the job's, which lives as long as the answer; −1 behind the last */
        uint64_t size;
    } * parts;
};

static void free_form(void *form_)
{
    struct form *form = form_;
    for (size_t i = 0; form && i < form->n_parts; i++)
        text_finish(&form->parts[i].head);
    free(form ? form->parts : NULL);
    free(form);
}

/* libmicrohttpd asks for bytes from `at` on. The files are sealed memory. */
static ssize_t read_form(void *form_, uint64_t at, char *to, size_t room)
{
    const struct form *form = form_;
    for (size_t i = 0; i < form->n_parts; i++) {
        const struct form_part *part = &form->parts[i];
        if (at < part->head.length) {
            size_t size = part->head.length - at < room ? part->head.length - at : room;
            memcpy(to, part->head.data + at, size);
            return (ssize_t)size;
        }
        at -= part->head.length;
        if (at < part->size) {
            ssize_t got =
                pread(part->fd, to, part->size - at < room ? part->size - at : room, (off_t)at);
            return got > 0 ? got : MHD_CONTENT_READER_END_WITH_ERROR;
        }
        at -= part->size;
    }
    return MHD_CONTENT_READER_END_OF_STREAM;
}

static struct MHD_Response *send_form(const struct client_job *job, const struct message *report)
{
    uint64_t random[2], total = 0;
    char boundary[48], type[96];
    struct form *form = calloc(1, sizeof *form);
    bool made = form && getrandom(random, sizeof random, 0) == sizeof random;
    if (made)
        form->parts = calloc(job->n_planes + 1, sizeof *form->parts);
    made &= form && form->parts;
    snprintf(boundary, sizeof boundary, "sluice-%016" PRIx64 "%016" PRIx64, made ? random[0] : 0,
             made ? random[1] : 0);
    for (size_t i = 0; made && i <= job->n_planes; i++) {
        struct form_part *part = &form->parts[form->n_parts++];
        if (i == job->n_planes) {
            text_printf(&part->head, "\r\n--%s--\r\n", boundary);
        } else {
            const struct client_plane *plane = &job->planes[i];
            size_t type_length, length;
            const char *media = text_find_part(report->media_type ? report->media_type : "",
                                               plane->of, &type_length);
            const char *extension =
                text_find_part(report->extension ? report->extension : "", plane->of, &length);
            const char *name = job->names[plane->of], *dot = plane->name[0] ? "." : "";
            text_printf(&part->head,
                        "%s--%s\r\nContent-Disposition: form-data; name=\"%s%s%s\"; "
                        "filename=\"%s%s%s.%.*s\"\r\nContent-Type: %.*s\r\n\r\n",
                        i ? "\r\n" : "", boundary, name, dot, plane->name, name, dot, plane->name,
                        (int)length, extension ? extension : "", (int)type_length,
                        media ? media : "");
            part->fd = plane->fd;
            part->size = plane->size;
        }
        made &= !part->head.failed;
        total += part->head.length + part->size;
    }
    struct MHD_Response *response =
        made ? MHD_create_response_from_callback(total, FORM_PIECE, read_form, form, free_form)
             : NULL;
    if (!response)
        free_form(form);
    snprintf(type, sizeof type, "multipart/form-data; boundary=%s", boundary);
    if (response)
        MHD_add_response_header(response, "Content-Type", type);
    return response;
}

/* Answers with the result, or all of them. */
static void answer_result(struct http_request *request, const struct message *report)
{
    static const char *const spans[] = {"read",   "decode", "prepare", "device",
                                        "encode", "write",  "total"};
    const struct client_job *job = request->job;
    struct text timing = {0}, counts = {0};
    struct MHD_Response *response =
        job->n_results > 1 ? send_form(job, report) : send_file(job, report);
    if (!response) {
        problem_set(&request->problem, 503, "memory", "no memory for an answer");
        return;
    }
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "ETag", request->etag);

    /* How long each step took. Names must be tokens of RFC 9110, as names of stages are. */
    add_span(&timing, "queue", message_figure(report, "queue_s") + job_queue_seconds(&job->job));
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        char figure[20];
        size_t n;
        json_t *stage;
        snprintf(figure, sizeof figure, "%s_s", spans[i]);
        add_span(&timing, spans[i], message_figure(report, figure));
        if (strcmp(spans[i], "device") != 0)
            continue;
        json_array_foreach (json_object_get(report->report, "stages"), n, stage) {
            const char *name = json_string_value(json_object_get(stage, "stage"));
            if (message_is_stage_label(name))
                add_span(&timing, name, json_number_value(json_object_get(stage, "run_s")));
        }
    }
    MHD_add_response_header(response, "Server-Timing", text_string(&timing));
    text_finish(&timing);

    /* What was copied, and how many stages of the chains have run: a dictionary of RFC 9651. */
    text_printf(&counts,
                "crossings_in=%.0f, crossings_out=%.0f, bytes_copied=%.0f, stages_run=%.0f, "
                "stages_asked=%.0f",
                message_figure(report, "crossings_in"), message_figure(report, "crossings_out"),
                message_figure(report, "bytes_copied"), message_figure(report, "stages_run"),
                message_figure(report, "stages_asked"));
    MHD_add_response_header(response, "Sluice-Counts", text_string(&counts));
    text_finish(&counts);

    /* RFC 7234, 5.5: code 299 is for warnings without a code of their own. */
    const char *warning;
    for (size_t i = 0; (warning = message_warning(report, i)) != NULL; i++) {
        struct text text = {0};
        text_append(&text, "299 sluice \"");
        for (const char *c = warning; *c; c++)
            text_printf(&text, "%s%c", strchr("\"\\", *c) ? "\\" : "", *c);
        text_append(&text, "\"");
        MHD_add_response_header(response, "Warning", text_string(&text));
        text_finish(&text);
    }
    http_answer(request, 200, response);
}

/* Says what curl does to a picture unless it is told otherwise. `-d` takes line ends out of a file;
 * --data-binary does not, and sends the same type. */
static void hint_at_body(struct http_request *request, enum fault_code fault)
{
    struct problem *problem = &request->problem;
    const char *type =
        MHD_lookup_connection_value(request->connection->mhd, MHD_HEADER_KIND, "Content-Type");
    bool form = type && strncasecmp(type, "application/x-www-form-urlencoded", 33) == 0;
    bool parts = type && strncasecmp(type, "multipart/form-data", 19) == 0;
    bool unreadable = problem->status == 415 || fault == FAULT_DATA || fault == FAULT_TRUNCATED;
    const char *hint =
        !unreadable ? ""
        : parts     ? "; the body is a form (curl -F) and not the picture itself: curl "
                      "--data-binary @FILE"
        : form && !request->has_line_end
            ? "; curl -d and --data take line ends out of a file: curl --data-binary @FILE"
        : problem->status == 415
            ? "; the body has to be the picture itself: curl --data-binary @FILE"
            : "";
    size_t used = strlen(problem->detail);
    snprintf(problem->detail + used, sizeof problem->detail - used, "%s", hint);
}

static void explain_job(struct http_request *request, const struct message *report)
{
    struct client_job *job = request->job;
    struct service *service = request->connection->http->service;
    struct problem *problem = &request->problem;
    request->faults = client_job_faults(job, report);
    problem_of_fault(problem, &job->job.fault, report ? report->subject : NULL,
                     report ? report->step : NULL);
    if (job->job.fault.code == FAULT_BUSY && service->queue->draining)
        problem_set(problem, 503, "busy", "the daemon is ending");
    else if (problem->status == 429 || problem->status == 503)
        problem->retry_after = service_retry_after(service);
    hint_at_body(request, job->job.fault.code);
}

static void on_job_ended(struct client_job *job, const struct message *report)
{
    struct http_request *request = job->how.client;
    request->job_ended = true;
    if (job->job.fault.code == FAULT_NONE && report && job->n_planes > 0)
        answer_result(request, report);
    else
        explain_job(request, report);
    http_resume(request);
}

/* What the result depends on: the input, the chains (as they are written, those of names as the
 * configuration has them), the other words of the request, the version, and the configuration.
 * Another device may round floats in another way, so it is a weak one (RFC 9110, 8.8.1). */
static void make_etag(struct http_request *request)
{
    struct service *service = request->connection->http->service;
    const struct request *asked = &request->asked;
    const char *const words[] = {SLUICE_VERSION, asked->format, asked->input ? asked->input : "",
                                 asked->name ? asked->name : ""};
    const char *part;
    uint64_t hash[2], config = service_config_hash(service);
    size_t length;
    for (size_t i = 0; (part = text_find_part(asked->chain, i, &length)) != NULL; i++) {
        char *name = strndup(part, length);
        const char *chain = name ? config_chain(service->config, name) : NULL;
        if (chain) /* the result may be called by its name, which follows */
            hash_stream_add(&request->hashed, chain, strlen(chain) + 1);
        hash_stream_add(&request->hashed, part, length);
        hash_stream_add(&request->hashed, "", 1);
        free(name);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash_stream_add(&request->hashed, words[i], strlen(words[i]) + 1);
    hash_stream_add(&request->hashed, &config, sizeof config);
    hash_stream_add(&request->hashed, &request->body_bytes, sizeof request->body_bytes);
    hash_stream_end(&request->hashed, hash);
    snprintf(request->etag, sizeof request->etag, "W/\"%016" PRIx64 "%016" PRIx64 "\"", hash[0],
             hash[1]);
}

/* Whether the client has the result already. Tags are compared without W/ (RFC 9110, 13.1.2); `*`
 * means any result that there is, and here there is none before it is computed. */
static bool client_has_result(const struct http_request *request)
{
    const char *tags =
        MHD_lookup_connection_value(request->connection->mhd, MHD_HEADER_KIND, "If-None-Match");
    const char *own = request->etag + 2, *at = tags ? strstr(tags, own) : NULL;
    return at && (at == tags || strchr("/ \t,", at[-1])) && strchr(" \t,", at[strlen(own)]);
}

/* The body is the input, in a memory file that nobody changes from here on. */
static void process(struct http_request *request)
{
    struct service *service = request->connection->http->service;
    struct fault fault = FAULT_INIT;
    make_etag(request);
    if (client_has_result(request)) {
        struct MHD_Response *response =
            MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
        if (response)
            MHD_add_response_header(response, "ETag", request->etag);
        log_about((struct log_subject){.request = request->id}, LOG_LEVEL_DEBUG,
                  "http request %s: 304: the client has the result", request->id);
        http_answer(request, 304, response);
        return;
    }
    sealed_finish(request->body_fd);
    struct client_job_how how = {.origin = "http",
                                 .id = request->id,
                                 .account = request->connection->account,
                                 .flow = &request->connection->flow,
                                 .request = &request->asked,
                                 .in_fd = request->body_fd,
                                 .out_fd = -1,
                                 .bytes = request->body_taken,
                                 .configured = socket_asks_names(&service->settings->http),
                                 .ended = on_job_ended,
                                 .client = request};
    request->body_fd = -1;
    request->body_taken = 0;
    if (client_job_start(&request->job, service, &how, &fault) == 0)
        return;
    if (fault.code == FAULT_PERMISSION) {
        problem_set(&request->problem, 403, "permission", "%s", fault.text);
        return;
    }
    problem_of_fault(&request->problem, &fault, NULL, NULL);
    request->problem.retry_after = service_retry_after(service);
    if (service->queue->draining)
        problem_set(&request->problem, 503, "busy", "the daemon is ending");
}

void http_cancel(struct http_request *request)
{
    client_job_cancel(&request->job);
    inquiry_cancel(&request->inquiry);
    http_cut(request->connection, NULL);
    http_resume(request);
}

void http_give_up(struct http_request *request)
{
    client_job_cancel(&request->job);
    problem_set(&request->problem, 503, "no-device", "no worker with a device comes up");
    request->problem.retry_after = service_retry_after(request->connection->http->service);
    http_resume(request);
}

/* ---- inquiries: questions about files ---- */

static void explain_inquiry(struct http_request *request, const struct fault *fault)
{
    struct problem *problem = &request->problem;
    problem_of_fault(problem, fault, NULL, NULL);
    problem->retry_after = fault->code == FAULT_BUSY;
}

static void on_answer(void *user, json_t *answer, const struct fault *fault)
{
    struct http_request *request = user;
    const char *state = json_string_value(json_object_get(answer, "state"));
    const char *message = json_string_value(json_object_get(answer, "message"));
    request->inquiry = NULL;
    if (state && strcmp(state, "unknown") == 0) {
        problem_set(&request->problem, 404, "no-input", "%s", message);
        json_decref(answer);
    } else if (answer) {
        answer_json(request, answer);
    } else {
        explain_inquiry(request, fault);
    }
    http_resume(request);
}

static void inquire(struct http_request *request, enum request_kind kind)
{
    const struct http_connection *connection = request->connection;
    struct fault fault = FAULT_INIT;
    request->asked.kind = kind;
    if (service_inquire(connection->http->service, connection->peer.uid, &request->asked, 0,
                        on_answer, request, &request->inquiry, &fault) != 0)
        explain_inquiry(request, &fault);
}

static void files(struct http_request *request)
{
    inquire(request, request->asked.file ? REQUEST_WHY : REQUEST_FILES);
}

static void requeue(struct http_request *request)
{
    struct bytes bytes = {0};
    struct fault fault = FAULT_INIT;
    struct request *asked = &request->asked;
    if (request->body_bytes > 0 && file_read(request->body_fd, BODY_MAX, &bytes, &fault) == 0)
        request_add_body(asked, (const char *)bytes.data, bytes.size, request->route->parameters,
                         &fault);
    bytes_finish(&bytes);
    if (fault.code != FAULT_NONE || !asked->file == !asked->failed)
        problem_set(&request->problem, 400, "query",
                    "say which: file=PATH or failed=1, or {\"file\": PATH} or {\"failed\": true}");
    else
        inquire(request, REQUEST_REQUEUE);
}

/* ---- answers about the daemon ---- */

static struct service *service_of(const struct http_request *request)
{
    return request->connection->http->service;
}

static void answer_told(struct http_request *request, const char *media_type, const char *text)
{
    if (text)
        http_answer_text(request, 200, media_type, text);
    else
        problem_set(&request->problem, 500, "internal", "no answer could be made");
}

/* That this answers means that the loop runs; it says nothing more. */
static void livez(struct http_request *request)
{
    http_answer_text(request, 200, "text/plain; charset=utf-8", "ok\n");
}

static void status(struct http_request *request)
{
    answer_told(request, "application/json", service_status(service_of(request)));
}

static void readyz(struct http_request *request)
{
    const char *trouble = service_trouble(service_of(request));
    if (!trouble) {
        status(request);
        return;
    }
    problem_set(&request->problem, 503, trouble, "not ready: %s",
                strcmp(trouble, "no-device") == 0 ? "no worker is up" : trouble);
    request->problem.retry_after = strcmp(trouble, "draining") == 0 ? 0 : 1;
}

static void metrics(struct http_request *request)
{
    answer_told(request, "text/plain; version=0.0.4; charset=utf-8",
                service_figures(service_of(request)));
}

static void version(struct http_request *request)
{
    answer_json(request, json_pack("{s:s, s:s}", "name", "sluice", "version", SLUICE_VERSION));
}

static void answer_described(struct http_request *request, const char *what)
{
    json_t *list = json_object_get(service_of(request)->supervisor->description, what);
    if (list) {
        answer_json(request, json_incref(list));
        return;
    }
    problem_set(&request->problem, 503, "starting", "the worker has not said yet");
    request->problem.retry_after = 1;
}

static void stages(struct http_request *request)
{
    answer_described(request, "stages");
}

static void devices(struct http_request *request)
{
    answer_described(request, "devices");
}

static void chains(struct http_request *request)
{
    answer_json(request, service_chains(service_of(request)));
}

static void openapi(struct http_request *request)
{
    http_answer_text(request, 200, "application/json", http_openapi);
}

#define PAGE "GET, HEAD"
const struct http_route http_routes[] = {
    {"/v1/process", "POST", "chain format name input", true, true, process},
    {"/v1/files", PAGE, "state limit after file", false, true, files},
    {"/v1/files/requeue", "POST", "file failed", true, true, requeue},
    {"/v1/events", PAGE, "", false, true, http_events},
    {"/v1/stages", PAGE, "", false, true, stages},
    {"/v1/devices", PAGE, "", false, true, devices},
    {"/v1/chains", PAGE, "", false, true, chains},
    {"/v1/status", PAGE, "", false, true, status},
    {"/v1/openapi.json", PAGE, "", false, true, openapi},
    {"/livez", PAGE, "", false, false, livez},
    {"/readyz", PAGE, "", false, true, readyz},
    {"/metrics", PAGE, "", false, true, metrics},
    {"/version", PAGE, "", false, true, version},
    {0},
};
