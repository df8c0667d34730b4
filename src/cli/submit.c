/* sluice submit: sends pictures to the daemon by its jobs socket. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sealed.h"
#include "cli/batch.h"
#include "cli/common.h"
#include "worker/daemon.h"
#include "worker/describe.h"

/* Requests under way: enough that the daemon never waits for us. */
#define AHEAD 8

/* The largest limits.max_file; the content of a sealed file takes memory. */
#define INPUT_MAX (4ull << 30)

struct submit_options {
    struct batch_options batch;
    const char *socket;
};

#define AT(member) offsetof(struct submit_options, member)
static const struct options_row options[] = {DAEMON_SOCKET_OPTION(AT(socket)), {0}};

static const struct options_usage usage = {
    .command = "submit",
    .operands = "[-s SOCKET] [-c CHAIN] [-o OUT] IN…",
    .summary = "Runs a chain on pictures, through the daemon's jobs socket. IN is a file, a "
               "directory, or - for stdin.",
    .details = "sluice submit -c luminance,sobel:scale=1 -o edges.png photo.jpg\n"
               "sluice submit -r -c edges -o edges/ photos/\n",
    .tables = {options, cli_batch_options, cli_output_options},
    .groups = &cli_batch_groups,
};

struct submit {
    const struct submit_options *options;
    struct batch batch;
    struct text chain, format; /* of all results, as sent to the daemon */
    int socket;
    struct submission {
        struct batch_file *file; /* NULL: no request */
        json_t *report;          /* owned */
    } files[BATCH_FILES];        /* by the files' places, which are the requests' ids */
};

/* ---- sending ---- */

/* Copies the input to a sealed memory file, which the daemon takes without copying. */
static int load(const struct batch_file *file, struct fault *fault)
{
    static const size_t piece = 1 << 18;
    uint64_t size = 0;
    char *buffer = malloc(piece);
    int to = sealed_create("sluice-submit");
    if (to < 0 || !buffer)
        fault_set(fault, FAULT_MEMORY, "no memory for the input");
    while (!fault->code) {
        ssize_t got = read(file->fd, buffer, piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fault_set_errno(fault, errno == EISDIR ? FAULT_NO_INPUT : FAULT_IO, "read");
        if (got > 0 && (size += (uint64_t)got) > INPUT_MAX)
            fault_set(fault, FAULT_LIMIT, "larger than the 4GiB that a daemon takes at most");
        if (got <= 0 || fault->code || file_write(to, buffer, (size_t)got, fault) != 0)
            break;
    }
    free(buffer);
    if (to >= 0)
        sealed_finish(to);
    if (fault->code)
        file_close(&to);
    return to;
}

static void end(struct submit *submit, struct batch_file *file)
{
    submit->files[file->place].file = NULL;
    batch_end(file);
}

/* Sends a file. Returns a fault of the daemon; the file's own fault is stored in it. */
static int send_file(struct submit *submit, struct batch_file *file, struct fault *fault)
{
    const struct batch_options *o = &submit->options->batch;
    struct submission *submission = &submit->files[file->place];
    *submission = (struct submission){.file = file};
    int fd = load(file, &file->fault);
    if (fd < 0) {
        end(submit, file);
        return 0;
    }
    json_t *job = json_pack("{s:I, s:s, s:s}", "id", (json_int_t)file->place, "chain",
                            text_string(&submit->chain), "format", text_string(&submit->format));
    if (job && o->input)
        json_object_set_new(job, "input", json_string(o->input));
    int result = daemon_send(submit->socket, job, &fd, 1, fault);
    close(fd);
    return result;
}

/* ---- receiving ---- */

static int write_result(struct batch_file *file, size_t of, const char *plane, int fd,
                        struct fault *fault)
{
    struct bytes bytes = {0};
    int to;
    int result = batch_open_output(file, of, plane, &to, fault);
    if (result != 0)
        return result;
    result = file_read(fd, UINT64_MAX / 2, &bytes, fault);
    if (result == 0)
        result = file_write(to, bytes.data, bytes.size, fault);
    bytes_finish(&bytes);
    int closed = batch_close_output(file, to, result == 0, result == 0 ? fault : NULL);
    return result ? result : closed;
}

static void take_output(struct batch_file *file, const json_t *message, int fd)
{
    const char *plane = json_string_value(json_object_get(message, "plane"));
    json_int_t of = json_integer_value(json_object_get(message, "result"));
    if (of < 0 || (size_t)of >= file->batch->n_places)
        fault_set(&file->fault, FAULT_INTERNAL, "the daemon sent what is no result");
    else if (fd < 0 || !plane ||
             (plane[0] && strspn(plane, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno"
                                        "pqrstuvwxyz0123456789_-") != strlen(plane)))
        fault_set(&file->fault, FAULT_INTERNAL, "the daemon sent what is no plane");
    else if (!file->fault.code)
        write_result(file, (size_t)of, plane, fd, &file->fault);
}

static void take_done(struct submit *submit, struct batch_file *file, json_t *message, int fd)
{
    const char *subject = json_string_value(json_object_get(message, "subject"));
    const json_t *error;
    size_t i;
    if (!file->fault.code && daemon_result(message, &file->fault) == 0 && fd >= 0)
        write_result(file, 0, "", fd, &file->fault);
    struct faults *faults = &submit->batch.faults;
    *faults = (struct faults){0};
    submit->batch.faults_in = text_string(&submit->chain);
    json_array_foreach (json_object_get(message, "errors"), i, error)
        daemon_fault(error, FAULT_CHAIN, faults_next(faults));
    if (subject && strcmp(subject, "chain") != 0) /* its place is in another text */
        file->fault.position = -1;
    const json_t *in = json_object_get(message, "in");
    file->pixels = (uint64_t)json_integer_value(json_object_get(in, "width")) *
                   (uint64_t)json_integer_value(json_object_get(in, "height"));
    submit->files[file->place].report = json_incref(message);
    end(submit, file);
}

static int receive_one(struct submit *submit, struct fault *fault)
{
    json_t *message;
    int fd;
    int result = daemon_receive(submit->socket, &message, &fd, fault);
    if (result != 0)
        return result;
    const char *type = json_string_value(json_object_get(message, "type"));
    const json_t *id = json_object_get(message, "id");
    size_t place = (size_t)json_integer_value(id);
    struct batch_file *file =
        json_is_integer(id) && place < BATCH_FILES ? submit->files[place].file : NULL;
    if (!id && daemon_result(message, fault) != 0) /* no message of ours can be taken */
        result = fault->code;
    else if (!file || !type)
        result = fault_set(fault, FAULT_INTERNAL, "the daemon answered what nobody asked");
    else if (strcmp(type, "output") == 0)
        take_output(file, message, fd);
    else if (strcmp(type, "done") == 0)
        take_done(submit, file, message, fd);
    file_close(&fd);
    json_decref(message);
    return result;
}

/* A daemon that hangs up has said why before. Returns its fault. */
static int receive_rest(struct submit *submit, struct fault *fault)
{
    int result;
    fault_clear(fault);
    shutdown(submit->socket, SHUT_RDWR); /* what is there can be read, and nothing is waited for */
    while ((result = receive_one(submit, fault)) == 0)
        ;
    return result;
}

/* Ends all requests, which will not be answered. */
static void give_up(struct submit *submit, const struct fault *fault)
{
    batch_give_up(&submit->batch, fault);
    for (size_t i = 0; i < BATCH_FILES; i++) {
        struct batch_file *file = submit->files[i].file;
        if (file && !file->fault.code)
            file->fault = *fault;
        if (file)
            end(submit, file);
    }
}

/* Fills in what `sluice run` reports, too; for a job without an answer, an empty report. */
static void told(struct batch_file *file, json_t *entry)
{
    static const struct engine_report nothing;
    struct submit *submit = file->batch->context;
    struct submission *submission = &submit->files[file->place];
    const json_t *warning;
    size_t i;
    json_array_foreach (json_object_get(submission->report, "warnings"), i, warning)
        cli_tell_warnings(file->input, json_string_value(warning));
    if (entry) {
        json_t *report = describe_report(&nothing, 0), *one;
        static const char *const of_sockets[] = {"name", "planes", "media_type", "extension"};
        json_array_foreach (json_object_get(submission->report, "results"), i, one)
            for (size_t k = 0; k < sizeof of_sockets / sizeof *of_sockets; k++)
                json_object_del(one, of_sockets[k]);
        json_t *step = json_object_get(submission->report, "step");
        json_object_update_existing(report, submission->report);
        json_object_update_missing_new(entry, report);
        if (file->fault.code && step)
            json_object_set(entry, "step", step);
    }
    json_decref(submission->report);
    submission->report = NULL;
}

static void waiting(void *submit, char text[ENGINE_PREPARING_MAX])
{
    const struct batch *batch = &((const struct submit *)submit)->batch;
    if (batch->n_ended == 0)
        snprintf(text, ENGINE_PREPARING_MAX, "waiting for the daemon");
}

static int submit_all(struct submit *submit, char **inputs, size_t count)
{
    const struct batch_options *o = &submit->options->batch;
    struct fault fault = FAULT_INIT;
    struct batch_file *file;
    enum batch_step step;
    int status = batch_open(&submit->batch, o, inputs, count);
    if (status != 0)
        return status;
    for (size_t i = 0; i < submit->batch.n_places; i++) {
        const struct batch_place *place = &submit->batch.places[i];
        const char *chain = place->wish.chain ? place->wish.chain : "";
        const char *format = place->wish.format ? place->wish.format : place->format.extension;
        text_printf(&submit->chain, "%s%s", i ? ";" : "", chain);
        text_printf(&submit->format, "%s%s", i ? ";" : "", format);
    }
    if (daemon_connect(submit->options->socket, &submit->socket, &fault) != 0)
        give_up(submit, &fault);
    while ((step = batch_next(&submit->batch, &file)) != BATCH_OVER) {
        int result =
            step == BATCH_FILE ? send_file(submit, file, &fault) : receive_one(submit, &fault);
        if (step == BATCH_FILE && result == FAULT_NO_DEVICE)
            result = receive_rest(submit, &fault);
        if (result != 0)
            give_up(submit, &fault);
    }
    /* A chain that only the daemon knows is printed as given. */
    const char *text = text_string(&submit->chain);
    struct chain chain = {0};
    struct text canonical = {0};
    struct faults faults = {0};
    if (chain_parse_results(&chain, text, NULL, &faults) == 0)
        chain_print(&chain, &canonical);
    else
        text_append(&canonical, text);
    status = batch_tell(&submit->batch, text_string(&canonical), NULL);
    text_finish(&canonical);
    chain_finish(&chain);
    return status;
}

static int submit(void *options_, char **inputs, size_t count)
{
    struct submit *submit = calloc(1, sizeof *submit);
    if (!submit)
        return cli_refuse(70, "submit: no memory");
    *submit = (struct submit){
        .options = options_,
        .batch = {.ahead = AHEAD, .context = submit, .told = told, .waiting = waiting},
        .socket = -1};
    cli_common_apply(&((struct submit_options *)options_)->batch.common);
    int status = submit_all(submit, inputs, count);
    batch_finish(&submit->batch);
    file_close(&submit->socket);
    text_finish(&submit->chain);
    text_finish(&submit->format);
    free(submit);
    return status;
}

const struct command command_submit = {&usage, sizeof(struct submit_options), submit,
                                       .missing = "no input"};
