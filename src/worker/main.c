/* sluice-worker: runs jobs that arrive as messages. sluiced starts it; users do not.
 *
 * The main thread reads messages, and never waits for a job. Jobs run on the engine's threads,
 * which send messages of their own. The two share the list of jobs, protected by a lock. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "codec/pictures.h"
#include "config/config.h"
#include "config/settings.h"
#include "engine/engine.h"
#include "image/frame.h"
#include "version.h"
#include "worker/describe.h"
#include "worker/keeper.h"
#include "worker/message.h"
#include "worker/sandbox.h"

#define CONFIG_MAX (17u << 20) /* a configuration file, and settings */

struct server {
    int socket;
    struct engine *engine; /* NULL until setup */
    struct sandbox sandbox;
    bool loads;           /* OpenCL and drivers may be loaded */
    struct fault refused; /* why the setup made no engine; each check is answered with it */
    struct config config; /* its settings, and @names in chains */
    char device[300];     /* that the engine's options point to */
    pthread_mutex_t lock; /* protects the list, and what the main thread passes to a job */
    struct served *jobs;
    unsigned n_jobs;
};

/* ---- signals ---- */

/* Signals that a terminal or a service manager sends to the whole group are ignored: the front
 * decides when the worker ends, by closing the socket or by SIGKILL.
 *
 * Sets default actions and an empty mask, whatever was inherited. Once, before threads are started.
 */
static void signals_forget_inherited(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL); /* fails for signals that cannot be set, which is fine */
}

/* To be called again after programs were compiled, because PoCL's LLVM then installs handlers: the
 * first catches a watchdog's SIGABRT, others end the process at SIGINT and SIGTERM. Any thread. */
static void signals_settle(void)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    signal(SIGABRT, SIG_DFL);
}

/* ---- messages ---- */

/* Any thread. A message that cannot be sent is logged, unless the front is gone. */
static void send_to_front(struct server *server, const struct message *message)
{
    struct fault fault = FAULT_INIT;
    if (message_send(server->socket, message, &fault) != 0 && fault.code != FAULT_IO)
        log_error("message '%s': %s", message_kind_name(message->kind), fault.text);
    /* FAULT_IO: the front is gone, which the main thread sees, too */
}

/* Sends an answer with the fault and the device's counters. */
static void send_answer(struct server *server, struct message *answer, const struct fault *fault)
{
    struct device *device = server->engine ? engine_device(server->engine) : NULL;
    message_set_fault(answer, fault);
    if (device) {
        const struct device_counters *counters = device_counters(device);
        answer->builds = (int64_t)atomic_load(&counters->builds);
        answer->cache_hits = (int64_t)atomic_load(&counters->cache_hits);
        answer->buffer_bytes = (int64_t)atomic_load(&counters->buffer_bytes);
        answer->client_kernels = (int64_t)atomic_load(&counters->counted);
    }
    if (server->loads)
        signals_settle();
    send_to_front(server, answer);
}

/* What a job or check asks for. A result's frame_format is the format for several planes; its codec
 * is NULL where `formats` takes any number. */
struct request {
    struct chain chain;
    size_t n_results;
    struct format formats[CHAIN_RESULTS_MAX], frame_formats[CHAIN_RESULTS_MAX];
    struct decode_options decode;
    char extensions[CHAIN_RESULTS_MAX * 12]; /* of all results, as messages have them */
};

_Static_assert(MESSAGE_RESULTS_MAX == CHAIN_RESULTS_MAX, "a message names each result");

/* Formats; "auto" is one for a single plane, and one for more. */
static int parse_formats(struct request *request, const char *text, struct fault *fault)
{
    struct text single = {0}, several = {0};
    size_t length, used = 0;
    const char *part;
    bool any = false;
    int result;
    for (size_t i = 0; (part = text_find_part(text, i, &length)) != NULL; i++) {
        bool is_auto = length == 4 && memcmp(part, "auto", 4) == 0;
        text_printf(&single, "%s%.*s", i ? ";" : "", (int)length, is_auto ? "png" : part);
        text_printf(&several, "%s%.*s", i ? ";" : "", (int)length, is_auto ? "npz" : part);
        any |= is_auto;
    }
    result = single.failed || several.failed
                 ? fault_set(fault, FAULT_MEMORY, "no memory for a format")
                 : format_parse_results(request->formats, request->n_results,
                                        any ? text_string(&single) : text, fault);
    if (result == 0 && any)
        result = format_parse_results(request->frame_formats, request->n_results,
                                      text_string(&several), fault);
    for (size_t i = 0; i < request->n_results && result == 0; i++)
        used += (size_t)snprintf(request->extensions + used, sizeof request->extensions - used,
                                 "%s%s", i ? ";" : "", request->formats[i].extension);
    text_finish(&single);
    text_finish(&several);
    return result;
}

/* Parses it. On a fault the answer's `subject` names what is wrong, and its `faults` have all
 * mistakes in the chain. */
static int parse(const struct server *server, const struct message *message,
                 struct request *request, struct message *answer, struct fault *fault)
{
    answer->subject = "chain";
    int result = chain_parse_results(&request->chain, message->chain, &server->config.definitions,
                                     &answer->faults);
    faults_first(&answer->faults, fault);
    if (result == 0) {
        answer->subject = "format";
        request->n_results = chain_count_results(&request->chain);
        result = parse_formats(request, message->format, fault);
    }
    if (result == 0) {
        answer->subject = "input";
        result = decode_options_parse(&request->decode, message->input, "--input", fault);
    }
    if (result == FAULT_CHAIN && strcmp(answer->subject, "chain") != 0)
        result = fault->code =
            FAULT_USAGE; /* parameters of formats are parsed as those of stages */
    return result;
}

static void finish_request(struct request *request)
{
    for (size_t i = 0; i < request->n_results; i++) {
        format_finish(&request->formats[i]);
        format_finish(&request->frame_formats[i]);
    }
    chain_finish(&request->chain);
}

/* ---- jobs ---- */

/* The front sends at most as many as it told `threads`; this bounds a front that does not. */
#define JOBS_MAX 1024

/* In a report: with the longest names they fill half a message. */
#define LAUNCHES_MAX 100

/* A job in the engine. */
struct served {
    struct server *server;
    int64_t id;
    struct request request;
    struct engine_job job;
    struct engine_result results[CHAIN_RESULTS_MAX];
    int first_output; /* owned until the engine has it */
    size_t n_planes;  /* files so far */
    struct served_file {
        unsigned of; /* which result it is, or is a plane of */
        char plane[PLANE_NAME_MAX];
    } * files; /* owned */
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
    finish_request(&served->request);
    pthread_cond_destroy(&served->answered);
    free(served->files);
    free(served);
}

/* ---- on the engine's threads ---- */

static void began(struct engine_job *job)
{
    struct served *served = job->user;
    const struct message message = {MESSAGE_INIT(MESSAGE_BEGAN), .id = served->id};
    send_to_front(served->server, &message);
}

/* Asks the front for a further output and waits; the main thread passes it on. */
static int ask_for_output(struct served *served, size_t of, const char *plane, int *fd,
                          struct fault *fault)
{
    struct server *server = served->server;
    const struct message message = {MESSAGE_INIT(MESSAGE_NEED_OUTPUT), .id = served->id,
                                    .result_of = (int64_t)of, .plane = plane};
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

static int open_output(void *context, size_t result, const char *plane, int *fd,
                       struct fault *fault)
{
    struct served *served = context;
    if (served->n_planes == MESSAGE_PLANES_MAX)
        return fault_set(fault, FAULT_LIMIT, "more than %d planes in files of their own",
                         MESSAGE_PLANES_MAX);
    struct served_file *files = realloc(served->files, (served->n_planes + 1) * sizeof *files);
    if (!files)
        return fault_set(fault, FAULT_MEMORY, "no memory for a plane's name");
    served->files = files;
    struct served_file *file = &files[served->n_planes];
    file->of = (unsigned)result;
    snprintf(file->plane, sizeof file->plane, "%s", plane);
    if (served->n_planes++ > 0)
        return ask_for_output(served, result, plane, fd, fault);
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
    struct text extensions = {0}, media_types = {0};
    for (size_t i = 0; i < served->request.n_results; i++) {
        const struct format *format = job->results[i].format;
        text_printf(&extensions, "%s%s", i ? ";" : "", format->extension);
        text_printf(&media_types, "%s%s", i ? ";" : "", format->codec->media_type);
    }
    struct message message = {MESSAGE_INIT(MESSAGE_DONE),
                              .id = served->id,
                              .step = job->report.step,
                              .total = (int64_t)job->report.total,
                              .report = describe_report(&job->report, LAUNCHES_MAX),
                              .media_type = text_string(&media_types),
                              .extension = text_string(&extensions),
                              .n_planes = served->n_planes};
    for (size_t i = 0; i < served->n_planes; i++) {
        message.planes[i] = served->files[i].plane;
        message.of[i] = (unsigned char)served->files[i].of;
    }
    send_answer(served->server, &message, &job->fault);
    text_finish(&extensions);
    text_finish(&media_types);
    json_decref(message.report);
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

static struct served *create(struct server *server, struct message *message)
{
    struct served *served = calloc(1, sizeof *served);
    if (!served)
        return NULL;
    served->server = server;
    served->id = message->id;
    served->first_output = message_take_fd(message, 1);
    struct stat file;
    bool has_content = fstat(served->first_output, &file) == 0 && file.st_size > 0;
    int flags = fcntl(served->first_output, F_GETFL);
    served->answer_fd = -1;
    fault_clear(&served->answer);
    pthread_cond_init(&served->answered, NULL);
    served->job = (struct engine_job){
        .in_fd = message_take_fd(message, 0),
        .deadline = message->time > 0 ? clock_now() + (uint64_t)message->time : 0,
        .chain = &served->request.chain,
        .results = served->results,
        /* what a client's own file holds is kept until the job has a result */
        .output = {open_output, close_output, served,
                   .is_final = has_content || flags == -1 || (flags & O_APPEND)},
        .began = message->say_began ? began : NULL,
        .done = done,
        .user = served};
    fault_clear(&served->job.fault);
    return served;
}

/* Hands a job to the engine. A `done` answers it in any case. */
static void take_job(struct server *server, struct message *message)
{
    struct fault fault = FAULT_INIT;
    struct message refusal = {MESSAGE_INIT(MESSAGE_DONE), .id = message->id, .step = "plan"};
    struct served *served = count_jobs(server) < JOBS_MAX ? create(server, message) : NULL;
    if (!served) {
        fault_set(&fault, FAULT_BUSY, "no room for another job");
        send_answer(server, &refusal, &fault);
        return;
    }
    struct request *request = &served->request;
    if (parse(server, message, request, &refusal, &fault) != 0) {
        send_answer(server, &refusal, &fault);
        destroy(served);
        return;
    }
    served->job.decode = request->decode;
    for (size_t i = 0; i < request->n_results; i++)
        served->results[i] = (struct engine_result){
            .format = &request->formats[i],
            .frame_format = request->frame_formats[i].codec &&
                                    request->formats[i].codec != request->frame_formats[i].codec
                                ? &request->frame_formats[i]
                                : NULL};
    pthread_mutex_lock(&server->lock);
    served->next = server->jobs;
    server->jobs = served;
    server->n_jobs++;
    pthread_mutex_unlock(&server->lock);
    engine_submit(server->engine, &served->job);
}

/* Passes on the further output that a job waits for, or why there is none. */
static void take_output(struct server *server, struct message *message)
{
    pthread_mutex_lock(&server->lock);
    struct served *served = server->jobs;
    while (served && served->id != message->id)
        served = served->next;
    if (served && !served->has_answer) {
        served->answer_fd = message_take_fd(message, 0);
        if (served->answer_fd < 0 && message_get_fault(message, &served->answer) == 0)
            fault_set(&served->answer, FAULT_INTERNAL, "no output for a further plane");
        served->has_answer = true;
        pthread_cond_signal(&served->answered);
    }
    pthread_mutex_unlock(&server->lock);
}

/* ---- set-up and checks ---- */

/* Tells the front how many programs are ready: its time limit is for one program at a time. */
static void tell_working(void *context, unsigned done, unsigned of)
{
    const struct message message = {MESSAGE_INIT(MESSAGE_WORKING), .prepared = done,
                                    .to_prepare = of};
    send_to_front(context, &message);
}

/* Reports how far a chain has come on its way to the device. Called by the engine's mover thread.
 */
static void tell_moved(void *context, const struct engine_move *move)
{
    struct message message = {MESSAGE_INIT(MESSAGE_MOVED), .prepared = move->done,
                              .to_prepare = move->of};
    if (move->id >= 0) {
        message.id = move->id;
        message.tier = move->on ? device_kind_name(move->on->kind) : "reference";
        message.device = move->on ? move->on->name : NULL;
    }
    send_answer(context, &message, move->why ? move->why : &(struct fault)FAULT_INIT);
}

/* Checks a chain: parses it, compiles it for the usual kinds of pictures, and compares the device
 * with the references. No message is read meanwhile: the front sends jobs after its checks. */
static int check(struct server *server, const struct message *message, struct request *request,
                 struct message *answer, struct fault *wrong, struct fault *fault)
{
    int result = parse(server, message, request, answer, fault);
    if (result == 0) {
        const struct chain *chain = &request->chain;
        answer->subject = NULL;
        answer->extension = request->extensions;
        result = engine_warm(server->engine, message->id, chain, request->formats, wrong, fault);
        answer->tier = chain->n_steps > 0 ? engine_tier(server->engine, chain) : NULL;
    }
    return result;
}

static void take_check(struct server *server, const struct message *message)
{
    struct fault fault = FAULT_INIT, wrong = FAULT_INIT;
    struct message answer = {MESSAGE_INIT(MESSAGE_CHECKED), .id = message->id,
                             .level = server->sandbox.level};
    struct request request = {0};
    if (server->refused.code)
        fault = server->refused;
    else
        check(server, message, &request, &answer, &wrong, &fault);
    answer.why = wrong.code ? wrong.text : NULL;
    if (server->engine && engine_device(server->engine))
        answer.device = device_info(engine_device(server->engine))->name;
    send_answer(server, &answer, &fault);
    finish_request(&request);
}

/* Writes stages and devices to the file that came with the message. OpenCL's are there when another
 * thread has listed them: this one would wait for a driver that hangs, and take no job. */
static void take_describe(struct server *server, struct message *message)
{
    struct fault fault = FAULT_INIT;
    struct message answer = {MESSAGE_INIT(MESSAGE_DESCRIBED)};
    int fd = message_take_fd(message, 0);
    const struct device *device = engine_device(server->engine);
    describe_write(fd, device ? device_info(device) : NULL, device_opencl_is_listed(), &fault);
    close(fd);
    send_answer(server, &answer, &fault);
}

/* Reads its settings, and the configuration file for @names in chains. The front has read the same
 * text without an error. */
static int take_config(struct server *server, int fd, struct fault *fault)
{
    struct bytes bytes = {0};
    int result = file_read(fd, CONFIG_MAX, &bytes, fault);
    close(fd);
    if (result == 0)
        result = config_read_worker(&server->config, (const char *)bytes.data, bytes.size, fault);
    bytes_finish(&bytes);
    return result;
}

/* Puts on the sandbox before the engine starts threads and loads a driver, so that both are inside,
 * and no file of a cache is ever executed outside. */
static int put_on_sandbox(struct server *server)
{
    const struct settings *settings = &server->config.settings;
    struct sandbox_needs needs = {.driver = server->loads,
                                  .log_refused = log_enabled(LOG_LEVEL_DEBUG),
                                  .memory = settings->memory};
    snprintf(server->sandbox.level, sizeof server->sandbox.level, "off");
    if (settings->sandbox == SANDBOX_OFF)
        return 0;
    sandbox_put_on(&server->sandbox, &needs);
    if (settings->sandbox == SANDBOX_AUTO || server->sandbox.whole)
        return 0;
    return fault_set(&server->refused, FAULT_CONFIG,
                     "the sandbox is required and not whole here (%s); --sandbox auto takes what "
                     "there is",
                     server->sandbox.level);
}

/* Decodes the pictures of the configuration. One that cannot be read is a mistake of that. */
static int take_pictures(struct server *server)
{
    const struct settings *settings = &server->config.settings;
    const struct codec_limits limits = {settings->max_pixels, settings->memory / 2};
    struct text errors = {0};
    int result = codec_read_pictures(&server->config.definitions, &limits, &errors);
    if (result != 0)
        result = fault_set(&server->refused, FAULT_CONFIG, "%.*s",
                           (int)strcspn(text_string(&errors), "\n"), text_string(&errors));
    text_finish(&errors);
    return result;
}

static int take_setup(struct server *server, struct message *message, struct fault *fault)
{
    const struct settings *settings = &server->config.settings;
    int result = take_config(server, message_take_fd(message, 0), fault);
    int pictures = message_take_fd(message, 1);
    if (pictures >= 0 && result == 0)
        result = definitions_take_file(&server->config.definitions, pictures, fault);
    if (result != 0)
        return result;
    log_init("sluice-worker", (enum log_level)settings->log_level);
    log_set_format((enum log_format)settings->log_format);
    snprintf(server->device, sizeof server->device, "%s", message->device);
    struct engine_options options = {
        .device = {.select = server->device, .platform_index = -1, .device_index = -1},
        .reference = strcmp(server->device, "reference") == 0,
        .self_check = settings->self_check,
        .generic = true,
        .background = !settings->wait,
        .fallback = settings->fallback,
        .max_pixels = settings->max_pixels,
        .max_file = settings->max_file,
        .memory = settings->memory,
        .threads = (unsigned)message->threads,
        .warmed = tell_working,
        .moved = tell_moved,
        .context = server,
    };
    bool cpu = settings->fallback && strcmp(settings->fallback, "cpu") == 0;
    server->loads = !options.reference && (cpu || device_may_load(&options.device));
    if (!server->loads) /* the sandbox opens no file then, and there are no programs to keep */
        options.device.no_cache = true;
    if (put_on_sandbox(server) != 0 || take_pictures(server) != 0)
        return 0;      /* checks are answered with the fault */
    options.held = definitions_picture_bytes(&server->config.definitions);
    if (message->wipe) /* what is in the caches must not run outside the sandbox */
        device_cache_wipe();
    return engine_open(&server->engine, &options, fault);
}

static int take(struct server *server, struct message *message, struct fault *fault)
{
    bool is_set_up = server->engine || server->refused.code;
    static const struct message pong = {MESSAGE_INIT(MESSAGE_PONG)};
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
        send_to_front(server, &pong);
        return 0;
    default:
        return fault_set(fault, FAULT_DATA, "message '%s' is none for a worker",
                         message_kind_name(message->kind));
    }
}

/* Serves the front until it closes its end of `socket`; returns the exit status. If that happens
 * while jobs run, the process ends at once, since nobody waits for them. */
static int serve(int socket)
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
    if (count_jobs(&server) > 0 || (server.engine && engine_is_busy(server.engine)))
        _exit(fault.code == FAULT_NO_INPUT ? 0 : fault_exit_status(fault.code));
    engine_close(&server.engine);
    config_finish(&server.config);
    return fault.code == FAULT_NO_INPUT ? 0 : fault_exit_status(fault.code);
}

int main(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0)) {
        puts("sluice-worker " SLUICE_VERSION);
        return 0;
    }
    int type = 0;
    getsockopt(MESSAGE_WORKER_FD, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){sizeof type});
    if (argc > 1 || type != SOCK_SEQPACKET) {
        fputs("sluice-worker: it is started by sluiced and has no use of its own\n", stderr);
        return 64;
    }
    log_show_time();
    log_never_wait();
    log_init("sluice-worker", LOG_LEVEL_WARNING);
    signals_forget_inherited();
    signals_settle();
    keeper_stay_behind(MESSAGE_WORKER_FD);
    /* PoCL's cache then lies below ours, so that we may empty it */
    unsetenv("POCL_CACHE_DIR");
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the socket's end of file tells the same, but later */
    /* programs that a driver starts (PoCL: ld) gain no rights */
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) { /* drivers print banners to stdout */
        log_error("stdout cannot be moved aside");
        return 74;
    }
    return serve(MESSAGE_WORKER_FD);
}
