/* The table of paths, and pages that are answered at once: health and discovery. */
#include "daemon/serve/http_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "daemon/work/metrics.h"

void http_answer_json(struct http_request *request, json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(json);
    if (text)
        http_answer_text(request, 200, "application/json", text);
    else
        problem_set(&request->problem, 500, "internal", "no answer could be made");
    free(text);
}

static const struct service *service_of(const struct http_request *request)
{
    return request->connection->http->service;
}

/* That this answers means that the loop runs; it says nothing more. */
static void livez(struct http_request *request)
{
    http_answer_text(request, 200, "text/plain; charset=utf-8", "ok\n");
}

static void readyz(struct http_request *request)
{
    const char *trouble = service_trouble(service_of(request));
    if (!trouble) {
        http_answer_json(request, service_status(service_of(request)));
        return;
    }
    problem_set(&request->problem, 503, trouble, "not ready: %s",
                strcmp(trouble, "no-device") == 0 ? "no worker is up" : trouble);
    request->problem.retry_after = strcmp(trouble, "draining") == 0 ? 0 : 1;
}

static void metrics(struct http_request *request)
{
    const struct service *service = service_of(request);
    struct text text = {0};
    service->measure(service->context);
    metrics_print(service->metrics, &text);
    http_answer_text(request, 200, "text/plain; version=0.0.4; charset=utf-8", text_string(&text));
    text_finish(&text);
}

static void version(struct http_request *request)
{
    http_answer_json(request, service_version());
}

static void answer_described(struct http_request *request, const char *what)
{
    json_t *list = json_object_get(service_of(request)->description, what);
    if (list) {
        http_answer_json(request, json_incref(list));
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
    http_answer_json(request, service_chains(service_of(request)));
}

static void status(struct http_request *request)
{
    http_answer_json(request, service_status(service_of(request)));
}

static void openapi(struct http_request *request)
{
    http_answer_text(request, 200, "application/json", http_openapi);
}

#define PAGE "GET, HEAD"
const struct http_route http_routes[] = {
    {"/v1/process", "POST", QUERY_PROCESS, true, http_process},
    {"/v1/files", PAGE, "state limit after file", false, http_files},
    {"/v1/files/requeue", "POST", "file failed", true, http_requeue},
    {"/v1/stages", PAGE, "", false, stages},
    {"/v1/devices", PAGE, "", false, devices},
    {"/v1/chains", PAGE, "", false, chains},
    {"/v1/status", PAGE, "", false, status},
    {"/v1/openapi.json", PAGE, "", false, openapi},
    {"/livez", PAGE, "", false, livez},
    {"/readyz", PAGE, "", false, readyz},
    {"/metrics", PAGE, "", false, metrics},
    {"/version", PAGE, "", false, version},
    {0},
};
