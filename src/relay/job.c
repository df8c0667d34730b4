#include "relay/job.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "relay/url.h"

#define PREFIX "Sluice-"

static const struct {
    const char *name;
    size_t offset;
} headers[] = {
    {"Sluice-Chain", offsetof(struct job, chain)},
    {"Sluice-Format", offsetof(struct job, format)},
    {"Sluice-Input", offsetof(struct job, input)},
    {"Sluice-Source", offsetof(struct job, source)},
    {"Sluice-SHA256", offsetof(struct job, sha256)},
    {"Sluice-Result", offsetof(struct job, result)},
};
#define N_HEADERS (sizeof headers / sizeof *headers)

bool job_read_subject(struct job *job, const char *subject)
{
    char rest;
    *job = (struct job){0};
    return sscanf(subject, "sluice.jobs.%64[^.].%64[^.]%c", job->class, job->id, &rest) == 2 &&
           job_is_word(job->class) && job_is_word(job->id);
}

struct reading {
    struct job *job;
    struct fault *fault;
};

static void read_header(void *context, const char *name, const char *value, bool many)
{
    struct reading *reading = context;
    struct nearest nearest = {0};
    if (strncasecmp(name, PREFIX, strlen(PREFIX)) != 0)
        return;
    for (size_t i = 0; i < N_HEADERS; i++) {
        const char **at = (const char **)((char *)reading->job + headers[i].offset);
        nearest_offer(&nearest, name, strlen(name), headers[i].name);
        if (strcasecmp(name, headers[i].name) != 0)
            continue;
        if (many || *at)
            fault_set(reading->fault, FAULT_USAGE, "header %s: it is there twice", headers[i].name);
        *at = value;
        return;
    }
    fault_set(reading->fault, FAULT_USAGE, "header %.60s: there is no such header%s%s%s", name,
              nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "",
              nearest.best ? "?" : "");
}

static bool is_digest(const char *text)
{
    return strlen(text) == DIGEST_TEXT_MAX - 1 &&
           strspn(text, "0123456789abcdefABCDEF") == DIGEST_TEXT_MAX - 1;
}

int job_read(struct job *job, const struct hub_message *message,
             const struct relay_settings *settings, struct fault *fault)
{
    struct reading reading = {job, fault};
    hub_each_header(message, read_header, &reading);
    if (fault->code != FAULT_NONE)
        return fault->code;
    if (job->sha256 && !is_digest(job->sha256))
        return fault_set(fault, FAULT_USAGE, "header Sluice-SHA256: expected 64 of 0-9 a-f");
    if (job->source && message->size > 0)
        return fault_set(fault, FAULT_USAGE,
                         "header Sluice-Source: the message holds a picture already");
    if (!job->source && message->size == 0)
        return fault_set(fault, FAULT_EMPTY, "no picture: an empty message needs Sluice-Source");
    int result = 0;
    if (job->source)
        result = url_check(job->source, settings->get, "header Sluice-Source", fault);
    if (result == 0 && job->result)
        result = url_check(job->result, settings->put, "header Sluice-Result", fault);
    return result;
}
