/* What the sockets know of the daemon they belong to, for jobs and for answers about it. */
#ifndef SLUICE_DAEMON_SERVE_SERVICE_H
#define SLUICE_DAEMON_SERVE_SERVICE_H

#include "config/settings.h"
#include "daemon/serve/inquiry.h"
#include "daemon/work/queue.h"
#include <jansson.h>
#include <sys/types.h>

struct folder;
struct metrics;
struct receptions;

/* What one user has of what all users share. It is there as long as somebody uses it. */
struct account {
    uid_t uid;
    uint64_t bytes;   /* of inputs, and of results that are not read yet */
    uint64_t results; /* of these the results */
    unsigned n_jobs;  /* in the queue */
    unsigned n_connections;
    struct job_flow flow;
    unsigned n_uses;
    LIST_ENTRY(account) in_list;
};

struct service {
    uv_loop_t *loop;
    struct queue *queue;
    struct metrics *metrics;
    const struct settings *settings;
    /* "ready", "starting", "draining", … */
    const char *(*state)(void *context);
    /* The configured chain number `index`: its name (NULL: it has none) and text; false: there are
     * no more. */
    bool (*chain)(void *context, size_t index, const char **name, const char **text);
    /* Watched folder number `index`; NULL: there are no more. */
    struct folder *(*folder)(void *context, size_t index);
    /* Who looks after workers: of the configuration in force, then of one that is to take over;
     * NULL: there are no more. */
    const struct supervisor *(*supervisor)(void *context, size_t index);
    /* Brings metrics up to date that nobody counts. */
    void (*measure)(void *context);
    void *context;

    uint64_t started;    /* monotonic nanoseconds */
    double job_seconds;  /* that jobs have taken of late; 0: none yet */
    json_t *description; /* stages and devices, as the worker last told; NULL: not yet */
    int description_fd;  /* what it writes to */
    struct inquiries inquiries;
    uint64_t bytes; /* of inputs and results that clients' jobs hold */
    LIST_HEAD(, account) accounts;
    unsigned n_http, n_jobs_clients;     /* connections */
    const struct receptions *receptions; /* of the jobs socket; NULL: there is none */
    struct job_flow nobody;              /* of jobs whose clients have gone */
};

void service_init(struct service *service);
void service_finish(struct service *service);

/* A worker is ready: it is asked for what it can do. Then its answer is there. */
void service_worker_ready(struct service *service);
void service_described(struct service *service);

/* NULL when jobs are welcome; else why not: "starting", "draining", "no-device". Jobs that come
 * while the daemon starts are taken all the same. */
const char *service_trouble(const struct service *service);

/* The text of the chain of that name, or `chain` itself. */
const char *service_chain(const struct service *service, const char *chain);

/* Seconds until there will be room in the queue. */
unsigned service_retry_after(const struct service *service);

/* The account of a user, to be left again. NULL without memory. */
struct account *service_account(struct service *service, uid_t uid);
/* Another use of one. */
struct account *account_use(struct account *account);
/* Takes NULL. */
void account_leave(struct account *account);

/* How much of `total` somebody may have while the others have so much: half of what they leave, so
 * that whoever comes next finds some. */
static inline uint64_t service_share(uint64_t total, uint64_t others)
{
    return total > others ? (total - others) / 2 : 0;
}

/* Room for so many bytes more of an input, of which `own` are taken already; within the user's
 * share, or all that the user has. They are given back with service_give. */
bool service_take(struct service *service, struct account *account, uint64_t own, uint64_t bytes);
void service_give(struct service *service, struct account *account, uint64_t bytes);

/* What clients may hold together. */
uint64_t service_bytes_max(const struct service *service);

/* A result, which is there already, until its client has read it. */
void service_hold_result(struct service *service, struct account *account, uint64_t bytes);
void service_release_result(struct service *service, struct account *account, uint64_t bytes);

/* FAULT_BUSY: results that nobody reads leave the user no room for another one. */
int service_check_results(const struct service *service, const struct account *account,
                          struct fault *fault);

/* FAULT_BUSY: the queue has no room for a job of this user's. */
int service_check_queue(const struct service *service, const struct account *account,
                        struct fault *fault);

/* Brings the metrics of clients and what they share up to date. */
void service_measure(const struct service *service);

/* New references; NULL without memory. */
json_t *service_status(const struct service *service);
json_t *service_chains(const struct service *service);
json_t *service_version(void);

#endif
