/* POST /v1/process: runs the body through a chain and answers with the result. */
#include "daemon/serve/http_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sealed.h"
#include "worker/message.h"

#define CHAIN_MAX  50000 /* fits into a message; a chain's own limit may be lower */
#define FORMAT_MAX 1000

void http_resume(struct http_request *request)
{
    http_watch_hangup(request->connection, false);
    MHD_resume_connection(request->connection->mhd);
    http_kick(request->connection->http);
}

/* ---- the answer ---- */

static void add_span(struct text *text, const char *name, double seconds)
{
    text_printf(text, "%s%s;dur=%.3f", text->length ? ", " : "", name, seconds * 1e3);
}

/* Names of metrics must be tokens of RFC 9110, as names of stages are. */
static void add_stages(struct text *text, const struct message *report)
{
    size_t i;
    json_t *stage;
    json_array_foreach(json_object_get(report->report, "stages"), i, stage)
    {
        const char *name = json_string_value(json_object_get(stage, "stage"));
        if (message_is_stage_label(name))
            add_span(text, name, json_number_value(json_object_get(stage, "run_s")));
    }
}

/* Adds the header Sluice-Counts, a dictionary of RFC 9651. */
static void add_figures(struct MHD_Response *response, const struct client_job *job,
                        const struct message *report)
{
    struct text timing = {0}, counts = {0};
    add_span(&timing, "queue", message_figure(report, "queue_s") + job_queue_seconds(&job->job));
    add_span(&timing, "read", message_figure(report, "read_s"));
    add_span(&timing, "decode", message_figure(report, "decode_s"));
    add_span(&timing, "prepare", message_figure(report, "prepare_s"));
    add_span(&timing, "device", message_figure(report, "device_s"));
    add_stages(&timing, report);
    add_span(&timing, "encode", message_figure(report, "encode_s"));
    add_span(&timing, "write", message_figure(report, "write_s"));
    add_span(&timing, "total", message_figure(report, "total_s"));
    MHD_add_response_header(response, "Server-Timing", text_string(&timing));
    text_printf(&counts, "crossings_in=%.0f, crossings_out=%.0f, bytes_copied=%.0f",
                message_figure(report, "crossings_in"), message_figure(report, "crossings_out"),
                message_figure(report, "bytes_copied"));
    MHD_add_response_header(response, "Sluice-Counts", text_string(&counts));
    text_finish(&timing);
    text_finish(&counts);
}

/* Adds Warning headers. RFC 7234, 5.5: code 299 is for warnings without a code of their own. */
static void add_warnings(struct MHD_Response *response, const struct message *report)
{
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
}

/* Answers with the result, which libmicrohttpd sends from its file. */
static void answer_result(struct http_request *request, const struct message *report)
{
    struct client_job *job = request->job;
    /* owned by the response, if there is one */
    int fd = fcntl(job->planes[0].fd, F_DUPFD_CLOEXEC, 3);
    off_t size = lseek(job->planes[0].fd, 0, SEEK_END);
    struct MHD_Response *response =
        size >= 0 && fd >= 0 ? MHD_create_response_from_fd64((uint64_t)size, fd) : NULL;
    if (!response) {
        file_close(&fd);
        problem_set(&request->problem, 503, "memory", "no memory for an answer");
        return;
    }
    MHD_add_response_header(response, "Content-Type",
                            report->media_type ? report->media_type : "application/octet-stream");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    add_figures(response, job, report);
    add_warnings(response, report);
    http_answer(request, 200, response);
}

static void explain(struct http_request *request, const struct message *report)
{
    const struct client_job *job = request->job;
    struct service *service = request->connection->http->service;
    struct problem *problem = &request->problem;
    problem_of_fault(problem, &job->job.fault, report ? report->subject : NULL,
                     report ? report->step : NULL);
    if (report)
        request->faults = report->faults;
    if (job->several_refused)
        problem_set(problem, 422, "several-planes",
                    "several planes do not fit one file of this format; ask for format=npz");
    else if (job->job.fault.code == FAULT_BUSY && service->queue->draining)
        problem_set(problem, 503, "draining", "the daemon is ending");
    else if (problem->status == 429 || problem->status == 503)
        problem->retry_after = service_retry_after(service);
}

static void on_ended(struct client_job *job, const struct message *report)
{
    struct http_request *request = job->how.user;
    request->job_ended = true;
    if (job->job.fault.code == FAULT_NONE && report && job->n_planes > 0)
        answer_result(request, report);
    else
        explain(request, report);
    http_resume(request);
}

/* ---- the request ---- */

static bool check(struct http_request *request)
{
    const struct query *q = &request->query;
    struct problem *problem = &request->problem;
    if (q->chain && strlen(q->chain) > CHAIN_MAX)
        problem_set(problem, 400, "chain", "a chain has at most %d bytes", CHAIN_MAX);
    else if (q->format && strlen(q->format) > FORMAT_MAX)
        problem_set(problem, 400, "format", "a format has at most %d bytes", FORMAT_MAX);
    else if (q->input && strlen(q->input) > FORMAT_MAX)
        problem_set(problem, 400, "input", "input options have at most %d bytes", FORMAT_MAX);
    return problem->status == 0;
}

void http_process(struct http_request *request)
{
    struct service *service = request->connection->http->service;
    struct fault fault = FAULT_INIT;
    const struct query *q = &request->query;
    if (!check(request))
        return;
    sealed_finish(request->body_fd);
    struct client_job_how how = {.source = &client_job_http,
                                 .flow = &request->connection->flow,
                                 .account = request->connection->account,
                                 .chain = q->chain ? q->chain : "",
                                 .format = q->format && q->format[0] ? q->format : "auto",
                                 .input = q->input && q->input[0] ? q->input : NULL,
                                 .in_fd = request->body_fd,
                                 .out_fd = -1,
                                 .bytes = request->body_taken,
                                 .ended = on_ended,
                                 .user = request};
    request->body_fd = -1;
    request->body_taken = 0;
    if (client_job_start(&request->job, service, &how, &fault) == 0)
        return;
    problem_of_fault(&request->problem, &fault, NULL, NULL);
    request->problem.retry_after = service_retry_after(service);
    if (service->queue->draining)
        problem_set(&request->problem, 503, "draining", "the daemon is ending");
}

void http_process_cancel(struct http_request *request)
{
    client_job_cancel(&request->job);
    inquiry_cancel(&request->inquiry);
    http_cut(request->connection, NULL);
    http_resume(request);
}

void http_process_give_up(struct http_request *request)
{
    client_job_cancel(&request->job);
    problem_set(&request->problem, 503, "no-device", "no worker with a device comes up");
    request->problem.retry_after = service_retry_after(request->connection->http->service);
    http_resume(request);
}
