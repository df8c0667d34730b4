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
    {400, "Bad Request"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
};

/* HTTP status by fault. Faults that are missing here are our own: 500. */
static const struct {
    enum fault_code fault;
    unsigned status;
} rows[] = {
    {FAULT_USAGE, 400},  {FAULT_CHAIN, 400},  {FAULT_NO_INPUT, 404},  {FAULT_FORMAT, 415},
    {FAULT_DATA, 422},   {FAULT_EMPTY, 422},  {FAULT_TRUNCATED, 422}, {FAULT_LIMIT, 422},
    {FAULT_SHAPE, 422},  {FAULT_BUSY, 429},   {FAULT_KERNELS, 429},   {FAULT_NO_DEVICE, 503},
    {FAULT_DEVICE, 503}, {FAULT_MEMORY, 503}, {FAULT_NO_SPACE, 503},  {FAULT_TIME, 504},
};

static const struct {
    const char *option, *limit;
} limits[] = {
    {"max_pixels", "max_pixels"}, {"max-pixels", "max_pixels"}, {"max_file", "max_file"},
    {"max-file", "max_file"},     {"memory", "memory"},
};

static const char *const subjects[] = {"chain", "format", "input"};
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
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].fault == fault->code)
            status = rows[i].status;
    if (subject && fault->code != FAULT_MEMORY)
        status = 400; /* the words of the request are wrong */
    else if (fault->code == FAULT_FORMAT && step && strcmp(step, "decode") != 0)
        status = 422; /* the requested format cannot hold the result */
    problem_set(problem, status, fault_name(fault->code), "%s", fault->text);
    for (size_t i = 0; subject && i < sizeof subjects / sizeof *subjects; i++)
        if (strcmp(subject, subjects[i]) == 0)
            problem->subject = subjects[i];
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
    if (problem->subject)
        json_object_set_new(json, "subject", json_string(problem->subject));
    if (problem->limit)
        json_object_set_new(json, "limit", json_string(problem->limit));
    if (problem->stage)
        json_object_set_new(json, "stage", json_string(problem->stage));
    if (problem->retry_after > 0)
        json_object_set_new(json, "retry_after", json_integer(problem->retry_after));
    if (problem->request_id)
        json_object_set_new(json, "request_id", json_string(problem->request_id));
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return text;
}
