/* Jobs in the engine, from their message to the answer. */
#include "worker/serve_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "image/frame.h"
#include "worker/describe.h"
#include "worker/signals.h"

/* The front sends at most as many as it told `threads`; this bounds a front that does not. */
#define JOBS_MAX 1024

/* In a report: with the longest names they fill half a message. */
#define LAUNCHES_MAX 100

/* A job in the engine. */
struct served {
    struct server *server;
    int64_t id;
    struct chain chain;
    struct format format, frame_format;
    struct engine_job job;
    int first_output; /* owned until the engine has it */
    size_t n_planes;
    char (*planes)[PLANE_NAME_MAX]; /* names of the outputs so far; owned */
    pthread_cond_t answered;
    bool has_answer;
    int answer_fd;       /* the output that was asked for; −1: refused, … */
    struct fault answer; /* … for this reason */
    struct served *next;
};

static void destroy(struct served *served)
{
    file_close(&served->job.in_fd);
    file_close(&served->first_output);
    file_close(&served->answer_fd);
    engine_report_finish(&served->job.report);
    format_finish(&served->format);
    format_finish(&served->frame_format);
    chain_finish(&served->chain);
    pthread_cond_destroy(&served->answered);
    free(served->planes);
    free(served);
}

/* ---- on the engine's threads ---- */

static void began(struct engine_job *job)
{
    struct served *served = job->user;
    struct message message;
    message_init(&message, MESSAGE_BEGAN);
    message.id = served->id;
    serve_send(served->server, &message);
}

/* Asks the front for a further output and waits; the main thread passes it on. */
static int ask_for_output(struct served *served, const char *plane, int *fd, struct fault *fault)
{
    struct server *server = served->server;
    struct message message;
    message_init(&message, MESSAGE_NEED_OUTPUT);
    message.id = served->id;
    message.plane = plane;
    int result = message_send(server->socket, &message, fault);
    if (result != 0)
        return result;
    pthread_mutex_lock(&server->lock);
    while (!served->has_answer)
        pthread_cond_wait(&served->answered, &server->lock);
    *fd = served->answer_fd;
    if (*fd < 0)
        result = fault_set(fault, served->answer.code, "%s", served->answer.text);
    served->has_answer = false;
    served->answer_fd = -1;
    fault_clear(&served->answer);
    pthread_mutex_unlock(&server->lock);
    return result;
}

static int open_output(void *context, const char *plane, int *fd, struct fault *fault)
{
    struct served *served = context;
    if (served->n_planes == MESSAGE_PLANES_MAX)
        return fault_set(fault, FAULT_LIMIT, "more than %d planes in files of their own",
                         MESSAGE_PLANES_MAX);
    void *planes = realloc(served->planes, (served->n_planes + 1) * sizeof *served->planes);
    if (!planes)
        return fault_set(fault, FAULT_MEMORY, "no memory for a plane's name");
    served->planes = planes;
    snprintf(served->planes[served->n_planes], PLANE_NAME_MAX, "%s", plane);
    if (served->n_planes++ > 0)
        return ask_for_output(served, plane, fd, fault);
    *fd = served->first_output;
    served->first_output = -1;
    /* the file may be a client's own, or hold what an earlier try left */
    if (lseek(*fd, 0, SEEK_SET) == 0 && ftruncate(*fd, 0) == 0)
        return 0;
    fault_set_errno(fault, FAULT_CREATE, "the output cannot be emptied");
    close(*fd);
    return fault->code;
}

/* Nothing to do: the front syncs the file and gives it its name when the job is done. */
static int close_output(void *context, int fd, bool good, struct fault *fault)
{
    (void)context;
    (void)good;
    return close(fd) == 0 ? 0 : fault_set_errno(fault, FAULT_IO, "close");
}

static void forget(struct served *served)
{
    struct server *server = served->server;
    pthread_mutex_lock(&server->lock);
    for (struct served **link = &server->jobs; *link; link = &(*link)->next) {
        if (*link == served) {
            *link = served->next;
            server->n_jobs--;
            break;
        }
    }
    pthread_mutex_unlock(&server->lock);
}

/* Takes the job off the list after its answer was sent: while the list is not empty, the main
 * thread treats end of file as the front's death. */
static void done(struct engine_job *job)
{
    struct served *served = job->user;
    struct message message;
    message_init(&message, MESSAGE_DONE);
    message.id = served->id;
    message_set_fault(&message, &job->fault);
    message.step = job->report.step;
    message.total = (int64_t)job->report.total;
    message.report = describe_report(&job->report, LAUNCHES_MAX);
    message.media_type = job->format->codec->media_type;
    message.extension = job->format->extension;
    for (size_t i = 0; i < served->n_planes; i++)
        message.planes[i] = served->planes[i];
    message.n_planes = served->n_planes;
    serve_count_programs(served->server, &message);
    signals_settle();
    serve_send(served->server, &message);
    json_decref(message.report);
    forget(served);
    destroy(served);
}

/* ---- on the main thread ---- */

unsigned served_count(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    unsigned count = server->n_jobs;
    pthread_mutex_unlock(&server->lock);
    return count;
}

static void refuse_job(struct server *server, int64_t id, const char *subject,
                       const struct faults *faults, const struct fault *fault)
{
    struct message message;
    message_init(&message, MESSAGE_DONE);
    message.faults = *faults;
    message.id = id;
    message.step = "plan";
    message.subject = subject;
    message_set_fault(&message, fault);
    serve_count_programs(server, &message);
    serve_send(server, &message);
}

static struct served *create(struct server *server, struct message *message)
{
    struct served *served = calloc(1, sizeof *served);
    if (!served)
        return NULL;
    served->server = server;
    served->id = message->id;
    served->first_output = message_take_fd(message, 1);
    served->answer_fd = -1;
    fault_clear(&served->answer);
    pthread_cond_init(&served->answered, NULL);
    served->job = (struct engine_job){
        .in_fd = message_take_fd(message, 0),
        .deadline = message->time > 0 ? clock_now() + (uint64_t)message->time : 0,
        .chain = &served->chain,
        .format = &served->format,
        .output = {open_output, close_output, served},
        .began = message->say_began ? began : NULL,
        .done = done,
        .user = served};
    fault_clear(&served->job.fault);
    return served;
}

void served_take_job(struct server *server, struct message *message)
{
    struct fault fault = FAULT_INIT;
    struct faults faults = {0};
    const char *subject = NULL;
    int64_t id = message->id;
    struct served *served = served_count(server) < JOBS_MAX ? create(server, message) : NULL;
    if (!served) {
        fault_set(&fault, FAULT_BUSY, "no room for another job");
        refuse_job(server, id, NULL, &faults, &fault);
        return;
    }
    if (serve_parse(server, message, &served->chain, &served->format, &served->frame_format,
                    &served->job.decode, &subject, &faults, &fault) != 0) {
        refuse_job(server, id, subject, &faults, &fault);
        destroy(served);
        return;
    }
    served->job.frame_format = served->frame_format.codec ? &served->frame_format : NULL;
    pthread_mutex_lock(&server->lock);
    served->next = server->jobs;
    server->jobs = served;
    server->n_jobs++;
    pthread_mutex_unlock(&server->lock);
    engine_submit(server->engine, &served->job);
}

void served_take_output(struct server *server, struct message *message)
{
    pthread_mutex_lock(&server->lock);
    struct served *served = server->jobs;
    while (served && served->id != message->id)
        served = served->next;
    if (served && !served->has_answer) {
        served->answer_fd = message_take_fd(message, 0);
        if (served->answer_fd < 0)
            fault_set(&served->answer, FAULT_CREATE, "%s",
                      message->text ? message->text : "no output for a further plane");
        served->has_answer = true;
        pthread_cond_signal(&served->answered);
    }
    pthread_mutex_unlock(&server->lock);
}
