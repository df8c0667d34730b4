/* The life of a client's job, whichever socket it comes by:
 *
 *     http_request.c, receptions.c   its input comes: a body, which goes into a sealed memory file
 *                                    as it arrives, or a descriptor, which a receiver takes. Its
 *                                    bytes count against the user's account from here on.
 *     request.c                      its words are read: chain, format, input.
 *     client_job_start               it is a job. An input that is no sealed memory file is copied.
 *     enter_queue                    it waits for its turn among those of all users.
 *     open_job, need_output          a worker is to get it, with a file for the result, or several.
 *     done                           it has ended, or is tried again; the result is sealed.
 *     on_job_ended                   of http_routes.c or jobs_socket.c: the client is answered, and
 *                                    the result counts until it has been read. */
#include "daemon/serve/client_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sealed.h"
#include "daemon/serve/receptions.h"
#include "daemon/work/closing.h"
#include "daemon/work/metrics.h"
#include "worker/message.h"

/* Number of further tries after faults that may pass, after the queue's pauses of 1 s and 5 s. */
#define RETRIES_MAX 2

/* Weight of a new time in the mean. */
#define MEAN_WEIGHT 0.1

static const struct job_source source;

/* ---- planes: memory files for the result ---- */

static void drop_planes(struct client_job *job)
{
    for (size_t i = 0; i < job->n_planes; i++) {
        closing_take(job->service->loop, &job->planes[i].fd);
        account_count_result(&job->service->shares, job->how.account, -(int64_t)job->planes[i].size);
    }
    free(job->planes);
    job->planes = NULL;
    job->n_planes = 0;
}

static int add_plane(struct client_job *job, unsigned of, const char *name, struct fault *fault)
{
    void *planes = realloc(job->planes, (job->n_planes + 1) * sizeof *job->planes);
    if (!planes)
        return fault_set(fault, FAULT_MEMORY, "no memory for a plane");
    job->planes = planes;
    struct client_plane *plane = &job->planes[job->n_planes];
    *plane = (struct client_plane){.of = of, .fd = sealed_create("sluice-result")};
    if (plane->fd < 0)
        return fault_set_errno(fault, FAULT_MEMORY, "memfd_create");
    snprintf(plane->name, sizeof plane->name, "%s", name);
    job->n_planes++;
    return 0;
}

/* ---- its beginning ---- */

/* Finds the chains, and what the results are called. Names differ, so that each stands for one. */
static int take_chains(struct client_job *job, struct fault *fault)
{
    const struct request *request = &job->request;
    const char *given = request->name;
    struct text chains = {0};
    size_t length;
    job->n_results = text_count_parts(request->chain);
    if (job->n_results > MESSAGE_RESULTS_MAX)
        return fault_set(fault, FAULT_CHAIN, "%zu results of one picture; the limit is %d",
                         job->n_results, MESSAGE_RESULTS_MAX);
    if (given && text_count_parts(given) != job->n_results)
        return fault_set(fault, FAULT_USAGE, "%zu names for %zu result%s", text_count_parts(given),
                         job->n_results, job->n_results == 1 ? "" : "s");
    for (size_t i = 0; i < job->n_results; i++) {
        const char *at = text_find_part(request->chain, i, &length);
        char *part = strndup(at, length), *name = job->names[i];
        const char *chain = part ? config_chain(job->service->config, part) : NULL;
        chains.failed |= !part;
        const char *guess = part && !chain ? config_guess_chain(job->service->config, part) : NULL;
        if (job->how.configured && part && !chain) {
            const struct config *config = job->service->config;
            struct text names = {0};
            for (size_t k = 0; k < config->n_chains; k++)
                text_printf(&names, "%s%s", k ? ", " : "", config->chains[k].name);
            fault_set(fault, FAULT_PERMISSION,
                      "this socket takes the names of configured chains alone (chains: configured, "
                      "docs/configuration.md): %s",
                      names.length ? text_string(&names) : "there are none");
            text_finish(&names);
        } else if (guess) {
            fault_set(fault, FAULT_CHAIN,
                      "'%s' is no stage and no chain of the configuration; did you mean '%s'?",
                      part, guess);
        }
        text_printf(&chains, "%s%s", i ? ";" : "", chain ? chain : part ? part : "");
        if (given) {
            at = text_find_part(given, i, &length);
            snprintf(name, sizeof job->names[i], "%.*s", (int)length, at);
            if (length >= sizeof job->names[i] || !message_is_plane_name(name))
                fault_set(fault, FAULT_USAGE,
                          "name '%.*s': a result's name is 1 to 31 of A-Z a-z 0-9 _ -", (int)length,
                          at);
        } else if (chain && message_is_plane_name(part)) {
            snprintf(name, sizeof job->names[i], "%s", part);
        }
        for (size_t k = 0; k < i && name[0]; k++) {
            if (strcmp(name, job->names[k]) != 0)
                continue;
            if (given)
                fault_set(fault, FAULT_USAGE, "name '%s' is given twice", name);
            name[0] = '\0';
        }
        if (!name[0])
            snprintf(name, sizeof job->names[i], "%zu", i + 1);
        free(part);
    }
    job->chain = chains.failed ? NULL : chains.data ? chains.data : strdup("");
    if (!job->chain)
        return fault_set(fault, FAULT_MEMORY, "no memory for a job");
    return fault ? (int)fault->code : 0;
}

/* A place in the job's chains as one in the client's text: that of a configured chain is its
 * name's.
 */
static void move_place(const struct client_job *job, struct fault *fault)
{
    size_t length, own;
    const char *part;
    for (size_t i = 0;
         fault->position >= 0 && (part = text_find_part(job->chain, i, &length)) != NULL; i++) {
        size_t at = (size_t)(part - job->chain);
        const char *mine = text_find_part(job->request.chain, i, &own);
        if ((size_t)fault->position > at + length || !mine)
            continue;
        bool same = own == length && memcmp(mine, part, own) == 0;
        size_t within = same ? (size_t)fault->position - at : 0;
        fault->position = (int)((size_t)(mine - job->request.chain) + within);
        fault->length = same ? fault->length : (int)own;
        return;
    }
}

struct faults client_job_faults(struct client_job *job, const struct message *report)
{
    struct faults faults = report ? report->faults : (struct faults){0};
    bool is_chain = report && report->subject && strcmp(report->subject, "chain") == 0;
    for (size_t i = 0; i < faults_count(&faults); i++)
        move_place(job, &faults.list[i]);
    if (is_chain)
        move_place(job, &job->job.fault);
    return faults;
}

static int enter_queue(struct client_job *job, struct fault *fault)
{
    if (account_check_queue(&job->service->shares, job->how.account, fault) != 0)
        return fault->code;
    job->job = (struct job){.source = &source,
                            .origin = job->how.origin,
                            .flow = job->how.flow,
                            .n_owned = &job->how.account->n_jobs,
                            .label = job->label,
                            .request = job->id,
                            .chain = job->chain,
                            .format = job->request.format,
                            .input = job->request.input,
                            .in_fd = -1,
                            .out_fd = -1,
                            .lane = JOB_NORMAL};
    job->in_queue = true;
    queue_add(job->service->queue, &job->job);
    return 0;
}

/* The job leaves the queue, if it has come to it; its client is told, or nobody waits for it.
 * `ended` may destroy the job. */
static void end(struct client_job *job, const struct message *report)
{
    if (job->in_queue) {
        queue_remove(job->service->queue, &job->job);
        job->in_queue = false;
    }
    if (job->how.ended)
        job->how.ended(job, report);
    else
        client_job_destroy(&job);
}

static void on_copied(struct reception *reception, const struct receipt *receipt, const int fds[2])
{
    struct client_job *job = reception->how.user;
    struct fault *fault = &job->job.fault;
    *fault = receipt->fault;
    job->how.reception = NULL;
    job->how.in_fd = fds[0];
    job->how.out_fd = fds[1];
    job->copied = receipt->size;
    metrics_add(job->service->metrics, METRIC_BYTES_COPIED, NULL, (double)job->copied);
    if (!job->how.ended || fault->code != FAULT_NONE || enter_queue(job, fault) != 0)
        end(job, NULL);
}

static void on_copy_lost(struct reception *reception, const struct fault *fault)
{
    struct client_job *job = reception->how.user;
    job->how.reception = NULL;
    job->lost = true;
    job->job.fault = *fault;
    end(job, NULL);
}

/* The account has counted the input already, so that nobody fills memory with inputs of jobs that
 * find no room in the queue. The request is the job's from here on, with its words; the chains
 * alone are copied, since they may be those of names, and a reload drops the configuration. */
int client_job_start(struct client_job **job, struct service *service,
                     const struct client_job_how *how, struct fault *fault)
{
    struct client_job *j = calloc(1, sizeof *j);
    *job = NULL;
    if (!j) {
        closing_take(service->loop, &(int){how->in_fd});
        closing_take(service->loop, &(int){how->out_fd});
        account_give(&service->shares, how->account, how->bytes);
        if (how->reception)
            reception_drop(how->reception);
        return fault_set(fault, FAULT_MEMORY, "no memory for a job");
    }
    j->service = service;
    j->how = *how;
    how->account->n_uses++;
    j->request = *how->request;
    *how->request = (struct request){.id = -1};
    snprintf(j->id, sizeof j->id, "%s", how->id);
    snprintf(j->label, sizeof j->label, "%s request %s", how->origin, how->id);
    int result = take_chains(j, fault);
    if (result == 0 && how->reception) {
        how->reception->how.copied = on_copied;
        how->reception->how.lost = on_copy_lost;
        how->reception->how.user = j;
        reception_copy(how->reception);
    } else if (result == 0) {
        result = enter_queue(j, fault);
    } else if (how->reception) {
        reception_drop(how->reception);
    }
    if (result == 0)
        *job = j;
    else
        client_job_destroy(&j);
    return result;
}

/* ---- requests of the queue ---- */

/* The worker truncates a client's own output, because that may wait for whoever has a lease on it.
 */
static void open_job(struct job *queued)
{
    struct client_job *job = (struct client_job *)queued;
    int out = job->how.out_fd;
    if (job->n_planes > 0) /* of an earlier try */
        drop_planes(job);
    if (!job->how.ended) { /* its worker died, and its client has gone */
        fault_set(&queued->fault, FAULT_INTERRUPTED, "the client has gone");
    } else if (account_check_results(&job->service->shares, job->how.account, &queued->fault) == 0 &&
               out < 0 && add_plane(job, 0, "", &queued->fault) == 0) {
        out = job->planes[0].fd;
    }
    if (queued->fault.code != FAULT_NONE) {
        queue_give_up(job->service->queue, queued);
        return;
    }
    queued->in_fd = job->how.in_fd;
    queued->out_fd = out;
    queue_opened(job->service->queue, queued);
}

static void need_output(struct job *queued, unsigned of, const char *plane)
{
    struct client_job *job = (struct client_job *)queued;
    struct fault fault = FAULT_INIT;
    int fd = -1;
    if (of >= job->n_results) {
        fault_set(&fault, FAULT_INTERNAL, "no such result was asked for");
    } else if (!job->how.several && job->n_results == 1) {
        fault_set(&fault, FAULT_SHAPE,
                  "several planes do not fit one file of this format; ask for format=npz");
    } else if (add_plane(job, of, plane, &fault) == 0) {
        fd = job->planes[job->n_planes - 1].fd;
    }
    queue_give_output(job->service->queue, queued, of, plane, fd, &fault);
}

static void done(struct job *queued, const struct message *report)
{
    struct client_job *job = (struct client_job *)queued;
    struct service *service = job->service;
    struct queue *queue = service->queue;
    struct stat status;
    char times[JOB_TIMES_MAX];

    /* What may pass by itself is tried again, while somebody waits for it. */
    if (job->how.ended && fault_is_temporary(queued->fault.code) && queued->retries < RETRIES_MAX &&
        !queue->draining) {
        queue_retry(queue, queued);
        return;
    }

    /* From its time others are told how long they may have to wait. */
    double seconds = report ? (double)report->total * 1e-9 : 0, *mean = &service->job_seconds;
    if (report)
        *mean = *mean == 0 ? seconds : (1 - MEAN_WEIGHT) * *mean + MEAN_WEIGHT * seconds;
    if (report && report->n_planes > 0 && job->n_planes > 0 && job->how.out_fd < 0)
        snprintf(job->planes[0].name, sizeof job->planes[0].name, "%s", report->planes[0]);

    /* The result is sealed, so that its client may use it in place. The kernel refuses a seal while
     * somebody maps the file to write to it. */
    bool sealed = true;
    for (size_t i = 0; i < job->n_planes; i++)
        sealed &= sealed_finish(job->planes[i].fd) == 0;
    if (!sealed && queued->fault.code == FAULT_NONE) {
        fault_set(&queued->fault, FAULT_CRASHED,
                  "the worker kept a result open after it had said that it was done");
        queue_accuse(queue, queued);
        drop_planes(job);
    }
    for (size_t i = 0; i < job->n_planes; i++) { /* their sizes are known, and count, from now on */
        struct client_plane *plane = &job->planes[i];
        plane->size = fstat(plane->fd, &status) == 0 ? (uint64_t)status.st_size : 0;
        account_count_result(&service->shares, job->how.account, (int64_t)plane->size);
    }

    /* Chains are counted by their names; one that is not configured is "custom", so that clients
     * make no labels. */
    const char *part;
    size_t length;
    text_finish(&job->counted);
    for (size_t i = 0; (part = text_find_part(job->chain, i, &length)) != NULL; i++) {
        char *chain = strndup(part, length);
        const char *name = chain ? config_name_of_chain(service->config, chain) : NULL;
        text_printf(&job->counted, "%s%s", i ? ";" : "", name ? name : "custom");
        free(chain);
    }
    queued->counted = text_string(&job->counted);
    struct text results = {0};
    for (size_t i = 0; i < job->n_results; i++) {
        const char *name = job->names[i];
        text_append_bytes(&results, name, strlen(name) + 1);
    }
    text_append_bytes(&results, "", 1);
    queued->results = results.data;
    queue_count_end(queue, queued, queued->fault.code == FAULT_NONE);
    queued->results = NULL;
    text_finish(&results);
    if (queued->fault.code != FAULT_NONE)
        log_about(job_subject(queued), LOG_LEVEL_INFO, "failed: %s: %s",
                  fault_name(queued->fault.code), queued->fault.text);
    if (queued->fault.code == FAULT_NONE && log_enabled(LOG_LEVEL_DEBUG)) {
        job_print_times(queued, times);
        log_about(job_subject(queued), LOG_LEVEL_DEBUG, "done in %s", times);
    }
    end(job, report);
}

static void give_back(struct job *queued)
{
    struct client_job *job = (struct client_job *)queued;
    fault_clear(&queued->fault);
    fault_set(&queued->fault, FAULT_BUSY, "the daemon is ending");
    end(job, NULL);
}

static const struct job_source source = {
    .open = open_job, .need_output = need_output, .done = done, .give_back = give_back};

/* ---- its end ---- */

void client_job_destroy(struct client_job **job)
{
    struct client_job *j = *job;
    *job = NULL;
    if (!j)
        return;
    drop_planes(j);
    closing_take(j->service->loop, &j->how.in_fd);
    closing_take(j->service->loop, &j->how.out_fd);
    account_give(&j->service->shares, j->how.account, j->how.bytes);
    account_leave(j->how.account);
    request_finish(&j->request);
    text_finish(&j->counted);
    free(j->chain);
    free(j);
}

bool client_job_waits(const struct client_job *job)
{
    return job->in_queue && (job->job.state == JOB_QUEUED || job->job.state == JOB_OPEN ||
                             job->job.state == JOB_WAITING);
}

void client_job_cancel(struct client_job **job)
{
    struct client_job *j = *job;
    *job = NULL;
    if (!j)
        return;
    j->how.ended = NULL;
    if (j->how.reception) /* on_copied or on_copy_lost follows */
        return;
    if (!j->in_queue || client_job_waits(j))
        end(j, NULL);
    else /* a worker has its descriptors: the client may go, its user still has a slot */
        j->job.flow = &j->how.account->flow;
}
