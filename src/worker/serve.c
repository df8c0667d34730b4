/* The main thread reads messages and never waits for a job; jobs run on the engine's threads, which
 * send their own messages. What the two share is the list of jobs, under one lock. */
#include "worker/serve.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "config/config.h"
#include "config/settings.h"
#include "engine/engine.h"
#include "image/frame.h"
#include "worker/describe.h"
#include "worker/message.h"
#include "worker/sandbox.h"
#include "worker/signals.h"

/* The front sends no more than it was told threads; this only bounds a front gone wild. */
#define JOBS_MAX 1024

#define CONFIG_MAX (16u << 20)

struct server {
    int socket;
    struct engine *engine; /* NULL until setup */
    struct sandbox sandbox;
    struct fault refused; /* why there is no engine after a setup: each check is told */
    struct config config; /* what chains refer to */
    char device[300];     /* what the engine's options point to, like the next */
    char fallback[20];
    pthread_mutex_t lock; /* of the list and of what the main thread tells a job */
    struct served *jobs;
    unsigned n_jobs;
};

/* A job on its way through the engine. */
struct served {
    struct server *server;
    int64_t id;
    struct chain chain;
    struct format format, frame_format;
    struct text stages; /* of the report */
    struct engine_job job;
    int first_output; /* owned until it is handed to the engine */
    size_t n_planes;
    char (*planes)[PLANE_NAME_MAX]; /* owned: of the outputs so far */
    pthread_cond_t answered;
    bool has_answer;
    int answer_fd;       /* the output that was asked for; −1: refused */
    struct fault answer; /* why */
    struct served *next;
};

static void destroy(struct served *served)
{
    if (served->job.in_fd >= 0)
        close(served->job.in_fd);
    if (served->first_output >= 0)
        close(served->first_output);
    if (served->answer_fd >= 0)
        close(served->answer_fd);
    engine_report_finish(&served->job.report);
    format_finish(&served->format);
    format_finish(&served->frame_format);
    text_finish(&served->stages);
    chain_finish(&served->chain);
    pthread_cond_destroy(&served->answered);
    free(served->planes);
    free(served);
}

static void send_message(struct server *server, const struct message *message)
{
    struct fault fault = FAULT_INIT;
    if (message_send(server->socket, message, &fault) != 0 && fault.code != FAULT_IO)
        log_error("message '%s': %s", message_kind_name(message->kind), fault.text);
    /* FAULT_IO: the front is gone, which the main thread sees, too */
}

static void count_programs(struct server *server, struct message *message)
{
    struct device *device = engine_device(server->engine);
    if (!device)
        return;
    message->builds = (int64_t)atomic_load(&device_counters(device)->builds);
    message->cache_hits = (int64_t)atomic_load(&device_counters(device)->cache_hits);
    message->buffer_bytes = (int64_t)atomic_load(&device_counters(device)->buffer_bytes);
    message->client_kernels = (int64_t)atomic_load(&device_counters(device)->counted);
}

/* ---- on the engine's threads ---- */

static void began(struct engine_job *job)
{
    struct served *served = job->user;
    struct message message;
    message_init(&message, MESSAGE_BEGAN);
    message.id = served->id;
    send_message(served->server, &message);
}

/* Asks the front for a further output and waits; the main thread hands it over. */
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
    return 0;
}

/* The front syncs what was written and gives it its name, once the job is done. */
static int close_output(void *context, int fd, bool good, struct fault *fault)
{
    (void)context;
    (void)good;
    return close(fd) == 0 ? 0 : fault_set_errno(fault, FAULT_IO, "close");
}

static void fill_report(struct message *message, const struct engine_report *report)
{
    message->step = report->step;
    message->pixels = (int64_t)report->in.width * report->in.height;
    message->bytes_in = (int64_t)report->bytes_in;
    message->bytes_out = (int64_t)report->bytes_out;
    message->copied = (int64_t)report->input_copied;
    message->read = (int64_t)report->read;
    message->decode = (int64_t)report->decode;
    message->prepare = (int64_t)report->prepare;
    message->run = (int64_t)report->device;
    message->encode = (int64_t)report->encode;
    message->write = (int64_t)report->write;
    message->total = (int64_t)report->total;
}

/* "STAGE=NANOSECONDS,…": launches of one stage in a row are its passes. */
static void list_stages(const struct engine_report *report, struct text *text)
{
    for (size_t i = 0; i < report->n_launches && text->length < 3900;) {
        const char *stage = report->launches[i].stage;
        uint64_t time = 0;
        for (; i < report->n_launches && strcmp(report->launches[i].stage, stage) == 0; i++)
            time += report->launches[i].run;
        text_printf(text, "%s%s=%llu", text->length ? "," : "", stage, (unsigned long long)time);
    }
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

/* The job leaves the list after its answer was sent: while the list is not empty the main thread
 * does not take the front's end for an orderly one. */
static void done(struct engine_job *job)
{
    struct served *served = job->user;
    struct message message;
    message_init(&message, MESSAGE_DONE);
    message.id = served->id;
    message_set_fault(&message, &job->fault);
    fill_report(&message, &job->report);
    list_stages(&job->report, &served->stages);
    message.stages = served->stages.length ? text_string(&served->stages) : NULL;
    message.media_type = job->format->codec->media_type;
    message.extension = job->format->extension;
    for (size_t i = 0; i < served->n_planes; i++)
        message.planes[i] = served->planes[i];
    message.n_planes = served->n_planes;
    count_programs(served->server, &message);
    signals_settle();
    send_message(served->server, &message);
    forget(served);
    destroy(served);
}

/* ---- on the main thread ---- */

static unsigned count_jobs(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    unsigned count = server->n_jobs;
    pthread_mutex_unlock(&server->lock);
    return count;
}

static void refuse_job(struct server *server, int64_t id, const char *subject,
                       const struct fault *fault)
{
    struct message message;
    message_init(&message, MESSAGE_DONE);
    message.id = id;
    message.step = "plan";
    message.subject = subject;
    message_set_fault(&message, fault);
    count_programs(server, &message);
    send_message(server, &message);
}

/* Chain, format and reading options of a job or check; `subject` names the one that is wrong.
 * frame_format is that of several planes; its codec is NULL where `format` is for any number. */
static int parse(const struct server *server, const struct message *message, struct chain *chain,
                 struct format *format, struct format *frame_format, struct decode_options *decode,
                 const char **subject, struct fault *fault)
{
    bool any = strcmp(message->format, "auto") == 0;
    *subject = "chain";
    int result = chain_parse_with(chain, message->chain, &server->config.definitions, fault);
    if (result == 0) {
        *subject = "format";
        result = format_parse(format, any ? "png" : message->format, fault);
        if (result == 0 && any)
            result = format_parse(frame_format, "npz", fault);
    }
    if (result == 0) {
        *subject = "input";
        result = decode_options_parse(decode, message->input, "--input", fault);
    }
    return result;
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
    served->job = (struct engine_job){.in_fd = message_take_fd(message, 0),
                                      .chain = &served->chain,
                                      .format = &served->format,
                                      .output = {open_output, close_output, served},
                                      .began = began,
                                      .done = done,
                                      .user = served};
    fault_clear(&served->job.fault);
    return served;
}

static void take_job(struct server *server, struct message *message)
{
    struct fault fault = FAULT_INIT;
    const char *subject = NULL;
    int64_t id = message->id;
    struct served *served = count_jobs(server) < JOBS_MAX ? create(server, message) : NULL;
    if (!served) {
        fault_set(&fault, FAULT_BUSY, "no room for another job");
        refuse_job(server, id, NULL, &fault);
        return;
    }
    if (parse(server, message, &served->chain, &served->format, &served->frame_format,
              &served->job.decode, &subject, &fault) != 0) {
        refuse_job(server, id, subject, &fault);
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

static void take_output(struct server *server, struct message *message)
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

/* The front gives a start a limit; it begins anew with every program. */
static void tell_working(void *context)
{
    struct message message;
    message_init(&message, MESSAGE_WORKING);
    send_message(context, &message);
}

/* Parses, compiles what pictures of the usual kinds need, and has the device checked. Jobs that run
 * go on meanwhile, but no message is read: the front checks what is configured before it sends
 * jobs. */
static int check(struct server *server, const struct message *message, struct message *answer,
                 struct fault *wrong, struct fault *fault)
{
    struct chain chain = {0};
    struct format format = {0}, frame_format = {0};
    struct decode_options decode;
    int result =
        parse(server, message, &chain, &format, &frame_format, &decode, &answer->subject, fault);
    if (result == 0) {
        answer->subject = NULL;
        answer->extension = format.extension; /* a constant of the codec's */
        result = engine_warm(server->engine, &chain, &format, wrong, fault);
    }
    format_finish(&format);
    format_finish(&frame_format);
    chain_finish(&chain);
    return result;
}

static void take_check(struct server *server, const struct message *message)
{
    struct fault fault = FAULT_INIT, wrong = FAULT_INIT;
    struct message answer;
    message_init(&answer, MESSAGE_CHECKED);
    answer.id = message->id;
    if (server->refused.code)
        fault = server->refused;
    else
        check(server, message, &answer, &wrong, &fault);
    answer.fallback = wrong.code ? wrong.text : NULL;
    message_set_fault(&answer, &fault);
    answer.level = server->sandbox.level;
    if (server->engine)
        count_programs(server, &answer);
    if (server->engine && engine_device(server->engine))
        answer.device = device_info(engine_device(server->engine))->name;
    signals_settle();
    send_message(server, &answer);
}

/* Stages and devices into the file that came with the message. */
static void take_describe(struct server *server, struct message *message)
{
    struct fault fault = FAULT_INIT;
    struct message answer;
    int fd = message_take_fd(message, 0);
    message_init(&answer, MESSAGE_DESCRIBED);
    const struct device *device = engine_device(server->engine);
    describe_write(fd, device ? device_info(device) : NULL,
                   strcmp(server->device, "reference") != 0, &fault);
    close(fd);
    message_set_fault(&answer, &fault);
    signals_settle();
    send_message(server, &answer);
}

static void take_ping(struct server *server)
{
    struct message answer;
    message_init(&answer, MESSAGE_PONG);
    send_message(server, &answer);
}

/* What chains refer to as @name. The front has read the same text without an error. */
static int take_config(struct server *server, struct message *message, struct fault *fault)
{
    struct text errors = {0};
    struct bytes bytes = {0};
    int fd = message_take_fd(message, 0);
    if (fd < 0)
        return 0;
    int result = file_read(fd, CONFIG_MAX, &bytes, fault);
    close(fd);
    if (result == 0)
        result = config_read_text(&server->config, "configuration", (const char *)bytes.data,
                                  bytes.size, &errors, fault);
    bytes_finish(&bytes);
    text_finish(&errors);
    return result;
}

/* Before the engine starts its threads and loads a driver, so that both are inside, and nothing
 * that a cache holds is ever run outside. */
static int put_on_sandbox(struct server *server, const struct message *message)
{
    struct sandbox_needs needs = {.driver = strcmp(server->device, "reference") != 0,
                                  .log_refused = log_enabled(LOG_LEVEL_DEBUG),
                                  .memory = (uint64_t)message->memory};
    snprintf(server->sandbox.level, sizeof server->sandbox.level, "off");
    if (message->sandbox == SANDBOX_OFF)
        return 0;
    sandbox_put_on(&server->sandbox, &needs);
    if (message->sandbox == SANDBOX_AUTO || server->sandbox.whole)
        return 0;
    return fault_set(&server->refused, FAULT_CONFIG,
                     "the sandbox is required and not whole here (%s); --sandbox auto takes what "
                     "there is",
                     server->sandbox.level);
}

static int take_setup(struct server *server, struct message *message, struct fault *fault)
{
    enum log_level level = LOG_LEVEL_WARNING;
    if (message->log_level && log_level_parse(message->log_level, &level))
        log_init("sluice-worker", level);
    if (message->wipe)
        device_cache_wipe();
    snprintf(server->device, sizeof server->device, "%s", message->device);
    snprintf(server->fallback, sizeof server->fallback, "%s",
             message->fallback ? message->fallback : "");
    struct engine_options options = {
        .device = {.select = server->device, .platform_index = -1, .device_index = -1},
        .reference = strcmp(server->device, "reference") == 0,
        .self_check = message->self_check != 0,
        .generic = true,
        .fallback = message->fallback ? server->fallback : NULL,
        .max_pixels = (uint64_t)message->max_pixels,
        .max_file = (uint64_t)message->max_file,
        .memory = (uint64_t)message->memory,
        .threads = (unsigned)message->threads,
        .warmed = tell_working,
        .context = server,
    };
    int result = take_config(server, message, fault);
    if (result == 0 && put_on_sandbox(server, message) != 0)
        return 0; /* the checks are answered with it */
    return result ? result : engine_open(&server->engine, &options, fault);
}

static int take(struct server *server, struct message *message, struct fault *fault)
{
    bool is_set_up = server->engine || server->refused.code;
    if (!(message->kind == MESSAGE_CHECK ? is_set_up : server->engine != NULL) &&
        message->kind != MESSAGE_SETUP)
        return fault_set(fault, FAULT_DATA, "message '%s' before setup",
                         message_kind_name(message->kind));
    switch (message->kind) {
    case MESSAGE_SETUP:
        return is_set_up ? fault_set(fault, FAULT_DATA, "a second setup")
                         : take_setup(server, message, fault);
    case MESSAGE_CHECK:
        take_check(server, message);
        return 0;
    case MESSAGE_JOB:
        take_job(server, message);
        return 0;
    case MESSAGE_OUTPUT:
        take_output(server, message);
        return 0;
    case MESSAGE_DESCRIBE:
        take_describe(server, message);
        return 0;
    case MESSAGE_PING:
        take_ping(server);
        return 0;
    default:
        return fault_set(fault, FAULT_DATA, "message '%s' is none for a worker",
                         message_kind_name(message->kind));
    }
}

int serve(int socket)
{
    struct server server = {.socket = socket, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct fault fault = FAULT_INIT;
    int result = 0;
    while (result == 0) {
        struct message message;
        result = message_receive(socket, &message, &fault);
        if (result == 0)
            result = take(&server, &message, &fault);
        message_finish(&message);
    }
    if (fault.code != FAULT_NO_INPUT)
        log_error("%s", fault.text);
    if (count_jobs(&server) > 0)
        _exit(fault.code == FAULT_NO_INPUT ? 0 : fault_exit_status(fault.code));
    engine_close(&server.engine);
    config_finish(&server.config);
    return fault.code == FAULT_NO_INPUT ? 0 : fault_exit_status(fault.code);
}
