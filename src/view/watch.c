/* What the page asks to watch a daemon: some of the daemon's own paths, passed on, and pictures of
 * the files that the daemon names. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "version.h"
#include "view/client.h"
#include "view/compute.h"
#include "view/view.h"

#define THUMB_SIDE_MAX 2000

/* Appends "name=value", encoded. */
static void add_query(struct text *target, const char *name, const char *value)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/:";
    text_printf(target, "%s%s=", strchr(text_string(target), '?') ? "&" : "?", name);
    for (const char *c = value; *c; c++)
        if (strchr(plain, *c))
            text_append_bytes(target, c, 1);
        else
            text_printf(target, "%%%02X", (unsigned char)*c);
}

/* The daemon's paths that a page may ask for, with what it may say in the query. */
static const struct passed {
    const char *path, *target;
    bool is_post;
    const char *type;
    const char *names[4];
} passed[] = {
    {"daemon/status", "/v1/status", false, "application/json", {0}},
    {"daemon/chains", "/v1/chains", false, "application/json", {0}},
    {"daemon/metrics", "/metrics", false, "text/plain; charset=utf-8", {0}},
    {"daemon/files", "/v1/files", false, "application/json", {"file", "state", "limit", "after"}},
    {"daemon/requeue", "/v1/files/requeue", true, "application/json", {"file", "failed"}},
};

static void pass_on(struct viewer *view, const struct view_request *request,
                    const struct passed *passed_, struct view_answer *answer)
{
    struct fault fault = FAULT_INIT;
    struct text target = {0};
    struct bytes body = {0};
    unsigned status = 0;
    text_append(&target, passed_->target);
    for (size_t i = 0; i < sizeof passed_->names / sizeof *passed_->names; i++) {
        const char *value = passed_->names[i] ? request->query(request, passed_->names[i]) : NULL;
        if (value)
            add_query(&target, passed_->names[i], value);
    }
    if (client_ask(view->options->http_socket, passed_->is_post ? "POST" : "GET",
                   text_string(&target), &status, &body, &fault) != 0)
        view_answer_fault(answer, &fault, NULL);
    else
        *answer = (struct view_answer){status, passed_->type, (char *)body.data, body.size};
    text_finish(&target);
}

static void follow(struct viewer *view, struct view_answer *answer)
{
    struct fault fault = FAULT_INIT;
    int fd = -1;
    if (client_stream(view->options->http_socket, "/v1/events", &fd, &fault) != 0)
        view_answer_fault(answer, &fault, NULL);
    else
        *answer = (struct view_answer){
            .status = 200, .type = "text/event-stream", .stream = fd, .streams = true};
}

/* ---- pictures of files ---- */

/* What the daemon says of a file; NULL: it does not know it. */
static json_t *file_json(struct viewer *view, const char *file, struct fault *fault)
{
    struct text target = {0};
    struct bytes body = {0};
    unsigned status = 0;
    json_t *json = NULL;
    text_append(&target, "/v1/files");
    add_query(&target, "file", file);
    if (client_ask(view->options->http_socket, "GET", text_string(&target), &status, &body,
                   fault) == 0 &&
        status == 200)
        json = json_loadb((const char *)body.data, body.size, 0, NULL);
    if (!json)
        fault_set(fault, FAULT_NO_INPUT, "the daemon knows no such file");
    text_finish(&target);
    bytes_finish(&body);
    return json;
}

/* Only files are read that the daemon has just named. */
static void answer_thumb(struct viewer *view, const struct view_request *request,
                         struct view_answer *answer)
{
    const char *file = request->query(request, "file"), *which = request->query(request, "which");
    uint64_t side = view_query_number(request, "side", 160);
    struct fault fault = FAULT_INIT;
    struct compute_result result = {0};
    json_t *json = file ? file_json(view, file, &fault) : NULL;
    const char *path = NULL;
    if (!file)
        fault_set(&fault, FAULT_USAGE, "which file?");
    else if (json)
        path = json_string_value(json_object_get(
            json, which && strcmp(which, "result") == 0 ? "result_path" : "original"));
    if (json && !path)
        fault_set(&fault, FAULT_NO_INPUT, "it is not there any more");
    if (path && compute_thumb(view->compute, path,
                              (uint32_t)(side < 16               ? 16
                                         : side > THUMB_SIDE_MAX ? THUMB_SIDE_MAX
                                                                 : side),
                              &result, &fault) == 0)
        view_answer_picture(answer, &result);
    else
        view_answer_fault(answer, &fault, NULL);
    compute_finish(&result);
    json_decref(json);
}

void watch_answer(struct viewer *view, const struct view_request *request, struct view_answer *answer)
{
    if (!view->options->daemon)
        return;
    if (strcmp(request->path, "start") == 0 && !request->is_post)
        view_answer_json(answer, 200,
                         json_pack("{s:s, s:s, s:s}", "mode", "watch", "version", SLUICE_VERSION,
                                   "socket", view->options->http_socket));
    if (strcmp(request->path, "daemon/events") == 0 && !request->is_post)
        follow(view, answer);
    if (strcmp(request->path, "thumb") == 0 && !request->is_post)
        answer_thumb(view, request, answer);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        if (strcmp(request->path, passed[i].path) == 0 && request->is_post == passed[i].is_post)
            pass_on(view, request, &passed[i], answer);
}
