#include "daemon/serve/client_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sealed.h"
#include "daemon/work/closing.h"
#include "worker/message.h"

/* Number of further tries after faults that may pass, after the queue's pauses of 1 s and 5 s. */
#define RETRIES_MAX 2

/* Weight of a new time in the mean. */
#define MEAN_WEIGHT 0.1

#define SEVERAL_REFUSED "several planes do not fit one file of this format; ask for format=npz"

static void drop_planes(struct client_job *job)
{
    for (size_t i = 0; i < job->n_planes; i++) {
        closing_take(job->service->loop, &job->planes[i].fd);
        service_release_result(job->service, job->how.account, job->planes[i].size);
    }
    free(job->planes);
    job->planes = NULL;
    job->n_planes = 0;
}

static int add_plane(struct client_job *job, const char *name, struct fault *fault)
{
    void *planes = realloc(job->planes, (job->n_planes + 1) * sizeof *job->planes);
    if (!planes)
        return fault_set(fault, FAULT_MEMORY, "no memory for a plane");
    job->planes = planes;
    struct client_plane *plane = &job->planes[job->n_planes];
    *plane = (struct client_plane){.fd = sealed_create("sluice-result")};
    if (plane->fd < 0)
        return fault_set_errno(fault, FAULT_MEMORY, "memfd_create");
    snprintf(plane->name, sizeof plane->name, "%s", name);
    job->n_planes++;
    return 0;
}

void client_job_destroy(struct client_job **job)
{
    struct client_job *j = *job;
    *job = NULL;
    if (!j)
        return;
    drop_planes(j);
    closing_take(j->service->loop, &j->how.in_fd);
    closing_take(j->service->loop, &j->how.out_fd);
    service_give(j->service, j->how.account, j->how.bytes);
    account_leave(j->how.account);
    free(j->chain);
    free(j->format);
    free(j->input);
    free(j);
}

/* ---- requests of the queue ---- */

static void leave_queue(struct client_job *job)
{
    queue_remove(job->service->queue, &job->job);
    job->how.account->n_jobs--;
    job->in_queue = false;
}

/* `ended` may destroy the job. */
static void end(struct client_job *job, const struct message *report)
{
    leave_queue(job);
    if (job->how.ended)
        job->how.ended(job, report);
    else
        client_job_destroy(&job);
}

/* The worker truncates a client's own output, because that may wait for whoever has a lease on it.
 */
static void open_job(struct job *queued)
{
    struct client_job *job = (struct client_job *)queued;
    int out = job->how.out_fd;
    drop_planes(job);
    if (!job->how.ended) { /* its worker died, and its client has gone */
        fault_set(&queued->fault, FAULT_INTERRUPTED, "the client has gone");
    } else if (service_check_results(job->service, job->how.account, &queued->fault) == 0 &&
               out < 0 && add_plane(job, "", &queued->fault) == 0) {
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

static void need_output(struct job *queued, const char *plane)
{
    struct client_job *job = (struct client_job *)queued;
    struct fault fault = FAULT_INIT;
    int fd = -1;
    if (!job->how.several) {
        job->several_refused = true;
        fault_set(&fault, FAULT_SHAPE, SEVERAL_REFUSED);
    } else if (add_plane(job, plane, &fault) == 0) {
        fd = job->planes[job->n_planes - 1].fd;
    }
    queue_give_output(job->service->queue, queued, plane, fd, &fault);
}

/* The kernel refuses a seal while somebody maps the file to write to it. */
static bool seal_planes(struct client_job *job)
{
    bool sealed = true;
    for (size_t i = 0; i < job->n_planes; i++)
        sealed &= sealed_finish(job->planes[i].fd) == 0;
    return sealed;
}

static void done(struct job *queued, const struct message *report)
{
    struct client_job *job = (struct client_job *)queued;
    struct service *service = job->service;
    struct queue *queue = service->queue;
    const char *name, *text;
    struct stat status;
    char times[JOB_TIMES_MAX];
    bool wanted = job->how.ended != NULL;
    if (job->several_refused) { /* the worker says that an output could not be made */
        fault_clear(&queued->fault);
        fault_set(&queued->fault, FAULT_SHAPE, SEVERAL_REFUSED);
    }
    if (wanted && fault_is_temporary(queued->fault.code) && queued->retries < RETRIES_MAX &&
        !queue->draining) {
        queue_retry(queue, queued);
        return;
    }
    double seconds = report ? (double)report->total * 1e-9 : 0, *mean = &service->job_seconds;
    if (report)
        *mean = *mean == 0 ? seconds : (1 - MEAN_WEIGHT) * *mean + MEAN_WEIGHT * seconds;
    if (report && report->n_planes > 0 && job->n_planes > 0 && job->how.out_fd < 0)
        snprintf(job->planes[0].name, sizeof job->planes[0].name, "%s", report->planes[0]);
    bool sealed = seal_planes(job);
    if (!sealed && queued->fault.code == FAULT_NONE) {
        fault_set(&queued->fault, FAULT_CRASHED,
                  "the worker kept a result open after it had said that it was done");
        queue_accuse(queue, queued);
        drop_planes(job);
    }
    for (size_t i = 0; i < job->n_planes; i++) { /* their sizes are known, and count, from now on */
        struct client_plane *plane = &job->planes[i];
        plane->size = fstat(plane->fd, &status) == 0 ? (uint64_t)status.st_size : 0;
        service_hold_result(service, job->how.account, plane->size);
    }
    queued->counted = "custom"; /* chains that are not configured, so that clients make no labels */
    for (size_t i = 0; service->chain(service->context, i, &name, &text); i++)
        if (strcmp(text, job->chain) == 0)
            queued->counted = name ? name : text;
    queue_count_end(queue, queued, queued->fault.code == FAULT_NONE);
    job_print_times(queued, times);
    if (queued->fault.code != FAULT_NONE)
        log_about(job_subject(queued), LOG_LEVEL_INFO, "failed: %s: %s",
                  fault_name(queued->fault.code), queued->fault.text);
    else
        log_about(job_subject(queued), LOG_LEVEL_DEBUG, "done in %s", times);
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

/* ---- requests of the client ---- */

int client_job_start(struct client_job **job, struct service *service,
                     const struct client_job_how *how, struct fault *fault)
{
    struct client_job *j = calloc(1, sizeof *j);
    *job = NULL;
    if (!j) {
        closing_take(service->loop, &(int){how->in_fd});
        closing_take(service->loop, &(int){how->out_fd});
        service_give(service, how->account, how->bytes);
        return fault_set(fault, FAULT_MEMORY, "no memory for a job");
    }
    j->service = service;
    j->how = *how;
    account_use(how->account);
    j->chain = strdup(service_chain(service, how->chain));
    j->format = strdup(how->format);
    j->input = how->input ? strdup(how->input) : NULL;
    j->how.chain = j->how.format = j->how.input = NULL;
    snprintf(j->request, sizeof j->request, "%s", how->request);
    snprintf(j->label, sizeof j->label, "%s request %s", how->origin, how->request);
    int result = 0;
    if (!j->chain || !j->format || (how->input && !j->input))
        result = fault_set(fault, FAULT_MEMORY, "no memory for a job");
    else
        result = service_check_queue(service, how->account, fault);
    if (result != 0) {
        client_job_destroy(&j);
        return result;
    }
    j->job = (struct job){.source = &source,
                          .origin = how->origin,
                          .flow = how->flow,
                          .label = j->label,
                          .request = j->request,
                          .chain = j->chain,
                          .format = j->format,
                          .input = j->input,
                          .lane = JOB_NORMAL};
    j->in_queue = true;
    how->account->n_jobs++;
    queue_add(service->queue, &j->job);
    *job = j;
    return 0;
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
    if (client_job_waits(j))
        leave_queue(j);
    if (!j->in_queue) {
        client_job_destroy(&j);
        return;
    }
    j->how.ended = NULL; /* the worker has its descriptors: its result is dropped */
    j->job.flow = &j->how.account->flow; /* the client may go, its user still has a slot */
}
