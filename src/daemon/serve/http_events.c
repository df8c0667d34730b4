/* GET /v1/events: what happens, as server-sent events (WHATWG, "server-sent events"), for as long
 * as the client follows.
 *
 * A follower reads from the ring of the last events at a pace of its own. When it has all, its
 * connection is suspended, and looked at a few times a second; when its socket is full,
 * libmicrohttpd waits for it like for any reader of an answer, and the deadline of an answer that
 * is not read holds. What was forgotten meanwhile is told as a number. */
#include "daemon/serve/http.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "daemon/work/metrics.h"

#define FOLLOWERS_MAX  64
#define BEAT_SECONDS   15 /* a comment, by which both sides see that the other one is there */
#define UNREAD_SECONDS 30

struct http_follower {
    struct http *http;
    struct http_connection *connection;
    uint64_t next;    /* the number of the event that it gets next */
    struct text text; /* what it is getting */
    size_t at;
    uint64_t since; /* when it was last given something */
    bool waits;     /* its connection is suspended */
    bool gone;      /* it has hung up */
    LIST_ENTRY(http_follower) in_list;
};

/* What comes next for the follower, if there is anything. */
static void put_together(struct http_follower *f)
{
    const struct events *events = f->http->service->queue->events;
    uint64_t lost = events_skip(events, &f->next);
    text_finish(&f->text);
    f->at = 0;
    if (lost > 0)
        text_printf(&f->text, "event: lost\ndata: {\"lost\":%" PRIu64 "}\n\n", lost);
    const struct event *event = events_get(events, f->next);
    char *json = event ? event_print(event) : NULL;
    f->next += event != NULL;
    if (json)
        text_printf(&f->text, "id: %" PRIu64 "\nevent: %s\ndata: %s\n\n", f->next - 1, event->kind,
                    json);
    free(json);
    if (event)
        return;
    if (f->text.length == 0 && clock_now() - f->since >= BEAT_SECONDS * SECOND)
        text_append(&f->text, ":\n\n");
}

/* libmicrohttpd has room for more. */
static ssize_t give(void *follower, uint64_t position, char *buffer, size_t room)
{
    struct http_follower *f = follower;
    if (f->http->closed || f->gone)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (f->at == f->text.length)
        put_together(f);
    size_t length = f->text.length - f->at;
    if (length == 0) {
        f->waits = true;
        http_enter(f->connection, HTTP_FOLLOWING, 0);
        http_watch_hangup(f->connection, true);
        MHD_suspend_connection(f->connection->mhd);
        return 0;
    }
    if (length > room)
        length = room;
    memcpy(buffer, f->text.data + f->at, length);
    f->at += length;
    f->since = clock_now();
    http_enter(f->connection, HTTP_ANSWER, UNREAD_SECONDS);
    return (ssize_t)length;
}

static void leave(void *follower)
{
    struct http_follower *f = follower;
    LIST_REMOVE(f, in_list);
    f->http->n_followers--;
    text_finish(&f->text);
    free(f);
}

static void go_on(struct http_follower *f)
{
    f->waits = false;
    http_watch_hangup(f->connection, false);
    http_enter(f->connection, HTTP_ANSWER, UNREAD_SECONDS);
    MHD_resume_connection(f->connection->mhd);
    http_kick(f->http);
}

void http_events_hung_up(struct http_connection *connection)
{
    struct http_follower *f;
    LIST_FOREACH (f, &connection->http->followers, in_list)
        if (f->connection == connection && f->waits) {
            f->gone = true;
            go_on(f);
            return;
        }
}

void http_events_wake(struct http *http)
{
    struct http_follower *f;
    LIST_FOREACH (f, &http->followers, in_list)
        if (f->waits && (http->closed || f->next < http->service->queue->events->next ||
                         clock_now() - f->since >= BEAT_SECONDS * SECOND))
            go_on(f);
}

void http_events_look(struct http *http)
{
    if (http->n_followers > 0)
        service_look_at_folders(http->service);
}

void http_events(struct http_request *request)
{
    struct http_connection *connection = request->connection;
    struct http *http = connection->http;
    const struct events *events = http->service->queue->events;
    const char *last =
        MHD_lookup_connection_value(connection->mhd, MHD_HEADER_KIND, "Last-Event-ID");
    if (http->n_followers >= FOLLOWERS_MAX) {
        problem_set(&request->problem, 503, "connections", "%d clients follow the events already",
                    FOLLOWERS_MAX);
        return;
    }
    struct http_follower *f = calloc(1, sizeof *f);
    struct MHD_Response *response =
        f ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, give, f, leave) : NULL;
    if (!response) {
        free(f);
        problem_set(&request->problem, 503, "memory", "no memory for a stream");
        return;
    }
    f->http = http;
    f->connection = connection;
    f->since = clock_now();
    events_skip(events, &f->next);
    if (last && last[0] >= '0' && last[0] <= '9') {
        uint64_t number = strtoull(last, NULL, 10);
        if (number < events->next && number >= f->next)
            f->next = number + 1;
    }
    LIST_INSERT_HEAD(&http->followers, f, in_list);
    http->n_followers++;
    http_events_look(http); /* so that what changes from here on is told */
    MHD_add_response_header(response, "Content-Type", "text/event-stream");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Accel-Buffering", "no"); /* else nginx collects them */
    http_answer(request, 200, response);
}
