#include "daemon/serve/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/number.h"
#include "daemon/serve/receptions.h"
#include "daemon/watch/folder.h"
#include "daemon/work/metrics.h"
#include "daemon/work/supervise.h"
#include "worker/json_text.h"

#define TOLD_FOR (100 * MILLISECOND)

/* There is room for one input of the largest size, and for as much again. */
void service_limit(struct service *service)
{
    service->shares.memory = service->settings->memory;
    service->shares.bytes_max = service->settings->max_file + service->settings->memory;
}

void service_init(struct service *service)
{
    service->started = clock_now();
    service_limit(service);
    service->shares.queue = service->queue;
    shares_init(&service->shares, service->loop);
    service->inquiries = (struct inquiries){
        .loop = service->loop, .queue = service->queue, .folders = &service->folders};
    inquiries_init(&service->inquiries);
}

void service_make_id(struct service *service, char id[REQUEST_ID_SIZE])
{
    if (service->n_ids == 0)
        service->ids_since = time(NULL);
    snprintf(id, REQUEST_ID_SIZE, "%llx-%llx", (unsigned long long)service->ids_since,
             (unsigned long long)++service->n_ids);
}

void service_finish(struct service *service)
{
    inquiries_close(&service->inquiries);
    shares_finish(&service->shares);
    text_finish(&service->status.text);
    text_finish(&service->short_status.text);
    text_finish(&service->figures.text);
    free(service->folder_states);
}

/* ---- jobs ---- */

const char *service_trouble(const struct service *service)
{
    const char *state = service->state;
    if (service->queue->draining)
        return "draining";
    if (strcmp(state, "ready") != 0)
        return "starting";
    return supervisor_is_ready(service->supervisor) ? NULL : "no-device";
}

void service_look_at_folders(struct service *service)
{
    for (size_t i = 0; i < service->folders.count; i++) {
        const struct folder *folder = service->folders.list[i];
        struct folder_census census;
        folder_count(folder, &census);
        if (i >= service->n_folder_states) {
            const char **states = realloc(service->folder_states, (i + 1) * sizeof *states);
            if (!states)
                return;
            service->folder_states = states;
            states[service->n_folder_states++] = census.state;
        }
        if (service->folder_states[i] == census.state)
            continue;
        service->folder_states[i] = census.state;
        events_add(service->queue->events, "folder",
                   json_pack("{s:s, s:s, s:s?, s:s?}", "folder", folder_settings(folder)->input,
                             "state", census.state, "reason", census.reason, "message",
                             census.message[0] ? census.message : NULL));
    }
}

uint64_t service_config_hash(struct service *service)
{
    struct text told = {0};
    if (service->config_hashed != service->config) {
        config_print_worker(service->config, &told);
        service->config_hash = hash_bytes(HASH_INIT, told.data, told.length);
        service->config_hashed = service->config;
        text_finish(&told);
    }
    return service->config_hash;
}

unsigned service_retry_after(const struct service *service)
{
    const struct queue *queue = service->queue;
    unsigned slots = queue->slots > 0 ? queue->slots : 1;
    double seconds = service->job_seconds * queue->n_jobs / slots;
    if (seconds < 1)
        return 1;
    return seconds < 600 ? (unsigned)seconds + 1 : 600;
}

/* ---- inquiries: questions about files ---- */

int service_inquire(struct service *service, uid_t uid, const struct request *request, size_t bytes,
                    void (*ended)(void *user, json_t *answer, const struct fault *fault),
                    void *user, struct inquiry **inquiry, struct fault *fault)
{
    struct inquiry_ask ask = {.uid = uid,
                              .kind = request->kind == REQUEST_WHY     ? INQUIRY_WHY
                                      : request->kind == REQUEST_FILES ? INQUIRY_LIST
                                      : request->failed                ? INQUIRY_REQUEUE_FAILED
                                                                       : INQUIRY_REQUEUE,
                              .file = request->file,
                              .state = request->state,
                              .after = request->after,
                              .limit = request->limit == 0 ? INQUIRY_LIMIT
                                       : request->limit > INQUIRY_LIMIT_MAX
                                           ? INQUIRY_LIMIT_MAX + 1 /* is refused */
                                           : (unsigned)request->limit,
                              .bytes = bytes,
                              .ended = ended,
                              .user = user};
    return inquiry_start(inquiry, &service->inquiries, &ask, fault);
}

/* ---- answers about the daemon ---- */

/* Longer chains are shortened: the beginning is enough to recognise one. */
#define CHAIN_MAX 500

static json_t *tiers_json(const struct worker *worker)
{
    json_t *list = json_array();
    for (size_t i = 0; worker && i < worker->n_checks; i++) {
        const struct worker_tier *tier = &worker->tiers[i];
        char chain[CHAIN_MAX + 1];
        snprintf(chain, sizeof chain, "%s", worker->checks[i].chain);
        json_array_append_new(
            list, json_pack("{s:o, s:s?, s:o, s:o}", "chain", json_text(chain), "tier",
                            tier->kind[0] ? tier->kind : NULL, "why",
                            tier->why[0] ? json_text(tier->why) : json_null(), "preparing",
                            tier->of ? json_pack("{s:i, s:i}", "done", (int)tier->done, "of",
                                                 (int)tier->of)
                                     : json_null()));
    }
    return list;
}

static json_t *worker_json(const struct supervisor *s)
{
    const struct worker *worker = supervisor_at_work(s);
    return json_pack(
        "{s:i, s:b, s:s, s:s, s:o, s:i, s:I, s:I, s:I}", "pid", worker ? worker->pid : 0, "ready",
        (int)supervisor_is_ready(s), "device", worker ? worker->name : "", "sandbox",
        worker ? worker->sandbox : "", "chains", tiers_json(worker), "starts", (int)s->n_starts,
        "jobs", (json_int_t)supervisor_jobs(s), "builds", (json_int_t)(worker ? worker->builds : 0),
        "cache_hits", (json_int_t)(worker ? worker->cache_hits : 0));
}

/* Monotonic nanoseconds as a time of day; null for 0. */
static json_t *time_json(uint64_t then)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t ago = (int64_t)clock_now() - (int64_t)then; /* negative: in the future */
    return then ? json_time((now.tv_sec * INT64_C(1000000000) + now.tv_nsec - ago) / 1000000000)
                : json_null();
}

/* The rate, and how long `left` pictures take at it: "left_s" is null where none has ended. */
static void set_rate(json_t *json, const struct rate *rate, size_t left)
{
    double window, per_second = rate_read(rate, clock_now(), &window);
    json_object_set_new(json, "rate",
                        json_pack("{s:f, s:f}", "per_second", per_second, "window_s", window));
    json_object_set_new(json, "left_s",
                        left == 0        ? json_real(0)
                        : per_second > 0 ? json_real((double)left / per_second)
                                         : json_null());
}

/* Adds to *left the pictures that are on their way. Files that are empty are none yet. */
static json_t *folder_json(const struct folder *folder, size_t *left)
{
    const struct watch_settings *settings = folder_settings(folder);
    struct folder_census c;
    folder_count(folder, &c);
    json_t *json = json_pack(
        "{s:o, s:o, s:o, s:s, s:s, s:s?, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:I, s:o}",
        "input", json_text(settings->input), "output", json_text(settings->output), "chain",
        json_text(settings->chain_name ? settings->chain_name : settings->chain), "mode", c.mode,
        "state", c.state, "reason", c.reason, "message",
        c.reason ? json_text(c.message) : json_null(), "since", time_json(c.since), "next_try",
        time_json(c.next_try), "waiting", (json_int_t)c.waiting, "queued", (json_int_t)c.queued,
        "running", (json_int_t)c.running, "retrying", (json_int_t)c.retrying, "done",
        (json_int_t)c.ended_done, "failed", (json_int_t)c.ended_failed, "in_done",
        (json_int_t)c.done, "in_failed", (json_int_t)c.failed, "overflows", (json_int_t)c.overflows,
        "last_error",
        c.failure ? json_pack("{s:o, s:s, s:o, s:o}", "name", json_text(c.failure->name), "reason",
                              fault_name(c.failure->fault.code), "message",
                              json_text(c.failure->fault.text), "time", json_time(c.failure->time))
                  : json_null());
    size_t waiting = c.waiting - c.empty;
    set_rate(json, &c.rate, waiting + c.queued + c.running + c.retrying);
    *left += waiting;
    return json;
}

static json_t *one_worker_json(const struct worker *worker)
{
    unsigned done, of;
    worker_progress(worker, &done, &of);
    return json_pack("{s:i, s:s, s:b, s:s, s:s, s:f, s:I, s:i, s:o}", "pid", worker->pid, "state",
                     worker_state_name(worker->state), "quarantine", (int)worker->quarantine,
                     "device", worker->name, "sandbox", worker->sandbox, "uptime_s",
                     (double)(clock_now() - worker->started) * 1e-9, "jobs",
                     (json_int_t)worker->n_jobs, "running", (int)worker->in_flight, "preparing",
                     of ? json_pack("{s:i, s:i}", "done", (int)done, "of", (int)of) : json_null());
}

static unsigned receivers(const struct service *service, const uid_t *uid, bool hanging)
{
    return service->receptions ? receptions_count(service->receptions, uid, hanging) : 0;
}

static unsigned binned(const struct service *service, const uid_t *uid)
{
    return service->receptions ? receptions_binned(service->receptions, uid) : 0;
}

/* Sets a gauge of a folder, with one more label unless that is NULL. */
static void set_gauge(struct metrics *metrics, enum metric metric, const char *dir,
                      const char *label, const char *word, double value)
{
    struct text labels = {0};
    metrics_label(&labels, "dir", dir);
    if (label)
        metrics_label(&labels, label, word);
    metrics_set(metrics, metric, text_string(&labels), value);
    text_finish(&labels);
}

/* After a reload a folder may exist twice until the jobs of the old one have ended; then their sum
 * counts. */
void service_measure(const struct service *service)
{
    struct metrics *metrics = service->metrics;
    const struct account *account;
    unsigned users = 0;
    if (!service->settings) /* no sockets */
        return;
    LIST_FOREACH (account, &service->shares.accounts, in_list)
        users++;
    const struct {
        enum metric metric;
        const char *labels;
        double value;
    } rows[] = {
        {METRIC_QUEUE_JOBS, NULL, service->queue->n_jobs},
        {METRIC_CONNECTIONS, "socket=\"http\"", service->shares.n_connections[SERVICE_HTTP]},
        {METRIC_CONNECTIONS, "socket=\"jobs\"", service->shares.n_connections[SERVICE_JOBS]},
        {METRIC_USERS, NULL, users},
        {METRIC_CLIENT_BYTES, NULL, (double)service->shares.bytes},
        {METRIC_CLIENT_BYTES_MAX, NULL, (double)service->shares.bytes_max},
        {METRIC_RECEIVERS, "state=\"well\"", receivers(service, NULL, false)},
        {METRIC_RECEIVERS, "state=\"hanging\"", receivers(service, NULL, true)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        metrics_set(metrics, rows[i].metric, rows[i].labels, rows[i].value);
    metrics_clear(metrics, METRIC_FILES);
    metrics_clear(metrics, METRIC_FOLDER_STATE);
    metrics_clear(metrics, METRIC_WATCH_MODE);
    metrics_clear(metrics, METRIC_WATCH_OVERFLOWS);
    for (size_t i = 0; i < service->folders.count; i++) {
        const struct folder *folder = service->folders.list[i];
        const char *dir = folder_settings(folder)->input;
        struct folder_census census;
        folder_count(folder, &census);
        set_gauge(metrics, METRIC_FILES, dir, "state", "waiting", (double)census.waiting);
        set_gauge(metrics, METRIC_FILES, dir, "state", "queued", (double)census.queued);
        set_gauge(metrics, METRIC_FILES, dir, "state", "running", (double)census.running);
        set_gauge(metrics, METRIC_FILES, dir, "state", "retrying", (double)census.retrying);
        set_gauge(metrics, METRIC_FILES, dir, "state", "done", (double)census.done);
        set_gauge(metrics, METRIC_FILES, dir, "state", "failed", (double)census.failed);
        set_gauge(metrics, METRIC_WATCH_OVERFLOWS, dir, NULL, NULL, census.overflows);
        set_gauge(metrics, METRIC_FOLDER_STATE, dir, "state", census.state, 1);
        set_gauge(metrics, METRIC_WATCH_MODE, dir, "mode", census.mode, 1);
    }
    metrics_measure_process(metrics);
}

/* How much each user has of what all users share. */
static json_t *users_json(const struct service *service)
{
    json_t *list = json_array();
    const struct account *a;
    LIST_FOREACH (a, &service->shares.accounts, in_list)
        json_array_append_new(
            list,
            json_pack("{s:I, s:i, s:i, s:I, s:I, s:i, s:i, s:i}", "uid", (json_int_t)a->uid,
                      "connections",
                      (int)(a->n_connections[SERVICE_HTTP] + a->n_connections[SERVICE_JOBS]),
                      "jobs", (int)a->n_jobs, "bytes", (json_int_t)a->bytes, "unread",
                      (json_int_t)a->results, "receivers", (int)receivers(service, &a->uid, false),
                      "receivers_hanging", (int)receivers(service, &a->uid, true), "binned",
                      (int)binned(service, &a->uid)));
    return list;
}

static json_t *status_json(const struct service *service)
{
    const struct queue *queue = service->queue;
    const char *trouble = service_trouble(service);
    json_t *folders = json_array();
    size_t left = queue->n_jobs;
    for (size_t i = 0; i < service->folders.count; i++)
        json_array_append_new(folders, folder_json(service->folders.list[i], &left));
    json_t *workers = json_array();
    const struct supervisor *present = service->supervisor, *both[] = {present, service->next};
    const struct worker *worker;
    for (size_t i = 0; i < 2 && both[i]; i++)
        TAILQ_FOREACH (worker, &both[i]->workers, in_list)
            json_array_append_new(workers, one_worker_json(worker));
    json_t *jobs = json_pack(
        "{s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "limit", (int)queue->limit, "waiting",
        (int)(queue->counts[JOB_QUEUED] + queue->counts[JOB_OPENING] + queue->counts[JOB_OPEN]),
        "running", (int)(queue->counts[JOB_SENT] + queue->counts[JOB_BEGUN]), "settling",
        (int)queue->counts[JOB_SETTLING], "retrying", (int)queue->counts[JOB_WAITING], "of_clients",
        (int)queue->n_client_jobs, "in_quarantine", (int)queue_in_quarantine(queue));
    json_t *status =
        json_pack("{s:s, s:b, s:f, s:I, s:I, s:o, s:o, s:o, s:o, s:{s:i, s:i}, "
                  "s:o, s:{s:I, s:I}, s:{s:i, s:i, s:i}}",
                  "state", service->state, "ready", (int)(trouble == NULL), "uptime_s",
                  (double)(clock_now() - service->started) * 1e-9, "done",
                  (json_int_t)queue->n_done, "failed", (json_int_t)queue->n_failed, "queue", jobs,
                  "folders", folders, "worker", worker_json(present), "workers", workers,
                  "connections", "http", (int)service->shares.n_connections[SERVICE_HTTP], "jobs",
                  (int)service->shares.n_connections[SERVICE_JOBS], "users", users_json(service), "shared",
                  "bytes", (json_int_t)service->shares.bytes, "limit", (json_int_t)service->shares.bytes_max,
                  "receivers", "well", (int)receivers(service, NULL, false), "hanging",
                  (int)receivers(service, NULL, true), "binned", (int)binned(service, NULL));
    set_rate(status, &queue->rate, left);
    return status;
}

/* Leaves folders out so that the status fits into a message, which holds about a hundred. HTTP has
 * all. */
static void cut_folders(json_t *status, size_t most)
{
    json_t *folders = json_object_get(status, "folders");
    size_t size = json_dumpb(status, NULL, 0, JSON_COMPACT), left_out = 0;
    if (size > most) {
        json_object_del(json_object_get(status, "worker"), "chains");
        size = json_dumpb(status, NULL, 0, JSON_COMPACT);
    }
    for (size_t n; size > most && (n = json_array_size(folders)) > 0; left_out++) {
        size -= json_dumpb(json_array_get(folders, n - 1), NULL, 0, JSON_COMPACT) + 1;
        json_array_remove(folders, n - 1);
    }
    if (left_out > 0)
        json_object_set_new(status, "folders_left_out", json_integer((json_int_t)left_out));
}

/* True when the text is to be made; told_end follows. */
static bool told_begin(struct told *told)
{
    uint64_t now = clock_now(), good = 20 * told->took;
    if (told->made && now - told->made < (good < TOLD_FOR ? good : TOLD_FOR))
        return false;
    text_finish(&told->text);
    told->made = now;
    return true;
}

static const char *told_end(struct told *told, bool made)
{
    if (made)
        told->took = clock_now() - told->made;
    if (!told->text.failed)
        return text_string(&told->text);
    told->made = 0;
    return NULL;
}

const char *service_status(struct service *service)
{
    bool make = told_begin(&service->status);
    if (make)
        json_append(&service->status.text, status_json(service));
    return told_end(&service->status, make);
}

const char *service_short_status(struct service *service, size_t bytes)
{
    bool make = told_begin(&service->short_status);
    if (make) {
        json_t *status = status_json(service);
        cut_folders(status, bytes);
        json_append(&service->short_status.text, status);
    }
    return told_end(&service->short_status, make);
}

const char *service_figures(struct service *service)
{
    bool make = told_begin(&service->figures);
    if (make) {
        service_measure(service);
        metrics_print(service->metrics, &service->figures.text);
    }
    return told_end(&service->figures, make);
}

json_t *service_chains(const struct service *service)
{
    const struct config *config = service->config;
    json_t *list = json_array();
    for (size_t i = 0; i < config->n_chains; i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "name", config->chains[i].name, "chain",
                                              config->chains[i].text));
    for (size_t i = 0; i < config->settings.n_watches; i++)
        if (!config->settings.watches[i].chain_name)
            json_array_append_new(list, json_pack("{s:n, s:s}", "name", "chain",
                                                  config->settings.watches[i].chain));
    return list;
}
