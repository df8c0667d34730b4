/* Shared by jobs_socket.c, client.c and client_question.c alone. */
#ifndef SLUICE_DAEMON_SERVE_JOBS_SOCKET_INTERNAL_H
#define SLUICE_DAEMON_SERVE_JOBS_SOCKET_INTERNAL_H

#include "base/text.h"
#include "daemon/serve/client_job.h"
#include "daemon/serve/jobs_socket.h"
#include "daemon/serve/listener.h"
#include "worker/message.h"
#include <jansson.h>

/* Requests of one client that may be under way. */
#define CLIENT_JOBS_MAX 64

struct jobs_request;
struct jobs_question;
struct ask;

/* A message that the socket had no room for. */
struct jobs_outgoing {
    struct text json;
    int fd; /* owned; −1: none */
    STAILQ_ENTRY(jobs_outgoing) next;
};

struct jobs_client {
    struct jobs_socket *server;
    int fd;
    struct peer peer;
    struct job_flow flow;
    uv_poll_t poll;
    bool broken; /* it has gone, or does not take its answers: to be closed from the loop */
    bool closed;
    unsigned n_requests, n_outgoing;
    LIST_HEAD(, jobs_request) requests;
    LIST_HEAD(, jobs_question) questions;
    STAILQ_HEAD(, jobs_outgoing) outgoing;
    LIST_ENTRY(jobs_client) in_list;
};

struct jobs_socket {
    struct service *service;
    void (*changed)(void *context);
    void *context;
    struct listener listener;
    LIST_HEAD(, jobs_client) clients;
    unsigned n_requests;
    uv_idle_t sweep;  /* closes those that are broken, and tells of changes */
    unsigned n_users; /* clients and requests whose memory is still needed, and the handle */
};

/* jobs_socket.c: sends or keeps for later; takes the text and (unless −1) the descriptor over. */
void jobs_send(struct jobs_client *client, struct text *json, int fd);
void jobs_break(struct jobs_client *client);
void jobs_want_sweep(struct jobs_socket *server);
void jobs_release(struct jobs_socket *server);

/* client_question.c: questions about files. */
void client_ask(struct jobs_client *client, const struct ask *ask);
void client_forget_questions(struct jobs_client *client);

/* client.c: takes the object over, and the descriptor (−1: none). */
void client_send(struct jobs_client *client, json_t *object, int fd);

/* client.c: takes the descriptors over. */
void client_take(struct jobs_client *client, const char *bytes, size_t size, int *fds,
                 size_t n_fds);
void client_say_fault(struct jobs_client *client, int64_t id, const struct fault *fault,
                      const struct message *report);
void client_cancel_all(struct jobs_client *client);

#endif
