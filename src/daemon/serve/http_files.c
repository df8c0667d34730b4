/* Requests about files of watched folders, and requeuing. */
#include "daemon/serve/http_internal.h"

#include <string.h>

#include "base/file.h"
#include "base/number.h"

#define BODY_MAX 65536

static void explain(struct http_request *request, const struct fault *fault)
{
    struct problem *problem = &request->problem;
    switch (fault->code) {
    case FAULT_NO_INPUT:
        problem_set(problem, 404, "no-file", "%s", fault->text);
        break;
    case FAULT_USAGE:
        problem_set(problem, 400, "query", "%s", fault->text);
        break;
    case FAULT_BUSY:
        problem_set(problem, 429, "busy", "%s", fault->text);
        problem->retry_after = 1;
        break;
    default:
        problem_of_fault(problem, fault, NULL, NULL);
        break;
    }
}

static void on_ended(void *user, json_t *answer, const struct fault *fault)
{
    struct http_request *request = user;
    const char *state = json_string_value(json_object_get(answer, "state"));
    const char *message = json_string_value(json_object_get(answer, "message"));
    request->inquiry = NULL;
    if (state && strcmp(state, "unknown") == 0) {
        problem_set(&request->problem, 404, "no-file", "%s", message);
        json_decref(answer);
    } else if (answer) {
        http_answer_json(request, answer);
    } else {
        explain(request, fault);
    }
    http_resume(request);
}

static void start(struct http_request *request, struct inquiry_ask *ask)
{
    struct fault fault = FAULT_INIT;
    ask->ended = on_ended;
    ask->user = request;
    if (inquiry_start(&request->inquiry, &request->connection->http->service->inquiries, ask,
                      &fault) != 0)
        explain(request, &fault);
}

void http_files(struct http_request *request)
{
    const struct query *q = &request->query;
    struct inquiry_ask ask = {.kind = INQUIRY_LIST,
                              .state = q->state && q->state[0] ? q->state : NULL,
                              .after = q->after && q->after[0] ? q->after : NULL,
                              .limit = INQUIRY_LIMIT};
    if (q->limit) {
        int64_t limit;
        bool good = number_parse_integer(q->limit, strlen(q->limit), &limit) && limit > 0 &&
                    limit <= INQUIRY_LIMIT_MAX;
        ask.limit = good ? (unsigned)limit : 0;
    }
    if (q->file) {
        ask.kind = INQUIRY_WHY;
        ask.file = q->file;
    }
    start(request, &ask);
}

/* Reads the body: `{"file": PATH}` or `{"failed": true}`; the query may say the same. */
static json_t *read_body(struct http_request *request)
{
    struct bytes bytes = {0};
    struct fault fault = FAULT_INIT;
    json_t *body = NULL;
    const char *key;
    json_t *value;
    if (request->body_bytes == 0)
        return json_object();
    if (file_read(request->body_fd, BODY_MAX, &bytes, &fault) == 0)
        body = json_loadb((const char *)bytes.data, bytes.size, JSON_REJECT_DUPLICATES, NULL);
    bytes_finish(&bytes);
    bool good = json_is_object(body);
    json_object_foreach(body, key, value)
    {
        good &= (strcmp(key, "file") == 0 && json_is_string(value)) ||
                (strcmp(key, "failed") == 0 && json_is_true(value));
    }
    if (good)
        return body;
    json_decref(body);
    return NULL;
}

void http_requeue(struct http_request *request)
{
    const struct query *q = &request->query;
    json_t *body = read_body(request);
    const char *file = q->file ? q->file : json_string_value(json_object_get(body, "file"));
    bool failed =
        (q->failed && strcmp(q->failed, "1") == 0) || json_is_true(json_object_get(body, "failed"));
    if (!body || !file == !failed || (q->failed && !failed)) {
        problem_set(&request->problem, 400, "query",
                    "say which: file=PATH or failed=1, or {\"file\": PATH} or {\"failed\": true}");
    } else {
        struct inquiry_ask ask = {.kind = failed ? INQUIRY_REQUEUE_FAILED : INQUIRY_REQUEUE,
                                  .file = file};
        start(request, &ask);
    }
    json_decref(body);
}
