#include "relay/job.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "relay/hub.h"

/* ---- which URLs are allowed: pure ---- */

#define URL_MAX 8192

struct parts {
    char *scheme, *host, *port, *path; /* curl's memory; the path is decoded */
    char *user;                        /* NULL: none */
};

static void parts_finish(struct parts *parts)
{
    char *const all[] = {parts->scheme, parts->host, parts->port, parts->path, parts->user};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        curl_free(all[i]);
    *parts = (struct parts){0};
}

/* Removes `.` and `..` from a decoded path, as RFC 3986 (5.2.4) describes. */
static void remove_dots(char *path)
{
    char *to = path;
    for (const char *from = path; *from;) {
        size_t length = 1 + strcspn(from + 1, "/"); /* a slash and the segment after it */
        bool last = from[length] == '\0';
        if (length == 3 && from[1] == '.' && from[2] == '.') {
            while (to > path && *--to != '/')
                ;
            if (last)
                *to++ = '/';
        } else if (length == 2 && from[1] == '.') {
            if (last)
                *to++ = '/';
        } else {
            memmove(to, from, length);
            to += length;
        }
        from += length;
    }
    *to = '\0';
}

/* Returns false for anything but a URL of http or https. */
static bool parse(const char *url, size_t length, struct parts *parts)
{
    char copy[URL_MAX];
    *parts = (struct parts){0};
    if (length >= sizeof copy)
        return false;
    memcpy(copy, url, length);
    copy[length] = '\0';
    CURLU *handle = curl_url();
    bool good =
        handle && curl_url_set(handle, CURLUPART_URL, copy, 0) == CURLUE_OK &&
        curl_url_get(handle, CURLUPART_SCHEME, &parts->scheme, 0) == CURLUE_OK &&
        curl_url_get(handle, CURLUPART_HOST, &parts->host, 0) == CURLUE_OK &&
        curl_url_get(handle, CURLUPART_PORT, &parts->port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
        /* an escaped control character is refused here */
        curl_url_get(handle, CURLUPART_PATH, &parts->path, CURLU_URLDECODE) == CURLUE_OK &&
        (strcmp(parts->scheme, "http") == 0 || strcmp(parts->scheme, "https") == 0) &&
        !strchr(parts->path, '\\');
    if (good) {
        curl_url_get(handle, CURLUPART_USER, &parts->user, 0);
        remove_dots(parts->path);
    }
    curl_url_cleanup(handle);
    return good;
}

static bool is_below(const struct parts *url, const struct parts *prefix)
{
    size_t length = strlen(prefix->path);
    return strcmp(url->scheme, prefix->scheme) == 0 && strcasecmp(url->host, prefix->host) == 0 &&
           strcmp(url->port, prefix->port) == 0 && strncmp(url->path, prefix->path, length) == 0 &&
           (prefix->path[length - 1] == '/' || url->path[length] == '/' ||
            url->path[length] == '\0');
}

int url_check(const char *url, const char *prefixes, const char *what, struct fault *fault)
{
    struct parts parts, prefix;
    char shown[300];
    bool allowed = false;
    if (!parse(url, strlen(url), &parts) || parts.user) {
        parts_finish(&parts);
        return fault_set(fault, FAULT_USAGE, "%s: it is no URL of http or https without a user",
                         what);
    }
    for (size_t length; prefixes && *prefixes && !allowed; prefixes += length) {
        prefixes += strspn(prefixes, " ");
        length = strcspn(prefixes, " ");
        allowed = parse(prefixes, length, &prefix) && is_below(&parts, &prefix);
        parts_finish(&prefix);
    }
    parts_finish(&parts);
    if (allowed)
        return 0;
    return fault_set(fault, FAULT_PERMISSION, "%s: %s is below none of the allowed prefixes", what,
                     hub_show_url(url, shown, sizeof shown));
}

/* ---- what a message says ---- */

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

static bool is_ours(const char *name)
{
    return strncasecmp(name, PREFIX, strlen(PREFIX)) == 0;
}

/* A header without a value counts as left out. */
static void read_one(struct reading *reading, const char *name, size_t length, const char *value)
{
    struct nearest nearest = {0};
    for (size_t i = 0; i < N_HEADERS; i++) {
        const char **at = (const char **)((char *)reading->job + headers[i].offset);
        nearest_offer(&nearest, name, length, headers[i].name);
        if (strncasecmp(name, headers[i].name, length) != 0 || headers[i].name[length])
            continue;
        if (*at)
            fault_set(reading->fault, FAULT_USAGE, "header %s: it is there twice", headers[i].name);
        *at = value[0] ? value : NULL;
        return;
    }
    fault_set(reading->fault, FAULT_USAGE, "header %.*s: there is no such header%s%s%s",
              length < 60 ? (int)length : 60, name, nearest.best ? "; did you mean " : "",
              nearest.best ? nearest.best : "", nearest.best ? "?" : "");
}

/* libnats before 3.11 takes the line behind a header without a value for its value, since it skips
 * the line's end like spaces. No value begins as the names of our headers and the server's do. */
static void read_header(void *context, const char *name, const char *value)
{
    size_t length = strlen(name);
    for (;;) {
        size_t word = strcspn(value, ": \t");
        bool is_line = value[word] == ':' && (is_ours(value) || strncasecmp(value, "Nats-", 5) == 0);
        if (is_ours(name))
            read_one(context, name, length, is_line ? "" : value);
        if (!is_line)
            return;
        name = value;
        length = word;
        value += word + 1;
        value += strspn(value, " \t");
    }
}

int job_read(struct job *job, const struct hub_message *message,
             const struct relay_settings *settings, struct fault *fault)
{
    struct reading reading = {job, fault};
    if (!hub_each_header(message, read_header, &reading))
        return fault_set(fault, FAULT_USAGE,
                         "the headers cannot be read: is the last one empty? Leave it out");
    if (fault->code != FAULT_NONE)
        return fault->code;
    if (job->sha256 && (strspn(job->sha256, "0123456789abcdefABCDEF") != DIGEST_TEXT_MAX - 1 ||
                        job->sha256[DIGEST_TEXT_MAX - 1]))
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
