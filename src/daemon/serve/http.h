/* HTTP connections and their requests. Shared by http.c and http_*.c alone. */
#ifndef SLUICE_DAEMON_SERVE_HTTP_H
#define SLUICE_DAEMON_SERVE_HTTP_H

#include "base/hash.h"
#include "daemon/serve/client_job.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/problem.h"
#include "daemon/serve/sockets.h"
#include <microhttpd.h>

struct message;

/* The phase of a connection. Each phase except HTTP_RUNNING has a deadline, which further bytes do
 * not extend. */
enum http_phase {
    HTTP_HEADER,  /* waits for the header of the first request */
    HTTP_IDLE,    /* waits for a further request */
    HTTP_BODY,    /* receives the body */
    HTTP_RUNNING, /* a job runs; the client only waits */
    HTTP_ANSWER,  /* sends the answer */
    HTTP_FOLLOWING, /* has all events so far; suspended */
    HTTP_CUT,     /* shut down; libmicrohttpd has not noticed yet */
};

struct http_connection {
    struct http *http;
    struct MHD_Connection *mhd;
    int fd; /* owned by libmicrohttpd */
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
    char id[REQUEST_ID_SIZE];        /* for answers and log lines: the client's, or a made one */
    char *target;                    /* as it was sent; owned */
    struct request asked;            /* what that and the body ask for */
    const struct http_route *route;  /* NULL: none, or none yet */
    bool begun;                      /* the header has arrived */
    struct pace_entry turn;          /* while it waits for its user's turn, suspended */
    uint64_t turn_since;             /* monotonic nanoseconds */
    bool admitted;                   /* its turn has come */
    struct problem problem;          /* the answer, if its status is set */
    struct faults faults;            /* mistakes in the chain, if that is the problem */
    int body_fd;                     /* owned; −1: none */
    uint64_t body_bytes, body_taken; /* its size; how much of it the user's account has counted */
    struct hash_stream hashed;       /* the body */
    char etag[48];                   /* of the result, once it is asked for */
    uint64_t dropped_bytes;
    bool has_line_end;      /* the body has */
    struct client_job *job; /* while it runs */
    bool job_ended;
    struct inquiry *inquiry;       /* while it is being answered */
    struct MHD_Response *response; /* owned; NULL: none yet */
    unsigned status;
};

struct http_route {
    const char *path;
    const char *methods;    /* as Allow says them */
    const char *parameters; /* of the query, separated by blanks */
    bool takes_body;
    bool takes_turns; /* with what others of the user ask for; else it costs nothing */
    /* Called when the whole request has arrived: makes an answer or a problem, or starts a job. */
    void (*handle)(struct http_request *request);
};

extern const struct http_route http_routes[]; /* ends with a row without a path */
extern const char http_openapi[]; /* what docs/openapi.json says, as the daemon serves it */

struct http {
    struct service *service;
    struct listener listener;
    struct MHD_Daemon *daemon;
    LIST_HEAD(, http_connection) connections;
    struct http_connection *adding; /* while MHD_add_connection runs */
    unsigned n_requests;
    LIST_HEAD(, http_follower) followers; /* of events */
    unsigned n_followers;
    unsigned n_ticks;
    int *spent; /* descriptors of results that libmicrohttpd has done with after its turn; owned */
    size_t n_spent;
    int hangup_fd; /* an epoll set that reports hang-ups only */
    uv_poll_t poll, hangup_poll;
    uv_timer_t timer;   /* libmicrohttpd's */
    uv_timer_t tick;    /* deadlines; runs while there are connections */
    bool kicked;        /* libmicrohttpd has to run once more */
    unsigned n_handles; /* open ones of the above */
    unsigned n_users;   /* while closing: handles and connections that still use this memory */
    bool closed;
};

/* http.c */
void http_enter(struct http_connection *connection, enum http_phase phase, uint64_t seconds);
void http_kick(struct http *http);
/* Closes a result's descriptor later than libmicrohttpd closes its duplicate, which must not be the
 * last one. Takes it over. */
void http_spend(struct http *http, int *fd);
/* Has libmicrohttpd go on with a request whose turn has come. */
void http_admit(struct pace_entry *turn);
/* Writes an answer without libmicrohttpd, which cannot answer before the body has arrived, and ends
 * the connection. */
void http_cut(struct http_connection *connection, const struct problem *problem);
void http_watch_hangup(struct http_connection *connection, bool watch);

/* http_request.c: callbacks of libmicrohttpd. */
void *http_request_begin(void *context, const char *target, struct MHD_Connection *mhd);
enum MHD_Result http_request_go_on(void *context, struct MHD_Connection *mhd, const char *url,
                                   const char *method, const char *version, const char *data,
                                   size_t *size, void **request);
void http_request_end(void *context, struct MHD_Connection *mhd, void **request,
                      enum MHD_RequestTerminationCode why);
/* Answers a request; takes over the response. */
void http_answer(struct http_request *request, unsigned status, struct MHD_Response *response);
/* The same with a text, which is copied. */
void http_answer_text(struct http_request *request, unsigned status, const char *media_type,
                      const char *text);

/* http_events.c */
void http_events(struct http_request *request); /* answers GET /v1/events */
/* A follower that waits has hung up. */
void http_events_hung_up(struct http_connection *connection);
/* Goes on with followers for whom there is something, or the end. */
void http_events_wake(struct http *http);
/* Looks at the folders' states. */
void http_events_look(struct http *http);

/* http_routes.c */
/* The answer is ready, or nobody waits for it: libmicrohttpd goes on with the connection. */
void http_resume(struct http_request *request);
/* The client has hung up, so nobody waits for the answer. */
void http_cancel(struct http_request *request);
/* The request has waited for a worker for too long. */
void http_give_up(struct http_request *request);

#endif
