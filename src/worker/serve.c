/* The worker's main thread: reads messages, and never waits for a job. Jobs run on the engine's
 * threads, which send messages of their own. The two share the list of jobs, protected by a lock.
 */
#include "worker/serve.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "config/settings.h"
#include "worker/describe.h"
#include "worker/serve_internal.h"
#include "worker/signals.h"

#define CONFIG_MAX (16u << 20)

void serve_send(struct server *server, const struct message *message)
{
    struct fault fault = FAULT_INIT;
    if (message_send(server->socket, message, &fault) != 0 && fault.code != FAULT_IO)
        log_error("message '%s': %s", message_kind_name(message->kind), fault.text);
    /* FAULT_IO: the front is gone, which the main thread sees, too */
}

void serve_count_programs(struct server *server, struct message *message)
{
    struct device *device = engine_device(server->engine);
    if (!device)
        return;
    message->builds = (int64_t)atomic_load(&device_counters(device)->builds);
    message->cache_hits = (int64_t)atomic_load(&device_counters(device)->cache_hits);
    message->buffer_bytes = (int64_t)atomic_load(&device_counters(device)->buffer_bytes);
    message->client_kernels = (int64_t)atomic_load(&device_counters(device)->counted);
}

int serve_parse(const struct server *server, const struct message *message, struct chain *chain,
                struct format *format, struct format *frame_format, struct decode_options *decode,
                const char **subject, struct faults *faults, struct fault *fault)
{
    bool any = strcmp(message->format, "auto") == 0;
    *subject = "chain";
    int result = chain_parse_all(chain, message->chain, &server->config.definitions, faults);
    faults_first(faults, fault);
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

/* Tells the front how many programs are ready: its time limit is for one program at a time. */
static void tell_working(void *context, unsigned done, unsigned of)
{
    struct message message;
    message_init(&message, MESSAGE_WORKING);
    message.prepared = done;
    message.to_prepare = of;
    serve_send(context, &message);
}

/* Reports how far a chain has come on its way to the device. Called by the engine's mover thread.
 */
static void tell_moved(void *context, const struct engine_move *move)
{
    struct message message;
    message_init(&message, MESSAGE_MOVED);
    message.id = move->id < 0 ? 0 : move->id;
    message.tier = move->id < 0 ? NULL : device_kind_name(move->on->kind);
    message.device = move->id < 0 ? NULL : move->on->name;
    message.prepared = move->done;
    message.to_prepare = move->of;
    message_set_fault(&message, move->why ? move->why : &(struct fault)FAULT_INIT);
    serve_count_programs(context, &message);
    signals_settle();
    serve_send(context, &message);
}

/* Checks a chain: parses it, compiles it for the usual kinds of pictures, and compares the device
 * with the references. No message is read meanwhile: the front sends jobs after its checks. */
static int check(struct server *server, const struct message *message, struct message *answer,
                 struct fault *wrong, struct fault *fault)
{
    struct chain chain = {0};
    struct format format = {0}, frame_format = {0};
    struct decode_options decode;
    int result = serve_parse(server, message, &chain, &format, &frame_format, &decode,
                             &answer->subject, &answer->faults, fault);
    if (result == 0) {
        answer->subject = NULL;
        answer->extension = format.extension; /* a constant string of the codec */
        result = engine_warm(server->engine, message->id, &chain, &format, wrong, fault);
        answer->tier = chain.n_steps > 0 ? engine_tier(server->engine, &chain) : NULL;
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
        serve_count_programs(server, &answer);
    if (server->engine && engine_device(server->engine))
        answer.device = device_info(engine_device(server->engine))->name;
    signals_settle();
    serve_send(server, &answer);
}

/* Writes stages and devices to the file that came with the message. OpenCL's are there when another
 * thread has listed them: this one would wait for a driver that hangs, and take no job. */
static void take_describe(struct server *server, struct message *message)
{
    struct fault fault = FAULT_INIT;
    struct message answer;
    int fd = message_take_fd(message, 0);
    message_init(&answer, MESSAGE_DESCRIBED);
    const struct device *device = engine_device(server->engine);
    describe_write(fd, device ? device_info(device) : NULL, device_opencl_is_listed(), &fault);
    close(fd);
    message_set_fault(&answer, &fault);
    signals_settle();
    serve_send(server, &answer);
}

static void take_ping(struct server *server)
{
    struct message answer;
    message_init(&answer, MESSAGE_PONG);
    serve_send(server, &answer);
}

/* Reads the configuration, for @names in chains. The front has read the same text without an error.
 */
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

/* Puts on the sandbox before the engine starts threads and loads a driver, so that both are inside,
 * and no file of a cache is ever executed outside. */
static int put_on_sandbox(struct server *server, const struct message *message)
{
    struct sandbox_needs needs = {.driver = server->loads,
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
    snprintf(server->device, sizeof server->device, "%s", message->device);
    snprintf(server->fallback, sizeof server->fallback, "%s",
             message->fallback ? message->fallback : "");
    struct engine_options options = {
        .device = {.select = server->device, .platform_index = -1, .device_index = -1},
        .reference = strcmp(server->device, "reference") == 0,
        .self_check = message->self_check != 0,
        .generic = true,
        .background = message->wait == 0,
        .fallback = message->fallback ? server->fallback : NULL,
        .max_pixels = (uint64_t)message->max_pixels,
        .max_file = (uint64_t)message->max_file,
        .memory = (uint64_t)message->memory,
        .threads = (unsigned)message->threads,
        .warmed = tell_working,
        .moved = tell_moved,
        .context = server,
    };
    bool cpu = message->fallback && strcmp(message->fallback, "cpu") == 0;
    server->loads = !options.reference && (cpu || device_may_load(&options.device));
    if (!server->loads) /* the sandbox opens no file then, and there are no programs to keep */
        options.device.no_cache = true;
    int result = take_config(server, message, fault);
    if (result == 0 && put_on_sandbox(server, message) != 0)
        return 0;                     /* checks are answered with the fault */
    if (result == 0 && message->wipe) /* what is in the caches must not run outside the sandbox */
        device_cache_wipe();
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
        served_take_job(server, message);
        return 0;
    case MESSAGE_OUTPUT:
        served_take_output(server, message);
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
    if (served_count(&server) > 0 || (server.engine && engine_is_busy(server.engine)))
        _exit(fault.code == FAULT_NO_INPUT ? 0 : fault_exit_status(fault.code));
    engine_close(&server.engine);
    config_finish(&server.config);
    return fault.code == FAULT_NO_INPUT ? 0 : fault_exit_status(fault.code);
}
