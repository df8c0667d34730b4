/* What a client of the jobs socket asks, and what it is told. */
#include "daemon/serve/jobs_socket_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "daemon/serve/ask.h"
#include "daemon/spool/json_text.h"
#include "daemon/work/metrics.h"

#define STATUS_MAX 60000 /* bytes of a status that fits into a message */

/* A request for a job: first its input may have to be copied, then it is in the queue. */
struct jobs_request {
    struct jobs_client *client; /* NULL: it has gone */
    struct jobs_socket *server;
    int64_t id;
    struct ask ask;
    int in_fd, out_fd; /* owned until the job has them; −1: none */
    int copy_fd;
    uint64_t size, copied; /* bytes of the input, and how many of them we copied */
    uint64_t taken;        /* the service's */
    uv_work_t work;
    struct fault fault; /* of the copy */
    struct client_job *job;
    LIST_ENTRY(jobs_request) in_list;
};

/* ---- answers ---- */

void client_send(struct jobs_client *client, json_t *object, int fd)
{
    struct text text = {0};
    char *dumped = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(object);
    if (dumped)
        text_append(&text, dumped);
    else
        text.failed = true;
    free(dumped);
    jobs_send(client, &text, fd);
}

void client_say_fault(struct jobs_client *client, int64_t id, const struct fault *fault,
                      const struct message *report)
{
    json_t *answer = json_pack("{s:s, s:s, s:o}", "type", "done", "result", fault_name(fault->code),
                               "text", json_text(fault->text));
    if (id >= 0)
        json_object_set_new(answer, "id", json_integer(id));
    if (report && report->subject)
        json_object_set_new(answer, "subject", json_text(report->subject));
    if (report && report->step)
        json_object_set_new(answer, "step", json_text(report->step));
    if (fault->position >= 0) {
        json_object_set_new(answer, "position", json_integer(fault->position));
        json_object_set_new(answer, "length", json_integer(fault->length));
    }
    if (report && faults_count(&report->faults) > 0)
        json_object_set_new(answer, "errors", json_faults(&report->faults, "text"));
    if (fault->code == FAULT_BUSY)
        json_object_set_new(answer, "retry_after",
                            json_integer(service_retry_after(client->server->service)));
    if (report)
        json_object_update_missing(answer, report->report);
    client_send(client, answer, -1);
}

/* To what the worker says comes what the job had behind it when it got there. */
static void complete_report(const struct jobs_request *request, const struct message *report)
{
    double queue = message_figure(report, "queue_s") + job_queue_seconds(&request->job->job);
    double copied = message_figure(report, "bytes_copied") + (double)request->copied;
    if (!report->report)
        return;
    json_object_set_new(report->report, "queue_s", json_real(queue));
    json_object_set_new(report->report, "bytes_copied", json_integer((json_int_t)copied));
}

static json_t *report_json(const struct jobs_request *request, const struct message *report)
{
    json_t *planes = json_array();
    for (size_t i = 0; i < report->n_planes; i++)
        json_array_append_new(planes, json_string(report->planes[i]));
    json_t *answer =
        json_pack("{s:s, s:I, s:s, s:o, s:s, s:s}", "type", "done", "id", (json_int_t)request->id,
                  "result", "ok", "planes", planes, "media_type",
                  report->media_type ? report->media_type : "application/octet-stream", "extension",
                  report->extension ? report->extension : "");
    json_object_update_missing(answer, report->report);
    return answer;
}

/* One file goes with the answer itself; of several each goes with a message of its own before. */
static void send_result(struct jobs_request *request, const struct message *report)
{
    struct jobs_client *client = request->client;
    struct client_job *job = request->job;
    int first = -1;
    bool alone = job->n_planes == 1 && job->how.out_fd < 0 && report->n_planes == 1 &&
                 report->planes[0][0] == '\0';
    for (size_t i = 0; i < job->n_planes; i++) {
        int fd = job->planes[i].fd;
        lseek(fd, 0, SEEK_SET);
        job->planes[i].fd = -1; /* handed on */
        if (alone)
            first = fd;
        else
            client_send(client,
                        json_pack("{s:s, s:I, s:s}", "type", "output", "id",
                                  (json_int_t)request->id, "plane", job->planes[i].name),
                        fd);
    }
    client_send(client, report_json(request, report), first);
}

/* ---- requests ---- */

static void destroy_request(struct jobs_request *request)
{
    struct jobs_socket *server = request->server;
    if (request->client) {
        LIST_REMOVE(request, in_list);
        request->client->n_requests--;
    }
    server->n_requests--;
    client_job_destroy(&request->job);
    service_give(server->service, request->taken);
    int *const fds[] = {&request->in_fd, &request->out_fd, &request->copy_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (*fds[i] >= 0)
            close(*fds[i]);
    ask_finish(&request->ask);
    free(request);
    jobs_want_sweep(server);
    jobs_release(server);
}

static void refuse(struct jobs_request *request)
{
    client_say_fault(request->client, request->id, &request->fault, NULL);
    destroy_request(request);
}

static void on_ended(struct client_job *job, const struct message *report)
{
    struct jobs_request *request = job->how.user;
    if (report)
        complete_report(request, report);
    if (job->job.fault.code == FAULT_NONE && report)
        send_result(request, report);
    else
        client_say_fault(request->client, request->id, &job->job.fault, report);
    destroy_request(request);
}

static void start_job(struct jobs_request *request)
{
    const struct ask *ask = &request->ask;
    struct client_job_how how = {.source = &client_job_jobs,
                                 .flow = &request->client->flow,
                                 .chain = ask->chain,
                                 .format = ask->format,
                                 .input = ask->input,
                                 .in_fd = request->in_fd,
                                 .out_fd = request->out_fd,
                                 .several = true,
                                 .bytes = request->taken,
                                 .ended = on_ended,
                                 .user = request};
    request->in_fd = request->out_fd = -1;
    request->taken = 0;
    if (client_job_start(&request->job, request->server->service, &how, &request->fault) != 0)
        refuse(request);
}

/* ---- the input's own copy ---- */

static void copy(uv_work_t *work)
{
    struct jobs_request *request = work->data;
    static const size_t piece = 1 << 18;
    char *buffer = malloc(piece);
    uint64_t done = 0;
    while (buffer && done < request->size) {
        size_t wanted = request->size - done < piece ? (size_t)(request->size - done) : piece;
        ssize_t got = pread(request->in_fd, buffer, wanted, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fault_set_errno(&request->fault, FAULT_IO, "the input cannot be read");
        if (got <= 0)
            break; /* it was cut short meanwhile: what there is counts */
        if (write(request->copy_fd, buffer, (size_t)got) != got) {
            fault_set(&request->fault, FAULT_NO_SPACE, "no memory for a copy of the input");
            break;
        }
        done += (uint64_t)got;
    }
    if (!buffer)
        fault_set(&request->fault, FAULT_MEMORY, "no memory for a copy of the input");
    free(buffer);
    request->copied = done;
}

static void on_copied(uv_work_t *work, int status)
{
    struct jobs_request *request = work->data;
    (void)status;
    if (!request->client) {
        destroy_request(request);
        return;
    }
    if (request->fault.code != FAULT_NONE) {
        refuse(request);
        return;
    }
    close(request->in_fd);
    request->in_fd = request->copy_fd;
    request->copy_fd = -1;
    client_job_seal(request->in_fd);
    metrics_add(request->server->service->metrics, METRIC_BYTES_COPIED, NULL,
                (double)request->copied);
    start_job(request);
}

static void copy_then_start(struct jobs_request *request)
{
    struct service *service = request->server->service;
    if (!service_take(service, request->size)) {
        fault_set(&request->fault, FAULT_BUSY, "other clients' inputs take all memory there is");
    } else {
        request->taken = request->size;
        request->copy_fd = client_job_memory("sluice-input");
        if (request->copy_fd < 0)
            fault_set_errno(&request->fault, FAULT_MEMORY, "memfd_create");
    }
    request->work.data = request;
    if (request->fault.code == FAULT_NONE &&
        uv_queue_work(service->loop, &request->work, copy, on_copied) != 0)
        fault_set(&request->fault, FAULT_INTERNAL, "no thread for a copy");
    if (request->fault.code != FAULT_NONE)
        refuse(request);
}

/* ---- descriptors, which may be anything ---- */

/* A file system that asks another process or machine may keep who reads it waiting for ever. */
static bool may_hang(int fd)
{
    static const unsigned long types[] = {
        0x65735546 /* FUSE */, NFS_SUPER_MAGIC,       SMB_SUPER_MAGIC,
        0xfe534d42 /* SMB2 */, 0xff534d42 /* CIFS */, V9FS_MAGIC,
        AFS_SUPER_MAGIC,       CODA_SUPER_MAGIC,      0x00c36400 /* Ceph */};
    struct statfs status;
    if (fstatfs(fd, &status) != 0)
        return true;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((unsigned long)status.f_type == types[i])
            return true;
    return false;
}

static int check_file(int fd, bool to_write, struct stat *status, struct fault *fault)
{
    const char *what = to_write ? "output" : "input";
    int flags = fcntl(fd, F_GETFL);
    int wrong_mode = to_write ? O_RDONLY : O_WRONLY;
    if (fstat(fd, status) != 0 || flags < 0 || !S_ISREG(status->st_mode))
        return fault_set(fault, FAULT_DATA, "%s: the descriptor is no regular file", what);
    if ((flags & O_PATH) || (flags & O_ACCMODE) == wrong_mode)
        return fault_set(fault, FAULT_PERMISSION, "%s: the descriptor is not open for %s", what,
                         to_write ? "writing" : "reading");
    if (may_hang(fd))
        return fault_set(fault, FAULT_DATA,
                         "%s: its file system may keep us waiting; hand over a memory file", what);
    return 0;
}

/* True for a memory file that nobody can change any more: no copy is needed. */
static bool is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_WRITE) && (seals & F_SEAL_SHRINK);
}

static int check_files(struct jobs_request *request, struct fault *fault)
{
    const struct settings *settings = request->server->service->settings;
    struct stat status;
    int result = check_file(request->in_fd, false, &status, fault);
    if (result == 0)
        request->size = (uint64_t)status.st_size;
    if (request->size > settings->max_file)
        result = fault_set(fault, FAULT_LIMIT, "input: %s; max_file is %s (--max-file)",
                           number_size(request->size), number_size(settings->max_file));
    if (result == 0 && request->out_fd >= 0)
        result = check_file(request->out_fd, true, &status, fault);
    if (result == 0 && request->out_fd >= 0 && fcntl(request->out_fd, F_GET_SEALS) > F_SEAL_SEAL)
        result = fault_set(fault, FAULT_PERMISSION, "output: the memory file is sealed");
    return result;
}

/* ---- what comes in ---- */

static bool has_id(const struct jobs_client *client, int64_t id)
{
    const struct jobs_request *request;
    LIST_FOREACH(request, &client->requests, in_list)
    if (request->id == id)
        return true;
    return false;
}

static int check_job(struct jobs_client *client, const struct ask *ask, size_t n_fds,
                     struct fault *fault)
{
    if (n_fds < 1)
        return fault_set(fault, FAULT_DATA, "a job needs the descriptor of its input");
    if (has_id(client, ask->id))
        return fault_set(fault, FAULT_DATA, "there is a request %lld already", (long long)ask->id);
    if (client->n_requests >= CLIENT_JOBS_MAX)
        return fault_set(fault, FAULT_BUSY, "%d requests of this client are under way",
                         CLIENT_JOBS_MAX);
    if (client->server->service->queue->draining)
        return fault_set(fault, FAULT_BUSY, "the daemon is ending");
    if (queue_client_room(client->server->service->queue) == 0)
        return fault_set(fault, FAULT_BUSY, "the queue is full (%u jobs); try later",
                         client->server->service->queue->limit);
    return 0;
}

static void take_job(struct jobs_client *client, struct ask *ask, int *fds, size_t n_fds)
{
    struct jobs_request *request = calloc(1, sizeof *request);
    if (!request) {
        jobs_break(client);
        return;
    }
    request->client = client;
    request->server = client->server;
    request->id = ask->id;
    request->ask = *ask;
    *ask = (struct ask){.id = -1};
    request->in_fd = fds[0];
    request->out_fd = n_fds > 1 ? fds[1] : -1;
    fds[0] = fds[1] = -1;
    request->copy_fd = -1;
    fault_clear(&request->fault);
    LIST_INSERT_HEAD(&client->requests, request, in_list);
    client->n_requests++;
    client->server->n_requests++;
    client->server->n_users++;
    if (check_files(request, &request->fault) != 0)
        refuse(request);
    else if (is_sealed(request->in_fd))
        start_job(request);
    else
        copy_then_start(request);
}

/* A message holds about a hundred folders; HTTP tells of any number. */
static void cut_folders(json_t *status)
{
    json_t *folders = json_object_get(status, "folders");
    size_t size = json_dumpb(status, NULL, 0, JSON_COMPACT), left_out = 0;
    for (size_t n; size > STATUS_MAX && (n = json_array_size(folders)) > 0; left_out++) {
        size -= json_dumpb(json_array_get(folders, n - 1), NULL, 0, JSON_COMPACT) + 1;
        json_array_remove(folders, n - 1);
    }
    if (left_out > 0)
        json_object_set_new(status, "folders_left_out", json_integer((json_int_t)left_out));
}

static void say_status(struct jobs_client *client, int64_t id)
{
    json_t *status = service_status(client->server->service);
    cut_folders(status);
    client_send(client,
                json_pack("{s:s, s:I, s:s, s:o}", "type", "status", "id", (json_int_t)id, "result",
                          "ok", "status", status),
                -1);
}

void client_take(struct jobs_client *client, const char *bytes, size_t size, int *fds, size_t n_fds)
{
    struct ask ask;
    struct fault fault = FAULT_INIT;
    for (size_t i = n_fds; i < MESSAGE_FDS_MAX; i++)
        fds[i] = -1;
    int result = ask_decode(&ask, bytes, size, &fault);
    if (result == 0 && ask.kind == ASK_JOB)
        result = check_job(client, &ask, n_fds, &fault);
    else if (result == 0 && n_fds > 0)
        result = fault_set(&fault, FAULT_DATA, "descriptors that belong to no job");
    if (result != 0)
        client_say_fault(client, ask.id, &fault, NULL);
    else if (ask.kind == ASK_JOB)
        take_job(client, &ask, fds, n_fds);
    else if (ask.kind != ASK_STATUS)
        client_ask(client, &ask);
    else
        say_status(client, ask.id);
    ask_finish(&ask);
    for (size_t i = 0; i < MESSAGE_FDS_MAX; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

void client_cancel_all(struct jobs_client *client)
{
    struct jobs_request *request, *next;
    for (request = LIST_FIRST(&client->requests); request; request = next) {
        next = LIST_NEXT(request, in_list);
        if (request->copy_fd >= 0) { /* a thread is at it → on_copied */
            LIST_REMOVE(request, in_list);
            request->client = NULL;
            continue;
        }
        client_job_cancel(&request->job);
        destroy_request(request);
    }
}
