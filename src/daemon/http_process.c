/* POST /v1/process: the body through a chain, the result as the answer. */
#include "daemon/http_internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worker/message.h"

#define CHAIN_MAX  50000 /* what fits a message; a chain may be shorter still */
#define FORMAT_MAX 1000

void http_resume(struct http_request *request)
{
    http_watch_hangup(request->connection, false);
    MHD_resume_connection(request->connection->mhd);
    http_kick(request->connection->http);
}

/* ---- the answer ---- */

static void add_span(struct text *text, const char *name, int64_t nanoseconds)
{
    text_printf(text, "%s%s;dur=%.3f", text->length ? ", " : "", name, (double)nanoseconds * 1e-6);
}

/* "luminance=123,sobel=456" as spans. */
static void add_stages(struct text *text, const char *stages)
{
    while (stages && *stages) {
        char name[40];
        const char *equals = strchr(stages, '=');
        if (!equals)
            return;
        snprintf(name, sizeof name, "%.*s", (int)(equals - stages), stages);
        add_span(text, name, strtoll(equals + 1, NULL, 10));
        stages = strchr(equals, ',');
        stages = stages ? stages + 1 : NULL;
    }
}

static void add_timing(struct MHD_Response *response, const struct client_job *job,
                       const struct message *report)
{
    struct text text = {0};
    add_span(&text, "queue", (int64_t)job->waited);
    add_span(&text, "read", report->read);
    add_span(&text, "decode", report->decode);
    add_span(&text, "device", report->run);
    add_stages(&text, report->stages);
    add_span(&text, "encode", report->encode);
    add_span(&text, "write", report->write);
    add_span(&text, "total", report->total);
    MHD_add_response_header(response, "Server-Timing", text_string(&text));
    text_finish(&text);
}

/* RFC 7234 §5.5: 299 is a warning that has no code of its own. */
static void add_warnings(struct MHD_Response *response, const char *lines)
{
    for (size_t length; lines && *lines; lines += length + 1) {
        struct text text = {0};
        length = strcspn(lines, "\n");
        text_append(&text, "299 sluice \"");
        for (size_t i = 0; i < length; i++)
            text_printf(&text, "%s%c", strchr("\"\\", lines[i]) ? "\\" : "", lines[i]);
        text_append(&text, "\"");
        MHD_add_response_header(response, "Warning", text_string(&text));
        text_finish(&text);
    }
}

/* The result is sent from its file. */
static void answer_result(struct http_request *request, const struct message *report)
{
    struct client_job *job = request->job;
    int fd = fcntl(job->planes[0].fd, F_DUPFD_CLOEXEC, 3); /* the response's, if there is one */
    off_t size = lseek(job->planes[0].fd, 0, SEEK_END);
    struct MHD_Response *response =
        size >= 0 && fd >= 0 ? MHD_create_response_from_fd64((uint64_t)size, fd) : NULL;
    if (!response) {
        if (fd >= 0)
            close(fd);
        problem_set(&request->problem, 503, "memory", "no memory for an answer");
        return;
    }
    MHD_add_response_header(response, "Content-Type",
                            report->media_type ? report->media_type : "application/octet-stream");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    add_timing(response, job, report);
    add_warnings(response, report->warnings);
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
    client_job_seal(request->body_fd);
    struct client_job_how how = {.source = &client_job_http,
                                 .flow = &request->connection->flow,
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
