/* Shared by the http_*.c files alone. */
#ifndef SLUICE_DAEMON_SERVE_HTTP_INTERNAL_H
#define SLUICE_DAEMON_SERVE_HTTP_INTERNAL_H

#include "daemon/serve/client_job.h"
#include "daemon/serve/http.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/problem.h"
#include "daemon/serve/query.h"
#include <microhttpd.h>

struct message;

/* What a connection is at; each phase but one has a deadline that no trickle of bytes puts off. */
enum http_phase {
    HTTP_HEADER,  /* the first request's header is awaited */
    HTTP_IDLE,    /* a further request may come */
    HTTP_BODY,    /* the body comes */
    HTTP_RUNNING, /* a job runs: nothing is expected of the client */
    HTTP_ANSWER,  /* the answer goes out */
    HTTP_CUT,     /* shut down; libmicrohttpd has yet to see it */
};

struct http_connection {
    struct http *http;
    struct MHD_Connection *mhd;
    int fd; /* libmicrohttpd's */
    struct peer peer;
    enum http_phase phase;
    uint64_t since, deadline; /* monotonic nanoseconds */
    struct http_request *request;
    struct account *account;
    struct job_flow flow;
    LIST_ENTRY(http_connection) in_list;
};

/* One request, from its first line to the end of its answer. */
struct http_request {
    struct http_connection *connection;
    struct query query;
    struct fault query_fault;
    const struct http_route *route;  /* NULL: none, or none yet */
    bool begun;                      /* its header is there */
    struct problem problem;          /* the answer, if it has a status */
    struct faults faults;            /* of the chain, where that is what is wrong */
    int body_fd;                     /* owned; −1: none */
    uint64_t body_bytes, body_taken; /* in it; of these the service's */
    uint64_t dropped_bytes;
    struct client_job *job; /* while it runs */
    bool job_ended;
    struct inquiry *inquiry;       /* while its answer is looked for */
    struct MHD_Response *response; /* owned; NULL: none yet */
    unsigned status;
};

struct http_route {
    const char *path;
    const char *methods;    /* as Allow says them */
    const char *parameters; /* of the query, separated by blanks */
    bool takes_body;
    /* The whole request is there: makes an answer or a problem, or starts a job. */
    void (*handle)(struct http_request *request);
};

extern const struct http_route http_routes[]; /* ends with a NULL path */
extern const char http_openapi[];             /* what docs/openapi.json says of them */

struct http {
    struct service *service;
    void (*changed)(void *context);
    void *context;
    struct listener listener;
    struct MHD_Daemon *daemon;
    LIST_HEAD(, http_connection) connections;
    struct http_connection *adding; /* while libmicrohttpd is told of it */
    unsigned n_requests;
    int hangup_fd; /* an epoll set that knows of nothing but hang-ups */
    uv_poll_t poll, hangup_poll;
    uv_timer_t timer;   /* libmicrohttpd's */
    uv_timer_t tick;    /* deadlines */
    uv_idle_t kick;     /* it is to run once more */
    unsigned n_handles; /* of those above that are open */
    unsigned n_users;   /* while closing: whose memory this still is */
    bool closed;
};

/* http.c */
void http_enter(struct http_connection *connection, enum http_phase phase, uint64_t seconds);
void http_kick(struct http *http);
/* Writes an answer past libmicrohttpd, which has no way to answer before the body is there, and
 * ends the connection. */
void http_cut(struct http_connection *connection, const struct problem *problem);
void http_watch_hangup(struct http_connection *connection, bool watch);

/* http_request.c: callbacks of libmicrohttpd. */
void *http_request_begin(void *context, const char *target, struct MHD_Connection *mhd);
enum MHD_Result http_request_go_on(void *context, struct MHD_Connection *mhd, const char *url,
                                   const char *method, const char *version, const char *data,
                                   size_t *size, void **request);
void http_request_end(void *context, struct MHD_Connection *mhd, void **request,
                      enum MHD_RequestTerminationCode why);
/* The answer of a request: takes the response over. */
void http_answer(struct http_request *request, unsigned status, struct MHD_Response *response);
/* Of text that is copied. */
void http_answer_text(struct http_request *request, unsigned status, const char *media_type,
                      const char *text);

/* http_files.c: questions about files. */
void http_files(struct http_request *request);
void http_requeue(struct http_request *request);
/* Takes the document over. */
void http_answer_json(struct http_request *request, json_t *json);

/* http_process.c */
void http_process(struct http_request *request);
/* The answer is there, or nobody waits for it. */
void http_resume(struct http_request *request);
/* Nobody waits any more: the client has hung up. */
void http_process_cancel(struct http_request *request);
/* It has waited for a worker too long. */
void http_process_give_up(struct http_request *request);

#endif
