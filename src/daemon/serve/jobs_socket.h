/* Clients of the jobs socket, as jobs_socket.c has them. */
#ifndef SLUICE_DAEMON_SERVE_JOBS_SOCKET_H
#define SLUICE_DAEMON_SERVE_JOBS_SOCKET_H

#include "base/text.h"
#include "daemon/serve/client_job.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/receptions.h"
#include "daemon/serve/sockets.h"
#include "worker/message.h"

struct jobs_inquiry;

/* A message to a client, kept until the client has read it. */
struct jobs_outgoing {
    struct text json; /* emptied when it has been sent, … */
    int fd;           /* … and this is −1 then; owned; −1: none */
    uint64_t held;    /* size of the result that goes with it, counted against the user's account */
    unsigned bytes;   /* that it takes in the socket */
    STAILQ_ENTRY(jobs_outgoing) next;
};

STAILQ_HEAD(jobs_messages, jobs_outgoing);

struct jobs_client {
    struct jobs_socket *server;
    int fd;
    struct peer peer;
    struct account *account;
    struct job_flow flow;
    uv_poll_t poll;
    struct pace_entry turn; /* while it waits for its user's turn to be read from */
    int polled;             /* what the loop waits for */
    bool broken;            /* gone, or does not read its answers: to be closed from the loop */
    bool closed;            /* cut off: unread results count until it has disconnected */
    unsigned n_requests, n_outgoing; /* jobs and inquiries; messages */
    bool follows;                    /* it gets all events, … */
    bool feeding;                    /* … and is given some now */
    int64_t follows_id;              /* … as answers to this request */
    uint64_t next_event;             /* the number of the one that it gets next */
    uint64_t held;                   /* size of results that wait for it, or that it has not read */
    unsigned n_unread_bytes;         /* in the socket, of messages in `unread` */
    uint64_t read_at;                /* when it last read a message; monotonic nanoseconds */
    struct reception *reception;     /* of messages that are being received; NULL: none */
    LIST_HEAD(, client_job) jobs;
    LIST_HEAD(, jobs_inquiry) inquiries;
    struct jobs_messages outgoing; /* not sent yet */
    struct jobs_messages unread;   /* sent, and not read yet */
    LIST_ENTRY(jobs_client) in_list;
};

struct jobs_socket {
    struct service *service;
    struct listener listener;
    struct receptions receptions;
    LIST_HEAD(, jobs_client) clients;
    unsigned n_requests;
    unsigned n_leaving; /* clients that are broken */
    uv_idle_t sweep;    /* closes clients that are broken, and calls `changed` */
    unsigned n_followers;
    unsigned n_ticks;
    uv_timer_t tick;    /* runs while there are unread results, or followers of events */
    unsigned n_users;   /* clients and handles that still use this memory */
};

#endif
