/* The step in which sluiced runs the job, by its jobs socket (docs/jobs-socket.md). */
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "relay/relay.h"
#include "worker/daemon.h"

#define STATUS_TIME (2 * SECOND)

/* Until a worker has the job, besides four times what a job may take. */
#define TURN_TIME (60 * SECOND)

/* Returns true when there is a message, before `limit` and before `stopped` is set. */
static bool wait_for_message(int socket, uint64_t limit, const atomic_bool *stopped)
{
    struct pollfd poller = {.fd = socket, .events = POLLIN};
    int ready = 0;
    while (ready == 0 && clock_now() < limit && !(stopped && *stopped))
        ready = poll(&poller, 1, 100);
    return ready > 0;
}

static enum step_end lost(struct slot *slot, struct fault *fault)
{
    file_close(&slot->socket);
    slot->relay->ready = false; /* until the daemon's status says otherwise */
    fault->code = FAULT_NO_DEVICE;
    return STEP_ELSEWHERE;
}

static int send_job(struct slot *slot, struct fault *fault)
{
    const struct job *job = &slot->job;
    int result = 0;
    if (slot->socket < 0)
        result = daemon_connect(slot->relay->socket, &slot->socket, fault);
    if (result != 0)
        return result;
    json_t *message = json_pack("{s:I, s:s}", "id", (json_int_t)++slot->serial, "chain",
                                job->chain ? job->chain : "");
    if (message && job->format)
        json_object_set_new(message, "format", json_string(job->format));
    if (message && job->input)
        json_object_set_new(message, "input", json_string(job->input));
    return daemon_send(slot->socket, message, &slot->input, 1, fault);
}

/* ---- the answer ---- */

/* The report's times, in seconds, and that of the picture's transfer, as JSON. */
static char *timings_text(const struct slot *slot, const json_t *report)
{
    static const char *const spans[] = {"queue_s",  "read_s",   "decode_s", "prepare_s",
                                        "device_s", "encode_s", "write_s",  "total_s"};
    json_t *object = json_object();
    if (slot->get_time > 0)
        json_object_set_new(object, "get_s", json_real((double)slot->get_time * 1e-9));
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        json_t *span = json_object_get(report, spans[i]);
        if (json_is_number(span))
            json_object_set(object, spans[i], span);
    }
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6) | JSON_PRESERVE_ORDER);
    json_decref(object);
    return text;
}

static enum step_end take_report(struct slot *slot, const json_t *report, bool several,
                                 struct fault *fault)
{
    const char *type = json_string_value(json_object_get(report, "media_type"));
    struct stat status;
    if (daemon_result(report, fault) == 0 && several)
        fault_set(fault, FAULT_SHAPE,
                  "several planes do not fit one result of this format; ask for npz");
    switch (fault->code) {
    case FAULT_NONE:
        break;
    case FAULT_BUSY:
    case FAULT_DEVICE:
    case FAULT_NO_DEVICE:
    case FAULT_MEMORY:
    case FAULT_NO_SPACE:
    case FAULT_IO:
    case FAULT_INTERRUPTED:
    case FAULT_KERNELS: /* on another machine the chain may be configured */
        return STEP_ELSEWHERE;
    default:
        return STEP_FAILED;
    }
    if (slot->output < 0 || fstat(slot->output, &status) != 0) {
        fault_set(fault, FAULT_NO_DEVICE, "the daemon's answer has no result");
        return lost(slot, fault);
    }
    slot->size = (uint64_t)status.st_size;
    snprintf(slot->media_type, sizeof slot->media_type, "%s",
             type ? type : "application/octet-stream");
    slot->timings = timings_text(slot, report);
    return STEP_DONE;
}

/* Handles a message about our job. Returns true when it is the last one. */
static bool take_message(struct slot *slot, json_t *message, int fd, bool *several,
                         enum step_end *end, struct fault *fault)
{
    const char *type = json_string_value(json_object_get(message, "type"));
    bool ours = json_integer_value(json_object_get(message, "id")) == slot->serial;
    bool done = ours && type && strcmp(type, "done") == 0;
    *several |= ours && type && strcmp(type, "output") == 0;
    if (done && fd >= 0)
        slot->output = fd;
    else
        file_close(&fd);
    if (done)
        *end = take_report(slot, message, *several, fault);
    return done;
}

enum step_end slot_compute(struct slot *slot, struct fault *fault)
{
    uint64_t limit = clock_now() + TURN_TIME + 4 * slot->relay->settings->job_time;
    enum step_end end = STEP_DONE;
    bool several = false, done = false;
    if (send_job(slot, fault) != 0)
        return lost(slot, fault);
    slot_step(slot, "submitted", TURN_TIME + 4 * slot->relay->settings->job_time);
    while (!done) {
        json_t *message;
        int fd;
        if (!wait_for_message(slot->socket, limit, &slot->relay->giving_back)) {
            file_close(&slot->socket); /* this cancels the job */
            fault_set(fault, FAULT_TIME, "the daemon does not answer in time");
            return slot->relay->giving_back ? STEP_BACK : STEP_ELSEWHERE;
        }
        if (daemon_receive(slot->socket, &message, &fd, fault) != 0)
            return lost(slot, fault);
        done = take_message(slot, message, fd, &several, &end, fault);
        json_decref(message);
    }
    if (end == STEP_DONE)
        slot_step(slot, "computed", 30 * SECOND);
    return end;
}

/* ---- whether it takes jobs ---- */

bool daemon_is_ready(const char *path, struct fault *fault)
{
    json_t *message = NULL;
    int socket, fd = -1;
    int result = daemon_connect(path, &socket, fault);
    if (result != 0)
        return false;
    result =
        daemon_send(socket, json_pack("{s:s, s:i}", "type", "status", "id", 1), NULL, 0, fault);
    if (result == 0 && !wait_for_message(socket, clock_now() + STATUS_TIME, NULL))
        result = fault_set(fault, FAULT_NO_DEVICE, "the daemon does not answer");
    if (result == 0)
        result = daemon_receive(socket, &message, &fd, fault);
    file_close(&fd);
    close(socket);
    const json_t *status = json_object_get(message, "status");
    bool ready = json_is_true(json_object_get(status, "ready"));
    const char *state = json_string_value(json_object_get(status, "state"));
    if (result == 0 && !ready)
        fault_set(fault, FAULT_NO_DEVICE, "the daemon takes no jobs: %s",
                  state && strcmp(state, "ready") != 0 ? state : "its device is not ready");
    json_decref(message);
    return result == 0 && ready;
}
