/* What the sockets know of the daemon they belong to, for jobs and for answers about it. */
#ifndef SLUICE_DAEMON_SERVE_SERVICE_H
#define SLUICE_DAEMON_SERVE_SERVICE_H

#include "config/settings.h"
#include "daemon/serve/inquiry.h"
#include "daemon/work/queue.h"
#include <jansson.h>

struct folder;
struct metrics;

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
    uint64_t bodies;                 /* bytes of inputs that clients' jobs hold */
    unsigned n_http, n_jobs_clients; /* connections */
    struct job_flow nobody;          /* of jobs whose clients have gone */
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

/* Room for so many bytes of an input; they are given back with service_give. */
bool service_take(struct service *service, uint64_t bytes);
void service_give(struct service *service, uint64_t bytes);

/* New references; NULL without memory. */
json_t *service_status(const struct service *service);
json_t *service_chains(const struct service *service);
json_t *service_version(void);

#endif
