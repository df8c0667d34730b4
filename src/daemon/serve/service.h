/* What the sockets need to know of the daemon: for starting jobs, and for answers about the daemon
 * itself. */
#ifndef SLUICE_DAEMON_SERVE_SERVICE_H
#define SLUICE_DAEMON_SERVE_SERVICE_H

#include "base/text.h"
#include "config/config.h"
#include "daemon/serve/account.h"
#include "daemon/serve/request.h"
#include "daemon/watch/folder.h"
#include "daemon/watch/inquiry.h"
#include "daemon/work/queue.h"
#include <jansson.h>
#include <sys/types.h>

struct metrics;
struct receptions;
struct supervisor;

/* A text about the daemon, made once for all who ask within a moment. */
struct told {
    struct text text;
    uint64_t made; /* monotonic nanoseconds */
    uint64_t took; /* to make it */
};

struct service {
    uv_loop_t *loop;
    struct queue *queue;
    struct metrics *metrics;
    const struct config *config;
    uint64_t config_hash;               /* service_config_hash; … */
    const struct config *config_hashed; /* … of this configuration */
    const char **folder_states;         /* when they were last looked at; owned */
    size_t n_folder_states;
    const struct settings *settings; /* the configuration's */
    const char *state;               /* "ready", "starting", "draining", …; a constant string */
    struct folder_list folders;      /* that are started, and have not stopped */
    struct supervisor *supervisor;   /* of the configuration in force, … */
    struct supervisor *next;         /* … and of the one that takes over; NULL: none does */

    uint64_t started;    /* monotonic nanoseconds */
    double job_seconds;  /* mean time of recent jobs; 0: none yet */
    struct inquiries inquiries;
    struct shares shares;
    struct told status, short_status, figures;
    const struct receptions *receptions; /* of the jobs socket; NULL: there is none */
    time_t ids_since;
    uint64_t n_ids;
};

/* Ids of requests: a client's own, or one that is made of the time of the first one since the start
 * and of their number, so that they differ from those before a restart. */
#define REQUEST_ID_SIZE 104
void service_make_id(struct service *service, char id[REQUEST_ID_SIZE]);

void service_init(struct service *service);
/* Its settings have changed, and with them what there is to share. */
void service_limit(struct service *service);
void service_finish(struct service *service);

/* NULL when jobs are accepted; otherwise "starting", "draining" or "no-device". Jobs are accepted
 * while the daemon starts, too. */
const char *service_trouble(const struct service *service);

/* Adds an event for each folder that has another state than when it was last looked at. For those
 * who follow the events. */
void service_look_at_folders(struct service *service);

/* A hash of what workers are told of the configuration, on which results depend: definitions of
 * @names, limits, the device. */
uint64_t service_config_hash(struct service *service);

/* Inquires what a request asks about files (REQUEST_WHY, _REQUEUE, _FILES), as inquiry_start does.
 * `bytes` of JSON are the most that an answer may have; 0: any. */
int service_inquire(struct service *service, uid_t uid, const struct request *request, size_t bytes,
                    void (*ended)(void *user, json_t *answer, const struct fault *fault),
                    void *user, struct inquiry **inquiry, struct fault *fault);

/* Seconds until the queue is expected to have room. */
unsigned service_retry_after(const struct service *service);

/* Brings the metrics up to date that are measured rather than counted: of clients and what they
 * share, of folders, and of the process. */
void service_measure(const struct service *service);

/* What is told of the daemon: the status as JSON, whole or so short that it fits into a message of
 * so many bytes (a constant), and metrics. A text is told again for 100 ms at most, or for as much
 * less as making it once is a twentieth of the time: an idle daemon says what is, and a busy one
 * does not spend its time on this. NULL without memory; valid until the loop's next turn. */
const char *service_status(struct service *service);
const char *service_short_status(struct service *service, size_t bytes);
const char *service_figures(struct service *service);

/* The chains that are configured: those with names, then those that folders have without one. A new
 * reference; NULL without memory. */
json_t *service_chains(const struct service *service);

#endif
