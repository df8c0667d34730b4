/* What the queue says to the worker that has the jobs, and what SIGUSR1 hears of it. */
#include "daemon/work/supervise.h"

#include <inttypes.h>

#include "base/log.h"
#include "daemon/work/stint.h"
#include "daemon/work/worker.h"
#include "worker/message.h"

bool supervisor_is_ready(const struct supervisor *supervisor)
{
    const struct supervisor *s = supervisor;
    return s->current && s->current->phase == STINT_READY && !s->current->spoiled &&
           !(s->next && s->next->phase == STINT_READY);
}

void supervisor_send_job(struct supervisor *supervisor, const struct job *job)
{
    struct message message;
    message_init(&message, MESSAGE_JOB);
    message.id = job->id;
    message.chain = job->chain;
    message.format = job->format;
    message.input = job->input;
    message.fds[0] = job->in_fd;
    message.fds[1] = job->out_fd;
    message.n_fds = 2;
    supervisor->current->in_flight++;
    worker_send(supervisor->current->worker, &message);
}

void supervisor_send_output(struct supervisor *supervisor, const struct job *job, const char *plane,
                            int fd, const struct fault *fault)
{
    struct message message;
    if (!supervisor->current)
        return;
    message_init(&message, MESSAGE_OUTPUT);
    message.id = job->id;
    message.plane = plane;
    message.fds[0] = fd;
    message.n_fds = fd >= 0 ? 1 : 0;
    message.text = fd >= 0 ? NULL : fault->text;
    worker_send(supervisor->current->worker, &message);
}

bool supervisor_describe(struct supervisor *supervisor, int fd)
{
    struct message message;
    if (!supervisor->current)
        return false;
    message_init(&message, MESSAGE_DESCRIBE);
    message.fds[0] = fd;
    message.n_fds = 1;
    worker_send(supervisor->current->worker, &message);
    return true;
}

void supervisor_log_state(const struct supervisor *supervisor)
{
    const struct supervisor *s = supervisor;
    const struct stint *stint = s->current ? s->current : s->next;
    log_info("worker %d (%s): starts: %u, jobs: %" PRIu64 ", programs compiled: %" PRIu64
             ", from the cache: %" PRIu64,
             stint ? stint->pid : 0, stint && stint->name[0] ? stint->name : "no device",
             s->n_starts, s->n_jobs, stint ? stint->builds : 0, stint ? stint->cache_hits : 0);
    if (s->n_recycled > 0)
        log_info("workers replaced in good order: %u", s->n_recycled);
    if (s->n_lost > 0)
        log_error("a reboot is due: %u workers are stuck in the kernel", s->n_lost);
    if (stint && fallback_is_below(&s->fallback, stint->rung))
        log_warning("the fallback device does the work of '%s'", s->settings->device);
}
