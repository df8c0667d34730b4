#include "daemon/serve/problem.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "worker/json_text.h"

static const struct {
    unsigned status;
    const char *title;
} titles[] = {
    {400, "Bad Request"},           {404, "Not Found"},         {405, "Method Not Allowed"},
    {408, "Request Timeout"},       {413, "Content Too Large"}, {415, "Unsupported Media Type"},
    {422, "Unprocessable Content"}, {429, "Too Many Requests"}, {500, "Internal Server Error"},
    {503, "Service Unavailable"},   {504, "Gateway Timeout"},
};

/* HTTP status by fault. Faults that are missing here are our own: 500. */
static const struct {
    enum fault_code fault;
    unsigned status;
    const char *code;
} rows[] = {
    {FAULT_CHAIN, 400, "chain"},
    {FAULT_FORMAT, 415, "unknown-format"},
    {FAULT_DATA, 422, "data"},
    {FAULT_TRUNCATED, 422, "truncated"},
    {FAULT_EMPTY, 422, "empty"},
    {FAULT_LIMIT, 422, "limit"},
    {FAULT_SHAPE, 422, "shape"},
    {FAULT_BUSY, 429, "queue-full"},
    {FAULT_KERNELS, 429, "too-many-kernels"},
    {FAULT_NO_DEVICE, 503, "no-device"},
    {FAULT_DEVICE, 503, "device"},
    {FAULT_MEMORY, 503, "memory"},
    {FAULT_NO_SPACE, 503, "memory"},
    {FAULT_TIME, 504, "job-time"},
    {FAULT_CRASHED, 500, "crashed-worker"},
    {FAULT_VERIFY, 500, "verify"},
};

static const struct {
    const char *option, *limit;
} limits[] = {
    {"max_pixels", "max_pixels"}, {"max-pixels", "max_pixels"}, {"max_file", "max_file"},
    {"max-file", "max_file"},     {"memory", "memory"},
};

static const char *const steps[] = {"read", "decode", "plan", "device", "encode", "write"};

void problem_set(struct problem *problem, unsigned status, const char *code, const char *format,
                 ...)
{
    va_list arguments;
    *problem = (struct problem){.status = status, .code = code, .position = -1};
    va_start(arguments, format);
    vsnprintf(problem->detail, sizeof problem->detail, format, arguments);
    va_end(arguments);
}

void problem_of_fault(struct problem *problem, const struct fault *fault, const char *subject,
                      const char *step)
{
    unsigned status = 500;
    const char *code = "internal";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].fault == fault->code) {
            status = rows[i].status;
            code = rows[i].code;
        }
    }
    if (subject && fault->code != FAULT_MEMORY) { /* the words of the request are wrong */
        status = 400;
        code = strcmp(subject, "format") == 0  ? "format"
               : strcmp(subject, "input") == 0 ? "input"
                                               : "chain";
    } else if (fault->code == FAULT_FORMAT && step && strcmp(step, "decode") != 0) {
        status = 422; /* the requested format cannot hold the result */
        code = "shape";
    }
    problem_set(problem, status, code, "%s%s", fault->text,
                status == 415 ? "; the body is the picture itself (curl --data-binary @FILE)" : "");
    problem->position = subject ? fault->position : -1;
    problem->length = fault->length;
    for (size_t i = 0; step && i < sizeof steps / sizeof *steps; i++)
        if (strcmp(step, steps[i]) == 0)
            problem->stage = steps[i];
    for (size_t i = 0; fault->code == FAULT_LIMIT && i < sizeof limits / sizeof *limits; i++)
        if (!problem->limit && strstr(fault->text, limits[i].option))
            problem->limit = limits[i].limit;
}

const char *problem_title(unsigned status)
{
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (titles[i].status == status)
            return titles[i].title;
    return "Error";
}

char *problem_print(const struct problem *problem, const struct faults *faults)
{
    json_t *json = json_pack("{s:s, s:s, s:i, s:s, s:o}", "type", "about:blank", "title",
                             problem_title(problem->status), "status", (int)problem->status, "code",
                             problem->code, "detail", json_text(problem->detail));
    if (!json)
        return NULL;
    if (problem->position >= 0) {
        json_object_set_new(json, "position", json_integer(problem->position));
        json_object_set_new(json, "length", json_integer(problem->length));
    }
    if (faults && faults_count(faults) > 0)
        json_object_set_new(json, "errors", json_faults(faults, "detail"));
    if (problem->limit)
        json_object_set_new(json, "limit", json_string(problem->limit));
    if (problem->stage)
        json_object_set_new(json, "stage", json_string(problem->stage));
    if (problem->retry_after > 0)
        json_object_set_new(json, "retry_after", json_integer(problem->retry_after));
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return text;
}
